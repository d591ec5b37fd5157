#!/usr/bin/python3
"""Runs the coverage study of every plan in docs/coverage.md again and puts the new tables in the place of the old ones.

    bench/coverage.py [--runs R] [plan...]

Needs the release build. A plan is the first word of a heading there; plans and populations are in examples/coverage. Without --runs
there are 2000 samples of each.
"""
import argparse
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
FOLDER, PAGE = TOP / "examples" / "coverage", TOP / "docs" / "coverage.md"
POPULATIONS = {"api": "api.csv", "belgium": "belgium.csv", "mu284": "mu284.csv", "persons": "persons.csv"}
DRAWN = ["--drawn-by", str(FOLDER / "persons-drawn.yaml")]
MORE = {"belgium-pps": ["--size", "size"], "mu284-pps": ["--size", "size"], "persons-nonresponse": ["--response", "response"],
        "persons-weights": DRAWN, "persons-inequality": DRAWN}


def study(name, runs):
    command = [TOP / "build" / "release" / "cli" / "tamis", "study", "coverage", FOLDER / f"{name}.yaml", "--population",
               FOLDER / POPULATIONS[name.split("-")[0]], "--runs", str(runs), *MORE.get(name, [])]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    table = done.stdout.split("\nwidth:")[0].rstrip()  # without what the page explains
    return table[table.index(f"{runs} samples"):]


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=2000)
    reader.add_argument("plan", nargs="*")
    options = reader.parse_args()
    for name in re.findall(r"^### (\S+):", PAGE.read_text(), re.M):
        if options.plan and name not in options.plan:
            continue
        table = study(name, options.runs)
        found = re.compile(r"(^### " + re.escape(name) + r":.*?\n```\n).*?(\n```$)", re.M | re.S)
        PAGE.write_text(found.sub(lambda m: m[1] + table + m[2], PAGE.read_text(), count=1))
        print(name, "too low" if "too low" in table else "no number is too low", flush=True)


main()
