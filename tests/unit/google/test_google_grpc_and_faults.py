"""GKE over gRPC answers what it answers over REST; faults are switched on and off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import grpc
import pytest
from google.api_core.exceptions import InvalidArgument, NotFound
from google.cloud import container_v1
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

from rehearsal.google import grpc_front
from rehearsal.google.api import Answer, Call, Handler, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.identity import token
from rehearsal.google.services import SERVICES
from tests.unit.google.conftest import Served
from tests.unit.google.running import PROJECT, REGION, Double, tpu_pool
from tests.unit.google.test_google_clients import gke

PARENT = f"projects/{PROJECT}/locations/{REGION}"
POOL = container_v1.NodePool(
    name="slice-0",
    initial_node_count=4,
    config=container_v1.NodeConfig(machine_type="ct6e-standard-4t"),
    placement_policy=container_v1.NodePool.PlacementPolicy(type_="COMPACT", tpu_topology="4x4"),
)


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[container_v1.ClusterManagerClient]:
    """Google's GKE client over gRPC, which is how it reaches Google."""
    server, port = grpc_front.start(served.cloud, SERVICES, 0)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield container_v1.ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))
    server.stop(None).wait()


def test_both_ways_give_the_same_answers(client: container_v1.ClusterManagerClient, double: Double) -> None:
    double.cluster()
    rest = gke(double)
    for method, name in [("get_cluster", "clusters/c"), ("get_server_config", ""), ("get_node_pool", POOL_PATH)]:
        asked = f"{PARENT}/{name}".rstrip("/")
        assert getattr(client, method)(name=asked) == getattr(rest, method)(name=asked)
    assert client.list_clusters(parent=PARENT) == rest.list_clusters(parent=PARENT)


POOL_PATH = "clusters/c/nodePools/default-pool"


def test_a_slice_is_created_over_grpc(client: container_v1.ClusterManagerClient, double: Double) -> None:
    double.cluster()
    operation = client.create_node_pool(parent=f"{PARENT}/clusters/c", node_pool=POOL)
    assert operation.operation_type == container_v1.Operation.Type.CREATE_NODE_POOL
    double.done({"name": operation.name, "location": REGION})
    found = client.get_node_pool(name=f"{PARENT}/clusters/c/nodePools/slice-0")
    assert (found.status.name, found.placement_policy.tpu_topology) == ("RUNNING", "4x4")


def test_refusals_have_their_grpc_status(client: container_v1.ClusterManagerClient, double: Double) -> None:
    with pytest.raises(NotFound, match=f"Not found: {PARENT}/clusters/none"):
        client.get_cluster(name=f"{PARENT}/clusters/none")
    with pytest.raises(InvalidArgument, match="initial_node_count must be greater than zero"):
        client.create_cluster(parent=PARENT, cluster=container_v1.Cluster(name="c"))


@pytest.mark.parametrize(("fault", "code"), [("stock-out", "GCE_STOCKOUT"), ("quota", "GCE_QUOTA_EXCEEDED")])
def test_a_slice_that_cannot_be_had_stays_in_error_and_says_why(double: Double, fault: str, code: str) -> None:
    double.cluster()
    double.call("PUT", f"/faults/{fault}")
    pools = f"/container/v1/{PARENT}/clusters/c/nodePools"
    done = double.done(double.call("POST", pools, {"nodePool": tpu_pool()}))
    assert done["nodepoolConditions"][0]["code"] == code and done["error"]["message"]
    pool = double.call("GET", f"{pools}/slice-0")
    assert pool["status"] == "ERROR" and pool["conditions"][0]["code"] == code


def test_a_cpu_pool_can_be_had_all_the_same(double: Double) -> None:
    double.cluster()
    double.call("PUT", "/faults/stock-out")
    body = {"nodePool": {"name": "cpu", "initialNodeCount": 1}}
    done = double.done(double.call("POST", f"/container/v1/{PARENT}/clusters/c/nodePools", body))
    assert "error" not in done


def test_a_fault_lasts_until_it_is_switched_off(double: Double) -> None:
    on = double.call("PUT", "/faults/unavailable")["faults"]
    assert [each["name"] for each in on if each["on"]] == ["unavailable"]
    assert "unavailable" in double.refused("GET", f"/container/v1/{PARENT}/clusters", expect=503)
    double.call("DELETE", "/faults/unavailable")
    assert double.call("GET", f"/container/v1/{PARENT}/clusters") == {"clusters": []}


def test_a_fault_that_does_not_exist_is_refused_with_those_that_do(double: Double) -> None:
    assert "stock-out" in double.call("PUT", "/faults/earthquake", expect=404)["error"]["message"]


def test_logs_are_written_and_found_by_what_a_filter_says(double: Double) -> None:
    services = {"serviceIds": ["logging.googleapis.com"]}
    double.call("POST", f"/serviceusage/v1/projects/{PROJECT}/services:batchEnable", services)
    entries = [
        {"timestamp": "2027-01-01T00:00:02Z", "textPayload": "second", "labels": {"k8s-pod/job": "a"}},
        {"timestamp": "2027-01-01T00:00:01Z", "textPayload": "first", "labels": {"k8s-pod/job": "a"}},
        {"timestamp": "2027-01-01T00:00:03Z", "textPayload": "another", "labels": {"k8s-pod/job": "b"}},
    ]
    resource = {"type": "k8s_container", "labels": {"cluster_name": "c"}}
    body = {"logName": f"projects/{PROJECT}/logs/stderr", "resource": resource, "entries": entries}
    double.call("POST", "/logging/v2/entries:write", body)
    asked = {
        "resourceNames": [f"projects/{PROJECT}"],
        "filter": 'resource.type="k8s_container"\nAND labels."k8s-pod/job"="a"\nAND timestamp>="2027-01-01T00:00:00Z"',
    }
    found = double.call("POST", "/logging/v2/entries:list", asked)["entries"]
    assert [each["textPayload"] for each in found] == ["first", "second"]
    asked["filter"] = "severity>=ERROR OR everything"
    assert "Unparseable filter" in double.refused("POST", "/logging/v2/entries:list", asked)


def test_who_asks_over_grpc_is_who_would_ask_over_rest(served: Served, double: Double) -> None:
    asked: list[str | None] = []
    services = {**SERVICES, "container": _noting(SERVICES["container"], asked)}
    server, port = grpc_front.start(served.cloud, services, 0)
    member = "serviceAccount:deployer@example-ml.iam.gserviceaccount.com"
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        made = container_v1.ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))
        made.list_clusters(parent=PARENT, metadata=[("authorization", f"Bearer {token(member)}")])
        made.list_clusters(parent=PARENT)
    server.stop(None).wait()
    assert asked == [member, None]


def _noting(service: Service, asked: list[str | None]) -> Service:
    """The service, which notes who asks."""

    def noting(handler: Handler) -> Handler:
        def answer(cloud: Cloud, call: Call) -> Answer:
            asked.append(call.member)
            return handler(cloud, call)

        return answer

    return replace(service, handlers={id: noting(handler) for id, handler in service.handlers.items()})
