"""`make dist`: two archives of the same commit have the same bytes, and hold what git has, with the packaging."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402


def archive(**changed):
    made = subprocess.run([TOP / "scripts" / "dist"], capture_output=True, text=True, env=dict(os.environ, **changed))
    return (TOP / made.stdout.strip()) if made.returncode == 0 else None, made.stderr


if not (TOP / ".git").exists():
    print("# SKIP dist: this tree is not a clone")
    case("without git there is no archive to make", True)
    sys.exit(done())
first, errors = archive()
case("the archive is made", first and first.exists(), errors)
bytes_then = hashlib.sha256(first.read_bytes()).hexdigest()
time.sleep(1.1)  # gzip would note the second
os.umask(0o077)
second, errors = archive(TZ="Asia/Tokyo", LC_ALL="C")
case("another second, time zone and umask give the same bytes", second and hashlib.sha256(second.read_bytes()).hexdigest() == bytes_then, errors)
with tarfile.open(first) as tar:
    inside = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
tracked = set(subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines())
case("it has every file that git has", tracked <= inside, " ".join(sorted(tracked - inside)[:5]))
sys.exit(done())
