"""Cluster Director: what its API demands, and what its schema does not say in types.

Source: discovery document of hypercomputecluster v1; Cluster Director documentation on TPU machine types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from pathways import containers, images, names
from pathways.checks.paths import ACCELERATOR, COUNT, MACHINE, SHAPE, ZONE
from pathways.checks.registry import Finding, check, director_check, shape_of
from pathways.director import ids
from pathways.machines import cpu_machine
from pathways.settings import Settings

HOME, CAPACITY = "pathways:director.home", "pathways:slices.capacity"
CLUSTER_ID = "pathways:director.clusterId"
# Slurm's TPU plugin counts four chips to a node, and knows these generations.
CHIPS_PER_NODE = 4
GENERATIONS = ("v5e", "v5p", "v6e", "tpu7x")
STARTUP_SCRIPT_BYTES = 256 * 1024
# GB by kind of home storage.
CAPACITIES = {"filestore": (1024, 102_400), "lustre": (18_000, 7_632_000)}
# What Slurm and the system of a node take of its memory.
SYSTEM_GIB = 4
_AI_ZONE = re.compile(r".*-ai\d+[a-z]?$")

# Settings that only GKE has: by section, those of it, or None for all.
_GKE_ONLY: dict[str, tuple[str, ...] | None] = {
    "cluster": None,
    "workload": None,
    "reach": None,
    "jobset": None,
    "kueue": None,
    "slices": ("autoscaling", "dranet", "protect"),
    "network": ("node_range", "pod_range", "service_range", "mtu", "pod_range_name", "service_range_name", "second"),
    "runtime": ("resource_manager", "proxy", "worker", "colocated_python"),
    "scratch": ("prefix",),
}


@check("platform-settings", "pathways:platform")
def _platform_settings(settings: Settings) -> Iterator[Finding]:
    """A stack sets only what its platform has."""
    if settings.platform == "gke":
        if "director" in settings.model_fields_set:
            yield Finding(
                "pathways:director", "belongs to Cluster Director", "leave it out, or write platform: clusterDirector"
            )
        return
    for section, keys in _GKE_ONLY.items():
        if section not in settings.model_fields_set:
            continue
        if keys is None:
            yield Finding(f"pathways:{section}", "belongs to GKE", "leave it out, or write platform: gke")
            continue
        for key in keys:
            if key in getattr(settings, section).model_fields_set:
                path = f"pathways:{section}.{to_camel(key)}"
                yield Finding(path, "belongs to GKE", "leave it out, or write platform: gke")
    if settings.scratch.lifecycle_owner != "stack":
        yield Finding(
            "pathways:scratch.lifecycleOwner",
            "the job scripts turn --enable_gcs_olm off, so Pathways writes no lifecycle rules",
            "leave it out: the stack writes the rule",
        )


@director_check("director-cluster-id", CLUSTER_ID, "pathways:name")
def _cluster_id(settings: Settings) -> Iterator[Finding]:
    """The cluster's id has at most 10 lower-case letters and digits, a letter first."""
    made = ids.cluster_id(settings)
    if len(made) > ids.CLUSTER_ID_LIMIT:
        yield Finding(
            CLUSTER_ID,
            f"{made}, made from pathways:name, has {len(made)} characters, Google allows {ids.CLUSTER_ID_LIMIT}",
            f"add clusterId: {made[: ids.CLUSTER_ID_LIMIT]}, or another short word",
        )


@director_check("director-machine", *SHAPE)
def _machine(settings: Settings) -> Iterator[Finding]:
    """The TPU VMs are ones that Cluster Director offers: four chips each, of a generation that its Slurm knows."""
    shape = shape_of(settings)
    if shape.generation.name not in GENERATIONS:
        yield Finding(
            ACCELERATOR,
            f"Cluster Director has no {shape.generation.name}",
            f"write one of {', '.join(GENERATIONS)}, or platform: gke",
        )
    elif shape.chips_per_vm != CHIPS_PER_NODE:
        yield Finding(
            MACHINE,
            f"Cluster Director makes slices of VMs with {CHIPS_PER_NODE} chips; {shape.machine_type.name} has "
            f"{shape.chips_per_vm}",
            "leave machineType out, or write platform: gke",
        )


@director_check("director-zone", ZONE)
def _zone(settings: Settings) -> Iterator[Finding]:
    """Cluster Director has no TPUs in AI zones."""
    if _AI_ZONE.match(settings.slices.zone):
        yield Finding(
            ZONE, f"{settings.slices.zone} is an AI zone, where Cluster Director has no TPUs", "use another zone"
        )


@director_check("director-capacity", CAPACITY)
def _capacity(settings: Settings) -> Iterator[Finding]:
    """Capacity comes in a way that Cluster Director has: on demand, spot, flex-start or a whole reservation."""
    capacity = settings.slices.capacity
    if capacity.type == "calendar":
        yield Finding(
            f"{CAPACITY}.type", "Cluster Director takes no reservation in calendar mode", "use another type, or GKE"
        )
    for key, value in [
        ("reservationBlock", capacity.reservation_block),
        ("reservationSubBlock", capacity.reservation_sub_block),
        ("queued", capacity.queued),
    ]:
        if value:
            yield Finding(f"{CAPACITY}.{key}", f"Cluster Director has no {key}", "leave it out, or use GKE")


@director_check("director-tpu-static", "pathways:director.tpuNodes", *SHAPE)
def _static(settings: Settings) -> Iterator[Finding]:
    """Nodes that run always know no topology, so only slices of one VM can be made of them."""
    shape = shape_of(settings)
    if settings.director.tpu_nodes.static and shape.vms > 1:
        yield Finding(
            "pathways:director.tpuNodes.static",
            f"a {shape.topology} slice has {shape.vms} VMs, and Cluster Director's API cannot state the topology of "
            "static nodes",
            "leave static out: the VMs of a slice are made together when it is asked for",
        )


@director_check("director-login-nodes", "pathways:director.loginNodes")
def _login_nodes(settings: Settings) -> Iterator[Finding]:
    """Login nodes of a cluster with TPUs are of the N2 series."""
    machine = settings.director.login_nodes.machine_type
    if not machine.startswith("n2-"):
        yield Finding(
            "pathways:director.loginNodes.machineType",
            f"{machine} is not of the N2 series, which login nodes of a TPU cluster must be",
            "write n2-standard-8 or another n2 machine type",
        )


@director_check("director-head-fits", "pathways:head.machineType", severities=("error", "warning"))
def _head_fits(settings: Settings) -> Iterator[Finding]:
    """The resource manager, the proxy and a client fit on one CPU node."""
    path, machine = "pathways:head.machineType", cpu_machine(settings.head.machine_type)
    if machine is None:
        yield Finding(
            path,
            f"the size of {settings.head.machine_type} is not in the catalogue, so it is not checked whether the "
            "service job fits",
            "use n2-standard-64, or make sure that it fits",
            "warning",
        )
        return
    service = (containers.RESOURCE_MANAGER_LIMITS, containers.PROXY_LIMITS)
    cpus = sum(limits.cpu for limits in service)
    gib = sum(limits.gigabytes for limits in service) * 1e9 / 2**30
    client = containers.CLIENT_LIMITS
    if cpus > machine.vcpus or gib + SYSTEM_GIB > machine.memory_gib:
        yield Finding(
            path,
            f"the service job takes {cpus} vCPUs and {gib:.0f} GiB; {machine.name} has {machine.vcpus} and "
            f"{machine.memory_gib:g}",
            "use n2-standard-64 or larger",
        )
    elif settings.head.node_count == 1 and (
        cpus + client.cpu > machine.vcpus or gib + client.gigabytes * 1e9 / 2**30 + SYSTEM_GIB > machine.memory_gib
    ):
        yield Finding(
            path,
            f"the one CPU node has no room for a client's job beside the service ({client.cpu} vCPUs and "
            f"{client.gigabytes} GB)",
            "use n2-standard-64 or larger, or nodeCount: 2, or run clients on the login node",
            "warning",
        )


@director_check("director-min-slices", "pathways:director.minSlices", COUNT)
def _min_slices(settings: Settings) -> Iterator[Finding]:
    """No more slices are waited for than there are."""
    least, count = settings.director.min_slices, settings.slices.count
    if least is not None and least > count:
        yield Finding(
            "pathways:director.minSlices", f"{least} is more than the stack's {count} slices", f"write at most {count}"
        )


@director_check("director-home", HOME, "pathways:director.home.capacityGb")
def _home(settings: Settings) -> Iterator[Finding]:
    """The home storage has what its kind needs, in Google's limits, and an existing one is only named."""
    home = settings.director.home
    given = home.model_fields_set - {"type"}
    if home.existing:
        for key in sorted(given - {"existing"}):
            yield Finding(f"{HOME}.{to_camel(key)}", f"{home.existing} exists with its own", "leave it out")
        wanted = r"[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]" if home.type == "bucket" else _INSTANCE
        if not re.fullmatch(wanted, home.existing):
            form = "a bucket's name" if home.type == "bucket" else "projects/P/locations/L/instances/I"
            yield Finding(f"{HOME}.existing", f"{home.existing} is not {form}", f"write {form}")
        return
    for key in sorted(given - _HOME_KEYS[home.type]):
        yield Finding(f"{HOME}.{to_camel(key)}", f"a {home.type} has no {to_camel(key)}", "leave it out")
    if home.type in CAPACITIES:
        least, most = CAPACITIES[home.type]
        if home.capacity_gb is None:
            yield Finding(f"{HOME}.capacityGb", f"a new {home.type} needs its size", f"add capacityGb: {least}")
        elif not least <= home.capacity_gb <= most:
            yield Finding(
                f"{HOME}.capacityGb",
                f"{home.capacity_gb} GB; a {home.type} has {least:,} to {most:,}",
                f"write a number from {least} to {most}",
            )


@director_check("director-home-zone", f"{HOME}.existing", ZONE)
def _home_zone(settings: Settings) -> Iterator[Finding]:
    """Existing storage is in the slices' zone, or of their region, since a cluster lies in one zone."""
    found = re.fullmatch(_INSTANCE, settings.director.home.existing or "")
    if found and found["location"] not in (settings.slices.zone, settings.region):
        yield Finding(
            f"{HOME}.existing",
            f"it is in {found['location']}, the cluster in {settings.slices.zone}",
            "name storage of that zone",
        )


@director_check("director-network", "pathways:network.existing", "pathways:network.existingSubnetwork")
def _network(settings: Settings) -> Iterator[Finding]:
    """An existing network is named with a subnet of the region; without one, Cluster Director makes both."""
    network = settings.network
    for key, value, other in [
        ("existingSubnetwork", network.existing_subnetwork, network.existing),
        ("existing", network.existing, network.existing_subnetwork),
    ]:
        if other and not value:
            yield Finding(f"pathways:network.{key}", "a network and its subnet are named together", f"add {key}")
    for key, value, form in [
        ("existing", network.existing, r"projects/[^/]+/global/networks/[^/]+"),
        (
            "existingSubnetwork",
            network.existing_subnetwork,
            rf"projects/[^/]+/regions/{settings.region}/subnetworks/[^/]+",
        ),
    ]:
        if value and "/" in value and not re.fullmatch(form, value):
            shown = form.replace("[^/]+", "NAME")
            yield Finding(f"pathways:network.{key}", f"{value} does not have the form {shown}", f"write {shown}")


@director_check("director-startup-scripts", "pathways:director")
def _startup_scripts(settings: Settings) -> Iterator[Finding]:
    """A startup script is within Google's 256 KB."""
    director = settings.director
    for key, script in [
        ("loginNodes", director.login_nodes.startup_script),
        ("cpuNodes", director.cpu_nodes.startup_script),
        ("tpuNodes", director.tpu_nodes.startup_script),
    ]:
        size = len((script or "").encode())
        if size > STARTUP_SCRIPT_BYTES:
            yield Finding(
                f"pathways:director.{key}.startupScript",
                f"{size:,} bytes; Google allows {STARTUP_SCRIPT_BYTES:,}",
                "put the rest into a file that the script fetches",
            )


@director_check("director-image", "pathways:runtime.jax", "pathways:runtime.imageTag")
def _image(settings: Settings) -> Iterator[Finding]:
    """The images' tag is known for the JAX version, or stated."""
    runtime = settings.runtime
    if runtime.image_tag is None:
        yield Finding(
            "pathways:runtime.imageTag",
            f"Google states no image of JAX {runtime.jax} for Cluster Director",
            f"name its tag, or write jax: {' or '.join(images.DIRECTOR_TAGS)}",
        )


@director_check("director-bucket-names", "pathways:name", "gcp:project", "pathways:scratch.bucket", HOME)
def _bucket_names(settings: Settings) -> Iterator[Finding]:
    """The buckets' names are within Google's 63 characters, and two buckets have two names."""
    scratch, home = names.of(settings).bucket, ids.home_bucket(settings)
    for path, bucket in [("pathways:scratch.bucket", scratch), (f"{HOME}.existing", home)]:
        if len(bucket) > 63:
            yield Finding(
                path, f"the bucket's name {bucket} has {len(bucket)} characters, Google allows 63", f"name it in {path}"
            )
    if settings.director.home.type == "bucket" and scratch == home:
        yield Finding(
            "pathways:scratch.bucket",
            f"{scratch} holds the home folders, of which the lifecycle rule would delete a part",
            "name another bucket",
        )


_INSTANCE = r"projects/[^/]+/locations/(?P<location>[^/]+)/instances/[^/]+"
_HOME_KEYS = {
    "bucket": {"storage_class"},
    "filestore": {"capacity_gb", "tier"},
    "lustre": {"capacity_gb", "throughput"},
}
