"""The JobSet and the JAX client."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import containers, names
from pathways.checks.registry import Finding, check
from pathways.settings import Settings


@check("jobset-name-length", "pathways:workload.name")
def _job_set_name(settings: Settings) -> Iterator[Finding]:
    """The JobSet's name leaves room for the head's address, which is stored in a label."""
    longest, name = names.longest_job_set_name(), settings.workload.name
    if len(name) > longest:
        yield Finding(
            "pathways:workload.name",
            f"{name} has {len(name)} characters; the head's address {names.coordinator('NAME')} must fit "
            f"into a label of {names.LABEL_LIMIT}",
            f"use at most {longest} characters",
        )


@check("batch-client", "pathways:workload.mode", "pathways:workload.image")
def _batch_client(settings: Settings) -> Iterator[Finding]:
    """A batch workload has a client image; an interactive one has no client."""
    workload = settings.workload
    if workload.mode == "batch":
        if not workload.image:
            yield Finding(
                "pathways:workload.image",
                "a batch workload needs the image of its JAX client",
                "add image: REPOSITORY/NAME:TAG, or write mode: interactive",
            )
        return
    for key, value in [
        ("image", workload.image),
        ("command", workload.command),
        ("args", workload.args),
        ("env", workload.env),
    ]:
        if value:
            yield Finding(
                f"pathways:workload.{key}",
                f"an interactive workload has no client container, so {key} would be ignored",
                "write mode: batch, or leave it out",
            )


@check("client-environment", "pathways:workload.env")
def _client_environment(settings: Settings) -> Iterator[Finding]:
    """The client's environment does not set what the stack derives, nor flags that belong to the proxy."""
    derived = {"PATHWAYS_HEAD", *containers.client_variables("")}
    for index, variable in enumerate(settings.workload.env):
        path = f"pathways:workload.env[{index}].name"
        if variable.name in derived:
            yield Finding(path, f"{variable.name} is derived by the stack", "leave it out")
        elif variable.name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS"):
            yield Finding(
                path,
                f"{variable.name} has no effect in the client: the proxy compiles",
                "leave it out here; XLA flags belong to the proxy",
            )
