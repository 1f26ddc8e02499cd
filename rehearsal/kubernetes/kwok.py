"""kwok's configuration: what becomes of nodes and pods that have no kubelet."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import yaml

from rehearsal.kubernetes.controllers import PROGRAMS, SERVING

STAGES = ("node-ready", "node-heartbeat", "pod-ready", "pod-delete")
# How long a node may be silent: three times what stages/node-heartbeat.yaml lets pass at most.
NODE_GRACE_SECONDS = 225


def configuration(*, run_pods: bool) -> str:
    """kwok's configuration file: options and stages, as one YAML stream.

    With `run_pods`, pods are the node agent's, and kwok's are only those of controllers.
    """
    options = {"podPlayStageParallelism": 16, "nodePlayStageParallelism": 16, "enableDebuggingHandlers": run_pods}
    kwok = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": options}
    stages = {name: yaml.safe_load(_stage(name)) for name in STAGES}
    served, controller = f'(.metadata.annotations["{SERVING}"] == "true")', f"({_of_a_controller()})"
    if run_pods:
        _select(stages["pod-ready"], f"{served} and {controller}")
        _select(stages["pod-delete"], controller)
    else:
        _select(stages["pod-ready"], f"{served} or ({controller} | not)")
    return str(yaml.safe_dump_all([kwok, *stages.values()], sort_keys=False))


def _select(stage: dict[str, Any], expression: str) -> None:
    """Let a stage be only for objects of which a jq expression is true."""
    stage["spec"]["selector"]["matchExpressions"].append({"key": expression, "operator": "In", "values": ["true"]})


def _stage(name: str) -> str:
    return resources.files("rehearsal.kubernetes").joinpath("stages", f"{name}.yaml").read_text("utf-8")


def _of_a_controller() -> str:
    """A jq expression: whether a pod's program runs for real (controllers.runs_as_controller)."""
    image = '.spec.containers[0].image | split("@")[0] | split("/")[-1] | split(":")[0]'
    programs = ", ".join(json.dumps(name) for name in PROGRAMS)
    return f"{image} | IN({programs})"
