"""`python -m ci`: what the pipelines run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ci import comment, pulumi, stacks
from ci.errors import StepError
from ci.stacks import Stack
from cli.report import command as report
from cli.report import reading, summary
from cli.report.model import ReportError
from cli.report.summary import StackReport, Verdict
from pathways import prices

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
Out = Annotated[Path, typer.Option(help="Folder for event logs and reports.")]
AtOnce = Annotated[int, typer.Option(min=1, help="Stacks that are previewed at the same time.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[STACK]...", help="Default: those of the environment, else all.")
]
Environment = Annotated[str | None, typer.Option(help="Only stacks of this environment.")]
PriceFile = Annotated[Path | None, typer.Option("--prices", help="Your price file.")]


@app.command()
def touched(
    base: Annotated[str, typer.Option(help="Branch or commit that the change is for.")] = "origin/main",
) -> None:
    """Print the names of the stacks that a branch touches, as a line of words."""
    typer.echo(" ".join(stack.name for stack in stacks.touched(stacks.changed_since(base))))


@app.command()
def preview(
    names: Names = None,
    environment: Environment = None,
    out: Out = Path("out"),
    at_once: AtOnce = 4,
    prices: PriceFile = None,
) -> None:
    """Preview stacks under their environments' policies; ends with the verdict that `pathways report` gives."""
    raise typer.Exit(int(_preview(_chosen(names, environment), out, at_once, False, prices)))


@app.command()
def drift(
    names: Names = None,
    environment: Environment = None,
    out: Out = Path("out"),
    at_once: AtOnce = 4,
    prices: PriceFile = None,
) -> None:
    """Say where the cloud differs from the stacks' state; 0 only where nothing does."""
    raise typer.Exit(int(_preview(_chosen(names, environment), out, at_once, True, prices)))


@app.command("comment")
def comment_(
    file: Annotated[Path, typer.Argument(help="The report as Markdown.")],
    pull_request: Annotated[int, typer.Option(help="Number of the pull request.")],
) -> None:
    """Put the report on a pull request: one comment, updated in place. Reads GITHUB_TOKEN and GITHUB_REPOSITORY."""
    try:
        token, repository = os.environ["GITHUB_TOKEN"], os.environ["GITHUB_REPOSITORY"]
        body = file.read_text("utf-8")
    except KeyError as error:
        raise StepError(f"{error.args[0]} is not set.") from None
    except OSError as error:
        raise StepError(f"{file} cannot be read: {error.strerror}.") from error
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    typer.echo(comment.put(body, api, repository, pull_request, token))


@app.command()
def deploy(
    environment: Annotated[str, typer.Argument(help="Environment of ci/environments.yaml.")],
    out: Out = Path("out"),
    at_once: AtOnce = 4,
    prices: PriceFile = None,
) -> None:
    """Bring an environment's stacks up, one after the other.

    Nothing is deployed when a preview fails, a policy refuses, or something would be destroyed that nobody
    acknowledged in the environment's policy configuration.
    """
    wanted = stacks.of_environment(environment)
    verdict = _preview(wanted, out, at_once, False, prices)
    if verdict not in (Verdict.NOTHING, Verdict.CHANGES):
        raise StepError("Nothing was deployed; the report above says why.", int(verdict))
    for stack in wanted:
        typer.echo(f"\n--- {stack.name}", err=True)
        code = pulumi.up(stack)
        if code != 0:
            raise StepError(
                f"{stack.name} was not brought up (pulumi ended with {code}); the stacks after it were left alone."
            )


def _chosen(names: Sequence[str] | None, environment: str | None) -> list[Stack]:
    found = stacks.of_environment(environment) if environment else stacks.all_stacks()
    return stacks.chosen(names) if names else found


def _preview(wanted: Sequence[Stack], out: Path, at_once: int, drift: bool, price_file: Path | None) -> Verdict:
    """Preview, write report.md and report.json beside the logs, show the table."""
    try:
        price_list = prices.load(price_file) if price_file else prices.example()
        logs = pulumi.preview(wanted, out, at_once, drift)
        reports: list[StackReport] = []
        for stack, log in zip(wanted, logs, strict=True):
            names = report.acknowledgements(stack.policies)
            reports.append(summary.summarise(reading.read_file(log, stack.name), price_list, names))
    except (ReportError, prices.PriceFileError) as error:
        raise StepError(str(error)) from error
    report.write(reports, price_list, out / "report.md", out / "report.json")
    verdict = summary.worst(reports)
    return verdict


def main() -> None:
    try:
        app(prog_name="python -m ci")
    except StepError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.code)


if __name__ == "__main__":
    main()
