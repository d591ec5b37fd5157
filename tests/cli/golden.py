#!/usr/bin/python3
"""What a release computes stays what it is: every plan under examples/ and one of every design (kinds.py) are released with
fixed noise, and the JSON that comes out is compared with golden/releases/.

The program under test is `tamis-with-fixed-noise`: the objects of the command and of the library, but random bits come from
tests/rng/scripted_bits.c, with the same seed in each process. CSV files are read by DuckDB and by the engine memory, which must
give the same JSON; the plans of kinds.py are read by one and the other in turn, and by both with TAMIS_TEST_LONG.
examples/postgres needs the server of tests/engine/with_postgres and is skipped without it. Plans without a sample of their own
(examples/coverage, examples/api/study.yaml) get one that is drawn below, by hashes of row numbers.

Compared: the whole of certificate.json, measurements.json and release.json but for what is left out. Integers, fractions, names
and groups are compared exactly; floating-point numbers, and all numbers of release.json, to 1 in 10^9.
Left out, wherever the key occurs:
- words: domain, multiverse, divergence, inequality, statement, declared_public, not_covered, warnings, covers, who, and the
  texts in input_premetric; of theorem, reason, outsider_reason and notes only whether they are there, and how many notes;
- what changes from run to run or with an edition: version, time, ledger, files, hash.

A golden file is made to be read and compared line by line: one line for each member of the certificate, of its plan and of the
release, for each measurement with its scale and sensitivity, for the integers of each measurement, and for each result with its
estimate, errors and interval. What measurements.json repeats of the certificate is not repeated.

    tests/cli/golden.py BUILD/tests/cli/tamis-with-fixed-noise                 compares
    tests/cli/golden.py BUILD/tests/cli/tamis-with-fixed-noise --write         writes the golden files anew, each after the second
                                                                               verifier (tests/verifier.py) has believed its release
For --write, and to include PostgreSQL, put tests/engine/with_postgres before it.
"""
import csv
import hashlib
import json
import math

from kinds import KINDS, write as write_kind
from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

WRITES = sys.argv[2:] == ["--write"]
PLACE = HERE / "golden" / "releases"
WORDS = {"domain", "multiverse", "divergence", "inequality", "statement", "declared_public", "not_covered", "warnings", "covers",
         "who"}
SAID = {"theorem", "reason", "outsider_reason", "notes"}
RUN = {"version", "time", "ledger", "files", "hash"}
TOLERANCE = 1e-9
LEADING = "name", "epsilon", "rho", "noise"  # of a measurement: what changes first
DIGITS = 11  # of a floating-point number in a golden file


# ---- samples ----

def by_hash(items):
    return sorted(items, key=lambda item: hashlib.sha256(repr(item).encode()).digest())


def groups_of(rows, key):
    found = {}
    for number, row in enumerate(rows):
        found.setdefault(row[key], []).append(number)
    return found


def srs(rows, plan, n):
    return by_hash(range(len(rows)))[:n]


def sizes(plan):
    """What the plan says of its strata: name, units (or clusters) in the population, in the sample."""
    found = re.findall(r'^ +"?(\w+)"?: \{population: (\d+), sample: (\d+)\}', plan, re.M)
    return [(name, int(population), int(sample)) for name, population, sample in found]


def stratified(rows, plan, by):
    return [i for name, _, n in sizes(plan) for i in by_hash(groups_of(rows, by)[name])[:n]]


def cluster(rows, plan, by, n, within=None):
    clusters = groups_of(rows, by)
    for members in clusters.values():
        for i in members:
            rows[i]["cluster_size"] = len(members)
    return [i for name in by_hash(clusters)[:n] for i in by_hash(clusters[name])[:within]]


def households(rows, plan):
    """Clusters in strata, with their weights."""
    drawn = []
    for state, population, n in sizes(plan):
        inside = groups_of([row if row["state"] == state else {"household": None} for row in rows], "household")
        inside.pop(None)
        for name in by_hash(inside)[:n]:
            drawn += inside[name]
            for i in inside[name]:
                rows[i]["w"] = population / n
    return drawn


def by_size(size, n):
    """Systematic, with probabilities proportional to size; those that would get more than 1 are certain."""
    certain = set()
    while True:
        rest = sum(size) - sum(size[i] for i in certain)
        chance = [1 if i in certain else (n - len(certain)) * size[i] / rest for i in range(len(size))]
        if max(chance) <= 1:
            break
        certain |= {i for i, p in enumerate(chance) if p > 1}
    drawn, before = [], 0.5
    for i, p in enumerate(chance):
        if math.floor(before + p) > math.floor(before):
            drawn.append(i)
        before += p
    return chance, drawn


def pps(rows, plan, n):
    chance, drawn = by_size([int(row["size"]) for row in rows], n)
    for row, p in zip(rows, chance):
        row["inclusion_probability"] = p
    return drawn


def pps_stages(rows, plan, by, n, within):
    """Clusters with probabilities proportional to their numbers of units, and some units in each."""
    clusters = list(groups_of(rows, by).values())
    chance, drawn = by_size([len(members) for members in clusters], n)
    for members, p in zip(clusters, chance):
        for i in members:
            rows[i].update(cluster_size=len(members), cluster_probability=p)
    return [i for k in drawn for i in by_hash(clusters[k])[:within]]


def answered(rows, plan, n):
    """Those of a simple random sample who respond."""
    chance = {i: int(hashlib.sha256(f"response of {i}".encode()).hexdigest()[:8], 16) / 2 ** 32 for i in range(len(rows))}
    return [i for i in srs(rows, plan, n) if chance[i] < float(rows[i]["response"])]


PERSONS = "persons.csv", srs, 2000
SAMPLES = {  # the population, how the sample is drawn from it, with which arguments
    "api/study": ("apisrs.csv", srs, 60),
    "coverage/api-cluster": ("api.csv", cluster, "dnum", 150),
    "coverage/api-pps-two-stage": ("api.csv", pps_stages, "dnum", 150, 8),
    "coverage/api-quantiles": ("api.csv", stratified, "stype"),
    "coverage/api-srs": ("api.csv", srs, 400),
    "coverage/api-stratified": ("api.csv", stratified, "stype"),
    "coverage/belgium-pps": ("belgium.csv", pps, 200),
    "coverage/belgium-srs": ("belgium.csv", srs, 200),
    "coverage/belgium-stratified": ("belgium.csv", stratified, "Province"),
    "coverage/mu284-cluster": ("mu284.csv", cluster, "CL", 25),
    "coverage/mu284-pps": ("mu284.csv", pps, 100),
    "coverage/mu284-srs": ("mu284.csv", srs, 120),
    "coverage/mu284-two-stage": ("mu284.csv", cluster, "CL", 30, 4),
    "coverage/persons-bounds": ("persons.csv", stratified, "state"),
    "coverage/persons-calibrated": PERSONS,
    "coverage/persons-consistent": PERSONS,
    "coverage/persons-contrasts": ("persons.csv", srs, 1500),
    "coverage/persons-contrasts-clusters": ("persons.csv", cluster, "household", 900),
    "coverage/persons-contrasts-weights": ("persons.csv", households),
    "coverage/persons-lines": ("persons.csv", srs, 1500),
    "coverage/persons-models": ("persons.csv", srs, 1500),
    "coverage/persons-models-clusters": ("persons.csv", cluster, "household", 900),
    "coverage/persons-drawn": ("persons.csv", households),
    "coverage/persons-incomes": ("persons.csv", srs, 1500),
    "coverage/persons-inequality": ("persons.csv", households),
    "coverage/persons-nonnegative": PERSONS,
    "coverage/persons-nonresponse": ("persons.csv", answered, 2000),
    "coverage/persons-suppress": PERSONS,
    "coverage/persons-weights": ("persons.csv", households),  # the sizes of its strata, as of persons-inequality: persons-drawn.yaml
}


def draw(folder, plan, file, method, *arguments):
    with open(folder / file, newline="") as opened:
        rows = list(csv.DictReader(opened))
    drawn = [rows[i] for i in sorted(method(rows, plan, *arguments))]
    with open(folder / "sample.csv", "w", newline="") as opened:
        writer = csv.DictWriter(opened, drawn[0])
        writer.writeheader()
        writer.writerows(drawn)


# ---- releases ----

def plans():
    """Name of every plan: what puts it and its data into a folder."""
    found = {}

    def example(path):
        def put(folder):
            shutil.copytree(path.parent, folder, dirs_exist_ok=True)
            shutil.copy(path, folder / "plan.yaml")
            name = f"{path.parent.name}/{path.stem}"
            if name in SAMPLES:
                design = path.with_name("persons-drawn.yaml") if path.stem in ("persons-weights", "persons-inequality", "persons-contrasts-weights") else path
                draw(folder, design.read_text(), *SAMPLES[name])

        return put

    for path in sorted((TOP / "examples").glob("*/*.yaml")):
        if "\nstatistics:" in path.read_text():
            found[f"{path.parent.name}-{path.stem}"] = example(path)
    for name, kind in KINDS.items():
        found["design-" + re.sub(r"\W+", "-", name)] = lambda folder, kind=kind: write_kind(folder, *kind)
    return found


def released(put, *options, env={}, change=lambda folder: None):
    """The three files of a release, without what is left out. `change` is called when the plan and its rows are there."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        put(folder)
        change(folder)
        for ledger in folder.glob("*.ledger"):
            ledger.unlink()
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", *options, cwd=folder, env=env)
        assert done.returncode == OK and done.stderr == "", done.stderr
        if WRITES or "--allow-command" in options:  # what nobody believes is no golden file
            assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
        return {name: kept(json.loads((folder / "out" / f"{name}.json").read_text()))
                for name in ("certificate", "measurements", "release")}


def kept(value):
    if isinstance(value, list):
        return [kept(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        if key in SAID:
            found[key] = len(inner) if isinstance(inner, list) else inner is not None
        elif key == "input_premetric":
            found[key] = kept({k: v for k, v in inner.items() if not isinstance(v, str)})
        elif key not in WORDS | RUN:
            found[key] = kept(inner)
    return found


# ---- the golden files ----

def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def short(value):
    """With fewer digits, as a golden file has them."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def condensed(files):
    """All of the three files but for what measurements.json says again of a measurement of the certificate."""
    certificate, measurements = files["certificate"], files["measurements"]
    integers = [{key: value for key, value in m.items() if key == "name" or said.get(key, "absent") != value}
                for m, said in zip(measurements["measurements"], certificate["measurements"])]
    assert len(integers) == len(measurements["measurements"]) == len(certificate["measurements"])
    listed = [{**{key: m[key] for key in LEADING if key in m}, **m} for m in certificate["measurements"]]
    return short({**files, "certificate": {**certificate, "measurements": listed},
                  "measurements": {**measurements, "measurements": integers}})


def text(value, depth=0):
    """JSON with a line for each member of a file or of a plan, and for each measurement and result."""
    if depth == 3 or not isinstance(value, (dict, list)) or all(map(is_number, value)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    named = isinstance(value, dict)
    parts = [(json.dumps(key, ensure_ascii=False) + ":" if named else "") + text(inner, depth + 1)
             for key, inner in (value.items() if named else enumerate(value))]
    return "{["[not named] + "\n" + ",\n".join(parts) + "\n" + "}]"[not named]


def differences(wanted, got, path=()):
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in {**wanted, **got}:
            yield from differences(wanted.get(key, "absent"), got.get(key, "absent"), path + (key,))
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for i, (one, other) in enumerate(zip(wanted, got)):
            yield from differences(one, other, path + (i,))
    elif type(wanted) is not type(got) and not (is_number(wanted) and is_number(got)):
        yield path, wanted, got
    elif is_number(wanted) and (path[0] == "release" or float in (type(wanted), type(got))):
        if not math.isclose(wanted, got, rel_tol=TOLERANCE):
            yield path, wanted, got
    elif wanted != got:
        yield path, wanted, got


def the_same(wanted, got):
    found = [f"{'/'.join(map(str, path))}: {one} is now {other}" for path, one, other in differences(wanted, got)]
    assert not found, "\n".join(found[:12])


PLANS = plans()
POSTGRES = "postgres-plan"
SERVER = {}  # the variables by which libpq finds it; empty: there is none
LONG = bool(os.environ.get("TAMIS_TEST_LONG"))


def release_of(name):
    if name == POSTGRES:
        if not SERVER:
            raise Skip("no PostgreSQL server: run by tests/engine/with_postgres")
        return released(PLANS[name], env=SERVER)
    in_turn = name.startswith("design-") and not LONG
    engines = ENGINES[list(PLANS).index(name) % len(ENGINES)::len(ENGINES)] if in_turn else ENGINES
    first, *others = (released(PLANS[name], "--engine", engine) for engine in engines)
    for other in others:
        the_same(first, other)
    return first


def each(name):
    def numbers_are_the_golden_ones():
        the_same(json.loads((PLACE / f"{name}.json").read_text()), condensed(release_of(name)))

    case(numbers_are_the_golden_ones, f"{name}: numbers are the golden ones")


for name in PLANS:
    each(name)


@case
def no_golden_file_is_left_over():
    assert {f"{name}.json" for name in PLANS} == {file.name for file in PLACE.iterdir()}


@case
def a_changed_number_is_found():
    for file in PLACE.iterdir():
        golden, changed = (json.loads(file.read_text()) for _ in range(2))

        def is_found(inside, key, other):
            former, inside[key] = inside[key], other
            assert len(list(differences(golden, changed))) == 1, (file.name, key, former, other)
            inside[key] = former

        for measurement in changed["certificate"]["measurements"]:
            for noise in measurement["noise"]:
                is_found(noise, "sensitivity", noise["sensitivity"] + 1)
                is_found(noise, "scale", noise["scale"] + "1")
        for measurement in changed["measurements"]["measurements"]:
            values = measurement["values"]
            while isinstance(values[-1], list):
                values = values[-1]
            is_found(values, -1, values[-1] + 1)
        for result in changed["release"]["results"]:
            if result.get("estimate") is not None:  # else it is suppressed
                is_found(result, "estimate", result["estimate"] * (1 + 2 * TOLERANCE) or TOLERANCE)


def all_cases(services):
    if os.environ.get("TAMIS_TEST_POSTGRES"):
        SERVER.update(serve(services))
    if WRITES:
        assert SERVER, "all golden files are written together: put tests/engine/with_postgres before the command"
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir()
        for name in PLANS:
            (PLACE / f"{name}.json").write_text(text(condensed(release_of(name))) + "\n")
    else:
        main()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        all_cases(place)
