"""Programs, policy packs and providers in Python, under the real engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import yaml

from tests.processes import gone
from tests.rehearsal.engine.conftest import Engine

SLEEPER = """
import os, pulumi, time
pulumi.export("seen", True)
print("the program runs as", os.getpid())
time.sleep(120)
"""

DYNAMIC = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Doubler(ResourceProvider):
    def create(self, props):
        return CreateResult("id-1", {**props, "twice": 2 * props["number"]})

class Double(Resource):
    twice: pulumi.Output[float]
    def __init__(self, name, number):
        super().__init__(Doubler(), name, {"number": number, "twice": None})

pulumi.export("twice", Double("d", 21).twice)
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def no_outputs_named_bad(args, report):
    for resource in args.resources:
        if resource.resource_type == "pulumi:pulumi:Stack":
            report("stacks are refused here")

PolicyPack("pack", policies=[StackValidationPolicy(
    name="no-stacks", description="x", enforcement_level=EnforcementLevel.MANDATORY, validate=no_outputs_named_bad)])
"""

PLUGIN = """
import sys
import pulumi
from pulumi.provider import ConstructResult, Provider
from pulumi.provider.server import main

class Greeter(Provider):
    def construct(self, name, resource_type, inputs, options):
        component = pulumi.ComponentResource(resource_type, name, {}, options)
        greeting = pulumi.Output.from_input(inputs["who"]).apply(lambda who: f"hello {who}")
        component.register_outputs({"greeting": greeting})
        return ConstructResult(component.urn, {"greeting": greeting})

main(Greeter("1.0.0"), sys.argv[1:])
"""

USER_OF_PLUGIN = """
import pulumi

class Greeting(pulumi.ComponentResource):
    greeting: pulumi.Output[str]
    def __init__(self, name, who):
        super().__init__("greeter:index:Greeting", name, {"who": who, "greeting": None}, remote=True)

pulumi.export("greeting", Greeting("g", "you").greeting)
"""


def program_pid(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Read the CLI's output until the sleeping program says its pid."""
    seen = ""
    assert process.stdout is not None
    for line in process.stdout:
        seen += line
        if "the program runs as" in line:
            return int(line.split()[-1]), seen
    raise AssertionError(seen)


def test_a_program_reads_its_configuration_and_exports_outputs(engine: Engine) -> None:
    project = engine.project(
        "import pulumi, sys\n"
        "config = pulumi.Config()\n"
        "pulumi.export('number', config.require_int('number'))\n"
        "pulumi.export('secret', config.require_secret('word'))\n"
        "pulumi.export('prefix', sys.prefix)\n"
    )
    engine.run("config", "set", "number", "5", cwd=project)
    engine.run("config", "set", "--secret", "word", "hush", cwd=project)
    printed = engine.run("up", "--yes", cwd=project)
    assert "hush" not in printed
    assert "warning:" not in printed
    outputs = json.loads(engine.run("stack", "output", "--json", "--show-secrets", cwd=project))
    assert outputs == {"number": 5, "secret": "hush", "prefix": sys.prefix}


def test_an_exception_is_shown_once_with_the_users_own_frames(engine: Engine) -> None:
    project = engine.project("def fail():\n    raise ValueError('boom')\n\nfail()\n")
    printed = engine.run("preview", cwd=project, expect=1).split("Diagnostics:")[1]
    assert printed.count("ValueError: boom") == 1
    assert "line 2, in fail" in printed
    assert "pulumi-language-python-exec" not in printed
    assert "non-zero exit code" not in printed


def test_a_program_that_exits_is_reported_by_its_code(engine: Engine) -> None:
    project = engine.project("import sys\nsys.exit(3)\n")
    assert "Program exited with non-zero exit code: 3" in engine.run("preview", cwd=project, expect=1)


def test_a_missing_virtualenv_is_explained(engine: Engine) -> None:
    project = engine.project("", virtualenv="venv")
    assert "make it with `pulumi install`" in engine.run("preview", cwd=project, expect=1)


def test_install_makes_the_virtualenv_a_project_names(engine: Engine) -> None:
    project = engine.project("", virtualenv="venv")
    (project / "requirements.txt").write_text("")
    printed = engine.run("install", cwd=project)
    assert "Finished installing dependencies" in printed
    assert (project / "venv" / "bin" / "python").exists()


def test_an_interrupt_ends_the_program_without_a_traceback(engine: Engine) -> None:
    project = engine.project(SLEEPER)
    process = engine.start("up", "--yes", "--skip-preview", cwd=project)
    pid, printed = program_pid(process)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "update canceled" in rest
    assert "Traceback" not in printed + rest
    assert "KeyboardInterrupt" not in printed + rest
    assert gone(pid)


def test_a_killed_cli_leaves_no_program_behind(engine: Engine) -> None:
    project = engine.project(SLEEPER)
    process = engine.start("up", "--yes", "--skip-preview", cwd=project)
    pid, _ = program_pid(process)
    process.kill()
    process.wait()
    assert gone(pid)


def test_a_policy_pack_stops_an_update(engine: Engine) -> None:
    project = engine.project("")
    pack = engine.folder / "pack"
    pack.mkdir()
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (pack / "PulumiPolicy.yaml").write_text(yaml.safe_dump({"runtime": runtime}))
    (pack / "__main__.py").write_text(PACK)
    printed = engine.run("preview", "--policy-pack", str(pack), cwd=project, expect=1)
    assert "stacks are refused here" in printed
    assert "no-stacks" in printed


def test_a_dynamic_provider_creates_a_resource(engine: Engine) -> None:
    project = engine.project(DYNAMIC)
    engine.run("up", "--yes", cwd=project)
    assert json.loads(engine.run("stack", "output", "--json", cwd=project)) == {"twice": 42}


def test_a_plugin_written_in_python_constructs_a_component(engine: Engine) -> None:
    project = engine.project(USER_OF_PLUGIN)
    plugin = engine.folder / "greeter"
    plugin.mkdir()
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (plugin / "PulumiPlugin.yaml").write_text(yaml.safe_dump({"runtime": runtime}))
    (plugin / "__main__.py").write_text(PLUGIN)
    file = project / "Pulumi.yaml"
    plugins = {"providers": [{"name": "greeter", "path": str(plugin)}]}
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "plugins": plugins}))
    engine.run("up", "--yes", cwd=project)
    assert json.loads(engine.run("stack", "output", "--json", cwd=project)) == {"greeting": "hello you"}


def test_about_shows_the_interpreter_and_the_packages(engine: Engine) -> None:
    project = engine.project("")
    about = json.loads(engine.run("about", "--json", cwd=project))
    assert about["runtime"]["executable"] == sys.executable
    assert "pulumi-policy" in {dependency["name"] for dependency in about["dependencies"]}
