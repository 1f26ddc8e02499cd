"""Other people's tools, and the differences from them that are meant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracles import environment
from tests.oracles.differences import Record
from tests.oracles.environment import Oracles


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "oracles" in item.path.parts:
            item.add_marker(pytest.mark.oracles)


@pytest.fixture(scope="session")
def oracles(tmp_path_factory: pytest.TempPathFactory) -> Oracles:
    return Oracles(environment.ensure(), tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def record() -> Iterator[Record]:
    """Which of the differences that are meant were seen."""
    return Record()
