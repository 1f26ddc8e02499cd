"""What is built for the shipped stack of Cluster Director. `UPDATE_GOLDEN=1` writes the files anew."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import yaml

from pathways import stackfile
from pathways.director import plan

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"


def same(path: Path, made: str) -> bool:
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made, "utf-8")
    return path.exists() and path.read_text("utf-8") == made


def test_the_shipped_stack_is_built_as_reviewed() -> None:
    settings, warnings = stackfile.from_file(ROOT / "stacks" / "Pulumi.slurm-v6e.yaml")
    assert warnings == []
    made = plan.make(settings)
    cluster = yaml.safe_dump(json.loads(json.dumps(made.cluster)), sort_keys=False, width=120)
    assert same(GOLDEN / "slurm-v6e.cluster.yaml", cluster)
    assert same(GOLDEN / "slurm-v6e.settings.sh", made.scripts["settings.sh"])


def test_the_firewall_opens_the_ports_that_the_servers_bind() -> None:
    settings, _ = stackfile.from_file(ROOT / "stacks" / "Pulumi.slurm-v6e.yaml")
    made = plan.make(settings)
    bound = {int(port) for script in made.scripts.values() for port in re.findall(r"--server_port=(\d+)", script)}
    assert bound == set(made.ports)
