"""Requests that do not fit Google's schemas, and services that are not enabled."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.google.discovery import document
from rehearsal.google.services import SERVICES
from tests.unit.google.running import CLUSTERS, POOLS, PROJECT, Double, cluster

COMPUTE = f"/compute/compute/v1/projects/{PROJECT}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"machineTyp": "n2"}, "Unknown name \"machineTyp\" at 'node_pool.config': Cannot find field."),
        ({"diskSizeGb": "many"}, "Invalid value at 'node_pool.config.disk_size_gb' (TYPE_INT32), \"many\""),
        ({"spot": "yes"}, "Invalid value at 'node_pool.config.spot' (TYPE_BOOL), \"yes\""),
        ({"labels": {"a": 1}}, "Invalid value at 'node_pool.config.labels[a]' (TYPE_STRING), 1"),
        ({"taints": {}}, "Invalid value at 'node_pool.config.taints' (list), {}"),
        ({"effectiveCgroupMode": "EFFECTIVE_CGROUP_MODE_V2"}, "it is output only, Google sets it"),
        ({"workloadMetadataConfig": {"mode": "GKE"}}, "Invalid value at 'node_pool.config.workload_metadata_conf"),
    ],
)
def test_a_body_that_does_not_fit_the_schema_is_refused_naming_the_field(
    double: Double, given: dict[str, Any], message: str
) -> None:
    double.cluster()
    error = double.call("POST", POOLS, {"nodePool": {"name": "p", "config": given}}, 400)["error"]
    assert message in error["message"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["details"][0]["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert error["details"][0]["fieldViolations"][0]["field"].startswith("node_pool.config")


def test_everything_wrong_with_a_body_is_told_at_once(double: Double) -> None:
    double.cluster()
    bad = {"nodePool": {"name": "p", "initialNodeCount": "x", "placement": {}}, "colour": "red"}
    message = double.refused("POST", POOLS, bad)
    assert all(name in message for name in ("initial_node_count", "placement", "colour"))


def test_numbers_may_come_as_text_and_fields_in_snake_case(double: Double) -> None:
    double.cluster()
    body = {"node_pool": {"name": "p", "initial_node_count": "2", "max_pods_constraint": {"max_pods_per_node": 32}}}
    double.done(double.call("POST", POOLS, body))
    found = double.call("GET", f"{POOLS}/p")
    assert (found["initialNodeCount"], found["maxPodsConstraint"]) == (2, {"maxPodsPerNode": "32"})


def test_a_body_that_is_no_json_is_refused(double: Double) -> None:
    response = double.http.post(CLUSTERS, content=b"{nodes: 4}")
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("Invalid JSON payload received.")


def test_a_query_parameter_that_does_not_exist_is_refused(double: Double) -> None:
    assert 'Unknown name "colour"' in double.refused("GET", f"{CLUSTERS}?colour=red")


def test_a_method_without_behaviour_says_so(double: Double) -> None:
    double.cluster()
    message = double.refused("POST", f"{CLUSTERS}/c:startIpRotation", {}, 501)
    assert "container.projects.locations.clusters.startIpRotation but no behaviour for it" in message


def test_a_url_that_google_does_not_have_is_not_found(double: Double) -> None:
    assert "has the URL GET" in double.refused("GET", "/container/v1/projects/p/galaxies", expect=404)
    assert "no service at /bigquery/" in double.refused("GET", "/bigquery/v2/projects", expect=404)
    assert "takes GET, POST, not PATCH" in double.refused("PATCH", CLUSTERS, {}, 405)


def test_a_service_that_is_not_enabled_refuses_with_the_way_to_enable_it(empty: Double) -> None:
    error = empty.call("POST", CLUSTERS, {"cluster": cluster()}, 403)["error"]
    assert error["message"].startswith("Kubernetes Engine API has not been used in project ")
    assert error["details"][0]["reason"] == "SERVICE_DISABLED"
    assert error["details"][0]["metadata"]["service"] == "container.googleapis.com"
    empty.call("POST", f"{COMPUTE}/global/networks", {"name": "n", "autoCreateSubnetworks": False}, 403)
    empty.call("GET", f"/iam/v1/projects/{PROJECT}/serviceAccounts", expect=403)


def test_enabling_gke_enables_what_it_needs(empty: Double) -> None:
    services = f"/serviceusage/v1/projects/{PROJECT}/services"
    operation = empty.call("POST", f"{services}/container.googleapis.com:enable", {})
    assert "done" not in operation
    assert empty.call("GET", f"/serviceusage/v1/{operation['name']}")["done"] is True
    assert empty.call("GET", f"{services}/compute.googleapis.com")["state"] == "ENABLED"
    message = empty.refused("POST", f"{services}/compute.googleapis.com:disable", {})
    assert "container.googleapis.com" in message
    empty.call("POST", f"{services}/compute.googleapis.com:disable", {"disableDependentServices": True})
    assert empty.call("GET", f"{services}/container.googleapis.com")["state"] == "DISABLED"


def test_a_project_is_known_by_id_and_by_number(double: Double) -> None:
    project = double.call("GET", f"/cloudresourcemanager/v1/projects/{PROJECT}")
    same = double.call("GET", f"/cloudresourcemanager/v3/projects/{project['projectNumber']}")
    assert same["projectId"] == PROJECT
    message = double.refused("GET", "/cloudresourcemanager/v1/projects/No_Project", expect=403)
    assert message == "Permission denied on resource project No_Project."


@pytest.mark.parametrize("name", SERVICES)
def test_every_handler_is_a_method_of_googles_documents(name: str) -> None:
    service = SERVICES[name]
    known = set().union(*(document(name, version).methods() for version in service.versions))
    assert set(service.handlers) <= known
