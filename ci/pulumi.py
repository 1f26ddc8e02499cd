"""Runs the Pulumi CLI on stacks, and keeps what it says for the report."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.stacks import CHECKOUT, Stack

# Errors that Pulumi writes to the terminal only, cut to what a report can hold.
LAST_WORDS = 2000


def preview(stacks: Sequence[Stack], out: Path, at_once: int, drift: bool = False) -> list[Path]:
    """Preview stacks into `out`, one event log each; with `drift` what a refresh would change.

    A preview that fails leaves a log that says so: whoever reads the logs decides.
    """
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        return list(pool.map(lambda stack: _preview(stack, out / f"{stack.name}.jsonl", drift), stacks))


def up(stack: Stack) -> int:
    """Deploy a stack, under the policies it was previewed with; the CLI's exit code."""
    argv = _argv("up", stack, "--yes", "--skip-preview", *_policies(stack))
    return subprocess.run(argv, cwd=CHECKOUT, check=False).returncode


def _preview(stack: Stack, log: Path, drift: bool) -> Path:
    if drift:
        argv = _argv("refresh", stack, "--preview-only", "--json")
    else:
        argv = _argv("preview", stack, "--json", *_policies(stack))
    environment = {**os.environ, "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"}
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            argv, cwd=CHECKOUT, env=environment, stdout=file, stderr=subprocess.PIPE, text=True, check=False
        )
    if done.returncode != 0 and '"summaryEvent"' not in log.read_text("utf-8"):
        words = done.stderr.strip()[-LAST_WORDS:] or f"pulumi ended with exit code {done.returncode}"
        event = {"sequence": 0, "timestamp": 0, "diagnosticEvent": {"severity": "error", "message": words}}
        with log.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps(event)}\n")
    return log


def _argv(command: str, stack: Stack, *arguments: str) -> list[str]:
    return ["pulumi", command, "--stack", stack.name, "--non-interactive", *arguments]


def _policies(stack: Stack) -> list[str]:
    return ["--policy-pack", str(CHECKOUT / "policies"), "--policy-pack-config", str(stack.policies)]
