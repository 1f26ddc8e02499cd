"""Stacks on Cluster Director, in the forms of `pathways plan` and `pathways render`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import stacks
from pathways.director import plan as director
from pathways.director.plan import DirectorPlan
from pathways.faults import Fault
from pathways.geometry import count

Data = dict[str, Any]


def describe(plan: DirectorPlan, warnings: Iterable[Fault] = ()) -> Data:
    """Everything that is derived from the stack file."""
    settings, shape = plan.settings, plan.shape
    return {
        "stack": settings.stack,
        "platform": settings.platform,
        "project": settings.project,
        "region": settings.region,
        "slices": {
            "count": settings.slices.count,
            "topology": str(shape.topology),
            "instanceType": shape.instance_type,
            "machineType": shape.machine_type.name,
            "vms": shape.vms,
            "chips": shape.chips,
            "zone": settings.slices.zone,
            "capacity": settings.slices.capacity.type,
        },
        "outputs": director.outputs(plan),
        "network": plan.network,
        "ports": list(plan.ports),
        "scratch": asdict(plan.scratch),
        "services": list(plan.services),
        "cluster": dict(plan.cluster),
        "scripts": {"version": plan.scripts_version, "files": list(plan.scripts)},
        "warnings": [asdict(warning) for warning in warnings],
    }


def show(console: Console, data: Data) -> None:
    """The plan as a person reads it in a terminal."""
    slices, outputs = data["slices"], data["outputs"]
    amount = f"{count(slices['count'], 'slice')} of {slices['instanceType']}"
    console.print(
        Text.assemble(
            (data["stack"], "bold"),
            f": {amount}, {count(slices['count'] * slices['vms'], 'TPU VM')}, ",
            (count(outputs["chips"], "chip"), "bold green"),
            f", Slurm cluster {outputs['clusterName']} in {slices['zone']} of project {data['project']}",
        )
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Node set", "Nodes", "Compute resource", "Partition"):
        table.add_column(heading)
    slurm = data["cluster"]["orchestrator"]["slurm"]
    partitions = {id: each["id"] for each in slurm["partitions"] for id in each["node_set_ids"]}
    for each in slurm["node_sets"]:
        static, dynamic = each.get("static_node_count", "0"), each.get("max_dynamic_node_count", "0")
        nodes = f"{static} always" if static != "0" else f"up to {dynamic}, with jobs"
        table.add_row(each["id"], nodes, each["compute_id"], partitions[each["id"]])
    console.print(table)
    for label, key in [
        ("Scratch", "scratchLocation"),
        ("Once per user", "setupCommand"),
        ("Start the service", "startCommand"),
        ("Its address then", "addressFile"),
        ("Scripts' version", "scriptsVersion"),
    ]:
        console.print(f"{label + ':':<20}{outputs[key]}", highlight=False)
    stacks.warn([Fault(**warning) for warning in data["warnings"]])


def scripts(plan: DirectorPlan) -> str:
    """Every script, one after the other, each under its name."""
    return "".join(f"#### {name}\n{text}\n" for name, text in plan.scripts.items())
