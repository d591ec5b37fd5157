"""How often the intervals of finished surveys cover the truth, and how wide they are: ours, the recipe's, and those without protection.

    bench/accuracy/simulate.py --data DIR [--samples R] [--keep FILE] [survey...] [--epsilon E...]

The survey is the population. In each stratum as many primary sampling units are drawn as the survey has, with replacement; of a
unit of 20 records or more as many records are drawn again, with replacement (a stratum of two units would otherwise have half of
the variance of the survey, and none at all in half of the samples). Records keep their weights, so that every total is unbiased and
the truth is what the survey says. Values and weights beyond the plan's bounds are put at the bounds first: the intervals are
for those. Every sample is released and estimated by the command, with the units listed (psus); the ledger is thrown away. The recipe
(recipe.py) has the same samples, and the f and G that are best for the survey. Samples depend on the seed alone, the noise does not.

Needs the release build and numpy. DIR has the files that surveys.py names. --keep appends every number of every sample as JSON.
"""
import argparse
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TAMIS = HERE.parent.parent / "build" / "release" / "cli" / "tamis"
sys.path.insert(0, str(HERE))
import hand  # noqa: E402
import recipe  # noqa: E402
import surveys  # noqa: E402

LARGE = 20  # records of a unit that are drawn again


def ask(*words):
    done = subprocess.run([str(TAMIS), *map(str, words), "--engine", "memory", "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return json.loads(done.stdout)["results"]


class Population:
    """The survey, by stratum and unit, with bounded values."""

    def __init__(self, survey, path):
        self.survey, design = survey, [survey[k] for k in ("strata", "cluster", "weight")]
        self.names = sorted(set(survey["columns"]) | set(design))
        self.data = hand.read(path, self.names)
        bounds = {survey["weight"]: (0, survey["max_weight"])} | {
            name: (c["from"], c["to"]) for name, c in survey["columns"].items() if "from" in c}
        for name, (low, high) in bounds.items():
            x = hand.as_numbers(self.data[name])
            self.data[name] = np.where(np.isnan(x), "", np.char.mod("%.10g", np.clip(x, low, high)))
        labels, at = np.unique(np.stack([self.data[d] for d in design[:2]]), axis=1, return_inverse=True)
        at = at.reshape(-1)
        order = np.argsort(at, kind="stable")
        units = np.split(order, np.flatnonzero(np.diff(at[order])) + 1)
        self.strata = {}
        for stratum, rows in zip(labels[0], units):
            self.strata.setdefault(stratum, []).append(rows)

    def sample(self, stream):
        rows, clusters = [], []
        for units in self.strata.values():
            for k, unit in enumerate(stream.integers(0, len(units), len(units))):
                own = units[unit]
                rows.append(own[stream.integers(0, len(own), len(own))] if len(own) >= LARGE else own)
                clusters += [str(k + 1)] * len(own)
        rows = np.concatenate(rows)
        return {name: np.array(clusters) if name == self.survey["cluster"] else self.data[name][rows] for name in self.names}

    def write(self, path, data):
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(self.names)
            out.writerows(zip(*(data[name] for name in self.names)))

    def write_units(self, path):
        lines = [(self.survey["strata"], self.survey["cluster"])]
        lines += [(h, k + 1) for h, units in self.strata.items() for k in range(len(units))]
        pathlib.Path(path).write_text("".join(f"{h},{k}\n" for h, k in lines))


def interval(r):
    return (r["interval"]["lower"], r["interval"]["upper"]) if r["interval"] else (math.nan, math.nan)


class Tally:
    """Coverage and width of one kind of intervals, by number."""

    def __init__(self, truth):
        self.truth, self.covers, self.width, self.given = truth, 0, 0, 0

    def add(self, intervals):
        low, high = np.array(intervals, float).T
        given = ~np.isnan(low)
        hair = 1e-9 * np.abs(self.truth)
        held = given & (low - hair <= self.truth) & (self.truth <= high + hair)
        self.covers = self.covers + held
        self.given = self.given + given
        self.width = self.width + np.where(given, high - low, 0)
        return held

    def coverage(self):
        return self.covers / np.maximum(self.given, 1)


def at_most(hits, trials, p):
    """P(X <= hits), X binomial."""
    terms = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * math.log(p)
             + (trials - k) * math.log1p(-p) for k in range(int(hits) + 1)]
    return min(sum(math.exp(t) for t in terms), 1)


def too_low(tally, own_only, bare_only):
    """Numbers whose coverage is below 0.95 and below that without protection, each at level 0.01 over all numbers (docs/coverage.md)."""
    level = 0.01 / len(tally.covers)
    return [i for i in range(len(tally.covers)) if at_most(tally.covers[i], tally.given[i], 0.95) < level
            and own_only[i] + bare_only[i] > 0 and at_most(own_only[i], own_only[i] + bare_only[i], 0.5) < level]


def by_statistic(places, ratios):
    """The geometric mean over statistics of that over their numbers."""
    logs = np.log(np.where(ratios > 0, ratios, np.nan))
    means = [np.nanmean(logs[places == i]) for i in np.unique(places) if not np.isnan(logs[places == i]).all()]
    return math.exp(np.mean(means))


def report(name, epsilon, how, tally, bare, own_only, bare_only, places):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(bare.width > 0, (tally.width / tally.given) / (bare.width / bare.given), np.nan)
    c, b = tally.coverage(), bare.coverage()
    low = too_low(tally, own_only, bare_only)
    row = [name, epsilon, how, f"{by_statistic(places, ratio):.2f}", f"{c.mean():.3f}", f"{c.min():.3f}", len(low),
           f"{b.mean():.3f}", f"{b.min():.3f}"]
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


HEAD = ["survey", "epsilon", "intervals", "width / unprotected", "coverage, mean", "least", "too low", "unprotected, mean", "least"]


def simulate(survey, options):
    path = pathlib.Path(options.data) / survey["file"]
    population = Population(survey, path)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        population.write_units(folder / "psus.csv")
        population.write(folder / "all.csv", population.data)
        (folder / "all.yaml").write_text(surveys.plan(survey, 1, True, "all.csv"))
        whole = ask("estimate", folder / "all.yaml")
        truth = np.array([r["estimate"] for r in whole])
        places = recipe.places(survey, population.data)
        recipes = {e: recipe.Chosen(survey, path, e) for e in options.epsilon} if options.recipe else {}
        for e in options.epsilon:
            (folder / f"{e}.yaml").write_text(surveys.plan(survey, e, False, "sample.csv", "psus.csv"))
        bare = Tally(truth)
        kinds = [(e, how) for e in options.epsilon for how in (["ours"] if options.ours else []) + (["recipe"] if recipes else [])]
        tallies = {k: Tally(truth) for k in kinds}
        only = {k: [np.zeros(len(truth), int), np.zeros(len(truth), int)] for k in kinds}
        for run in range(options.samples):
            stream = np.random.default_rng([options.seed, run])
            data = population.sample(stream)
            population.write(folder / "sample.csv", data)
            plain = ask("estimate", folder / f"{options.epsilon[0]}.yaml")
            bare_held = bare.add([interval(r) for r in plain])
            kept = {"survey": survey["name"], "run": run, "truth": list(truth), "estimate": [r["estimate"] for r in plain],
                    "bare": [interval(r) for r in plain]}
            numbers = recipe.Numbers(survey, data) if recipes else None
            for e, how in kinds:
                if how == "ours":
                    for old in folder.glob("*.ledger"):
                        old.unlink()
                    shutil.rmtree(folder / "out", ignore_errors=True)
                    results = ask("release", folder / f"{e}.yaml", "--out", folder / "out")
                    got = [interval(r) for r in results]
                    kept[f"noise {e}"] = [r["noise_sd"] for r in results]
                    kept[f"sampling {e}"] = [r["sampling_se"] for r in results]
                    kept[f"released {e}"] = [r["estimate"] for r in results]
                else:
                    got = recipes[e].intervals(stream, numbers, [r["estimate"] for r in plain])
                kept[f"{how} {e}"] = [list(map(float, i)) for i in got]
                held = tallies[e, how].add(got)
                only[e, how][0] += held & ~bare_held
                only[e, how][1] += bare_held & ~held
            if options.keep:
                with open(options.keep, "a") as file:
                    file.write(json.dumps(kept) + "\n")
        for (e, how), tally in tallies.items():
            report(survey["name"], e, how, tally, bare, *only[e, how], places)


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--data", required=True)
    reader.add_argument("--samples", type=int, default=300)
    reader.add_argument("--epsilon", type=int, nargs="+", default=[1, 2])
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--keep")
    reader.add_argument("--no-recipe", dest="recipe", action="store_false")
    reader.add_argument("--no-ours", dest="ours", action="store_false")
    reader.add_argument("survey", nargs="*")
    options = reader.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for survey in surveys.SURVEYS + surveys.KEPT_BACK:
        if not options.survey or survey["name"] in options.survey:
            simulate(survey, options)


main()
