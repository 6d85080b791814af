"""What can befall a command: it is killed or interrupted, its disk is full, it may not write, it is started twice.

A fault comes at a random moment, is real (a small disk of its own that fills up; folders without permission, from which
even root's processes are kept by giving up the privilege), and is over when the processes that met it have ended.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Start = Callable[..., "subprocess.Popen[str]"]  # begin the command; may be told what to do before it
LONGEST = 300.0  # seconds after which a process counts as hanging
DISK = 48 << 20  # bytes
DROP_PRIVILEGE = 24  # PR_CAPBSET_DROP of prctl(2)
PRIVILEGES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: to read and write whatever permissions say


def mounted(place: Path) -> bool:
    """Whether the folder could be made a small disk of its own, for which one has to be root."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True).returncode == 0
    return False


def unmount(place: Path) -> None:
    subprocess.run(["umount", str(place)], check=True)


def obey_permissions() -> None:
    """In a child before its command: root's privilege to write anywhere is given up; others have none."""
    libc = ctypes.CDLL(None)
    for privilege in PRIVILEGES:
        libc.prctl(DROP_PRIVILEGE, privilege, 0, 0, 0)


def small_files() -> None:
    """In a child before its command: no file may grow beyond some kilobytes, where there is no small disk to fill."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = random.choice([0, 1000, 20_000, 60_000])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def ended(process: subprocess.Popen[str]) -> str:
    """What a process said on standard error, once it has ended by itself."""
    try:
        return process.communicate(timeout=LONGEST)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return f"Traceback: hung for {LONGEST:.0f} s\n" + process.communicate()[1]


class Faults:
    """The faults, each a method that starts the command, harms it, and returns its processes with what they said."""

    def __init__(self, place: Path, chance: random.Random, own_disk: bool, seconds: float) -> None:
        self.place, self.chance, self.own_disk, self.seconds = place, chance, own_disk, seconds

    def moment(self) -> None:
        """Some time, up to a little more than the command takes."""
        time.sleep(self.chance.uniform(0, 1.1 * self.seconds))

    def kill(self, start: Start, out: Path) -> list[tuple[subprocess.Popen[str], str]]:
        process = start()
        self.moment()
        process.kill()  # it alone: workers have to notice
        return [(process, ended(process))]

    def interrupt(self, start: Start, out: Path) -> list[tuple[subprocess.Popen[str], str]]:
        process = start()
        self.moment()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)  # Ctrl-C reaches workers, too
        return [(process, ended(process))]

    def full_disk(self, start: Start, out: Path) -> list[tuple[subprocess.Popen[str], str]]:
        if not self.own_disk:
            process = start(small_files)
            return [(process, ended(process))]
        process = start()
        self.moment()
        ballast, left = self.place / "ballast", self.chance.choice([0, 4096, 50_000, 200_000])
        try:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while file.write(bytes(65_536)) == 65_536:
                    pass
            os.truncate(ballast, max(0, ballast.stat().st_size - left))
            return [(process, ended(process))]
        finally:
            ballast.unlink()

    def no_permission(self, start: Start, out: Path) -> list[tuple[subprocess.Popen[str], str]]:
        process = start(obey_permissions)
        self.moment()
        closed = [path for path in (out, *out.rglob("*")) if path.is_dir()] if out.exists() else [out.parent]
        for path in closed:
            path.chmod(0o500)
        try:
            return [(process, ended(process))]
        finally:
            for path in closed:
                path.chmod(0o700)

    def second_start(self, start: Start, out: Path) -> list[tuple[subprocess.Popen[str], str]]:
        processes = []
        for _ in range(self.chance.choice([2, 2, 3])):
            processes.append(start())
            time.sleep(self.chance.choice([0, 0, self.chance.uniform(0, self.seconds)]))
        if self.chance.random() < 0.5:
            self.chance.choice(processes).kill()
        return [(process, ended(process)) for process in processes]
