"""Diagnoses of the cluster and its machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cli.status.diagnoses.registry import Diagnosis, Match
from cli.status.snapshot import Pool, Snapshot
from pathways.geometry import count

STOCK_OUT, QUOTA = "GCE_STOCKOUT", "GCE_QUOTA_EXCEEDED"
_WELL = ("RUNNING", "RECONCILING", "PROVISIONING")


def _not_deployed(snapshot: Snapshot) -> Iterator[Match]:
    if not snapshot.status:
        reason = next((each.reason for each in snapshot.silent if each.part == "the cluster"), "")
        if "is not deployed" in reason:
            yield Match(reason)


def _cluster_error(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.status and snapshot.status not in _WELL:
        yield Match(
            f"cluster {snapshot.cluster} is {snapshot.status}" + (f": {snapshot.message}" if snapshot.message else "")
        )


def _with_condition(code: str) -> Callable[[Snapshot], Iterator[Match]]:
    def find(snapshot: Snapshot) -> Iterator[Match]:
        for pool in snapshot.pools:
            for condition in pool.conditions:
                if condition.type == code:
                    yield Match(f"pool {pool.name} is {pool.status}: {condition.message}", {"pool": pool.name})

    return find


def _pool_error(snapshot: Snapshot) -> Iterator[Match]:
    for pool in snapshot.pools:
        known = {condition.type for condition in pool.conditions} & {STOCK_OUT, QUOTA}
        if pool.status in ("ERROR", "RUNNING_WITH_ERROR") and not known:
            yield Match(f"pool {pool.name} is {pool.status}: {pool.message or _conditions(pool)}", {"pool": pool.name})


def _conditions(pool: Pool) -> str:
    return "; ".join(f"{each.type} {each.message}" for each in pool.conditions) or "GKE does not say why"


def _pool_missing(snapshot: Snapshot) -> Iterator[Match]:
    missing = [pool.name for pool in snapshot.pools if pool.status == "MISSING"]
    if missing and snapshot.status:
        yield Match(f"there is no node pool {', '.join(missing)}")


def _not_ready(snapshot: Snapshot) -> Iterator[Match]:
    for pool in snapshot.pools:
        if pool.not_ready:
            said = f"{count(len(pool.not_ready), 'node')} of {pool.nodes} in pool {pool.name} not ready"
            yield Match(f"{said}, such as {pool.not_ready[0]}", {"node": pool.not_ready[0], "pool": pool.name})


def _too_few(snapshot: Snapshot) -> Iterator[Match]:
    for pool in snapshot.pools:
        expected = pool.nodes not in (0, pool.wanted) if pool.autoscaled else pool.nodes < pool.wanted
        if pool.status in _WELL and pool.nodes >= 0 and expected:
            yield Match(f"pool {pool.name} has {pool.nodes} of {pool.wanted} nodes", {"pool": pool.name})


DIAGNOSES = (
    Diagnosis(
        "not-deployed",
        "GKE has no cluster of the stack's name",
        "the stack was never deployed, was destroyed, or lies in another project or location",
        "pathways preflight -s {stack}, then pulumi up -s {stack}",
        _not_deployed,
    ),
    Diagnosis(
        "cluster-error",
        "the cluster's status is ERROR, DEGRADED or STOPPING",
        "GKE could not make or keep the control plane, or somebody deletes it",
        "gcloud container clusters describe {cluster} --location {location} --project {project}",
        _cluster_error,
    ),
    Diagnosis(
        "stock-out",
        f"a node pool has the condition {STOCK_OUT}",
        "Google has no such TPU VMs left in the zone at this moment",
        "pathways topologies --accelerator NAME names other zones; or set pathways:slices.capacity to a reservation, "
        "flexStart or spot, then pulumi up -s {stack}",
        _with_condition(STOCK_OUT),
        hides=("pods-unschedulable", "nodes-missing"),
    ),
    Diagnosis(
        "quota-exceeded",
        f"a node pool has the condition {QUOTA}",
        "the project may not use as many chips in the region",
        "pathways preflight -s {stack} says how much is missing: "
        "https://console.cloud.google.com/iam-admin/quotas?project={project}",
        _with_condition(QUOTA),
        hides=("pods-unschedulable", "nodes-missing"),
    ),
    Diagnosis(
        "pool-error",
        "a node pool's status is ERROR or RUNNING_WITH_ERROR, for another reason",
        "GKE could not make the pool's nodes",
        "gcloud container node-pools describe {pool} --cluster {cluster} --location {location} --project {project}",
        _pool_error,
        hides=("pods-unschedulable", "nodes-missing"),
    ),
    Diagnosis(
        "pool-missing",
        "the cluster lacks a node pool that the stack declares",
        "pulumi up was interrupted, or somebody removed the pool",
        "pulumi refresh -s {stack}, then pulumi up -s {stack}",
        _pool_missing,
        hides=("pods-unschedulable",),
    ),
    Diagnosis(
        "nodes-not-ready",
        "a node's condition Ready is not True",
        "the VM is being repaired, preempted or maintained, or its node agent is down",
        "kubectl describe node {node}; a slice is whole again when all its nodes are, else: "
        "gcloud container operations list --location {location} --project {project}",
        _not_ready,
        hides=("pods-unschedulable",),
    ),
    Diagnosis(
        "nodes-missing",
        "a node pool has fewer nodes than its slice has VMs",
        "VMs were lost, preempted, or are still being made; a slice works only when whole",
        "gcloud container operations list --location {location} --project {project}",
        _too_few,
        hides=("pods-unschedulable",),
    ),
)
