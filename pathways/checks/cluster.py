"""The cluster, its head pool and the names Google sees."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import containers, names, tpu, versions
from pathways.checks.paths import ACCELERATOR
from pathways.checks.registry import Finding, check
from pathways.machines import cpu_machine
from pathways.settings import Settings

# The head pod's limits of CPU and memory must leave this much of its node to the system and to node agents.
SYSTEM_VCPUS = 1
SYSTEM_GIB = 1


@check("gke-version", ACCELERATOR, "pathways:cluster.version")
def _gke_version(settings: Settings) -> Iterator[Finding]:
    """A fixed GKE version is new enough for Pathways and for the accelerator."""
    if settings.cluster.version is None:
        return
    path, least = (
        "pathways:cluster.version",
        versions.minimum_gke(tpu.generation(settings.slices.accelerator)),
    )
    try:
        version = versions.GkeVersion.parse(settings.cluster.version)
    except versions.VersionError as error:
        yield Finding(path, error.message, error.fix)
        return
    if version < least.version:
        yield Finding(
            path,
            f"{least.because} needs GKE {least.version} or newer, not {version}",
            f'write "{least.version}" or newer, or leave it out for the release channel\'s own',
        )


@check("name-lengths", "pathways:name", "gcp:project", "gcp:region", "pathways:scratch.bucket")
def _name_lengths(settings: Settings) -> Iterator[Finding]:
    """Every name that Google sees is within Google's limits."""
    derived = names.of(settings)
    limits = [
        ("cluster", derived.cluster, 1, 40),
        ("subnetwork", derived.subnetwork, 1, 63),
        ("service account", derived.service_account, 6, 30),
    ]
    for what, name, least, most in limits:
        if not least <= len(name) <= most:
            yield Finding(
                "pathways:name",
                f"the {what}'s name {name} has {len(name)} characters, Google allows {least} to {most}",
                f"set pathways:name to a word of at most {most - len(name) + len(settings.name)} characters"
                if len(name) > most
                else "set a longer pathways:name",
            )
            return
    if len(derived.bucket) > 63 and settings.scratch.bucket is None:
        yield Finding(
            "pathways:scratch.bucket",
            f"the bucket's name {derived.bucket} has {len(derived.bucket)} characters, Google allows 63",
            "name it in pathways:scratch.bucket",
        )


@check("head-fits", "pathways:head.machineType", "pathways:workload.mode")
def _head_fits(settings: Settings) -> Iterator[Finding]:
    """The head pod fits on one node of the head pool; it cannot be spread."""
    path, machine = "pathways:head.machineType", cpu_machine(settings.head.machine_type)
    if machine is None:
        yield Finding(
            path,
            f"the size of {settings.head.machine_type} is not in the catalogue, so it is not checked "
            "whether the head pod fits",
            "use n2-standard-64, or make sure that it fits",
            "warning",
        )
        return
    cpus, gigabytes = containers.head_limits(settings)
    gib = gigabytes * 1e9 / 2**30
    if cpus + SYSTEM_VCPUS > machine.vcpus or gib + SYSTEM_GIB > machine.memory_gib:
        yield Finding(
            path,
            f"the head pod needs {cpus} vCPUs and {gib:.0f} GiB on one node; {machine.name} has "
            f"{machine.vcpus} and {machine.memory_gib}, of which the system takes some",
            "use n2-standard-64 or larger",
        )


@check("jobset-version", "pathways:jobset.version")
def _job_set_version(settings: Settings) -> Iterator[Finding]:
    """The JobSet controller is new enough for Pathways (0.8.0)."""
    version = settings.jobset.version
    if version is None or not settings.jobset.install:
        return
    numbers = version.lstrip("v").split(".")
    if not all(part.isdigit() for part in numbers):
        yield Finding("pathways:jobset.version", f'"{version}" is not a version', 'write it like "0.11.1"')
    elif [int(part) for part in numbers] < [0, 8, 0]:
        yield Finding(
            "pathways:jobset.version",
            f"Pathways needs JobSet 0.8.0 or newer, not {version}",
            "leave it out for the version that was tested",
        )
