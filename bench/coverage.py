#!/usr/bin/python3
"""Runs the coverage study of every plan below, writes what it prints to docs/coverage-tables.md, and sums these tables up in
docs/coverage.md.

    bench/coverage.py [--runs R] [plan...]      with plans named, the tables of all others stay as they are
    bench/coverage.py --summary                 runs nothing: the summary anew, from the tables

Needs the release build. Plans and populations are in examples/coverage. Without --runs there are 2000 samples of each.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
FOLDER, PAGE, TABLES = TOP / "examples" / "coverage", TOP / "docs" / "coverage.md", TOP / "docs" / "coverage-tables.md"
PLANS = {
    "api-srs": "Srs, 400 of 6,194 schools, epsilon 4.",
    "api-stratified": "Strata, 400 of 6,194 schools, epsilon 4.",
    "api-cluster": "150 of 757 districts, epsilon 8.",
    "api-pps-two-stage": "150 of 757 districts by Sampford's method, in proportion to their schools, then 8 schools in each, epsilon 8.",
    "belgium-srs": "Srs, 200 of 589 municipalities, epsilon 8.",
    "belgium-stratified": "Strata, 237 of 589 municipalities, epsilon 8.",
    "belgium-pps": "Sampford, 200 of 589 municipalities, epsilon 8.",
    "mu284-srs": "Srs, 120 of 284 municipalities, epsilon 8.",
    "mu284-pps": "Sampford, 100 of 284 municipalities, epsilon 8.",
    "mu284-cluster": "25 of 50 clusters, epsilon 8.",
    "mu284-two-stage": "30 of 50 clusters, 4 municipalities in each, epsilon 16.",
    "persons-consistent": "Tables that add up, srs, 2,000 of 12,107 persons, epsilon 1.",
    "persons-nonnegative": "Tables that add up and have no negative cells, epsilon 1.",
    "persons-suppress": "Groups of fewer than 25 rows and cv above 1 withheld, epsilon 4.",
    "persons-calibrated": "Calibrated to sex by age, tables that add up, epsilon 4.",
    "persons-nonresponse": "60 to 80 % respond, calibrated to sex by age, epsilon 4.",
    "persons-bounds": "Strata with bounds of their own, 2,000 of 12,107 persons, epsilon 4.",
    "persons-weights": "Weights, strata and households, drawn by persons-drawn, epsilon 8.",
    "persons-incomes": "Quantiles, poverty and inequality, srs, 1,500 of 12,107 persons, epsilon 2.",
    "persons-inequality": "The same with weights, strata and households, drawn by persons-drawn, epsilon 8.",
    "api-quantiles": "Quantiles and Gini, strata, 400 of 6,194 schools, epsilon 2.",
    "persons-contrasts": "Differences, quotients and contrasts, srs, 1,500 of 12,107 persons, epsilon 4.",
    "persons-contrasts-clusters": "The same in 900 of 6,000 households, epsilon 8.",
    "persons-contrasts-weights": "The same with weights, strata and households, drawn by persons-drawn, epsilon 8.",
    "persons-models": "Linear, logistic and Poisson regression, srs, 1,500 of 12,107 persons, epsilon 4.",
    "persons-models-clusters": "Linear and logistic regression, 900 of 6,000 households, epsilon 8.",
    "persons-lines": "Regression on numbers, and correlations, srs, 1,500 of 12,107 persons, epsilon 4.",
}
POPULATIONS = {"api": "api.csv", "belgium": "belgium.csv", "mu284": "mu284.csv", "persons": "persons.csv"}
DRAWN = ["--drawn-by", str(FOLDER / "persons-drawn.yaml")]
MORE = {"belgium-pps": ["--size", "size"], "mu284-pps": ["--size", "size"], "persons-nonresponse": ["--response", "response"],
        "persons-weights": DRAWN, "persons-inequality": DRAWN, "persons-contrasts-weights": DRAWN}
HEAD = """# Coverage, number by number

What `tamis study coverage` printed for each plan of examples/coverage. bench/coverage.py of the source tree writes this file;
[coverage.md](coverage.md) explains the columns and the letters, and sums up.
"""
# A line of a table: protected and unprotected coverage with Monte Carlo errors, then the width, or a dash where it has none.
NUMBER = re.compile(r" (\d\.\d{3})±\d\.\d{3} +(\d\.\d{3})±\d\.\d{3} +(\d+\.\d|\S)(?: |$)", re.M)
SUMMARY = re.compile(r"(?<=\n)\| plan \|.*?\n(?!\|)", re.S)


def study(name, runs):
    command = [TOP / "build" / "release" / "cli" / "tamis", "study", "coverage", FOLDER / f"{name}.yaml", "--population",
               FOLDER / POPULATIONS[name.split("-")[0]], "--runs", str(runs), *MORE.get(name, [])]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    table = done.stdout.split("\nwidth:")[0].rstrip()  # without what the page explains
    return table[table.index(f"{runs} samples"):]


def read():
    """The tables as the file has them, by plan."""
    return dict(re.findall(r"^## (\S+)\n\n.*?\n\n```\n(.*?)\n```$", TABLES.read_text(), re.M | re.S))


def text(tables):
    return HEAD + "".join(f"\n## {name}\n\n{PLANS[name]}\n\n```\n{tables[name]}\n```\n" for name in PLANS if name in tables)


def summary(tables):
    """One line per plan: numbers; lowest and median coverage, protected and not; median and largest width; marked ones."""
    lines = ["| plan | numbers | protected: lowest, median | unprotected: lowest, median | width: median, largest | too low |",
             "|---|---|---|---|---|---|"]
    for name, table in tables.items():
        protected, unprotected, widths = zip(*NUMBER.findall(table))
        widths = [float(width) for width in widths if width[0].isdigit()]
        of = lambda texts: f"{min(map(float, texts)):.3f}, {statistics.median(map(float, texts)):.3f}"
        lines.append(f"| [{name}](coverage-tables.md#{name}) | {len(protected)} | {of(protected)} | {of(unprotected)} "
                     f"| {statistics.median(widths):.1f}, {max(widths):.1f} | {table.count('too low')} |")
    return "\n".join(lines) + "\n"


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=2000)
    reader.add_argument("--summary", action="store_true")
    reader.add_argument("plan", nargs="*")
    options = reader.parse_args()
    for name in options.plan:
        if name not in PLANS:
            reader.error(f"{name}: expected one of {', '.join(PLANS)}")
    tables = read()
    for name in [] if options.summary else options.plan or PLANS:
        tables[name] = study(name, options.runs)
        TABLES.write_text(text(tables))
        print(name, "too low" if "too low" in tables[name] else "no number is too low", flush=True)
    PAGE.write_text(SUMMARY.sub(lambda _: summary(read()), PAGE.read_text(), count=1))


if __name__ == "__main__":
    main()
