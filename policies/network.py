"""Rules on who can reach the Pathways proxy. It has no authentication: whoever reaches it runs code on the slices.

Source: Pathways interactive mode documentation; GKE internal load balancers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from pathways import endpoints
from policies.resources import Resource, Stack, Unknown, entries
from policies.rule import Config, resource_rule, stack_rule

TITLE = "Reaching the proxy"

INTERNAL = ("networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type")
EVERYWHERE = ("0.0.0.0/0", "::/0")
SERVICE = "kubernetes:core/v1:Service"
FIREWALL = "gcp:compute/firewall:Firewall"
FORWARDING = ("gcp:compute/forwardingRule:ForwardingRule", "gcp:compute/globalForwardingRule:GlobalForwardingRule")
INGRESS = ("kubernetes:networking.k8s.io/v1:Ingress",)


@stack_rule(
    "proxy-not-public",
    fix="Use port forwarding, Cloud DNS or an internal load balancer (annotation "
    "networking.gke.io/load-balancer-type: Internal)",
    severity=Severity.CRITICAL,
)
def proxy_not_public(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """The Pathways ports are on no public load balancer."""
    ports = pathways_ports(stack)
    for service in stack.of_type(SERVICE):
        if service.at("spec.type") == "LoadBalancer" and _serves_pathways(service, ports) and not _internal(service):
            yield service, f"Service {_name(service)} puts Pathways on a public load balancer"
    exposed = {_name(service) for service in stack.of_type(SERVICE) if _serves_pathways(service, ports)}
    for ingress in stack.of_type(*INGRESS):
        behind = exposed & set(_backends(ingress.at("spec")))
        if behind and ingress.at("spec.ingressClassName") != "gce-internal" and not _internal_ingress(ingress):
            yield ingress, f"Ingress {_name(ingress)} puts {', '.join(sorted(behind))} on a public load balancer"
    for rule in stack.of_type(*FORWARDING):
        scheme = rule.at("loadBalancingScheme")
        if scheme in (None, "EXTERNAL", "EXTERNAL_MANAGED") and _forwards(rule, ports):
            yield rule, f"forwarding rule {rule.title} puts a Pathways port on a public address"


@resource_rule(
    "proxy-not-open",
    FIREWALL,
    fix="Name the ranges that clients come from in sourceRanges",
    severity=Severity.CRITICAL,
    parameters={
        "ports": {
            "type": "array",
            "items": {"type": "integer"},
            "default": list(endpoints.HEAD_PORTS),
            "description": "Ports on which Pathways listens.",
        }
    },
)
def proxy_not_open(rule: Resource, config: Config) -> Iterator[str]:
    """No firewall rule opens the Pathways ports to every address."""
    open_ports = sorted(_open_ports(rule, {int(port) for port in config["ports"]}))
    if open_ports:
        yield f"firewall rule {rule.title} opens ports {', '.join(map(str, open_ports))} to every address"


def pathways_ports(stack: Stack) -> set[int]:
    """The ports that Pathways listens on: those of the stack's containers, and the usual ones."""
    found = {*endpoints.HEAD_PORTS, endpoints.WORKER_PORT}
    for _, container in stack.containers:
        port = container.port("server_port")
        if port and container.role != "client":
            found.add(port)
    return found


def _serves_pathways(service: Resource, ports: set[int]) -> bool:
    selector = service.at("spec.selector")
    if isinstance(selector, Mapping):
        job = selector.get("jobset.sigs.k8s.io/replicatedjob-name")
        if job == "pathways-head":
            return True
    return any(port.get(key) in ports for port in entries(service.at("spec.ports")) for key in ("port", "targetPort"))


def _internal(service: Resource) -> bool:
    annotations = service.at("metadata.annotations")
    if isinstance(annotations, Unknown):
        return True
    if service.at("spec.loadBalancerClass") == "networking.gke.io/l4-regional-internal":
        return True
    return isinstance(annotations, Mapping) and any(str(annotations.get(key)).lower() == "internal" for key in INTERNAL)


def _internal_ingress(ingress: Resource) -> bool:
    annotations = ingress.at("metadata.annotations")
    return isinstance(annotations, Mapping) and annotations.get("kubernetes.io/ingress.class") == "gce-internal"


def _backends(spec: Any) -> Iterator[str]:
    """Names of the Services that an Ingress sends to, wherever they stand in it."""
    if isinstance(spec, Mapping):
        service = spec.get("service")
        if isinstance(service, Mapping) and isinstance(service.get("name"), str):
            yield service["name"]
        for value in spec.values():
            yield from _backends(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _backends(value)


def _open_ports(rule: Resource, ports: set[int]) -> set[int]:
    sources = rule.at("sourceRanges")
    is_open = isinstance(sources, list) and any(source in EVERYWHERE for source in sources)
    # A rule that names no source at all is for every address.
    is_open = is_open or not any(rule.at(key) for key in ("sourceRanges", "sourceTags", "sourceServiceAccounts"))
    if not is_open or rule.at("disabled") is True or rule.at("direction") not in (None, "INGRESS"):
        return set()
    found: set[int] = set()
    for allowed in entries(rule.at("allows")):
        protocol = str(allowed.get("protocol")).lower()
        if protocol not in ("tcp", "all", "6"):
            continue
        stated = allowed.get("ports")
        found |= {port for port in ports if not stated or any(_within(port, str(each)) for each in stated)}
    return found


def _forwards(rule: Resource, ports: set[int]) -> bool:
    stated = rule.at("portRange")
    several = [stated] if isinstance(stated, str) else rule.at("ports") or []
    return isinstance(several, list) and any(_within(port, str(each)) for port in ports for each in several)


def _within(port: int, stated: str) -> bool:
    low, _, high = stated.partition("-")
    return low.isdigit() and int(low) <= port <= int(high if high.isdigit() else low)


def _name(resource: Resource) -> str:
    name = resource.at("metadata.name")
    return name if isinstance(name, str) else resource.name
