"""Logs of a Pathways service on Slurm: files in the user's home, read on the login node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from cli.cloud import login
from cli.cloud.google import Json
from cli.logs.lines import Line
from cli.logs.reading import Wanted
from pathways.director.plan import DirectorPlan

#: Names of the files in ~/pathways/logs/JOB, without .log, by component.
FILES = {"resource-manager": "resource_manager", "proxy": "proxy", "worker": "slice-*"}
SERVICE = "service"
_MARK = "==> "
# 2027-01-01 00:00:00, as the scripts write it; I0101 00:00:00.123456, as Google's servers do.
_SCRIPT = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d) (.*)")
_SERVER = re.compile(r"[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) (.*)")
# srun --label: which task of the slice, and so which of its VMs, said it.
_LABEL = re.compile(r"\s*(\d+): ?(.*)")


def read(plan: DirectorPlan, cluster: Json, wanted: Wanted) -> list[Line]:
    """The newest lines of the newest service's logs, in order of time; `cluster` as the API has it. Raises CloudError."""
    printed = login.run(plan, cluster, script(wanted))
    chosen = [each for each in parse(printed, datetime.now(UTC).year) if wanted.has(each.component, each.slice)]
    new = [each for each in chosen if each.time >= wanted.since]
    return sorted(new, key=lambda each: each.time)[-wanted.tail :]


def script(wanted: Wanted) -> str:
    """Prints the ends of the files, each after a line with its name."""
    files = [name for component, name in FILES.items() if not wanted.components or component in wanted.components]
    every = " ".join(f"$folder/{name}.log" for name in files)
    return (
        "folder=$(ls -td ~/pathways/logs/*/ 2>/dev/null | head -n 1); folder=${folder%/}; "
        f'[ -z "$folder" ] || for file in {every} ~/pathways-${{folder##*/}}.log; do '
        f'[ ! -f "$file" ] || {{ echo "{_MARK}$file"; tail -n {wanted.tail} "$file"; }}; done'
    )


def parse(printed: str, year: int) -> Iterator[Line]:
    """Lines with their component, slice and time; one without a time of its own has that of the line before it."""
    for path, lines in _files(printed.splitlines()):
        name = path.rpartition("/")[2].removesuffix(".log")
        index = int(name.removeprefix("slice-")) if name.startswith("slice-") else None
        known = {file: component for component, file in FILES.items()}
        component = "worker" if index is not None else known.get(name, SERVICE)
        time = ""
        for text in lines:
            labelled = _LABEL.fullmatch(text) if index is not None else None
            host, said = (int(labelled[1]), labelled[2]) if labelled else (None, text)
            stamp, said = _stamped(said, year)
            time = stamp or time
            yield Line(time, component, index, host, name, said)


def _files(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    path, held = "", list[str]()
    for line in lines:
        if line.startswith(_MARK):
            if path:
                yield path, held
            path, held = line.removeprefix(_MARK), []
        else:
            held.append(line)
    if path:
        yield path, held


def _stamped(text: str, year: int) -> tuple[str, str]:
    """When it was said in RFC 3339, on machines whose time is UTC as Google makes them, empty where the line does not tell, and what was said."""
    if found := _SCRIPT.fullmatch(text):
        return f"{found[1]}-{found[2]}-{found[3]}T{found[4]}Z", found[5]
    if found := _SERVER.fullmatch(text):
        return f"{year}-{found[1]}-{found[2]}T{found[3]}Z", found[4]
    return "", text
