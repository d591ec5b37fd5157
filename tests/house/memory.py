"""The command as it ships leaves no core dump, and lets no other process of its user into its memory.

The tests with sanitizers cannot see this: LeakSanitizer has to attach to its own process.
"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done, skip  # noqa: E402

TAMIS = TOP / "build" / "release" / "cli" / "tamis"
UNLIMITED = resource.RLIM_INFINITY


def limits():
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell starts what runs in the background with this signal ignored
    resource.setrlimit(resource.RLIMIT_CORE, (UNLIMITED, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def start(command, folder):
    """A process that has answered one line and waits for the next."""
    process = subprocess.Popen([str(c) for c in command], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, preexec_fn=limits)
    process.stdin.write(b"{}\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"{")
    return process


def dumps(command):
    """Whether the kernel dumps the process when it is killed by a signal that asks for a core."""
    with tempfile.TemporaryDirectory() as folder:
        process = start(command, folder)
        process.send_signal(signal.SIGQUIT)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0
        process.stdin.close()
        process.stdout.close()
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGQUIT, status
        return os.WCOREDUMP(status)


if dumps(["cat"]):
    case("a killed tamis leaves no core dump", not dumps([TAMIS, "compute"]))
else:
    skip("a killed tamis leaves no core dump", "this system dumps no process")

with tempfile.TemporaryDirectory() as folder:
    process = start([TAMIS, "compute"], folder)
    lines = pathlib.Path(f"/proc/{process.pid}/limits").read_text().splitlines()
    soft, hard = next(line for line in lines if line.startswith("Max locked memory")).split()[3:5]
    process.communicate()
    case("it may lock as much memory as its user may", soft == hard, f"{soft} of {hard}")

sys.exit(done())
