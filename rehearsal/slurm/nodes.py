"""Nodes made and lost: a slurmd and its jobs in namespaces of their own, as on a VM of its own."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from rehearsal.processes import Process, Processes, wait_for
from rehearsal.slurm.description import Node
from rehearsal.slurm.install import program

# Own host name, hosts file and process tree; the first process takes all others with it.
_ISOLATED = ("--pid", "--fork", "--mount-proc", "--uts", "--kill-child=KILL")
_BECOME = 'hostname "$1"; mount --bind "$2" /etc/hosts; shift 2; exec "$@"'


def isolated(host: str, hosts: Path, argv: list[str], own_processes: bool) -> list[str]:
    """The command line that runs `argv` on a machine of that name."""
    how = [*privilege(), *(_ISOLATED if own_processes else ("--mount", "--uts"))]
    return [_path("unshare"), *how, "sh", "-c", _BECOME, "sh", host, str(hosts), *argv]


def privilege() -> tuple[str, ...]:
    """What an ordinary user needs to have namespaces."""
    return () if os.geteuid() == 0 else ("--user", "--map-current-user", "--keep-caps")


class Nodes:
    """The nodes of one cluster that exist right now."""

    def __init__(self, folder: Path, cluster: str, processes: Processes) -> None:
        self._folder = folder
        self._prefix = f"slurm-{cluster}-node-"
        self._processes = processes

    def boot(self, node: Node) -> Process:
        """Start a node unless it runs."""
        configuration = self._folder / "slurm.conf"
        # -b: what the controller knew of a node of this name is over.
        argv = [_path("slurmd"), "-D", "-b", "-f", str(configuration), "-N", node.name]
        return self._processes.start(
            self._prefix + node.name,
            isolated(node.name, self._folder / "hosts", argv, own_processes=True),
            log=self._folder / "logs" / f"{node.name}.out",
            env={"SLURM_CONF": str(configuration)},
        )

    def kill(self, name: str) -> None:
        """End a node at once with all that runs on it, as when a VM is preempted; harmless where there is none."""
        process = self._processes.get(self._prefix + name)
        if process is None:
            return
        if process.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            wait_for(lambda: not process.alive, f"node {name} ends", timeout=20, interval=0.02)
        self._processes.stop(process.name)

    def running(self) -> list[str]:
        """Names of the nodes that run."""
        found = self._processes.all(self._prefix)
        return [process.name.removeprefix(self._prefix) for process in found if process.alive]


def _path(name: str) -> str:
    return program(name) or name
