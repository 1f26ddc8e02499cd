"""sbatch with the option --layout, which Google's TPU plugin adds to Slurm."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pathways.geometry import CatalogueError
from pathways.topology import resolve
from rehearsal.slurm.description import Description
from rehearsal.slurm.install import program


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """Check `--layout=GENERATION=SHAPE` against --nodes, and ask plain Slurm for nodes of one block instead."""
    layouts = [argument for argument in arguments if argument.startswith("--layout=")]
    rest = [argument for argument in arguments if argument not in layouts]
    if layouts:
        try:
            rest.insert(0, f"--switches={_switches(layouts[-1].removeprefix('--layout='), rest, folder)}")
        except ValueError as error:
            print(f"sbatch: error: {error}", file=sys.stderr)
            return 1
    real = program("sbatch", besides=folder / "bin") or "sbatch"
    os.execve(real, ["sbatch", *rest], {**os.environ, "SLURM_CONF": str(folder / "client.conf")})


def _switches(layout: str, arguments: list[str], folder: Path) -> int:
    """How many blocks a slice of that layout takes. Raises ValueError."""
    generation, _, shape = layout.partition("=")
    try:
        vms = resolve(generation, shape).vms
    except CatalogueError as error:
        raise ValueError(f"Invalid --layout specification: {layout}: {error}") from error
    nodes = [argument.removeprefix("--nodes=") for argument in arguments if argument.startswith("--nodes=")]
    if nodes[-1:] != [str(vms)]:
        raise ValueError(f"--layout={layout} takes {vms} nodes, not {nodes[-1] if nodes else 1}")
    node_sets = [each for each in Description.load(folder / "cluster.json").node_sets if each.tpu == generation]
    if not node_sets:
        raise ValueError(f"Invalid --layout specification: this cluster has no {generation}")
    return -(-vms // node_sets[0].block)
