"""Cases for pathways/checks/runtime.py."""

from __future__ import annotations

from tests.unit.core.check_cases import Case

CASES: list[Case] = [
    (
        "image-matches-jax",
        {"pathways:runtime": {"jax": "0.11.1", "imageTag": "jax-0.10.0"}},
        "pathways:runtime.imageTag",
        {"pathways:runtime": {"jax": "0.11.1", "imageTag": "20261103-jax_0.11.1"}},
    ),
    ("image-matches-jax", {"pathways:runtime": {"imageTag": "nightly"}}, "pathways:runtime.imageTag", {}),
    (
        "image-latest",
        {"pathways:runtime": {"imageTag": "latest"}},
        "pathways:runtime.imageTag",
        {"pathways:runtime": {"imageTag": "latest", "allowLatest": True}},
    ),
    (
        "extra-arguments",
        {"pathways:runtime": {"worker": {"args": ["--xla_tpu_x=true"]}}},
        "pathways:runtime.worker.args[0]",
        {"pathways:runtime": {"proxy": {"args": ["--xla_tpu_x=true"]}}},
    ),
    (
        "extra-arguments",
        {"pathways:runtime": {"proxy": {"args": ["--server_port=1"]}}},
        "pathways:runtime.proxy.args[0]",
        {},
    ),
    ("extra-arguments", {"pathways:runtime": {"proxy": {"args": ["xla"]}}}, "pathways:runtime.proxy.args[0]", {}),
    (
        "component-environment",
        {"pathways:runtime": {"worker": {"env": [{"name": "MEGASCALE_SLICE_ID", "value": "1"}]}}},
        "pathways:runtime.worker.env[0].name",
        {"pathways:runtime": {"worker": {"env": [{"name": "TPU_VMODULE", "value": "x=1"}]}}},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:20260423-python_3.11-jax_0.11.1"}}},
        "pathways:runtime.colocatedPython.image",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:20260423-python_3.12-jax_0.11.1"}}},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:python_3.12-jax_0.10.0"}}},
        "pathways:runtime.colocatedPython.image",
        {},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s"}}},
        "pathways:runtime.colocatedPython.image",
        {},
    ),
    (
        "colocated-python-suspend",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:python_3.12-jax_0.11.1"}}},
        "pathways:runtime.colocatedPython",
        {},
    ),
]
