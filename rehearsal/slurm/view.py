"""What a rehearsed Slurm cluster looks like to its user: partitions, nodes, jobs and the proxy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from rehearsal.slurm import service
from rehearsal.slurm.cluster import SlurmCluster

# Of more nodes, only those that run are listed.
_MOST_NODES = 32


def show(console: Console, cluster: SlurmCluster, outputs: Mapping[str, Any]) -> None:
    """Print partitions, nodes, jobs and where clients connect."""
    description, states, running = cluster.description, cluster.states(), set(cluster.nodes.running())
    partitions = _table("partition", "nodes", "states")
    for partition in description.partitions:
        members = [node for name in partition.node_sets for node in description.members(description.node_set(name))]
        counted = Counter(states.get(node.name, "unknown") for node in members)
        default = " (default)" if partition.name == description.default_partition else ""
        partitions.add_row(
            f"{partition.name}{default}",
            str(len(members)),
            ", ".join(f"{count} {state}" for state, count in sorted(counted.items())),
        )
    console.print(partitions)

    nodes, shown = _table("node", "address", "comes", "state"), list(description.nodes())
    if len(shown) > _MOST_NODES:
        shown = [node for node in shown if node.name in running]
    for node in shown:
        nodes.add_row(node.name, node.address, "with jobs" if node.dynamic else "always", states.get(node.name, ""))
    console.print(nodes)

    queue = _table("job", "name", "state", "nodes")
    for job in service.jobs(cluster):
        colour = "green" if job.state == "RUNNING" else "yellow"
        queue.add_row(job.id, job.name, f"[{colour}]{job.state}[/]", job.nodes or f"({job.reason})")
    console.print(queue if queue.row_count else "No job is in the queue.")
    proxy = service.address(cluster, outputs)
    known = f"{proxy}, as {outputs['addressFile']} says" if proxy else f"none: there is no {outputs['addressFile']}"
    console.print(f"{'proxy':17} {known}", soft_wrap=True, highlight=False)


def next_steps(stack: str, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a user may type now, and what it does."""
    scripts, login = outputs["scripts"], f"python -m rehearsal login {stack}"
    return [
        (login, "a shell on the login node, with the real sinfo, squeue, sbatch and scancel"),
        (f"{login} sbatch {scripts}/run_maxtext.sh steps=20", "a client in a job of its own"),
        (f"{login} bash {scripts}/run_client.sh env", "any command with the proxy's address"),
    ]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        # A name that was cut could not be copied into a command.
        table.add_column(heading, overflow="fold")
    return table
