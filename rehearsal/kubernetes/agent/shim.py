"""One run of a container: `python shim.py FOLDER` starts what FOLDER/run.json says and stays until it has ended.

The standard output gets one JSON line, {"pid": N} or {"error": "..."}, and is closed. The container's own output goes
to its log in the form of CRI logs, which `kubectl logs` is served from; its end to FOLDER/exit.json. SIGTERM is handed
on to the container, SIGINT kills all of it.

It runs in a bare interpreter for every container of a rehearsal: standard library only, and no package of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

if TYPE_CHECKING:
    from rehearsal.kubernetes.agent import namespace
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import namespace

# Of <sys/prctl.h>.
DIE_WITH_PARENT = 1
LONGEST_PART = 16 * 1024
# After its first process has ended, how long others of a container may still write.
DRAIN_SECONDS = 0.2


def main(folder: str) -> int:
    with open(f"{folder}/run.json") as file:
        run = json.load(file)
    os.makedirs(os.path.dirname(run["log"]), exist_ok=True)
    with open(run["log"], "ab", buffering=0) as log:
        return _serve(run, folder, log)


def _serve(run: dict[str, Any], folder: str, log: BinaryIO) -> int:
    faults, fault = os.pipe()
    outputs = {stream: os.pipe() for stream in ("stdout", "stderr")}
    shim = os.getpid()
    child = os.fork()
    if child == 0:
        _become(shim, run, folder, outputs["stdout"][1], outputs["stderr"][1], fault)
    for descriptor in (fault, outputs["stdout"][1], outputs["stderr"][1]):
        os.close(descriptor)
    signal.signal(signal.SIGTERM, lambda *_: _signal(child, signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: _kill(child))
    with os.fdopen(faults) as pipe:
        error = pipe.read()  # ends when the container's program has taken the child's place
    if not error:
        record = {"shim": shim, "born": namespace.born(shim), "pid": child}
        _save(f"{folder}/record.json", {**record, "pidBorn": namespace.born(child), "started": time.time()})
    print(json.dumps({"error": error} if error else {"pid": child}), flush=True)
    os.close(1)
    code = _follow(child, log, {stream: pipe[0] for stream, pipe in outputs.items()})
    if not error:
        with contextlib.suppress(FileNotFoundError):  # the pod, and its folder, may be gone already
            _save(f"{folder}/exit.json", {"code": code, "finished": time.time()})
    return 0


def _become(shim: int, run: dict[str, Any], folder: str, stdout: int, stderr: int, fault: int) -> NoReturn:
    """Turn into the container's program; what goes wrong is written to `fault`."""
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != shim:
            os._exit(127)  # it was killed before this process could say so
        namespace.enter_new(run["hostName"])
        root = f"{folder}/root"
        os.makedirs(root, exist_ok=True)
        namespace.Root(root).build(run["mounts"], run["kept"], run["workingDir"])
        nothing = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((nothing, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        try:
            os.execvpe(run["argv"][0], run["argv"], run["env"])
        except FileNotFoundError:
            os.write(fault, f'exec: "{run["argv"][0]}": no such file or directory'.encode())
    except OSError as error:
        os.write(fault, str(error).encode())
    os._exit(127)


def _follow(child: int, log: BinaryIO, pipes: dict[str, int]) -> int:
    """Write the container's output to its log until it has ended; its exit code, 128 + N after signal N."""
    ended = os.pidfd_open(child)
    selector = selectors.DefaultSelector()
    selector.register(ended, selectors.EVENT_READ)
    parts = {stream: b"" for stream in pipes}
    for stream, pipe in pipes.items():
        os.set_blocking(pipe, False)
        selector.register(pipe, selectors.EVENT_READ, stream)
    deadline = None
    while deadline is None or selector.get_map():
        for key, _ in selector.select(None if deadline is None else max(0.0, deadline - time.monotonic())):
            if key.data is None:
                selector.unregister(ended)
                deadline = time.monotonic() + DRAIN_SECONDS
            elif not (data := _read(key.fd)):
                selector.unregister(key.fd)
            else:
                parts[key.data] = _write_lines(log, key.data, parts[key.data] + data)
        if deadline is not None and time.monotonic() >= deadline:
            break
    for stream, rest in parts.items():
        if rest:
            log.write(_line(stream, b"F", rest))
    _kill(child)  # what it left running
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _read(pipe: int) -> bytes:
    with contextlib.suppress(BlockingIOError):
        return os.read(pipe, 65536)
    return b""


def _write_lines(log: BinaryIO, stream: str, data: bytes) -> bytes:
    """Write the full lines of `data`, and of a long one what is there; the rest."""
    *lines, rest = data.split(b"\n")
    written = [_line(stream, b"F", line) for line in lines]
    while len(rest) >= LONGEST_PART:
        written.append(_line(stream, b"P", rest[:LONGEST_PART]))
        rest = rest[LONGEST_PART:]
    if written:
        log.write(b"".join(written))
    return rest


def _line(stream: str, tag: bytes, text: bytes) -> bytes:
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{moment}.{nanoseconds:09}Z {stream} ".encode() + tag + b" " + text + b"\n"


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _kill(leader: int) -> None:
    """Kill a container's first process and all in its session's group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _save(path: str, value: dict[str, Any]) -> None:
    draft = f"{path}.new"
    with open(draft, "w") as file:
        json.dump(value, file)
    os.replace(draft, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
