"""The arrows between the packages point one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MAY_IMPORT = {
    "pathways": set(),
    "components": {"pathways"},
    "cli": {"pathways"},
    "policies": {"pathways"},
    "ci": {"cli", "pathways"},
    "rehearsal": {"pathways"},
}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    foreign = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    for path in (ROOT / package).rglob("*.py"):
        assert imports(path) & foreign == set(), path


def test_the_core_knows_neither_pulumi_nor_the_network() -> None:
    for path in (ROOT / "pathways").rglob("*.py"):
        assert imports(path) & {"pulumi", "pulumi_gcp", "pulumi_kubernetes", "httpx", "requests", "socket"} == set(), (
            path
        )


@pytest.mark.parametrize("package", ["pathways", "components"])
def test_what_runs_against_google_cloud_does_not_know_of_rehearsals(package: str) -> None:
    for path in [*(ROOT / package).rglob("*.py"), ROOT / "__main__.py"]:
        assert "rehears" not in path.read_text("utf-8").lower(), path
