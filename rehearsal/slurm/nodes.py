"""Nodes made and lost: a slurmd and its jobs in namespaces of their own, as on a VM of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rehearsal.processes import Process, Processes, wait_for
from rehearsal.slurm.description import Node
from rehearsal.slurm.install import program

SHORT = "/mnt/slurm"
"""Where every machine of a cluster sees the cluster's folder: a socket's path has at most 107 characters."""

# Own host name, hosts file and process tree; the first process takes all others with it.
_ISOLATED = ("--pid", "--fork", "--mount-proc", "--uts", "--kill-child=KILL")
# $1: host name, $2: the cluster's folder, then pairs of a folder and where it is to be seen, then -- and the command.
# -n: the list of mounts in /run is the whole machine's, and only root may write it.
# A folder that this machine lacks is added to its parent in the new namespace only.
_BECOME = r"""
set -e
hostname "$1"
mount -n --bind "$2/hosts" /etc/hosts
folder=$2
shift 2
while [ "$1" != -- ]; do
    if [ ! -d "$2" ]; then
        parent=${2%/*}
        stage=$(mktemp -d -p "$folder/tmp")
        mount -n -t tmpfs -o mode=755 none "$stage"
        for each in "$parent"/*; do
            if [ -d "$each" ]; then
                mkdir "$stage/${each##*/}"
                mount -n --rbind "$each" "$stage/${each##*/}"
            fi
        done
        mkdir "$stage/${2##*/}"
        mount -n --move "$stage" "$parent"
        rmdir "$stage"
    fi
    mount -n --bind "$1" "$2"
    shift 2
done
shift
exec "$@"
"""


def isolated(
    host: str, folder: Path, mounts: Mapping[str, str], argv: Sequence[str], own_processes: bool = False
) -> list[str]:
    """The command line that runs `argv` on a machine of that name, in the cluster of that folder.

    `mounts`: folders by where the machine sees them.
    """
    how = [*privilege(), *(_ISOLATED if own_processes else ("--mount", "--uts"))]
    pairs = [part for target, source in {SHORT: str(folder), **mounts}.items() for part in (source, target)]
    return [_path("unshare"), *how, "sh", "-c", _BECOME, "sh", host, str(folder), *pairs, "--", *argv]


def privilege() -> tuple[str, ...]:
    """What an ordinary user needs to have namespaces."""
    return () if os.geteuid() == 0 else ("--user", "--map-current-user", "--keep-caps")


class Nodes:
    """The nodes of one cluster that exist right now."""

    def __init__(self, folder: Path, mounts: Mapping[str, str], processes: Processes) -> None:
        self._folder = folder
        self._mounts = mounts
        self._prefix = f"slurm-{folder.name}-node-"
        self._processes = processes

    def boot(self, node: Node) -> Process:
        """Start a node unless it runs."""
        configuration = self._folder / "slurm.conf"
        # -b: what the controller knew of a node of this name is over.
        argv = [_path("slurmd"), "-D", "-b", "-f", str(configuration), "-N", node.name]
        return self._processes.start(
            self._prefix + node.name,
            isolated(node.name, self._folder, self._mounts, argv, own_processes=True),
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

    def recorded(self) -> list[str]:
        """Names of the nodes that run or died without having been taken away."""
        return [process.name.removeprefix(self._prefix) for process in self._processes.all(self._prefix)]


@contextlib.contextmanager
def power_lock(folder: Path) -> Iterator[None]:
    """Held by whoever makes nodes of a cluster or takes them away."""
    with (folder / "power.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _path(name: str) -> str:
    return program(name) or name
