"""Who a client of a shared service is, as its options say."""

from __future__ import annotations

import getpass
import re
import secrets
from typing import Annotated

import typer

from pathways import names
from pathways.geometry import count
from pathways.plan import Plan
from pathways.proxy_job import Client

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")

SlicesOption = Annotated[
    int | None,
    typer.Option("--slices", min=1, metavar="N", help="Mode service: how many slices the client uses; default: all."),
]


def chosen(plan: Plan, name: str, slices: int | None) -> Client:
    """The client of that name. Raises typer.BadParameter for a name that no Job can have, and for too many slices."""
    longest = longest_name(plan)
    if not _NAME.fullmatch(name) or len(name) > longest:
        message = f'"{name}" does not fit into the name of a Job. Use up to {longest} lower-case letters, digits and -.'
        raise typer.BadParameter(message, param_hint="--client")
    if slices and slices > plan.settings.slices.count:
        message = f"{plan.settings.stack} has {count(plan.settings.slices.count, 'slice')}, not {slices}."
        raise typer.BadParameter(message, param_hint="--slices")
    return Client(name, slices)


def longest_name(plan: Plan) -> int:
    """Characters a client's name may have: that of its Job is a label of its pod."""
    return names.LABEL_LIMIT - len(names.proxy_job(plan.settings.workload.name, ""))


def name_of_own(plan: Plan) -> str:
    """A name for a client of whoever runs this, apart from their other ones."""
    try:
        user = re.sub(r"[^a-z0-9]+", "-", getpass.getuser().lower()).strip("-")
    except (KeyError, OSError):  # an account without a name
        user = ""
    suffix = f"-{secrets.token_hex(2)}"
    return (user or "client")[: longest_name(plan) - len(suffix)].rstrip("-") + suffix
