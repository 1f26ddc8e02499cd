"""The file system that a container sees: this machine's, with other files and folders in some places.

Used by the shim, which starts in a bare interpreter for every container: standard library only.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

# Of <sched.h> and <sys/mount.h>.
NEW_MOUNTS, NEW_HOST_NAME, NEW_USER = 0x00020000, 0x04000000, 0x10000000
BIND, RECURSIVE, PRIVATE, REMOUNT, READ_ONLY = 0x1000, 0x4000, 0x40000, 0x20, 0x1

_libc = ctypes.CDLL(None, use_errno=True)


def enter_new(host_name: str) -> None:
    """Go into namespaces of one's own, also as an ordinary user. Raises OSError where the kernel lets nobody."""
    user, group = os.geteuid(), os.getegid()
    _call("unshare", NEW_MOUNTS | NEW_HOST_NAME | (NEW_USER if user else 0))
    if user:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    _call("sethostname", host_name.encode(), len(host_name.encode()))
    _mount("none", "/", RECURSIVE | PRIVATE)


def born(pid: int) -> int:
    """When a process started, in ticks since boot: tells it from a later one with the same id. Raises OSError."""
    with open(f"/proc/{pid}/stat") as file:
        # After the name in brackets, which may contain anything: fields 3 (state) to 22 (start time).
        return int(file.read().rpartition(")")[2].split()[19])


class Root:
    """What is to become the root of the calling process, who is in namespaces of its own.

    Nothing of this machine's file system changes: where an entry is missing in one of its folders, a folder of our own
    with the same entries takes that one's place.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._ours: set[str] = set()
        self._volumes: list[str] = []

    def build(self, mounts: Iterable[tuple[str, str, bool]], kept: Iterable[str], folder: str) -> None:
        """Mount and change the root; `folder` exists afterwards.

        Each mount is (source, place, read only); a place need not exist on this machine. `kept` are folders of this
        machine that stay visible although a mount covers what they lie in.
        """
        mounts = sorted(mounts, key=lambda mount: mount[1].count("/"))
        covered = [path for path in kept if any(_within(path, place) for _, place, _ in mounts)]
        # Opened before anything is covered: what a path leads to changes below.
        sources = {path: os.open(path, os.O_PATH) for path in {*(source for source, _, _ in mounts), *covered}}
        self._fill(self._root, "/")
        for source, place, read_only in mounts:
            target = self._make_place(place, folder=os.path.isdir(_of(sources[source])))
            _bind(_of(sources[source]), target)
            self._volumes.append(target)
            if read_only:
                _mount("none", target, BIND | REMOUNT | READ_ONLY)
        for path in covered:
            _bind(_of(sources[path]), self._make_place(path, folder=True))
        self._make_place(folder, folder=True)
        os.chroot(self._root)
        os.chdir(folder)

    def _make_place(self, place: str, *, folder: bool) -> str:
        """The path below the root at which something can be mounted as `place`."""
        path = self._root
        names = [name for name in place.split("/") if name not in ("", ".", "..")]
        for number, name in enumerate(names):
            here, path = path, f"{path}/{name}"
            if os.path.islink(path):
                target = os.readlink(path)
                base = self._root + target if target.startswith("/") else f"{here}/{target}"
                whole = os.path.normpath("/".join([base, *names[number + 1 :]]))
                return self._make_place(whole.removeprefix(self._root), folder=folder)
            if os.path.lexists(path):
                continue
            if here not in self._ours and not any(_within(here, volume) for volume in self._volumes):
                before = os.open(here, os.O_PATH)
                self._fill(here, _of(before))
            if folder or number < len(names) - 1:
                os.mkdir(path)
                self._ours.add(path)
            else:
                _write(path, "")
        return path

    def _fill(self, folder: str, source: str) -> None:
        """Put a folder of our own there, with the entries of another."""
        entries = list(os.scandir(source))
        _mount("tmpfs", folder, 0, "tmpfs", "mode=755")
        self._ours.add(folder)
        for entry in entries:
            target = f"{folder}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), target)
            elif entry.is_dir():
                os.mkdir(target)
                _bind(entry.path, target)
            else:
                _write(target, "")
                _bind(entry.path, target)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _of(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _bind(source: str, target: str) -> None:
    _mount(source, target, BIND | RECURSIVE)


def _mount(source: str, target: str, flags: int, kind: str | None = None, data: str | None = None) -> None:
    encoded = [text.encode() if text is not None else None for text in (source, target, kind, data)]
    _call("mount", encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
