"""Google's own clients against the double, and gcloud's environment."""

from __future__ import annotations

import time
from typing import Any

import pytest
from google.api_core.client_options import ClientOptions
from google.api_core.exceptions import BadRequest, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud import container_v1
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerRestTransport
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from rehearsal.google.environment import ENDPOINTS, variables
from tests.unit.google.running import PROJECT, REGION, ZONE, Double

PARENT = f"projects/{PROJECT}/locations/{REGION}"


def gke(double: Double) -> container_v1.ClusterManagerClient:
    """Google's GKE client, over REST: it sends enums as numbers."""
    host = double.url.removeprefix("http://") + "/container"
    transport = ClusterManagerRestTransport(host=host, url_scheme="http", credentials=AnonymousCredentials())
    return container_v1.ClusterManagerClient(transport=transport)


def api(double: Double, name: str, version: str) -> Any:
    """google-api-python-client, which builds its requests from the same discovery documents."""
    options = ClientOptions(api_endpoint=double.url + ENDPOINTS[name])
    return build(name, version, static_discovery=True, credentials=AnonymousCredentials(), client_options=options)


def test_googles_gke_client_creates_a_cluster_and_a_slice(double: Double) -> None:
    client = gke(double)
    policy = container_v1.IPAllocationPolicy(
        use_ip_aliases=True, cluster_secondary_range_name="pods", services_secondary_range_name="services"
    )
    cluster = container_v1.Cluster(
        name="c",
        initial_node_count=1,
        network="net",
        subnetwork="sub",
        locations=[ZONE],
        network_config=container_v1.NetworkConfig(datapath_provider="ADVANCED_DATAPATH"),
        ip_allocation_policy=policy,
    )
    placement = container_v1.NodePool.PlacementPolicy(type_="COMPACT", tpu_topology="4x4")
    pool = container_v1.NodePool(
        name="slice-0",
        initial_node_count=4,
        config=container_v1.NodeConfig(machine_type="ct6e-standard-4t"),
        placement_policy=placement,
    )
    done = container_v1.Operation.Status.DONE
    for start in (
        lambda: client.create_cluster(parent=PARENT, cluster=cluster),
        lambda: client.create_node_pool(parent=f"{PARENT}/clusters/c", node_pool=pool),
    ):
        operation = start()
        while client.get_operation(name=f"{PARENT}/operations/{operation.name}").status != done:
            time.sleep(0.01)
    found = client.get_cluster(name=f"{PARENT}/clusters/c")
    assert found.network_config.datapath_provider == container_v1.DatapathProvider.ADVANCED_DATAPATH
    assert [(p.name, p.status.name) for p in found.node_pools] == [
        ("default-pool", "RUNNING"),
        ("slice-0", "RUNNING"),
    ]
    assert found.node_pools[1].config.taints[0].effect == container_v1.NodeTaint.Effect.NO_SCHEDULE
    assert found.current_node_count == 5


def test_googles_gke_client_raises_its_own_errors(double: Double) -> None:
    with pytest.raises(NotFound, match=f"Not found: {PARENT}/clusters/none"):
        gke(double).get_cluster(name=f"{PARENT}/clusters/none")
    with pytest.raises(BadRequest, match="initial_node_count must be greater than zero"):
        gke(double).create_cluster(parent=PARENT, cluster=container_v1.Cluster(name="c"))


def test_googleapiclient_reads_every_service(double: Double) -> None:
    double.cluster()
    clusters = api(double, "container", "v1beta1").projects().locations().clusters()
    assert clusters.get(name=f"{PARENT}/clusters/c").execute()["status"] == "RUNNING"
    networks = api(double, "compute", "v1").networks().list(project=PROJECT).execute()
    assert [network["name"] for network in networks["items"]] == ["net"]
    buckets = api(double, "storage", "v1").buckets()
    body = {"name": "scratch", "location": "us-east5"}
    assert buckets.insert(project=PROJECT, body=body).execute()["location"] == "US-EAST5"
    accounts = api(double, "iam", "v1").projects().serviceAccounts()
    made = accounts.create(name=f"projects/{PROJECT}", body={"accountId": "node-sa"}).execute()
    assert made["email"] == f"node-sa@{PROJECT}.iam.gserviceaccount.com"
    projects = api(double, "cloudresourcemanager", "v3").projects()
    assert projects.get(name=f"projects/{PROJECT}").execute()["projectId"] == PROJECT
    services = api(double, "serviceusage", "v1").services()
    enabled = services.list(parent=f"projects/{PROJECT}", filter="state:ENABLED").execute()["services"]
    assert "container.googleapis.com" in {service["config"]["name"] for service in enabled}


def test_googleapiclient_raises_its_own_errors(double: Double) -> None:
    with pytest.raises(HttpError) as caught:
        api(double, "compute", "v1").networks().get(project=PROJECT, network="none").execute()
    assert caught.value.status_code == 404
    assert caught.value.reason == f"The resource 'projects/{PROJECT}/global/networks/none' was not found"


def test_gcloud_is_pointed_at_every_service_of_the_double() -> None:
    found = variables("http://127.0.0.1:8080/")
    assert found["CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER"] == "http://127.0.0.1:8080/container/"
    assert found["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"] == "http://127.0.0.1:8080/compute/compute/v1/"
    assert found["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] == "true"
