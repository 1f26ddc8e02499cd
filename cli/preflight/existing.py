"""GKE's versions, and what the stack expects to be there or not to be there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cli.cloud.errors import CloudError
from cli.cloud.google import Google, Json
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import permissions, versions
from pathways.director import ids
from pathways.director.plan import DirectorPlan
from pathways.plan import Plan
from pathways.settings import Settings
from pathways.versions import GkeVersion

VERSION = Question("gke-version-offered", "GKE offers the version in the channel and the location")
CLUSTER = Question("cluster-usable", "an existing cluster is there, runs and is new enough")
CLUSTER_NAME = Question("cluster-name-free", "no cluster has the name of the one that the stack creates", "warning")
NETWORK = Question(
    "network-usable", "an existing network and its subnetwork are there, with ranges for pods and services"
)
BUCKET = Question("bucket-usable", "an existing bucket is there, in the region, and the caller may grant access to it")
BUCKET_CLASS = Question(
    "bucket-class", "an existing bucket is of a class without a price for early deletion", "warning"
)
BUCKET_NAME = Question("bucket-name-free", "nobody else has the name of the bucket that the stack creates")


def location_of(settings: Settings) -> str:
    """Where the cluster's control plane is."""
    return settings.cluster.location or settings.region


def _version(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    if isinstance(plan, DirectorPlan) or plan.settings.cluster.existing:
        return
    settings, location = plan.settings, location_of(plan.settings)
    served = google.gke("get_server_config", name=f"projects/{settings.project}/locations/{location}")
    channel = next((c for c in served.channels if c.channel.name == settings.cluster.release_channel), None)
    if channel is None:
        yield VERSION.found(
            f"{location} has no channel {settings.cluster.release_channel}", "write RAPID, REGULAR or STABLE"
        )
        return
    offered = [GkeVersion.parse(each) for each in channel.valid_versions]
    least, asked = versions.least_gke(settings), settings.cluster.version
    where = f"{settings.cluster.release_channel} in {location}"
    listed = ", ".join(channel.valid_versions) or "nothing"
    if asked:
        wanted = GkeVersion.parse(asked).parts
        fitting = [each for each in offered if each.parts[: len(wanted)] == wanted]
        if fitting:
            yield VERSION.ok(f"{where} offers {asked}")
        else:
            yield VERSION.found(
                f"{where} offers {listed}, not {asked}", "write one of these as pathways:cluster.version"
            )
        return
    default = GkeVersion.parse(channel.default_version)
    if not default < least.version:
        yield VERSION.ok(f"{where}: {default}, and {least.because} needs {least.version} or newer")
        return
    enough = [each for each in offered if each.is_surely_at_least(least.version)]
    said = f"{where}: {default}, which is too old: {least.because} needs {least.version} or newer"
    fix = f"write pathways:cluster.version: {enough[0]}" if enough else "write pathways:cluster.releaseChannel: RAPID"
    yield VERSION.found(said, fix)


def _cluster(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    if isinstance(plan, DirectorPlan):
        yield from _director_cluster(google, plan)
        return
    settings = plan.settings
    place = f"projects/{settings.project}/locations/{location_of(settings)}"
    found = _missing_as_none(lambda: google.gke("get_cluster", name=f"{place}/clusters/{plan.names.cluster}"))
    if settings.cluster.existing:
        yield _existing_cluster(found, settings)
    elif found is None:
        yield CLUSTER_NAME.ok(f"{location_of(settings)} has no cluster {plan.names.cluster}")
    else:
        yield _name_taken(plan.names.cluster, f"a GKE cluster {found.status.name.lower()}")


def _existing_cluster(found: Any, settings: Settings) -> Finding:
    name, least = settings.cluster.existing, versions.least_gke(settings)
    if found is None:
        fix = (
            "write its name and pathways:cluster.location: gcloud container clusters list --project " + settings.project
        )
        return CLUSTER.found(f"{location_of(settings)} has no cluster {name}", fix)
    version = GkeVersion.parse(found.current_master_version)
    said = f"{name} is {found.status.name}, GKE {version}"
    if found.status.name not in ("RUNNING", "RECONCILING"):
        return CLUSTER.found(said, f"see why: gcloud container clusters describe {name} --location {found.location}")
    if version < least.version:
        return CLUSTER.found(
            f"{said}; {least.because} needs {least.version}", f"gcloud container clusters upgrade {name} --master"
        )
    return CLUSTER.ok(said)


def _director_cluster(google: Google, plan: DirectorPlan) -> Iterator[Finding]:
    name = str(plan.cluster["cluster_id"])
    path = f"projects/{plan.settings.project}/locations/{plan.settings.region}/clusters/{name}"
    found = _missing_as_none(
        lambda: google.ask(
            "hypercomputecluster", "v1", lambda service: service.projects().locations().clusters().get(name=path)
        )
    )
    if found is None:
        yield CLUSTER_NAME.ok(f"{plan.settings.region} has no cluster {name}")
    else:
        yield _name_taken(name, "a Cluster Director cluster")


def _name_taken(name: str, what: str) -> Finding:
    return CLUSTER_NAME.found(
        f"{name} is there already: {what}",
        "fine where this stack is deployed; otherwise write another pathways:name, or use it: pathways:cluster.existing",
    )


def _network(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    settings = plan.settings
    if not settings.network.existing:
        return
    project, network = _owner_and_name(ids.network(settings))
    found = _missing_as_none(
        lambda: google.ask("compute", "v1", lambda service: service.networks().get(project=project, network=network))
    )
    if found is None:
        yield NETWORK.found(f"{project} has no network {network}", f"gcloud compute networks list --project {project}")
        return
    if not settings.network.existing_subnetwork:
        yield NETWORK.ok(f"{network} is there")
        return
    owner, name = _owner_and_name(ids.subnetwork(settings))
    subnet = _missing_as_none(
        lambda: google.ask(
            "compute",
            "v1",
            lambda service: service.subnetworks().get(project=owner, region=settings.region, subnetwork=name),
        )
    )
    yield _subnetwork(subnet, name, network, plan)


def _subnetwork(subnet: Json | None, name: str, network: str, plan: AnyPlan) -> Finding:
    settings = plan.settings
    if subnet is None or not str(subnet.get("network", "")).endswith(f"/{network}"):
        fix = f"gcloud compute networks subnets list --network {network} --regions {settings.region}"
        return NETWORK.found(f"{network} has no subnetwork {name} in {settings.region}", fix)
    if isinstance(plan, Plan):
        have = {each["rangeName"] for each in subnet.get("secondaryIpRanges", [])}
        wanted = (settings.network.pod_range_name, settings.network.service_range_name)
        missing = [each for each in wanted if each not in have]
        if missing:
            return NETWORK.found(
                f"{name} has no secondary range {' and no '.join(missing)}; it has {', '.join(sorted(have)) or 'none'}",
                "write pathways:network.podRangeName and serviceRangeName as they are there, or add the ranges",
            )
    return NETWORK.ok(f"{network} and {name} are there")


def _bucket(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    bucket = plan.scratch
    question = BUCKET if bucket.existing else BUCKET_NAME
    try:
        found = google.ask("storage", "v1", lambda service: service.buckets().get(bucket=bucket.name))
    except CloudError as error:
        if error.kind == "missing" and not bucket.existing:
            yield question.ok(f"gs://{bucket.name} is free")
        elif error.kind == "missing":
            yield question.found(
                f"there is no gs://{bucket.name}", "create it, or write pathways:scratch.existing: false"
            )
        elif error.kind == "permission" and not bucket.existing:
            yield question.found(
                f"gs://{bucket.name} belongs to somebody else", "write another pathways:scratch.bucket"
            )
        else:
            raise
        return
    where = str(found["location"]).lower()
    if where != bucket.location:
        yield question.found(
            f"gs://{bucket.name} is in {where}, the slices are in {bucket.location}",
            f"use a bucket in {bucket.location}: a bucket's location cannot be changed",
        )
    elif bucket.existing:
        yield _grantable(google, bucket.name, where)
    else:
        yield question.ok(f"gs://{bucket.name} is in {where} already, as this stack would create it")
    if bucket.existing:
        kind = found.get("storageClass", "STANDARD")
        said = f"gs://{bucket.name} is {kind}"
        if kind == "STANDARD":
            yield BUCKET_CLASS.ok(said)
        else:
            yield BUCKET_CLASS.found(said, "scratch files live for days: use a bucket of class STANDARD")


def _grantable(google: Google, name: str, where: str) -> Finding:
    wanted = list(permissions.EXISTING_BUCKET)
    answer = google.ask(
        "storage", "v1", lambda service: service.buckets().testIamPermissions(bucket=name, permissions=wanted)
    )
    missing = [each for each in wanted if each not in answer.get("permissions", [])]
    if missing:
        return BUCKET.found(
            f"the caller lacks on gs://{name}: {', '.join(missing)}", f"ask for roles/storage.admin on gs://{name}"
        )
    return BUCKET.ok(f"gs://{name} is in {where}, and the caller may grant access to it")


def _owner_and_name(path: str) -> tuple[str, str]:
    parts = path.split("/")
    return parts[1], parts[-1]


def _missing_as_none(question: Any) -> Any:
    try:
        return question()
    except CloudError as error:
        if error.kind == "missing":
            return None
        raise


PROBES = (
    Probe("GKE versions", (VERSION,), _version),
    Probe("the cluster", (CLUSTER, CLUSTER_NAME), _cluster),
    Probe("the network", (NETWORK,), _network),
    Probe("the scratch bucket", (BUCKET, BUCKET_CLASS, BUCKET_NAME), _bucket),
)
