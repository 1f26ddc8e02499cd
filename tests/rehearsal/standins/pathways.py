"""The stand-ins as processes, as pods and job steps run them: a resource manager, workers, and a proxy."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pathways import containers
from rehearsal.client import CHECKOUT, ENVIRONMENT, VARIABLE
from rehearsal.processes import wait_for
from rehearsal.standins.slices import InstanceType

IMAGE = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:jax-0.10.2"
SCRATCH = "--gcs_scratch_location=gs://scratch/tmp"
RESOURCE_MANAGER, PROXY, WORKER = 29001, 29000, 29005
PATIENCE = 60


@dataclass
class Pathways:
    """Servers of `slices` slices. Each node has a loopback address of its own, in a net that no other test has."""

    folder: Path
    instance_type: str
    slices: int
    net: str = field(default_factory=lambda: f"127.{random.randrange(64, 250)}.{random.randrange(1, 250)}")
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def head(self) -> str:
        return f"{self.net}.1"

    @property
    def target(self) -> str:
        return f"grpc://{self.head}:{PROXY}"

    @property
    def devices(self) -> int:
        return self.slices * InstanceType.parse(self.instance_type).devices_per_slice

    def start(self, name: str, address: str, *command: str, **environment: str) -> None:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"PYTHONPATH": str(CHECKOUT), "REHEARSAL_IMAGE": IMAGE, "REHEARSAL_ADDRESS": address}
        with self.log(name).open("ab") as output:
            self.running[name] = subprocess.Popen(
                [sys.executable, "-m", "rehearsal.standins", *command],
                env={**inherited, **own, VARIABLE: str(ENVIRONMENT.folder), **environment},
                stdout=output,
                stderr=output,
            )

    def start_head(self, elastic: int) -> None:
        port = f"--server_port={RESOURCE_MANAGER}"
        slices = [f"--instance_type={self.instance_type}", f"--instance_count={self.slices}"]
        variables = {"HOST_ADDRESS": self.head, "TPU_SKIP_MDS_QUERY": "true"}
        role = ["--node_type=resource_manager", *slices]
        self.start("resource-manager", self.head, "/pathways/server", port, *role, SCRATCH, **variables)
        self.start_proxy(*([f"--num_elastic_slices={elastic}"] if elastic else []))

    def start_proxy(self, *flags: str, port: int = PROXY) -> None:
        manager = f"--resource_manager_address={self.head}:{RESOURCE_MANAGER}"
        self.start("proxy", self.head, "/pathways/proxy_server", f"--server_port={port}", manager, SCRATCH, *flags)

    def start_worker(self, slice_index: int, host: int, **changes: str) -> None:
        kind = InstanceType.parse(self.instance_type)
        variables = {
            "MEGASCALE_SLICE_ID": str(slice_index),
            "MEGASCALE_NUM_SLICES": str(self.slices),
            "MEGASCALE_COORDINATOR_ADDRESS": self.head,
            "TPU_WORKER_ID": str(host),
            "TPU_WORKER_HOSTNAMES": ",".join(f"slice-{slice_index}-{each}" for each in range(kind.hosts)),
            "XCLOUD_ENVIRONMENT": "GCP",
            "TPU_TOPOLOGY": str(kind.topology),
            "TPU_HOST_BOUNDS": ",".join(map(str, kind.host_grid)),
            "TPU_CHIPS_PER_HOST_BOUNDS": ",".join(map(str, kind.host_shape)),
            **changes,
        }
        address = f"{self.net}.{2 + slice_index * kind.hosts + host}"
        manager = f"--resource_manager_address={self.head}:{RESOURCE_MANAGER}"
        name = f"worker-{slice_index}-{host}"
        self.start(name, address, "/pathways/server", f"--server_port={WORKER}", manager, SCRATCH, **variables)

    def start_slice(self, slice_index: int) -> None:
        for host in range(InstanceType.parse(self.instance_type).hosts):
            self.start_worker(slice_index, host)

    def stop(self, name: str) -> None:
        server = self.running.pop(name)
        server.terminate()
        server.wait(20)

    def stop_all(self) -> None:
        for name in list(self.running):
            self.stop(name)

    def said(self, name: str, text: str) -> None:
        """Wait until a server's log has the text."""
        wait_for(lambda: text in self.log(name).read_text(), f"{text!r} in the log of {name}", PATIENCE)

    def ended(self, name: str) -> tuple[int, str]:
        """Wait until a server ends by itself; its exit code and the last thing it said."""
        code = self.running.pop(name).wait(PATIENCE)
        return code, self.log(name).read_text().splitlines()[-1]

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def client_environment(self) -> dict[str, str]:
        """What a stack gives its users, and where they have JAX."""
        return {
            **os.environ,
            **containers.client_variables(self.head, PROXY),
            "PATHWAYS_PROXY_CONNECTION_TIMEOUT_SECS": "30",
            VARIABLE: str(ENVIRONMENT.folder),
        }

    def check(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the client check."""
        command = [sys.executable, "-m", "rehearsal.client", "check", *arguments]
        given = self.client_environment() | environment
        return subprocess.run(command, env=given, cwd=CHECKOUT, capture_output=True, text=True, timeout=120)


@contextmanager
def running(folder: Path, instance_type: str, slices: int, elastic: int = 0) -> Iterator[Pathways]:
    """Servers with all slices ready."""
    pathways = Pathways(folder, instance_type, slices)
    try:
        pathways.start_head(elastic)
        for index in range(slices):
            pathways.start_slice(index)
        pathways.said("resource-manager", f"*** {slices}/{slices} Pathways Slices Now Ready ***")
        pathways.said("proxy", "IFRT proxy server started with status OK")
        yield pathways
    finally:
        pathways.stop_all()
