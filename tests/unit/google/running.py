"""A double in this process, on a free port of loopback, with clusters in name only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from rehearsal.google.app import create_app
from rehearsal.google.cloud import Cloud
from rehearsal.google.runtime import NullRuntime, NullSlurm

Json = dict[str, Any]

PROJECT = "example-ml"
REGION = "us-east5"
ZONE = "us-east5-b"
SERVICES = ["compute", "container", "iam", "cloudresourcemanager"]


class RecordingRuntime(NullRuntime):
    """Remembers its calls. `failure` is raised when a cluster is created; `gate` holds creation back."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.reset()

    def reset(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failure: Exception | None = None
        self.gate.set()

    def create(self, key: str) -> Any:
        self.calls.append(("create", key))
        self.gate.wait(20)
        if self.failure:
            raise self.failure
        return super().create(key)

    def delete(self, key: str) -> None:
        self.calls.append(("delete", key))

    def apply_pool(self, key: str, pool: Json, zones: dict[str, int], project: str, location: str) -> None:
        self.calls.append(("apply_pool", key, pool["name"], dict(zones)))

    def delete_pool(self, key: str, pool_name: str) -> None:
        self.calls.append(("delete_pool", key, pool_name))


class RecordingSlurm(NullSlurm):
    """Remembers its calls. `failure` is raised when a cluster is to start or change."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failure: Exception | None = None

    def apply(self, cluster: Json, folder_of: Callable[[str], Path]) -> None:
        node_sets = {each["id"]: each for each in cluster["orchestrator"]["slurm"]["nodeSets"]}
        self.calls.append(("apply", cluster["name"], node_sets))
        if self.failure:
            raise self.failure

    def delete(self, name: str) -> None:
        self.calls.append(("delete", name))


class Double:
    """A running double and the requests that tests make most."""

    def __init__(self, url: str, runtime: RecordingRuntime, slurm: RecordingSlurm | None = None) -> None:
        self.url = url
        self.runtime = runtime
        self.slurm = slurm or RecordingSlurm()
        self.http = httpx.Client(base_url=url, timeout=20, verify=False, trust_env=False)

    def call(self, verb: str, path: str, body: Any = None, expect: int = 200) -> Json:
        """The JSON of an answer, whose status must be `expect`."""
        response = self.http.request(verb, path, json=body)
        assert response.status_code == expect, f"{verb} {path}: {response.status_code} {response.text}"
        answer: Json = response.json() if response.content else {}
        return answer

    def refused(self, verb: str, path: str, body: Any = None, expect: int = 400) -> str:
        """The message of a refusal."""
        message: str = self.call(verb, path, body, expect)["error"]["message"]
        return message

    def enable(self, project: str = PROJECT) -> None:
        ids = [f"{name}.googleapis.com" for name in SERVICES]
        self.call("POST", f"/serviceusage/v1/projects/{project}/services:batchEnable", {"serviceIds": ids})

    def compute(self, path: str, body: Json, expect: int = 200) -> Json:
        return self.call("POST", f"/compute/compute/v1/projects/{PROJECT}/{path}", body, expect)

    def network(self) -> None:
        """A network with a subnetwork that has ranges for pods and services."""
        self.compute("global/networks", {"name": "net", "autoCreateSubnetworks": False})
        ranges = [
            {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"},
            {"rangeName": "services", "ipCidrRange": "10.0.32.0/20"},
        ]
        subnet = {"name": "sub", "network": "global/networks/net", "ipCidrRange": "10.0.0.0/20"}
        self.compute(f"regions/{REGION}/subnetworks", {**subnet, "secondaryIpRanges": ranges})

    def done(self, operation: Json) -> Json:
        """The operation when it is done."""
        location = f"/container/v1/projects/{PROJECT}/locations/{operation['location']}"
        path = f"{location}/operations/{operation['name']}"
        for _ in range(1000):
            found = self.call("GET", path)
            if found["status"] == "DONE":
                return found
            time.sleep(0.01)
        raise AssertionError(f"still running: {found}")

    def cluster(self, **settings: Any) -> Json:
        """A cluster that runs, of one node."""
        operation = self.call("POST", f"{CLUSTERS}", {"cluster": cluster(**settings)})
        assert "error" not in self.done(operation)
        return self.call("GET", f"{CLUSTERS}/c")


CLUSTERS = f"/container/v1/projects/{PROJECT}/locations/{REGION}/clusters"
POOLS = f"{CLUSTERS}/c/nodePools"


def cluster(**settings: Any) -> Json:
    """The body of a cluster in the network of `Double.network`."""
    ranges = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"}
    policy = {"useIpAliases": True, **ranges}
    place = {"network": "net", "subnetwork": "sub", "locations": [ZONE]}
    return {"name": "c", "initialNodeCount": 1, "ipAllocationPolicy": policy, **place, **settings}


def tpu_pool(**settings: Any) -> Json:
    """The body of a pool that is one v6e slice of 4x4."""
    placement = {"type": "COMPACT", "tpuTopology": "4x4"}
    pool = {"name": "slice-0", "initialNodeCount": 4, "placementPolicy": placement}
    return {**pool, "config": {"machineType": "ct6e-standard-4t"}, **settings}


@contextmanager
def serve(folder: Path, runtime: RecordingRuntime, slurm: RecordingSlurm | None = None) -> Iterator[tuple[Cloud, str]]:
    """A double with its state in a folder, and its URL."""
    cloud = Cloud(folder, runtime, slurm)
    server = uvicorn.Server(uvicorn.Config(create_app(cloud), host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    yield cloud, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
    cloud.close()
