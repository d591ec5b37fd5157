#!/usr/bin/python3
"""Noise beside the sampling error in surveys of households, without and with bounds of what a household counts for.

    bench/households.py [--runs R] [--epsilon E] [--tamis PROGRAM]

Needs the release build. The population is that of examples/coverage/persons.csv three times over: 18,000 households, of which the largest are cut to 7
persons. 1,800 are drawn with all their persons. The sampling error is that of `tamis estimate`; the noise, and which part of the weights the bound
takes off, are means over the samples.
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
HOMES, SAMPLE, LARGEST = 18000, 1800, 7
PLAN = """tamis: 1
survey: households
source: {{file: sample.csv}}
design:
{design}  typical: {{rows: {{mean: 2, sd: 1.1}}{typical}}}
privacy: {{unit: household, id: home, rows_per_unit: 7, epsilon: {epsilon}}}
columns:
  wage: {{from: 0, to: 60000, step: 1, missing: none, typical: {{mean: 8000, sd: 11000}}}}
  sex: {{values: [f, m], missing: none}}
  state: {{values: [B, K, N, O, S, St, T, V, W]}}
statistics:
  - {{mean: wage}}
  - {{total: wage}}
  - {{share: {{sex: f}}}}
budget: {{epsilon: {epsilon}}}
"""


def population():
    homes = {}
    for row in csv.DictReader(open(TOP / "examples" / "coverage" / "persons.csv")):
        homes.setdefault((row["state"], row["household"]), []).append(row)
    return [(f"{copy}-{'-'.join(key)}", key[0], rows[:LARGEST]) for copy in range(3) for key, rows in homes.items()]


def stratified(homes):
    """Small states are drawn at a higher rate, as they are where each needs results of its own."""
    found = {state: sum(h[1] == state for h in homes) for state in sorted({h[1] for h in homes})}
    parts = {s: math.sqrt(n) for s, n in found.items()}
    drawn = {s: round(SAMPLE * p / sum(parts.values())) for s, p in parts.items()}
    lines = "".join(f"      {s}: {{population: {found[s]}, sample: {drawn[s]}}}\n" for s in found)
    return f"  stratified:\n    by: state\n    within: srs\n    strata:\n{lines}", drawn, {s: found[s] / drawn[s] for s in found}


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
    rng, homes = random.Random(1), population()
    text, drawn, weights = stratified(homes)
    rate = HOMES // SAMPLE
    areas = {h[0]: k // 60 for k, h in enumerate(sorted(homes, key=lambda h: h[1]))}  # 300 areas of 60 households
    designs = {"simple random sample": (f"  srs: {{population: {HOMES}, sample: {SAMPLE}}}\n", "", lambda: rng.sample(homes, SAMPLE), (rate, 1)),
               "strata": (text, "", lambda: [h for s, n in drawn.items() for h in rng.sample([x for x in homes if x[1] == s], n)], (max(weights.values()), 1)),
               "two stages": ("  two_stage: {first: {by: area, population: 300, sample: 150}, second: {population: size, sample: 12}}\n  max_weight: 10\n",
                              ", cluster: {mean: 12, sd: 0}", lambda: [h for a in rng.sample(range(300), 150)
                                                                      for h in rng.sample([x for x in homes if areas[x[0]] == a], 12)], (rate, 1))}
    for name, (design, typical, draw, (weight, _)) in designs.items():
        for rows in (None, 5, 4, 3):
            told = {}
            for _ in range(given.runs):
                with tempfile.TemporaryDirectory() as folder:
                    with open(pathlib.Path(folder, "sample.csv"), "w", newline="") as file:
                        out = csv.writer(file)
                        out.writerow(["home", "state", "area", "size", "sex", "wage"])
                        for home, state, persons in draw():
                            out.writerows([home, state, areas[home], 60, p["sex"], p["wage"]] for p in persons)
                    bound = f"  max_unit_weight: {math.ceil(rows * weight)}\n" if rows else ""
                    pathlib.Path(folder, "plan.yaml").write_text(PLAN.format(design=design + bound, typical=typical, epsilon=given.epsilon))
                    plain = ran(given.tamis, "estimate", "plan.yaml", "--json", "--quiet", folder=folder)
                    release = ran(given.tamis, "release", "plan.yaml", "--json", "--quiet", folder=folder)
                    for own, other in zip(release["results"], plain["results"]):
                        told.setdefault(own["statistic"], []).append((own["noise_sd"] / other["se"], own["se"] / other["se"]))
                    told.setdefault("off", []).append(plain.get("weight_beyond_max_unit_weight", 0))
            off = told.pop("off")
            print(f"{name:22} {f'{rows} rows' if rows else 'no bound':9} takes off {100 * sum(off) / len(off):.2f} %; noise and whole error over the sampling error: "
                  + ", ".join(f"{s} {sum(n for n, _ in list_) / len(list_):.2f} {sum(e for _, e in list_) / len(list_):.2f}" for s, list_ in told.items()), flush=True)


main()
