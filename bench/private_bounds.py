#!/usr/bin/python3
"""Errors with a private bound, and with public bounds that are tight, safe and loose (docs/accuracy.md).

    bench/private_bounds.py [--runs R] [--sample N] [--tamis PROGRAM]

Needs the release build. The population are the persons of examples/coverage/persons.csv who have a wage. Samples are simple random; `tamis study
coverage` releases each of them. The error is the root mean squared error of the mean of wages and of their total by sex, about the value of the
population that nothing clamps but `beyond`, divided by that of `tamis estimate` in the same samples. Coverage is that of the 95 % intervals.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
LOOSE = 2560000  # the largest wage is 151,894
PLAN = """tamis: 1
survey: wages
source: {{caller: study}}
design: {{srs: {{population: {population}, sample: {sample}}}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  wage: {{from: 0, to: {to}, step: 1, missing: none, typical: {{mean: 9000, sd: 12000}}}}
  sex: {{values: [f, m], missing: none}}
statistics:
  - {{mean: wage}}
  - {{total: wage, by: sex}}
budget: {{epsilon: {epsilon}}}
"""


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=400)
    reader.add_argument("--sample", type=int, default=2000)
    reader.add_argument("--tamis", default=str(TOP / "build" / "release" / "cli" / "tamis"))
    given = reader.parse_args()
    given.tamis = pathlib.Path(given.tamis).resolve()
    persons = [row for row in csv.DictReader(open(TOP / "examples" / "coverage" / "persons.csv")) if row["wage"]]
    bounds = {"public, 160,000": "160000", "public, 640,000": "640000", f"public, {LOOSE:,}": str(LOOSE),
              f"private, beyond {LOOSE:,}": f"{{private: 1/8, beyond: {LOOSE}}}", "private, beyond 160,000": "{private: 1/8, beyond: 160000}"}
    print("| epsilon | bound of the wage | error of the mean | error of the totals | lowest coverage |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        with open(pathlib.Path(folder, "persons.csv"), "w", newline="") as file:
            out = csv.DictWriter(file, ["sex", "wage"], extrasaction="ignore")
            out.writeheader()
            out.writerows(persons)
        for epsilon in ("1/4", "1", "4"):
            for name, to in bounds.items():
                plan = PLAN.format(population=len(persons), sample=given.sample, epsilon=epsilon, to=to)
                pathlib.Path(folder, "plan.yaml").write_text(plan)
                done = subprocess.run([given.tamis, "study", "coverage", "plan.yaml", "--population", "persons.csv", "--runs", str(given.runs), "--threads", "1",
                                       "--json"], cwd=folder, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                rows = json.loads(done.stdout)["results"]
                errors = {kind: math.exp(sum(math.log(r["rmse"] / r["unprotected"]["se"]) for r in rows if r["statistic"].startswith(kind))
                                         / sum(r["statistic"].startswith(kind) for r in rows)) for kind in ("mean", "total")}
                lowest = min(r["protected"]["coverage"] for r in rows)
                print(f"| {epsilon} | {name} | {errors['mean']:.2f} | {errors['total']:.2f} | {lowest:.3f} |", flush=True)


if __name__ == "__main__":
    main()
