"""`pathways schema`: what a stack file may say, for editors."""

from __future__ import annotations

import json

import typer

from pathways import schema


def command() -> None:
    """Print the JSON Schema of a stack file; the shipped stacks name the copy in stacks/schema.json."""
    typer.echo(document(), nl=False)


def document() -> str:
    """The schema as a file's content."""
    return json.dumps(schema.stack_file(), indent=2, ensure_ascii=False) + "\n"
