"""Diagnoses of the JobSet and its pods."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from cli.status.diagnoses.registry import Diagnosis, Match
from cli.status.snapshot import Container, RefusedPods, Snapshot
from pathways import names
from pathways.geometry import count

_PULL = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
_ASIDE = ("running", "ContainerCreating", "PodInitializing", "waiting", "Completed", *_PULL)
_SELECTOR = "didn't match Pod's node affinity/selector"
_NODES = re.compile(r"0/(\d+) nodes are available")
_REFUSED = re.compile(rf"(\d+) node\(s\) {re.escape(_SELECTOR)}")


def _missing(snapshot: Snapshot) -> Iterator[Match]:
    unseen = {each.part for each in snapshot.silent}
    if snapshot.status and snapshot.job is None and not unseen & {"the JobSet", "the cluster"}:
        yield Match(f"namespace {snapshot.namespace} has no JobSet {snapshot.job_set}")


def _suspended(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.job and snapshot.job.suspended and snapshot.admission is None:
        yield Match(f"JobSet {snapshot.job_set} is suspended")


def _queued(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.admission and not snapshot.admission.admitted:
        yield Match(f"Kueue has not admitted JobSet {snapshot.job_set}: {snapshot.admission.message}")


def _failed(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.job and (failed := snapshot.job.has("Failed")):
        yield Match(
            f"JobSet {snapshot.job_set} failed after {count(snapshot.job.restarts, 'restart')}: {failed.message}"
        )


def _topology(snapshot: Snapshot) -> Iterator[Match]:
    tpu_nodes = sum(pool.nodes for pool in snapshot.pools if pool.name != names.HEAD_POOL)
    pending = [each for each in snapshot.pending if each.slice is not None and _refused_tpus(each.reason, tpu_nodes)]
    if pending and all(pool.ready == pool.wanted for pool in snapshot.pools):
        yield Match(f"{count(len(pending), 'worker')} pending, such as {pending[0].name}: {pending[0].reason}")


def _refused_tpus(reason: str, tpu_nodes: int) -> bool:
    """Whether the scheduler found TPU nodes that are not what a worker selects; it counts CPU nodes among them."""
    every, refused = _NODES.match(reason), _REFUSED.search(reason)
    return bool(every and refused and int(refused.group(1)) > int(every.group(1)) - tpu_nodes)


def _not_let_in(snapshot: Snapshot) -> Iterator[Match]:
    for fix, members in _by_fix(snapshot).items():
        first = members[0]
        others = f" ({count(len(members) - 1, 'more job')} like it)" if len(members) > 1 else ""
        yield Match(f"{first.of} lacks {first.lacks}{others}: {first.reason}", {"fix": fix})


def _by_fix(snapshot: Snapshot) -> dict[str, list[RefusedPods]]:
    found: dict[str, list[RefusedPods]] = defaultdict(list)
    for each in snapshot.refused:
        found[each.fix].append(each)
    return found


def _unschedulable(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.pending:
        first = snapshot.pending[0]
        yield Match(
            f"{count(len(snapshot.pending), 'pod')} pending, such as {first.name}: {first.reason}", {"pod": first.name}
        )


def _pull(snapshot: Snapshot) -> Iterator[Match]:
    for component, members in _by_component(snapshot, _PULL).items():
        first = members[0]
        yield Match(f"{component} in {count(len(members), 'pod')} waits for its image: {first.message or first.state}")


def _failing(snapshot: Snapshot) -> Iterator[Match]:
    bad = [each for each in snapshot.containers if each.state not in _ASIDE]
    grouped: dict[str, list[Container]] = defaultdict(list)
    for each in bad:
        grouped[each.component].append(each)
    for component, members in grouped.items():
        said = f"{component} in {count(len(members), 'pod')} is in {members[0].state}"
        yield Match(said + (f" ({members[0].message})" if members[0].message else ""), {"component": component})


def _incomplete(snapshot: Snapshot) -> Iterator[Match]:
    if snapshot.job is None or snapshot.job.suspended or snapshot.job.has("Completed"):
        return
    for index in range(snapshot.slices):
        ready = sum(each.ready for each in snapshot.of_slice(index))
        if ready < snapshot.vms:
            yield Match(f"slice {index} has {ready} of {snapshot.vms} workers ready", {"index": str(index)})


def _by_component(snapshot: Snapshot, states: tuple[str, ...]) -> dict[str, list[Container]]:
    found: dict[str, list[Container]] = defaultdict(list)
    for each in snapshot.containers:
        if each.state in states:
            found[each.component].append(each)
    return found


DIAGNOSES = (
    Diagnosis(
        "jobset-missing",
        "the cluster runs, and has no JobSet of the stack's name",
        "pulumi up was interrupted, or the JobSet ended and its time to live passed",
        "pulumi refresh -s {stack}, then pulumi up -s {stack}",
        _missing,
    ),
    Diagnosis(
        "jobset-suspended",
        "the JobSet's suspend is true, and no Kueue decides about it",
        "pathways:workload.suspend is true, or somebody suspended it",
        'kubectl patch jobset {job_set} -n {namespace} --type merge -p \'{{"spec":{{"suspend":false}}}}\'',
        _suspended,
    ),
    Diagnosis(
        "kueue-waiting",
        "Kueue's Workload of the JobSet is not admitted",
        "others use the queue's quota, or it does not cover what the JobSet asks for",
        "kubectl get workloads,clusterqueues -A",
        _queued,
        hides=("pods-unschedulable",),
    ),
    Diagnosis(
        "jobset-failed",
        "the JobSet's condition Failed is True",
        "the head ended with an error, or a slice failed more often than pathways:workload.maxRestarts allows",
        "pathways logs -s {stack}; then kubectl delete jobset {job_set} -n {namespace}, pulumi refresh and pulumi up",
        _failed,
    ),
    Diagnosis(
        "pods-refused",
        "a job lacks pods, or the JobSet jobs, and events of them say that the API server refuses those",
        "a quota, a limit range, Pod Security or a webhook of the cluster does not let them in, or the service account or "
        "priority class that the stack names is not there",
        "{fix}; pathways events -s {stack} --warnings shows every refusal",
        _not_let_in,
    ),
    Diagnosis(
        "topology-mismatch",
        f'workers are pending for "{_SELECTOR}", though every node is ready',
        "the nodes' label cloud.google.com/gke-tpu-topology or gke-tpu-accelerator is not what the JobSet selects: the node "
        "pools and the JobSet are of different stack files",
        "kubectl get nodes -L cloud.google.com/gke-tpu-topology; pulumi preview -s {stack} --diff",
        _topology,
        hides=("pods-unschedulable",),
    ),
    Diagnosis(
        "pods-unschedulable",
        "a pod's condition PodScheduled is False",
        "no node has room for it, or it waits for nodes that scale up",
        "kubectl describe pod {pod} -n {namespace}",
        _unschedulable,
    ),
    Diagnosis(
        "image-pull",
        "a container waits with ErrImagePull or ImagePullBackOff",
        "the image has no such tag, or the nodes' service account may not read its repository",
        "pathways preflight -s {stack} looks the tags up; then correct pathways:runtime.imageTag and pulumi up -s {stack}",
        _pull,
    ),
    Diagnosis(
        "container-failing",
        "a container waits with CrashLoopBackOff, or has ended with an error",
        "the component refuses its flags, or loses what it depends on; its last lines say which",
        "pathways logs {component} -s {stack}",
        _failing,
    ),
)

LAST = (
    Diagnosis(
        "slice-incomplete",
        "a slice has fewer ready workers than VMs, and nothing else is the matter",
        "its pods are being made or started; the JobSet, its jobs and webhooks say in events what they wait for",
        "pathways events -s {stack} --slice {index}",
        _incomplete,
        last=True,
    ),
)
