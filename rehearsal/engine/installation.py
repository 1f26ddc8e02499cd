"""`pulumi install` for the pip toolchain: the virtual environment, then what the project requires."""

from __future__ import annotations

from collections.abc import AsyncIterator

from rehearsal.engine.children import Children, output_of
from rehearsal.engine.environment import Runtime, system_python
from rehearsal.errors import RehearsalError


async def install(runtime: Runtime, children: Children) -> AsyncIterator[tuple[str, bytes]]:
    """Do it, giving out what the tools print; raises RehearsalError at the first that fails."""
    if runtime.virtualenv is not None and not (runtime.virtualenv / "bin" / "python").is_file():
        yield "stdout", b"Creating virtual environment...\n"
        argv = [str(system_python()), "-m", "venv", str(runtime.virtualenv)]
        async for block in _run(argv, runtime, children, "the virtual environment cannot be made"):
            yield block
    requirements = _requirements(runtime)
    if not requirements:
        yield "stdout", b"Neither requirements.txt nor pyproject.toml: nothing to install\n"
        return
    yield "stdout", b"Installing dependencies...\n"
    argv = [str(runtime.python), "-m", "pip", "install", *requirements]
    async for block in _run(argv, runtime, children, "the dependencies cannot be installed"):
        yield block
    yield "stdout", b"Finished installing dependencies\n"


def _requirements(runtime: Runtime) -> list[str]:
    for folder in dict.fromkeys((runtime.directory, runtime.root)):
        if (folder / "requirements.txt").is_file():
            return ["-r", str(folder / "requirements.txt")]
    if (runtime.directory / "pyproject.toml").is_file():
        return ["-e", str(runtime.directory)]
    return []


async def _run(argv: list[str], runtime: Runtime, children: Children, failure: str) -> AsyncIterator[tuple[str, bytes]]:
    child = await children.start(argv, env=runtime.variables(), cwd=runtime.directory, piped=True)
    try:
        async for block in output_of(child):
            yield block
        code = await children.wait(child)
    finally:
        children.end(child)
    if code != 0:
        raise RehearsalError(f"{failure}: `{' '.join(argv)}` ended with exit code {code}")
