#!/usr/bin/python3
"""Plans with a frame: it is public, read before the charge, and says what a row weighs and what an outsider is promised."""
import hashlib
import json
import math
import pathlib
import sys
import tempfile

from kit import HERE, INVALID, OK, case, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

FRAME = {f"u{i:02}": 0.1 + 0.02 * i for i in range(40)}  # 0.1 to 0.88, 19.6 in all
DRAWN = [f"u{i:02}" for i in range(0, 40, 4)]
SECRET = "protect: frame, given: population, secret_sample: yes, "
PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {design}
privacy: {{unit: person, id: id, {setting}{loss}}}
columns:
  x: {{from: 0, to: 10, step: 1, missing: 0}}
statistics:
  - total: x
budget: {budget}
"""


def write(folder, design="{poisson: {probability: p, frame: frame.csv}}", setting="", loss="epsilon: 1000000", budget=None, frame=None, sample=None):
    folder = pathlib.Path(folder)
    loss_only = "{" + loss.split(", id")[0] + "}"
    (folder / "plan.yaml").write_text(PLAN.format(design=design, setting=setting, loss=loss, budget=budget or loss_only))
    rows = frame if frame is not None else ["id,p"] + [f"{u},{p:.2f}" for u, p in FRAME.items()]
    (folder / "frame.csv").write_text("\n".join(rows) + "\n")
    rows = sample if sample is not None else ["id,x"] + [f"{u},{1 + i % 7}" for i, u in enumerate(DRAWN)]
    (folder / "sample.csv").write_text("\n".join(rows) + "\n")
    return folder


def release(folder):
    done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)


def near(result, value):
    assert abs(result["estimate"] - value) <= 60 * result["noise_sd"] + 1e-6 * abs(value), (result, value)


@case
def a_row_weighs_what_its_unit_does_in_the_frame():
    with tempfile.TemporaryDirectory() as folder:
        # whatever the sample says about probabilities; a row of nobody in the frame adds nothing
        sample = ["id,x,p"] + [f" {u} ,{1 + i % 7},0.001" for i, u in enumerate(DRAWN)] + ["nobody,10,0.001", ",10,0.001"]
        told = release(write(folder, sample=sample))
        near(told["results"][0], sum((1 + i % 7) / round(FRAME[u], 2) for i, u in enumerate(DRAWN)))


@case
def the_frame_bounds_the_weights():
    def row_of(**options):
        with tempfile.TemporaryDirectory() as folder:
            release(write(folder, **options))
            c = json.loads((pathlib.Path(folder) / "out" / "certificate.json").read_text())
            return float(verifier.dec(c["sampling"]["step"])) * c["sampling"]["largest_point"]

    assert math.isclose(row_of(), 10, rel_tol=1e-8)
    assert math.isclose(row_of(design="{poisson: {probability: p, frame: frame.csv}, max_weight: 4}"), 4, rel_tol=1e-8)
    assert math.isclose(row_of(design="{poisson: {probability: p, frame: frame.csv}, max_weight: 40}"), 10, rel_tol=1e-8)


@case
def a_frame_that_does_not_fit_costs_nothing():
    good = [f"{u},{p:.2f}" for u, p in FRAME.items()]
    pps = "{pps: {method: sampford, probability: p, sample: 10, frame: frame.csv}}"
    wrong = [
        (["id,q"] + good, {}, "no column p"),
        (["id,chance"] + good, {"design": "{poisson: {probability: chnace, frame: frame.csv}}"},
         "the frame has no column chnace; did you mean chance?"),
        (["id,p"] + good + ["u00,0.5"], {}, "duplicate unit"),
        (["id,p"] + good + ["v,0"], {}, "column p, row 41"),
        (["id,p"] + good + ["v,1.5"], {}, "column p, row 41"),
        (["id,p"] + good + ["v,"], {}, "column p, row 41: empty"),
        (["id,p"] + good + ["v,much"], {}, "column p, row 41: not a number"),
        (["id,p"] + good + [",0.5"], {}, "column id, row 41"),
        (["id,p"], {}, "1 to 1048576 units"),
        (["id,p"] + good, {"design": pps}, "add up to 19.6, not to the sample of 10"),
        (["id,p"] + good, {"design": "{poisson: {probability: p, frame: frame.csv, population: 41}}"}, "40 units, but the plan declares"),
        (["id,p,r"] + [row + ",a" for row in good] + ["v,0.5,c"],
         {"design": "{stratified: {by: r, within: {poisson: {probability: p, frame: frame.csv}}, strata: {a: {}, b: {}}}}"}, "column r, row 41"),
        (["id,p,r"] + [row + ",a" for row in good],
         {"design": "{stratified: {by: r, within: {poisson: {probability: p, frame: frame.csv}}, strata: {a: {}, b: {}}}}"}, "no unit in the stratum b"),
    ]
    for frame, options, words in wrong:
        with tempfile.TemporaryDirectory() as folder:
            write(folder, frame=frame, **options)
            for command in (("check", "plan.yaml"), ("release", "plan.yaml", "--out", "out")):
                done = tamis(*command, cwd=folder)
                assert done.returncode == INVALID and words in done.stderr and done.stdout == "", (words, done)
            assert not list(pathlib.Path(folder).glob("*.ledger")) and not (pathlib.Path(folder) / "out").exists()
    with tempfile.TemporaryDirectory() as folder:
        (write(folder) / "frame.csv").unlink()
        done = tamis("check", "plan.yaml", cwd=folder)
        assert done.returncode == INVALID and "frame.csv" in done.stderr, done


@case
def another_frame_is_another_account():
    with tempfile.TemporaryDirectory() as folder:
        release(write(folder, loss="epsilon: 1", budget="{epsilon: 4}"))
        write(folder, loss="epsilon: 1", budget="{epsilon: 4}", frame=["id,p"] + [f"{u},{p / 2:.3f}" for u, p in FRAME.items()])
        done = tamis("release", "plan.yaml", "--out", "again", cwd=folder)
        assert done.returncode == 4 and "frame" in done.stderr, done


def outsider(design, **options):
    """Of a release with epsilon 1: what is told of the outsider, in the release, the certificate and the ledger alike."""
    with tempfile.TemporaryDirectory() as folder:
        folder = write(folder, design, SECRET, "epsilon: 1", **options)
        checked = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        told = release(folder)["guarantee"]
        certificate = folder / "out" / "certificate.json"
        c = json.loads(certificate.read_text())
        if "frame" in c:
            assert c["frame"]["sha256"] == hashlib.sha256((folder / "frame.csv").read_bytes()).hexdigest()
        assert c["guarantee"]["outsider"] == told["outsider"] == checked["guarantee"]["outsider"]
        assert tamis("verify", certificate).returncode == OK and verifier.verify(certificate) == [], verifier.verify(certificate)
        account = json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder).stdout)["accounts"][0]
        if told["outsider"] is None:
            assert account["outsider"] is None and account["outsider_reason"], account
            return told["outsider_reason"]
        for key in ("epsilon", "delta"):
            assert account["outsider"][key] == told["outsider"][key], (account["outsider"], told["outsider"])
        assert len(account["outsider"].get("by_stratum", [])) == len(told["outsider"].get("by_stratum", []))
        return told["outsider"]


def amplified(q, eps=1):
    return math.log1p(q * math.expm1(eps))


def is_epsilon(bound, value):
    assert bound["lower"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= bound["upper"] <= value * (1 + 1e-9), (bound, value)


@case
def an_outsider_of_a_poisson_sample_has_the_largest_probability():
    told = outsider("{poisson: {probability: p, frame: frame.csv}}")
    assert told["theorem"] == "poisson" and "by_stratum" not in told
    is_epsilon(told["epsilon"], amplified(0.88))


@case
def units_that_are_certain_must_be_in_the_file():
    """Where they are measured apart a file without one of them is refused before the charge, by every engine for files."""
    plan = ("tamis: 1\nsurvey: s\nsource: {file: sample.csv}\nstatistics: [{total: x}]\nprivacy: {epsilon: 1, id: id}\n"
            "columns: {x: {from: 0, to: {times: 2, of: size}, step: 1}}\nbudget: {epsilon: 2}\nledger: l.ledger\n"
            "design: {pps: {method: sampford, probability: p, sample: 3, frame: frame.csv}}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plan.yaml").write_text(plan)
        (folder / "frame.csv").write_text("id,p,size\n017,1,40\nB,1/2,2\nC,1/2,1\nD,1/2,1\nE,1/2,1\n")
        for engine in "duckdb", "memory":
            for ids, code in (("017", "B", "C"), OK), (("D", "B", "C"), INVALID), (("17", "B", "C"), INVALID):
                (folder / "sample.csv").write_text("id,x\n" + "".join(f"{i},1\n" for i in ids))
                (folder / "l.ledger").unlink(missing_ok=True)
                done = tamis("release", "plan.yaml", "--quiet", "--engine", engine, "--out", f"{engine}{ids[0]}", cwd=folder)
                assert done.returncode == code, (engine, ids, done)
                assert code == OK or "1 of 1 units with probability 1 are not in the source" in done.stderr, done.stderr
                assert (folder / "l.ledger").exists() == (code == OK) == (folder / f"{engine}{ids[0]}").exists()
        certificate = json.loads((folder / "duckdb017" / "certificate.json").read_text())
        assert not any("all in the file" in words for words in certificate["declared_public"]), certificate["declared_public"]


@case
def units_that_are_always_drawn_stand_apart():
    frame = ["id,p"] + [f"{u},{min(1, 2 * p):.2f}" for u, p in FRAME.items()]
    told = outsider("{poisson: {probability: p, frame: frame.csv}}", frame=frame)
    is_epsilon(told["epsilon"], 1)
    parts = {p["take_all"]: p for p in told["by_stratum"]}
    is_epsilon(parts[True]["epsilon"], 1)
    is_epsilon(parts[False]["epsilon"], amplified(0.96))


@case
def an_outsider_of_a_sample_with_unequal_probabilities():
    frame = ["id,p"] + [f"{u},{p / 1.96:.9f}" for u, p in FRAME.items()]
    largest = float(f"{0.88 / 1.96:.9f}")
    for method in ("sampford", "conditional_poisson", "pivotal", "pivotal_random"):
        told = outsider(f"{{pps: {{method: {method}, probability: p, sample: 10, frame: frame.csv}}}}", frame=frame)
        assert told["theorem"] == "strongly_rayleigh"
        is_epsilon(told["epsilon"], amplified(largest))
    for method in ("systematic", "systematic_random", "brewer", "tille"):
        reason = outsider(f"{{pps: {{method: {method}, probability: p, sample: 10, frame: frame.csv}}}}", frame=frame)
        assert "the guarantee of a sampled person" in reason, reason


@case
def strata_of_a_frame_have_a_number_each():
    frame = ["id,p,r"] + [f"{u},{p:.2f},{'ab'[i % 2]}" for i, (u, p) in enumerate(FRAME.items())]
    sample = ["id,x,r"] + [f"{u},1,a" for u in DRAWN]
    told = outsider("{stratified: {by: r, within: {poisson: {probability: p, frame: frame.csv}}, strata: {b: {}, a: {}}}}", frame=frame, sample=sample)
    assert told["theorem"] == "stratified"
    for part in told["by_stratum"]:
        is_epsilon(part["epsilon"], amplified({"a": 0.86, "b": 0.88}[part["stratum"]]))


@case
def check_foresees_the_whole_account():
    """After one release of epsilon 1, another one would leave 1 of 3, and an outsider with the two together."""
    with tempfile.TemporaryDirectory() as folder:
        folder = write(folder, setting=SECRET, loss="epsilon: 1", budget="{epsilon: 3}")
        first = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        assert first["would_leave"]["epsilon"] == {"lower": 2, "upper": 2} and first["spent"] is None
        release(folder)
        plan = folder / "plan.yaml"
        plan.write_text(plan.read_text().replace("statistics:\n", "statistics:\n  - {total: x, where: {x: {from: 5}}}\n"))
        second = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        assert second["would_leave"]["epsilon"] == {"lower": 1, "upper": 1} and second["left"]["epsilon"]["lower"] == 2
        is_epsilon(first["guarantee"]["outsider"]["epsilon"], amplified(0.88))
        is_epsilon(second["guarantee"]["outsider"]["epsilon"], amplified(0.88, 2))
        assert "the frame: 40 units with probabilities from 0.1 to 0.88" in second["declared_public"]
        told = tamis("check", "plan.yaml", "--all", cwd=folder).stdout
        assert "This release would leave epsilon 1." in told and "Declared public, not checked\n" in told, told
        assert "(theorem: poisson)" in " ".join(told.split())


def clusters(q, distance, eps=1):
    """P = q A + (1 - q) B against Q = q A' + (1 - q) B; A and A' are an eps apart, B and each of them distance eps: B is at least
    e^(-distance eps) A, and where A = e^eps A' that is e^(-(distance - 1) eps) A'."""
    return math.log1p(q * math.expm1(eps) / (q + (1 - q) * math.exp(-(distance - 1) * eps)))


@case
def an_outsider_of_clusters_and_stages():
    sample = ["id,x,d,m"] + [f"{u},1,{'fg'[i % 2]},20" for i, u in enumerate(DRAWN)]
    told = outsider("{cluster: {by: d, population: 20, sample: 2, smallest: 2, largest: 5}}", sample=sample)
    assert told["theorem"] == "cluster"
    is_epsilon(told["epsilon"], clusters(0.1, 5))
    told = outsider("{two_stage: {first: {by: d, population: 20, sample: 2}, second: {population: m, sample: 5}}, max_weight: 200}", sample=sample)
    assert told["theorem"] == "two_stage"
    is_epsilon(told["epsilon"], clusters(0.1, 5))
    told = outsider("{two_stage: {first: {by: d, population: 20, sample: 2}, second: {population: m, sample: 5, smallest: 20}}, max_weight: 200}",
                    sample=sample)
    S = 0.1 * 0.75 / math.e + 0.9 * math.exp(-5)  # a quarter of a cluster is drawn: missing from it, or with it
    is_epsilon(told["epsilon"], math.log((0.1 * 0.25 + S) / (0.1 * 0.25 / math.e + S)))
    reason = outsider("{two_stage: {first: {by: d, population: 20, sample: 2}, second: {population: m, sample: m}}, max_weight: 200}", sample=sample)
    assert "is a column" in reason, reason


@case
def an_outsider_where_clusters_are_drawn_with_unequal_probabilities():
    """Only the second stage counts, whatever the first one is: 1 + f (E - 1), f what is drawn of the smallest cluster."""
    sample = ["id,x,d,m,w"] + [f"{u},1,{'fg'[i % 2]},20,0.25" for i, u in enumerate(DRAWN)]
    for first in ("pps: {method: sampford, probability: w, sample: 2, population: 20}", "pps: {method: systematic, probability: w, sample: 2}",
                  "systematic: {population: 20, sample: 2, order: public}"):
        design = f"{{two_stage: {{first: {{by: d, {first}}}, second: {{population: m, sample: 5%s}}}}, max_weight: 200}}"
        told = outsider(design % ", smallest: 20", sample=sample)
        assert told["theorem"] == "within_clusters", told
        is_epsilon(told["epsilon"], math.log1p(0.25 * math.expm1(1)))
        for nothing in ("", ", smallest: 5"):
            reason = outsider(design % nothing, sample=sample)
            assert "smallest" in reason and "above 5" in reason, reason
    reason = outsider("{two_stage: {first: {by: d, population: 20, sample: 2}, second: {population: m, sample: 5, smallest: 20, method: systematic}}, "
                      "max_weight: 200}", sample=sample)
    assert "systematic second stage" in reason, reason


main()
