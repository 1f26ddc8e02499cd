"""JobSets with one value changed: each value that a stack derives for its JobSet, in turn."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Key = str | int
Path = tuple[Key, ...]
# In place of a value: it is taken away.
GONE = object()

# Of values that only a few words may stand for, another word.
OTHER = {
    "restartPolicy": {"Never": "OnFailure", "OnFailure": "Never", "Always": GONE},
    "dnsPolicy": {"ClusterFirstWithHostNet": "Default"},
    "completionMode": {"Indexed": "NonIndexed"},
    "startupPolicyOrder": {"InOrder": "AnyOrder"},
    "restartStrategy": {"Recreate": "BlockingRecreate"},
    "operator": {"All": "Any", "Exists": "Equal", "In": "NotIn"},
    "action": {"FailJobSet": "RestartJobSet", "FailJob": "Ignore"},
    "imagePullPolicy": {"Always": "IfNotPresent"},
    "protocol": {"TCP": "UDP"},
    "type": {"DirectoryOrCreate": "Directory"},
}
# Topologies and instance types that exist, for those that a small stack has.
TOPOLOGIES = {"2x4": "4x4", "2x2x4": "2x4x4"}
COUNTS = {"replicas", "completions", "parallelism"}


@dataclass(frozen=True)
class Mutant:
    """One change: where, from what, to what; `words`, of which one should stand in the message of the rehearsal."""

    path: Path
    before: Any
    after: Any
    words: tuple[str, ...]

    @property
    def where(self) -> str:
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path).lstrip(".")

    @property
    def change(self) -> str:
        return f"{_shown(self.before)} → {'gone' if self.after is GONE else _shown(self.after)}"

    def of(self, job_set: Json) -> Json:
        """The changed JobSet."""
        made = copy.deepcopy(job_set)
        owner: Any = made["spec"]
        for key in self.path[:-1]:
            owner = owner[key]
        if self.after is GONE:
            del owner[self.path[-1]]
        else:
            owner[self.path[-1]] = self.after
        return made


def mutants(job_set: Json) -> list[Mutant]:
    """A mutant, or two, for each value below spec."""
    return [mutant for path, value in _leaves(job_set["spec"], ()) for mutant in _of(path, value)]


def title(mutant: Mutant, job_set: Json) -> str:
    """Where the change is, with names in place of positions."""
    parts: list[str] = []
    here: Any = job_set["spec"]
    for key in mutant.path:
        here = here[key]
        named = isinstance(key, int) and isinstance(here, dict) and ("name" in here or "key" in here)
        if named:
            parts[-1] += f"[{here.get('name') or here.get('key')}]"
        elif isinstance(key, int):
            parts[-1] += f"[{key}]"
        elif key not in ("template", "spec", "replicatedJobs", "valueFrom", "metadata"):
            parts.append(str(key))
        elif key == "replicatedJobs":
            parts.append("")
    return ".".join(parts).lstrip(".").replace("[pathways-head]", "head", 1).replace("[worker]", "worker", 1)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every value, and every entry of a list of objects, which may be missing as a whole."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict) and path[-1] in ("env", "tolerations", "volumeMounts", "ports", "rules"):
                yield (*path, index), inner
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value


def _of(path: Path, value: Any) -> Iterator[Mutant]:
    key = next(each for each in reversed(path) if isinstance(each, str))
    words = _words(path, value)
    for after in _changed(key, value):
        yield Mutant(path, value, after, words)


def _changed(key: str, value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield GONE
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if key in COUNTS and value > 1:
            yield value - 1
    elif key in OTHER:
        yield OTHER[key].get(value, GONE)
    elif key in ("name", "containerName", "apiVersion", "mountPath", "path", "key") and not value.startswith("--"):
        # Names by which parts of one JobSet find each other.
        yield f"{value}-x"
    elif key == "fieldPath":
        yield value.replace("']", "-x']")
    elif key == "args" and value.startswith("--"):
        yield GONE
        yield _value(value)
    else:
        yield _value(value)


def _value(text: str) -> str:
    """Another value of the same kind."""
    for topology, other in TOPOLOGIES.items():
        if re.search(rf"(^|:){topology}$", text):
            return text.removesuffix(topology) + other
    for one, other in (("true", "false"), ("false", "true")):
        if re.search(rf"(^|=){one}$", text):
            return text.removesuffix(one) + other
    if found := re.search(r"(\d+)$", text):
        return text[: found.start()] + str(int(found[1]) + 1)
    return f"{text}-x"


_ENVIRONMENT = re.compile(r"env$")


def _words(path: Path, value: Any) -> tuple[str, ...]:
    """What names the culprit: a flag, a variable, or the field and what the scheduler calls it."""
    fields = [each for each in path if isinstance(each, str)]
    if fields[-1] == "args" and str(value).startswith("--"):
        return (str(value)[2:].partition("=")[0],)
    if isinstance(value, dict) and "name" in value and fields[-1] == "env":
        return (str(value["name"]),)
    return (fields[-1], *ALIASES.get(fields[-1], ()), *(word for each in fields for word in ALIASES.get(each, ())))


ALIASES: dict[str, tuple[str, ...]] = {
    "nodeSelector": ("node affinity/selector",),
    "tolerations": ("untolerated taint",),
    "limits": ("Insufficient", "asks for"),
    "image": ("image",),
    "annotations": ("exclusive-topology", "MEGASCALE_SLICE_ID", "TPU_TOPOLOGY"),
    "replicas": ("MEGASCALE_NUM_SLICES", "instance_count"),
    "completions": ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"),
    "parallelism": ("slices are ready",),
}

Say = Callable[[str], None]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name") or value.get("key") or value.get("containerPort") or value)
    return str(value)
