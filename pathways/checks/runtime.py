"""Which images run, and with what beyond the derived arguments."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import containers, images
from pathways.checks.registry import Finding, check
from pathways.settings import Component, Settings

COMPONENTS = ("resourceManager", "proxy", "worker")
# Flags the stack derives, and what to do instead of stating each.
DERIVED_FLAGS = {
    "--server_port": "leave it out: the ports are fixed",
    "--node_type": "leave it out: each component has its own",
    "--resource_manager_address": "set pathways:workload.name instead",
    "--instance_count": "set pathways:slices.count instead",
    "--instance_type": "set pathways:slices.topology instead",
    "--gcs_scratch_location": "set pathways:scratch instead",
    "--enable_gcs_olm": "set pathways:scratch.lifecycleOwner instead",
    "--num_elastic_slices": "set pathways:workload.elastic instead",
    "--num_elastic_instances": "set pathways:workload.elastic instead",
    "--sidecar_name": "set pathways:runtime.colocatedPython instead",
    "--cloud_pathways_sidecar_shm_directory": "set pathways:runtime.colocatedPython instead",
}


@check("image-matches-jax", "pathways:runtime.jax", "pathways:runtime.imageTag", severities=("error", "warning"))
def _image_matches_jax(settings: Settings) -> Iterator[Finding]:
    """The images are of the client's JAX version; otherwise client and proxy find no common protocol."""
    path, runtime = "pathways:runtime.imageTag", settings.runtime
    jax = images.jax_version(runtime.tag)
    if runtime.tag == "latest":
        return
    if jax is None:
        yield Finding(
            path,
            f"the tag {runtime.tag} does not say its JAX version, so nobody can tell whether it "
            f"matches JAX {runtime.jax}",
            f"write imageTag: {images.usual_tag(settings)}",
            "warning",
        )
    elif jax != runtime.jax:
        yield Finding(
            path,
            f"the images are for JAX {jax}, the client uses JAX {runtime.jax}",
            f"write imageTag: {images.usual_tag(settings)}, or jax: {jax}",
        )


@check("image-latest", "pathways:runtime.imageTag", "pathways:runtime.allowLatest")
def _image_latest(settings: Settings) -> Iterator[Finding]:
    """The tag latest changes under a running client, whose JAX version then finds no common protocol."""
    runtime = settings.runtime
    if runtime.tag == "latest" and not runtime.allow_latest:
        yield Finding(
            "pathways:runtime.imageTag",
            f"latest will not stay the image of JAX {runtime.jax}",
            f"write imageTag: {images.usual_tag(settings)}, or set allowLatest: true in an environment to try things in",
        )


@check("extra-arguments", *(f"pathways:runtime.{key}.args" for key in COMPONENTS))
def _extra_arguments(settings: Settings) -> Iterator[Finding]:
    """Further arguments do not repeat what the stack derives, and are whole flags."""
    for key, component in _components(settings).items():
        for index, argument in enumerate(component.args):
            path = f"pathways:runtime.{key}.args[{index}]"
            flag = argument.partition("=")[0]
            if not argument.startswith("--") or " " in argument.strip() and "=" not in argument:
                yield Finding(path, f'"{argument}" is not one flag', "write each flag alone, as --name=value")
            elif flag in DERIVED_FLAGS:
                yield Finding(path, f"{flag} is derived by the stack", DERIVED_FLAGS[flag])
            elif flag.startswith("--xla") and key != "proxy":
                yield Finding(path, f"{flag} has no effect here: the proxy compiles", "move it to runtime.proxy.args")


@check("component-environment", *(f"pathways:runtime.{key}.env" for key in COMPONENTS))
def _component_environment(settings: Settings) -> Iterator[Finding]:
    """Further environment of the servers does not repeat what the stack derives."""
    derived = containers.derived_variables(settings)
    for key, component in _components(settings).items():
        for index, variable in enumerate(component.env):
            if variable.name in {each["name"] for each in derived[key]}:
                yield Finding(
                    f"pathways:runtime.{key}.env[{index}].name",
                    f"{variable.name} is derived by the stack",
                    "leave it out",
                )


@check("colocated-python", "pathways:runtime.colocatedPython", "pathways:runtime.jax", severities=("error", "warning"))
def _colocated_python(settings: Settings) -> Iterator[Finding]:
    """The sidecar is of the client's Python and JAX versions; otherwise its code cannot be sent there."""
    python, path = settings.runtime.colocated_python, "pathways:runtime.colocatedPython"
    if python is None:
        return
    tag = images.tag_of(python.image)
    for what, in_tag, wanted in [
        ("Python", images.python_version(tag), python.python),
        ("JAX", images.jax_version(tag), settings.runtime.jax),
    ]:
        if in_tag is None:
            yield Finding(
                f"{path}.image",
                f"the tag {tag} does not say its {what} version, which must be {wanted}",
                f"use a tag such as 20260423-python_{python.python}-jax_{settings.runtime.jax}",
                "warning",
            )
        elif in_tag != wanted:
            yield Finding(
                f"{path}.image",
                f"the sidecar has {what} {in_tag}, the client {wanted}",
                f"use the image of {what} {wanted}, or change the client's version",
            )


@check("colocated-python-suspend", "pathways:runtime.colocatedPython", severities=("warning",))
def _colocated_python_suspend(settings: Settings) -> Iterator[Finding]:
    """Pathways cannot suspend and resume a workload with colocated Python."""
    if settings.runtime.colocated_python:
        yield Finding(
            "pathways:runtime.colocatedPython",
            "a workload with colocated Python is not suspended and resumed by Pathways on preemption or maintenance",
            "checkpoint often enough to start over, or do without it",
        )


def _components(settings: Settings) -> dict[str, Component]:
    runtime = settings.runtime
    return dict(zip(COMPONENTS, (runtime.resource_manager, runtime.proxy, runtime.worker), strict=True))
