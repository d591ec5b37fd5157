"""A command that was built without the page says so, and that is a matter of usage: exit code 2."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import case, done  # noqa: E402

ran = subprocess.run([sys.argv[1]], capture_output=True, text=True)
case("exit code 2", ran.returncode == 2, ran)
case("the missing library is named", "libmicrohttpd" in ran.stderr and ran.stdout == "", ran.stderr)
sys.exit(done())
