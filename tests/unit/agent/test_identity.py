"""Who a pod is to the rehearsed cloud."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from rehearsal.google.identity import member_of
from rehearsal.home import Home
from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.kubernetes.agent.identity import ANNOTATION, GOOGLE, Identities
from rehearsal.kubernetes.nodes import POOL
from rehearsal.processes import Processes
from tests.unit.agent.samples import node, nothing, pod

Json = dict[str, Any]
PLACE = "/container/v1/projects/example-ml/locations/us-east5/clusters/one/nodePools/tpu-np-0"
NODES = "nodes@example-ml.iam.gserviceaccount.com"


class Cloud(HTTPServer):
    """Answers for one node pool. `config` is its node configuration."""

    config: Json


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Cloud)
        self.send_response(200 if self.path == PLACE else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"config": self.server.config}).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    server = Cloud(("127.0.0.1", 0), _Answers)
    server.config = {"serviceAccount": NODES, "workloadMetadataConfig": {"mode": "GKE_METADATA"}}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    processes = Processes(Home(tmp_path).processes)
    argv = [sys.executable, "-c", "pass", "--port", str(server.server_address[1])]
    processes.start(GOOGLE, argv, log=tmp_path / "log")
    yield server
    processes.stop(GOOGLE)
    server.shutdown()
    server.server_close()


def identify(root: Path, a_pod: Json, pool: str = "tpu-np-0", account: Json | None = None) -> dict[str, str]:
    a_node = node()
    a_node["metadata"]["labels"][POOL] = pool
    lookup = (lambda _kind, _name: account) if account else nothing
    return Identities(Home(root), root / "example-ml_us-east5_one").variables(a_pod, a_node, lookup)


def member(found: dict[str, str]) -> str | None:
    return member_of(f"Bearer {found['REHEARSAL_TOKEN']}")


def test_on_the_hosts_network_a_pod_is_its_node(cloud: Cloud, tmp_path: Path) -> None:
    found = identify(tmp_path, pod(hostNetwork=True))
    assert member(found) == f"serviceAccount:{NODES}"
    assert found["REHEARSAL_CLOUD"].endswith(f":{cloud.server_address[1]}") and found["REHEARSAL_REGION"] == "us-east5"


def test_with_gkes_metadata_server_it_is_its_own_service_account(cloud: Cloud, tmp_path: Path) -> None:
    assert member(identify(tmp_path, pod())) == "serviceAccount:example-ml.svc.id.goog[default/default]"
    account = {"metadata": {"annotations": {ANNOTATION: "trainer@example-ml.iam.gserviceaccount.com"}}}
    found = identify(tmp_path, pod(), account=account)
    assert member(found) == "serviceAccount:trainer@example-ml.iam.gserviceaccount.com"


def test_with_the_nodes_metadata_server_it_is_its_node(cloud: Cloud, tmp_path: Path) -> None:
    cloud.config["workloadMetadataConfig"]["mode"] = "GCE_METADATA"
    assert member(identify(tmp_path, pod())) == f"serviceAccount:{NODES}"


def test_a_pool_without_an_account_has_the_projects_default(cloud: Cloud, tmp_path: Path) -> None:
    del cloud.config["serviceAccount"]
    found = member(identify(tmp_path, pod(hostNetwork=True))) or ""
    assert found.endswith("-compute@developer.gserviceaccount.com")


def test_a_pool_that_the_cloud_does_not_know_is_named(cloud: Cloud, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="node pool other"):
        identify(tmp_path, pod(), pool="other")


def test_without_a_rehearsed_cloud_only_the_region_is_known(tmp_path: Path) -> None:
    assert identify(tmp_path, pod()) == {"REHEARSAL_REGION": "us-east5"}
