"""Rules on how much an environment may hold, counted at the most that everything can grow to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi_policy import Severity

from pathways import prices
from pathways.inventory import Amount
from policies.resources import Resource, Stack
from policies.rule import Config, stack_rule

TITLE = "Budgets"

CHECKOUT = Path(__file__).resolve().parent.parent
FIX = "Ask for less, or have the environment's budget raised in its policy configuration"


def _most(what: str) -> Mapping[str, Any]:
    return {"type": "number", "minimum": 0, "description": f"Most {what}; not stated: no limit."}


@stack_rule("budget-slices", fix=FIX, severity=Severity.MEDIUM, parameters={"most": _most("slices of a stack")})
def slices(stack: Stack, config: Config) -> Iterator[tuple[Resource | None, str]]:
    """A stack has no more slices than the environment's budget."""
    yield from _within("slices", Amount.of(machines for _, machines in stack.machines).slices, config)


@stack_rule("budget-chips", fix=FIX, severity=Severity.MEDIUM, parameters={"most": _most("TPU chips of a stack")})
def chips(stack: Stack, config: Config) -> Iterator[tuple[Resource | None, str]]:
    """A stack has no more TPU chips than the environment's budget."""
    yield from _within("chips", Amount.of(machines for _, machines in stack.machines).chips, config)


@stack_rule(
    "budget-cost",
    fix=FIX,
    severity=Severity.MEDIUM,
    parameters={
        "most": _most("cost of a stack's VMs per hour, in the price file's currency"),
        "prices": {"type": "string", "description": "Price file, absolute or from the checkout; default: the example."},
        "unpriced": {
            "type": "string",
            "enum": ["refuse", "ignore"],
            "default": "refuse",
            "description": "What to do with machines that the price file has no price for.",
        },
    },
)
def cost(stack: Stack, config: Config) -> Iterator[tuple[Resource | None, str]]:
    """A stack's VMs cost no more per hour than the environment's budget."""
    if config.get("most") is None:
        return
    try:
        price_file = prices.load(CHECKOUT / config["prices"]) if config.get("prices") else prices.example()
    except prices.PriceFileError as error:
        yield None, str(error).rstrip(".")
        return
    total = prices.cost(price_file, (machines for _, machines in stack.machines))
    if total.per_hour > config["most"]:
        amounts = f"{price_file.currency} {total.per_hour:,.2f} per hour, the budget is {config['most']:,.2f}"
        yield None, f"the VMs cost {amounts} (prices as of {price_file.as_of})"
    elif total.unpriced and config["unpriced"] == "refuse":
        yield None, f"the price file has no price for {'; '.join(total.unpriced)}, so the budget cannot be kept"


def _within(what: str, number: int, config: Config) -> Iterator[tuple[Resource | None, str]]:
    most = config.get("most")
    if most is not None and number > most:
        yield None, f"the stack would have {number:,} {what}, the budget is {most:,.0f}"
