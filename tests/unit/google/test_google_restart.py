"""What outlives a double that is killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.unit.google.running import CLUSTERS, PROJECT, Double, RecordingRuntime, cluster, serve


@contextmanager
def process(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], Double]]:
    """`python -m rehearsal.google`, killed at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "rehearsal.google", "--home", str(home), "--port", str(port), "--no-clusters"]
    started = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    double = Double(f"http://127.0.0.1:{port}", RecordingRuntime())
    try:
        while True:
            assert started.poll() is None
            try:
                assert double.http.get("/healthz").text == "ok"
                break
            except httpx.ConnectError:
                time.sleep(0.02)
        yield started, double
    finally:
        double.http.close()
        started.kill()
        started.wait()


def test_a_killed_double_comes_back_with_everything_it_had(tmp_path: Path) -> None:
    with process(tmp_path) as (_, double):
        double.enable()
        double.network()
        before = double.cluster()
    with process(tmp_path) as (_, double):
        assert double.call("GET", f"{CLUSTERS}/c") == before
        networks = double.call("GET", f"/compute/compute/v1/projects/{PROJECT}/global/networks")["items"]
        assert [network["name"] for network in networks] == ["net"]


def test_a_cluster_that_was_being_created_is_created_after_the_restart(tmp_path: Path) -> None:
    stuck, fresh = RecordingRuntime(), RecordingRuntime()
    with serve(tmp_path, stuck) as (_, url):
        double = Double(url, stuck)
        double.enable()
        double.network()
        stuck.gate.clear()
        operation = double.call("POST", CLUSTERS, {"cluster": cluster()})
        with serve(tmp_path, fresh) as (_, again):
            after = Double(again, fresh)
            assert after.done(operation)["status"] == "DONE"
            assert after.call("GET", f"{CLUSTERS}/c")["status"] == "RUNNING"
            assert fresh.calls[0] == stuck.calls[0]
        stuck.gate.set()
