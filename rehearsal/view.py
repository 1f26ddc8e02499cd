"""What a rehearsed stack looks like from the outside: its pods, slice by slice."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pathways.kubeconfig import kubeconfig
from pathways.labels import JOB_INDEX, JOB_SET, REPLICATED_JOB
from rehearsal.errors import RehearsalError
from rehearsal.kubernetes import trouble
from rehearsal.kubernetes.api import Api
from rehearsal.session import Session

# What is the matter with many pods is mostly the same.
_MOST_TROUBLES = 3
POOL_LABEL = "cloud.google.com/gke-nodepool"


@dataclass(frozen=True)
class Pod:
    """A pod of the Pathways JobSet: of which job of its kind, and where in that job."""

    name: str
    job: str
    index: int
    position: int
    phase: str
    node: str
    pool: str
    troubles: tuple[trouble.Trouble, ...] = ()


def clusters(session: Session, project: str) -> list[dict[str, Any]]:
    """The GKE clusters of a rehearsed project, as Google's API answers."""
    url = f"{session.google_url}/container/v1/projects/{project}/locations/-/clusters"
    try:
        answer = httpx.get(url, timeout=10)
    except httpx.TransportError as error:
        raise RehearsalError(f"The Google Cloud double does not answer ({error}). Start it again: make up") from error
    found: list[dict[str, Any]] = answer.json().get("clusters", []) if answer.is_success else []
    return found


def write_kubeconfig(session: Session, cluster: Mapping[str, Any], path: Path) -> None:
    """Write the kubeconfig that leads to a rehearsed cluster."""
    config = kubeconfig(cluster["name"], cluster["endpoint"], cluster["masterAuth"]["clusterCaCertificate"])
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)


def api(session: Session, cluster: Mapping[str, Any]) -> Api:
    """The rehearsed cluster's API server."""
    ca = session.home.root / f"{cluster['name']}.ca.pem"
    ca.write_bytes(base64.b64decode(cluster["masterAuth"]["clusterCaCertificate"]))
    return Api(cluster["endpoint"], ca, session.home.token.read_text().strip())


def pods(api: Api, namespace: str, job_set: str) -> list[Pod]:
    """The pods of a JobSet, by job and index."""
    pool = {
        node["metadata"]["name"]: node["metadata"]["labels"].get(POOL_LABEL, "") for node in api.items("/api/v1/nodes")
    }
    path = f"/api/v1/namespaces/{namespace}/pods"
    found = []
    for item in api.items(path, labelSelector=f"{JOB_SET}={job_set}"):
        labels, node = item["metadata"]["labels"], item["spec"].get("nodeName", "")
        found.append(
            Pod(
                name=item["metadata"]["name"],
                job=labels[REPLICATED_JOB],
                index=int(labels[JOB_INDEX]),
                position=int(labels.get("batch.kubernetes.io/job-completion-index", 0)),
                phase=item["status"]["phase"],
                node=node,
                pool=pool.get(node, ""),
                troubles=tuple(trouble.of_pod(item)),
            )
        )
    return sorted(found, key=lambda pod: (pod.job, pod.index, pod.position))


def show(
    console: Console, outputs: Mapping[str, Any], running: list[Pod], refused: Iterable[trouble.Trouble] = ()
) -> None:
    """Print what a stack amounts to and where each pod runs; `refused`: jobs whose pods the API server refuses."""
    slices, vms = outputs["slices"], outputs["vmsPerSlice"]
    console.print(
        f"\n[bold]{outputs['jobSet']}[/] on {outputs['clusterName']}: {slices} slices of {outputs['instanceType']}, "
        f"{slices * vms} TPU VMs, {outputs['chips']} chips"
    )
    table = Table("job", box=None, pad_edge=False, header_style="bold")
    for heading in ("pod", "node pool", "node", "phase"):
        # A name that was cut could not be copied into a command.
        table.add_column(heading, overflow="fold")
    groups: dict[tuple[str, int], list[Pod]] = defaultdict(list)
    for pod in running:
        groups[pod.job, pod.index].append(pod)
    shown = groups if len(running) <= 64 else dict(list(groups.items())[:8])
    for (job, index), members in shown.items():
        for position, pod in enumerate(members):
            colour = "red" if pod.troubles else "green" if pod.phase in ("Running", "Succeeded") else "yellow"
            table.add_row(
                f"{job} {index}" if position == 0 else "",
                pod.name,
                pod.pool,
                pod.node,
                f"[{colour}]{pod.phase}[/]",
            )
    console.print(table)
    if len(shown) < len(groups):
        rest = [pod for key, members in groups.items() if key not in shown for pod in members]
        up = sum(pod.phase == "Running" for pod in rest)
        console.print(f"… and {len(groups) - len(shown)} more jobs: {up} of their {len(rest)} pods are Running")
    for each in [*refused, *(each for pod in running for each in pod.troubles)][:_MOST_TROUBLES]:
        console.print(f"[red]{escape(str(each))}[/]", soft_wrap=True, highlight=False)
    for what, key in [
        ("proxy", "proxyAddress"),
        ("resource manager", "resourceManagerAddress"),
        ("scratch", "scratchLocation"),
    ]:
        if key in outputs:
            console.print(f"{what:17} {outputs[key]}", soft_wrap=True, highlight=False)


def show_director(console: Console, outputs: Mapping[str, Any]) -> None:
    """Print what a stack on Cluster Director amounts to; its jobs are started by the user."""
    slices, vms = outputs["slices"], outputs["vmsPerSlice"]
    console.print(
        f"\n[bold]{outputs['clusterName']}[/] on Cluster Director: up to {slices} slices of {outputs['instanceType']}, "
        f"{slices * vms} TPU VMs, {outputs['chips']} chips",
        highlight=False,
        soft_wrap=True,
    )
    for what, key in [
        ("scratch", "scratchLocation"),
        ("scripts", "scripts"),
        ("set up", "setupCommand"),
        ("start", "startCommand"),
        ("proxy address", "addressFile"),
    ]:
        if key in outputs:
            console.print(f"{what:17} {outputs[key]}", soft_wrap=True, highlight=False)
    for node in outputs.get("loginNodes") or []:
        console.print(f"{'login node':17} {node}", soft_wrap=True, highlight=False)
