"""The double of the unit tests."""

from tests.unit.google.conftest import served as served
