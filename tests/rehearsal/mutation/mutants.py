"""JobSets with one value changed: each value that a stack derives for its JobSet, in turn."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
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
# Names by which the parts of a JobSet find each other.
NAMES = {"name", "containerName", "mountPath", "path", "key"}
COUNTS = {"replicas", "completions", "parallelism"}


@dataclass(frozen=True)
class Mutant:
    """One change: where, from what, to what; `words`, of which one should stand in the message of the rehearsal."""

    path: Path
    before: Any
    after: Any
    words: tuple[str, ...]

    @property
    def after_text(self) -> str:
        return "gone" if self.after is GONE else str(self.after)

    def named_in(self, message: str) -> bool:
        """Whether a message names what was changed."""
        return any(word in message for word in self.words)

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
    """A mutant, or a few, for each value below spec."""
    spec = job_set["spec"]
    return [
        Mutant(path, value, after, (*_words(spec, path, value), *_values(value, after)))
        for path, value in _leaves(spec, ())
        for after in _changed(path, value)
    ]


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


def _changed(path: Path, value: Any) -> Iterator[Any]:
    key = _field(path)
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
    elif key == "apiVersion" or (key == "name" and "env" in path):
        return  # a variable of another name is one that is gone, which is another mutant
    elif key in NAMES:
        yield f"{value}-x"
    elif key == "fieldPath":
        yield value.replace("']", "-x']")
    else:
        if key == "args" and value.startswith("--"):
            yield GONE
        yield _value(value)


def _value(text: str) -> str:
    """Another value of the same kind."""
    for topology, other in TOPOLOGIES.items():
        if re.search(rf"(^|:){topology}$", text):
            return text.removesuffix(topology) + other
    for one, other in (("true", "false"), ("false", "true")):
        if re.search(rf"(^|=){one}$", text):
            return text.removesuffix(one) + other
    if found := re.search(r"(\d+)([KMGT]i?)?$", text):
        return f"{text[: found.start()]}{int(found[1]) + 1}{found[2] or ''}"
    return f"{text}-x"


def _field(path: Path) -> str:
    return next(key for key in reversed(path) if isinstance(key, str))


def _words(spec: Json, path: Path, value: Any) -> tuple[str, ...]:
    """What names the culprit: a flag, a variable, or the field and what the scheduler calls it."""
    if _field(path) == "args" and str(value).startswith("--"):
        return (str(value)[2:].partition("=")[0],)
    if "env" in path:
        container: Any = spec
        for key in path[: path.index("env")]:
            container = container[key]
        name = str(container["env"][path[path.index("env") + 1]]["name"])
        users = [each["name"] for each in container["env"] if f"$({name})" in each.get("value", "")]
        flags = [each[2:].partition("=")[0] for each in container.get("args", []) if f"$({name})" in each]
        return (name, *users, *flags)
    fields = dict.fromkeys(key for key in path if isinstance(key, str))
    return (_field(path), *dict.fromkeys(word for field in fields for word in ALIASES.get(field, ())))


def _values(before: Any, after: Any) -> list[str]:
    """Values that name a flag as well as its name does: ports, and those that are no plain word or number."""
    given = [str(each).partition("=")[2] for each in (before, after) if str(each).startswith("--")]
    ports = [found[0] for each in given if (found := re.search(r"\b\d{5}$", each))]
    return ports + [each for each in given[1:] if ":" in each and "$" not in each]


# What Kubernetes and the servers call what a field is about.
ALIASES: dict[str, tuple[str, ...]] = {
    "jobIndex": ("job index",),
    "podIndex": ("pod index",),
    "replicatedJob": ("coordinator",),
    "enableDNSHostnames": ("cannot be resolved",),
    "completionMode": ("indexed", "Indexed", "TPU_WORKER_ID"),
    "nodeSelector": ("node affinity/selector",),
    "tolerations": ("untolerated taint",),
    "limits": ("Insufficient", "asks for"),
    "annotations": ("fits on no node", "TPU_WORKER_HOSTNAMES", "MEGASCALE_SLICE_ID"),
    "replicas": ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "HOST_ADDRESS"),
    "completions": ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"),
    "parallelism": ("slices are ready",),
    "dnsPolicy": ("cannot be resolved",),
    "suspend": ("suspended",),
    "containerPort": ("Port",),
    "image": ("image tag",),
}
