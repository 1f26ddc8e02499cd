"""Where built programs lie, and what makes that another folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.tools import Tools, catalogue, location


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the pins, to be changed."""
    copied = tmp_path / "sources"
    shutil.copytree(catalogue.SOURCES, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def test_the_override_is_used_as_it_is(tmp_path: Path) -> None:
    assert location.folder({"PATHWAYS_TOOLS": str(tmp_path), "HOME": "/nowhere"}) == tmp_path


def test_checkouts_with_the_same_pins_share_one_folder_in_the_users_cache(tmp_path: Path, sources: Path) -> None:
    folder = location.folder({"XDG_CACHE_HOME": str(tmp_path), "HOME": "/nowhere"})
    assert folder == tmp_path / "pulumi-pathways" / "tools" / location.digest(sources)


def test_without_a_cache_variable_the_cache_is_in_the_home_folder(tmp_path: Path) -> None:
    folder = location.folder({"HOME": str(tmp_path)})
    assert folder.is_relative_to(tmp_path / ".cache" / "pulumi-pathways" / "tools")


def test_an_unusable_cache_is_replaced_by_the_rehearsals_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REHEARSAL_HOME", str(tmp_path / "home"))
    folder = location.folder({"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert folder.parent == tmp_path / "home" / "tools"


@pytest.mark.parametrize("changed", ["programs/go.mod", "kwok/go.sum", "programs/pulumi-resource-kubernetes/main.go"])
def test_another_pin_or_source_is_another_folder(sources: Path, changed: str) -> None:
    before = location.digest(sources)
    path = sources / changed
    path.write_text(path.read_text() + "\n// changed\n")
    assert location.digest(sources) != before


def test_files_that_go_into_no_program_change_nothing(sources: Path) -> None:
    before = location.digest(sources)
    (sources / "progress.py").write_text("")
    assert location.digest(sources) == before


def test_a_program_that_is_not_built_is_named_with_the_command_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match=r"python -m rehearsal\.tools etcd"):
        Tools(tmp_path).program("etcd")


def test_built_programs_are_found_and_the_others_are_missing(tmp_path: Path) -> None:
    tools = Tools(tmp_path)
    tools.bin.mkdir()
    (tools.bin / "etcd").touch()
    assert tools.program("etcd") == tmp_path / "bin" / "etcd"
    assert tools.missing(["etcd", "kwok"]) == ["kwok"]


def test_asking_for_an_unknown_tool_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="no such tool: kubectl; there are etcd, "):
        Tools(tmp_path).ensure(["kubectl"])
