"""The cluster, its head pool and the names Google sees."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic.alias_generators import to_camel

from pathways import containers, names, versions
from pathways.checks.paths import ACCELERATOR, ZONE
from pathways.checks.registry import Finding, gke_check
from pathways.machines import cpu_machine
from pathways.settings import Settings

# Of what GKE leaves to pods, the limits of the head pod must leave this much to node agents.
SYSTEM_VCPUS = 1
SYSTEM_GIB = 1
# Google's limit for maintenance exclusions that stop every upgrade.
LONGEST_NO_UPGRADES_DAYS = 90


VERSION = "pathways:cluster.version"


@gke_check("gke-version", ACCELERATOR, VERSION, "pathways:slices.capacity")
def _gke_version(settings: Settings) -> Iterator[Finding]:
    """A fixed GKE version is new enough for Pathways, the accelerator and the capacity."""
    if settings.cluster.version is None:
        return
    least = versions.least_gke(settings)
    try:
        version = versions.GkeVersion.parse(settings.cluster.version)
    except versions.VersionError as error:
        yield Finding(VERSION, error.message, error.fix)
        return
    if version < least.version:
        yield Finding(
            VERSION,
            f"{least.because} needs GKE {least.version} or newer, not {version}",
            f'write "{least.version}" or newer, or leave it out for the release channel\'s own',
        )


@gke_check("existing-cluster", "pathways:cluster", "pathways:network")
def _existing_cluster(settings: Settings) -> Iterator[Finding]:
    """An existing cluster brings its network and its settings with it."""
    if settings.cluster.existing is None:
        return
    # The last one says how the cluster is reached, and changes nothing about it.
    own = {"existing", "location", "dns_endpoint"}
    for name in sorted(settings.cluster.model_fields_set - own):
        key = to_camel(name)
        yield Finding(
            f"pathways:cluster.{key}",
            f"the cluster {settings.cluster.existing} exists, and the stack does not change its {key}",
            f"leave {key} out, and set it where the cluster is declared",
        )
    for name in sorted(settings.network.model_fields_set):
        key = to_camel(name)
        yield Finding(
            f"pathways:network.{key}",
            f"the cluster {settings.cluster.existing} has its network already",
            f"leave {key} out",
        )


@gke_check("cluster-location", "pathways:cluster.location", ZONE, "gcp:region")
def _location(settings: Settings) -> Iterator[Finding]:
    """The control plane is in the stack's region, or in the slices' zone."""
    location = settings.cluster.location
    if location not in (None, settings.region, settings.slices.zone):
        yield Finding(
            "pathways:cluster.location",
            f"{location} is neither the region nor the zone of the slices",
            f"write {settings.region} or {settings.slices.zone}, or leave it out",
        )


@gke_check("maintenance-exclusions", "pathways:cluster.maintenanceExclusions")
def _maintenance(settings: Settings) -> Iterator[Finding]:
    """Maintenance exclusions end after they begin, and within the time Google allows for their scope."""
    for index, exclusion in enumerate(settings.cluster.maintenance_exclusions):
        path = f"pathways:cluster.maintenanceExclusions[{index}]"
        try:
            start, end = (datetime.fromisoformat(text) for text in (exclusion.start, exclusion.end))
        except ValueError as error:
            yield Finding(path, f"is no time: {error}", "write times such as 2027-01-15T00:00:00Z")
            continue
        days = (end - start).days
        if end <= start:
            yield Finding(f"{path}.end", f"{exclusion.end} is not after {exclusion.start}", "exchange the two")
        elif exclusion.scope == "NO_UPGRADES" and days > LONGEST_NO_UPGRADES_DAYS:
            yield Finding(
                f"{path}.end",
                f"GKE allows {LONGEST_NO_UPGRADES_DAYS} days without any upgrade, not {days}",
                "end it earlier, or use scope NO_MINOR_OR_NODE_UPGRADES",
            )


@gke_check("private-endpoint", "pathways:cluster", severities=("warning",))
def _private_endpoint(settings: Settings) -> Iterator[Finding]:
    """A control plane that only the VPC reaches must be reachable by whoever runs pulumi."""
    cluster = settings.cluster
    if cluster.private_endpoint and not cluster.dns_endpoint:
        yield Finding(
            "pathways:cluster.privateEndpoint",
            "with a private endpoint, pulumi reaches the cluster from inside the VPC only",
            "run pulumi there, or add dnsEndpoint: true",
        )


@gke_check("name-lengths", "pathways:name", "gcp:project", "gcp:region", "pathways:scratch.bucket")
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


@gke_check("head-fits", "pathways:head.machineType", "pathways:workload.mode", severities=("error", "warning"))
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
    if cpus + SYSTEM_VCPUS > machine.allocatable_vcpus or gib + SYSTEM_GIB > machine.allocatable_gib:
        yield Finding(
            path,
            f"{_what_runs_there(settings)} {cpus} vCPUs and {gib:.0f} GiB on one node; {machine.name} has "
            f"{machine.vcpus} and {machine.memory_gib}, of which GKE leaves {machine.allocatable_vcpus:.1f} and "
            f"{machine.allocatable_gib:.0f} to pods",
            "use n2-standard-64 or larger",
        )


def _what_runs_there(settings: Settings) -> str:
    if settings.workload.mode == "service":
        alone = settings.head.node_count > 1
        return "the proxy of one client needs" if alone else "the resource manager and the proxy of one client need"
    return "the head pod needs"


@gke_check("jobset-version", "pathways:jobset.version")
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


@gke_check("kueue-quota", "pathways:kueue", "pathways:head.machineType", severities=("warning",))
def _kueue(settings: Settings) -> Iterator[Finding]:
    """Kueue needs to know how large the head's nodes are, or the head is never admitted."""
    if settings.kueue.enabled and cpu_machine(settings.head.machine_type) is None:
        yield Finding(
            "pathways:head.machineType",
            f"the size of {settings.head.machine_type} is not in the catalogue, so Kueue's quota for the head "
            "covers only what the head pod asks for",
            "use n2-standard-64, or add quota for other pods yourself",
        )
