"""Node pools that grow for the pods of a slice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubernetes import autoscaler, pools
from rehearsal.kubernetes.autoscaler import AutoscaledPools, Autoscaler
from rehearsal.kubernetes.nodes import NodePool, Placement
from tests.unit.kubernetes.fake_api import FakeApi

ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOLERATION = {"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}


def pool(name: str, most: int = 4, **changes: Any) -> NodePool:
    json = {
        "name": name,
        "locations": ["us-east5-b"],
        "config": {"machineType": "ct6e-standard-4t"},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
        "autoscaling": {"enabled": True, "maxNodeCount": most},
    }
    return NodePool(json | changes, Placement("example-ml", "us-east5", "pathways"), "1.35.4-gke.1000000")


def pod(job: str, index: int = 0, **spec: Any) -> dict[str, Any]:
    """A pod of a Job that the scheduler found no node for."""
    return {
        "metadata": {"name": f"{job}-{index}", "namespace": "default", "ownerReferences": [{"uid": job}]},
        "spec": {
            "containers": [{"resources": {"requests": {"google.com/tpu": "4"}}}],
            "nodeSelector": {ACCELERATOR: "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"},
            "tolerations": [TOLERATION],
            **spec,
        },
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    }


class Cluster(FakeApi):
    """A cluster with autoscaled pools that have no nodes yet. `step` is the autoscaler's."""

    def __init__(self, folder: Path, *names: str, **changes: Any) -> None:
        super().__init__()
        self.pools = AutoscaledPools(folder)
        for name in names:
            self.pools.keep(pool(name, **changes))
        self.step = Autoscaler(self.api, folder).step

    def add(self, *pods: dict[str, Any]) -> None:
        self.objects |= {f"/api/v1/namespaces/default/pods/{p['metadata']['name']}": p for p in pods}

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        selector, label = query.get("fieldSelector", ""), query.pop("labelSelector", "")
        found = super().items(path, **({"labelSelector": label} if "=" in label else {}))
        return [i for i in found if not selector or not i["spec"].get("nodeName")]

    @property
    def sizes(self) -> dict[str, int]:
        return dict(Counter(n["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for n in self.items(pools.NODES)))


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, "tpu-np-0", "tpu-np-1")


def test_a_pool_without_waiting_pods_has_no_nodes(cluster: Cluster) -> None:
    cluster.step()
    assert cluster.sizes == {}


def test_a_waiting_slice_gets_all_nodes_of_one_pool(cluster: Cluster) -> None:
    cluster.add(*(pod("slice-a", index) for index in range(4)))
    cluster.step()
    assert cluster.sizes == {"tpu-np-0": 4}


def test_a_pool_that_the_scheduler_has_not_used_yet_is_not_made_twice(cluster: Cluster) -> None:
    cluster.add(pod("slice-a"))
    for _ in range(3):
        cluster.step()
    assert cluster.sizes == {"tpu-np-0": 4}


def test_each_waiting_slice_gets_a_pool_of_its_own(cluster: Cluster) -> None:
    cluster.add(pod("slice-a"), pod("slice-b"), pod("slice-c"))
    cluster.step()
    assert cluster.sizes == {"tpu-np-0": 4, "tpu-np-1": 4}


def test_a_pool_in_use_is_not_given_to_the_next_slice(cluster: Cluster) -> None:
    cluster.add(pod("slice-a"))
    cluster.step()
    node = cluster.items(pools.NODES)[0]["metadata"]["name"]
    cluster.add(pod("slice-a", nodeName=node), pod("slice-b"))
    cluster.step()
    assert cluster.sizes == {"tpu-np-0": 4, "tpu-np-1": 4}


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {ACCELERATOR: "tpu-v5p-slice"}},
        {"nodeSelector": {"topology.kubernetes.io/zone": "us-east5-a"}},
        {"tolerations": []},
        {"tolerations": [{**TOLERATION, "effect": "NoExecute"}]},
        {"containers": [{"resources": {"requests": {"google.com/tpu": "8"}}}]},
        {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
    ],
)
def test_pods_that_its_nodes_would_not_take_do_not_make_a_pool_grow(cluster: Cluster, spec: dict[str, Any]) -> None:
    cluster.add(pod("slice-a", **spec))
    cluster.step()
    assert cluster.sizes == {}


def test_a_deleted_pool_does_not_come_back(cluster: Cluster) -> None:
    for name in ("tpu-np-0", "tpu-np-1"):
        cluster.pools.forget(name)
    cluster.add(pod("slice-a"))
    cluster.step()
    assert cluster.sizes == {}


def test_a_change_of_a_pool_keeps_the_nodes_that_were_made_for_pods(cluster: Cluster) -> None:
    cluster.add(pod("slice-a"))
    cluster.step()
    assert autoscaler.sizes(cluster.api, pool("tpu-np-0"), {"us-east5-b": 0}) == {"us-east5-b": 4}
    fixed = pool("tpu-np-0", autoscaling={})
    assert autoscaler.sizes(cluster.api, fixed, {"us-east5-b": 0}) == {"us-east5-b": 0}
    assert autoscaler.limits(fixed) == {}


def test_a_pool_that_no_pod_uses_any_more_is_empty_again(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, *POOLS)
    cluster.add(pod("slice-a"), pod("slice-b"))
    cluster.step()
    used, unused = (next(n for n in cluster.items(pools.NODES) if name in n["metadata"]["name"]) for name in POOLS)
    cluster.objects = {path: found for path, found in cluster.objects.items() if "/pods/" not in path}
    cluster.add(pod("slice-a", nodeName=used["metadata"]["name"]))
    ended = pod("slice-b", nodeName=unused["metadata"]["name"])
    cluster.add({**ended, "status": {"phase": "Succeeded"}})
    Autoscaler(cluster.api, tmp_path, unneeded=0).step()
    assert cluster.sizes == {"tpu-np-0": 4}


def test_a_pool_keeps_its_nodes_for_a_while_when_its_pods_are_gone(cluster: Cluster) -> None:
    cluster.add(pod("slice-a"))
    cluster.step()
    cluster.objects.pop("/api/v1/namespaces/default/pods/slice-a-0")
    cluster.step()
    assert cluster.sizes == {"tpu-np-0": 4}


POOLS = ("tpu-np-0", "tpu-np-1")
QUEUED = {"queuedProvisioning": {"enabled": True}}
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"


def request(cluster: Cluster, pods: int, class_: str = "queued-provisioning.gke.io") -> dict[str, Any]:
    """A ProvisioningRequest for so many pods, as it stands after a step of the autoscaler."""
    template = {"metadata": {"name": "t"}, "template": {"spec": pod("x")["spec"]}}
    cluster.objects["/api/v1/namespaces/default/podtemplates/t"] = template
    sets = [{"podTemplateRef": {"name": "t"}, "count": pods}]
    metadata = {"name": "r", "namespace": "default"}
    cluster.objects[f"{REQUESTS}/r"] = {
        "metadata": metadata,
        "spec": {"provisioningClassName": class_, "podSets": sets},
    }
    cluster.step()
    return cluster.objects[f"{REQUESTS}/r"]


def conditions(found: dict[str, Any]) -> set[str]:
    return {each["type"] for each in found.get("status", {}).get("conditions", [])}


def test_a_queued_pool_does_not_grow_for_pods(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, *POOLS, **QUEUED)
    cluster.add(pod("slice-a"))
    cluster.step()
    assert cluster.sizes == {}


def test_a_request_gets_all_its_slices_at_once_and_says_so(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, *POOLS, **QUEUED)
    assert conditions(request(cluster, 8)) == {"Accepted", "Provisioned"}
    assert cluster.sizes == {"tpu-np-0": 4, "tpu-np-1": 4}


@pytest.mark.parametrize(("pods", "class_"), [(12, "queued-provisioning.gke.io"), (4, "check-capacity")])
def test_a_request_that_cannot_be_met_whole_or_is_another_autoscalers_waits(
    tmp_path: Path, pods: int, class_: str
) -> None:
    cluster = Cluster(tmp_path, *POOLS, **QUEUED)
    assert conditions(request(cluster, pods, class_)) == set()
    assert cluster.sizes == {}
