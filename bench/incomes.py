#!/usr/bin/python3
"""Noise beside the sampling error in a survey of household incomes, without and with bounds of what a household counts for.

    bench/incomes.py [--runs R] [--epsilon E] [--tamis PROGRAM]

Needs the release build. The population is made here: 18,000 households of 1 to 7 persons, incomes with a heavy tail that are alike
within households. 1,800 households are drawn with all their persons, in three parts with weights of 18, 9 and 3; the plan knows the
weights alone. The bounds are those that `tamis study bounds` would weigh: the smallest in two digits that take off less than 1 % of the
weights, or of all that households add. The sampling error is that of `tamis estimate`; the noise, and the parts that bounds take off, are
means over the samples.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
HOMES, EACH, WEIGHTS, LARGEST = 18000, 600, (18, 9, 3), 7
PLAN = """tamis: 1
survey: incomes
source: {{file: sample.csv}}
design: {{weights: {{population: {persons}}}, weight: w, max_weight: 18{of_weights}, typical: {{sample: {drawn}, rows: {{mean: 2.4, sd: 1.3}}}}}}
privacy: {{unit: household, id: home, rows_per_unit: {largest}, epsilon: {epsilon}}}
columns:
  income: {{from: 0, to: {to}, step: 1, missing: none, typical: {{mean: 20000, sd: 26000}}{of_totals}}}
  sex: {{values: [f, m], missing: none}}
statistics:
  - {{mean: income}}
  - {{total: income}}
  - {{total: income, by: sex}}
budget: {{epsilon: {epsilon}}}
"""


def population():
    rng = random.Random(1)
    homes = []
    for _ in range(HOMES):
        size, level = rng.choices(range(1, LARGEST + 1), [30, 32, 16, 13, 5, 2, 1])[0], rng.gauss(0, 0.5)
        homes.append([(rng.choice("fm"), round(min(math.exp(level + rng.gauss(9.8, 0.7)), 2e6)) if rng.random() < 0.75 else 0)
                      for _ in range(size)])
    return homes


def bound_for(sums, share):
    """The smallest bound in two digits that takes off at most this share."""
    all_, low, high = sum(sums), 0, max(sums)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(max(0, x - middle) for x in sums) <= share * all_ else (middle, high)
    unit = 10 ** (math.floor(math.log10(high)) - 1)
    return math.ceil(high / unit) * unit


def ran(program, *words, folder):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=5)
    reader.add_argument("--epsilon", default="4")
    reader.add_argument("--tamis", default=str(TOP / "build" / "release" / "cli" / "tamis"))
    given = reader.parse_args()
    given.tamis = pathlib.Path(given.tamis).resolve()
    homes, rng = population(), random.Random(2)
    parts, at = [], 0
    for weight in WEIGHTS:
        parts.append(homes[at:at + weight * EACH])
        at += weight * EACH
    for to in (300000, 1000000):
        sums = [w * sum(min(x, to) for _, x in home) for part, w in zip(parts, WEIGHTS) for home in part]
        rows = [w * len(home) for part, w in zip(parts, WEIGHTS) for home in part]
        of_weights, of_totals = f", max_unit_weight: {max(bound_for(rows, 0.0099), 18)}", f", unit_contribution: {bound_for(sums, 0.0099)}"
        for bounds in (("", ""), (of_weights, ""), (of_weights, of_totals)):
            told, off = {}, []
            for _ in range(given.runs):
                drawn = [(w, home) for part, w in zip(parts, WEIGHTS) for home in rng.sample(part, EACH)]
                with tempfile.TemporaryDirectory() as folder:
                    with open(pathlib.Path(folder, "sample.csv"), "w", newline="") as file:
                        out = csv.writer(file)
                        out.writerow(["home", "w", "sex", "income"])
                        for k, (w, home) in enumerate(drawn):
                            out.writerows([f"h{k}", w, sex, x] for sex, x in home)
                    pathlib.Path(folder, "plan.yaml").write_text(PLAN.format(
                        persons=sum(map(len, homes)), drawn=sum(len(home) for _, home in drawn), largest=LARGEST, epsilon=given.epsilon, to=to,
                        of_weights=bounds[0], of_totals=bounds[1]))
                    plain = ran(given.tamis, "estimate", "plan.yaml", "--json", "--quiet", folder=folder)
                    release = ran(given.tamis, "release", "plan.yaml", "--json", "--quiet", folder=folder)
                    off.append((plain.get("weight_beyond_max_unit_weight", 0), plain["columns"]["income"].get("share_beyond_unit_contribution", 0)))
                    for own, other in zip(release["results"], plain["results"]):
                        name = " ".join([own["statistic"], *own["group"].values()])
                        told.setdefault(name, []).append((own["noise_sd"] / other["se"], own["se"] / other["se"]))
            print(f"to {to:,}{bounds[0]}{bounds[1]}: takes off {100 * sum(a for a, _ in off) / len(off):.2f} % of the weights and "
                  f"{100 * sum(b for _, b in off) / len(off):.2f} % of the totals; noise and whole error over the sampling error: "
                  + ", ".join(f"{s} {sum(n for n, _ in x) / len(x):.2f} {sum(e for _, e in x) / len(x):.2f}" for s, x in told.items()), flush=True)


main()
