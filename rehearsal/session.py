"""A running rehearsal: the Google Cloud double, what it started, and the environment that leads to it."""

from __future__ import annotations

import os
import shlex
import shutil
import ssl
import sys
from collections.abc import Callable, Iterable, Mapping

import httpx

from pathways.kubeconfig import EXEC_PLUGIN
from rehearsal import client, recovery
from rehearsal.engine import layout
from rehearsal.errors import RehearsalError
from rehearsal.google.environment import variables as gcloud_variables
from rehearsal.google.tokens import write_key_file
from rehearsal.home import CHECKOUT, Home
from rehearsal.kubernetes.agent.container import signal_all
from rehearsal.kubernetes.runtime import KubernetesRuntime
from rehearsal.processes import Processes, free_port, wait_for
from rehearsal.slurm.runtime import SlurmClusters
from rehearsal.tools import DEFAULT, Tools, official

GOOGLE = "google"
Report = Callable[[str], None]


class Session:
    """One rehearsal on this machine, in one folder."""

    def __init__(self, home: Home, tools: Tools) -> None:
        self.home = home
        self.tools = tools
        self.processes = Processes(home.processes)
        self.slurm = SlurmClusters(home)

    def build(self, programs: Iterable[str] = DEFAULT) -> None:
        """Build the programs that are missing, with progress; what an official Pulumi brings is not built."""
        found = self._official()
        self.tools.ensure([name for name in programs if not found or name not in found.provides])

    def start(self, report: Report) -> None:
        """Start what is not running; says which server had died."""
        self.home.create()
        self._install_programs()
        for name in self._restart_dead():
            report(f"{name} was dead; started again")
        known = self.processes.get(GOOGLE)
        if known is None:
            port = free_port()
            known = self.processes.start(
                GOOGLE,
                [
                    sys.executable,
                    "-m",
                    "rehearsal.google",
                    "--home",
                    str(self.home.root),
                    "--port",
                    str(port),
                    "--grpc-port",
                    str(free_port()),
                ],
                log=self.home.logs / "google.log",
                env={"PATHWAYS_TOOLS": str(self.tools.root), "PYTHONPATH": str(CHECKOUT)},
            )
        wait_for(self._google_answers, "the Google Cloud double answers", timeout=30, process=known)
        write_key_file(self.home.credentials, self.google_url)

    @property
    def running(self) -> bool:
        return self.processes.get(GOOGLE) is not None

    @property
    def google_url(self) -> str:
        """Where the Google Cloud double listens. Raises RehearsalError when no rehearsal is running."""
        return f"http://{self._google('--port')}"

    @property
    def google_grpc(self) -> str:
        """HOST:PORT where gRPC clients of GKE find the double. Raises RehearsalError when no rehearsal is running."""
        return self._google("--grpc-port")

    def _google(self, option: str) -> str:
        process = self.processes.get(GOOGLE)
        if process is None:
            raise RehearsalError(f"No rehearsal is running in {self.home.root}. Start one: make up")
        return f"127.0.0.1:{process.argv[process.argv.index(option) + 1]}"

    def environment(self) -> dict[str, str]:
        """Variables that point Pulumi, gcloud and kubectl at the rehearsal."""
        return {
            "PATH": os.pathsep.join([str(self.home.bin), os.environ.get("PATH", os.defpath)]),
            "PULUMI_HOME": str(self.home.pulumi),
            "PULUMI_BACKEND_URL": self.home.backend.as_uri(),
            # Guards nothing: the state of a rehearsal holds no secret of anybody's.
            "PULUMI_CONFIG_PASSPHRASE": "rehearsal",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "1",
            "PULUMI_DISABLE_REGISTRY_RESOLVE": "1",
            "REHEARSAL_GOOGLE_URL": self.google_url,
            # Go's programs, which read it, take these for public authorities (OpenSSL's know files by their hash).
            "SSL_CERT_DIR": os.pathsep.join([str(self.home.trust), _public_authorities()]),
            "CLOUDSDK_CONFIG": str(self.home.root / "gcloud"),
            "KUBECONFIG": str(self.home.root / "kubeconfig"),
            "GOOGLE_APPLICATION_CREDENTIALS": str(self.home.credentials),
            "PATHWAYS_LOGIN": str(self.home.bin / _LOGIN),
            # A client's JAX must fit that of the rehearsed proxy, which is this one's.
            **({"PATHWAYS_VENV": str(python.parent.parent)} if (python := client.python()) else {}),
            **gcloud_variables(self.google_url, self.google_grpc),
        }

    def stop(self) -> None:
        """End every process of the rehearsal and remove all it wrote."""
        recovery.end_stragglers(self.home)
        self.processes.stop(GOOGLE)
        self.slurm.stop()
        self.processes.stop_all()
        signal_all(self.home.clusters)
        shutil.rmtree(self.home.root, ignore_errors=True)

    def _restart_dead(self) -> list[str]:
        dead = [process.name for process in self.processes.all() if not process.alive]
        if dead:
            # Servers of a control plane and of Slurm need one another, so they come back in order and are waited for.
            KubernetesRuntime(self.home, self.tools).revive()
            self.slurm.revive()
            self.processes.restart_dead()
        return dead

    def _google_answers(self) -> bool:
        try:
            return httpx.get(f"{self.google_url}/healthz", timeout=2).is_success
        except httpx.TransportError:
            return False

    def _official(self) -> official.Official | None:
        return official.find(ignore=[self.home.bin])

    def _install_programs(self) -> None:
        """Put the rehearsal's programs into its bin folder, first on PATH."""
        layout.lay_out(self.home.bin, self.tools, self._official())
        for name, module in _OURS.items():
            code = f"import runpy, sys; sys.path.insert(0, {str(CHECKOUT)!r}); runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
            script = self.home.bin / name
            script.write_text(
                f"#!/bin/sh\nexport REHEARSAL_HOME={shlex.quote(str(self.home.root))}\n"
                f'exec {shlex.join([sys.executable, "-P", "-c", code])} "$@"\n'
            )
            script.chmod(0o755)


def _public_authorities() -> str:
    """The folders of the authorities that this machine trusts."""
    return os.environ.get("SSL_CERT_DIR") or ssl.get_default_verify_paths().openssl_capath


_LOGIN = "pathways-login"
_OURS: Mapping[str, str] = {
    "pulumi-resource-gcp": "rehearsal.provider.__main__",
    EXEC_PLUGIN: "rehearsal.credentials",
    _LOGIN: "rehearsal.slurm.login",
}
