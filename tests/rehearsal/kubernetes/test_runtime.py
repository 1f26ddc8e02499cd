"""A rehearsed GKE cluster, end to end: control plane, node pools, JobSet, Pathways' pods."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from pathways.labels import JOB_SET
from rehearsal.errors import RehearsalError
from rehearsal.home import Home
from rehearsal.kubernetes.api import Api, ApiError
from rehearsal.kubernetes.control_plane import ControlPlane
from rehearsal.kubernetes.nodes import POOL
from rehearsal.kubernetes.runtime import KubernetesRuntime
from rehearsal.processes import Processes
from rehearsal.tools import Tools
from tests.rehearsal.kubernetes import addon

Json = dict[str, Any]
PROJECT, LOCATION, ZONE = "example-ml", "us-east5", "us-east5-b"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "jobset")
pytestmark = pytest.mark.skipif(
    bool(Tools.locate().missing(PROGRAMS)), reason="the Go programs are not built: make tools"
)


@dataclass
class Clusters:
    """The clusters of one rehearsal."""

    home: Home
    runtime: KubernetesRuntime

    def create(self, name: str) -> str:
        key = f"{PROJECT}_{LOCATION}_{name}"
        self.runtime.create(key)
        return key

    def api(self, key: str) -> Api:
        return ControlPlane(key, self.home, Tools.locate()).api()

    def apply(self, key: str, pool: Json, count: int) -> None:
        self.runtime.apply_pool(key, pool, {ZONE: count}, PROJECT, LOCATION)

    @property
    def processes(self) -> Processes:
        return Processes(self.home.processes)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    # A long path on purpose: the address of a unix socket must not depend on it.
    home = Home(tmp_path_factory.mktemp("a-checkout-in-a-folder-with-a-name-of-more-than-sixty-characters"))
    found = Clusters(home, KubernetesRuntime(home, Tools.locate()))
    yield found
    for folder in list(home.clusters.glob("*")):
        found.runtime.delete(folder.name)
    assert found.processes.all() == []


@pytest.fixture(scope="module")
def cluster(clusters: Clusters) -> str:
    """A cluster with two TPU slices of 4 VMs, a head pool, and JobSet."""
    key = clusters.create("pathways")
    clusters.apply(key, head_pool(), 1)
    for index in range(2):
        clusters.apply(key, tpu_pool(f"tpu-np-{index}"), 4)
    with clusters.api(key) as api:
        addon.install(api, Tools.locate().share)
        until(lambda: (api.get(addon.DEPLOYMENT) or {}).get("status", {}).get("availableReplicas"))
    return key


def head_pool() -> Json:
    return {"name": "cpu-np", "config": {"machineType": "n2-standard-64"}}


def tpu_pool(name: str) -> Json:
    return {
        "name": name,
        "config": {"machineType": "ct6e-standard-4t"},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
    }


def jobset(name: str, slices: int = 2, vms: int = 4) -> Json:
    """What matters of a Pathways JobSet to the control plane: a head, and a worker job per slice."""
    tpu = {"google.com/tpu": "4"}
    worker = {
        "containers": [{"name": "worker", "image": "server", "resources": {"limits": tpu}}],
        "nodeSelector": {
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-tpu-topology": "4x4",
        },
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "restartPolicy": "OnFailure",
    }
    head = {
        "containers": [{"name": "rm", "image": "server", "resources": {"limits": {"cpu": "8", "memory": "32G"}}}],
        "initContainers": [{"name": "proxy", "image": "proxy_server", "restartPolicy": "Always"}],
        "nodeSelector": {POOL: "cpu-np"},
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "restartPolicy": "Never",
    }
    by_pool = {"alpha.jobset.sigs.k8s.io/exclusive-topology": POOL}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "coordinator": {"replicatedJob": "pathways-head"},
            "replicatedJobs": [
                {"name": "pathways-head", "replicas": 1, "template": {"spec": _job(1, head)}},
                {
                    "name": "worker",
                    "replicas": slices,
                    "template": {"metadata": {"annotations": by_pool}, "spec": _job(vms, worker)},
                },
            ],
        },
    }


def _job(pods: int, pod: Json) -> Json:
    return {
        "backoffLimit": 0,
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "template": {"spec": pod},
    }


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} seconds"
        time.sleep(0.2)
    return result


def running(api: Api, name: str) -> list[Json]:
    pods = api.items("/api/v1/namespaces/default/pods", labelSelector=f"{JOB_SET}={name}")
    return [pod for pod in pods if pod["status"].get("phase") == "Running"]


def nodes_by_pool(api: Api) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in api.items("/api/v1/nodes"):
        found.setdefault(node["metadata"]["labels"][POOL], []).append(node["metadata"]["name"])
    return found


def test_each_slices_workers_run_on_the_nodes_of_one_pool_and_the_head_on_the_head_pool(
    clusters: Clusters, cluster: str
) -> None:
    with clusters.api(cluster) as api:
        api.create(JOBSETS, jobset("pw"))
        pods = until(lambda: (found := running(api, "pw")) and len(found) == 9 and found)
        pools = {node: pool for pool, nodes in nodes_by_pool(api).items() for node in nodes}
        places = Counter(
            (pod["metadata"]["labels"]["batch.kubernetes.io/job-name"], pools[pod["spec"]["nodeName"]]) for pod in pods
        )
        assert sorted(places.values()) == [1, 4, 4]
        assert places["pw-pathways-head-0", "cpu-np"] == 1
        assert {pool for _, pool in places} == {"cpu-np", "tpu-np-0", "tpu-np-1"}
        api.delete(f"{JOBSETS}/pw")
        until(lambda: not running(api, "pw"))


def test_the_real_webhook_refuses_what_jobset_refuses(clusters: Clusters, cluster: str) -> None:
    with clusters.api(cluster) as api, pytest.raises(ApiError, match="invalid"):
        api.create(JOBSETS, jobset("a-name-that-makes-the-coordinators-label-too-long-for-kubernetes"))


def test_host_network_pods_have_their_nodes_address_and_others_their_own(clusters: Clusters, cluster: str) -> None:
    with clusters.api(cluster) as api:
        nodes = {node["metadata"]["name"]: node for node in api.items("/api/v1/nodes")}
        addresses = {name: node["status"]["addresses"][0]["address"] for name, node in nodes.items()}
        assert len(set(addresses.values())) == len(nodes)
        (controller,) = api.items("/api/v1/namespaces/jobset-system/pods")
        assert controller["status"]["podIP"] not in addresses.values()
        assert controller["status"]["hostIP"] == addresses[controller["spec"]["nodeName"]]


def test_a_pool_grows_shrinks_and_goes_with_the_pods_on_it(clusters: Clusters, cluster: str) -> None:
    spot = {"name": "spot", "config": {"machineType": "n2-standard-8", "spot": True}}
    with clusters.api(cluster) as api:
        clusters.apply(cluster, spot, 3)
        assert len(nodes_by_pool(api)["spot"]) == 3
        spec: Json = {"containers": [{"name": "a", "image": "a"}]}
        spec |= {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}
        api.create("/api/v1/namespaces/default/pods", {"metadata": {"name": "on-spot"}, "spec": spec})
        until(lambda: (api.get("/api/v1/namespaces/default/pods/on-spot") or {})["status"]["phase"] == "Running")
        clusters.apply(cluster, spot, 1)
        assert len(nodes_by_pool(api)["spot"]) == 1
        clusters.runtime.delete_pool(cluster, "spot")
        assert "spot" not in nodes_by_pool(api)
        assert api.get("/api/v1/namespaces/default/pods/on-spot") is None
        assert {"cpu-np", "tpu-np-0", "tpu-np-1"} <= nodes_by_pool(api).keys()


def test_what_was_killed_comes_back_with_its_state(clusters: Clusters, cluster: str) -> None:
    with clusters.api(cluster) as api:
        before = nodes_by_pool(api)
    killed = [process for process in clusters.processes.all() if process.name.startswith(f"{cluster}/")]
    for process in killed:
        os.kill(process.pid, signal.SIGKILL)
    until(lambda: not any(process.alive for process in killed))
    clusters.runtime.revive()
    assert all(process.alive for process in clusters.processes.all())
    with clusters.api(cluster) as api:
        assert nodes_by_pool(api) == before
        api.create(JOBSETS, jobset("again"))
        until(lambda: len(running(api, "again")) == 9)
        api.delete(f"{JOBSETS}/again")


def test_nodes_that_were_given_up_are_ready_again(clusters: Clusters, cluster: str) -> None:
    with clusters.api(cluster) as api:
        name = nodes_by_pool(api)["cpu-np"][0]
        lost = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [lost]}})

        def conditions() -> dict[str, str]:
            node = api.get(f"/api/v1/nodes/{name}") or {}
            return {condition["type"]: condition["status"] for condition in node["status"]["conditions"]}

        until(lambda: conditions().get("Ready") == "True" and len(conditions()) == 5)


def test_creating_a_cluster_again_finds_the_running_one(clusters: Clusters, cluster: str) -> None:
    pids = [process.pid for process in clusters.processes.all()]
    first = clusters.runtime.create(cluster)
    assert clusters.runtime.create(cluster) == first
    assert [process.pid for process in clusters.processes.all()] == pids


def test_two_clusters_live_side_by_side_and_a_deleted_one_leaves_nothing(clusters: Clusters, cluster: str) -> None:
    other = clusters.create("other")
    clusters.apply(other, head_pool(), 2)
    with clusters.api(cluster) as ours, clusters.api(other) as theirs:
        assert len(nodes_by_pool(theirs)["cpu-np"]) == 2
        assert len(nodes_by_pool(ours)["cpu-np"]) == 1
    folder = str(clusters.home.clusters / other)
    clusters.runtime.delete(other)
    clusters.runtime.delete(other)
    assert not Path(folder).exists()
    assert not any(folder in word for process in psutil.process_iter() for word in _words(process))
    assert clusters.runtime.create(cluster).address


def test_a_pool_of_no_cluster_is_refused(clusters: Clusters) -> None:
    with pytest.raises(RehearsalError, match="create the cluster first"):
        clusters.apply(f"{PROJECT}_{LOCATION}_missing", head_pool(), 1)
    clusters.runtime.delete_pool(f"{PROJECT}_{LOCATION}_missing", "cpu-np")


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
