"""A Slurm cluster on this machine: start, stop, use, and take nodes from it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.processes import Process, Processes, wait_for
from rehearsal.slurm import configuration, install
from rehearsal.slurm.description import Description, NodeSet, Partition
from rehearsal.slurm.nodes import Nodes, isolated

_CONTROLLER_PORT = 6817
# A socket's path has at most 107 characters, of which /munge/socket takes 13; munged adds .lock to it.
_LONGEST_FOLDER = 89
# Second octets of 127.x.y.z that are given out; the lower ones are what other programs like.
_OCTETS = range(16, 255)


class SlurmCluster:
    """One cluster in a folder of its own. A later process finds it again by that folder."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self.folder = folder
        self._processes = processes

    @property
    def description(self) -> Description:
        """What was created. Raises RehearsalError where nothing was."""
        try:
            return Description.load(self.folder / "cluster.json")
        except FileNotFoundError:
            raise RehearsalError(f"There is no Slurm cluster in {self.folder}.") from None

    @property
    def nodes(self) -> Nodes:
        return Nodes(self.folder, self.description.name, self._processes)

    def create(
        self,
        name: str,
        node_sets: Sequence[NodeSet],
        partitions: Sequence[Partition],
        default_partition: str | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        """Start a cluster, or what is missing of it; returns when its static nodes are idle."""
        install.ensure(report)
        if not (self.folder / "cluster.json").exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            if len(str(self.folder)) > _LONGEST_FOLDER:
                raise RehearsalError(
                    f"{self.folder} is too long a path for munge's socket, by "
                    f"{len(str(self.folder)) - _LONGEST_FOLDER} characters; set REHEARSAL_HOME to a shorter one."
                )
            Description(
                name, _free_octet(), tuple(node_sets), tuple(partitions), default_partition or partitions[0].name
            ).save(self.folder / "cluster.json")
        self.start()

    def start(self) -> None:
        """Start what does not run."""
        cluster = self.description
        configuration.write(self.folder, cluster)
        munged = self._start("munged", self._munged())
        wait_for((self.folder / "munge" / "socket").exists, "munged answers", timeout=20, process=munged)
        controller = self._start("slurmctld", self._slurmctld(cluster))
        wait_for(self._answers, "slurmctld answers", timeout=60, process=controller)
        nodes = self.nodes
        static = [node for node in cluster.nodes() if not node.dynamic]
        for node in static:
            nodes.boot(node)
        names = {node.name for node in static}
        wait_for(
            lambda: all(state in _UP for name, state in self.states().items() if name in names),
            "the nodes register with slurmctld",
            timeout=60,
            process=controller,
        )

    def delete(self) -> None:
        """End every process of the cluster and remove its folder; harmless where there is none."""
        if not self.folder.exists():
            return
        with contextlib.suppress(RehearsalError):
            name = self.description.name
            for process in self._processes.all(f"slurm-{name}-node-"):
                self.nodes.kill(process.name.removeprefix(f"slurm-{name}-node-"))
            self._processes.stop_all(f"slurm-{name}-")
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """The environment of a user on the login node."""
        return {
            "PATH": os.pathsep.join([str(self.folder / "bin"), install.SYSTEM_PATH]),
            "SLURM_CONF": str(self.folder / "client.conf"),
            "HOME": str(self.folder / "home"),
            # A node's own disk; what a lost node leaves there goes with the cluster.
            "TMPDIR": str(self.folder / "tmp"),
            "USER": os.environ.get("USER", "root"),
            "LANG": "C.UTF-8",
        }

    def run(
        self, *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the login node; its output is in the result."""
        return subprocess.run(
            argv,
            env={**self.environment(), **(env or {})},
            cwd=cwd or self.folder / "home",
            capture_output=True,
            text=True,
            timeout=120,
        )

    def states(self) -> dict[str, str]:
        """The state of every node, as sinfo says it, such as "idle", "down*" or "idle~"."""
        listing = self.run("sinfo", "--noheader", "--Node", "--format=%N %T").stdout
        return dict(line.split() for line in listing.splitlines())

    def lose(self, name: str) -> None:
        """Take a node away with all that runs on it, as a preemption does. Slurm finds out within half a minute."""
        self.nodes.kill(name)

    def _answers(self) -> bool:
        return self.run("scontrol", "ping").returncode == 0

    def _start(self, name: str, argv: list[str]) -> Process:
        return self._processes.start(
            f"slurm-{self.description.name}-{name}",
            argv,
            log=self.folder / "logs" / f"{name}.out",
            env={"SLURM_CONF": str(self.folder / "slurm.conf")},
        )

    def _munged(self) -> list[str]:
        munge = self.folder / "munge"
        return [
            install.program("munged") or "munged",
            "--foreground",
            # Its users are all one user here, so the folder need not be open to others.
            "--force",
            f"--key-file={munge / 'key'}",
            f"--socket={munge / 'socket'}",
            f"--pid-file={munge / 'pid'}",
            f"--log-file={munge / 'log'}",
            f"--seed-file={munge / 'seed'}",
        ]

    def _slurmctld(self, cluster: Description) -> list[str]:
        argv = [install.program("slurmctld") or "slurmctld", "-D", "-i", "-f", str(self.folder / "slurm.conf")]
        return isolated(cluster.controller, self.folder / "hosts", argv, own_processes=False)


_UP = ("idle", "allocated", "mixed", "completing")


def _free_octet() -> int:
    """The second octet of a 127.x.0.0/16 in which no other cluster's controller listens."""
    for octet in random.sample(_OCTETS, len(_OCTETS)):
        with socket.socket() as probe:
            try:
                probe.bind((f"127.{octet}.0.1", _CONTROLLER_PORT))
            except OSError:
                continue
            return octet
    raise RehearsalError("Every loopback network has a rehearsal already; end some of them.")
