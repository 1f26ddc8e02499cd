"""A Slurm cluster on this machine: start, stop, use, and take nodes from it."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from rehearsal.errors import RehearsalError
from rehearsal.processes import Process, Processes, wait_for
from rehearsal.slurm import configuration, install
from rehearsal.slurm.description import Description, NodeSet, Partition, placed
from rehearsal.slurm.nodes import SHORT, Nodes, isolated, power_lock

_CONTROLLER_PORT = 6817
# Second octets of 127.x.y.z that are given out; the lower ones are what other programs like.
_OCTETS = range(16, 255)


class SlurmCluster:
    """One cluster in a folder of its own. A later process finds it again by that folder."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self.folder = folder
        self._processes = processes

    @property
    def exists(self) -> bool:
        return (self.folder / "cluster.json").exists()

    @property
    def controlled(self) -> bool:
        """Whether slurmctld runs, or should: nobody has ended it."""
        return self._processes.get(self._process("slurmctld")) is not None

    @property
    def description(self) -> Description:
        """What was created. Raises RehearsalError where nothing was."""
        try:
            return Description.load(self.folder / "cluster.json")
        except FileNotFoundError:
            raise RehearsalError(f"There is no Slurm cluster in {self.folder}.") from None

    @property
    def nodes(self) -> Nodes:
        return Nodes(self.folder, self.description.mounts, self._processes)

    def apply(
        self,
        name: str,
        node_sets: Sequence[NodeSet],
        partitions: Sequence[Partition],
        default_partition: str | None = None,
        logins: int = 1,
        mounts: Mapping[str, str] | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        """Create the cluster, or make the one that is there like this; returns when its static nodes are idle.

        Nodes that stay go on with their jobs.
        """
        install.ensure(report)
        before = self.description if self.exists else None
        wanted = Description(
            name,
            before.octet if before else _free_octet(),
            placed(node_sets, before.node_sets if before else ()),
            tuple(partitions),
            default_partition or partitions[0].name,
            logins,
            dict(mounts or {}),
        )
        if before and wanted != before:
            self._retire(before, wanted)
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted.save(self.folder / "cluster.json")
        self.start()
        if before and wanted != before:
            # The nodes that went on running read the new configuration.
            self.run("scontrol", "reconfigure")

    def start(self) -> None:
        """Start what does not run, such as after a restart of this machine."""
        cluster = self.description
        configuration.write(self.folder, cluster)
        munged = self._start("munged", self._munged(cluster))
        wait_for((self.folder / "munge" / "socket").exists, "munged answers", timeout=20, process=munged)
        controller = self._start("slurmctld", self._slurmctld(cluster))
        wait_for(self._answers, "slurmctld answers", timeout=60, process=controller)
        nodes, states, recorded = self.nodes, self.states(), self.nodes.recorded()
        dead = sorted(set(recorded) - set(nodes.running()))
        if dead:
            # Slurm itself would take minutes to notice that their jobs are gone.
            self.run(
                "scontrol", "update", f"nodename={','.join(dead)}", "state=down", "reason=its machine was restarted"
            )
        wanted = []
        for node in cluster.nodes():
            powered_down = states.get(node.name, "")[-1:] in _POWER_SAVING
            if node.name in recorded or not node.dynamic and not powered_down:
                nodes.boot(node)
                wanted.append(node.name)
        wait_for(
            lambda: all(not _missing(state) for name, state in self.states().items() if name in wanted),
            "the nodes register with slurmctld",
            timeout=60,
            process=controller,
        )

    def stop(self) -> None:
        """End every process of the cluster; harmless where there is none."""
        if not self.folder.exists():
            return
        # First the one that would make nodes; what it has begun to make is waited for.
        self._processes.stop(self._process("slurmctld"))
        with power_lock(self.folder):
            nodes = Nodes(self.folder, {}, self._processes)
            for name in nodes.recorded():
                nodes.kill(name)
            self._processes.stop_all(self._process(""))

    def delete(self) -> None:
        """End every process of the cluster and remove its folder; harmless where there is none."""
        self.stop()
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

    def on_login_node(self, *argv: str) -> list[str]:
        """The command line that runs `argv` on the first login node, in `environment()`."""
        cluster = self.description
        return isolated(cluster.login(), self.folder, cluster.mounts, argv)

    def mounted(self, path: str) -> Path | None:
        """The folder of this machine that nodes see at a path; None where they see what this machine sees there."""
        for target, folder in self.description.mounts.items():
            if PurePosixPath(path).is_relative_to(target):
                return Path(folder, PurePosixPath(path).relative_to(target))
        return None

    def run(
        self, *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the login node; its output is in the result."""
        return subprocess.run(
            self.on_login_node(*argv),
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

    def _retire(self, before: Description, wanted: Description) -> None:
        """End the controller, which reads of nodes at its start only, and the nodes that are not wanted any more."""
        self._processes.stop(self._process("slurmctld"))
        staying = {(node.name, node.dynamic) for node in wanted.nodes()}
        with power_lock(self.folder):
            for node in before.nodes():
                if (node.name, node.dynamic) not in staying or before.mounts != wanted.mounts:
                    self.nodes.kill(node.name)

    def _answers(self) -> bool:
        return self.run("scontrol", "ping").returncode == 0

    def _start(self, name: str, argv: list[str]) -> Process:
        return self._processes.start(
            self._process(name),
            argv,
            log=self.folder / "logs" / f"{name}.out",
            env={"SLURM_CONF": str(self.folder / "slurm.conf")},
        )

    def _process(self, name: str) -> str:
        """How a process of this cluster is recorded."""
        return f"slurm-{self.folder.name}-{name}"

    def _munged(self, cluster: Description) -> list[str]:
        munge = Path(SHORT, "munge")
        argv = [
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
        return isolated(cluster.controller, self.folder, {}, argv)

    def _slurmctld(self, cluster: Description) -> list[str]:
        argv = [install.program("slurmctld") or "slurmctld", "-D", "-i", "-f", str(self.folder / "slurm.conf")]
        return isolated(cluster.controller, self.folder, {}, argv)


# What sinfo appends to the state of a node that is powered down, on its way there or back.
_POWER_SAVING = ("~", "%", "!", "#")


def _missing(state: str) -> bool:
    """Whether slurmctld has not heard from a node that should run."""
    return state.endswith("*") or state.startswith(("unk", "down"))


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
