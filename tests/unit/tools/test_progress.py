"""What a person reads while programs are built."""

from __future__ import annotations

import sys
from pathlib import Path

from rehearsal.tools import progress


def test_a_line_says_what_is_built_and_for_how_long() -> None:
    assert progress.sentence("building etcd (1 of 8)", 80.4) == "building etcd (1 of 8), 1 min 20 s so far"
    assert progress.sentence("building etcd (1 of 8)", 9) == "building etcd (1 of 8), 9 s so far"
    assert progress.sentence("building etcd (1 of 8)", 0.2) == "building etcd (1 of 8)"


def test_a_log_gets_a_line_per_work_and_then_one_every_fifteen_seconds() -> None:
    written: list[str] = []
    report = progress.lines(written.append)
    for second in range(32):
        report("building etcd", second)
    report("building kwok", 0)
    assert written == [
        "building etcd",
        "building etcd, 15 s so far",
        "building etcd, 30 s so far",
        "building kwok",
    ]


def test_a_commands_output_goes_to_its_log_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)"]
    log = tmp_path / "logs" / "x.log"
    code = progress.run(argv, "working", log=log, report=lambda work, seconds: None)
    assert code == 4
    assert sorted(log.read_text().split()) == ["err", "out"]
