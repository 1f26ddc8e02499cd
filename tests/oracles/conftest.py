"""Other people's tools, installed once."""

from __future__ import annotations

import pytest

from tests.oracles.environment import ENVIRONMENT, Oracles


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "oracles" in item.path.parts:
            item.add_marker(pytest.mark.oracles)


@pytest.fixture(scope="session")
def oracles(tmp_path_factory: pytest.TempPathFactory) -> Oracles:
    return Oracles(ENVIRONMENT.ensure(), tmp_path_factory.mktemp("home"))
