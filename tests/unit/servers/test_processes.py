"""What the rehearsal knows of the servers it started."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rehearsal.processes import free_port, running


def outgoing_ports() -> range:
    low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    return range(int(low), int(high) + 1)


def test_a_server_port_is_never_one_that_an_outgoing_connection_may_be_given() -> None:
    assert not {free_port() for _ in range(50)} & set(outgoing_ports())


def test_a_port_that_is_taken_is_not_offered() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", free_port()))
        taken = server.getsockname()[1]
        assert taken not in {free_port() for _ in range(50)}


def test_a_process_that_has_ended_does_not_run_though_nobody_asked_for_its_exit_code() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not running(child.pid)
    child.wait()
    assert not running(child.pid)


# The leader ends by itself and leaves the process to a thread: what a killed server looks like while it
# still holds its port.
_LEADERLESS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of the system call exit is x86-64's")
def test_a_process_runs_until_its_last_thread_ends() -> None:
    child = subprocess.Popen([sys.executable, "-c", _LEADERLESS], stdout=subprocess.PIPE)
    try:
        assert child.stdout
        child.stdout.readline()
        deadline = time.monotonic() + 10
        while Path(f"/proc/{child.pid}/stat").read_text().split()[2] != "Z" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert running(child.pid)
    finally:
        child.kill()
        child.wait()
        assert child.stdout
        child.stdout.close()
    assert not running(child.pid)
