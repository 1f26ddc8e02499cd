"""A client's own proxy beside a shared service: created, waited for, and always taken away again."""

from __future__ import annotations

import os
import signal
from typing import Any, cast

import pytest
import typer

from cli import clients
from cli.cloud.errors import CloudError
from cli.cloud.stack import Deployed
from cli.connect import own_proxy
from cli.stacks import FOLDER
from cli.status.observe import clients_of
from cli.status.snapshot import ClientProxy
from pathways import manifests, names, plan, stackfile
from pathways.labels import JOB_SET
from pathways.plan import Plan
from pathways.proxy_job import Client
from tests.unit.dayafter.test_connect import connect

Json = dict[str, Any]
JOB = "/apis/batch/v1/namespaces/default/jobs/shared-proxy-anna"
POD = {"metadata": {"name": "shared-proxy-anna-x"}, "status": {"phase": "Running"}}
READY = "2027-01-01T00:00:00Z IFRT proxy server started with status OK"


class Kubernetes:
    """A cluster in which the pod of every Job is `pod` and says `lines`."""

    def __init__(self, pod: Json | None = None, lines: list[str] | None = None) -> None:
        self.objects: dict[str, Json] = {}
        self.pod, self.lines = pod or POD, lines or []
        self.deletable = True

    def get(self, path: str, **query: str) -> Json | None:
        return self.objects.get(path)

    def items(self, path: str, **query: str) -> list[Json]:
        return [self.pod] if query == {"labelSelector": f"{own_proxy.OF_JOB}=shared-proxy-anna"} else []

    def log(self, namespace: str, pod: str, container: str, **query: str) -> list[str]:
        return self.lines

    def create(self, path: str, body: Json) -> None:
        self.objects[f"{path}/{body['metadata']['name']}"] = body

    def delete(self, path: str) -> None:
        if not self.deletable:
            raise CloudError("network", "no route", "check it")
        del self.objects[path]


def shared() -> Plan:
    settings, _ = stackfile.from_file(FOLDER / "Pulumi.gke-v6e-shared.yaml")
    return plan.make(settings)


def deployed(kubernetes: Kubernetes) -> Deployed:
    return Deployed(shared(), cast(Any, None), None, cast(Any, kubernetes))


def test_a_proxy_is_there_for_as_long_as_its_client_and_asks_for_its_slices() -> None:
    cluster = Kubernetes(lines=[READY])
    with own_proxy.brought(deployed(cluster), Client("anna", 2)) as pod:
        assert pod == "shared-proxy-anna-x"
        [proxy] = cluster.objects[JOB]["spec"]["template"]["spec"]["containers"]
        assert "--virtual_slices=tpuv6e:4x4,tpuv6e:4x4" in proxy["args"]
    assert cluster.objects == {}


def test_a_signal_takes_the_proxy_away_too() -> None:
    cluster, before = Kubernetes(lines=[READY]), signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, own_proxy.brought(deployed(cluster), Client("anna")):
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM
    assert cluster.objects == {} and signal.getsignal(signal.SIGTERM) is before


def test_a_name_that_is_taken_is_refused_and_the_others_proxy_stays() -> None:
    cluster = Kubernetes()
    cluster.objects[JOB] = {"metadata": {"name": "of somebody else"}}
    with (
        pytest.raises(CloudError, match="there is a Job shared-proxy-anna already") as refused,
        own_proxy.brought(deployed(cluster), Client("anna")),
    ):
        pass
    assert "--client" in refused.value.fix and JOB in cluster.objects


def test_a_proxy_that_ends_is_told_with_its_last_words() -> None:
    lines = ["2027-01-01T00:00:00Z hello", "2027-01-01T00:00:01Z ERROR: Unknown command line flag 'x'"]
    cluster = Kubernetes({**POD, "status": {"phase": "Failed"}}, lines)
    with (
        pytest.raises(CloudError, match="has ended: ERROR: Unknown command line flag 'x'"),
        own_proxy.brought(deployed(cluster), Client("anna")),
    ):
        pass
    assert cluster.objects == {}


def test_a_proxy_for_which_there_is_no_node_says_so_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    full = {"type": "PodScheduled", "status": "False", "message": "3 node(s) didn't have free ports"}
    cluster = Kubernetes({**POD, "status": {"phase": "Pending", "conditions": [full]}})
    monkeypatch.setattr(own_proxy, "WAIT_SECONDS", -1.0)
    with (
        pytest.raises(CloudError, match="no node has room for it: 3 node") as waited,
        own_proxy.brought(deployed(cluster), Client("anna")),
    ):
        pass
    assert "pathways:head.nodeCount" in waited.value.fix and cluster.objects == {}


def test_a_proxy_that_cannot_be_taken_away_is_said_to_be_left(capfd: pytest.CaptureFixture[str]) -> None:
    cluster = Kubernetes(lines=[READY])
    cluster.deletable = False
    with own_proxy.brought(deployed(cluster), Client("anna")):
        pass
    assert "kubectl delete job shared-proxy-anna -n default" in capfd.readouterr().err


def test_status_tells_whose_proxies_there_are() -> None:
    [proxy] = manifests.of_client(shared(), Client("anna", 2))
    created = {**proxy, "metadata": {**proxy["metadata"], "creationTimestamp": "2027-01-01T00:00:00Z"}}
    job_sets = {**created, "metadata": {**created["metadata"], "labels": {JOB_SET: "shared-proxy"}}}
    for status, state in (({"ready": 1}, "running"), ({"active": 1}, "starting"), ({"conditions": [{}]}, "ended")):
        [found] = clients_of([{**created, "status": status}, job_sets], "shared")
        assert found == ClientProxy("anna", 2, state, "2027-01-01T00:00:00Z")


@pytest.mark.parametrize("user", ["anna", "Anna.Müller@example.com", "-", "x" * 80])
def test_everybodys_own_name_fits_into_a_job_and_is_new_each_time(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: user)
    first, second = (clients.name_of_own(shared()) for _ in range(2))
    assert first != second and clients.chosen(shared(), first, None).name == first
    assert len(names.proxy_job("shared", first)) <= names.LABEL_LIMIT


def test_more_slices_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(typer.BadParameter, match="has 4 slices, not 5"):
        clients.chosen(shared(), "anna", 5)


@pytest.mark.parametrize("option", [["--client", "anna"], ["--slices", "1"]])
@pytest.mark.parametrize("stack", ["gke-v6e", "slurm-v6e"])
def test_other_stacks_are_all_of_one_clients(stack: str, option: list[str]) -> None:
    done = connect("-s", stack, *option)
    assert done.exit_code == 2 and "is not in mode service" in " ".join(done.stderr.split())
