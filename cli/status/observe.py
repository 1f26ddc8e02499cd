"""Looks at a stack: GKE, Kubernetes and the logs, at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar

from cli.cloud import stack
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.cloud.stack import Deployed, place
from cli.logs import reading
from cli.logs.lines import component_of
from cli.status.snapshot import (
    Admission,
    ClientProxy,
    Condition,
    Container,
    JobSet,
    PendingPod,
    Pool,
    RefusedPods,
    Silent,
    Snapshot,
)
from pathways import jobset, kueue, labels, names, refusals
from pathways.plan import Plan

Json = dict[str, Any]
T = TypeVar("T")
LINES = 400


def observe(google: Google, plan: Plan) -> Snapshot:
    """The stack now. Raises CloudError where the cluster cannot be asked for; one that is not there is a finding."""
    snapshot = _planned(plan)
    try:
        deployed = stack.find(google, plan)
    except CloudError as error:
        if error.kind != "missing":
            raise
        snapshot.silent.append(Silent("the cluster", error.reason, error.fix))
        return snapshot
    cluster = deployed.cluster
    snapshot.status, snapshot.version = cluster.status.name, cluster.current_master_version
    snapshot.message = cluster.status_message or next((each.message for each in cluster.conditions), "")
    with ThreadPoolExecutor(8) as pool:
        operations = pool.submit(_seen, snapshot, "GKE's operations", lambda: _operations(deployed), [])
        nodes = pool.submit(_seen, snapshot, "nodes", lambda: deployed.kubernetes.items("/api/v1/nodes"), None)
        job = pool.submit(_seen, snapshot, "the JobSet", lambda: _job_set(deployed), None)
        pods = pool.submit(_seen, snapshot, "pods", deployed.pods, [])
        admission = pool.submit(_seen, snapshot, "Kueue", lambda: _admission(deployed), None)
        clients = pool.submit(_seen, snapshot, "the proxies of clients", lambda: _clients(deployed), None)
        address = pool.submit(_seen, snapshot, "the load balancer", lambda: _proxy_address(deployed), None)
        made = job.result()
        refused = pool.submit(_seen, snapshot, "pods that are refused", lambda: _refused(deployed, made), [])
        snapshot.job, found = _of_job_set(made) if made else None, pods.result()
        read = reading.read(deployed, found, reading.Wanted(since=_since(snapshot.job, found), tail=LINES))
        snapshot.operations, snapshot.admission = operations.result(), admission.result()
        snapshot.refused, snapshot.clients = refused.result(), clients.result()
        snapshot.proxy_address = address.result()
        snapshot.pools = _pools(deployed, nodes.result())
    snapshot.containers = [each for pod in found for each in _containers(pod)]
    snapshot.pending = [each for pod in found if (each := _pending(pod))]
    snapshot.lines = read.lines
    snapshot.silent += [Silent("logs", each.reason, each.fix) for each in read.silent]
    return snapshot


def _planned(plan: Plan) -> Snapshot:
    settings = plan.settings
    return Snapshot(
        stack=settings.stack,
        project=settings.project,
        location=settings.location,
        cluster=plan.names.cluster,
        namespace=settings.workload.namespace,
        job_set=settings.workload.name,
        slices=settings.slices.count,
        vms=plan.shape.vms,
        chips=settings.slices.count * plan.shape.chips,
        head=names.coordinator(settings.workload.name, settings.workload.subdomain),
        scratch=plan.scratch.uri,
        taken=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _seen(snapshot: Snapshot, part: str, look: Callable[[], T], otherwise: T) -> T:
    try:
        return look()
    except CloudError as error:
        snapshot.silent.append(Silent(part, error.reason, error.fix))
        return otherwise


def _operations(deployed: Deployed) -> list[str]:
    """What GKE is doing to the cluster."""
    parent = stack.cluster_path(deployed.plan).rpartition("/clusters/")[0]
    answer = deployed.google.gke("list_operations", parent=parent)
    target = f"/clusters/{deployed.plan.names.cluster}"
    return [
        f"{each.operation_type.name} of {each.target_link.rpartition('/')[2]} since {each.start_time}"
        for each in answer.operations
        if each.status.name != "DONE" and (each.target_link.endswith(target) or f"{target}/" in each.target_link)
    ]


def _pools(deployed: Deployed, nodes: list[Json] | None) -> list[Pool]:
    members: dict[str, list[Json]] = defaultdict(list)
    for node in nodes or []:
        members[node["metadata"].get("labels", {}).get(labels.NODE_POOL, "")].append(node)
    wanted = {pool.name: pool.nodes for pool in (deployed.plan.head_pool, *deployed.plan.tpu_pools)}
    scaled = {pool.name for pool in deployed.plan.tpu_pools if pool.autoscaled}
    found = {pool.name: pool for pool in deployed.cluster.node_pools}
    made = [_missing(name, count) for name, count in wanted.items() if name not in found]
    for name, pool in found.items():
        if name in wanted:
            unready = tuple(n["metadata"]["name"] for n in members[name] if not _ready(n))
            made.append(
                Pool(
                    name=name,
                    status=pool.status.name,
                    wanted=wanted[name],
                    nodes=len(members[name]) if nodes is not None else -1,
                    ready=len(members[name]) - len(unready) if nodes is not None else -1,
                    autoscaled=name in scaled,
                    message=pool.status_message,
                    conditions=tuple(Condition(each.code.name, each.message) for each in pool.conditions),
                    not_ready=unready,
                )
            )
    order = list(wanted)
    return sorted(made, key=lambda pool: order.index(pool.name))


def _missing(name: str, wanted: int) -> Pool:
    return Pool(name, "MISSING", wanted, 0, 0)


def _ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _job_set(deployed: Deployed) -> Json | None:
    path = f"/apis/{jobset.API_VERSION}/namespaces/{deployed.namespace}/jobsets/{deployed.plan.settings.workload.name}"
    return deployed.kubernetes.get(path)


def _of_job_set(found: Json) -> JobSet:
    status = found.get("status", {})
    return JobSet(
        restarts=status.get("restarts", 0),
        suspended=bool(found["spec"].get("suspend")),
        conditions=tuple(
            Condition(each["type"], each.get("message", ""), each.get("reason", ""), each.get("lastTransitionTime", ""))
            for each in status.get("conditions", [])
            if each["status"] == "True"
        ),
        ready={each["name"]: each.get("ready", 0) for each in status.get("replicatedJobsStatus", [])},
        created=found["metadata"]["creationTimestamp"],
    )


def _refused(deployed: Deployed, job_set: Json | None) -> list[RefusedPods]:
    here = deployed.namespace
    jobs = deployed.kubernetes.items(f"/apis/batch/v1/namespaces/{here}/jobs", labelSelector=deployed.selector)
    about = {"fieldSelector": "involvedObject.kind!=Pod"}
    events = deployed.kubernetes.items(f"/api/v1/namespaces/{here}/events", **about)
    return [
        RefusedPods(f"{each.kind} {each.name}", each.lacks, each.message, each.fix)
        for each in refusals.find(jobs, [job_set] if job_set else [], events)
    ]


def _admission(deployed: Deployed) -> Admission | None:
    if not deployed.plan.settings.kueue.enabled:
        return None
    path = f"/apis/{kueue.API_VERSION}/namespaces/{deployed.namespace}/workloads"
    for workload in deployed.kubernetes.items(path):
        owners = workload["metadata"].get("ownerReferences", [])
        if any(each["name"] == deployed.plan.settings.workload.name and each["kind"] == "JobSet" for each in owners):
            return admission_of(workload)
    return None


def admission_of(workload: Json) -> Admission:
    """What a Workload's conditions say."""
    conditions = {each["type"]: each for each in workload.get("status", {}).get("conditions", [])}
    admitted = conditions.get("Admitted", {}).get("status") == "True"
    telling = conditions.get("Admitted" if admitted else "QuotaReserved", {})
    return Admission(admitted, telling.get("message", "Kueue has not looked at it yet"))


def _clients(deployed: Deployed) -> list[ClientProxy] | None:
    if deployed.plan.settings.workload.mode != "service":
        return None
    jobs = deployed.kubernetes.items(f"/apis/batch/v1/namespaces/{deployed.namespace}/jobs")
    return clients_of(jobs, deployed.plan.settings.workload.name)


def clients_of(jobs: list[Json], job_set: str) -> list[ClientProxy]:
    """The proxies among a namespace's jobs, by their names."""
    found, prefix = [], names.proxy_job(job_set, "")
    for job in jobs:
        place, status = job["metadata"], job.get("status", {})
        if place["name"].startswith(prefix) and labels.JOB_SET not in (place.get("labels") or {}):
            [container] = job["spec"]["template"]["spec"]["containers"]
            flag = next((each for each in container["args"] if each.startswith("--virtual_slices=")), "")
            state = "running" if status.get("ready") else "ended" if status.get("conditions") else "starting"
            client, slices = place["name"].removeprefix(prefix), flag.count(",") + 1
            found.append(ClientProxy(client, slices, state, place["creationTimestamp"]))
    return found


def _proxy_address(deployed: Deployed) -> str | None:
    service = deployed.plan.proxy_service
    if service is None:
        return deployed.plan.endpoints.proxy
    found = deployed.kubernetes.get(f"/api/v1/namespaces/{deployed.namespace}/services/{service['metadata']['name']}")
    balancers = ((found or {}).get("status", {}).get("loadBalancer") or {}).get("ingress") or []
    port = service["spec"]["ports"][0]["port"]
    return f"{balancers[0]['ip']}:{port}" if balancers else None


def _since(job: JobSet | None, pods: list[Json]) -> str:
    """Lines before this are of an earlier life of the JobSet."""
    started = [pod["status"]["startTime"] for pod in pods if pod.get("status", {}).get("startTime")]
    return min(started) if started else job.created if job else ""


def _containers(pod: Json) -> list[Container]:
    job, index, host = place(pod)
    slice_, at = (index, host) if job == names.WORKER_JOB else (None, None)
    statuses = pod.get("status", {})
    every = [*(statuses.get("initContainerStatuses") or []), *(statuses.get("containerStatuses") or [])]
    return [
        Container(
            component=component_of(each["name"]),
            pod=pod["metadata"]["name"],
            slice=slice_,
            host=at,
            ready=bool(each.get("ready")),
            restarts=each.get("restartCount", 0),
            **_state(each),
        )
        for each in every
    ]


def _state(status: Json) -> dict[str, str]:
    """The state in one word, and what is said about it."""
    state: Json = status.get("state") or {"waiting": {}}
    kind = next(iter(state))
    detail: Json = state[kind] or {}
    if kind == "running":
        return {"state": "running"}
    last = (status.get("lastState") or {}).get("terminated") or {}
    ended = detail if kind == "terminated" else last
    message = detail.get("message") or ended.get("message") or ""
    if ended.get("exitCode"):
        message = f"exit code {ended['exitCode']}" + (f": {message}" if message else "")
    return {"state": detail.get("reason") or kind, "message": message}


def _pending(pod: Json) -> PendingPod | None:
    conditions = pod.get("status", {}).get("conditions") or []
    for each in conditions:
        if each["type"] == "PodScheduled" and each["status"] == "False":
            job, index, _ = place(pod)
            slice_ = index if job == names.WORKER_JOB else None
            return PendingPod(pod["metadata"]["name"], slice_, each.get("message", ""))
    return None
