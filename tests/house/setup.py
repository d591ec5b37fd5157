"""scripts/setup when things are missing or wrong. Other programs are played by small scripts; nothing is fetched."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402


class Place:
    """A tree with nothing but scripts/setup, and a folder of programs that come first on the path."""

    def __init__(self, folder, **programs):
        self.top = pathlib.Path(folder)
        (self.top / "scripts").mkdir()
        (self.top / "bin").mkdir()
        shutil.copy(TOP / "scripts" / "setup", self.top / "scripts" / "setup")
        for name, text in programs.items():
            file = self.top / "bin" / name.replace("_", "-")
            file.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.top}/calls"\n{text}\n')
            file.chmod(0o755)

    def setup(self, *arguments, **env):
        return subprocess.run([self.top / "scripts" / "setup", *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={"PATH": f"{self.top}/bin:/usr/bin:/bin", **env})

    def calls(self):
        file = self.top / "calls"
        return file.read_text() if file.exists() else ""

    def duckdb(self):
        file = self.top / "build" / "setup" / "duckdb"
        return file.read_text() if file.exists() else None


def tried(name, programs, check):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder, **programs)
        try:
            check(name, place)
        except AssertionError as fault:
            case(name, False, f"{fault}\ncalls:\n{place.calls()}")
        else:
            case(name, True)


NO_APT = {"apt_get": "exit 1", "npm": "exit 1"}


def expect(condition, *what):
    if not condition:
        raise AssertionError(*what)


def given_folder(name, place):
    folder = place.top / "a folder"
    folder.mkdir()
    (folder / "duckdb.h").touch()
    (folder / "libduckdb.so").touch()
    ran = place.setup("demo", DUCKDB_DIR=str(folder))
    expect(ran.returncode == 0 and place.duckdb() == f"{folder}\n", ran.stderr)
    expect("apt" not in place.calls() and "npm" not in place.calls(), "something was fetched")
    ran = place.setup("demo")
    expect(ran.returncode == 0 and place.duckdb() == f"{folder}\n", "the folder was forgotten")
    before = place.calls()
    ran = place.setup("demo", DUCKDB_DIR=str(folder))
    expect(ran.returncode == 0 and ran.stderr == "" and place.calls() == before, "the second time asks for something")


def given_folder_is_empty(name, place):
    ran = place.setup("demo", DUCKDB_DIR=str(place.top))
    expect(ran.returncode != 0 and "has no duckdb.h and libduckdb.so" in ran.stderr, ran.stderr)
    expect(not (place.top / "build" / "setup" / "demo").exists(), "it was marked as done")


def left_out(words):
    def check(name, place):
        ran = place.setup("demo")
        expect(ran.returncode == 0 and words in ran.stderr and "engine duckdb is left out" in ran.stderr, ran.stderr)
        expect(place.duckdb() == "\n" and not (place.top / "build" / "duckdb").exists(), "half of it counts as there")
    return check


def tries_again(name, place):
    place.setup("demo")
    first = place.calls().count("npm pack")
    ran = place.setup("demo")
    expect(ran.returncode == 0 and place.calls().count("npm pack") == first, "plain make asked again")
    place.setup("again")
    expect(place.calls().count("npm pack") == first + 1, "make setup did not ask again")


def may_not_install(name, place):
    ran = place.setup("demo")
    expect(ran.returncode != 0, "it went on")
    expect("apt-get update && apt-get install -y --no-install-recommends" in ran.stderr and "libfyaml-dev" in ran.stderr,
           ran.stderr)
    expect("meson" not in ran.stderr, "it asks for what is there", ran.stderr)
    expect("apt_get" not in place.calls(), "apt-get was called")


def names_all_at_once(name, place):
    """One line, whatever was asked for first: what the demo, the tests and the fetching of DuckDB need."""
    bare = place.top / "bare"  # a path on which nothing of ours is
    bare.mkdir()
    for tool in ("sh", "env", "dirname", "cat", "mkdir", "flock", "grep", "awk"):
        (bare / tool).symlink_to(shutil.which(tool))
    ran = place.setup("demo", PATH=f"{place.top}/bin:{bare}")
    commands = [line for line in ran.stderr.splitlines() if "apt-get install" in line]
    expect(ran.returncode != 0 and len(commands) == 1, ran.stderr)
    wanted = {"meson", "libfyaml-dev", "libflint-dev", "libcmocka-dev", "clang", "g++", "npm"}
    given = commands[0].split("--no-install-recommends ")[1].split()
    expect(wanted <= set(given) and len(given) == len(set(given)), commands[0])


def asks_apt_for(arb, fuzzer):
    """Packages that some systems do not have are left out there."""
    def check(name, place):
        place.setup("test")
        asked = [line for line in place.calls().splitlines() if line.startswith("apt_get install")]
        expect(len(asked) == 1 and ("libflint-arb-dev" in asked[0]) == arb and ("libclang-rt-dev" in asked[0]) == fuzzer, asked)
        expect("libflint-dev" in asked[0] and "libcmocka-dev" in asked[0], asked)
    return check


def installs_as(words):
    def check(name, place):
        place.setup("demo")
        calls = place.calls()
        expect(calls.count("apt_get update") == 1 and "apt_get install" in calls and words in calls, "not installed")
        expect("libfyaml-dev" in calls and "meson" not in calls, "the wrong packages")
    return check


def wrong_use(name, place):
    ran = place.setup("everything")
    expect(ran.returncode == 2 and "usage" in ran.stderr, ran.stderr)


NOTHING_INSTALLED = {"pkg_config": "exit 1", "apt_get": "exit 1"}
tried("a given folder serves, is remembered, and costs nothing", NO_APT, given_folder)
tried("a given folder without the two files is refused", NO_APT, given_folder_is_empty)
tried("another processor leaves the engine out", {**NO_APT, "uname": "echo Linux riscv64"}, left_out("x86-64"))
tried("npm out of reach leaves the engine out", NO_APT, left_out("npm could not fetch"))
tried("a wrong checksum leaves the engine out", {**NO_APT, "npm": "echo bad >bad.tgz"}, left_out("wrong checksum"))
tried("only make setup asks again", NO_APT, tries_again)
tried("without root and sudo the one command is printed", {**NOTHING_INSTALLED, "id": "echo 1000", "sudo": "exit 1"}, may_not_install)
tried("without root everything is named in one line",
      {**NOTHING_INSTALLED, "id": "echo 1000", "sudo": "exit 1", "cc": "exit 1"}, names_all_at_once)
for known, arb, fuzzer in (("libflint-arb-dev", True, False), ("libclang-rt-dev", False, True)):
    tried(f"{known} is asked for where it exists",
          {**NOTHING_INSTALLED, "cc": "exit 1", "clang": "exit 1", "id": "echo 0", "apt_cache": f'[ "$2" != {known} ] || echo Version: 1'},
          asks_apt_for(arb, fuzzer))
tried("root installs what is missing", {**NOTHING_INSTALLED, "id": "echo 0"}, installs_as("apt_get"))
SUDO = '[ "$1" != -n ] || shift\n"$@"'
tried("a user with sudo installs what is missing", {**NOTHING_INSTALLED, "id": "echo 1000", "sudo": SUDO}, installs_as("sudo env"))
tried("an unknown word is refused", {}, wrong_use)
sys.exit(done())
