"""Linear, logistic and Poisson regression on categories in releases: against R's svyglm without noise, with both verifiers, with an
empty category, in the preview; and what is refused. With TAMIS_TEST_LONG=1 how often intervals cover in made-up populations."""
import csv
import hashlib
import math
import random

from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

EXPECTED = json.loads((HERE.parent / "data" / "estimates" / "regression.json").read_text())
HEAD = """tamis: 1
survey: models
source: {{file: rows.csv}}
design: {design}
privacy: {{unit: person, {loss}}}
columns:
  x: {{from: 0, to: 40, step: 1, typical: {{mean: 20, sd: 11}}}}
  y: {{from: 0, to: 10, step: 1, typical: {{mean: 5, sd: 3}}}}
  g: {{values: [a, b]}}
  h: {{values: [u, v, w{more}]}}
statistics:
{statistics}budget: {{{budget}}}
"""
DESIGNS = {"srs": "{srs: {population: 3000, sample: 300}}",
           "stratified": "{stratified: {by: s, within: srs, strata: {p: {population: 1200, sample: 100}, q: {population: 1800, sample: 200}}}}",
           "cluster": "{cluster: {by: c, population: 500, sample: 60, smallest: 1, largest: 9}, typical: {cluster: {mean: 5, sd: 1}}}",
           "weights": "{weights: {population: 3000}, weight: w, max_weight: 16}"}
MODELS = {"linear": "{regression: {of: x, on: [g, h]}}", "crossed": "{regression: {of: x, on: [g, {y: [3, 5]}], interactions: [[g, y]]}}",
          "logistic": "{regression: {of: {x: {from: 20}}, on: [g, h], family: logistic}, baseline: {g: b}}",
          "poisson": "{regression: {of: y, on: [g, h], family: poisson}}"}


def rows():
    seed, lines = 7, ["x,y,g,h,s,c,w"]
    for i in range(300):
        seed = (seed * 1103515245 + 12345) % 2 ** 31
        a = seed >> 8
        g, h = a % 7 > 2, a // 64 % 3
        x = (a // 7 % 23 + i // 5 % 9 + 7 * g + 2 * h) % 41
        lines.append(f"{x},{(a // 11 % 5 + 2 * g + h) % 11},{'ab'[g]},{'uvw'[h]},{'pq'[i >= 100]},{i // 5},{4 + a % 13}")
    return "\n".join(lines) + "\n"


def release(design, statistics, loss="epsilon: 1000", budget="epsilon: 100000", more=""):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rows.csv").write_text(rows())
        plan = HEAD.format(design=DESIGNS[design], loss=loss, budget=budget, more=more, statistics="".join(f"  - {s}\n" for s in statistics))
        (folder / "p.yaml").write_text(plan)
        foreseen = tamis("check", "p.yaml", "--json", cwd=folder)
        done = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder)
        assert foreseen.returncode == done.returncode == OK, (foreseen.stderr, done.stderr)
        checked = tamis("verify", folder / "out")
        assert checked.returncode == OK, checked.stdout + checked.stderr
        assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
        with open(folder / "out" / "release.csv", newline="") as file:
            table = list(csv.DictReader(file))
        page = (folder / "out" / "report.html").read_text()
        return json.loads(done.stdout)["results"], table, page, json.loads(foreseen.stdout)["statistics"]


def both_verifiers_and_svyglm(design):
    """Next to no noise: estimates to what is left of it, standard errors to 5 % where squares come with the table; where they are
    measured, a limit that allows for how little they may say."""
    results, table, page, _ = release(design, MODELS.values())
    assert len(table) == sum(len(r["terms"]) for r in results) and "Logistic regression of" in page and "Odds ratio" in page
    for name, r in zip(MODELS, results):
        wanted = EXPECTED[design][name]
        for t, b, se in zip(r["terms"], wanted["estimate"], wanted["se"]):
            assert abs(t["estimate"] - b) <= 25 * t["noise_sd"] + 1e-9 and t["noise_sd"] < 0.1 * se, (design, name, t, b)
            near = (0.4, 30) if design in ("cluster", "weights") else (0.95, 1.05)
            assert near[0] < t["sampling_se"] / se < near[1], (design, name, t, se)
            assert t["interval"]["lower"] < t["estimate"] < t["interval"]["upper"] and 0 <= t["p"] <= 1
            assert ("exp" in t) == (name in ("logistic", "poisson")) and ("exp" not in t or abs(t["exp"]["estimate"] - math.exp(t["estimate"])) < 1e-9)
        assert len(r["terms"]) == len(wanted["estimate"]) and ("r2" in r) == (name in ("linear", "crossed"))
    assert [t["term"] for t in results[1]["terms"]] == ["(intercept)", "g=b", "y=[3,5)", "y=[5,10]", "g=b:y=[3,5)", "g=b:y=[5,10]"]
    assert [t["term"] for t in results[2]["terms"]] == ["(intercept)", "g=a", "h=v", "h=w"] and set(results[0]["joint"]) == {"h"}


for one in DESIGNS:
    case(type(both_verifiers_and_svyglm)(both_verifiers_and_svyglm.__code__, globals(), f"regressions_under_{one}", (one,)))


LINES = ["{regression: {of: x, on: [y]}}", "{regression: {of: x, on: [y, g, h], interactions: [[g, h]]}}", "{regression: {of: x, on: [y]}, by: g}",
         "{regression: {of: {g: a}, on: [x, y]}}", "{regression: {of: x, on: [y]}, where: {h: [u, w]}}", "{regression: {of: x, on: [y, z, g]}}", "{correlation: [x, y]}", "{correlation: [x, z], by: g}"]
NUMBER = ", missing: none}\n  z: {from: -3, to: 9, step: 0.5, typical: {mean: 3, sd: 2}"  # columns after h


def folder_with(folder, design, statistics, loss="epsilon: 1000", budget="epsilon: 100000", more=""):
    lines = rows().splitlines()
    kept = [f"{line},{'' if k % 11 == 3 else (k * 7 % 25) / 2 - 3}" for k, line in enumerate(lines[1:])]  # some have no z
    kept = ["," + line.split(",", 1)[1] if k % 17 == 5 else line for k, line in enumerate(kept)]  # some have no x
    (folder / "rows.csv").write_text("\n".join([lines[0] + ",z", *kept]) + "\n")
    plan = HEAD.format(design=DESIGNS[design], loss=loss, budget=budget, more=more, statistics="".join(f"  - {s}\n" for s in statistics))
    (folder / "p.yaml").write_text(plan.replace("  h: {values: [u, v, w]}\n", "  h: {values: [u, v, w]" + NUMBER + "}\n"))


def numbers_as_predictors(design):
    """Next to no noise: what `tamis estimate` says, which is what svyglm says; both verifiers; and the preview."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder_with(folder, design, LINES)
        done = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder)
        exact, foreseen = tamis("estimate", "p.yaml", "--json", cwd=folder), tamis("check", "p.yaml", "--json", cwd=folder)
        assert done.returncode == exact.returncode == foreseen.returncode == OK, (done.stderr, exact.stderr, foreseen.stderr)
        checked = tamis("verify", folder / "out")
        assert checked.returncode == OK and verifier.verify(folder / "out") == [], (checked, verifier.verify(folder / "out"))
        pairs = list(zip(json.loads(done.stdout)["results"], json.loads(exact.stdout)["results"]))
        assert len(pairs) == 10
        ratios = []
        for r, e in pairs[7:]:
            assert abs(r["estimate"] - e["estimate"]) <= 25 * r["noise_sd"] < 0.1 and -1 <= r["interval"]["lower"] < r["interval"]["upper"] <= 1, (r, e)
            ratios.append(r["sampling_se"] / e["se"])
        for r, e in pairs[:7]:
            assert abs(r["r2"] - e["r2"]) < 0.01 and set(r.get("joint", {})) == set(e.get("joint", {})), (design, r, e)
            for t, b in zip(r["terms"], e["terms"]):
                assert t["term"] == b["term"] and abs(t["estimate"] - b["estimate"]) <= 25 * t["noise_sd"] and t["noise_sd"] < 0.1 * b["se"], (design, t, b)
                ratios.append(t["sampling_se"] / b["se"])
        ratios.sort()
        assert 0.4 < ratios[0] and ratios[-1] < 4 and 0.9 < ratios[len(ratios) // 2] < 1.25, (design, ratios)
        assert [g["term"] for g in json.loads(foreseen.stdout)["statistics"][1]["groups"]][:3] == ["(intercept)", "y", "g=b"]


for one in DESIGNS:
    case(type(numbers_as_predictors)(numbers_as_predictors.__code__, globals(), f"numbers_under_{one}", (one,)))


PRODUCTS = {"gram squares": ["{regression: {of: x, on: [y, z]}}", "{regression: {of: x, on: [y, z, v, g]}}", "{regression: {of: v, on: [x, y]}, by: g}",
                             "{regression: {of: {g: a}, on: [x, y, z]}}"],
            "gram sums": ["{regression: {of: x, on: [y, z, v, u, t]}}"]}


def several_numbers(design, form, loss):
    """Numbers that every row has: their sums of products are measured instead of all of their levels. Both verifiers; next to no noise."""
    with tempfile.TemporaryDirectory() as name:
        folder, lines = pathlib.Path(name), rows().splitlines()
        more = "".join(f"  {n}: {{from: 0, to: {to}, step: 1, missing: none}}\n" for n, to in (("z", 12), ("v", 20), ("u", 16), ("t", 10)))
        kept = [f"{line},{k * 7 % 13},{k * k % 21},{(k * k * k + k) % 17},{k * 5 % 11}" for k, line in enumerate(lines[1:])]
        (folder / "rows.csv").write_text("\n".join([lines[0] + ",z,v,u,t", *kept]) + "\n")
        plan = HEAD.format(design=DESIGNS[design], loss=loss, budget=loss, more="", statistics="".join(f"  - {s}\n" for s in PRODUCTS[form]))
        (folder / "p.yaml").write_text(plan.replace("step: 1, typical", "step: 1, missing: none, typical").replace("statistics:", more + "statistics:"))
        done = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder)
        exact, foreseen = tamis("estimate", "p.yaml", "--json", cwd=folder), tamis("check", "p.yaml", "--json", cwd=folder)
        assert done.returncode == exact.returncode == foreseen.returncode == OK, (done.stderr, exact.stderr, foreseen.stderr)
        checked = tamis("verify", folder / "out")
        assert checked.returncode == OK and verifier.verify(folder / "out") == [], (checked.stdout, verifier.verify(folder / "out"))
        tables = json.loads((folder / "out" / "certificate.json").read_text())["measurements"]
        assert any(m["form"] == form for m in tables), [(m["name"], m["form"]) for m in tables]
        pairs, ratios, noises = list(zip(json.loads(done.stdout)["results"], json.loads(exact.stdout)["results"])), [], []
        told = [g for s in json.loads(foreseen.stdout)["statistics"] for g in s["groups"]]
        for r, e in pairs:
            for t, b in zip(r["terms"], e["terms"]):
                assert t["term"] == b["term"] and abs(t["estimate"] - b["estimate"]) <= 25 * t["noise_sd"] and t["noise_sd"] < 0.2 * b["se"], (design, t, b)
                ratios.append(t["sampling_se"] / b["se"])
                noises.append(told[len(noises)]["noise_sd"] / t["noise_sd"] if told[len(noises)]["term"] == t["term"] else 1)
        ratios.sort(), noises.sort()
        assert 0.4 < ratios[0] and ratios[-1] < 4 and 0.9 < ratios[len(ratios) // 2] < 1.3, (design, ratios)
        assert 1 / 5 < noises[0] and noises[-1] < 5, (design, noises)  # made-up numbers are not what is guessed


for one in DESIGNS:
    case(type(several_numbers)(several_numbers.__code__, globals(), f"several_numbers_under_{one}", (one, "gram squares", "rho: 10000")))
case(type(several_numbers)(several_numbers.__code__, globals(), "several_numbers_with_laplace_noise", ("cluster", "gram sums", "epsilon: 10000")))


@case
def every_coefficient_is_compared_with_its_own():
    """All terms of a model are in one object of release.json: verify compares each with its own number, to nine digits."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rows.csv").write_text(rows())
        asked = ["{regression: {of: x, on: [g, h]}}", "{difference: {mean: x, between: {g: [b, a]}}}", "{regression: {of: x, on: [g]}}", "{mean: x, by: g}"]
        plan = HEAD.format(design=DESIGNS["srs"], loss="epsilon: 4", budget="epsilon: 4", more="", statistics="".join(f"  - {s}\n" for s in asked))
        (folder / "p.yaml").write_text(plan)
        assert with_memory("release", folder / "p.yaml", "--out", folder / "out", cwd=folder).returncode == OK
        checked = tamis("verify", folder / "out")
        assert checked.returncode == OK, checked.stdout
        file, text = folder / "out" / "release.json", (folder / "out" / "release.json").read_text()
        certificate = json.loads((folder / "out" / "certificate.json").read_text())

        def problems(by):
            """Of release.json, with every number of its models and of what follows them multiplied by it."""
            told = json.loads(text)
            for r in told["results"]:
                for one in [*r.get("terms", []), *r.get("joint", {}).values(), r]:
                    for key in ("estimate", "se", "sampling_se", "noise_sd", "p", "r2"):
                        if one.get(key):  # an integer 0 has no last digits
                            one[key] *= by
            for r in told["results"]:
                if "cv" in r:
                    r["cv"] = r["se"] / abs(r["estimate"])
            file.write_text(json.dumps(told))
            certificate["files"]["release.json"] = hashlib.sha256(file.read_bytes()).hexdigest()
            body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
            certificate["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
            (folder / "out" / "certificate.json").write_text(json.dumps(certificate))
            done = tamis("verify", folder / "out", "--json")
            assert done.returncode == INVALID, done.stdout  # the other files have the old numbers
            return [p["field"] for p in json.loads(done.stdout)["problems"] if p["field"].startswith("release.json")]

        found = problems(1 + 1e-12)
        assert found == [], found
        found = problems(1 + 1e-7)
        assert all(f"release.json.results[0].{f}" in found for f in ("terms[3].estimate", "joint.h.p", "r2")), found
        assert "release.json.results[1].estimate" in found and "release.json.results[4].se" in found, found


@case
def a_changed_coefficient_is_noticed():
    """The second verifier solves for nothing: it puts the published coefficients into the score."""
    import verifier_reading
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder_with(folder, "stratified", [LINES[0].replace("x, on: [y]", "y, on: [x, g]"), LINES[6]])
        plan = (folder / "p.yaml").read_text()
        (folder / "p.yaml").write_text(re.sub("step: 1, typical", "step: 1, missing: none, typical", plan))
        (folder / "rows.csv").write_text(rows())
        assert with_memory("release", folder / "p.yaml", "--out", folder / "out", cwd=folder).returncode == OK
        assert verifier.verify(folder / "out") == []
        line = verifier_reading.Reading.line

        def changed(self, numbers, t, codes, r):
            last = r["terms"][-1]
            return line(self, numbers, t, codes, {**r, "terms": r["terms"][:-1] + [{**last, "estimate": last["estimate"] * 1.001}]})
        verifier_reading.Reading.line = changed
        try:
            assert any("are not those of its sums" in p for p in verifier.verify(folder / "out"))
        finally:
            verifier_reading.Reading.line = line


@case
def an_empty_category_is_an_answer():
    """No row has it: the coefficients are not determined, or unbounded, and nothing fails."""
    for loss in ("epsilon: 1", "epsilon: 1000", "rho: 2"):
        budget = "rho: 100" if "rho" in loss else "epsilon: 100000"
        results, table, page, _ = release("srs", MODELS.values(), loss=loss, budget=budget, more=", z")
        for r in (results[0], results[2], results[3]):
            last = r["terms"][-1]
            assert last["term"] == "h=z" and (last["interval"] is None or last["interval"]["upper"] - last["interval"]["lower"] > 1), last
            assert last["interval"] or last["reason"].startswith("not determined"), last
        assert results[1]["terms"][0]["term"] == "(intercept)"


DEFICIENT = ["{regression: {of: x, on: [y, z]}}", "{regression: {of: x, on: [k]}}", "{regression: {of: x, on: [y, e]}}", "{correlation: [y, k]}"]


def data_of_less_rank(design):
    """z is y, k is constant, nobody has e=v: no coefficient that divides by 0 but for noise is released, unless this noise happens
    to be large, and what is said besides is what is said of any data."""
    said, missing = [], []
    for deficient in (True, False):
        with tempfile.TemporaryDirectory() as name:
            folder, lines = pathlib.Path(name), rows().splitlines()
            more = [(c := line.split(","), i % 7 if not deficient else c[1], 4 if deficient else i % 11, "uv"[not deficient and i % 2])
                    for i, line in enumerate(lines[1:])]
            (folder / "rows.csv").write_text("\n".join([lines[0] + ",z,k,e", *(f"{','.join(c)},{z},{k},{e}" for c, z, k, e in more)]) + "\n")
            numbers = "".join(f"  {n}: {{from: 0, to: 10, step: 1, missing: none}}\n" for n in "zk") + "  e: {values: [u, v]}\n"
            plan = HEAD.format(design=DESIGNS[design], loss="epsilon: 2000", budget="epsilon: 100000", more="", statistics="".join(f"  - {s}\n" for s in DEFICIENT))
            (folder / "p.yaml").write_text(plan.replace("statistics:", numbers + "statistics:"))
            done = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder)
            assert done.returncode == OK and verifier.verify(folder / "out") == [], done
            said.append(done.stderr.replace(name, ""))
            results = json.loads(done.stdout)["results"]
            numbers = [(k, t) for k, r in enumerate(results) for t in r.get("terms", [r])]
            for _, t in numbers:
                assert (t["estimate"] is None) == (t["interval"] is None) == bool(t.get("reason")), t
                assert not t.get("reason") or re.fullmatch(r"not determined: [a-z ,]+", t["reason"]), t
            missing.append({k for k, t in numbers if t["estimate"] is None and t.get("term") != "(intercept)"})
    assert said[0] == said[1] and len(missing[0]) >= 2 and not missing[1], (design, said, missing)


for one in ("srs", "weights"):
    case(type(data_of_less_rank)(data_of_less_rank.__code__, globals(), f"data_of_less_rank_under_{one}", (one,)))


@case
def the_preview_foresees_them():
    for design in DESIGNS:
        results, _, _, told = release(design, MODELS.values(), loss="epsilon: 60")
        for s, r in zip(told, results):
            for g, t in zip(s["groups"], r["terms"]):
                assert g["term"] == t["term"], (g, t)
            ratios = [math.log(g["se"] / t["se"]) for g, t in zip(s["groups"], r["terms"]) if t["se"]]
            middle = math.exp(sorted(ratios)[len(ratios) // 2])
            assert 1 / 3 < middle < 3, (design, s["words"], middle)


@case
def what_is_refused_says_what_works():
    clusters, weights = DESIGNS["cluster"], "{weights: {deff: 2}, weight: w, max_weight: 16}"
    refused = [(DESIGNS["srs"], "{regression: {of: x, on: [y, z, v, u, g]}}", "at most 3 uncut numbers"), (clusters, "{regression: {of: x, on: [y, z, v, u, t, q, g]}}", "at most 5 uncut numbers"),
               (weights, "{correlation: [x, y]}", "a regression on cuts, {x: [A, B]}"), (weights, "{regression: {of: x, on: [y, g]}}", "a regression on cuts, {y: [A, B]}")]
    more = "]}\n" + "".join(f"  {name}: {{from: 0, to: 10, step: 1}}\n" for name in "zvutq") + "  k: {values: [a, b"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rows.csv").write_text(rows())
        for design, statistic, words in refused:
            (folder / "p.yaml").write_text(HEAD.format(design=design, loss="epsilon: 1", budget="epsilon: 9", more=more, statistics=f"  - {statistic}\n"))
            for command in ("check", "release"):
                done = tamis(command, "p.yaml", cwd=folder)
                assert done.returncode == REFUSED and words in done.stderr, (command, done)
            assert not (folder / "tamis.ledger").exists()


SCHOOLS = """tamis: 1
survey: schools
source: {{file: rows.csv}}
design:
  stratified:
    by: stype
    within: {within}
    strata: {{E: {{population: 4421, sample: 100}}, M: {{population: 1018, sample: 50}}, H: {{population: 755, sample: 50}}}}
privacy: {{unit: school, epsilon: 1000000}}
columns:
  api00: {{from: 200, to: 1000, step: 1, missing: none}}
  meals: {{from: 0, to: 100, step: 1, missing: none}}
  enroll: {{from: {{E: 0, M: 0, H: 0}}, to: {{E: 2000, M: 3000, H: 4000}}, step: 1, missing: none}}
  stype: {{values: [E, M, H]}}
statistics:
{statistics}budget: {{epsilon: 1000000}}
"""


def schools(folder, statistics, within="srs"):
    shutil.copy(TOP / "examples" / "schools" / "apistrat.csv", folder / "rows.csv")
    (folder / "p.yaml").write_text(SCHOOLS.format(within=within, statistics="".join(f"  - {s}\n" for s in statistics)))


@case
def the_column_of_the_strata_is_in_tables_of_squares():
    """Without noise standard errors are those of `tamis estimate`, a little larger where squares are not centred; a table of squares
    without the strata would be several times off."""
    lines = ["{regression: {of: api00, on: [meals, stype]}}", "{regression: {of: api00, on: [meals]}, by: stype}", "{correlation: [meals, api00], by: stype}",
             "{regression: {of: api00, on: [meals]}, where: {stype: [M, H]}}", "{correlation: [meals, api00], where: {stype: H}}"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        schools(folder, lines)
        done, exact = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder), tamis("estimate", "p.yaml", "--json", cwd=folder)
        assert done.returncode == exact.returncode == OK, (done.stderr, exact.stderr)
        assert tamis("verify", folder / "out").returncode == OK and verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
        pairs = list(zip(json.loads(done.stdout)["results"], json.loads(exact.stdout)["results"]))
        both = [(t, b) for r, e in pairs for t, b in zip(r.get("terms", [r]), e.get("terms", [e]))]
        ratios = [t["sampling_se"] / b["se"] for t, b in both]
        assert len(ratios) == 4 + 6 + 3 + 2 + 1 and 0.97 < min(ratios) and max(ratios) < 1.2, ratios


@case
def no_sampling_errors_mix_strata_that_are_apart():
    """Ranges by stratum need tables of each stratum, which the second stage has not: a row would be in the numbers of all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for line in "{regression: {of: api00, on: [meals, stype]}}", "{correlation: [meals, api00], where: {stype: [M, H]}}":
            schools(folder, [line, "{mean: enroll}"])
            done = tamis("release", "p.yaml", cwd=folder)
            assert done.returncode == REFUSED and "one range for all strata" in done.stderr and not (folder / "tamis.ledger").exists(), done
        schools(folder, ["{mean: api00, by: stype}", "{mean: enroll}", "{mean: api00}"], "{cluster: {by: cds, smallest: 1, largest: 3}}")
        done = tamis("release", "p.yaml", "--out", "out", "--json", cwd=folder)
        assert done.returncode == OK and verifier.verify(folder / "out") == [], (done, verifier.verify(folder / "out"))
        errors = [r["sampling_se"] for r in json.loads(done.stdout)["results"]]
        assert errors[:4] == [None] * 4 and errors[4] > 0, errors


@case
def the_plans_of_the_page_run():
    page = (TOP / "docs" / "regression.md").read_text()
    plans = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert len(plans) == 3, len(plans)
    names = [re.findall(r"^  (\S+) +-?[\d.]+ .* p ", page, re.M), ["meals", "stype=M", "stype=H"], ["size=[2,3)"]]
    for plan, terms in zip(plans, names):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for data in (TOP / "examples" / "schools" / "apistrat.csv", TOP / "examples" / "households" / "eusilc.csv"):
                shutil.copy(data, folder)
            (folder / "p.yaml").write_text(plan)
            told = tamis("check", "p.yaml", cwd=folder)
            assert told.returncode == OK and "regression of" in told.stdout, told
            done = tamis("release", "p.yaml", "--out", "out", cwd=folder)
            assert done.returncode == OK, done.stderr
            for name in terms:
                assert re.search(rf"^  {re.escape(name)} ", done.stdout, re.M), (name, done.stdout)
            assert tamis("verify", "out", cwd=folder).returncode == OK and verifier.verify(folder / "out") == []


# ---- how often intervals cover ----

def population(rng, clustered):
    """24 combinations of sex, six regions and two ages; an outcome of 0 and 1, and a number, whose cluster has its part."""
    units = []
    for c in range(1000):
        own = rng.gauss(0, 0.3) if clustered else 0
        for _ in range(20):
            sex, age = rng.random() < 0.5, rng.random() < 0.4
            region = min(int(rng.random() * 5.5), 5)
            eta = -1 + 0.5 * sex + 0.4 * age + 0.15 * region + own
            x = min(max(round(40 + 6 * sex - 8 * age + 2 * region + 10 * own + rng.gauss(0, 12)), 0), 100)
            units.append((c, "fm"[sex], "nsewcx"[region], "yo"[age], "01"[rng.random() < 1 / (1 + math.exp(-eta))], x))
    return units


def design_row(u):
    return [1, u[1] == "m"] + [u[2] == r for r in "sewcx"] + [u[3] == "o"]


def solve(A, b):
    n, M = len(b), [row[:] + [v] for row, v in zip(A, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(M[k][i]))
        M[i], M[p] = M[p], M[i]
        for k in range(n):
            if k != i:
                f = M[k][i] / M[i][i]
                M[k] = [a - f * c for a, c in zip(M[k], M[i])]
    return [M[i][n] / M[i][i] for i in range(n)]


def truth(units, logistic):
    """Newton's method on all units of the population."""
    cells = {}
    for u in units:
        cell = cells.setdefault(tuple(map(int, design_row(u))), [0, 0])
        cell[0] += 1
        cell[1] += int(u[4]) if logistic else u[5]
    beta = [0.0] * 8
    for _ in range(30 if logistic else 1):
        score, J = [0.0] * 8, [[0.0] * 8 for _ in range(8)]
        for x, (N, Y) in cells.items():
            eta = sum(a * b for a, b in zip(x, beta))
            mu, slope = (1 / (1 + math.exp(-eta)), 0) if logistic else (eta, 1)
            slope = mu * (1 - mu) if logistic else 1
            for i in range(8):
                score[i] += x[i] * (Y - N * mu)
                for j in range(8):
                    J[i][j] += N * slope * x[i] * x[j]
        beta = [b + s for b, s in zip(beta, solve(J, score))]
    return beta


COVERED = """tamis: 1
survey: covered-{run}
source: {{file: rows.csv}}
design: {design}
privacy: {{unit: person, {loss}}}
columns:
  x: {{from: 0, to: 100, step: 1, typical: {{mean: 40, sd: 15}}}}
  sex: {{values: [f, m], missing: none}}
  region: {{values: [n, s, e, w, c, x], missing: none}}
  age: {{values: [y, o], missing: none}}
  work: {{values: ["0", "1"], missing: none}}
statistics:
  - {{regression: {{of: {{work: "1"}}, on: [sex, region, age], family: logistic}}}}
  - {{regression: {{of: x, on: [sex, region, age]}}}}
budget: {{{loss}}}
"""


def coverage(clustered, n, loss, runs, seed):
    """Of all 16 coefficients: how many intervals there were, how many of them cover, and the worst coefficient."""
    rng = random.Random(seed)
    units = population(rng, clustered)
    true = truth(units, True) + truth(units, False)
    given, covered, widths = [0] * 16, [0] * 16, [0.0] * 16
    design = f"{{cluster: {{by: c, population: 1000, sample: {n // 20}, smallest: 20, largest: 20}}, typical: {{icc: 0.1}}}}" if clustered else \
        f"{{srs: {{population: 20000, sample: {n}}}}}"
    for run in range(runs):
        drawn = set(rng.sample(range(1000), n // 20)) if clustered else None
        sample = [u for u in units if u[0] in drawn] if clustered else rng.sample(units, n)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "rows.csv").write_text("c,sex,region,age,work,x\n" + "".join(",".join(map(str, u)) + "\n" for u in sample))
            (folder / "p.yaml").write_text(COVERED.format(run=run, design=design, loss=loss))
            done = tamis("release", "p.yaml", "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        terms = [t for r in json.loads(done.stdout)["results"] for t in r["terms"]]
        for k, t in enumerate(terms):
            if t["interval"]:
                given[k] += 1
                covered[k] += t["interval"]["lower"] <= true[k] <= t["interval"]["upper"]
                widths[k] += math.log(t["se"] / t["sampling_se"])
    shares = [c / g for c, g in zip(covered, given) if g]
    print(f"# {'clusters' if clustered else 'simple random sample'}, n {n}, {loss}, {runs} samples, seed {seed}: logistic "
          f"{sum(covered[:8]) / max(sum(given[:8]), 1):.3f}, linear {sum(covered[8:]) / max(sum(given[8:]), 1):.3f}, least {min(shares):.3f}, not determined "
          f"{1 - sum(given[:8]) / 8 / runs:.1%} and {1 - sum(given[8:]) / 8 / runs:.1%}, se/sampling se "
          f"{math.exp(sum(widths[:8]) / max(sum(given[:8]), 1)):.2f} and {math.exp(sum(widths[8:]) / max(sum(given[8:]), 1)):.2f}", flush=True)
    return given, covered


if os.environ.get("TAMIS_TEST_LONG"):
    @case
    def intervals_cover():
        """Each coefficient by itself: below 0.95 with a probability below 10^-9 only, if that is what it covers."""
        runs = int(os.environ.get("TAMIS_TEST_RUNS", "200"))
        for clustered, n, loss, seed in ((False, 1000, "epsilon: 1", 1), (False, 1000, "epsilon: 4", 2), (False, 5000, "rho: 0.5", 3),
                                         (True, 2000, "epsilon: 8", 4)):
            given, covered = coverage(clustered, n, loss, runs, seed)
            for g, c in zip(given, covered):
                least = next(k for k in range(g + 1) if sum(math.comb(g, i) * 0.95 ** i * 0.05 ** (g - i) for i in range(k + 1)) > 1e-10 or k == g)
                assert c >= least, (clustered, n, loss, g, c, least)


main()
