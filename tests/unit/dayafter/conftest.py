"""The double as `rehearsal env` shows it to a command, and stacks to ask about."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.oauth2.service_account import Credentials

from cli.cloud.google import SCOPES, Google
from cli.preflight import run
from cli.preflight.findings import Finding
from cli.stacks import FOLDER
from pathways import plan, stackfile
from pathways.director import plan as director
from rehearsal.google import grpc_front
from rehearsal.google.cloud import Cloud
from rehearsal.google.environment import variables
from rehearsal.google.services import SERVICES
from rehearsal.google.tokens import write_key_file
from tests.unit.google.running import PROJECT, Double, RecordingRuntime, serve

APIS = ["serviceusage", "storage", "logging", "monitoring", "artifactregistry", "hypercomputecluster"]


class Surroundings:
    """A double that serves everything over HTTP and GKE over gRPC too."""

    def __init__(self, cloud: Cloud, double: Double, grpc: str, key_file: Path) -> None:
        self.cloud = cloud
        self.double = double
        self.grpc = grpc
        self.key_file = key_file

    def environment(self, grpc: bool = True) -> dict[str, str]:
        """What leads commands here; GKE by gRPC or by REST."""
        found = variables(self.double.url, self.grpc if grpc else "")
        return {**found, "GOOGLE_APPLICATION_CREDENTIALS": str(self.key_file)}

    def fault(self, name: str) -> None:
        self.double.call("PUT", f"/faults/{name}")


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    folder, runtime = tmp_path_factory.mktemp("google"), RecordingRuntime()
    with serve(folder, runtime) as (cloud, url):
        server, port = grpc_front.start(cloud, SERVICES, 0)
        write_key_file(folder / "credentials.json", url)
        double = Double(url, runtime)
        yield Surroundings(cloud, double, f"127.0.0.1:{port}", folder / "credentials.json")
        double.http.close()
        server.stop(None).wait()


@pytest.fixture
def cloud(surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    """A project with its APIs enabled, and this process's environment leading to it."""
    surroundings.double.enable()
    services = {"serviceIds": [f"{name}.googleapis.com" for name in APIS]}
    surroundings.double.call("POST", f"/serviceusage/v1/projects/{PROJECT}/services:batchEnable", services)
    for name, value in surroundings.environment().items():
        monkeypatch.setenv(name, value)
    yield surroundings
    store = surroundings.cloud.store
    while store.list("work/"):
        time.sleep(0.005)
    with store.transaction():
        for key in store.list(""):
            store.delete(key)


Stack = Callable[..., Path]


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    """Writes a stack file: a shipped one with sections `pathways:<name>` updated; None takes a setting out."""

    def write(base: str = "gke-v6e", **changes: Any) -> Path:
        document = yaml.safe_load((FOLDER / f"Pulumi.{base}.yaml").read_text())
        for section, value in changes.items():
            known = document["config"].get(f"pathways:{section}", {})
            changed = {**known, **value}
            document["config"][f"pathways:{section}"] = {key: each for key, each in changed.items() if each is not None}
        path = tmp_path / f"Pulumi.{base}.yaml"
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture(scope="session")
def google() -> Google:
    """Clients that do not wait long for what will not come."""
    return Google(timeout=10, patience=1, retries=0)


@pytest.fixture
def caller(cloud: Surroundings, tmp_path: Path) -> Callable[..., Google]:
    """Clients of an account that has these roles in the project, and nothing besides."""

    account = f"deployer@{PROJECT}.iam.gserviceaccount.com"
    cloud.double.call("POST", f"/iam/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "deployer"})

    def become(*roles: str) -> Google:
        bindings = [{"role": role, "members": [f"serviceAccount:{account}"]} for role in roles]
        policy = f"/cloudresourcemanager/v1/projects/{PROJECT}:setIamPolicy"
        cloud.double.call("POST", policy, {"policy": {"bindings": bindings}})
        key = tmp_path / "deployer.json"
        write_key_file(key, cloud.double.url, account)
        made = Google(timeout=10, patience=1, retries=0)
        made._credentials = Credentials.from_service_account_file(str(key), scopes=SCOPES)
        return made

    return become


@pytest.fixture
def ask(cloud: Surroundings, stack: Stack, google: Google) -> Callable[..., dict[str, list[Finding]]]:
    """Preflight of a stack: findings by id."""

    def answers(base: str = "gke-v6e", by: Google = google, **changes: Any) -> dict[str, list[Finding]]:
        settings, _ = stackfile.from_file(stack(base, **changes))
        made = plan.make(settings) if settings.platform == "gke" else director.make(settings)
        found: dict[str, list[Finding]] = {}
        for finding in run.run(by, made):
            found.setdefault(finding.id, []).append(finding)
        return found

    return answers
