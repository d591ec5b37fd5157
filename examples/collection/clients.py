"""A collection from end to end: simulated clients, their reports, and what the collector learns. See README.md."""
import argparse
import json
import pathlib
import random
import subprocess
import sys

SHARES = {"crash_today": 0.001, "dark_mode": 0.42, "screen_reader": 0.03, "beta_channel": 0.11, "spell_check": 0.77}
LIE = "1/4"

# ---- the picture ----

LEFT, WIDTH, TOP, STEP = 150, 560, 70, 56
STYLE = ("svg{font:14px system-ui,sans-serif}.soft{fill:#566573}.axis{stroke:#d9e0e6}.interval{stroke:#0b62c4;stroke-width:2.5}"
         ".estimate{fill:#0b62c4}.truth{fill:none;stroke:#1b2733;stroke-width:1.5}.reports{fill:#c9772b}")


def row(y, name, truth, reported, result):
    def x(share):
        return LEFT + WIDTH * min(max(share, 0), 1)
    low, high = x(result["interval"]["lower"]), x(result["interval"]["upper"])
    at = x(reported)
    return (f'<text x="{LEFT - 16}" y="{y + 5}" text-anchor="end">{name}</text>'
            f'<path class="axis" d="M{LEFT} {y}H{LEFT + WIDTH}"/>'
            f'<path class="reports" d="M{at:.1f} {y - 13}l5 -8h-10z"/>'
            f'<path class="interval" d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 6}v12M{high:.1f} {y - 6}v12"/>'
            f'<circle class="estimate" cx="{x(result["estimate"]):.1f}" cy="{y}" r="4"/>'
            f'<circle class="truth" cx="{x(truth):.1f}" cy="{y}" r="8"/>')


def picture(truths, said):
    rows = [row(TOP + STEP * (i + 1), r["column"], truths[r["column"]], r["ones"] / r["reports"], r)
            for i, r in enumerate(said["results"])]
    bottom = TOP + STEP * (len(rows) + 1)
    ticks = "".join(f'<text class="soft" x="{LEFT + WIDTH * t / 4}" y="{bottom}" text-anchor="middle">{25 * t} %</text>'
                    for t in range(5))
    legend = ('<circle class="truth" cx="158" cy="50" r="8"/><text x="174" y="55">truth</text>'
              '<path class="reports" d="M248 56l5 -8h-10z"/><text x="262" y="55">ones among the reports</text>'
              '<path class="interval" d="M446 50h24"/><circle class="estimate" cx="458" cy="50" r="4"/>'
              '<text x="480" y="55">estimate, 95 % interval</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {bottom + 20}" role="img"><style>{STYLE}</style>'
            f'<rect width="760" height="{bottom + 20}" fill="#fff"/><text x="{LEFT}" y="26" font-size="17">'
            f'{said["reports"]:,} randomized reports, lie probability {LIE}</text>{legend}{"".join(rows)}{ticks}</svg>\n')


# ---- the collection ----

def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, default=1_000_000)
    options.add_argument("--tamis", default="tamis", help="the program")
    options.add_argument("--out", default="collection", help="a folder that does not exist yet")
    asked = options.parse_args()
    folder = pathlib.Path(asked.out)
    folder.mkdir()
    chance = random.Random(20261117)  # for the simulated people; the flips use the operating system's randomness
    counts = dict.fromkeys(SHARES, 0)
    with open(folder / "answers.csv", "w") as file:
        file.write(",".join(SHARES) + "\n")
        for _ in range(asked.clients):
            answers = [chance.random() < share for share in SHARES.values()]
            for name, answer in zip(SHARES, answers):
                counts[name] += answer
            file.write(",".join("1" if answer else "0" for answer in answers) + "\n")

    def tamis(*arguments):
        return subprocess.run([asked.tamis, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    tamis("randomize", folder / "answers.csv", "--lie", LIE, "--packed", "--out", folder / "reports.packed")
    said = json.loads(tamis("tally", folder / "reports.packed", "--out", folder / "tally", "--json", "--quiet"))
    truths = {name: count / asked.clients for name, count in counts.items()}
    (folder / "shares.svg").write_text(picture(truths, said))
    print(f"{'question':14} {'truth':>8} {'reported':>9} {'estimate':>9}   95 % interval")
    for r in said["results"]:
        print(f"{r['column']:14} {truths[r['column']]:8.4f} {r['ones'] / r['reports']:9.4f} {r['estimate']:9.4f}   "
              f"{r['interval']['lower']:.4f} to {r['interval']['upper']:.4f}")
    for line in said["in_words"]:
        print(line)


if __name__ == "__main__":
    sys.exit(main())
