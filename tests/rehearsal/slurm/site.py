"""A rehearsed cluster with the scripts installed, as a user on its login node has it before them."""

from __future__ import annotations

import getpass
import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pathways.slurm import Service, render
from rehearsal.processes import wait_for
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.runtime import cluster_account
from rehearsal.slurm.surroundings import Surroundings
from tests.unit.google.running import PROJECT, REGION

PATIENCE = 180
RESOURCE_MANAGER_PORT = 29001


@dataclass(frozen=True)
class Server:
    """A running stand-in: its node's address, command line and environment."""

    pid: int
    address: str
    command: list[str]
    environment: dict[str, str]

    @property
    def kind(self) -> str:
        if "--node_type=resource_manager" in self.command:
            return "resource manager"
        return "proxy" if self.command[0] == "/pathways/proxy_server" else "worker"


class Site:
    def __init__(self, cluster: SlurmCluster, service: Service, google: str) -> None:
        self.cluster, self.service = cluster, service
        self.home = cluster.folder / "home"
        self.pathways = self.home / "pathways"
        self.address_file = self.pathways / "cluster.env"
        self.install(render(service))
        Surroundings(google, cluster_account(PROJECT), REGION).save(cluster.folder)

    def install(self, scripts: Mapping[str, str]) -> None:
        """Put the scripts where the nodes see them."""
        folder = self.home / "scripts"
        folder.mkdir(exist_ok=True)
        for name, text in scripts.items():
            (folder / name).write_text(text)

    def forget(self) -> None:
        """Take away what setup_env.sh made and what services left."""
        for folder in self.home.glob("pathways*"):
            shutil.rmtree(folder) if folder.is_dir() else folder.unlink()

    @property
    def outputs(self) -> dict[str, Any]:
        """What a stack's outputs would say of it."""
        return {
            "slices": self.service.max_slices,
            "instanceType": self.service.shape.instance_type,
            "scripts": "scripts",
            "setupCommand": "bash scripts/setup_env.sh",
            "startCommand": "env POLL_SECONDS=1 bash scripts/start_pathways.sh",
            "addressFile": "~/pathways/cluster.env",
        }

    def set_up(self) -> str:
        """Runs setup_env.sh; what it said."""
        done = self.cluster.run("bash", "scripts/setup_env.sh", "maxtext")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def submit(self, **variables: str) -> Job:
        """Submits the service."""
        done = self.cluster.run("sbatch", "scripts/start_pathways.sh", env={"POLL_SECONDS": "1", **variables})
        assert done.returncode == 0, done.stderr
        return Job(self, done.stdout.split()[-1])

    def start(self, **variables: str) -> Job:
        """Submits the service and waits until clients can find it."""
        job = self.submit(**variables)
        self.wait(lambda: self.address_file.exists() or job.ended, "cluster.env is written", job)
        assert self.address_file.exists(), job.log
        return job

    def wait(self, condition: Callable[[], bool], what: str, job: Job | None = None) -> None:
        try:
            wait_for(condition, what, timeout=PATIENCE, interval=0.2)
        except Exception as error:
            raise AssertionError(f"{error}\n{job.log if job else ''}\n{self.cluster.states()}") from error

    def servers(self, kind: str = "") -> list[Server]:
        """The stand-ins that run on this cluster's nodes."""
        mine = f"127.{self.cluster.description.octet}."
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                command = process.cmdline()
                if "rehearsal.standins" in command and process.environ().get("REHEARSAL_ADDRESS", "").startswith(mine):
                    environment = process.environ()
                    found.append(Server(process.pid, environment["REHEARSAL_ADDRESS"], command[3:], environment))
        return [server for server in found if kind in ("", server.kind)]

    def slices(self) -> dict[int, tuple[str, int, str]]:
        """State, restarts and nodes of every slice, by index."""
        shown = self.cluster.run(
            "squeue",
            "--noheader",
            "--array",
            "--partition=tpu",
            "--Format=ArrayTaskID:|,State:|,RestartCnt:|,NodeList:|",
        )
        rows = (line.split("|") for line in shown.stdout.splitlines())
        return {int(row[0]): (row[1], int(row[2]), row[3]) for row in rows}

    def all_run(self) -> bool:
        return {state for state, _, _ in self.slices().values()} == {"RUNNING"}

    def clean(self) -> None:
        """Ends every job and brings every node back."""
        (self.cluster.folder / "no-sudo").unlink(missing_ok=True)
        self.cluster.run("scancel", f"--user={getpass.getuser()}")
        self.wait(lambda: not self.cluster.run("squeue", "--noheader").stdout.strip(), "the jobs end")
        nodes = self.cluster.nodes
        self.wait(lambda: not any(state[-1] in "%!#" for state in self.cluster.states().values()), "nodes settle")
        for node in self.cluster.description.nodes():
            if self.cluster.states()[node.name].startswith(("down", "drain")):
                nodes.boot(node)
                self.cluster.run("scontrol", "update", f"nodename={node.name}", "state=resume")
        self.wait(lambda: {state.rstrip("~") for state in self.cluster.states().values()} == {"idle"}, "nodes are idle")
        self.address_file.unlink(missing_ok=True)


@dataclass(frozen=True)
class Job:
    """A submitted service."""

    site: Site
    id: str

    @property
    def log(self) -> str:
        path = self.site.home / f"pathways-{self.id}.log"
        return path.read_text() if path.exists() else ""

    @property
    def logs(self) -> Path:
        return self.site.pathways / "logs" / self.id

    def said(self, text: str) -> None:
        """Waits until the service's log has this line or part of one."""
        self.site.wait(lambda: text in self.log, f'the service says "{text}"', self)

    @property
    def ended(self) -> bool:
        return not self.site.cluster.run("squeue", "--noheader", f"--jobs={self.id}").stdout.strip()

    @property
    def address(self) -> tuple[str, int]:
        found = re.search(r"^export PATHWAYS_PROXY_ADDRESS=(.*):(\d+)$", self.site.address_file.read_text(), re.M)
        assert found
        return found[1], int(found[2])


class Observer:
    """Whom the resource manager tells of every change of the slices."""

    def __init__(self, connection: socket.socket) -> None:
        self._lines = connection.makefile("rw")
        self._lines.write('{"role": "observer"}\n')
        self._lines.flush()

    def sees(self, slices: set[int]) -> None:
        """Reads on until exactly these slices are there; fails when the resource manager ends first."""
        for line in self._lines:
            state = json.loads(line)
            assert "slices" in state, state
            if {int(index) for index in state["slices"]} == slices:
                return
        raise AssertionError("the resource manager is gone")


@contextmanager
def observer(job: Job) -> Iterator[Observer]:
    with socket.create_connection((job.address[0], RESOURCE_MANAGER_PORT), timeout=PATIENCE) as connection:
        yield Observer(connection)
