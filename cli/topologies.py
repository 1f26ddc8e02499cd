"""`pathways topologies`: which slices there are, and what each amounts to."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from pathways import tpu
from pathways.geometry import CatalogueError, count
from pathways.topology import SliceShape
from pathways.versions import minimum_gke


def command(
    accelerator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="TPU generation: v4, v5e, v5p, v6e, tpu7x or another name of one.",
            autocompletion=lambda: [name for name, each in tpu.catalogue().generations.items() if _is_public(each)],
        ),
    ] = None,
    machine_type: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="TPU machine type, such as ct6e-standard-4t.",
            autocompletion=lambda: list(tpu.catalogue().machine_types),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every slice as a JSON list, for programs.")] = False,
) -> None:
    """List the TPU slices: chips, VMs, instance type.

    Without options it names the machine types, with --accelerator or --machine-type their topologies.
    """
    machines = _chosen(accelerator, machine_type)
    # A pipe or file has no width: nothing is to be cut there.
    console = Console() if Console().is_terminal else Console(width=200)
    if as_json:
        typer.echo(json.dumps([_as_json(shape) for machine in machines for shape in _shapes(machine)], indent=2))
    elif accelerator or machine_type:
        for machine in machines:
            console.print(_title(machine))
            console.print(_topologies(machine))
        for note in _notes(machines):
            console.print(note)
    else:
        console.print(_overview(machines))
        console.print("List the topologies of one with [bold]--accelerator NAME[/].")


def _is_public(generation: tpu.Generation) -> bool:
    return not generation.experimental


def _chosen(accelerator: str | None, machine_type: str | None) -> list[tpu.MachineType]:
    """The machine types that both options leave. Experimental generations only when named."""
    generations = list(filter(_is_public, tpu.catalogue().generations.values()))
    option = "--accelerator"
    try:
        if accelerator is not None:
            generations = [tpu.generation(accelerator)]
        if machine_type is None:
            return [machine for generation in generations for machine in generation.machine_types]
        option = "--machine-type"
        machine = tpu.machine_type(machine_type)
        if accelerator is not None and machine.generation != generations[0].name:
            message = f"{machine.name} is a machine type of {machine.generation}, not of {generations[0].name}."
            raise CatalogueError(message, "Leave one of the two options out.")
    except CatalogueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    return [machine]


def _shapes(machine: tpu.MachineType) -> list[SliceShape]:
    generation = tpu.catalogue().generations[machine.generation]
    return [SliceShape(generation, machine, topology) for topology in machine.topologies]


def _overview(machines: list[tpu.MachineType]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("Accelerator", "Machine type"):
        table.add_column(heading, no_wrap=True)
    for heading in ("Chips/VM", "Topologies", "Chips"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Pathways", no_wrap=True)
    for name, group in groupby(machines, key=lambda machine: machine.generation):
        for machine in group:
            offered = machine.topologies
            sizes = dict.fromkeys(f"{each.chips:,}" for each in (offered[0], offered[-1])) if offered else ()
            table.add_row(
                name,
                machine.name,
                str(machine.chips_per_vm),
                str(len(offered)),
                " to ".join(sizes),
                machine.pathways_prefix or "[dim]no[/]",
            )
        table.add_section()
    return table


def _title(machine: tpu.MachineType) -> str:
    generation = tpu.catalogue().generations[machine.generation]
    facts = [f"{count(machine.chips_per_vm, 'chip')} per VM"]
    if machine.vcpus and machine.memory_gib:
        facts.append(f"{machine.vcpus} vCPUs and {machine.memory_gib:,} GiB")
    facts.append(f"node label {generation.gke_label}")
    if any(machine.vms(topology) > 1 for topology in machine.topologies):
        facts.append(f"placement {generation.multi_host_placement} from 2 VMs on")
    aliases = f" ({', '.join(generation.aliases)})" if generation.aliases else ""
    return f"[bold]{generation.name}[/]{aliases} on [bold]{machine.name}[/]: {'; '.join(facts)}"


def _topologies(machine: tpu.MachineType) -> RenderableType:
    if not machine.topologies:
        return "No topology is known for it.\n"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("Topology", no_wrap=True)
    for heading in ("Chips", "VMs", "Hosts"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("Instance type", "Also called"):
        table.add_column(heading, no_wrap=True)
    for shape in _shapes(machine):
        table.add_row(
            str(shape.topology),
            f"{shape.chips:,}",
            f"{shape.vms:,}",
            shape.host_bounds.replace(",", "x"),
            shape.instance_type if machine.supports_pathways else "[dim]not with Pathways[/]",
            shape.accelerator_type,
        )
    return table


def _notes(machines: list[tpu.MachineType]) -> list[str]:
    """What holds for a generation as a whole, and what the table cannot show."""
    generation = tpu.catalogue().generations[machines[0].generation]
    least = minimum_gke(generation)
    notes = [f"GKE {least.version} or newer ({least.because})."]
    if generation.zones:
        notes.append(f"Zones: {', '.join(generation.zones + generation.zones_to_confirm)}.")
    if generation.documented_largest and any(shape.beyond_documented for each in machines for shape in _shapes(each)):
        notes.append(f"Google documents slices up to {generation.documented_largest} as schedulable.")
    if generation.experimental:
        notes.append("Not documented by Google.")
    for topology in dict.fromkeys(topology for machine in machines for topology in machine.topologies):
        offering = [each for each in tpu.machine_types_for(generation, topology) if each.supports_pathways]
        if len(offering) > 1:
            default, *others = (each.name for each in offering)
            notes.append(f"{topology} is on {default} unless machineType names {' or '.join(others)}.")
    return notes


def _as_json(shape: SliceShape) -> dict[str, Any]:
    default = tpu.default_machine_type(shape.generation, shape.topology)
    return {
        "accelerator": shape.generation.name,
        "machineType": shape.machine_type.name,
        "topology": str(shape.topology),
        "chips": shape.chips,
        "tensorCores": shape.tensorcores,
        "chipsPerVm": shape.chips_per_vm,
        "vms": shape.vms,
        "hostKind": shape.host_kind,
        "hostBounds": shape.host_bounds,
        "chipsPerHostBounds": shape.chips_per_host_bounds,
        "placement": shape.placement,
        "acceleratorType": shape.accelerator_type,
        "instanceType": shape.instance_type if shape.machine_type.supports_pathways else None,
        "default": default == shape.machine_type,
    }
