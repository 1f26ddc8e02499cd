"""MaxText's stand-in: what it needs to start."""

from __future__ import annotations

import pytest

from pathways import containers
from rehearsal.client import trainer
from rehearsal.client.trainer import TrainerError

GIVEN = ["enable_single_controller=true", "base_output_directory=gs://b/maxtext", "run_name=r"]
JAX = containers.client_variables("127.0.0.1")


def test_settings_are_read_after_a_configuration_file() -> None:
    assert trainer.settings(["base.yml", *GIVEN, "steps=3"])["steps"] == "3"


@pytest.mark.parametrize("missing", range(len(GIVEN)))
def test_a_setting_without_which_maxtext_would_go_astray_is_asked_for(missing: int) -> None:
    with pytest.raises(TrainerError, match=GIVEN[missing].partition("=")[0]):
        trainer.settings([given for index, given in enumerate(GIVEN) if index != missing])


@pytest.mark.parametrize("change", [{"JAX_PLATFORMS": "tpu"}, {"JAX_BACKEND_TARGET": "127.0.0.1:29000"}])
def test_an_environment_that_leads_to_no_proxy_is_said(change: dict[str, str]) -> None:
    assert trainer.target(JAX) == "grpc://127.0.0.1:29000"
    with pytest.raises(TrainerError, match="lead to no Pathways service"):
        trainer.target(JAX | change)


@pytest.mark.parametrize("variable", sorted({*JAX} - {"XCLOUD_ENVIRONMENT"}))
def test_a_variable_without_which_jax_reaches_no_proxy_is_named(variable: str) -> None:
    with pytest.raises(TrainerError, match=variable):
        trainer.target({name: value for name, value in JAX.items() if name != variable})
