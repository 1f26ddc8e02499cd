"""The servers of one rehearsed cluster: their files, ports, flags and start order."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT, Home
from rehearsal.kubernetes import kwok
from rehearsal.kubernetes.agent import debugging
from rehearsal.kubernetes.agent.container import signal_all
from rehearsal.kubernetes.agent.programs import PATH
from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.certificates import Authority, new_signing_key
from rehearsal.kubernetes.egress import READY, SOCKET
from rehearsal.processes import Process, Processes, free_port, wait_for

if TYPE_CHECKING:
    from rehearsal.tools import Tools

SERVICES = "34.118.224.0/20"  # the range that GKE itself gives to Services
FIRST_SERVICE = "34.118.224.1"
# What GKE would show as the control plane's address; an address that only appears in the API.
ADVERTISED = "172.16.0.2"
# Requests per second for a controller. With the defaults (20, 50 at most) a thousand pods take minutes.
QPS, BURST = 500, 1000
# Stands for the name of GKE's DNS endpoint: one that every machine resolves to itself.
DNS_NAME = "localhost"
START_SECONDS = 90.0
# An API server that anyone still watches takes a minute to leave; a deleted cluster has nothing to save.
DELETE_SECONDS = 3.0
# File in the cluster's folder that says so.
RUNS_PODS = "runs-pods"


@dataclass(frozen=True)
class Ports:
    """Loopback TCP ports of one control plane, chosen once and kept for its life."""

    etcd: int
    etcd_peers: int
    api_server: int
    kubelets: int


class ControlPlane:
    """One cluster's control plane. `key` names its folder, its logs and its processes ("KEY/etcd")."""

    def __init__(self, key: str, home: Home, tools: Tools) -> None:
        self.key = key
        self.folder = home.clusters / key
        self._home = home
        self._bin = tools.bin
        self._logs = home.logs / key
        self._processes = Processes(home.processes)

    @property
    def exists(self) -> bool:
        return self.kubeconfig.exists()

    @property
    def runs_pods(self) -> bool:
        """Whether the containers of its pods run as processes, which was decided when it was made."""
        return (self.folder / RUNS_PODS).exists()

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def address(self) -> str:
        """The API server's "HOST:PORT"."""
        return f"127.0.0.1:{self.ports.api_server}"

    @property
    def dns(self) -> str:
        """The API server's "NAME:PORT", with a certificate that programs of the rehearsal trust by themselves."""
        return f"{DNS_NAME}:{self.ports.api_server}"

    @property
    def ca_pem(self) -> str:
        return (self.folder / "ca.crt").read_text()

    @cached_property
    def ports(self) -> Ports:
        file = self.folder / "ports.json"
        if not file.exists():
            file.write_text(json.dumps(asdict(Ports(*(free_port() for _ in fields(Ports))))))
        return Ports(**json.loads(file.read_text()))

    def api(self) -> Api:
        """A client of this cluster's API server."""
        return Api.of(self.kubeconfig)

    def start(self) -> None:
        """Start what does not run and wait until the cluster takes pods; harmless where all of it runs."""
        self._write_files()
        self._start("etcd", self._etcd(), cwd=self.folder)
        server = self._start("kube-apiserver", self._api_server(), cwd=self.folder)
        with self.api() as api:
            wait_for(api.ready, f"the API server of {self.key} to be ready", START_SECONDS, server)
            manager = self._start("kube-controller-manager", self._controller_manager(), cwd=self.folder)
            self._start("kube-scheduler", self._scheduler(), cwd=self.folder)
            if self.runs_pods:
                debugging.install(api)
                debugging.link_commands(self._commands, PATH)
            path = {"PATH": str(self._commands)} if self.runs_pods else {}
            self._start("kwok", self._kwok(), cwd=self.folder, env={"KWOK_WORKDIR": str(self.folder), **path})
            # Started last to be stopped first: the API server lingers while a controller watches it.
            if self.runs_pods:
                self._start("agent", self._agent(), cwd=CHECKOUT)
            services = self._start("node-services", self._node_services(), cwd=CHECKOUT)
            wait_for(
                lambda: api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None,
                f"the controller manager of {self.key} to work",
                START_SECONDS,
                manager,
            )
            for definition in _definitions():
                api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        wait_for(lambda: self._serves_nodes(services.pid), f"webhooks of {self.key}", START_SECONDS, services)

    def delete(self) -> None:
        """End every process of the cluster and remove its files."""
        for process in reversed(self._processes.all(f"{self.key}/")):
            self._processes.stop(process.name, DELETE_SECONDS)
        signal_all(self.folder)  # an agent that was killed has left its containers
        self._public_authority.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _public_authority(self) -> Path:
        return self._home.trust / f"{self.key}.crt"

    def _start(self, name: str, argv: list[str], *, cwd: Path, env: dict[str, str] | None = None) -> Process:
        if not Path(argv[0]).exists():
            raise RehearsalError(f"{self.key}: {argv[0]} is missing; build the tools first")
        log = self._logs / f"{name}.log"
        return self._processes.start(f"{self.key}/{name}", argv, log=log, env=env, cwd=cwd)

    def _serves_nodes(self, pid: int) -> bool:
        ready = self.folder / READY
        return ready.exists() and ready.read_text() == str(pid)

    def _write_files(self) -> None:
        """Keys and configuration, on first start only: a restarted server must find what it had."""
        if self.exists:
            return
        self._home.create()
        self.folder.mkdir(parents=True, exist_ok=True)
        authority = Authority.new(f"{self.key} ca")
        names = [f"kubernetes{end}" for end in ("", ".default", ".default.svc")]
        server = authority.issue("kube-apiserver", names, ["127.0.0.1", FIRST_SERVICE, ADVERTISED])
        self._write("ca.crt", authority.certificate)
        self._write("server.crt", server.certificate)
        self._write("server.key", server.key)
        public = Authority.new(f"{self.key} public")
        self._public_authority.write_text(public.certificate)
        by_name = public.issue(DNS_NAME, [DNS_NAME])
        self._write("dns.crt", by_name.certificate)
        self._write("dns.key", by_name.key)
        self._write("service-accounts.key", new_signing_key())
        self._write("tokens.csv", f'{self._home.token.read_text()},rehearsal,rehearsal,"system:masters"\n')
        self._write("egress.yaml", yaml.safe_dump(_egress()))
        if self._home.run_pods:
            self._write(RUNS_PODS, "")
        self._write("kwok.yaml", kwok.configuration(run_pods=self.runs_pods))
        self._write("kubeconfig", yaml.safe_dump(self._kubeconfig()))  # last: it says that the rest is there

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.touch(mode=0o600)
        file.write_text(text)

    def _kubeconfig(self) -> dict[str, Any]:
        cluster = {"server": f"https://{self.address}", "certificate-authority": str(self.folder / "ca.crt")}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.key, "cluster": cluster}],
            "users": [{"name": "rehearsal", "user": {"tokenFile": str(self._home.token)}}],
            "contexts": [{"name": self.key, "context": {"cluster": self.key, "user": "rehearsal"}}],
            "current-context": self.key,
        }

    def _etcd(self) -> list[str]:
        clients, peers = (f"http://127.0.0.1:{port}" for port in (self.ports.etcd, self.ports.etcd_peers))
        return [
            str(self._bin / "etcd"),
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            f"--quota-backend-bytes={4 << 30}",
            "--log-level=warn",
            # Without waiting for the disk: only a crash of the machine can lose a rehearsal's state.
            "--unsafe-no-fsync",
        ]

    def _node_services(self) -> list[str]:
        module = "rehearsal.kubernetes.node_services"
        where = [f"--kubeconfig={self.kubeconfig}", f"--programs={self._bin}", f"--logs={self._logs}"]
        return [sys.executable, "-m", module, *where, f"--kubelets={self.ports.kubelets}"]

    def _agent(self) -> list[str]:
        module = "rehearsal.kubernetes.agent"
        where = [f"--home={self._home.root}", f"--kubeconfig={self.kubeconfig}", f"--logs={self._logs}"]
        return [sys.executable, "-m", module, *where]

    def _api_server(self) -> list[str]:
        return [
            str(self._bin / "kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self.ports.etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports.api_server}",
            f"--advertise-address={ADVERTISED}",
            "--tls-cert-file=server.crt",
            "--tls-private-key-file=server.key",
            f"--tls-sni-cert-key=dns.crt,dns.key:{DNS_NAME}",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--service-account-key-file=service-accounts.key",
            "--service-account-signing-key-file=service-accounts.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-cluster-ip-range={SERVICES}",
            # On in GKE: thanks to it, pods that ask for google.com/tpu tolerate the taint of TPU nodes.
            "--enable-admission-plugins=ExtendedResourceToleration",
            "--egress-selector-config-file=egress.yaml",
            "--allow-privileged=true",
            "--profiling=false",
        ]

    def _controller_manager(self) -> list[str]:
        return [
            str(self._bin / "kube-controller-manager"),
            *self._as_client(),
            "--service-account-private-key-file=service-accounts.key",
            "--root-ca-file=ca.crt",
            f"--node-monitor-grace-period={kwok.NODE_GRACE_SECONDS}s",
            "--profiling=false",
        ]

    def _scheduler(self) -> list[str]:
        return [str(self._bin / "kube-scheduler"), *self._as_client(), "--profiling=false"]

    def _as_client(self) -> list[str]:
        """What the controller manager and the scheduler share: one of each, serving nobody."""
        qps = [f"--kube-api-qps={QPS}", f"--kube-api-burst={BURST}"]
        return [f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--secure-port=0", *qps]

    def _kwok(self) -> list[str]:
        return [
            str(self._bin / "kwok"),
            f"--kubeconfig={self.kubeconfig}",
            f"--config={self.folder / 'kwok.yaml'}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=0",
            *(self._kubelets() if self.runs_pods else []),
        ]

    def _kubelets(self) -> list[str]:
        """kwok answers for all kubelets at one port, to which node_services leads."""
        return [f"--server-address=127.0.0.1:{self.ports.kubelets}", f"--enable-crds={','.join(debugging.KINDS)}"]

    @property
    def _commands(self) -> Path:
        return self.folder / "commands"


def _definitions() -> list[dict[str, Any]]:
    """Definitions that a GKE cluster is born with."""
    folder = resources.files("rehearsal.kubernetes").joinpath("definitions")
    return [yaml.safe_load(file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".yaml")]


def _egress() -> dict[str, Any]:
    """How the API server reaches webhooks by their Services: through the proxy of node_services.

    The socket is relative to the server's working folder, as the path of a socket may have 107 bytes only.
    """
    transport = {"uds": {"udsName": SOCKET}}
    return {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [
            {"name": "cluster", "connection": {"proxyProtocol": "HTTPConnect", "transport": transport}}
        ],
    }
