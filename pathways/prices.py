"""What machines cost per hour, from a price file. A price that the file does not state is missing, never estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pathways.inventory import Capacity, Machines

Rates = dict[str, dict[str, dict[Capacity, float]]]
_KINDS: dict[Capacity, str] = {
    "on_demand": "on demand",
    "spot": "spot",
    "reserved": "from a reservation",
    "flex_start": "flex-start",
}


class PriceFileError(ValueError):
    """A price file that cannot be used: what is wrong with it and where."""


class Prices(BaseModel):
    """A price file: per thing, region and kind of capacity, in `currency` per hour."""

    model_config = ConfigDict(extra="forbid")

    as_of: str = Field(min_length=1)
    source: str = Field(min_length=1)
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    tpu_chip: Rates = {}
    cpu_vcpu: Rates = {}
    machine: Rates = {}

    def per_vm(self, machines: Machines) -> float | None:
        """Price of one of the VMs per hour, None where the file states none."""
        name, region = machines.machine_type or "", machines.region or ""
        family, _, size = name.rpartition("-")
        options: list[tuple[Rates, str, float]] = [(self.machine, name, 1)]
        if machines.tpu:
            options.append((self.tpu_chip, machines.tpu.generation, machines.tpu.chips_per_vm))
        elif size.isdigit():
            options.append((self.cpu_vcpu, family, int(size)))
        for rates, key, times in options:
            rate = rates.get(key, {}).get(region, {}).get(machines.capacity)
            if rate is not None:
                return rate * times
        return None


@dataclass(frozen=True)
class Cost:
    """A price per hour, and what of it the price file does not know."""

    per_hour: float = 0.0
    unpriced: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.unpriced


def cost(prices: Prices, machines: Iterable[Machines]) -> Cost:
    """Sum of what is priced, and one line for each kind of machine that is not."""
    total = 0.0
    unpriced: dict[str, None] = {}
    for each in machines:
        price = prices.per_vm(each)
        if price is None:
            what = f"{each.machine_type or 'machine type unknown'} in {each.region or 'an unknown region'}"
            unpriced[f"{what}, {_KINDS[each.capacity]}"] = None
        else:
            total += price * each.vms
    return Cost(total, tuple(unpriced))


def load(path: Path) -> Prices:
    """Read a price file. Raises PriceFileError."""
    try:
        return _parse(path.read_text("utf-8"), path.name)
    except OSError as error:
        raise PriceFileError(f"{path} cannot be read: {error.strerror}.") from error


@cache
def example() -> Prices:
    """The price file that ships with the project."""
    return _parse(resources.files("pathways").joinpath("prices.yaml").read_text("utf-8"), "prices.yaml")


def _parse(content: str, name: str) -> Prices:
    try:
        return Prices.model_validate(yaml.safe_load(content))
    except yaml.YAMLError as error:
        raise PriceFileError(f"{name} is not YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}" for fault in error.errors()
        )
        raise PriceFileError(f"{name}: {faults}. pathways/prices.yaml shows the form.") from error
