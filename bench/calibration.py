#!/usr/bin/python3
"""What calibration to the total of a number buys: widths of intervals with and without it, number by number.

    bench/calibration.py [--runs R] [--tamis PROGRAM]

Schools of California (examples/coverage/api.csv), api00 explained almost wholly by api99 of the year before, enroll hardly at all.
Each plan is studied by `tamis study coverage`, as it is and calibrated to the number of schools and the total of api99. Printed are
the mean standard error with calibration over that without it, released and unprotected, and how often the calibrated interval covers.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
POPULATION = TOP / "examples" / "coverage" / "api.csv"
COLUMNS = """columns:
  enroll: {from: 0, to: 4000, step: 1, typical: {mean: 600, sd: 450}}
  api00: {from: 200, to: 1000, step: 1, typical: {mean: 650, sd: 130}}
  api99: {from: 200, to: 1000, step: 1, typical: {mean: 630, sd: 130}, missing: none}
  awards: {values: ["No", "Yes"], typical: {"Yes": 0.6}}
statistics:
  - {total: enroll}
  - {mean: api00}
  - {count: units, by: awards}
"""
PLANS = [("srs: {population: 6194, sample: 400}", 4), ("srs: {population: 6194, sample: 2000}", 4), ("srs: {population: 6194, sample: 2000}", 8),
         ("cluster: {by: dnum, population: 757, sample: 150, smallest: 1, largest: 552}, typical: {cluster: {mean: 8, sd: 16}, icc: 0.2}", 32)]


def study(tamis, folder, design, epsilon, calibrate, runs):
    plan = pathlib.Path(folder, "p.yaml")
    plan.write_text(f"tamis: 1\nsurvey: s\nsource: {{file: s.csv}}\ndesign: {{{design}}}\nprivacy: {{unit: school, epsilon: {epsilon}}}\n"
                    f"{COLUMNS}{calibrate}budget: {{epsilon: {epsilon}}}\n")
    done = subprocess.run([tamis, "study", "coverage", plan, "--population", POPULATION, "--runs", str(runs), "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--tamis", default=TOP / "build" / "release" / "cli" / "tamis")
    given = parser.parse_args()
    with open(POPULATION, newline="") as file:
        total = sum(int(row["api99"]) for row in csv.DictReader(file))
    calibrate = f"calibrate: {{to: [{{count: units, totals: 6194}}, {{total: api99, totals: {total}}}]}}\n"
    print("| design | epsilon | number | released | unprotected | covers |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for design, epsilon in PLANS:
            plain, calibrated = [study(given.tamis, folder, design, epsilon, text, given.runs) for text in ("", calibrate)]
            for a, b in zip(plain, calibrated):
                name = " ".join([b["statistic"], "of", b.get("column") or "schools", *b["group"].values()])
                print(f"| {design.split(', typical')[0]} | {epsilon} | {name} | {b['protected']['se'] / a['protected']['se']:.2f} "
                      f"| {b['unprotected']['se'] / a['unprotected']['se']:.2f} | {b['protected']['coverage']:.3f} |", flush=True)


if __name__ == "__main__":
    main()
