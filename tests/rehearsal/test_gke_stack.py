"""The default stack, from nothing to a running Pathways and back, as a newcomer does it."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter, defaultdict

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import container_v1
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerRestTransport

from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.kubernetes.pods import Pods


@pytest.fixture(scope="module")
def up(rehearsal: Rehearsal) -> str:
    """What `up` of the default stack printed."""
    return rehearsal.run("up", rehearsal.stack("gke-v6e"))


def test_each_slice_runs_on_the_nodes_of_one_pool_and_the_head_on_the_head_pool(up: str, rehearsal: Rehearsal) -> None:
    pools: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for pod in rehearsal.pods():
        assert pod.phase == "Running", pod
        pools[pod.job, pod.index][pod.pool] += 1
    assert pools.pop(("pathways-head", 0)) == {"cpu-np": 1}
    assert sorted(map(dict, pools.values()), key=str) == [{"tpu-np-0": 4}, {"tpu-np-1": 4}]


def test_up_ends_with_what_was_built_and_what_to_do_next(up: str) -> None:
    assert "2 slices of tpuv6e:4x4, 8 TPU VMs, 32 chips" in up
    assert "pathways-pathways-head-0-0.pathways.default.svc.cluster.local:29000" in up
    for command in ("make status", "make outputs", "make down"):
        assert command in up


def test_up_ends_with_a_jax_program_that_computed_on_every_chip(up: str) -> None:
    assert "through pathways connect" in up
    assert "32 devices in 2 slices: TPU v6 lite" in up
    assert "right, over all 32 devices" in up


def test_logs_and_commands_are_those_of_the_containers(up: str, rehearsal: Rehearsal) -> None:
    pods = Pods(rehearsal)
    head = pods.head()
    assert "*** 2/2 Pathways Slices Now Ready ***" in pods.log(head.name, "pathways-rm")
    assert "IFRT proxy server started with status OK" in pods.log(head.name, "pathways-proxy")
    worker = next(pod for pod in pods.all() if pod.job == "worker")
    assert pods.run(worker.name, "worker", "sh", "-c", "hostname; echo $TPU_TOPOLOGY").split() == [worker.node, "4x4"]
    assert "pathways-pathways-head-0-0.pathways" in pods.run(worker.name, "worker", "cat", "/etc/hosts")


def test_a_second_up_changes_nothing(up: str, rehearsal: Rehearsal) -> None:
    again = rehearsal.run("up", rehearsal.stack("gke-v6e"))
    assert re.search(r"\d+ unchanged", again)
    assert not re.search(r"\d+ (created|updated|replaced|deleted)", again), again


def test_refresh_finds_no_difference(up: str, rehearsal: Rehearsal) -> None:
    refreshed = rehearsal.run("refresh", rehearsal.stack("gke-v6e"))
    assert re.search(r"\d+ unchanged", refreshed)
    assert not re.search(r"\d+ (created|updated|replaced|deleted)", refreshed), refreshed


def test_the_outputs_are_the_numbers_and_addresses_and_hide_the_kubeconfig(up: str, rehearsal: Rehearsal) -> None:
    outputs = rehearsal.run("outputs", rehearsal.stack("gke-v6e"))
    for name, value in [
        ("chips", "32"),
        ("slices", "2"),
        ("vmsPerSlice", "4"),
        ("instanceType", "tpuv6e:4x4"),
    ]:
        assert re.search(rf"{name}\s+{value}", outputs)
    assert re.search(r"kubeconfig\s+\[secret\]", outputs)


def test_googles_own_client_lists_the_cluster_and_its_pools(up: str, rehearsal: Rehearsal) -> None:
    host = rehearsal.session().google_url.removeprefix("http://") + "/container"
    transport = ClusterManagerRestTransport(host=host, url_scheme="http", credentials=AnonymousCredentials())
    client = container_v1.ClusterManagerClient(transport=transport)
    [cluster] = client.list_clusters(parent="projects/example-ml/locations/-").clusters
    assert cluster.name == "gke-v6e"
    pools = {pool.name: pool for pool in cluster.node_pools}
    assert set(pools) == {"cpu-np", "tpu-np-0", "tpu-np-1"}
    assert pools["tpu-np-0"].placement_policy.tpu_topology == "4x4"
    assert pools["tpu-np-0"].config.machine_type == "ct6e-standard-4t"


def test_status_shows_every_server_running(up: str, rehearsal: Rehearsal) -> None:
    shown = rehearsal.run("status", rehearsal.stack("gke-v6e"))
    assert re.search(r"google\s+running", shown)
    assert re.search(r"kube-apiserver\s+running", shown)
    assert "dead" not in shown


def test_a_dead_server_is_said_and_started_again(up: str, rehearsal: Rehearsal) -> None:
    victim = rehearsal.session().processes.get("google")
    assert victim is not None
    os.kill(victim.pid, signal.SIGKILL)
    again = rehearsal.run("up", rehearsal.stack("gke-v6e"))
    assert "google was dead; started again" in again
    assert re.search(r"\d+ unchanged", again)


def test_what_a_job_set_lets_change_is_changed_while_it_runs(up: str, rehearsal: Rehearsal) -> None:
    before = rehearsal.pods()
    changed = rehearsal.run("up", rehearsal.stack("gke-v6e", workload={"ttlSeconds": 600}))
    assert re.search(r"1 updated", changed)
    assert not re.search(r"\d+ (created|replaced|deleted)", changed), changed
    assert rehearsal.pods() == before


def test_another_topology_replaces_pools_and_job_set_and_says_why(up: str, rehearsal: Rehearsal) -> None:
    wider = rehearsal.stack("gke-v6e", slices={"topology": "4x8"})
    preview = rehearsal.run("preview", wider)
    assert re.search(r"tpu-np-0", preview) and re.search(r"tpu-np-1", preview)
    assert re.search(r"tpuTopology\s*: \"4x4\" => \"4x8\"", preview)
    assert "JobSet" in preview and "tpuv6e:4x8" in preview
    rehearsal.run("up", wider)
    workers = [pod for pod in rehearsal.pods() if pod.job == "worker"]
    assert len(workers) == 16
    assert Counter(pod.pool for pod in workers) == {"tpu-np-0": 8, "tpu-np-1": 8}
    assert all(pod.phase == "Running" for pod in workers)


def test_down_leaves_no_process_and_no_folder(up: str, rehearsal: Rehearsal) -> None:
    running = rehearsal.session().processes.all()
    assert running and all(process.alive for process in running)
    shown = rehearsal.run("down", rehearsal.stack("gke-v6e"))
    assert "deleted" in shown
    assert not rehearsal.home.root.exists()
    assert [process.name for process in running if process.alive] == []


def test_a_bad_stack_lists_every_fault_and_registers_nothing(rehearsal: Rehearsal) -> None:
    bad = rehearsal.stack(
        "bad",
        slices={"topology": "4x5", "zone": "us-central1-a", "count": "two"},
        workload={"name": "a-name-that-is-much-too-long"},
        netwrok={},
    )
    shown = rehearsal.run("up", bad, expect=1)
    for path in ("slices.topology", "slices.zone", "slices.count", "workload.name", "netwrok"):
        assert f"pathways:{path}: " in shown
    assert "Traceback" not in shown
    assert "Nothing of bad is deployed" in rehearsal.run("status", bad)
