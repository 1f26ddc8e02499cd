"""Whether a Service and the NetworkPolicies beside it let in the same clients, and the pods of the JobSet each other.

No packet of a rehearsal passes a firewall, so what they say is compared with the pods that are there.
Source: Kubernetes documentation, "Network Policies".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from pathways.labels import JOB_SET
from rehearsal.kubernetes.api import Api

Json = dict[str, Any]


def look(api: Api, namespace: str, service: str) -> list[str]:
    """What is wrong with the way to a Service's pods, a sentence each; of a Service that does not exist, that."""
    path = f"/api/v1/namespaces/{namespace}"
    found = api.get(f"{path}/services/{service}")
    if found is None:
        return [f"there is no Service {service}"]
    policies = api.items(f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies")
    return faults(found, policies, api.items(f"{path}/pods"))


def faults(service: Json, policies: Iterable[Json], pods: Iterable[Json]) -> list[str]:
    """The same, of objects as the API has them, all of one namespace."""
    name, selector, everyone = service["metadata"]["name"], service["spec"].get("selector") or {}, list(pods)
    behind = [pod for pod in everyone if selector and selector.items() <= _labels(pod).items()]
    if not behind:
        return [f"Service {name} selects no pod: its selector is {selector}"]
    said = []
    for policy in policies:
        chosen = [pod for pod in everyone if _selects(policy["spec"].get("podSelector") or {}, pod)]
        if not chosen:
            said.append(f"{_name(policy)} selects no pod: its podSelector is {policy['spec'].get('podSelector')}")
        elif "Ingress" not in (types := policy["spec"].get("policyTypes") or ["Ingress"]):
            said.append(f"{_name(policy)} does not limit who connects: its policyTypes are {', '.join(types)}")
        for pod in chosen:
            if pod in behind:
                said += _outside(service, policy, pod)
            said += _inside(policy, pod, everyone)
    return list(dict.fromkeys(said))


def _outside(service: Json, policy: Json, pod: Json) -> Iterator[str]:
    """Whether a pod's policy lets in whom the Service lets in, and nobody else from outside the cluster."""
    own = service["metadata"]["name"]
    traffic = service["spec"].get("externalTrafficPolicy", "Cluster")
    if traffic != "Local":
        yield (
            f"Service {own} has externalTrafficPolicy: {traffic}, so that its clients come from a node's address, which "
            f"{_name(policy)} does not admit; Local keeps their own"
        )
    stated = {IPv4Network(each) for each in service["spec"].get("loadBalancerSourceRanges") or ["0.0.0.0/0"]}
    numbers = set[str]()
    for port in service["spec"].get("ports") or ():
        target, protocol = port.get("targetPort") or port["port"], port.get("protocol", "TCP")
        rules, number = list(_rules(policy, target, protocol)), f"{target}/{protocol}"
        blocks = {IPv4Network(peer["ipBlock"]["cidr"]) for rule in rules for peer in rule if "ipBlock" in peer}
        numbers.add(number)
        for range_ in sorted(stated - blocks):
            yield f"{_name(policy)} does not admit {range_} to port {number} of pod {_of(pod)}, and Service {own} does"
        for range_ in sorted(blocks - stated):
            yield f"{_name(policy)} admits {range_} to port {number} of pod {_of(pod)}, and Service {own} does not"
    for rule in policy["spec"].get("ingress") or ():
        if any("ipBlock" in peer for peer in rule.get("from") or ()):
            admitted = {f"{each.get('port')}/{each.get('protocol', 'TCP')}" for each in rule.get("ports") or ()}
            for more in sorted(admitted - numbers) if admitted else ["every port"]:
                yield (
                    f"{_name(policy)} admits clients from outside to {more} of pod {_of(pod)}, and Service {own} has "
                    f"the ports {', '.join(sorted(numbers))}"
                )


def _inside(policy: Json, pod: Json, everyone: Iterable[Json]) -> Iterator[str]:
    """Whether the pods of a pod's JobSet reach the ports that it declares."""
    job_set = _labels(pod).get(JOB_SET)
    others = [other for other in everyone if _labels(other).get(JOB_SET) == job_set]
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    for port in [port for container in containers for port in container.get("ports") or ()]:
        protocol = port.get("protocol", "TCP")
        number, rules = f"{port['containerPort']}/{protocol}", list(_rules(policy, port["containerPort"], protocol))
        peers = [peer["podSelector"] for rule in rules for peer in rule if "podSelector" in peer]
        if any(not any(_selects(peer, other) for peer in peers) for other in others):
            yield f"{_name(policy)} does not admit the pods of JobSet {job_set} to port {number} of pod {_of(pod)}"


def _rules(policy: Json, port: int | str, protocol: str) -> Iterator[list[Json]]:
    """The peers of each rule that is about a port."""
    for rule in policy["spec"].get("ingress") or ():
        ports = rule.get("ports")
        if not ports or any(each.get("port") == port and each.get("protocol", "TCP") == protocol for each in ports):
            yield rule.get("from") or []


def _selects(selector: Mapping[str, Any], pod: Json) -> bool:
    """Of the stack's selectors none has expressions."""
    return (selector.get("matchLabels") or {}).items() <= _labels(pod).items()


def _labels(pod: Json) -> dict[str, str]:
    return pod["metadata"].get("labels") or {}


def _name(policy: Json) -> str:
    return f"NetworkPolicy {policy['metadata']['name']}"


def _of(pod: Json) -> str:
    return str(pod["metadata"]["name"])
