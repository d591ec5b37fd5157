#!/usr/bin/python3
"""How often intervals of changes between two waves with the same clusters cover, and how wide they are.

    bench/changes.py [--runs R] [--epsilon E ...] [--kept PART] [--alike R] [--tamis PROGRAM]

Needs the release build. 250 clusters of 20 persons, half of them in either stratum, are the same in both waves, and a part of the persons is kept.
Cluster effects (a twentieth of the variance) have the given correlation over the waves, kept persons one of 0.8. The mean does not change. Each run
releases both waves twice: with `for_change`, and without it, where the variances of both are added. The third interval is the unprotected one, from the
differences of totals of clusters and Student's law.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
CLUSTERS, PERSONS, ICC = 250, 20, 0.05
STUDENT = 1.9696  # 0.975, 248 degrees of freedom
PLAN = """tamis: 1
survey: waves
wave: {wave}
source: {{file: rows{wave}.csv}}
design:
  weights: {{strata: s, cluster: c, psus: psus.csv, population: 50000}}
  weight: w
  max_weight: 10
  typical: {{sample: 5000, cluster: {{mean: 20, sd: 1}}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  x: {{from: 0, to: 1000, step: 1, missing: none, typical: {{mean: 400, sd: 200}}}}
statistics:
{statistics}ledger: account.ledger
budget: {{epsilon: 1000}}
"""


def draw(folder, seed, alike, kept):
    """Two waves as files; returns, for both, the values of each cluster."""
    r, waves = random.Random(seed), (collections.defaultdict(list), collections.defaultdict(list))
    for c in range(CLUSTERS):
        first = r.gauss(0, 1)
        effects = first, alike * first + math.sqrt(1 - alike ** 2) * r.gauss(0, 1)
        for _ in range(PERSONS):
            own = r.gauss(0, 1)
            owns = own, 0.8 * own + 0.6 * r.gauss(0, 1) if r.random() < kept else r.gauss(0, 1)
            for wave, effect, rest in zip(waves, effects, owns):
                wave[c].append(round(1000 * min(max(0.4 + 0.2 * (math.sqrt(ICC) * effect + math.sqrt(1 - ICC) * rest), 0), 1)))
    (folder / "psus.csv").write_text("s,c\n" + "".join(f"{'pq'[c % 2]},{c}\n" for c in range(CLUSTERS)))
    for k, wave in enumerate(waves, 1):
        (folder / f"rows{k}.csv").write_text("x,s,c,w\n" + "".join(f"{x},{'pq'[c % 2]},{c},10\n" for c in wave for x in wave[c]))
    return waves


def released(tamis, folder, name, wave, epsilon, statistics):
    """The interval of the last statistic."""
    (folder / f"{name}.yaml").write_text(PLAN.format(wave=wave, epsilon=epsilon, statistics="".join(f"  - {s}\n" for s in statistics)))
    done = subprocess.run([tamis, "release", f"{name}.yaml", "--out", f"{name}-release", "--json"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    interval = json.loads(done.stdout)["results"][-1]["interval"]
    return interval["lower"], interval["upper"]


def unprotected(waves):
    size, squares = CLUSTERS * PERSONS, 0
    means = [sum(map(sum, wave.values())) / size for wave in waves]
    change = [(sum(waves[1][c]) - sum(waves[0][c]) - PERSONS * (means[1] - means[0])) / size for c in range(CLUSTERS)]
    for stratum in (change[::2], change[1::2]):
        middle = sum(stratum) / len(stratum)
        squares += len(stratum) / (len(stratum) - 1) * sum((d - middle) ** 2 for d in stratum)
    return means[1] - means[0] - STUDENT * math.sqrt(squares), means[1] - means[0] + STUDENT * math.sqrt(squares)


def study(arguments, epsilon):
    inside, widths = [0] * 3, [0.0] * 3
    for run in range(arguments.runs):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            waves, found = draw(folder, f"{epsilon} {run}", arguments.alike, arguments.kept), []
            for kind, more in (("with", ", for_change: yes"), ("without", "")):
                released(arguments.tamis, folder, f"{kind}-1", 1, epsilon, [f"{{mean: x{more}}}"])
                since = f"{{change: {{mean: x}}, since: {kind}-1-release}}"
                found.append(released(arguments.tamis, folder, f"{kind}-2", 2, epsilon, [f"{{mean: x{more}}}", since]))
        for k, (low, high) in enumerate([*found, unprotected(waves)]):
            inside[k] += low <= 0 <= high
            widths[k] += (high - low) / 2 / arguments.runs
    for name, covered, width in zip(("for_change", "both variances", "unprotected"), inside, widths):
        print(f"epsilon {epsilon}, {name}: {covered} of {arguments.runs} cover, half-width {width:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1, 2, 4])
    parser.add_argument("--kept", type=float, default=0.5)
    parser.add_argument("--alike", type=float, default=0.8)
    parser.add_argument("--tamis", default=TOP / "build" / "release" / "cli" / "tamis", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.tamis = arguments.tamis.resolve()
    for epsilon in arguments.epsilon:
        study(arguments, epsilon)


main()
