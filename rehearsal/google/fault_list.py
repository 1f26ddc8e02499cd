"""Every fault that a rehearsal can have."""

from __future__ import annotations

from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import GoogleError, denied, not_found, unavailable
from rehearsal.google.faults import Fault
from rehearsal.google.tpus import tpu_machine

Json = dict[str, Any]

CONTAINER = "container.projects.locations."
# What a person may have forgotten to be granted: what makes a cluster.
FORGOTTEN = ("container.clusters.create", "storage.buckets.setIamPolicy")


def _without_permissions(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    return {**answer, "permissions": [each for each in answer.get("permissions", []) if each not in FORGOTTEN]}


def _may_not_create_clusters(_cloud: Cloud, call: Call) -> None:
    where = f"projects/{call.path['projectsId']}"
    raise denied(f'Required "container.clusters.create" permission(s) for "{where}".')


def _disabled(cloud: Cloud, call: Call) -> None:
    project = cloud.projects.get(call.path["projectsId"])
    project.services = [name for name in project.services if name != "container.googleapis.com"]
    cloud.projects.require_service(project, "container.googleapis.com", "Kubernetes Engine API")


def _without_container(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    kept = [each for each in answer["services"] if each["config"]["name"] != "container.googleapis.com"]
    return {**answer, "services": kept}


def _old_versions(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    old = "1.31.14-gke.1033000"
    channels = [{**each, "defaultVersion": old, "validVersions": [old]} for each in answer["channels"]]
    return {
        **answer,
        "defaultClusterVersion": old,
        "validMasterVersions": [old],
        "validNodeVersions": [old],
        "channels": channels,
    }


def _no_tpu(_cloud: Cloud, call: Call) -> None:
    name = call.path["machineType"]
    if tpu_machine(name):
        path = f"projects/{call.path['project']}/zones/{call.path['zone']}/machineTypes/{name}"
        raise not_found(f"The resource '{path}' was not found")


def _no_accelerator(_cloud: Cloud, call: Call) -> None:
    path = f"projects/{call.path['project']}/zones/{call.path['zone']}/acceleratorTypes/{call.path['acceleratorType']}"
    raise not_found(f"The resource '{path}' was not found")


def _zone_down(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    return {**answer, "status": "DOWN"}


def _no_quota(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    """Every limit that is about TPUs becomes 0."""
    for metric in answer.get("metrics", []):
        if "TPU" in metric["displayName"]:
            for bucket in metric["consumerQuotaLimits"][0]["quotaBuckets"]:
                bucket["effectiveLimit"] = "0"
    return answer


def _elsewhere(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    here = answer["location"].lower()
    other = next(region for region in ("us-central1", "europe-west4") if region != here)
    return {**answer, "location": other.upper()}


def _degraded(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    return {**answer, "status": "DEGRADED", "statusMessage": "The control plane does not pass its health checks."}


def _pool_broken(_cloud: Cloud, _call: Call, answer: Json) -> Json:
    """The first TPU pool is in error for a reason of its own."""
    code, message = "GKE_SERVICE_ACCOUNT_DELETED", "The Kubernetes Engine Service Agent was deleted."
    broken = {
        "status": "RUNNING_WITH_ERROR",
        "statusMessage": message,
        "conditions": [{"code": code, "message": message}],
    }
    pools = answer.get("nodePools", [])
    first = min((pool["name"] for pool in pools if tpu_machine(pool["config"]["machineType"])), default=None)
    return {**answer, "nodePools": [{**pool, **broken} if pool["name"] == first else pool for pool in pools]}


def _no_tag(_cloud: Cloud, call: Call) -> None:
    package, tag = call.path["packagesId"], call.path["tagsId"]
    raise not_found(f'Tag "{tag}" of package "{package}" was not found.')


def _down(_cloud: Cloud, _call: Call) -> None:
    raise unavailable("The service is currently unavailable.")


def _revoked(_cloud: Cloud, _call: Call) -> None:
    raise GoogleError(
        401,
        "UNAUTHENTICATED",
        "authError",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        "authentication credential.",
    )


FAULTS = (
    Fault(
        "stock-out",
        "Google has no TPU VMs left in the zone: the next TPU node pool fails",
        pool_error=(
            "GCE_STOCKOUT",
            "Instance creation failed: ZONE_RESOURCE_POOL_EXHAUSTED: the zone does not have enough resources available "
            "to fulfill the request. Try a different zone, or try again later.",
        ),
    ),
    Fault(
        "quota",
        "the project's quota for TPU chips is 0: preflight says so, and the next TPU node pool fails",
        change={"serviceusage.services.consumerQuotaMetrics.list": _no_quota},
        pool_error=(
            "GCE_QUOTA_EXCEEDED",
            "Instance creation failed: Quota 'TPUS_PER_TPU_FAMILY' exceeded. Limit: 0.0 in region.",
        ),
    ),
    Fault(
        "missing-permission",
        f"the caller lacks {' and '.join(FORGOTTEN)}",
        refuse={CONTAINER + "clusters.create": _may_not_create_clusters},
        change={
            "cloudresourcemanager.projects.testIamPermissions": _without_permissions,
            "storage.buckets.testIamPermissions": _without_permissions,
        },
    ),
    Fault(
        "api-disabled",
        "the Kubernetes Engine API is not enabled",
        refuse={CONTAINER + method: _disabled for method in ("getServerConfig", "clusters.get", "clusters.list")},
        change={"serviceusage.services.list": _without_container},
    ),
    Fault(
        "version-unavailable",
        "GKE offers only a version that is too old for Pathways",
        change={CONTAINER + "getServerConfig": _old_versions},
    ),
    Fault("zone-down", "the zone is down for maintenance", change={"compute.zones.get": _zone_down}),
    Fault("no-machine-type", "the zone has no TPU machine types", refuse={"compute.machineTypes.get": _no_tpu}),
    Fault(
        "no-accelerator", "the zone has no TPUs of this kind", refuse={"compute.acceleratorTypes.get": _no_accelerator}
    ),
    Fault(
        "bucket-region",
        "every bucket lies in another region than it should",
        change={"storage.buckets.get": _elsewhere},
    ),
    Fault(
        "image-tag",
        "the images have no such tag",
        refuse={"artifactregistry.projects.locations.repositories.packages.tags.get": _no_tag},
        cluster="image-pull",
    ),
    Fault(
        "cluster-degraded", "the cluster's control plane is not well", change={CONTAINER + "clusters.get": _degraded}
    ),
    Fault(
        "pool-broken",
        "the first slice's node pool runs with an error that is no stock-out and no quota",
        change={CONTAINER + "clusters.get": _pool_broken},
    ),
    Fault("nodes-lost", "a VM of the first slice is gone", cluster="nodes-lost"),
    Fault("cordon", "the first slice's nodes take no more pods, and its pods are made anew", cluster="cordon"),
    Fault("crash-loop", "the workers' containers end as soon as they are started", cluster="crash-loop"),
    Fault("slow-start", "the workers' containers run and are not ready", cluster="slow-start"),
    Fault(
        "pod-quota",
        "a quota lets no more pods in, and the first slice's are made anew",
        cluster="pod-quota",
    ),
    Fault("queue-stopped", "Kueue's queues admit nothing", cluster="queue-stopped"),
    Fault("nodes-not-ready", "the nodes of the first slice are not ready", cluster="nodes-not-ready"),
    Fault(
        "topology-mismatch", "the first slice's nodes have another topology than its pods ask for", cluster="topology"
    ),
    Fault(
        "head-dns",
        "workers do not find the head's name",
        log=(
            (
                "worker",
                "Failed to connect to resource manager: DNS resolution failed for {head}:29001: Domain name not found",
            ),
        ),
    ),
    Fault(
        "protocol-version",
        "the client's JAX and the proxy's image do not fit together",
        log=(
            (
                "pathways-proxy",
                "FAILED_PRECONDITION: Client protocol version range [1,1] does not overlap with server range [3,14]",
            ),
        ),
    ),
    Fault(
        "bucket-update",
        "the resource manager may not update the scratch bucket",
        log=(
            (
                "pathways-rm",
                "Failed to set lifecycle rules: 403 caller does not have storage.buckets.update access to the "
                "Google Cloud Storage bucket.",
            ),
        ),
    ),
    Fault(
        "bucket-forbidden",
        "the nodes may not use the scratch bucket",
        log=(
            (
                "worker",
                "403 caller does not have storage.objects.create access to the Google Cloud Storage object.",
            ),
        ),
    ),
    Fault(
        "no-bucket",
        "the scratch bucket does not exist",
        log=(("pathways-rm", "404 The specified bucket does not exist."),),
    ),
    Fault(
        "second-client",
        "a second client has connected to the proxy",
        log=(("pathways-proxy", "ALREADY_EXISTS: another client is already connected to this IFRT proxy server"),),
    ),
    Fault("unavailable", "Google's APIs answer 503", refuse={"": _down}),
    Fault("credentials", "the caller's credentials are revoked", refuse={"": _revoked}),
)
