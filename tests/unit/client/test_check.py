"""The client check asks for the variables without which no JAX program reaches Pathways, before JAX is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pathways import containers
from rehearsal.client import CHECK

GIVEN = containers.client_variables("127.0.0.1")


def check(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(CHECK), "--slices=1", "--devices=4"]
    return subprocess.run(argv, env=variables, check=False, text=True, capture_output=True)


@pytest.mark.parametrize("variable", sorted(GIVEN))
def test_a_variable_that_is_missing_is_named(variable: str) -> None:
    done = check({name: value for name, value in GIVEN.items() if name != variable})
    assert (done.returncode, variable in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [("JAX_BACKEND_TARGET", "grpc://:29000"), ("JAX_BACKEND_TARGET", "grpc://head"), ("XCLOUD_ENVIRONMENT", "AWS")],
)
def test_a_value_that_leads_nowhere_is_shown(variable: str, value: str) -> None:
    done = check(GIVEN | {variable: value})
    assert done.returncode == 2 and variable in done.stderr and value in done.stderr
