"""A shared service: each client gets a proxy of its own, which is gone when the client is."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rehearsal import client
from rehearsal.home import CHECKOUT
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.dayafter.conftest import Commands

pytestmark = pytest.mark.extended

STACK = "gke-v6e-shared"
HALF = ("--slices=2", "--devices=32")


@pytest.fixture(scope="module")
def shared(rehearsal: Rehearsal) -> Commands:
    """The service, which up has tried with a client."""
    assert "devices     64 devices in 4 slices" in rehearsal.run("up", STACK)
    return Commands(rehearsal, STACK)


def proxies(shared: Commands) -> list[str]:
    """The proxy Jobs that there are."""
    with shared.kubernetes() as api:
        jobs = [each["metadata"]["name"] for each in api.items("/apis/batch/v1/namespaces/default/jobs")]
    return [name for name in jobs if name.startswith("shared-proxy-")]


@contextmanager
def held(shared: Commands, name: str, end: signal.Signals) -> Iterator[dict[str, str]]:
    """The way to the proxy of a client with two slices, held open until `end` ends it; the client's variables."""
    argv = [sys.executable, "-m", "cli", "connect", "-s", STACK, "--client", name, "--slices=2", "--hold", "--port=0"]
    with subprocess.Popen(argv, env=shared.environment, cwd=CHECKOUT, text=True, stdout=subprocess.PIPE) as way:
        assert way.stdout is not None
        printed = [re.fullmatch(r"export (\w+)=(\S+)\n", way.stdout.readline()) for _ in range(4)]
        try:
            yield {found[1]: found[2] for found in printed if found}
        finally:
            way.send_signal(end)


def check(variables: dict[str, str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A JAX client that expects two slices."""
    argv = [str(client.ENVIRONMENT.python), str(client.CHECK), *HALF]
    return subprocess.run(
        argv, env={**environment, **variables}, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )


def test_clients_share_the_slices_and_leave_no_proxy_however_they_end(shared: Commands) -> None:
    before = shared.status()
    assert (before["clients"], before["troubles"]) == ([], []), "up leaves none"
    assert "clients" in (told := shared.run("status").stdout) and "none now" in told
    with held(shared, "anna", signal.SIGINT) as anna:
        with held(shared, "boris", signal.SIGTERM) as boris:
            seen = [(each["client"], each["slices"], each["state"]) for each in shared.status()["clients"]]
            assert seen == [("anna", 2, "running"), ("boris", 2, "running")]
            for variables in (anna, boris):
                done = check(variables, shared.environment)
                assert done.returncode == 0, done.stderr
            again = shared.run("connect", "--client", "anna", "--", "true")
            assert again.returncode == 3 and "kubectl delete job shared-proxy-anna" in again.stderr
        assert proxies(shared) == ["shared-proxy-anna"]
        # What one gave back the next one has.
        after = shared.run("connect", "--slices=2", "--port=0", "--", "python", str(client.CHECK), *HALF)
        assert after.returncode == 0, after.stderr
        assert "matmul      right, over all 32 devices" in after.stdout
    assert proxies(shared) == []


def test_a_proxy_that_ends_says_why_and_is_taken_away(shared: Commands) -> None:
    odd = shared.rehearsal.home.root.parent / f"Pulumi.{STACK}.yaml"
    text = (CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml").read_text()
    odd.write_text(f"{text}  pathways:runtime:\n    proxy:\n      args: [--no_such_flag=1]\n")
    done = shared.run("connect", "--", "true", stack=str(odd))
    assert done.returncode == 3
    assert "has ended: ERROR: Unknown command line flag 'no_such_flag'" in done.stderr
    assert proxies(shared) == []
