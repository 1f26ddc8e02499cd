"""Which images run."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import images
from pathways.checks.registry import Finding, check
from pathways.settings import Settings


@check("image-matches-jax", "pathways:runtime.jax", "pathways:runtime.imageTag")
def _image_matches_jax(settings: Settings) -> Iterator[Finding]:
    """The images are of the client's JAX version; otherwise client and proxy find no common protocol."""
    path, runtime = "pathways:runtime.imageTag", settings.runtime
    jax = images.jax_version(runtime.tag)
    if jax is None:
        yield Finding(
            path,
            f"the tag {runtime.tag} does not say its JAX version, so nobody can tell whether it "
            f"matches JAX {runtime.jax}",
            f"write imageTag: jax-{runtime.jax}",
            "warning",
        )
    elif jax != runtime.jax:
        yield Finding(
            path,
            f"the images are for JAX {jax}, the client uses JAX {runtime.jax}",
            f"write imageTag: jax-{runtime.jax}, or jax: {jax}",
        )
