"""`pathways status` against the double alone: pools, operations and logs; Kubernetes does not answer there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.stacks import FOLDER
from cli.status.observe import observe
from pathways import plan, stackfile
from tests.unit.dayafter.conftest import Surroundings
from tests.unit.google.running import PROJECT, REGION, cluster, tpu_pool

CLUSTERS = f"/container/v1/projects/{PROJECT}/locations/{REGION}/clusters"


@pytest.fixture
def deployed(cloud: Surroundings) -> Surroundings:
    """The cluster and the head pool of the stack gke-v6e."""
    cloud.double.network()
    pool = {"name": "cpu-np", "initialNodeCount": 1}
    body = {"cluster": cluster(name="gke-v6e", initialNodeCount=0, nodePools=[pool])}
    cloud.double.done(cloud.double.call("POST", CLUSTERS, body))
    return cloud


def add_slices(cloud: Surroundings) -> None:
    for name in ("tpu-np-0", "tpu-np-1"):
        body = {"nodePool": tpu_pool(name=name)}
        cloud.double.done(cloud.double.call("POST", f"{CLUSTERS}/gke-v6e/nodePools", body))


def status(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", *arguments], prog_name="pathways")


def seen(*arguments: str) -> dict[str, Any]:
    done = status("-s", "gke-v6e", "--json", *arguments)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == (1 if found["troubles"] else 0), done.output
    return found


def test_a_stack_that_is_not_deployed_is_said_to_be_so(cloud: Surroundings) -> None:
    done = status("-s", "gke-v6e")
    assert done.exit_code == 1
    assert "not-deployed" in done.stdout and "pulumi up -s gke-v6e" in done.stdout


@pytest.mark.parametrize(
    ("fault", "id", "said"),
    [("stock-out", "stock-out", "ZONE_RESOURCE_POOL_EXHAUSTED"), ("quota", "quota-exceeded", "TPUS_PER_TPU_FAMILY")],
)
def test_slices_that_cannot_be_had_are_said_with_googles_words(
    deployed: Surroundings, fault: str, id: str, said: str
) -> None:
    deployed.fault(fault)
    add_slices(deployed)
    troubles = seen()["troubles"]
    assert [each["id"] for each in troubles] == [id, id]
    assert "pool tpu-np-0 is ERROR" in troubles[0]["evidence"] and said in troubles[0]["evidence"]


@pytest.mark.parametrize(
    ("fault", "id", "said"),
    [
        ("cluster-degraded", "cluster-error", "gke-v6e is DEGRADED: The control plane does not pass"),
        ("pool-broken", "pool-error", "pool tpu-np-0 is RUNNING_WITH_ERROR: The Kubernetes Engine Service Agent"),
    ],
)
def test_what_gke_says_of_cluster_and_pools_is_the_evidence(
    deployed: Surroundings, fault: str, id: str, said: str
) -> None:
    add_slices(deployed)
    deployed.fault(fault)
    [trouble] = seen()["troubles"]
    assert trouble["id"] == id and said in trouble["evidence"]


def test_slices_that_are_not_there_are_missing(deployed: Surroundings) -> None:
    assert [each["id"] for each in seen()["troubles"]] == ["pool-missing"]


@pytest.mark.parametrize(
    ("fault", "id"),
    [
        ("head-dns", "head-dns"),
        ("protocol-version", "protocol-version"),
        ("bucket-update", "bucket-update"),
        ("bucket-forbidden", "bucket-forbidden"),
        ("no-bucket", "no-bucket"),
        ("second-client", "second-client"),
    ],
)
def test_what_a_component_complains_of_is_read_from_cloud_logging(deployed: Surroundings, fault: str, id: str) -> None:
    add_slices(deployed)
    deployed.fault(fault)
    [trouble] = seen()["troubles"]
    assert trouble["id"] == id and " said at " in trouble["evidence"]


def test_what_could_not_be_seen_is_listed_and_the_rest_is_shown(deployed: Surroundings) -> None:
    add_slices(deployed)
    found = seen()
    assert {each["part"] for each in found["silent"]} >= {"nodes", "pods", "the JobSet"}
    assert [pool["status"] for pool in found["pools"]] == ["RUNNING"] * 3
    assert "could not be seen" in status("-s", "gke-v6e").stdout


def test_watching_goes_on_through_an_outage_until_ctrl_c(deployed: Surroundings) -> None:
    argv = [sys.executable, "-m", "cli", "status", "-s", "gke-v6e", "--watch", "--every", "1"]
    environment = {**os.environ, **deployed.environment(), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout
        assert "gke-v6e: 2 slices" in watching.stdout.readline()
        deployed.fault("credentials")
        assert any("fix: gcloud auth application-default login" in line for line in watching.stdout)
        deployed.double.call("DELETE", "/faults/credentials")
        assert any("gke-v6e: 2 slices" in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        watching.stdout.read()
    assert watching.returncode == 0


def test_a_cluster_that_may_not_be_looked_at_is_no_stack_that_is_well(deployed: Surroundings) -> None:
    deployed.fault("api-disabled")
    done = status("-s", "gke-v6e")
    assert done.exit_code == 3 and done.stdout == ""
    assert "fix: gcloud services enable container.googleapis.com" in done.stderr


def test_without_a_network_nothing_is_looked_at(cloud: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    # Port 1 of loopback: nobody listens there.
    monkeypatch.delenv("PATHWAYS_GRPC_ENDPOINT_CONTAINER")
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER", "http://127.0.0.1:1/container/")
    settings, _ = stackfile.from_file(FOLDER / "Pulumi.gke-v6e.yaml")
    with pytest.raises(CloudError, match="GKE cannot be reached"):
        observe(Google(patience=0.5, retries=0), plan.make(settings))


def test_logs_are_shown_in_order_with_their_component_although_the_cluster_does_not_answer(
    deployed: Surroundings,
) -> None:
    deployed.fault("head-dns")
    deployed.fault("bucket-update")
    done = CliRunner().invoke(app, ["logs", "-s", "gke-v6e", "--json"], prog_name="pathways")
    assert done.exit_code == 0, done.output
    lines = [json.loads(each) for each in done.stdout.splitlines()]
    assert {(each["component"], each["slice"]) for each in lines} == {("worker", 0), ("resource-manager", None)}
    assert [each["time"] for each in lines] == sorted(each["time"] for each in lines)
    assert "not read: the cluster's Kubernetes API" in done.stderr


def test_logs_of_one_component_or_slice_are_those_alone(deployed: Surroundings) -> None:
    deployed.fault("head-dns")
    deployed.fault("bucket-update")
    proxy = CliRunner().invoke(app, ["logs", "proxy", "-s", "gke-v6e"], prog_name="pathways")
    assert proxy.stdout == "" and "There are no lines." in proxy.stderr
    of_slice = CliRunner().invoke(app, ["logs", "--slice", "0", "-s", "gke-v6e"], prog_name="pathways")
    assert "worker 0/0" in of_slice.stdout and "resource-manager" not in of_slice.stdout
    other = CliRunner().invoke(app, ["logs", "--slice", "1", "-s", "gke-v6e"], prog_name="pathways")
    assert other.stdout == ""
