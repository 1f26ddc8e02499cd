"""A client's own IFRT proxy, for the mode in which many clients share one resource manager and its workers.

Source: pathways-utils, shared Pathways service (a Job per client, virtual slices, sizes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathways import containers, endpoints, images, labels, names
from pathways.settings import Settings
from pathways.topology import SliceShape


@dataclass(frozen=True)
class Client:
    """A client of a shared service: a name apart from other clients', and how many slices it uses, None for all."""

    name: str = "client"
    slices: int | None = None


def manifest(settings: Settings, shape: SliceShape, scratch: str, client: Client) -> dict[str, Any]:
    """The Job that a client creates for itself.

    It runs on the head pool. Its port is one of the node's, so each node holds one such proxy.
    """
    workload, runtime = settings.workload, settings.runtime
    head = names.coordinator(workload.name, workload.subdomain)
    variables = containers.environment([], runtime.proxy.env)
    slices = ",".join([shape.instance_type] * (client.slices or settings.slices.count))
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": names.proxy_job(workload.name, client.name), "namespace": workload.namespace},
        "spec": {
            # A client cannot go on with a proxy that has lost its session.
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "template": {
                "metadata": {"labels": {"app.kubernetes.io/name": "pathways-proxy"}},
                "spec": {
                    "nodeSelector": labels.of_head_nodes(),
                    "restartPolicy": "Never",
                    "hostNetwork": True,
                    "dnsPolicy": "ClusterFirstWithHostNet",
                    "automountServiceAccountToken": False,
                    **({"priorityClassName": workload.priority_class} if workload.priority_class else {}),
                    **({"serviceAccountName": workload.service_account} if workload.service_account else {}),
                    "containers": [
                        {
                            "name": "pathways-proxy",
                            "image": images.proxy_server(runtime),
                            "imagePullPolicy": "Always",
                            **({"env": variables} if variables else {}),
                            "args": [
                                *containers.proxy_arguments(settings, scratch, head),
                                f"--virtual_slices={slices}",
                            ],
                            "ports": [{"containerPort": endpoints.PROXY_PORT, "protocol": "TCP"}],
                            "resources": containers.PROXY_LIMITS.resources(),
                        }
                    ],
                },
            },
        },
    }
