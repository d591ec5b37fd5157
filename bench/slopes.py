#!/usr/bin/python3
"""Coverage of slopes and correlations in a made-up population on which nothing was tuned: 12,000 units in four strata, a skewed predictor with
residuals that grow with it, a uniform one with residuals that fall and are not linear, and one with skewed errors.

    bench/slopes.py [--runs R] [--epsilon E] [srs|strata]

Needs the release build. Prints each number's coverage, protected and unprotected, and the geometric mean of their standard errors.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

TAMIS = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "cli" / "tamis"
SIZES = {"a": 500, "b": 400, "c": 350, "d": 250}
PLAN = """tamis: 1
survey: slopes
source: {{file: sample.csv}}
design:
  {design}
privacy: {{unit: unit, epsilon: {epsilon}}}
columns:
  size: {{from: 0, to: 300, step: 1, typical: {{mean: 40, sd: 45}}, missing: none}}
  score: {{from: 0, to: 10, step: 0.1, typical: {{mean: 6, sd: 2}}, missing: none}}
  flat: {{from: 0, to: 60, step: 1, typical: {{mean: 30, sd: 17}}, missing: none}}
  cost: {{from: 0, to: 500, step: 1, typical: {{mean: 130, sd: 60}}, missing: none}}
  index: {{from: 0, to: 200, step: 1, typical: {{mean: 105, sd: 30}}, missing: none}}
  mark: {{from: 0, to: 150, step: 1, typical: {{mean: 35, sd: 15}}, missing: none}}
  kind: {{values: [x, y], missing: none}}
  s: {{values: [a, b, c, d]}}
statistics:
  - {{regression: {{of: cost, on: [size]}}}}
  - {{regression: {{of: index, on: [flat, kind]}}}}
  - {{regression: {{of: mark, on: [flat]}}}}
  - {{correlation: [cost, size]}}
  - {{correlation: [index, flat]}}
  - {{correlation: [mark, score]}}
budget: {{epsilon: {epsilon}}}
"""


def population(rng):
    rows = []
    for _ in range(12000):
        s = rng.choices("abcd", (5, 3, 1.5, 0.5))[0]
        size = min(500, max(1, round(math.exp(rng.gauss(3.0 + 0.3 * "abcd".index(s), 0.9)))))
        score, flat = round(min(10, max(0, rng.triangular(0, 10, 7))), 1), rng.randint(0, 60)
        cost = 40 + 1.2 * size + 8 * score + rng.gauss(0, 1) * (10 + size ** 0.7)
        index = 50 + 3 * abs(flat - 30) + rng.choice((-1, 1)) * (60 - flat) * 0.7 * rng.random() + 2 * score
        mark = 20 + 0.5 * flat + rng.expovariate(1 / 12) - 12
        kind = "x" if rng.random() < 0.1 + 0.02 * score else "y"
        rows.append({"s": s, "size": size, "score": score, "flat": flat, "cost": round(min(1000, max(0, cost))),
                     "index": round(min(250, max(0, index))), "mark": round(min(150, max(0, mark))), "kind": kind})
    return rows


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=1500)
    reader.add_argument("--epsilon", default="20")
    reader.add_argument("design", nargs="*", default=["srs", "strata"])
    given = reader.parse_args()
    rows = population(random.Random(20261119))
    strata = ", ".join(f"{s}: {{population: {sum(r['s'] == s for r in rows)}, sample: {n}}}" for s, n in SIZES.items())
    designs = {"srs": "srs: {population: 12000, sample: 1500}", "strata": f"stratified: {{by: s, within: srs, strata: {{{strata}}}}}"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "population.csv", "w", newline="") as file:
            out = csv.DictWriter(file, rows[0])
            out.writeheader()
            out.writerows(rows)
        for design in given.design:
            (folder / "plan.yaml").write_text(PLAN.format(design=designs[design], epsilon=given.epsilon))
            done = subprocess.run([TAMIS, "study", "coverage", folder / "plan.yaml", "--population", folder / "population.csv",
                                   "--runs", str(given.runs), "--json"], capture_output=True, text=True, check=True)
            for n in json.loads(done.stdout)["results"]:
                label = f"{design} {n['statistic']} {n.get('column') or ''} {n.get('term') or ''}"
                print(f"{label:44} {n['protected']['coverage']:.3f} {n['unprotected']['coverage']:.3f}"
                      f" {n['protected']['se']:8.4g} {n['unprotected']['se']:8.4g}", flush=True)


main()
