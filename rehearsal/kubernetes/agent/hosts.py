"""Names that pods resolve: those of headless Services and of the pods behind them, in each pod's own hosts file.

Source: Kubernetes documentation, "DNS for Services and Pods".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rehearsal.kubernetes.agent.addresses import Loopback

Json = dict[str, Any]
DOMAIN = "cluster.local"


def own_names(pod: Json, node: Json, address: str) -> str:
    """The head of a pod's hosts file: itself."""
    return f"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n{address}\t{host_name(pod, node)}\n"


def host_name(pod: Json, node: Json) -> str:
    """What `hostname` prints in the pod."""
    if pod["spec"].get("hostNetwork"):
        return str(node["metadata"]["name"])
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])


def resolves_cluster_names(pod: Json) -> bool:
    """Whether a pod asks the cluster's DNS. On its node's network, ClusterFirst means the node's own DNS."""
    policy = pod["spec"].get("dnsPolicy", "ClusterFirst")
    return policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not pod["spec"].get("hostNetwork"))


def cluster_names(namespace: str, services: Iterable[Json], pods: Iterable[Json], loopback: Loopback) -> str:
    """Lines of a hosts file for the pods of a namespace: a pod's name in its headless Service, and that Service's."""
    members = [pod for pod in pods if pod["metadata"]["namespace"] == namespace and pod["status"].get("podIP")]
    lines: list[str] = []
    for service in services:
        if service["metadata"]["namespace"] != namespace or service["spec"].get("clusterIP") != "None":
            continue
        selector = service["spec"].get("selector") or {}
        for pod in members:
            labels = pod["metadata"].get("labels") or {}
            if not selector or not selector.items() <= labels.items() or not _published(pod, service["spec"]):
                continue
            name = service["metadata"]["name"]
            names = _forms(name, namespace)
            if pod["spec"].get("subdomain") == name and pod["spec"].get("hostname"):
                names = [*_forms(f"{pod['spec']['hostname']}.{name}", namespace), *names]
            lines.append(f"{loopback.of(pod['status']['podIP'])}\t{' '.join(names)}\n")
    return "".join(sorted(lines))


def resolver(namespace: str, nobody: str) -> str:
    """A pod's resolv.conf: what is not in its hosts file does not exist, and that is known at once."""
    search = " ".join([f"{namespace}.svc.{DOMAIN}", f"svc.{DOMAIN}", DOMAIN])
    return f"search {search}\nnameserver {nobody}\noptions ndots:5 attempts:1\n"


def _forms(name: str, namespace: str) -> list[str]:
    """A name as it stands, and with what the search path of resolv.conf would add."""
    return [f"{name}.{namespace}.svc.{DOMAIN}", f"{name}.{namespace}.svc", f"{name}.{namespace}", name]


def _published(pod: Json, service: Mapping[str, Any]) -> bool:
    conditions = pod["status"].get("conditions") or ()
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready or bool(service.get("publishNotReadyAddresses"))
