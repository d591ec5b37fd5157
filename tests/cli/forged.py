#!/usr/bin/python3
"""Forgeries: files that are right each by themselves, put together or edited so that they promise more than was kept. Each is
shown to `tamis verify`, to tests/verifier.py and, where the ledger knows better, to `tamis ledger verify --against`."""
import copy
import hashlib
import json
import pathlib
import re
import shutil
import sys
import tempfile

from kit import HERE, INVALID, OK, case, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402
from tap import LONG  # noqa: E402

PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {{srs: {{population: 100, sample: 24}}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  x: {{from: -2, to: 6, step: 1}}
  g: {{values: [a, b]}}
statistics:
  - total: x
  - {{mean: x, by: g}}
budget: {{epsilon: 3}}
ledger: {ledger}
"""


PPS = PLAN.replace("{{srs: {{population: 100, sample: 24}}}}", "{{pps: {{method: pivotal, probability: p, sample: 20, frame: frame.csv}}}}") \
          .replace("{{unit: person,", "{{unit: person, id: id, protect: frame, given: population, secret_sample: yes,")


def hashed(certificate):
    """The certificate with the hash that it should have."""
    body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return {**certificate, "hash": hashlib.sha256(text.encode()).hexdigest()}


def release(folder, name, *options, epsilon="1", ledger="tamis.ledger"):
    (folder / "sample.csv").write_text("x,g\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(24)))
    (folder / f"{name}.yaml").write_text(PLAN.format(epsilon=epsilon, ledger=ledger))
    done = tamis("release", f"{name}.yaml", "--quiet", "--out", name, *options, cwd=folder)
    assert done.returncode == OK, done.stderr
    return folder / name


def read(folder, name="certificate.json"):
    return json.loads((folder / name).read_text())


def write(folder, certificate):
    (folder / "certificate.json").write_text(json.dumps(hashed(certificate)))


def problems(place):
    """What `tamis verify` finds: fields and messages."""
    done = tamis("verify", place, "--json")
    assert done.returncode in (OK, INVALID), done.stderr
    found = json.loads(done.stdout)
    assert found["ok"] == (done.returncode == OK) == (found["problems"] == []), done.stdout
    return found["problems"]


def against(folder, *places):
    done = tamis("ledger", "verify", folder / "tamis.ledger", "--against", *places, "--json")
    assert done.returncode in (OK, INVALID), done.stderr
    return json.loads(done.stdout)["problems"]


class place(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


def cheap(folder):
    """A genuine release at epsilon 1, and its certificate replaced by that of the same plan at epsilon 1/100, with the `ledger` and
    the `files` of the genuine one."""
    genuine = release(folder, "genuine")
    other = release(folder, "other", epsilon="1/100", ledger="other.ledger")
    forged = read(other)
    for key in ("ledger", "files"):
        forged[key] = read(genuine)[key]
    shutil.copytree(genuine, folder / "forged")
    write(folder / "forged", forged)
    return folder / "forged"


@case
def a_cheaper_certificate_over_the_same_numbers_is_found():
    with place() as folder:
        forged = cheap(folder)
        genuine = folder / "genuine"
        assert problems(genuine) == [] and problems(genuine / "certificate.json") == []
        assert verifier.verify(genuine / "certificate.json") == [] and against(folder, genuine / "certificate.json") == []
        for where in (forged, forged / "certificate.json"):
            fields = [p["field"] for p in problems(where)]
            assert any(f.startswith("measurements.json.measurements[0].epsilon") for f in fields), fields
            assert any(f.startswith("measurements.json.measurements[0].noise[0].scale") for f in fields), fields
            assert any("measurements.json" in p for p in verifier.verify(where)), verifier.verify(where)


@case
def the_ledger_does_not_know_a_cheaper_certificate():
    with place() as folder:
        forged = cheap(folder)
        found = against(folder, forged / "certificate.json")
        assert any("charge" in p["message"] for p in found), found
        assert any("measures" in p["message"] for p in found), found
        certificate = read(folder / "genuine")
        certificate["files"]["measurements.json"] = "0" * 64
        write(forged, certificate)
        found = against(folder, forged / "certificate.json")
        assert [p["field"].rsplit(": ", 1)[1] for p in found] == ["files.measurements.json"], found


@case
def the_ledger_knows_whom_an_account_is_about():
    """The certificate of a release with an `id` over a charge without one, the other way round, and other fields of design,
    setting and source that one side has and the other has not."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        genuine = read(release(folder, "genuine"))
        lie = copy.deepcopy(genuine)
        lie["plan"]["privacy"].update({"id": "x", "rows_per_unit": 1})
        write(folder / "genuine", lie)
        assert [p["field"].split(": ")[-1] for p in against(folder, folder / "genuine")] == ["plan.privacy"]
        for change, field in (
                (lambda plan: plan["privacy"].pop("unit"), "plan.privacy"),
                (lambda plan: plan["privacy"].update(secret_sample=True), "plan.privacy"),
                (lambda plan: plan["design"].update(nonresponse=True), "plan.design"),
                (lambda plan: plan["design"].update(weights_are="final"), "plan.design"),
                (lambda plan: plan["design"].update(regularise="1/2"), "measurements"),
                (lambda plan: plan.update(wave={"name": "2026-Q3"}), "plan.wave"),
                (lambda plan: plan["budget"].update(epsilon="1000"), "plan.budget")):
            lie = copy.deepcopy(genuine)
            change(lie["plan"])
            write(folder / "genuine", lie)
            assert [p["field"].split(": ")[-1] for p in against(folder, folder / "genuine")] == [field], field
        write(folder / "genuine", genuine)
        assert against(folder, folder / "genuine") == []


@case
def the_ledger_knows_the_probabilities_of_a_frame():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "frame.csv").write_text("id,p\n" + "".join(f"{i},{'1' if i < 2 else '9/20'}\n" for i in range(42)))
        (folder / "sample.csv").write_text("id,x,g,p\n" + "".join(f"{i},1,a,{'1' if i < 2 else '9/20'}\n" for i in range(20)))
        (folder / "genuine.yaml").write_text(PPS.format(epsilon=1, ledger="tamis.ledger"))
        done = tamis("release", "genuine.yaml", "--quiet", "--out", "genuine", cwd=folder)
        assert done.returncode == OK, done.stderr
        genuine = read(folder / "genuine")
        assert against(folder, folder / "genuine") == []
        for field, value in ("largest", "3/10"), ("certain", 0):
            lie = copy.deepcopy(genuine)
            lie["frame"]["strata"][0][field] = value
            write(folder / "genuine", lie)
            assert [p["field"].split(": ")[-1] for p in against(folder, folder / "genuine")] == ["frame.strata"], field


@case
def an_edited_file_is_found_by_its_hash_and_by_what_it_says():
    """An epsilon of 1 that becomes 0.01 wherever a file says it, first alone, then with the hashes made anew."""
    edits = {
        "release.json": (r'("epsilon": {\s*"lower": )1', r'\g<1>0.01'),
        "release.csv": ("total,x,,,", "total,x,,,1"), "registry.yaml": ("epsilon: 1\n", "epsilon: 0.01\n"),
        "report.html": ("epsilon 1,", "epsilon 0.01,"), "measurements.json": (r'("values": \[\s*)-?(?=\d)', r'\g<1>7'),
    }
    with place() as folder:
        out = release(folder, "out")
        kept = read(out)
        for name, (old, new) in edits.items():
            text = (out / name).read_text()
            edited = re.sub(old, new, text, count=1)
            assert edited != text, (name, old)
            (out / name).write_text(edited)
            for where in (out, out / "certificate.json"):
                assert [p["field"] for p in problems(where) if p["field"] == "files." + name], (name, problems(where))
                assert any(f"files.{name}:" in p for p in verifier.verify(where)), name
            forged = copy.deepcopy(kept)
            forged["files"][name] = hashlib.sha256((out / name).read_bytes()).hexdigest()
            write(out, forged)
            found = [p["field"] for p in problems(out)]
            wanted = "release.json" if name == "measurements.json" else name  # other integers are other results
            assert found and found[0].startswith(wanted), (name, found)
            (out / name).write_text(text)
            (out / "certificate.json").write_text(json.dumps(kept))
        assert problems(out) == [] == verifier.verify(out)


@case
def the_tables_that_results_rest_on_follow():
    """A list with a table that was not measured, and a result that names a list which is not there."""
    with place() as folder:
        out = release(folder, "out")
        kept, text = read(out), (out / "release.json").read_text()
        genuine = json.loads(text)
        assert genuine["measured_in"]["1"] and genuine["results"][0]["measured_in"] == "1", genuine["measured_in"]
        for field in "measured_in", "results":
            lie, forged = copy.deepcopy(genuine), copy.deepcopy(kept)
            if field == "results":
                lie["results"][0]["measured_in"] = "9"
            else:
                lie["measured_in"]["1"][0] = "rows by moon"
            (out / "release.json").write_text(json.dumps(lie))
            forged["files"]["release.json"] = hashlib.sha256((out / "release.json").read_bytes()).hexdigest()
            write(out, forged)
            found = [p["field"] for p in problems(out)]
            assert found and all(f.startswith(f"release.json.{field}") for f in found), found
            assert any(f.startswith(f"release.json.{field}") for f in verifier.verify(out)), verifier.verify(out)


@case
def everything_that_a_plan_can_ask_for_follows():
    """Ratios, variances, histograms, conditions, calibration, consistency, withheld numbers: the whole folder follows; calibrated groups
    of weighted and of clustered samples, whose numbers a record moves together, too."""
    more = """statistics:
  - total: x
  - {mean: x, by: g}
  - {count: units, by: [g, h]}
  - {table: [h, g]}
  - {ratio: {of: x, to: y}, by: h}
  - {variance: y}
  - {histogram: y, cuts: [0, 4, 8]}
  - {share: {h: u}, by: g, confidence: 0.9}
  - {total: y, where: {h: [u, v]}}
"""
    calibrated = "calibrate: {to: [{count: units, by: g, totals: {a: 40, b: 60}}]}\n"
    tails = ["", "postprocess: {nonnegative: yes, consistent: yes, suppress: {cv_above: 0.3, units_below: 10}}\n", calibrated, calibrated, calibrated]
    srs = "{srs: {population: 100, sample: 24}}"
    designs = {3: "{weights: {population: 100}, weight: w, max_weight: 9}", 4: "{cluster: {by: d, population: 25, sample: 6, smallest: 4, largest: 4}}"}
    with place() as folder:
        (folder / "sample.csv").write_text("x,g,h,y,w,d\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'uvw'[i % 3]},{i % 9},{3 + i % 4},{i // 4}\n" for i in range(24)))
        head = PLAN.split("statistics:")[0].format(epsilon="8") + '  "h": {values: [w, u, v]}\n  "y": {from: 0, to: 8, step: 1/2}\n'
        for i, tail in enumerate(tails):
            (folder / f"{i}.yaml").write_text(head.replace(srs, designs.get(i, srs)) + more + "budget: {epsilon: 8}\n" + tail + f"ledger: {i}.ledger\n")
            done = tamis("release", f"{i}.yaml", "--quiet", "--out", f"out{i}", cwd=folder)
            assert done.returncode == OK, done.stderr
            assert problems(folder / f"out{i}") == [] == verifier.verify(folder / f"out{i}"), (tail, problems(folder / f"out{i}"),
                                                                                             verifier.verify(folder / f"out{i}"))
            assert (i > 2) == any("together" in m for m in read(folder / f"out{i}")["measurements"])


@case
def every_field_of_the_measurements_is_the_certificates():
    """Each leaf but the noisy integers themselves, with the hashes made anew, shown to the second verifier; a sample to both."""
    with place() as folder:
        out = tables(folder, "weights")
        kept, numbers = read(out), read(out, "measurements.json")
        tried = 0
        for path, value in list(leaves(numbers))[::1 if LONG else 4]:
            if "values" in path and "column" not in path:
                continue
            other = changed(numbers, path, not value if isinstance(value, bool) else value + "1" if isinstance(value, str) else value + 1)
            (out / "measurements.json").write_text(json.dumps(other))
            forged = copy.deepcopy(kept)
            forged["files"]["measurements.json"] = hashlib.sha256((out / "measurements.json").read_bytes()).hexdigest()
            write(out, forged)
            derived = path[0] == "standard_errors" and path[-1] in ("range", "blocks")  # from noisy tables, by tamis alone
            assert derived or verifier.verify(out) != [], (path, value)
            if derived or tried % 19 == 0:
                found = problems(out)
                assert found and found[0]["field"].startswith("measurements.json"), (path, found)
            tried += 1
        assert tried > (140 if LONG else 30), tried


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
    for key, inner in items or ():
        yield from leaves(inner, path + (key,))


def changed(document, path, value):
    other = copy.deepcopy(document)
    at = other
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return other


TABLES = {  # of every weighing and form, and of classes, worlds, strata and slots of clusters
    "weights": ("{weights: {cluster: d}, weight: w, max_weight: 40, typical: {population: 200, sample: 48}}", "epsilon: 1"),
    "strata": ("{stratified: {by: g, within: srs, strata: {a: {population: 300, sample: 24}, b: {population: 90, sample: 24}}}}", "epsilon: 1"),
    "clusters": ("{cluster: {by: d, population: 30, sample: 12, smallest: 2, largest: 5}}", "epsilon: 1, delta: 1e-6"),
}


def tables(folder, name):
    design, loss = TABLES[name]
    plan = PLAN.split("design:")[0].format() + f"""design: {design}
privacy: {{unit: person, {loss}}}
columns:
  x: {{from: -2, to: 6, step: 1}}
  g: {{values: [a, b]}}
  h: {{values: [u, v, w]}}
  k: {{from: 0, to: 9, step: 1}}
statistics:
  - total: x
  - {{mean: x, by: g}}
  - {{count: units, by: h}}
  - {{count: units, by: g, where: {{h: [u, v]}}}}
  - {{count: units, by: h, where: {{k: {{to: 4}}}}}}
budget: {{epsilon: 3, delta: 1e-5}}
ledger: {name}.ledger
"""
    (folder / "sample.csv").write_text("x,g,h,k,w,d\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'uvw'[i % 3]},{i % 10},{3 + i % 4},c{i % 12}\n" for i in range(48)))
    (folder / f"{name}.yaml").write_text(plan)
    done = tamis("release", f"{name}.yaml", "--quiet", "--out", name, cwd=folder)
    assert done.returncode == OK, done.stderr
    return folder / name


def scaled(m, factor):
    """The noise of a table, times a factor."""
    for law in m["noise"]:
        law["scale"] = str(verifier.Fraction(law["scale"]) * factor)


def sensitised(m, factor):
    """Another sensitivity, and the noise that follows from it."""
    for law in m["noise"]:
        law["sensitivity"] = int(law["sensitivity"] * factor)
        law["sensitivity_l2_squared"] = str(verifier.Fraction(law["sensitivity_l2_squared"]) * factor ** 2)
    scaled(m, factor)


def coin(m):
    return "rho" if "rho" in m else "epsilon"


def drop_axis(m, c):
    if len(m["axes"]) > 1:
        m["axes"], m["table"]["axes"] = m["axes"][:-1], m["table"]["axes"][:-1]
        return True


def merge_classes(m, c):
    for a in m["axes"]:
        for k in a.get("crossed", []):
            if len(k.get("classes", [])) > 2:
                k["classes"] = [k["classes"][0] + k["classes"][1]] + k["classes"][2:]
                a["levels"] -= 1
                return True


def enlarge(m, c):
    """A part of the budget that is taken twice, with half of the noise."""
    m[coin(m)] = str(2 * verifier.Fraction(m[coin(m)]))
    scaled(m, verifier.Fraction(1, 2))
    return True


def shift_part(m, c):
    """A part of the budget that another table does not have: they add up, but the noise does not follow."""
    other = next(x for x in c["measurements"] if x is not m)
    part = verifier.Fraction(other[coin(m)]) / 2
    m[coin(m)], other[coin(m)] = str(verifier.Fraction(m[coin(m)]) + part), str(part)
    return True


def to_raw(m, c):
    """A full table as if it were a number by itself, for half of the noise."""
    if m["form"] == "full" and m["axes"]:
        m["form"] = "raw"
        sensitised(m, verifier.Fraction(1, 2))
        return True


def fewer_slots(m, c):
    if m["slots"] > 1:
        m["slots"] //= 2
        return True


def other_slots(m, c):
    """More clusters than were drawn: the more there are, the less a record moves a standard error."""
    if m["slots"] > 1:
        for x in c["measurements"]:
            if x["slots"] > 1:
                x["slots"] += 1
        c["sampling"]["psu_strata"][0]["slots"] += 1
        c["sampling"]["psu_strata"][0]["psus"] += 1
        return True


def one_place(m, c):
    """A record that leaves no cell when it enters another."""
    if m["form"] == "full" and m["axes"]:
        sensitised(m, verifier.Fraction(1, 2))
        return True


def two_places(m, c):
    """Standard errors as if no number moved by all of the steps: under L2 half of the square."""
    if m["weighed_by"] == "psus":
        for law in m["noise"]:
            law["sensitivity_l2_squared"] = str(verifier.Fraction(law["sensitivity_l2_squared"]) / 2)
        return True


def lower_weight(m, c):
    """Half of the largest weight, and all that follows from it in one table."""
    key = "largest_point_in_totals" if m["weighed_by"] in ("psus", "clamped spread") else "largest_point"
    if m["weighed_by"] in ("weight", "psus") and key in c["sampling"]:
        c["sampling"][key] //= 2
        for law in m["noise"]:
            law["row_adds_at_most"] = str(verifier.Fraction(law["row_adds_at_most"]) / 2)
        sensitised(m, verifier.Fraction(1, 2))
        return True


def other_weighing(m, c):
    m["weighed_by"] = "none" if m["weighed_by"] != "none" else "spread"
    return True


def other_place(m, c):
    if m["table"]["axes"]:
        m["table"]["axes"] = [k + 1 for k in m["table"]["axes"]]
        return True


def no_condition(m, c):
    if "where" in m:
        del m["where"]
        return True


def no_rest(m, c):
    for a in m["axes"]:
        for k in a.get("crossed", []):
            if k["rest"]:
                k["rest"], m["cells"], a["levels"] = False, m["cells"] // a["levels"] * (a["levels"] - 1), a["levels"] - 1
                return True


def narrower(m, c):
    """A column with half of its range."""
    for a in m["axes"]:
        if "number" in a:
            for place in (a["number"]["grid"], a["number"]["column"]):
                place["to"] = "2"
            return True


def lower_degree(m, c):
    for a in m["axes"]:
        if "number" in a and m["form"] == "full":
            a["number"]["degree"], a["levels"], m["levels"] = 1, a["levels"] - 1, m["levels"] // a["levels"] * (a["levels"] - 1)
            return True


def is_exact(m, c):
    if m["rounded"]:
        m["rounded"] = False
        return True


def drop(m, c):
    """One table fewer, whose part of the budget nobody has."""
    c["measurements"].remove(m)
    return True


def too_few(m, c):
    """One table alone, with the whole budget and noise that is enough: statistics do not follow from it."""
    c["measurements"], m[coin(m)] = [m], c["composition"][coin(m)]
    return True


LIES = [drop_axis, merge_classes, enlarge, shift_part, to_raw, fewer_slots, other_slots, one_place, two_places, lower_weight, other_weighing,
        other_place, no_condition, no_rest, narrower, lower_degree, is_exact, drop, too_few]


def each_lie_about(name, wanted):
    def about_tables():
        with place() as folder:
            out = tables(folder, name)
            kept, told = read(out), set()
            assert problems(out) == [] == verifier.verify(out), (problems(out), verifier.verify(out))
            alone = folder / "certificate.json"
            for lie in LIES:
                for i in range(len(kept["measurements"])):
                    forged = copy.deepcopy(kept)
                    if not lie(forged["measurements"][i], forged):
                        continue
                    alone.write_text(json.dumps(hashed(forged)))
                    found = verifier.verify(alone)
                    right = found != [] and "not one" not in found[0]
                    assert right or lie is other_place, (lie.__name__, i, kept["measurements"][i]["name"], found)  # tamis numbers axes
                    if lie not in told or LONG:
                        assert problems(alone) != [], (lie.__name__, i)
                    told.add(lie)
            assert {lie.__name__ for lie in LIES} - {lie.__name__ for lie in told} == wanted, {lie.__name__ for lie in LIES} - {lie.__name__ for lie in told}

    case(about_tables, f"no verifier believes a lie about a table: {name}")


each_lie_about("weights", set())
each_lie_about("strata", {"drop_axis", "lower_degree", "fewer_slots", "other_slots", "two_places", "lower_weight", "is_exact"})
each_lie_about("clusters", {"lower_weight", "is_exact"})


@case
def a_frame_that_cannot_be_is_not_believed():
    """40 units, a sample of 20: probabilities of 0.4 to 0.6, or 1. With each lie whatever follows from it is computed anew by tamis,
    so that only the lie itself can be found."""
    lies = [
        {"largest": "1/10", "smallest": "1/10"},  # 40 units that add up to 4
        {"largest": "49/100"},                     # at most 40 * 0.49
        {"smallest": "51/100", "largest": "6/10"},  # at least 40 * 0.51
        {"certain": 20}, {"certain": 21}, {"certain": 40, "largest": None, "smallest": "1"},
        {"units": 60}, {"units": 20}, {"units": 2 ** 21}, {"certain": 39, "smallest": "2/5", "largest": "3/5"},
    ]
    with place() as folder:
        (folder / "frame.csv").write_text("id,p\n" + "".join(f"u{i},{0.4 + 0.2 * (i % 2):.1f}\n" for i in range(40)))
        (folder / "sample.csv").write_text("id,x,g,p\n" + "".join(f"u{i},{i % 7},{'ab'[i % 2]},{0.4 + 0.2 * (i % 2):.1f}\n" for i in range(20)))
        (folder / "plan.yaml").write_text(PPS.format(epsilon="1", ledger="tamis.ledger"))
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        out = folder / "out"
        kept = read(out)
        assert kept["frame"]["strata"] == [{"units": 40, "certain": 0, "smallest": "2/5", "largest": "3/5"}], kept["frame"]
        done = tamis("verify", out, "--json")
        assert done.returncode == OK and json.loads(done.stdout)["frame"] == "match" and verifier.verify(out) == [], verifier.verify(out)
        (folder / "frame.csv").rename(folder / "other.csv")
        assert json.loads(tamis("verify", out, "--json").stdout)["frame"] == "missing" and verifier.verify(out) == []
        for lie in lies:
            forged = copy.deepcopy(kept)
            forged["frame"]["strata"][0].update(lie)
            write(out, forged)
            if LONG or len(lie) == 1:
                assert any(p["field"].startswith("frame") for p in problems(out)), (lie, problems(out))
            assert any("frame" in p for p in verifier.verify(out)), (lie, verifier.verify(out))
        # possible numbers, but not those of the file
        forged = copy.deepcopy(kept)
        forged["frame"]["strata"][0]["largest"] = "11/20"
        write(out, forged)
        found = [p["field"] for p in problems(out)]
        assert not any(f.startswith("frame") for f in found), found
        (folder / "other.csv").rename(folder / "frame.csv")
        assert "frame.strata[0].largest" in [p["field"] for p in problems(out)]
        assert any("frame" in p for p in verifier.verify(out))
        # another file: beside the certificate, or given, a problem; in the folder above, another release's
        write(out, kept)
        (folder / "frame.csv").write_text((folder / "frame.csv").read_text() + "u40,0.0001\n")
        assert problems(out) == [] == verifier.verify(out) and json.loads(tamis("verify", out, "--json").stdout)["frame"] == "missing"
        done = tamis("verify", out, "--frame", folder / "frame.csv", "--json")
        assert done.returncode == INVALID and json.loads(done.stdout)["problems"][0]["field"] == "frame.sha256", done.stdout
        shutil.copy(folder / "frame.csv", out)
        assert [p["field"] for p in problems(out)] == ["frame.sha256"] and verifier.verify(out) != []
        (out / "frame.csv").unlink()
        done = tamis("verify", out, "--frame", folder / "nowhere.csv")
        assert done.returncode == INVALID and "nowhere.csv" in done.stderr


@case
def clusters_that_the_list_does_not_have():
    listed = "s,c\n" + "".join(f"{'pq'[i % 2]},{i}\n" for i in range(4))
    with place() as folder:
        (folder / "psus.csv").write_text(listed)
        (folder / "sample.csv").write_text("x,g,w,s,c\n" + "".join(f"{i % 7},{'ab'[i % 2]},4,{'pq'[i % 2]},{i % 4}\n" for i in range(24)))
        plan = PLAN.replace("{{srs: {{population: 100, sample: 24}}}}",
                            "{{weights: {{strata: s, cluster: c, psus: psus.csv}}, weight: w, max_weight: 5}}")
        (folder / "plan.yaml").write_text(plan.format(epsilon="1", ledger="tamis.ledger"))
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        out = folder / "out"
        kept = read(out)
        assert kept["psus"]["clusters"] == [2, 2], kept["psus"]

        def found():
            return json.loads(tamis("verify", out, "--json").stdout)["psus"]
        assert problems(out) == [] == verifier.verify(out) and found() == "match"
        assert "the list of clusters agrees" in tamis("verify", out).stdout
        # numbers that are as good as these, but not those of the file
        write(out, {**kept, "psus": {**kept["psus"], "clusters": [4, 4]}})
        wrong = [p["field"] for p in problems(out / "certificate.json")]
        assert "psus.clusters" in wrong and found() == "differ", wrong
        assert any("psus" in p for p in verifier.verify(out))
        # another file: in the folder above it may be that of another release, beside the certificate it is a problem
        write(out, kept)
        (folder / "psus.csv").write_text(listed + "p,4\n")
        assert problems(out) == [] == verifier.verify(out) and found() == "missing"
        (folder / "psus.csv").rename(out / "psus.csv")
        assert [p["field"] for p in problems(out)] == ["psus.sha256"] and found() == "differ"
        (out / "psus.csv").write_text(listed)
        told = json.loads(tamis("verify", out, "--json").stdout)
        assert told["ok"] and told["psus"] == "match" and told["others"] == [], told


@case
def facts_of_the_ledger_that_cannot_be_are_not_believed():
    lies = [(("ledger", "entry"), 1), (("ledger", "entry"), 0), (("ledger", "hash"), "ab"), (("ledger", "hash"), "X" * 64),
            (("ledger", "time"), "yesterday"), (("files", "report.html"), "ab"), (("signed_by",), "me"),
            (("account", "before", "epsilon"), "1")]
    with place() as folder:
        out = release(folder, "out")
        kept = read(out)
        for path, value in lies:
            forged = changed(kept, path, value)
            if path == ("account", "before", "epsilon"):  # adds up, but nothing can be charged before entry 2
                forged["account"]["after"]["epsilon"] = "2"
                forged["amplification"]["epsilon"] = "2"
                del forged["guarantee"]
            write(out, forged)
            assert problems(out) != [] and verifier.verify(out) != [], (path, problems(out), verifier.verify(out))
        forged = copy.deepcopy(kept)
        for m in forged["measurements"]:  # a release that spends less than its plan says
            m["epsilon"] = str(verifier.Fraction(m["epsilon"]) / 2)
            for law in m["noise"]:
                law["scale"] = str(verifier.Fraction(law["scale"]) * 2)
        forged["composition"]["epsilon"] = forged["account"]["after"]["epsilon"] = forged["amplification"]["epsilon"] = "1/2"
        del forged["guarantee"]
        write(out, forged)
        assert problems(out) != [] and verifier.verify(out) != []


@case
def an_account_of_rho_has_no_epsilon():
    with place() as folder:
        (folder / "sample.csv").write_text("x,g\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(24)))
        plan = PLAN.format(epsilon="1", ledger="tamis.ledger").replace("epsilon: 1", "rho: 1/10").replace("{epsilon: 3}", "{rho: 1}")
        (folder / "plan.yaml").write_text(plan)
        for name in ("first", "second"):
            assert tamis("release", "plan.yaml", "--quiet", "--again", "--out", name, cwd=folder).returncode == OK
        out = folder / "second"
        kept = read(out)
        assert problems(out) == []
        forged = copy.deepcopy(kept)
        for when in ("before", "after"):
            forged["account"][when]["epsilon"] = "1"
        write(out, forged)
        assert any(p["field"] == "account.before" for p in problems(out)) and any("account.before" in p for p in verifier.verify(out))
        write(out, kept)
        assert against(folder, folder / "first", out) == []
        for path, value in ((("account", "before", "rho"), "0"), (("account", "after", "rho"), "1/10"), (("plan", "survey"), "t"),
                            (("plan", "budget", "rho"), "2"), (("composition", "rho"), "1/100"), (("ledger", "time"), kept["ledger"]["time"][:-2] + "Z")):
            write(out, changed(kept, path, value))
            found = against(folder, out)
            assert [p["field"].rsplit(": ", 1)[1] for p in found] == [".".join(path[:2])] or \
                [p["field"].rsplit(": ", 1)[1] for p in found] == [path[0]], (path, found)


@case
def a_release_with_its_statistics_in_another_order_is_the_same():
    """It is returned as it was kept, and its own files follow from that."""
    with place() as folder:
        first = release(folder, "first")
        text = (folder / "first.yaml").read_text()
        (folder / "second.yaml").write_text(text.replace("  - total: x\n  - {mean: x, by: g}\n", "  - {mean: x, by: g}\n  - total: x\n"))
        done = tamis("release", "second.yaml", "--quiet", "--out", "second", cwd=folder)
        assert done.returncode == OK, done.stderr
        second = folder / "second"
        assert read(second)["ledger"]["repeated"] is True
        assert (first / "measurements.json").read_bytes() == (second / "measurements.json").read_bytes()
        for out in (first, second):
            assert problems(out) == [] == verifier.verify(out) and against(folder, out) == [], problems(out)
        forged = read(second)
        forged["ledger"]["repeated"] = False
        write(second, forged)
        assert "release.json.ledger.repeated" in [p["field"] for p in problems(second)]


main()
