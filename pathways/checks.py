"""What must hold before anything is deployed. Each check has an id, and the settings it reads."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache

from pathways import containers, images, names, tpu, versions
from pathways.faults import Fault, Severity
from pathways.machines import cpu_machine
from pathways.settings import Settings
from pathways.topology import CatalogueError, SliceShape, resolve

NODE_MAX_PODS = {"head": 110, "tpu": 16}
# The head pod's limits of CPU and memory must leave this much of its node to the system and to node agents.
SYSTEM_VCPUS = 1
SYSTEM_GIB = 1


@dataclass(frozen=True)
class Finding:
    """What a check says: the setting, what is wrong with it and what to write instead."""

    path: str
    reason: str
    fix: str
    severity: Severity = "error"


Body = Callable[[Settings], Iterator[Finding]]


@dataclass(frozen=True)
class Check:
    """One rule. `reads` are the settings it depends on: it is skipped while one of them is itself at fault."""

    id: str
    reads: tuple[str, ...]
    body: Body

    @property
    def title(self) -> str:
        return (self.body.__doc__ or "").strip().splitlines()[0]


CHECKS: list[Check] = []


def run(settings: Settings, faulty: Collection[str] = ()) -> list[Fault]:
    """All faults of the settings, in the order of the checks. Checks that read a `faulty` path are skipped."""
    unusable = set(faulty)
    faults: list[Fault] = []
    for check in CHECKS:
        if any(_covers(path, bad) for path in check.reads for bad in unusable):
            continue
        for found in check.body(settings):
            faults.append(Fault(check.id, found.path, found.reason, found.fix, found.severity))
            if found.severity == "error":
                unusable.add(found.path)
    return faults


def shape_of(settings: Settings) -> SliceShape:
    """The shape of the slices. Raises CatalogueError for what does not exist."""
    return _shape(settings.slices.accelerator, settings.slices.topology, settings.slices.machine_type)


_shape = cache(resolve)


def _covers(path: str, bad: str) -> bool:
    return path == bad or path.startswith((bad + ".", bad + "[")) or bad.startswith((path + ".", path + "["))


def _check(id: str, *reads: str) -> Callable[[Body], Body]:
    def register(body: Body) -> Body:
        CHECKS.append(Check(id, reads, body))
        return body

    return register


ACCELERATOR, TOPOLOGY = "pathways:slices.accelerator", "pathways:slices.topology"
MACHINE, COUNT, ZONE = "pathways:slices.machineType", "pathways:slices.count", "pathways:slices.zone"
SHAPE = (ACCELERATOR, TOPOLOGY, MACHINE)


@_check("slice-shape", *SHAPE)
def _slice_shape(settings: Settings) -> Iterator[Finding]:
    """The accelerator has the topology, on a machine type that Pathways can use."""
    try:
        shape_of(settings).instance_type  # noqa: B018  raises for machine types without an instance type
    except CatalogueError as error:
        yield Finding(f"pathways:slices.{error.field or 'topology'}", error.message, error.fix)


@_check("slice-documented-size", *SHAPE)
def _documented_size(settings: Settings) -> Iterator[Finding]:
    """The slice is no larger than Google documents as schedulable."""
    shape = shape_of(settings)
    if shape.beyond_documented:
        largest = shape.generation.documented_largest
        yield Finding(TOPOLOGY, f"{shape.topology} is larger than {largest}, the largest {shape.generation.name} slice "
                      "that Google documents as schedulable", "ask Google before you count on it", "warning")


@_check("zone-in-region", ZONE, "gcp:region")
def _zone_in_region(settings: Settings) -> Iterator[Finding]:
    """The slices' zone lies in the stack's region, where the cluster, the subnet and the bucket are."""
    zone, region = settings.slices.zone, settings.region
    if zone.rpartition("-")[0] != region:
        yield Finding(ZONE, f"zone {zone} is not in region {region}",
                      f"write a zone of {region}, or gcp:region: {zone.rpartition('-')[0]}")


@_check("zone-offers-accelerator", ACCELERATOR, ZONE)
def _zone_offers_accelerator(settings: Settings) -> Iterator[Finding]:
    """The zone is one where Google lists the accelerator."""
    generation = tpu.generation(settings.slices.accelerator)
    known = (*generation.zones, *generation.zones_to_confirm)
    if settings.slices.zone not in known:
        yield Finding(ZONE, f"{generation.name} is not listed in {settings.slices.zone}",
                      f"listed zones: {', '.join(known)}; ignore this if Google gave you capacity here", "warning")


@_check("capacity-reservation", "pathways:slices.capacity")
def _capacity(settings: Settings) -> Iterator[Finding]:
    """A reservation is named exactly when the capacity comes from one."""
    capacity = settings.slices.capacity
    if capacity.type == "reservation" and not capacity.reservation:
        yield Finding("pathways:slices.capacity.reservation", "capacity of type reservation names no reservation",
                      "add reservation: NAME (gcloud compute reservations list shows yours)")
    if capacity.type != "reservation" and (capacity.reservation or capacity.reservation_project):
        yield Finding("pathways:slices.capacity.reservation", f"{capacity.type} capacity cannot draw on a reservation",
                      "write type: reservation, or leave the reservation out")


@_check("gke-version", ACCELERATOR, "pathways:cluster.version")
def _gke_version(settings: Settings) -> Iterator[Finding]:
    """A fixed GKE version is new enough for Pathways and for the accelerator."""
    if settings.cluster.version is None:
        return
    path, least = "pathways:cluster.version", versions.minimum_gke(tpu.generation(settings.slices.accelerator))
    try:
        version = versions.GkeVersion.parse(settings.cluster.version)
    except versions.VersionError as error:
        yield Finding(path, error.message, error.fix)
        return
    if version < least.version:
        yield Finding(path, f"{least.because} needs GKE {least.version} or newer, not {version}",
                      f'write "{least.version}" or newer, or leave it out for the release channel\'s own')


@_check("jobset-name-length", "pathways:workload.name")
def _job_set_name(settings: Settings) -> Iterator[Finding]:
    """The JobSet's name leaves room for the head's address, which is stored in a label."""
    longest, name = names.longest_job_set_name(), settings.workload.name
    if len(name) > longest:
        yield Finding("pathways:workload.name",
                      f"{name} has {len(name)} characters; the head's address {names.coordinator('NAME')} must fit "
                      f"into a label of {names.LABEL_LIMIT}", f"use at most {longest} characters")


@_check("name-lengths", "pathways:name", "gcp:project", "gcp:region", "pathways:scratch.bucket")
def _name_lengths(settings: Settings) -> Iterator[Finding]:
    """Every name that Google sees is within Google's limits."""
    derived = names.of(settings)
    limits = [("cluster", derived.cluster, 1, 40), ("subnetwork", derived.subnetwork, 1, 63),
              ("service account", derived.service_account, 6, 30)]
    for what, name, least, most in limits:
        if not least <= len(name) <= most:
            yield Finding("pathways:name", f"the {what}'s name {name} has {len(name)} characters, Google allows "
                          f"{least} to {most}", f"set pathways:name to a word of at most {most - len(name) + len(settings.name)} "
                          f"characters" if len(name) > most else "set a longer pathways:name")
            return
    if len(derived.bucket) > 63 and settings.scratch.bucket is None:
        yield Finding("pathways:scratch.bucket", f"the bucket's name {derived.bucket} has {len(derived.bucket)} "
                      "characters, Google allows 63", "name it in pathways:scratch.bucket")


@_check("scratch-bucket-name", "pathways:scratch.bucket")
def _scratch_bucket(settings: Settings) -> Iterator[Finding]:
    """The scratch bucket is a bucket name, and one of your own."""
    bucket, path = settings.scratch.bucket, "pathways:scratch.bucket"
    if bucket is None:
        return
    if bucket.startswith("gs://") or "/" in bucket:
        yield Finding(path, f"{bucket} is a location, not a bucket name",
                      "write the name without gs://, and the folder in pathways:scratch.prefix")
    elif not 3 <= len(bucket) <= 63 or not bucket[0].isalnum() or not bucket[-1].isalnum() or bucket != bucket.lower():
        yield Finding(path, f"{bucket} is no bucket name", "use 3 to 63 lower-case letters, digits, - and _")
    elif bucket == "cloud-pathways-staging":
        yield Finding(path, "cloud-pathways-staging is Google's own and answers 403 to everyone else",
                      "leave it out, and the stack makes its own bucket")


@_check("image-matches-jax", "pathways:runtime.jax", "pathways:runtime.imageTag")
def _image_matches_jax(settings: Settings) -> Iterator[Finding]:
    """The images are of the client's JAX version; otherwise client and proxy find no common protocol."""
    path, runtime = "pathways:runtime.imageTag", settings.runtime
    jax = images.jax_version(runtime.tag)
    if jax is None:
        yield Finding(path, f"the tag {runtime.tag} does not say its JAX version, so nobody can tell whether it "
                      f"matches JAX {runtime.jax}", f"write imageTag: jax-{runtime.jax}", "warning")
    elif jax != runtime.jax:
        yield Finding(path, f"the images are for JAX {jax}, the client uses JAX {runtime.jax}",
                      f"write imageTag: jax-{runtime.jax}, or jax: {jax}")


@_check("batch-client", "pathways:workload.mode", "pathways:workload.image")
def _batch_client(settings: Settings) -> Iterator[Finding]:
    """A batch workload has a client image; an interactive one has no client."""
    workload = settings.workload
    if workload.mode == "batch":
        if not workload.image:
            yield Finding("pathways:workload.image", "a batch workload needs the image of its JAX client",
                          "add image: REPOSITORY/NAME:TAG, or write mode: interactive")
        return
    for key, value in [("image", workload.image), ("command", workload.command), ("args", workload.args),
                       ("env", workload.env)]:
        if value:
            yield Finding(f"pathways:workload.{key}", f"an interactive workload has no client container, so {key} "
                          "would be ignored", "write mode: batch, or leave it out")


@_check("client-environment", "pathways:workload.env")
def _client_environment(settings: Settings) -> Iterator[Finding]:
    """The client's environment does not set what the stack derives, nor flags that belong to the proxy."""
    derived = {"PATHWAYS_HEAD", *containers.client_variables("")}
    for index, variable in enumerate(settings.workload.env):
        path = f"pathways:workload.env[{index}].name"
        if variable.name in derived:
            yield Finding(path, f"{variable.name} is derived by the stack", "leave it out")
        elif variable.name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS"):
            yield Finding(path, f"{variable.name} has no effect in the client: the proxy compiles",
                          "leave it out here; XLA flags belong to the proxy")


@_check("head-fits", "pathways:head.machineType", "pathways:workload.mode")
def _head_fits(settings: Settings) -> Iterator[Finding]:
    """The head pod fits on one node of the head pool; it cannot be spread."""
    path, machine = "pathways:head.machineType", cpu_machine(settings.head.machine_type)
    if machine is None:
        yield Finding(path, f"the size of {settings.head.machine_type} is not in the catalogue, so it is not checked "
                      "whether the head pod fits", "use n2-standard-64, or make sure that it fits", "warning")
        return
    cpus, gigabytes = containers.head_limits(settings)
    gib = gigabytes * 1e9 / 2**30
    if cpus + SYSTEM_VCPUS > machine.vcpus or gib + SYSTEM_GIB > machine.memory_gib:
        yield Finding(path, f"the head pod needs {cpus} vCPUs and {gib:.0f} GiB on one node; {machine.name} has "
                      f"{machine.vcpus} and {machine.memory_gib}, of which the system takes some",
                      "use n2-standard-64 or larger")


@_check("address-ranges", *SHAPE, COUNT, "pathways:head.nodeCount", "pathways:network")
def _address_ranges(settings: Settings) -> Iterator[Finding]:
    """The subnet's ranges are valid, apart from each other, and large enough for every node and pod."""
    ranges: dict[str, ipaddress.IPv4Network] = {}
    for key, text in [("nodeRange", settings.network.node_range), ("podRange", settings.network.pod_range),
                      ("serviceRange", settings.network.service_range)]:
        path = f"pathways:network.{key}"
        try:
            ranges[path] = ipaddress.IPv4Network(text)
        except ValueError as error:
            yield Finding(path, str(error), "write the network address and its prefix length, such as 10.0.0.0/20")
            return
        for other, taken in ranges.items():
            if other != path and taken.overlaps(ranges[path]):
                yield Finding(path, f"{text} overlaps {other.rpartition('.')[2]} {taken}", "choose a separate range")
                return
    nodes_range, pods_range, _ = ranges.values()
    tpu_nodes = settings.slices.count * shape_of(settings).vms
    nodes = tpu_nodes + settings.head.node_count
    # Google keeps four addresses of every subnet for itself.
    if nodes > nodes_range.num_addresses - 4:
        yield Finding("pathways:network.nodeRange", f"{nodes} nodes do not fit into {nodes_range}, which has "
                      f"{nodes_range.num_addresses - 4} usable addresses", "use a shorter prefix")
    needed = tpu_nodes * _pod_addresses("tpu") + settings.head.node_count * _pod_addresses("head")
    if needed > pods_range.num_addresses:
        yield Finding("pathways:network.podRange", f"{nodes} nodes take {needed} pod addresses; {pods_range} has "
                      f"{pods_range.num_addresses}", "use a shorter prefix")


def _pod_addresses(kind: str) -> int:
    """Addresses GKE sets aside per node: the power of two that is at least twice the node's pods."""
    addresses: int = 1 << (2 * NODE_MAX_PODS[kind] - 1).bit_length()
    return addresses


@_check("jobset-version", "pathways:jobset.version")
def _job_set_version(settings: Settings) -> Iterator[Finding]:
    """The JobSet controller is new enough for Pathways (0.8.0)."""
    version = settings.jobset.version
    if version is None or not settings.jobset.install:
        return
    numbers = version.lstrip("v").split(".")
    if not all(part.isdigit() for part in numbers):
        yield Finding("pathways:jobset.version", f'"{version}" is not a version', 'write it like "0.11.1"')
    elif [int(part) for part in numbers] < [0, 8, 0]:
        yield Finding("pathways:jobset.version", f"Pathways needs JobSet 0.8.0 or newer, not {version}",
                      "leave it out for the version that was tested")
