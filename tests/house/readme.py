"""The README: short, its links lead somewhere, its numbers are those that were measured, its picture is drawn from a real run of the
demo, and what it promises is what the demo's certificate promises. Its Python and R are run by house/python and house/r."""
import csv
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

TAMIS = TOP / "build" / "release" / "cli" / "tamis"
README = (TOP / "README.md").read_text()
# Row of the table: what was measured, and what is beside it, in the order of the numbers.
SPEED = {
    "exact discrete Laplace noise, scale 10": ("discrete Laplace, scale 10", "opendp", "numpy, inexact"),
    "20 weighted totals over 10^7 rows of Parquet": ("20 weighted totals, 10^7 rows of Parquet", "opendp with Polars",
                                                     "Tumult on Spark, without weights"),
    "the clamped mean of 10^7 doubles in memory": ("clamped mean of 10000000 doubles in memory, exact", "numpy, clip and mean", "diffprivlib", "opendp"),
    "epsilon of 1000 releases, certified": ("compose 1000 releases, eps at two deltas", "dp_accounting, PLD"),
    "drawing 200 of 5,000 by conditional Poisson": ("draw, conditional_poisson, 200 of 5000", "R's sampling"),
    "importing the Python package": ("Python: import tamis", "import opendp"),
}


def links(page):
    """Links of a page that lead nowhere; those to parts of a page need a heading or an anchor there."""
    text, lost = page.read_text(), []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, part = target.partition("#")
        there = (page.parent / file) if file else page
        if not there.exists():
            lost.append(target)
        elif part and there.suffix == ".md":
            known = there.read_text()
            headings = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", known, re.M)}
            if part not in headings and f'id="{part}"' not in known:
                lost.append(target)
    return lost


def speed():
    measured = {(row["what"], row["beside"]): row for row in json.loads((TOP / "bench" / "results.json").read_text())["rows"]}
    table = {cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("| ")) if len(cells) == 3}
    for title, (what, *beside) in SPEED.items():
        said = [float(n) for cell in table.get(title, []) for n in re.findall(r"(?<![\d^.])\d+(?:\.\d+)?(?![\d^])", cell)]
        found = [measured[what, beside[0]]["measured"], *(measured[what, name]["beside_measured"] for name in beside)]
        case(f"speed: {title}", len(said) == len(found) and all(math.isclose(s, f, rel_tol=0.006) for s, f in zip(said, found)), f"{said} {found}")
    rows = [line for line in README[README.index("## How fast"):].splitlines() if line.startswith("| ")]
    case("speed: no row is unchecked", len(rows) == len(SPEED) + 1, str(rows))  # and the heading


def promise():
    with tempfile.TemporaryDirectory() as folder:
        guarantee = json.loads(subprocess.run([TAMIS, "demo", "--json", "--quiet", "--out", "town"], cwd=folder, check=True, capture_output=True,
                                              text=True).stdout)["guarantee"]
    posterior = {part["who"]: part["posterior"]["0.1"]["upper"] for part in guarantee["meaning"]}
    for who, row in (("nosy neighbour", "a neighbour who saw the interviewer"), ("outsider", "an outsider, who does not know")):
        said = re.search(rf"^\| {row}.*\| ([\d.]+) %, at most \|$", README, re.M)
        case(f"promise against a {who}", said and 0 <= float(said[1]) - 100 * posterior[who] < 0.1001, f"{said} {posterior}")
    said = re.search(r"\(epsilon ([\d.]+) and ([\d.]+), delta 0\)", README)
    exact = [guarantee[who]["epsilon"]["upper"] for who in ("sample", "outsider")]
    case("promised epsilons", said and all(0 <= float(s) - e < 0.001 for s, e in zip(said.groups(), exact))
         and all(guarantee[who]["delta"]["upper"] == 0 for who in ("sample", "outsider")), f"{said} {exact}")


def picture():
    loader = importlib.machinery.SourceFileLoader("demo_picture", str(TOP / "scripts" / "demo-picture"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_picture", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(script)
    rows = json.loads((TOP / "docs" / "demo.json").read_text())
    case("the picture is that of docs/demo.json", script.draw(rows) == (TOP / "docs" / "demo.svg").read_text(), "scripts/demo-picture --redraw")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("plan.yaml", "sample.csv"):
            (pathlib.Path(folder) / name).write_bytes((TOP / "examples" / "demo" / name).read_bytes())
        inside = json.loads(subprocess.run([TAMIS, "estimate", "plan.yaml", "--json", "--quiet"], cwd=folder, check=True, capture_output=True,
                                           text=True).stdout)["results"]
    truth = list(csv.DictReader((TOP / "examples" / "demo" / "truth.csv").open()))
    same = len(rows) == len(inside) == len(truth) and all(
        math.isclose(r["unprotected"], e["estimate"], rel_tol=1e-9) and math.isclose(r["unprotected_lower"], e["interval"]["lower"], rel_tol=1e-9)
        and math.isclose(r["unprotected_upper"], e["interval"]["upper"], rel_tol=1e-9) and r["truth"] == float(t["value"])
        for r, e, t in zip(rows, inside, truth))
    case("without protection, and the truth, are those of the demo", same)
    far = [r for r in rows if not abs(r["published"] - r["unprotected"]) <= 20 * r["noise_sd"]]
    case("published numbers differ from these by noise", not far, str(far))
    shown = re.findall(r"^ {6}(\S+) +([\d,.]+) +([\d,.]+) to ([\d,.]+) +([\d,.]+)$", (TOP / "docs" / "demo.md").read_text(), re.M)
    close = lambda text, x: math.isclose(float(text.replace(",", "")), x, rel_tol=0.06, abs_tol=0.002)  # noqa: E731
    case("docs/demo.md shows the same run", len(shown) == len(rows) and all(
        s[0] == r["group"] and close(s[1], r["published"]) and close(s[2], r["lower"]) and close(s[3], r["upper"]) for s, r in zip(shown, rows)))


case("at most 120 lines", len(README.splitlines()) <= 120)
for page in sorted([TOP / "README.md", *(TOP / "docs").glob("*.md")]):
    lost = links(page)
    case(f"links of {page.relative_to(TOP)}", not lost, str(lost))
for block in re.findall(r"^```(?:python|r)\n(.*?)^```$", README, re.M | re.S):
    case("a first release in five lines", len([line for line in block.splitlines() if line.strip()]) <= 5, block)
speed()
promise()
picture()
sys.exit(done())
