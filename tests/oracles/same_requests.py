"""The same requests in our words and in those of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathways import plan, stackfile
from pathways.plan import Plan


@dataclass(frozen=True)
class Request:
    """A stack, and what xpk calls its slices."""

    name: str
    config: dict[str, Any]
    tpu_type: str

    @property
    def plan(self) -> Plan:
        return plan.make(stackfile.read(self.config, "stack")[0])


def _request(name: str, tpu_type: str, slices: dict[str, Any], **sections: Any) -> Request:
    config = {
        "gcp:project": "example-ml",
        "gcp:region": slices["zone"].rpartition("-")[0],
        "pathways:slices": slices,
        **{f"pathways:{key}": section for key, section in sections.items()},
    }
    return Request(name, config, tpu_type)


BATCH = {"mode": "batch", "name": "train", "image": "client:1", "command": ["python", "train.py"]}
SIDECAR = {"python": "3.12", "image": "example/sidecar:20260423-python_3.12-jax_0.11.1"}

REQUESTS = [
    _request(
        "interactive-v6e",
        "v6e-16",
        {
            "accelerator": "v6e",
            "topology": "4x4",
            "count": 2,
            "zone": "us-east5-b",
            "capacity": {"type": "reservation", "reservation": "tpus"},
        },
    ),
    _request(
        "elastic-v5p",
        "v5p-128",
        {
            "accelerator": "v5p",
            "topology": "4x4x4",
            "count": 4,
            "zone": "us-east5-a",
            "capacity": {"type": "spot"},
        },
        workload={**BATCH, "maxRestarts": 3, "elastic": {"slices": 1, "maxSliceRestarts": 50}},
    ),
    _request(
        "single-host-v6e",
        "v6e-4",
        {"accelerator": "v6e", "topology": "2x2", "zone": "us-east5-b"},
        runtime={"colocatedPython": SIDECAR},
    ),
    _request(
        "flex-start-tpu7x",
        "tpu7x-128",
        {
            "accelerator": "tpu7x",
            "topology": "4x4x4",
            "zone": "us-central1-c",
            "capacity": {"type": "flexStart"},
        },
        workload=BATCH,
    ),
]
SERVICE = _request(
    "service-v6e",
    "v6e-16",
    {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"},
    workload={"mode": "service"},
)
