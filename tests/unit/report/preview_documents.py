"""Preview documents in the shapes that Pulumi writes, made from states before and after.

Stands in for the engine in unit tests: it compares inputs leaf by leaf, and knows for a few types what replaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pathways import plan, stackfile

STACK = "gke-v6e"
PROJECT = "pulumi-pathways"
ROOT = f"urn:pulumi:{STACK}::{PROJECT}::pulumi:pulumi:Stack::{PROJECT}-{STACK}"
REPLACES = {
    "gcp:container/nodePool:NodePool": ("placementPolicy", "nodeConfig.machineType", "nodeCount", "cluster"),
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet": ("spec",),
    "gcp:storage/bucket:Bucket": ("location", "name"),
}


@dataclass(frozen=True)
class State:
    type: str
    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parent: str = ROOT
    custom: bool = True
    outputs: Mapping[str, Any] | None = None

    @property
    def urn(self) -> str:
        if self.parent in (ROOT, ""):
            return f"urn:pulumi:{STACK}::{PROJECT}::{self.type}::{self.name}"
        return f"urn:pulumi:{STACK}::{PROJECT}::{self.parent.split('::')[2]}${self.type}::{self.name}"

    def document(self) -> dict[str, Any]:
        outputs = self.inputs if self.outputs is None else self.outputs
        return {
            "type": self.type,
            "urn": self.urn,
            "custom": self.custom,
            "id": "",
            "parent": self.parent,
            "inputs": dict(self.inputs),
            "outputs": dict(outputs),
            "provider": "",
        }


def gke(**changes: Any) -> list[State]:
    """The states of a stack on GKE; `slices__topology="4x8"` changes one setting."""
    config: dict[str, Any] = {
        "gcp:project": "example-ml",
        "gcp:region": "us-east5",
        "pathways:slices": {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"},
        "pathways:scratch": {"forceDestroy": True},
    }
    for path, value in changes.items():
        section, _, key = path.partition("__")
        config.setdefault(f"pathways:{section}", {})[key] = value
    made = plan.make(stackfile.read(config, STACK)[0])
    slices = State("pathways:gke:TpuSlices", "slices", custom=False)
    head = State("pathways:gke:HeadPool", "head", custom=False)
    scratch = State("pathways:gke:ScratchBucket", "scratch", custom=False)
    gke_ = State("pathways:gke:GkeCluster", "gke", custom=False)
    pathways = State("pathways:gke:Pathways", "pathways", custom=False)
    job_set = made.job_set
    return [
        State("pulumi:pulumi:Stack", f"{PROJECT}-{STACK}", custom=False, parent=""),
        State("pulumi:providers:gcp", "default", {"project": "example-ml"}),
        scratch,
        gke_,
        head,
        slices,
        pathways,
        State(
            "gcp:storage/bucket:Bucket",
            "bucket",
            {"name": made.scratch.name, "location": made.scratch.location, "forceDestroy": made.scratch.force_destroy},
            scratch.urn,
        ),
        State(
            "gcp:container/cluster:Cluster",
            "cluster",
            {"name": made.names.cluster, "location": "us-east5", "initialNodeCount": 1, "removeDefaultNodePool": True},
            gke_.urn,
        ),
        State(
            "gcp:container/nodePool:NodePool",
            made.head_pool.name,
            {
                "name": made.head_pool.name,
                "nodeLocations": [made.head_pool.zone],
                "nodeCount": made.head_pool.nodes,
                "nodeConfig": {"machineType": made.head_pool.machine_type},
            },
            head.urn,
        ),
        *(
            State(
                "gcp:container/nodePool:NodePool",
                pool.name,
                {
                    "name": pool.name,
                    "nodeLocations": [pool.zone],
                    "nodeCount": pool.nodes,
                    "placementPolicy": {"type": "COMPACT", "tpuTopology": pool.topology},
                    "nodeConfig": {"machineType": pool.machine_type, "spot": pool.spot},
                },
                slices.urn,
            )
            for pool in made.tpu_pools
        ),
        State("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", "jobset", dict(job_set), pathways.urn),
    ]


def cluster_director(machine_type: str = "ct6e-standard-4t", compute_id: str = "tpu") -> list[State]:
    """The states of a stack on Cluster Director: two slices' worth of static TPU nodes."""
    component = State("pathways:slurm:ClusterDirector", "director", custom=False)
    instances = {"zone": "us-east5-b", "machineType": machine_type}
    return [
        State("pulumi:pulumi:Stack", f"{PROJECT}-{STACK}", custom=False, parent=""),
        component,
        State(
            "gcp:hypercomputecluster/cluster:Cluster",
            "cluster",
            {
                "clusterId": "pathways",
                "location": "us-east5",
                "computeResources": [{"id": compute_id, "config": {"newOnDemandInstances": instances}}],
                "storageResources": [{"id": "home", "config": {"newFilestore": {"filestore": "home"}}}],
                "orchestrator": {
                    "slurm": {
                        "loginNodes": {"count": "1", "machineType": "n2-standard-8", "zone": "us-east5-b"},
                        "nodeSets": [{"id": "tpu", "computeId": compute_id, "staticNodeCount": "8"}],
                    }
                },
            },
            component.urn,
        ),
    ]


def steps(before: Sequence[State], after: Sequence[State]) -> Iterator[dict[str, Any]]:
    """The steps of an update from one to the other, as the engine's events describe them."""
    old, new = {each.urn: each for each in before}, {each.urn: each for each in after}
    for urn in [*new, *(urn for urn in reversed(old) if urn not in new)]:
        was, will = old.get(urn), new.get(urn)
        detailed = differences(was, will) if was and will else {}
        op = "create" if not was else "delete" if not will else "same" if not detailed else "update"
        if any(each["diffKind"].endswith("-replace") for each in detailed.values()):
            op = "replace"
        shown = will or was
        assert shown is not None
        yield {
            "op": op,
            "urn": urn,
            "type": shown.type,
            "old": was.document() if was else None,
            "new": will.document() if will else None,
            "keys": sorted(key.partition(".")[0] for key, each in detailed.items() if "replace" in each["diffKind"]),
            "diffs": sorted({key.partition(".")[0] for key in detailed}),
            "detailedDiff": detailed or None,
        }


def differences(was: State, will: State) -> dict[str, dict[str, Any]]:
    found = {}
    for path, kind in sorted(_leaves(was.inputs, will.inputs, "")):
        replaces = path.startswith(REPLACES.get(was.type, ("-",)))
        found[path] = {"diffKind": f"{kind}-replace" if replaces else kind, "inputDiff": False}
    return found


def events(before: Sequence[State], after: Sequence[State], *extra: Mapping[str, Any]) -> str:
    """An event log. `extra` events come before the summary; {"summaryEvent": None} leaves the summary out."""
    log: list[Mapping[str, Any]] = [{"preludeEvent": {"config": {}}}]
    changes: dict[str, int] = {}
    for step in steps(before, after):
        changes[step["op"]] = changes.get(step["op"], 0) + 1
        if step["op"] == "replace":
            log += [{"resourcePreEvent": {"metadata": {**step, "op": op}}} for op in ("create-replacement", "replace")]
            log.append({"resourcePreEvent": {"metadata": {**step, "op": "delete-replaced", "new": None}}})
        else:
            log += [{kind: {"metadata": step}} for kind in ("resourcePreEvent", "resOutputsEvent")]
    log += [each for each in extra if each != {"summaryEvent": None}]
    if {"summaryEvent": None} not in extra:
        log.append({"summaryEvent": {"resourceChanges": changes, "PolicyPacks": {}, "isPreview": True}})
        log.append({"cancelEvent": {}})
    return "".join(json.dumps({"sequence": n, "timestamp": 1, **each}) + "\n" for n, each in enumerate(log))


def digest(before: Sequence[State], after: Sequence[State]) -> str:
    """What `pulumi preview --json` prints: resources that stay as they are only counted."""
    every = list(steps(before, after))
    shown = [
        {
            "op": each["op"],
            "urn": each["urn"],
            "oldState": each["old"],
            "newState": each["new"],
            "diffReasons": each["diffs"],
            "replaceReasons": each["keys"],
            "detailedDiff": each["detailedDiff"]
            and {
                path: {"kind": one["diffKind"], "inputDiff": one["inputDiff"]}
                for path, one in each["detailedDiff"].items()
            },
        }
        for each in every
        if each["op"] != "same"
    ]
    summary: dict[str, int] = {}
    for each in every:
        summary[each["op"]] = summary.get(each["op"], 0) + 1
    return json.dumps({"config": {}, "steps": shown, "changeSummary": summary}, indent=4)


def policy_event(policy: str, message: str, level: str = "mandatory", urn: str = "") -> dict[str, Any]:
    return {
        "policyEvent": {
            "resourceUrn": urn,
            "message": f"<{{%reset%}}>What it is about.\n{message}<{{%reset%}}>\n",
            "policyName": policy,
            "policyPackName": "pathways",
            "enforcementLevel": level,
        }
    }


def diagnostic(severity: str, message: str) -> dict[str, Any]:
    return {
        "diagnosticEvent": {"severity": severity, "prefix": f"{severity}: ", "message": f"{message}\n", "color": ""}
    }


def _leaves(was: Any, will: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(was, Mapping) and isinstance(will, Mapping):
        for key in {**was, **will}:
            step = f'["{key}"]' if "." in key or "/" in key else f".{key}"
            where = f"{path}{step}".removeprefix(".")
            if key not in was or key not in will:
                yield where, "add" if key not in was else "delete"
            else:
                yield from _leaves(was[key], will[key], where)
    elif isinstance(was, list) and isinstance(will, list):
        for index in range(max(len(was), len(will))):
            where = f"{path}[{index}]"
            if index >= len(was) or index >= len(will):
                yield where, "add" if index >= len(was) else "delete"
            else:
                yield from _leaves(was[index], will[index], where)
    elif was != will:
        yield path, "update"
