#!/usr/bin/python3
"""Coverage over a grid of plans: designs x {complete, missing} x {each statistic alone, all together}.

    bench/grid.py [--runs R] [--epsilon E] [--seed-population S] [--made skewed|alike|rare] [word...]

Needs the release build. Each plan is studied by `tamis study coverage` on a population that is made from examples/coverage/persons.csv: its
households are cut into areas, and in the half of the plans called missing, wages of those who do not work are empty. With --made the population
is made up, of one of three kinds that nothing was tuned on. A plan is chosen if all
words occur in its name, such as `cluster missing mean`. The summary has a line for each plan: how many numbers it has, the lowest coverage, the
largest loss against the unprotected interval of the same samples, the geometric mean of the widths, and which numbers break the rule of
docs/coverage.md: more than 0.03 below the unprotected coverage, or below 0.93 where that is at least 0.95, beyond what chance explains over all
numbers of the plan.
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
TAMIS = TOP / "build" / "release" / "cli" / "tamis"
STATES = ["B", "K", "N", "O", "S", "St", "T", "V", "W"]
COLUMNS = """columns:
  wage: {{from: 0, to: 60000, step: 1, typical: {{mean: {mean}, sd: {sd}{share}}}{wage}}}
  age: {{from: 16, to: 100, step: 1, typical: {{mean: 45, sd: 18}}{complete}}}
  activity: {{values: ["1", "2", "3", "4", "5", "6", "7"], typical: {{"1": 0.43, "2": 0.1, "3": 0.05, "4": 0.05, "5": 0.25, "6": 0.02}}{complete}}}
  sex: {{values: [f, m], typical: {{f: 0.5}}{complete}}}
  state: {{values: [B, K, N, O, S, St, T, V, W]}}
"""
STATISTICS = {
    "total": "{total: wage}", "mean": "{mean: wage}", "share": '{share: {activity: "1"}}', "ratio": "{ratio: {of: wage, to: age}}",
    "table": "{table: [sex, activity]}", "groups": "{mean: wage, by: sex}", "quantile": "{quantile: wage, at: [0.5]}",
}


def persons(rng):
    """The persons of examples/coverage/persons.csv, in areas of about 40 households of one state, ordered by income."""
    rows = list(csv.DictReader(open(TOP / "examples" / "coverage" / "persons.csv")))
    homes = {}
    for row in rows:
        homes.setdefault((row["state"], row["household"]), []).append(row)
    area, since, before = 0, 0, None
    for key in sorted(homes, key=lambda k: (k[0], sum(int(r["income"]) for r in homes[k]) * (0.5 + rng.random()))):
        if key[0] != before or since >= 20 + 40 * rng.random():
            area, since, before = area + 1, 0, key[0]
        since += 1
        for row in homes[key]:
            row["area"], row["home"] = area, f"{row['state']}{row['household']}"
    for row in rows:
        row["size"] = 20 + int(row["age"]) // 2 + (40 if row["activity"] == "1" else 0)
    return rows


def made(kind, rng):
    """About 12,000 persons of a made-up population. `skewed`: areas of very different sizes, of which the larger ones have higher wages, which are
    skewed; probabilities follow wages. `alike`: areas of one size that do not differ, wages in two piles; probabilities follow nothing. `rare`: one
    household in thirty works, all of them in a tenth of the areas."""
    rows, area, home = [], 0, 0
    while len(rows) < 12000:
        area += 1
        homes = round(min(250, max(20, math.exp(rng.gauss(3.4, 0.7))))) if kind == "skewed" else 40
        effect = rng.gauss(0, 0.5) + 0.3 * (math.log(homes) - 3.4) if kind == "skewed" else 0
        jobs = {"skewed": 0.5 + 0.3 * math.tanh(effect), "alike": 0.5, "rare": 0.3 if rng.random() < 0.1 else 0}[kind]
        state = STATES[area % len(STATES)]
        for _ in range(homes):
            home += 1
            together = rng.random() < jobs  # the household works, or not
            for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
                works = together if kind == "rare" else rng.random() < jobs
                wage = {"skewed": math.exp(8.8 + effect + rng.gauss(0, 0.8)), "alike": rng.choice([9000, 26000]) + rng.gauss(0, 2000),
                        "rare": 20000 + 40000 * rng.random()}[kind] if works else 0
                wage = round(min(60000, max(0, wage)))
                rows.append({"state": state, "area": area, "home": home, "sex": rng.choice("fm"), "age": rng.randint(16, 90),
                             "activity": rng.choice("12") if works else rng.choice("34567"), "wage": wage, "income": wage,
                             "size": 20 + wage // 500 if kind == "skewed" else rng.randint(60, 200)})
    return rows


def population(folder, rng, kind):
    rows = made(kind, rng) if kind else persons(rng)
    areas, homes = {}, {}
    for row in rows:
        areas.setdefault(row["area"], []).append(row)
        homes.setdefault((row["state"], row["home"]), []).append(row)
    sizes = {state: len({a for a in areas if areas[a][0]["state"] == state}) for state in STATES}
    for name in ("complete", "missing"):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            out = csv.writer(file)
            columns = ["state", "home", "area", "sex", "activity", "age", "wage", "size", "income"]
            out.writerow(columns)
            for row in rows:
                works = row["activity"] in "12" or name == "complete"
                out.writerow([row[c] if c != "wage" or works else "" for c in columns])
    return rows, areas, homes, sizes


def designs(rows, areas, homes, sizes, kind):
    """Name -> (design of the plan, options of the study, the design that draws it if that is another). Where the name begins with `households`,
    these are the units, and are drawn with all their persons."""
    persons = {s: sum(r["state"] == s for r in rows) for s in STATES}
    strata = "\n".join(f"      {s}: {{population: {persons[s]}, sample: {max(60, persons[s] // 8)}}}" for s in STATES)
    rates = "\n".join(f"      {s}: {{rate: 1/{4 + 2 * (k % 5)}}}" for k, s in enumerate(STATES))  # Poisson, alike within states
    drawn_areas = {s: max(3, sizes[s] * 2 // 5) for s in STATES}
    area_strata = "\n".join(f"      {s}: {{population: {sizes[s]}, sample: {drawn_areas[s]}}}" for s in STATES)
    largest = max(map(len, areas.values()))
    cluster = f"  cluster: {{by: area, population: {len(areas)}, sample: 60, smallest: 1, largest: {largest}}}\n"
    typical = f"  typical: {{cluster: {{mean: {len(rows) / len(areas):.0f}, sd: {len(rows) / len(areas) / 2:.0f}}}, icc: 0.05}}\n"
    stratified_cluster = (f"  stratified:\n    by: state\n    within: {{cluster: {{by: area, smallest: 1, largest: {largest}}}}}\n    strata:\n{area_strata}\n")
    total = len(rows)
    home_strata = "\n".join(f"      {s}: {{population: {n}, sample: {max(30, n // 8)}}}" for s, n in
                            ((s, sum(home[0] == s for home in homes)) for s in STATES))
    homes_drawn = f"  stratified:\n    by: state\n    within: srs\n    strata:\n{home_strata}\n"
    rows_typical = f"rows: {{mean: {total / len(homes):.1f}, sd: 1.2}}"
    most_of_home = math.ceil((10 if kind == "skewed" else 4.5) * len(homes) / 700)  # takes off about 1 % of the weights or less
    largest_homes = max(len({row["home"] for row in area}) for area in areas.values())
    return {
        "households": (f"  srs: {{population: {len(homes)}, sample: 700}}\n  typical: {{{rows_typical}}}\n", [], None),
        "households-srs-bounded": (f"  srs: {{population: {len(homes)}, sample: 700}}\n  max_unit_weight: {most_of_home}\n"
                                   f"  typical: {{{rows_typical}}}\n", [], None),
        "households-two-stage": (f"  two_stage: {{first: {{by: area, population: {len(areas)}, sample: 70}}, second: {{population: cluster_size, sample: 10}}}}\n"
                                 f"  max_weight: {math.ceil(len(areas) / 70 * largest_homes / 10)}\n  typical: {{cluster: {{mean: 10, sd: 1}}, icc: 0.05, {rows_typical}}}\n", [], None),
        "households-weights": (f"  weights: {{strata: state, population: {total}}}\n  weight: w\n  max_weight: 9\n  typical: {{sample: 700, {rows_typical}}}\n", [], homes_drawn),
        "households-bounded": (f"  weights: {{strata: state, population: {total}}}\n  weight: w\n  max_weight: 9\n  max_unit_weight: 40\n"
                               f"  typical: {{sample: 700, {rows_typical}}}\n", [], homes_drawn),
        "households-two-stage-bounded": (f"  two_stage: {{first: {{by: area, population: {len(areas)}, sample: 70}}, second: {{population: cluster_size, sample: 10}}}}\n"
                                         f"  weight: w\n  max_weight: {math.ceil(len(areas) / 70 * largest_homes / 10)}\n  max_unit_weight: "
                                         f"{most_of_home}\n  typical: {{cluster: {{mean: 10, sd: 1}}, icc: 0.05, {rows_typical}}}\n", [], None),
        "srs": (f"  srs: {{population: {total}, sample: 1500}}\n", [], None),
        "strata": (f"  stratified:\n    by: state\n    within: srs\n    strata:\n{strata}\n", [], None),
        "pps": (f"  pps: {{method: systematic_random, probability: inclusion_probability, sample: 1500, population: {total}}}\n  max_weight: 20\n", ["--size", "size"], None),
        "poisson": (f"  poisson: {{probability: inclusion_probability}}\n  max_weight: 12\n  typical: {{sample: 1500, population: {total}}}\n", [],
                    f"  stratified:\n    by: state\n    within: bernoulli\n    strata:\n{rates}\n"),
        "cluster": (cluster + typical, [], None),
        "strata-cluster": (stratified_cluster + typical, [], None),
        "two-stage": (f"  two_stage: {{first: {{by: area, population: {len(areas)}, sample: 70}}, second: {{population: cluster_size, sample: 20}}}}\n"
                      f"  max_weight: {math.ceil(len(areas) / 70 * largest / 20)}\n" + typical, [], None),
        "weights": (f"  weights: {{strata: state, population: {total}}}\n  weight: w\n  max_weight: 9\n  typical: {{sample: 1513}}\n", [],
                    f"  stratified:\n    by: state\n    within: srs\n    strata:\n{strata}\n"),
        "weights-hash": (f"  weights: {{strata: state, cluster: area, population: {total}}}\n  weight: w\n  max_weight: 4\n" + typical, [],
                         stratified_cluster + typical),
    }


def plan(name, design, missing, statistics, epsilon, most):
    unit = f"household, id: home, rows_per_unit: {most}" if name.startswith("households") else "person"
    column = dict(mean=14000, sd=11000, share=", share: 0.52", wage="", complete="") if missing else \
        dict(mean=8000, sd=11000, share="", wage=", missing: none", complete=", missing: none")
    return (f"tamis: 1\nsurvey: {name}\nsource: {{file: sample.csv}}\ndesign:\n{design}privacy: {{unit: {unit}, epsilon: {epsilon}}}\n"
            + COLUMNS.format(**column) + "statistics:\n" + "".join(f"  - {s}\n" for s in statistics) + f"budget: {{epsilon: {epsilon}}}\n")


def judge(results, runs):
    """Lowest coverage, largest loss, mean width, numbers without an interval in most samples, and the numbers that break the rule. Chance has
    3.3 standard errors, which is a level of about 0.02 over the 20 numbers of a plan."""
    lowest, loss, logs, absent, broken = 1.0, 0.0, [], [], []
    for n in results:
        name = f"{n['statistic']} {n['column'] or ''} {' '.join(n['group'].values())}".strip()
        if n["withheld"] > 0.5 * runs:
            absent.append(f"{name} (withheld in most samples)")
            continue
        p, q = n["protected"]["coverage"], n["unprotected"]["coverage"]
        chance = 3.3 * math.sqrt(max(p * (1 - p), 0.02) / runs)
        lowest, loss = min(lowest, p), max(loss, q - p)
        logs += [math.log(n["width_ratio"])] if n["width_ratio"] else []
        if q - p > 0.03 + chance or (q >= 0.95 and p < 0.93 - chance):
            broken.append(f"{name} {p:.3f} ({q:.3f})")
    return lowest, loss, math.exp(sum(logs) / len(logs)) if logs else math.nan, absent, broken


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=400)
    reader.add_argument("--epsilon", default="4")
    reader.add_argument("--seed-population", type=int, default=1)
    reader.add_argument("--made", choices=["skewed", "alike", "rare"])
    reader.add_argument("--show", action="store_true", help="print the plans, study nothing")
    reader.add_argument("word", nargs="*")
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        of = population(folder, random.Random(given.seed_population), given.made)
        most = max(map(len, of[2].values()))
        for design, (text, options, drawn) in designs(*of, given.made).items():
            for kind in ("complete", "missing"):
                for which in [*STATISTICS, "together"]:
                    label = f"{design} {kind} {which}"
                    if not all(w in label.split() for w in given.word):
                        continue
                    chosen = STATISTICS.values() if which == "together" else [STATISTICS[which]]
                    file, drawing = folder / "plan.yaml", folder / "drawn.yaml"
                    file.write_text(plan(label.replace(" ", "-"), text, kind == "missing", chosen, given.epsilon, most))
                    if given.show:
                        print(file.read_text())
                        continue
                    more = list(options)
                    if drawn:
                        drawing.write_text(plan("households" if "home" in label else "drawn", drawn, kind == "missing", ["{mean: wage}"], given.epsilon, most))
                        more += ["--drawn-by", str(drawing)]
                    done = subprocess.run([TAMIS, "study", "coverage", file, "--population", folder / f"{kind}.csv", "--runs", str(given.runs), "--json",
                                           *more], capture_output=True, text=True)
                    if done.returncode != 0:
                        print(f"{label:34} {done.stderr.strip()}", flush=True)
                        continue
                    answer = json.loads(done.stdout)
                    results = answer["results"]
                    lowest, loss, width, absent, broken = judge(results, given.runs)
                    absent += [f"{n['statistic']} ({n['reason']})" for n in answer["without_interval"]]
                    print(f"{label:34} {len(results):3} numbers, lowest {lowest:.3f}, largest loss {loss:.3f}, width {width:5.2f}"
                          + "".join(f"; {name} has no interval" for name in absent) + "".join(f"; BROKEN {b}" for b in broken), flush=True)


main()
