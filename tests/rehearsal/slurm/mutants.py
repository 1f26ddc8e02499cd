"""The job scripts with one value changed: each value that a stack derives for them, in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pathways import scratch

# What a run of the service and of a client goes through. run_jupyter.sh is run_client.sh with a command.
SCRIPTS = (
    "settings.sh",
    "start_pathways.sh",
    "run_worker_slice.sh",
    "run_worker.sh",
    "run_client.sh",
    "run_maxtext.sh",
)
BUCKET = "bucket"
"""In place of a script where the nodes lack a role on the scratch bucket."""

_SETTING = re.compile(r'^(?:: "\$\{)?(?P<name>[A-Z_]+):?=(?P<value>.*?)(?:\}")?$')
_EXPORT = re.compile(r"^export (?P<name>[A-Z_]+)=(?P<value>\S+)$")
_ENV = re.compile(r"--env (?P<name>[A-Z_]+)=(?P<value>\S+)")
_OPTION = re.compile(r"(?P<name>--[a-z_-]+)(?:=(?P<value>\"[^\"]*\"|[^\s\"]+))?(?=\s|$)")
_PORT = re.compile(r"(?P<name>wait_for_port \w+) (?P<value>\d+)$")
_TRAINING = re.compile(r"^ +(?P<name>enable_\w+)=(?P<value>\S+)")
_FUNCTION = re.compile(r"^(\w+)\(\) \{")
# Columns of a row of SLICE_SHAPES.
_COLUMNS = ("SLICE_SHAPES", "VMS", "ACCELERATOR_TYPE", "HOST_BOUNDS")
# Nobody's business but the reader's of a log, or not derived from anything.
_FREE = ("--env", "--rw", "--parsable", "--label", "--output", "--immediate", "--kill-on-bad-exit")

# Words in whose place another of the same kind has to stand.
_OTHER = {
    "true": "false",
    "false": "true",
    "proxy": "cpu",
    "v6e": "v5e",
    "tpuv6e": "tpuv5e",
    "append": "truncate",
    "resource_manager": "worker",
    "v6e-8": "v6e-16",
    "1,2,1": "2,1,1",
    "2,2,1": "1,4,1",
    "8431,8432,8433,8434": "8431,8432,8433",
    "0-$((MAX_SLICES - 1))": "1-$MAX_SLICES",
}
# Amounts, of which a little more would do as well.
_AMOUNTS = ("--ntasks", "--cpus-per-task", "--mem")
_NUMBERS = ("MAX_SLICES", "VMS", "SLURM_PROCID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_NUM_NODES")
# How Slurm and the scripts call a thing.
_ALIASES = {
    "--cpus-per-task": ("CPU",),
    "--nodes": ("node count", "node configuration", "takes 2 nodes"),
    "--ntasks": ("CPU",),
    "--instance_type": ("instance type",),
    "--array": ("MEGASCALE_SLICE_ID",),
    "--ntasks-per-node": ("tasks",),
    "ACCELERATOR": ("layout",),
    "SLICE_SHAPES": ("2x5",),
    "VMS": ("takes 2 nodes", "VMs"),
    "PATHWAYS_HOME": ("pathways-x",),
}


@dataclass(frozen=True)
class Mutant:
    """One value of one line changed, `text` being the line then; a message should have one of `words`.

    `part` is the script's function, or srun.
    """

    file: str
    line: int
    part: str
    name: str
    value: str
    after: str
    text: str
    words: tuple[str, ...]

    @property
    def where(self) -> str:
        return " ".join(part for part in (self.file, self.part, self.name) if part)

    @property
    def change(self) -> str:
        if not self.after:
            return f"without `{self.value or self.name}`"
        return f"`{self.value}` → `{self.after}`"

    @property
    def key(self) -> tuple[str, str]:
        """Where the change is and what it is, which no other has."""
        return self.where, self.change

    def of(self, scripts: Mapping[str, str]) -> dict[str, str]:
        """The scripts with the change."""
        changed = dict(scripts)
        if self.file != BUCKET:
            lines = changed[self.file].split("\n")
            lines[self.line] = self.text
            changed[self.file] = "\n".join(lines)
        return changed

    @property
    def roles(self) -> list[str]:
        """The roles on the bucket that the nodes have."""
        return [role for role in scratch.ROLES if self.file != BUCKET or role != self.value]

    def named(self, message: str) -> bool:
        """Whether a message names what was changed."""
        return any(word.lower() in message.lower() for word in self.words)


def mutants(scripts: Mapping[str, str]) -> list[Mutant]:
    """One for each value of the scripts, and for each role on the bucket."""
    found = [mutant for file in SCRIPTS for mutant in _of(file, scripts[file])]
    roles = [Mutant(BUCKET, 0, "", "role", role, "", "", ("storage.",)) for role in scratch.ROLES]
    return [*found, *roles]


def _of(file: str, text: str) -> Iterator[Mutant]:
    part = ""
    for number, line in enumerate(text.split("\n")):
        if found := _FUNCTION.match(line):
            part = found[1]
        for (start, end), name, written in _values(file, line):
            value = written.strip('"')
            after = _another(name, value)
            if after:
                changed = line[:start] + (f'"{after}"' if written.startswith('"') else after) + line[end:]
            else:
                changed = (line[:start].rstrip() + line[end:]).rstrip()
            words = _words(name, value, after)
            here = part if line.startswith(" ") else "srun" if line.startswith("srun") else ""
            yield Mutant(file, number, here, name, value, after, changed, words)


def _values(file: str, line: str) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Where in a line a value is, its name, and how it is written."""
    patterns = [_ENV, _PORT, _EXPORT]
    if file == "settings.sh":
        if line.startswith("2x4 "):
            columns = zip(_COLUMNS, re.finditer(r"\S+", line), strict=True)
            yield from ((found.span(), name, found[0]) for name, found in columns)
        patterns = [_SETTING]
    elif file == "run_maxtext.sh":
        patterns.append(_TRAINING)
    for pattern in patterns:
        for found in pattern.finditer(line):
            if found["value"] != '"\\':
                yield found.span("value"), found["name"], found["value"]
    if re.match(r"#SBATCH |srun | +sbatch | +--", line):
        for found in _OPTION.finditer(line):
            if found["name"] not in _FREE and (found["name"] != "--job-name" or file == "start_pathways.sh"):
                part = "value" if found["value"] else "name"
                yield found.span(part), found["name"], found["value"] or ""


def _another(name: str, value: str) -> str:
    """Another value of the same kind; empty: the option is taken away."""
    if not value or value in _OTHER:
        return _OTHER.get(value, "")
    if name in _AMOUNTS:
        return re.sub(r"(\d+)", r"\g<1>00", value)
    if found := re.fullmatch(r"(.*?)(\d+)", value):
        # The port after the resource manager's is its own as well.
        step = 10 if found[2].startswith("2900") else 1
        return f"{found[1]}{int(found[2]) + step}"
    if (found := re.fullmatch(r"\$([A-Z_]+)", value)) and found[1] in _NUMBERS:
        return f"$(({found[1]} + 1))"
    return f"{value}-x"


def _words(name: str, value: str, after: str) -> tuple[str, ...]:
    """What names the culprit: the variable or the option, or a value that is like no other."""
    # Of an image, servers say the tag only.
    values = {each.rpartition(":")[2] if "/" in each else each for each in (value, after)}
    values |= {port for each in (value, after) for port in re.findall(r":(29\d{3})$", each)}
    telling = sorted(
        each for each in values if len(each) > 3 and not re.search(r"[$]|^(true|false|proxy|pathways)$", each)
    )
    return (name.strip("-").split()[-1], *telling, *_ALIASES.get(name, ()))
