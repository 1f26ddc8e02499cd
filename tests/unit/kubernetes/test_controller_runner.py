"""Programs of Deployments, run for real. The program here is a stand-in that only says it is healthy."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.kubernetes import controller_runner
from rehearsal.kubernetes.controller_runner import ControllerRunner
from rehearsal.kubernetes.controllers import SERVING
from tests.unit.kubernetes import samples
from tests.unit.kubernetes.fake_api import FakeApi

DEPLOYMENT = "/apis/apps/v1/namespaces/jobset-system/deployments/jobset-controller"
PODS = "/api/v1/namespaces/jobset-system/pods"
SERVICE = ("34.118.224.9", 443)
STAND_IN = f"""#!{sys.executable} -IS
import os, socket, sys
path = next(word.removeprefix("--config=") for word in sys.argv if word.startswith("--config="))
port = int(open(path).read().partition("healthProbeBindAddress: 127.0.0.1:")[2].split()[0])
server = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = server.accept()
    client.recv(4096)
    status = "200 OK" if os.path.exists(sys.argv[0] + ".ready") else "503 Wait"
    client.sendall(f"HTTP/1.1 {{status}}\\r\\nContent-Length: 0\\r\\n\\r\\n".encode())
    client.close()
"""


@pytest.fixture
def cluster() -> FakeApi:
    base = "/api/v1/namespaces/jobset-system"
    configuration = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/jobset"
    return FakeApi(
        {
            DEPLOYMENT: samples.deployment(),
            f"{PODS}/jobset-controller-1": samples.pod("jobset-controller-1"),
            f"{base}/services/jobset-webhook-service": samples.service(),
            f"{base}/configmaps/jobset-controller-config": samples.config_map(),
            f"{base}/secrets/jobset-webhook-server-cert": samples.secret(),
            configuration: samples.webhook_configuration() | {"metadata": {"name": "jobset"}},
        }
    )


@pytest.fixture
def runner(cluster: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ControllerRunner]:
    monkeypatch.setattr(controller_runner, "HEALTHY_SECONDS", 0.0)
    program = tmp_path / "jobset"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (tmp_path / "jobset.ready").touch()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump({"users": [{"name": "rehearsal", "user": {"tokenFile": "/token"}}]}))
    runner = ControllerRunner(cluster.api, kubeconfig, tmp_path / "controllers", tmp_path, tmp_path / "logs")
    yield runner
    runner.stop()


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 30
    while not (result := condition()):
        assert time.monotonic() < deadline, "not within 30 seconds"
        time.sleep(0.05)
    return result


def alive(runner: ControllerRunner) -> list[int]:
    return [process.pid for process in runner._processes.all() if process.alive]


def changed(cluster: FakeApi, **spec: Any) -> None:
    metadata = cluster.objects[DEPLOYMENT]["metadata"]
    metadata["generation"] += 1
    metadata["resourceVersion"] += "x"
    cluster.objects[DEPLOYMENT]["spec"] |= spec


def test_a_placed_deployment_gets_its_program_and_only_then_is_its_pod_ready(
    cluster: FakeApi, runner: ControllerRunner, tmp_path: Path
) -> None:
    (tmp_path / "jobset.ready").unlink()
    assert not runner.step()
    assert len(alive(runner)) == 1
    assert runner.resolve(SERVICE) is None
    assert SERVING not in cluster.objects[f"{PODS}/jobset-controller-1"]["metadata"].get("annotations", {})
    (tmp_path / "jobset.ready").touch()
    until(runner.step)
    assert cluster.objects[f"{PODS}/jobset-controller-1"]["metadata"]["annotations"][SERVING] == "true"
    assert isinstance(runner.resolve(SERVICE), int)


def test_a_program_that_has_just_become_ready_is_not_called_yet(
    runner: ControllerRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_runner, "HEALTHY_SECONDS", 3600.0)

    def says_it_is_ready() -> bool:
        assert not runner.step()
        return any(running.healthy_since for running in runner._running.values())

    until(says_it_is_ready)
    assert runner.resolve(SERVICE) is None
    monkeypatch.setattr(controller_runner, "HEALTHY_SECONDS", 0.0)
    assert runner.step()


def test_the_program_acts_as_its_pods_service_account(runner: ControllerRunner, tmp_path: Path) -> None:
    until(runner.step)
    kubeconfig = tmp_path / "controllers" / "jobset-system" / "jobset-controller" / "kubeconfig"
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    assert user == {"tokenFile": "/token", "as": "system:serviceaccount:jobset-system:jobset-controller"}


def test_a_deployment_without_a_placed_pod_runs_nothing(cluster: FakeApi, runner: ControllerRunner) -> None:
    cluster.objects[f"{PODS}/jobset-controller-1"] = samples.pod("jobset-controller-1", node=None)
    assert not runner.step()
    assert alive(runner) == []


def test_nothing_starts_before_everything_that_the_pod_mounts_exists(
    cluster: FakeApi, runner: ControllerRunner
) -> None:
    late = cluster.objects.pop("/api/v1/namespaces/jobset-system/secrets/jobset-webhook-server-cert")
    assert not runner.step()
    assert alive(runner) == []
    cluster.objects["/api/v1/namespaces/jobset-system/secrets/jobset-webhook-server-cert"] = late
    until(runner.step)
    assert len(alive(runner)) == 1


def test_nothing_starts_before_the_programs_own_api_is_served(cluster: FakeApi, runner: ControllerRunner) -> None:
    cluster.groups.clear()
    assert not runner.step()
    assert alive(runner) == []
    cluster.groups.add("jobset.x-k8s.io")
    until(runner.step)
    assert len(alive(runner)) == 1


@pytest.mark.parametrize("way", ["scaled to none", "deleted"])
def test_a_deployment_that_goes_takes_its_program_along(cluster: FakeApi, runner: ControllerRunner, way: str) -> None:
    until(runner.step)
    if way == "deleted":
        del cluster.objects[DEPLOYMENT]
    else:
        changed(cluster, replicas=0)
    assert runner.step()
    assert alive(runner) == []
    assert runner.resolve(SERVICE) is None


def test_a_program_that_dies_is_started_again(runner: ControllerRunner) -> None:
    until(runner.step)
    (first,) = alive(runner)
    os.kill(first, signal.SIGKILL)
    until(lambda: alive(runner) not in ([], [first]) or (runner.step() and False))
    until(runner.step)
    assert len(alive(runner)) == 1


def test_a_changed_deployment_is_started_anew(cluster: FakeApi, runner: ControllerRunner) -> None:
    until(runner.step)
    first = alive(runner)
    changed(cluster)
    until(runner.step)
    assert len(alive(runner)) == 1
    assert alive(runner) != first


def test_a_new_pod_of_a_running_program_becomes_ready(cluster: FakeApi, runner: ControllerRunner) -> None:
    until(runner.step)
    cluster.objects[f"{PODS}/jobset-controller-2"] = samples.pod("jobset-controller-2")
    cluster.objects[DEPLOYMENT]["metadata"]["resourceVersion"] = "2"
    assert runner.step()
    assert cluster.objects[f"{PODS}/jobset-controller-2"]["metadata"]["annotations"][SERVING] == "true"


def test_stopping_ends_programs_that_an_earlier_runner_started(
    cluster: FakeApi, runner: ControllerRunner, tmp_path: Path
) -> None:
    until(runner.step)
    later = ControllerRunner(
        cluster.api, tmp_path / "kubeconfig", tmp_path / "controllers", tmp_path, tmp_path / "logs"
    )
    later.stop()
    assert alive(runner) == []


def test_a_program_that_fills_its_secret_finds_it_where_a_pod_would_mount_it(
    cluster: FakeApi, runner: ControllerRunner, tmp_path: Path
) -> None:
    for suffix in ("", ".ready"):
        (tmp_path / f"jobset{suffix}").rename(tmp_path / f"kueue{suffix}")
    deployment = cluster.objects[DEPLOYMENT]
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/kueue/kueue:v0.17.0"
    cluster.groups.add("kueue.x-k8s.io")
    until(runner.step)
    secret = cluster.objects["/api/v1/namespaces/jobset-system/secrets/jobset-webhook-server-cert"]
    assert secret["data"]["tls.crt"] == "", "its own to fill"
    secret["data"]["tls.crt"] = "Y2VydGlmaWNhdGU="
    changed(cluster)
    until(runner.step)
    mounted = tmp_path / "controllers" / "jobset-system" / "jobset-controller" / "certificates" / "tls.crt"
    assert mounted.read_text() == "certificate"
