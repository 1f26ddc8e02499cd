"""The network and the bucket that the stack expects to be there, or not to be there."""

from __future__ import annotations

from collections.abc import Iterator

from cli.cloud.errors import CloudError, missing_as_none
from cli.cloud.google import Google, Json
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import permissions
from pathways.director import ids
from pathways.plan import Plan

NETWORK = Question(
    "network-usable", "an existing network and its subnetwork are there, with ranges for pods and services"
)
BUCKET = Question("bucket-usable", "an existing bucket is there, in the region, and the caller may grant access to it")
BUCKET_CLASS = Question(
    "bucket-class", "an existing bucket is of a class without a price for early deletion", "warning"
)
BUCKET_NAME = Question("bucket-name-free", "nobody else has the name of the bucket that the stack creates")


def _network(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    settings = plan.settings
    if not settings.network.existing:
        return
    project, network = _owner_and_name(ids.network(settings))
    found = missing_as_none(
        lambda: google.ask("compute", "v1", lambda service: service.networks().get(project=project, network=network))
    )
    if found is None:
        yield NETWORK.found(f"{project} has no network {network}", f"gcloud compute networks list --project {project}")
        return
    if not settings.network.existing_subnetwork:
        yield NETWORK.ok(f"{network} is there")
        return
    owner, name = _owner_and_name(ids.subnetwork(settings))
    subnet = missing_as_none(
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


PROBES = (
    Probe("the network", (NETWORK,), _network),
    Probe("the scratch bucket", (BUCKET, BUCKET_CLASS, BUCKET_NAME), _bucket),
)
