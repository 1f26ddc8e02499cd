"""Networks, subnetworks, routers, firewalls, addresses and policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.google.running import PROJECT, REGION, ZONE, Double

COMPUTE = f"/compute/compute/v1/projects/{PROJECT}"
SUBNET = f"{COMPUTE}/regions/{REGION}/subnetworks/sub"
ROUTER = f"{COMPUTE}/regions/{REGION}/routers/router"
LINK = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}"
NAT = {
    "name": "nat",
    "natIpAllocateOption": "AUTO_ONLY",
    "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
}


def test_an_operation_runs_first_and_is_done_when_asked_again(double: Double) -> None:
    operation = double.compute("global/networks", {"name": "other", "autoCreateSubnetworks": False})
    assert (operation["status"], operation["operationType"]) == ("RUNNING", "insert")
    assert operation["targetLink"] == f"{LINK}/global/networks/other"
    path = f"{COMPUTE}/global/operations/{operation['name']}"
    assert double.call("GET", path)["status"] == "DONE"
    assert double.call("POST", f"{path}/wait")["progress"] == 100


def test_a_network_is_answered_with_what_google_fills_in(double: Double) -> None:
    found = double.call("GET", f"{COMPUTE}/global/networks/net")
    assert found["selfLink"] == f"{LINK}/global/networks/net"
    assert found["routingConfig"]["routingMode"] == "REGIONAL"
    assert found["subnetworks"] == [f"{LINK}/regions/{REGION}/subnetworks/sub"]
    assert found["mtu"] == 1460


def test_an_auto_mode_network_has_a_subnetwork_in_every_region(double: Double) -> None:
    double.compute("global/networks", {"name": "auto", "autoCreateSubnetworks": True})
    found = double.call("GET", f"{COMPUTE}/regions/{REGION}/subnetworks/auto")
    assert found["ipCidrRange"].startswith("10.") and found["ipCidrRange"].endswith("/20")


def test_a_name_is_taken_once(double: Double) -> None:
    error = double.compute("global/networks", {"name": "net", "autoCreateSubnetworks": False}, 409)["error"]
    assert error["message"] == f"The resource 'projects/{PROJECT}/global/networks/net' already exists"
    assert error["errors"][0]["reason"] == "alreadyExists"


def test_what_is_not_there_is_not_found(double: Double) -> None:
    message = double.refused("GET", f"{COMPUTE}/global/networks/x", expect=404)
    assert message == f"The resource 'projects/{PROJECT}/global/networks/x' was not found"


def test_a_network_goes_after_everything_in_it(double: Double) -> None:
    network = f"{COMPUTE}/global/networks/net"
    error = double.call("DELETE", network, expect=400)["error"]
    assert error["errors"][0]["reason"] == "resourceInUseByAnotherResource"
    double.call("DELETE", SUBNET)
    double.call("DELETE", network)
    double.refused("GET", network, expect=404)


@pytest.mark.parametrize(
    ("collection", "body", "message"),
    [
        ("global/networks", {"name": "Net", "autoCreateSubnetworks": False}, "Must be a match of regex"),
        ("global/networks", {"name": "n"}, "Legacy networks can no longer be created"),
        ("global/networks", {"name": "n", "autoCreateSubnetworks": False, "mtu": 9000}, "1300 to 8896"),
        ("global/networks", {"name": "n", "autoCreateSubnetworks": False, "id": "1"}, "output only"),
        (f"regions/{REGION}/subnetworks", {"name": "s", "network": "x", "ipCidrRange": "10.9.0.0/24"}, "be found"),
        (f"regions/{REGION}/subnetworks", {"name": "s", "network": "net", "ipCidrRange": "10.9.0.1/24"}, "host bits"),
        (f"regions/{REGION}/subnetworks", {"name": "s", "network": "net", "ipCidrRange": "10.5.0.0/24"}, "conflicts"),
        ("regions/us-east9/subnetworks", {"name": "s", "network": "net", "ipCidrRange": "10.9.0.0/24"}, "Unknown"),
        (f"regions/{REGION}/routers", {"name": "r", "network": "net", "nats": [{"name": "nat"}]}, "Required field"),
        (f"regions/{REGION}/routers", {"name": "r", "network": "net", "bgp": {"asn": 1}}, "private ASN"),
        ("global/firewalls", {"name": "f", "network": "global/networks/net"}, "either allowed or denied"),
        (
            f"regions/{REGION}/resourcePolicies",
            {"name": "p", "workloadPolicy": {"type": "HIGH_AVAILABILITY", "acceleratorTopology": "4x4"}},
            "goes with type HIGH_THROUGHPUT",
        ),
        (f"regions/{REGION}/resourcePolicies", {"name": "p"}, "exactly one of"),
    ],
)
def test_what_compute_refuses_is_refused(double: Double, collection: str, body: Any, message: str) -> None:
    assert message in double.refused("POST", f"{COMPUTE}/{collection}", body)


def test_a_subnetwork_is_patched_against_its_fingerprint(double: Double) -> None:
    body: dict[str, Any] = {"privateIpGoogleAccess": True}
    double.refused("PATCH", SUBNET, {**body, "fingerprint": "c3RhbGU="}, 412)
    double.call("PATCH", SUBNET, {**body, "fingerprint": double.call("GET", SUBNET)["fingerprint"]})
    assert double.call("GET", SUBNET)["privateIpGoogleAccess"] is True


def test_a_range_grows_and_does_not_move(double: Double) -> None:
    double.call("POST", f"{SUBNET}/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/19"})
    assert double.call("GET", SUBNET)["ipCidrRange"] == "10.0.0.0/19"
    assert "must contain" in double.refused("POST", f"{SUBNET}/expandIpCidrRange", {"ipCidrRange": "10.9.0.0/16"})


def test_a_nat_gateway_comes_and_goes_with_a_patch_of_its_router(double: Double) -> None:
    double.compute(f"regions/{REGION}/routers", {"name": "router", "network": f"{LINK}/global/networks/net"})
    double.call("PATCH", ROUTER, {"nats": [NAT]})
    found = double.call("GET", ROUTER)["nats"]
    assert (found[0]["endpointTypes"], found[0]["type"]) == (["ENDPOINT_TYPE_VM"], "PUBLIC")
    double.call("PATCH", ROUTER, {"nats": []})
    assert "nats" not in double.call("GET", ROUTER)


def test_a_firewall_rule_opens_to_everybody_where_no_source_is_stated(double: Double) -> None:
    rule = {"name": "f", "network": "global/networks/net", "allowed": [{"IPProtocol": "tcp", "ports": ["29000"]}]}
    double.compute("global/firewalls", rule)
    found = double.call("GET", f"{COMPUTE}/global/firewalls/f")
    assert (found["sourceRanges"], found["direction"], found["priority"]) == (["0.0.0.0/0"], "INGRESS", 1000)
    double.call("PATCH", f"{COMPUTE}/global/firewalls/f", {"sourceRanges": ["10.0.0.0/8"]})
    assert double.call("GET", f"{COMPUTE}/global/firewalls/f")["sourceRanges"] == ["10.0.0.0/8"]
    assert "direction" in double.refused("PATCH", f"{COMPUTE}/global/firewalls/f", {"direction": "EGRESS"})


def test_addresses_are_taken_from_their_subnetwork_once_each(double: Double) -> None:
    for name in ("a", "b"):
        body = {"name": name, "addressType": "INTERNAL", "subnetwork": "sub"}
        double.compute(f"regions/{REGION}/addresses", body)
    found = double.call("GET", f"{COMPUTE}/regions/{REGION}/addresses")["items"]
    assert len({item["address"] for item in found}) == 2
    assert all(item["address"].startswith("10.0.") for item in found)


def test_lists_come_filtered_and_in_pages(double: Double) -> None:
    for name in ("a", "b", "c"):
        double.compute("global/networks", {"name": name, "autoCreateSubnetworks": False})
    page = double.call("GET", f"{COMPUTE}/global/networks?maxResults=3")
    assert [item["name"] for item in page["items"]] == ["a", "b", "c"]
    rest = double.call("GET", f"{COMPUTE}/global/networks?maxResults=3&pageToken={page['nextPageToken']}")
    assert [item["name"] for item in rest["items"]] == ["net"]
    found = double.call("GET", f"{COMPUTE}/global/networks?filter=name%3Db")
    assert [item["name"] for item in found["items"]] == ["b"]


def test_an_aggregated_list_is_keyed_by_scope(double: Double) -> None:
    found = double.call("GET", f"{COMPUTE}/aggregated/subnetworks")["items"]
    assert [item["name"] for item in found[f"regions/{REGION}"]["subnetworks"]] == ["sub"]


def test_zones_and_machine_types_can_be_read(double: Double) -> None:
    zone = double.call("GET", f"{COMPUTE}/zones/{ZONE}")
    assert zone["region"] == f"{LINK}/regions/{REGION}"
    machine = double.call("GET", f"{COMPUTE}/zones/{ZONE}/machineTypes/n2-standard-64")
    assert (machine["guestCpus"], machine["memoryMb"]) == (64, 256 * 1024)
    assert double.call("GET", f"{COMPUTE}/zones/{ZONE}/machineTypes/ct6e-standard-4t")["name"]
