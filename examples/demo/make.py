#!/usr/bin/env python3
"""Makes the town of the demo: 64,000 adults who do not exist, a stratified sample of them, and the truth about all of them.

    python3 make.py             writes sample.csv and truth.csv into this folder

The chances below are guesses of what a European town looks like. They were written down before anything was released and not
changed afterwards. tests/cli/demo.py runs this script again and compares the files.
"""
import csv
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
# Of each age group: people in the town, people asked, the chances of (employed, unemployed), the mean and spread of weekly hours,
# the chance of voluntary work.
GROUPS = {"16-24": (9000, 1500, (0.50, 0.08), (28, 12), 0.30), "25-64": (38000, 6000, (0.78, 0.04), (38, 9), 0.35),
          "65+": (17000, 2500, (0.10, 0.005), (24, 12), 0.25)}


def person(draw, age):
    (employed, unemployed), (mean, spread), volunteers = GROUPS[age][2:]
    chance = draw()
    status = "employed" if chance < employed else "unemployed" if chance < employed + unemployed else "inactive"
    hours = mean + spread * (sum(draw() for _ in range(12)) - 6)  # nearly normal
    return {"age": age, "status": status, "hours": min(max(round(hours), 1), 80) if status == "employed" else "",
            "volunteer": "yes" if draw() < volunteers else "no"}


def town():
    """Only random.random() is used: Python promises its numbers for a seed in every version."""
    draw = random.Random(1).random
    people = [person(draw, age) for age, (size, *_) in GROUPS.items() for _ in range(size)]
    sample = []
    for age, (_, asked, *_) in GROUPS.items():
        group = [(draw(), i) for i, p in enumerate(people) if p["age"] == age]
        sample += sorted(i for _, i in sorted(group)[:asked])
    return people, [people[i] for i in sample]


def truth(people):
    """The numbers of plan.yaml, of everybody, in the order of the release."""
    def some(**wanted):
        return [p for p in people if all(p[key] == value for key, value in wanted.items())]
    for status in ("employed", "unemployed", "inactive"):
        yield "Number of people", status, len(some(status=status))
    for age in GROUPS:
        out = len(some(age=age, status="unemployed"))
        yield "Unemployment rate", age, out / (out + len(some(age=age, status="employed")))
    for age in GROUPS:
        yield "Share who do voluntary work", age, len(some(age=age, volunteer="yes")) / len(some(age=age))
    for age in GROUPS:
        hours = [p["hours"] for p in some(age=age, status="employed")]
        yield "Mean hours a week of the employed", age, sum(hours) / len(hours)


def write(folder):
    people, sample = town()
    for name, header, rows in (("sample.csv", list(people[0]), [list(p.values()) for p in sample]),
                               ("truth.csv", ["statistic", "group", "value"], [[a, b, f"{v:.6g}"] for a, b, v in truth(people)])):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    write(HERE)
