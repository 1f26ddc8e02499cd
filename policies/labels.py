"""The rule on labels, by which an organisation tells whose a resource is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from pathways import inventory
from policies.buckets import BUCKET
from policies.resources import Resource, Unknown
from policies.rule import Config, resource_rule

TITLE = "Labels"

# Where each type keeps its labels.
PLACES: Mapping[str, str] = {
    BUCKET: "labels",
    inventory.CLUSTER: "resourceLabels",
    inventory.NODE_POOL: "nodeConfig.resourceLabels",
    inventory.CLUSTER_DIRECTOR: "labels",
    inventory.INSTANCE: "labels",
}


def _labelled(resource: Resource, config: Config) -> Mapping[str, Any] | None:
    """The resource with the labels that the environment states; those already there stay."""
    labels, place = resource.at(PLACES[resource.type]), PLACES[resource.type]
    missing = {
        key: value for key, value in config["values"].items() if not isinstance(labels, Mapping) or key not in labels
    }
    if not missing or isinstance(labels, Unknown) or "." in place:
        return None
    return {place: {**(labels or {}), **missing}}


@resource_rule(
    "required-labels",
    *PLACES,
    fix="Add them (pathways:labels in a stack file)",
    severity=Severity.LOW,
    parameters={
        "labels": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Keys that every bucket, cluster, node pool and instance must have.",
        },
        "values": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "default": {},
            "description": "Labels to add where they are missing, when this policy is set to remediate (not to node pools).",
        },
    },
    remedy=_labelled,
)
def required_labels(resource: Resource, config: Config) -> Iterator[str]:
    """Resources that cost money carry the labels by which the organisation assigns them."""
    labels = resource.at(PLACES[resource.type])
    if isinstance(labels, Unknown):
        return
    missing = [key for key in config["labels"] if not isinstance(labels, Mapping) or not labels.get(key)]
    if missing:
        yield f"{resource.title} lacks the label{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
