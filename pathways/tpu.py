"""TPU generations and machine types by any name a person may write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

from pathways.catalogue import Catalogue, Generation, MachineType, by_size, load
from pathways.geometry import CatalogueError, Topology, count

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Generation",
    "MachineType",
    "catalogue",
    "default_machine_type",
    "generation",
    "machine_type",
    "machine_types_for",
]


@cache
def catalogue() -> Catalogue:
    """The catalogue of tpu.yaml, read once and checked."""
    return load(resources.files("pathways").joinpath("tpu.yaml").read_text("utf-8"))


def generation(name: str) -> Generation:
    """The generation of that name or alias (any case). Raises CatalogueError that says what was meant."""
    found = _by_alias(name.strip().lower())
    if found is None:
        raise _accelerator_fault(name)
    return found


def machine_type(name: str) -> MachineType:
    """The TPU machine type of that name. Raises CatalogueError with the nearest names."""
    known = catalogue().machine_types
    if name not in known:
        same_series = [other for other in known if name and other.startswith(name)]
        fix = _did_you_mean(same_series or difflib.get_close_matches(name, known, n=3), known)
        raise CatalogueError(f'"{name}" is not a TPU machine type.', fix, "machineType")
    return known[name]


def machine_types_for(generation: Generation, topology: Topology) -> tuple[MachineType, ...]:
    """The machine types that offer this topology, fewest chips per VM first; Pathways may not support all."""
    offering = [machine for machine in generation.machine_types if topology in machine.topologies]
    return tuple(sorted(offering, key=lambda machine: machine.chips_per_vm))


def default_machine_type(generation: Generation, topology: Topology) -> MachineType | None:
    """The machine type used when none is named, None if Pathways can use none.

    Where several offer the topology (v5e and v6e 2x4), it is the one with the fewest chips per VM, thus the
    multi-host one: two ct6e-standard-4t and not one ct6e-standard-8t.
    """
    usable = (machine for machine in machine_types_for(generation, topology) if machine.supports_pathways)
    return next(usable, None)


def _by_alias(name: str) -> Generation | None:
    for candidate in catalogue().generations.values():
        if name == candidate.name or name in candidate.aliases:
            return candidate
    return None


def _accelerator_fault(name: str) -> CatalogueError:
    """What the user probably meant by a name that is no generation."""
    wanted = name.strip().lower()
    compound = re.fullmatch(r"(.+)[-:]([0-9]{1,6}|[0-9]+(?:x[0-9]+)+)", wanted)
    for candidate in catalogue().generations.values():
        names = {candidate.name, candidate.accelerator_type, *candidate.aliases}
        prefixes = {machine.pathways_prefix for machine in candidate.machine_types}
        if compound and compound[1] in names | prefixes:
            if compound[2].isdigit():
                return _counted_fault(wanted, candidate, int(compound[2]))
            fix = f"Write accelerator: {candidate.name} and topology: {compound[2]}."
            return CatalogueError(f'"{name}" names a generation and a topology.', fix, "accelerator")
        if wanted == candidate.gke_label:
            message = f'"{name}" is the GKE node label of {candidate.name}.'
            return CatalogueError(message, f"Write accelerator: {candidate.name}.", "accelerator")
        for machine in candidate.machine_types:
            if wanted in {machine.name, machine.pathways_prefix}:
                kind = "a machine type" if wanted == machine.name else "a Pathways instance type"
                fix = f"Write accelerator: {candidate.name} and machineType: {machine.name}."
                return CatalogueError(f'"{name}" is {kind} of {candidate.name}.', fix, "accelerator")
    return CatalogueError(f'"{name}" is not a TPU generation.', _nearest_generations(wanted), "accelerator")


def _nearest_generations(name: str) -> str:
    """A fix for a mistyped generation: those whose name or alias is near, or all of them."""
    public = [candidate for candidate in catalogue().generations.values() if not candidate.experimental]
    spellings = {spelling: each.name for each in public for spelling in (each.name, *each.aliases)}
    near = difflib.get_close_matches(name, spellings, n=3)
    meant = dict.fromkeys(spellings[spelling] for spelling in near)
    return _did_you_mean(meant, [each.name for each in public])


def _did_you_mean(near: Iterable[str], known: Iterable[str]) -> str:
    choices = " or ".join(near)
    return f"Did you mean {choices}?" if choices else f"Known: {', '.join(known)}."


def _counted_fault(name: str, generation: Generation, cores: int) -> CatalogueError:
    """The fault of writing an accelerator type such as v5p-16, which counts TensorCores, for a generation."""
    chips = cores / generation.tensorcores_per_chip
    meaning = f"{name} counts TensorCores: {count(chips, 'chip')}"
    fitting = " or ".join(str(topology) for topology in generation.topologies if topology.chips == chips)
    if fitting:
        fix = f"Write accelerator: {generation.name} and topology: {fitting}."
        return CatalogueError(f"{meaning}, topology {fitting}.", fix, "accelerator")
    nearest = sorted(generation.topologies, key=lambda topology: abs(topology.chips - chips))[:3]
    choices = ", ".join(f"{each} ({count(each.chips, 'chip')})" for each in sorted(nearest, key=by_size))
    message = f"{meaning}, and no {generation.name} topology has {count(chips, 'chip')}."
    fix = f"Write accelerator: {generation.name} and one of {choices}."
    return CatalogueError(message, fix, "accelerator")
