"""Manifests with one value changed: each value that a stack derives for them, in turn."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.home import CHECKOUT

Json = dict[str, Any]
# By kind: a stack has at most one of each.
Manifests = Mapping[str, Json]
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
    "type": {"DirectoryOrCreate": "Directory", "LoadBalancer": "ClusterIP"},
    "externalTrafficPolicy": {"Local": "Cluster"},
    "policyTypes": {"Ingress": "Egress"},
    "onJobFailureReasons": {"PodFailurePolicy": "BackoffLimitExceeded"},
    "medium": {"Memory": GONE},
}
# Topologies that exist, for those that a small stack has.
TOPOLOGIES = {"2x4": "4x4"}
# Names by which the parts of a manifest find each other.
NAMES = {"name", "containerName", "mountPath", "path", "key"}
COUNTS = {"replicas", "completions", "parallelism"}
# Amounts of which a little more would do as well.
AMOUNTS = {"cpu", "memory"}
# Entries that may be missing as a whole.
ENTRIES = {"env", "tolerations", "volumeMounts", "ports", "rules"}
_DROPPED = {"template", "spec", "replicatedJobs", "valueFrom", "metadata"}


@dataclass(frozen=True)
class Mutant:
    """One change: where, from what, to what; `words`, of which one should stand in the message of the rehearsal."""

    kind: str
    path: Path
    where: str
    before: Any
    after: Any
    words: tuple[str, ...]

    @property
    def change(self) -> str:
        before, after = (str(each).replace(f"{CHECKOUT}/", "") for each in (self.before, self.after))
        if self.after is GONE:
            return "without it" if isinstance(self.before, dict) else f"without `{before}`"
        return f"`{before}` → `{after}`"

    @property
    def key(self) -> tuple[str, str]:
        """Where the change is and what it is, which no other of the same manifests has."""
        return self.where, self.change

    @property
    def name(self) -> str:
        """The change in one line."""
        return f"{self.where} {'gone' if self.after is GONE else self.after}"

    @property
    def same(self) -> tuple[str, str]:
        """What it has in common with the same change of another stack, whose sidecars may be its containers."""
        return self.where.replace("initContainers", "containers"), self.change

    def named_in(self, message: str) -> bool:
        """Whether a message names what was changed, in whole words."""
        return self.position_in(message) >= 0

    def position_in(self, message: str) -> int:
        """Where in a message it is named first, in characters; -1 where it is not."""
        found = [re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in self.words]
        return min((each.start() for each in found if each), default=-1)

    def of(self, manifests: Manifests) -> dict[str, Json]:
        """The manifests with the change."""
        made = {**manifests, self.kind: copy.deepcopy(manifests[self.kind])}
        owner: Any = made[self.kind]
        for key in self.path[:-1]:
            owner = owner[key]
        if self.after is GONE:
            del owner[self.path[-1]]
        else:
            owner[self.path[-1]] = self.after
        return made


def mutants(manifests: Manifests) -> list[Mutant]:
    """A mutant, or a few, for each value of spec, labels and annotations."""
    return [
        Mutant(
            kind,
            path,
            _where(kind, manifest, path),
            value,
            after,
            (*_words(manifest, path, value), *_values(path, value, after)),
        )
        for kind, manifest in manifests.items()
        for path, value in _leaves(_derived(manifest), ())
        for after in _changed(path, value)
    ]


def _derived(manifest: Json) -> Json:
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if key in manifest["metadata"]}
    return {"metadata": metadata, "spec": manifest["spec"]}


def _where(kind: str, manifest: Json, path: Path) -> str:
    """Where a value is, with names in place of positions."""
    parts: list[str] = [] if kind == "JobSet" else [kind]
    here: Any = manifest
    for key in path:
        here = here[key]
        if isinstance(key, int) and isinstance(here, dict) and ("name" in here or "key" in here):
            parts[-1] += f"[{here.get('name') or here.get('key')}]"
        elif isinstance(key, int):
            flag = here.partition("=")[0] if isinstance(here, str) and here.startswith("--") else key
            parts[-1] += f"[{flag}]"
        elif key not in _DROPPED:
            parts.append(str(key))
        elif key == "replicatedJobs":
            parts.append("")
    return ".".join(parts).lstrip(".").replace("[pathways-head]", "head", 1).replace("[worker]", "worker", 1)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict) and path[-1] in ENTRIES:
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
    elif key in OTHER and value in OTHER[key]:
        yield OTHER[key][value]
    elif key == "apiVersion" or (key == "name" and "env" in path):
        return  # a variable of another name is one that is gone, which is another mutant
    elif key in NAMES:
        yield f"{value}-x"
    elif key == "nominalQuota":
        yield "16" if value == "0" else "1"
    elif key in AMOUNTS:
        yield re.sub(r"(\d+)", r"\g<1>00", value)
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


def _words(manifest: Json, path: Path, value: Any) -> tuple[str, ...]:
    """What names the culprit: a flag, a variable, or the field and what the scheduler calls it."""
    if _field(path) in ("args", "command") and str(value).startswith("--"):
        return (str(value)[2:].partition("=")[0],)
    if "env" in path:
        container: Any = manifest
        for key in path[: path.index("env")]:
            container = container[key]
        name = str(container["env"][path[path.index("env") + 1]]["name"])
        users = [each["name"] for each in container["env"] if f"$({name})" in each.get("value", "")]
        flags = [each[2:].partition("=")[0] for each in container.get("args", []) if f"$({name})" in each]
        return (name, *users, *flags)
    if "replicatedJobs" in path[-3:] and path[-1] == "name":
        return ("replicatedJob", "replicated job")
    fields = dict.fromkeys(key for key in path if isinstance(key, str))
    aliases = dict.fromkeys(word for field in fields for word in ALIASES.get(field, ()))
    return (_field(path), *aliases)


def _values(path: Path, before: Any, after: Any) -> list[str]:
    """Values that name a field as well as its name does: ports, and those that are no plain word or number."""
    if _field(path) in ("port", "targetPort"):
        return [str(before), str(after)]
    if str(after).endswith("-x") or _field(path) == "protocol":
        return [str(after)]
    given = [str(each).partition("=")[2] for each in (before, after) if str(each).startswith("--")]
    ports = [found[1] for each in (before, after) if (found := re.search(r"[:=](\d{5})$", str(each)))]
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
    "annotations": ("fits on no node", "TPU_WORKER_HOSTNAMES", "MEGASCALE_SLICE_ID", "annotation"),
    "replicas": ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "HOST_ADDRESS"),
    "completions": ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"),
    "parallelism": ("slices are ready",),
    "dnsPolicy": ("cannot be resolved",),
    "suspend": ("suspended",),
    "ports": ("container's ports", "hostPort"),
    "volumeMounts": ("no volume of this container",),
    "onExitCodes": ("exit code", "podFailurePolicy"),
    "podFailurePolicy": ("podFailurePolicy",),
    "failurePolicy": ("failurePolicy",),
    "image": ("image tag", "no program in place of image"),
    "emptyDir": ("no volume of this container",),
    "matchLabels": ("podSelector",),
    "ipBlock": ("does not admit", "admits"),
    "loadBalancerSourceRanges": ("does not admit", "admits"),
    "ingress": ("does not admit", "admits"),
    "nominalQuota": ("quota",),
    "clusterQueue": ("ClusterQueue",),
    "nodeLabels": ("node affinity/selector", "flavor"),
    "flavors": ("flavor",),
}
