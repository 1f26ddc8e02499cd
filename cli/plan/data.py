"""Everything that is derived from a stack file, as plain data. The other forms are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from pathways import manifests, quotas, versions
from pathways.faults import Fault
from pathways.node_pools import NodePool, TpuPool
from pathways.plan import NODE_ROLES, SERVICES, Plan

Data = dict[str, Any]


def describe(plan: Plan, warnings: Iterable[Fault] = ()) -> Data:
    """The plan by subject; keys in camelCase, as in a stack file."""
    settings = plan.settings
    return {
        "stack": settings.stack,
        "project": settings.project,
        "region": settings.region,
        "mode": settings.workload.mode,
        "slices": _slices(plan),
        "totals": _totals(plan),
        "nodePools": [_pool(pool) for pool in (plan.head_pool, *plan.tpu_pools)],
        "containers": list(containers(plan)),
        "addresses": _addresses(plan),
        "names": _names(plan),
        "network": _network(plan),
        "scratch": _camel(asdict(plan.scratch)),
        "permissions": _permissions(plan),
        "quotas": [_camel(asdict(quota)) for quota in quotas.of(plan)],
        "services": list(SERVICES),
        "versions": _versions(plan),
        "manifests": [_reference(manifest) for manifest in manifests.of(plan)],
        "warnings": [asdict(warning) for warning in warnings],
    }


def containers(plan: Plan) -> Iterator[Data]:
    """What runs, as the manifests state it; `copies` is how many there are in all."""
    for job in plan.job_set["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]
        yield from _of_pod(template["template"]["spec"], job["name"], job["replicas"] * template["completions"])
    for manifest in manifests.of_client(plan):
        yield from _of_pod(manifest["spec"]["template"]["spec"], "each client's own", 1)


def _of_pod(pod: Mapping[str, Any], job: str, copies: int) -> Iterator[Data]:
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        yield {
            "job": job,
            "name": container["name"],
            "copies": copies,
            "image": container["image"],
            "command": container.get("command", []),
            "args": container.get("args", []),
            "ports": [port["containerPort"] for port in container.get("ports", [])],
            "limits": container.get("resources", {}).get("limits", {}),
        }


def _slices(plan: Plan) -> Data:
    shape, asked = plan.shape, plan.settings.slices
    return {
        "count": asked.count,
        "accelerator": shape.generation.name,
        "topology": str(shape.topology),
        "machineType": shape.machine_type.name,
        "instanceType": shape.instance_type,
        "acceleratorType": shape.accelerator_type,
        "zone": asked.zone,
        "capacity": asked.capacity.type,
        "chips": shape.chips,
        "vms": shape.vms,
        "chipsPerVm": shape.chips_per_vm,
        "hostBounds": shape.host_bounds,
        "hostKind": shape.host_kind,
        "placement": shape.placement,
    }


def _totals(plan: Plan) -> Data:
    count, heads = plan.settings.slices.count, plan.head_pool.nodes
    return {
        "slices": count,
        "chips": count * plan.shape.chips,
        "tpuVms": count * plan.shape.vms,
        "headVms": heads,
        "nodes": count * plan.shape.vms + heads,
        "nodePools": len(plan.tpu_pools) + 1,
        # A proxy takes its node's port, so a node of the head pool serves one client of a shared service.
        "clientsAtOnce": heads if plan.settings.workload.mode == "service" else 1,
    }


def _pool(pool: NodePool) -> Data:
    data: Data = {
        "name": pool.name,
        "machineType": pool.machine_type,
        "nodes": pool.nodes,
        "zone": pool.zone,
        "maxPodsPerNode": pool.max_pods_per_node,
        "labels": dict(pool.labels),
    }
    if isinstance(pool, TpuPool):
        data |= {
            "topology": pool.topology,
            "placement": pool.placement,
            "autoscaled": pool.autoscaled,
            "spot": pool.spot,
            "reservation": _camel(asdict(pool.reservation)),
            "flexStart": _camel(asdict(pool.flex_start)) if pool.flex_start else None,
            "protected": pool.protected,
            "secondNetwork": pool.second_network,
            "dranet": pool.dranet,
        }
    return data


def _addresses(plan: Plan) -> Data:
    balancer = plan.settings.reach.load_balancer
    return {
        **_camel(asdict(plan.endpoints)),
        "loadBalancer": {"allowedRanges": balancer.allowed_ranges, "globalAccess": balancer.global_access}
        if balancer
        else None,
    }


def _network(plan: Plan) -> Data:
    network, cluster = plan.settings.network, plan.settings.cluster
    if cluster.existing:
        return {"ofCluster": cluster.existing}
    reach = {"privateEndpoint": cluster.private_endpoint, "dnsEndpoint": cluster.dns_endpoint}
    second = {"second": network.second} if network.second else {}
    if network.existing:
        return {"existing": network.existing, "existingSubnetwork": network.existing_subnetwork, **second, **reach}
    ranges = {"nodeRange": network.node_range, "podRange": network.pod_range, "serviceRange": network.service_range}
    return {**ranges, **second, "mtu": network.mtu, **reach}


def _permissions(plan: Plan) -> list[Data]:
    member = f"serviceAccount:{plan.names.service_account}@{plan.settings.project}.iam.gserviceaccount.com"
    bucket, project = f"bucket {plan.scratch.name}", f"project {plan.settings.project}"
    granted = [(role, project) for role in NODE_ROLES] + [(role, bucket) for role in plan.scratch.roles]
    permissions: list[Data] = [{"member": member, "role": role, "on": where} for role, where in granted]
    if plan.scratch.permissions:
        role = f"projects/{plan.settings.project}/roles/{plan.names.scratch_role}"
        holds = list(plan.scratch.permissions)
        permissions.append({"member": member, "role": role, "on": bucket, "permissions": holds})
    return permissions


def _versions(plan: Plan) -> Data:
    settings, least, own = plan.settings, versions.least_gke(plan.settings), "the cluster's own"
    cluster, jobset, kueue = settings.cluster, settings.jobset, settings.kueue
    return {
        "jax": settings.runtime.jax,
        "gke": own if cluster.existing else cluster.version or f"{cluster.release_channel} channel",
        "gkeAtLeast": str(least.version),
        "gkeAtLeastBecause": least.because,
        "jobset": (jobset.version or jobset.chart) if jobset.install else own,
        "kueue": ((kueue.version or kueue.chart) if kueue.install else own) if kueue.enabled else None,
    }


def _names(plan: Plan) -> Data:
    """Names of what the stack creates, and of the cluster and the bucket in any case."""
    settings, absent = plan.settings, set()
    if settings.cluster.existing or settings.network.existing:
        absent |= {"network", "subnetwork", "router", "nat"}
    if settings.cluster.existing or settings.network.second is None:
        absent |= {"second_network"}
    if plan.shape.placement != "workload_policy":
        absent |= {"workload_policy"}
    if not plan.scratch.permissions:
        absent |= {"scratch_role"}
    return _camel({key: value for key, value in asdict(plan.names).items() if key not in absent})


def _reference(manifest: Mapping[str, Any]) -> Data:
    metadata = manifest["metadata"]
    return {"kind": manifest["kind"], "namespace": metadata.get("namespace"), "name": metadata["name"]}


def _camel(values: Mapping[str, Any]) -> Data:
    return {to_camel(key): list(value) if isinstance(value, tuple) else value for key, value in values.items()}
