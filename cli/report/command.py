"""The command: files in, one report out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cli.report import data, markdown, reading, summary, terminal
from cli.report.model import Preview, ReportError
from cli.report.summary import StackReport
from pathways import prices
from pathways.prices import PriceFileError, Prices


def command(
    previews: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What `pulumi preview --json` wrote, one file per stack, or - for standard input. With "
            "PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true it tells about policies and unchanged resources as well.",
        ),
    ],
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a pull request comment; - prints it.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; - prints it.")
    ] = None,
    price_file: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="Your prices; default: an example of list prices.")
    ] = None,
    acknowledged: Annotated[
        list[str] | None,
        typer.Option("--acknowledge", metavar="NAME", help="A resource that may be replaced or deleted. Repeatable."),
    ] = None,
    policy_config: Annotated[
        Path | None,
        typer.Option(
            "--policy-config", metavar="FILE", help="Take acknowledged names from a policy pack's configuration too."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=2000, help="Most characters of the pull request comment.")
    ] = markdown.GITHUB_LIMIT,
) -> None:
    """Say what previews would change, what that costs, and whether policies allow it.

    Exit codes: 0 nothing to do, 3 changes, 4 destructive changes, 5 a policy forbids it, 1 a preview failed.
    """
    try:
        price_list = prices.load(price_file) if price_file else prices.example()
        names = [*(acknowledged or []), *(acknowledgements(policy_config) if policy_config else [])]
        reports = [summary.summarise(_read(path), price_list, names) for path in previews]
    except (ReportError, PriceFileError) as error:
        Console(stderr=True).print(f"[red]error:[/] {error}", highlight=False)
        raise typer.Exit(summary.Verdict.FAILURE) from None
    write(reports, price_list, markdown_file, json_file, limit)
    raise typer.Exit(int(summary.worst(reports)))


def write(
    reports: Sequence[StackReport],
    price_list: Prices,
    markdown_file: Path | None,
    json_file: Path | None,
    limit: int = markdown.GITHUB_LIMIT,
) -> None:
    """Write the forms that were asked for; the terminal's unless one of them took standard output."""
    if markdown_file:
        _put(markdown_file, markdown.render(reports, price_list, limit))
    if json_file:
        _put(json_file, json.dumps(data.render(reports, price_list), indent=2, ensure_ascii=False) + "\n")
    if Path("-") not in (markdown_file, json_file):
        # A pipe or file has no width: nothing is to be cut there.
        terminal.show(Console() if Console().is_terminal else Console(width=200), reports, price_list)


def acknowledgements(policy_config: Path) -> list[str]:
    """The resources whose replacement a policy configuration acknowledges. Raises ReportError."""
    try:
        document = json.loads(policy_config.read_text("utf-8"))
        names = document.get("tpu-pool-replacement", {})
        return [str(name) for name in names.get("acknowledged", [])] if isinstance(names, dict) else []
    except (OSError, ValueError, AttributeError) as error:
        raise ReportError(f"{policy_config} is no policy configuration: {error}") from error


def _read(path: Path) -> Preview:
    if str(path) == "-":
        return reading.read(sys.stdin.read(), "stdin", "standard input")
    return reading.read_file(path)


def _put(path: Path, content: str) -> None:
    if str(path) == "-":
        typer.echo(content, nl=False)
        return
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}.") from None
