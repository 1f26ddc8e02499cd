"""sbatch with the option --layout, which Google's TPU plugin adds to Slurm."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pathways.geometry import CatalogueError
from pathways.topology import resolve
from rehearsal.slurm.description import ANY_TPU, Description
from rehearsal.slurm.install import program

# What Slurm takes in one --constraint.
_MOST_BLOCKS = 64


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """Check `--layout=GENERATION=SHAPE` against --nodes, and ask plain Slurm for nodes of one block instead."""
    layouts = [argument for argument in arguments if argument.startswith("--layout=")]
    rest = [argument for argument in arguments if argument not in layouts]
    if layouts:
        try:
            rest.insert(0, f"--constraint={_constraint(layouts[-1].removeprefix('--layout='), rest, folder)}")
        except ValueError as error:
            print(f"sbatch: error: {error}", file=sys.stderr)
            return 1
    real = program("sbatch", besides=folder / "bin") or "sbatch"
    os.execve(real, ["sbatch", *rest], {**os.environ, "SLURM_CONF": str(folder / "client.conf")})


def _constraint(layout: str, arguments: list[str], folder: Path) -> str:
    """The blocks on any one of which a slice of that layout may lie. Raises ValueError."""
    generation, _, shape = layout.partition("=")
    try:
        vms = resolve(generation, shape).vms
    except CatalogueError as error:
        raise ValueError(f"Invalid --layout specification: {layout}: {error}") from error
    nodes = [argument.removeprefix("--nodes=") for argument in arguments if argument.startswith("--nodes=")]
    if nodes[-1:] != [str(vms)]:
        raise ValueError(f"--layout={layout} takes {vms} nodes, not {nodes[-1] if nodes else 1}")
    node_sets = Description.load(folder / "cluster.json").node_sets
    matching = [each for each in node_sets if each.tpu in (generation, ANY_TPU)]
    if not matching:
        raise ValueError(f"Invalid --layout specification: this cluster has no {generation}")
    if vms == 1:
        return "|".join(sorted({each.tpu for each in matching if each.tpu}))
    blocks = [block for each in matching for block in each.blocks(vms)]
    if not 0 < len(blocks) <= _MOST_BLOCKS:
        raise ValueError(
            f"--layout={layout}: this cluster has {len(blocks)} blocks of {vms} nodes, the rehearsal uses 1 to {_MOST_BLOCKS}"
        )
    # In brackets, all nodes are to match the same one.
    return f"[{'|'.join(blocks)}]"
