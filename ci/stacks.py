"""The stacks of the repository, their environments, and which of them a change touches."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from ci.errors import StepError

CHECKOUT = Path(__file__).resolve().parent.parent
# What every stack is made from: a change here may change any of them.
SHARED = (
    "__main__.py",
    "Pulumi.yaml",
    "components/",
    "pathways/",
    "policies/",
    "ci/environments.yaml",
    "requirements.lock",
)


@dataclass(frozen=True)
class Stack:
    """A stack with a file in stacks/, and what its environment asks for."""

    name: str
    environment: str
    policies: Path


def all_stacks(checkout: Path = CHECKOUT) -> list[Stack]:
    """Every stack of the checkout. Raises StepError for one that belongs to no environment."""
    environments = yaml.safe_load((checkout / "ci" / "environments.yaml").read_text("utf-8"))
    found = []
    for file in sorted((checkout / "stacks").glob("Pulumi.*.yaml")):
        name = file.name.removeprefix("Pulumi.").removesuffix(".yaml")
        for environment, settings in environments.items():
            if any(fnmatchcase(name, pattern) for pattern in settings["stacks"]):
                found.append(Stack(name, environment, checkout / settings["policies"]))
                break
        else:
            raise StepError(f"Stack {name} belongs to no environment: add a pattern to ci/environments.yaml.")
    return found


def chosen(names: Iterable[str], checkout: Path = CHECKOUT) -> list[Stack]:
    """The stacks of these names. Raises StepError for a name that no stack has."""
    known = {stack.name: stack for stack in all_stacks(checkout)}
    wanted = list(dict.fromkeys(names))
    if unknown := [name for name in wanted if name not in known]:
        raise StepError(f"There is no stack {', '.join(unknown)}. Stacks: {', '.join(known)}.")
    return [known[name] for name in wanted]


def of_environment(environment: str, checkout: Path = CHECKOUT) -> list[Stack]:
    """The stacks of an environment. Raises StepError for one that does not exist."""
    names = yaml.safe_load((checkout / "ci" / "environments.yaml").read_text("utf-8"))
    if environment not in names:
        raise StepError(f"There is no environment {environment}. ci/environments.yaml has {', '.join(names)}.")
    return [stack for stack in all_stacks(checkout) if stack.environment == environment]


def touched(paths: Iterable[str], checkout: Path = CHECKOUT) -> list[Stack]:
    """The stacks that a change of these files may change."""
    changed = list(paths)
    stacks = all_stacks(checkout)
    if any(
        path == shared or (shared.endswith("/") and path.startswith(shared)) for path in changed for shared in SHARED
    ):
        return stacks
    return [stack for stack in stacks if f"stacks/Pulumi.{stack.name}.yaml" in changed]


def changed_since(base: str, checkout: Path = CHECKOUT) -> list[str]:
    """The files that differ from where this branch left `base`. Raises StepError when git cannot tell."""
    argv = ["git", "diff", "--name-only", f"{base}...HEAD"]
    done = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StepError(f"git cannot compare with {base} ({done.stderr.strip()}). Fetch it with its history.")
    return done.stdout.splitlines()
