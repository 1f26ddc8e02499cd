"""The pipelines' steps, with a stand-in for the Pulumi CLI and one for GitHub."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from ci import comment, stacks
from ci.__main__ import app
from ci.errors import StepError
from cli.report import markdown
from tests.unit.report import preview_documents as documents

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with three stacks in two environments."""
    made = tmp_path / "checkout"
    for folder in ("stacks", "ci", "policies/environments"):
        (made / folder).mkdir(parents=True)
    for name in ("dev-a", "dev-b", "prod"):
        (made / "stacks" / f"Pulumi.{name}.yaml").write_text("config: {}\n")
    (made / "ci" / "environments.yaml").write_text((ROOT / "ci" / "environments.yaml").read_text())
    for file in (ROOT / "policies" / "environments").glob("*.json"):
        (made / "policies" / "environments" / file.name).write_text(file.read_text())
    monkeypatch.setattr(stacks, "CHECKOUT", made)
    for function in (stacks.all_stacks, stacks.chosen, stacks.of_environment, stacks.touched, stacks.changed_since):
        monkeypatch.setattr(function, "__defaults__", (made,))
    return made


class Cli:
    """A `pulumi` on PATH that notes how it is called and prints what a test wants."""

    def __init__(self, folder: Path) -> None:
        self.calls_file, self.folder = folder / "calls", folder
        program = folder / "pulumi"
        code = (
            "import os, sys, pathlib\n"
            f"here = pathlib.Path({str(folder)!r})\n"
            "with open(here / 'calls', 'a') as calls: calls.write(' '.join(sys.argv[1:]) + chr(10))\n"
            "stack = sys.argv[sys.argv.index('--stack') + 1]\n"
            "log = here / f'{stack}.{sys.argv[1]}.out'\n"
            "streaming = os.environ.get('PULUMI_ENABLE_STREAMING_JSON_PREVIEW')\n"
            "print(log.read_text() if log.exists() and streaming else '', end='')\n"
            "bad = here / f'{stack}.{sys.argv[1]}.err'\n"
            "if bad.exists(): sys.exit(bad.read_text())\n"
        )
        program.write_text(f"#!{sys.executable}\n{code}")
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def says(self, stack: str, before: list, after: list, *extra: dict[str, Any], command: str = "preview") -> None:
        text = documents.events(before, after, *extra).replace(f":{documents.STACK}::", f":{stack}::")
        (self.folder / f"{stack}.{command}.out").write_text(text)

    def fails(self, stack: str, words: str, command: str = "preview") -> None:
        (self.folder / f"{stack}.{command}.err").write_text(words)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
    made = Cli(folder)
    for stack in ("dev-a", "dev-b", "prod"):
        for command in ("preview", "refresh"):
            made.says(stack, documents.gke(), documents.gke(), command=command)
    return made


def step(*arguments: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(app, list(arguments))
    if isinstance(outcome.exception, StepError):
        return outcome.exception.code, f"{outcome.output}{outcome.exception}"
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
    return outcome.exit_code, outcome.output


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["stacks/Pulumi.dev-b.yaml"], ["dev-b"]),
        (["pathways/tpu.yaml"], ["dev-a", "dev-b", "prod"]),
        (["requirements.lock", "stacks/Pulumi.dev-b.yaml"], ["dev-a", "dev-b", "prod"]),
        (["docs/policies.md", "tests/unit/x.py", "cli/app.py"], []),
        ([], []),
    ],
)
def test_a_change_touches_the_stacks_it_can_change(checkout: Path, paths: list[str], expected: list[str]) -> None:
    assert [stack.name for stack in stacks.touched(paths, checkout)] == expected


def test_a_branch_is_compared_with_where_it_left_its_base(checkout: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-C", str(checkout)]

    def run(*arguments: str) -> None:
        subprocess.run([*git, *arguments], check=True, capture_output=True)

    run("init", "-b", "main")
    run("add", ".")
    run("commit", "-m", "base")
    run("switch", "-c", "work")
    (checkout / "stacks" / "Pulumi.prod.yaml").write_text("config: {a: 1}\n")
    run("commit", "-am", "change")
    run("switch", "main")
    (checkout / "stacks" / "Pulumi.dev-a.yaml").write_text("config: {a: 1}\n")
    run("commit", "-am", "other")
    run("switch", "work")
    assert step("touched", "--base", "main") == (0, "prod\n")
    assert step("touched", "--base", "nowhere")[0] == 1


def test_every_stack_of_this_repository_belongs_to_an_environment() -> None:
    assert all(stack.policies.exists() for stack in stacks.all_stacks(ROOT))


def test_a_stack_of_no_environment_is_refused(checkout: Path) -> None:
    (checkout / "ci" / "environments.yaml").write_text("production: {stacks: [prod], policies: p.json}\n")
    assert step("preview") == (1, "Stack dev-a belongs to no environment: add a pattern to ci/environments.yaml.")


def test_a_preview_runs_under_the_policies_of_the_stacks_environment(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    code, output = step("preview", "--out", str(tmp_path / "out"))
    assert code == 0 and "nothing to do" in output
    assert len(cli.calls) == 3
    production = next(call for call in cli.calls if "--stack prod " in call)
    assert production.startswith("preview --stack prod --non-interactive --json --policy-pack ")
    assert production.endswith("policies/environments/production.json")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "dev-a.jsonl",
        "dev-b.jsonl",
        "prod.jsonl",
        "report.json",
        "report.md",
    ]


def test_the_exit_code_is_the_verdict_over_all_stacks(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    cli.says("dev-a", [], documents.gke())
    assert step("preview", "--out", str(tmp_path))[0] == 3
    cli.says("dev-b", documents.gke(), [])
    assert step("preview", "--out", str(tmp_path))[0] == 4
    assert step("preview", "dev-a", "--out", str(tmp_path))[0] == 3
    assert step("preview", "--environment", "production", "--out", str(tmp_path))[0] == 0


def test_a_preview_that_cannot_run_is_reported_with_its_last_words(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    (cli.folder / "dev-a.preview.out").unlink()
    cli.fails("dev-a", "error: no credentials for the bucket")
    assert step("preview", "--out", str(tmp_path))[0] == 1
    assert "no credentials for the bucket" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["stacks"][0]["stack"] == "dev-a"


def test_a_policy_violation_is_no_failure(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    cli.says(
        "prod",
        documents.gke(),
        documents.gke(),
        documents.policy_event("no-spot", "spot"),
        documents.diagnostic("error", "preview failed"),
    )
    cli.fails("prod", "error: preview failed")
    assert step("preview", "--out", str(tmp_path))[0] == 5


def test_drift_is_what_a_refresh_would_change(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    assert step("drift", "--out", str(tmp_path))[0] == 0
    assert all(call.startswith("refresh --stack ") and "--preview-only --json" in call for call in cli.calls)
    cli.says("dev-b", documents.gke(), [], command="refresh")
    assert step("drift", "--out", str(tmp_path))[0] == 4


def test_a_deployment_updates_the_environments_stacks_only(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    cli.says("dev-a", [], documents.gke())
    assert step("deploy", "development", "--out", str(tmp_path))[0] == 0
    ups = [call for call in cli.calls if call.startswith("up ")]
    assert [call.split()[2] for call in ups] == ["dev-a", "dev-b"]
    assert all("--policy-pack-config" in call for call in ups)


@pytest.mark.parametrize("case", ["destroys", "violates", "fails"])
def test_nothing_is_deployed_that_is_refused(checkout: Path, cli: Cli, tmp_path: Path, case: str) -> None:
    extra = {
        "destroys": [],
        "violates": [documents.policy_event("no-spot", "spot")],
        "fails": [documents.diagnostic("error", "boom")],
    }[case]
    cli.says("dev-b", documents.gke(), documents.gke(slices__topology="4x8"), *extra)
    code, output = step("deploy", "development", "--out", str(tmp_path))
    assert code == {"destroys": 4, "violates": 5, "fails": 1}[case]
    assert "Nothing was deployed" in output
    assert not [call for call in cli.calls if call.startswith("up ")]


def test_destruction_that_the_environment_acknowledges_is_deployed(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    cli.says("prod", documents.gke(), documents.gke(slices__topology="4x8"))
    config = checkout / "policies" / "environments" / "production.json"
    config.write_text(json.dumps({"tpu-pool-replacement": {"acknowledged": ["tpu-np-0", "tpu-np-1", "jobset"]}}))
    assert step("deploy", "production", "--out", str(tmp_path))[0] == 0
    assert [call.split()[2] for call in cli.calls if call.startswith("up ")] == ["prod"]


def test_a_deployment_stops_at_the_first_stack_that_fails(checkout: Path, cli: Cli, tmp_path: Path) -> None:
    cli.fails("dev-a", "error: quota", command="up")
    code, output = step("deploy", "development", "--out", str(tmp_path))
    assert code == 1 and "dev-a was not brought up" in output
    assert not [call for call in cli.calls if call.startswith("up --stack dev-b")]


class GitHub(ThreadingHTTPServer):
    """As much of GitHub's API as a comment needs, two comments to a page."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, Any]] = [{"id": n, "body": f"hello {n}"} for n in range(3)]
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: GitHub

    def do_GET(self) -> None:
        page = 2 if "page=2" in self.path.replace("per_page", "") else 1
        next_page = f'<{self.server.url}/repos/o/r/issues/7/comments?page=2>; rel="next"'
        self._answer(self.server.comments[2 * page - 2 : 2 * page], {"Link": next_page} if page == 1 else {})

    def do_POST(self) -> None:
        self.server.comments.append({"id": 99, **self._body()})
        self._answer({"html_url": "made"}, {})

    def do_PATCH(self) -> None:
        number = int(self.path.rpartition("/")[2])
        next(each for each in self.server.comments if each["id"] == number).update(self._body())
        self._answer({"html_url": "updated"}, {})

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, document: object, headers: dict[str, str]) -> None:
        content = json.dumps(document).encode()
        self.send_response(self.server.status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    server = GitHub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/r")
    monkeypatch.setenv("GITHUB_TOKEN", "t")
    yield server
    server.shutdown()
    server.server_close()


def test_a_second_report_updates_the_comment_of_the_first(github: GitHub, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    file.write_text(f"{markdown.MARKER}\none")
    assert step("comment", str(file), "--pull-request", "7") == (0, "made\n")
    file.write_text(f"{markdown.MARKER}\ntwo")
    assert step("comment", str(file), "--pull-request", "7") == (0, "updated\n")
    assert [each["body"] for each in github.comments] == [
        "hello 0",
        "hello 1",
        "hello 2",
        f"{markdown.MARKER}\ntwo",
    ]


def test_what_github_refuses_is_said_in_a_sentence(github: GitHub, tmp_path: Path) -> None:
    github.status = 403
    (tmp_path / "report.md").write_text(markdown.MARKER)
    code, output = step("comment", str(tmp_path / "report.md"), "--pull-request", "7")
    assert code == 1 and "GitHub answered 403" in output


def test_only_a_report_becomes_a_comment() -> None:
    with pytest.raises(StepError, match="no report"):
        comment.put("hello", "http://127.0.0.1:1", "o/r", 1, "t")


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def commands(text: str) -> list[list[str]]:
    """The `python -m ci` calls in a shell text, variables standing for one word."""
    found = []
    for line in text.splitlines():
        if "python -m ci " in line:
            words = line.partition("python -m ci ")[2].partition("||")[0].partition(")")[0].replace("$$", "$")
            found.append(shlex.split(words.rstrip('" ')) if words.count('"') % 2 else shlex.split(words.rstrip()))
    return found


def test_the_pipelines_call_steps_that_exist() -> None:
    texts = [
        str(step.get("run", ""))
        for file in WORKFLOWS
        for job in yaml.safe_load(file.read_text())["jobs"].values()
        for step in job["steps"]
    ]
    texts.append(yaml.safe_load((ROOT / "cloudbuild.yaml").read_text())["steps"][0]["args"][1])
    called = [call for text in texts for call in commands(text)]
    assert {call[0] for call in called} == {"touched", "preview", "comment", "deploy", "drift", "$STEP"}
    for name, *arguments in called:
        if name == "$STEP":
            continue
        options = CliRunner().invoke(app, [name, "--help"]).output
        for argument in arguments:
            assert not argument.startswith("--") or argument in options, (name, argument)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_has_an_identity_and_no_key(file: Path) -> None:
    text = file.read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"]["id-token"] == "write"
    assert "secrets." not in text and "credentials_json" not in text
    # What others can write into a pull request reaches a shell only through the environment.
    for job in workflow["jobs"].values():
        for each in job["steps"]:
            assert "${{" not in str(each.get("run", "")), each
