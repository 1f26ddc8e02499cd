"""kwok's configuration: what becomes of nodes and pods that have no kubelet."""

from __future__ import annotations

import json
from importlib import resources

import yaml

from rehearsal.kubernetes.controllers import PROGRAMS, SERVING

STAGES = ("node-ready", "node-heartbeat", "pod-ready", "pod-delete")
# How long a node may be silent: three times what stages/node-heartbeat.yaml lets pass at most.
NODE_GRACE_SECONDS = 225


def configuration() -> str:
    """kwok's configuration file: options and stages, as one YAML stream."""
    options = {"podPlayStageParallelism": 16, "nodePlayStageParallelism": 16}
    kwok = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": options}
    stages = {name: yaml.safe_load(_stage(name)) for name in STAGES}
    stages["pod-ready"]["spec"]["selector"]["matchExpressions"].append(
        {"key": _runs_or_needs_no_process(), "operator": "In", "values": ["true"]}
    )
    return str(yaml.safe_dump_all([kwok, *stages.values()], sort_keys=False))


def _stage(name: str) -> str:
    return resources.files("rehearsal.kubernetes").joinpath("stages", f"{name}.yaml").read_text("utf-8")


def _runs_or_needs_no_process() -> str:
    """A jq expression: pods whose program runs for real are ready when it serves, all others at once."""
    image = '.spec.containers[0].image | split("@")[0] | split("/")[-1] | split(":")[0]'
    programs = ", ".join(json.dumps(name) for name in PROGRAMS)
    return f'(.metadata.annotations["{SERVING}"] == "true") or ({image} | IN({programs}) | not)'
