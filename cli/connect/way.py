"""Which way leads to the proxy: its load balancer, or a port-forward to its pod."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from cli.cloud.errors import CloudError
from cli.cloud.stack import Deployed, place
from cli.connect import forward
from pathways import containers, endpoints, names
from pathways.plan import Plan


def refuse(plan: Plan) -> None:
    """Raises CloudError for a stack whose proxy is not for a client from outside."""
    stack = plan.settings.stack
    if plan.settings.workload.mode == "batch":
        raise CloudError(
            "refused",
            f"{stack} runs a batch client, and Pathways serves one client at a time",
            f"pathways logs client -s {stack} shows what it does; or write pathways:workload.mode: interactive",
        )


def balancer(deployed: Deployed) -> str:
    """IP address of the internal load balancer of a stack that has one. Raises CloudError where it has no address."""
    service = deployed.plan.proxy_service
    assert service is not None
    name = service["metadata"]["name"]
    found = deployed.kubernetes.get(f"/api/v1/namespaces/{deployed.namespace}/services/{name}")
    given = ((found or {}).get("status", {}).get("loadBalancer") or {}).get("ingress") or []
    if not given:
        fix = f"wait a minute; kubectl describe service {name} -n {deployed.namespace} says what it waits for"
        raise CloudError("missing", f"the load balancer {name} has no address yet", fix)
    return str(given[0]["ip"])


def variables(host: str, port: int = endpoints.PROXY_PORT) -> dict[str, str]:
    """What the client finds in its environment; what this process's own says about TLS stays."""
    derived = containers.client_variables(host, port)
    name = containers.INSECURE_VARIABLE
    return {**derived, name: os.environ.get(name, derived[name])}


def head_pod(deployed: Deployed) -> str:
    """The head's pod, which must run. Raises CloudError."""
    heads = [pod for pod in deployed.pods() if place(pod)[0] == names.HEAD_JOB]
    running = [pod["metadata"]["name"] for pod in heads if pod.get("status", {}).get("phase") == "Running"]
    if not running:
        what = f"the head's pod is {heads[0].get('status', {}).get('phase')}" if heads else "there is no head's pod"
        raise CloudError("missing", what, f"pathways status -s {deployed.plan.settings.stack} says why")
    return str(running[0])


@contextlib.contextmanager
def open_way(deployed: Deployed, pod: str, port: int) -> Iterator[dict[str, str]]:
    """Hold a port-forward to the proxy in a pod open; yields the client's variables. Raises CloudError."""
    with forward.forwarded(forward.dial_pod(deployed, pod, endpoints.PROXY_PORT), port) as bound:
        yield variables("127.0.0.1", bound)
