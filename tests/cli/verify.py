#!/usr/bin/python3
"""Certificates, with two verifiers: tamis verify, and tests/verifier.py, which shares no code with it. Both believe every
example; the second one finds every leaf that is changed, as the first does in tests/release/verify.c, and a sample of the
changes is shown to both."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from kit import HERE, INVALID, OK, case, folder_with_plan, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

PRIVACY = re.compile(r"^privacy:\n(?:[ #].*\n|\n(?=  ))+", re.M)
STATISTICS = re.compile(r"^statistics:\n(.*\n)+", re.M)
SMALL = "statistics:\n  - total: enroll\n  - {mean: api00, by: stype}\n"
FRAME = "privacy: {unit: school, protect: frame, given: population, secret_sample: yes, epsilon: 1/2}\nbudget: {epsilon: 2}\n"

PLANS = {
    "pure": "privacy: {unit: school, epsilon: 6}\nbudget: {epsilon: 20/3}\n",
    "rho": "privacy: {unit: school, rho: 0.1}\nbudget: {rho: 1}\n",
    "approximate": "privacy: {unit: school, epsilon: 2, delta: 1e-6}\nbudget: {epsilon: 4, delta: 1e-5}\n",
    "outsider": FRAME,
    "pure, counted in rho": "privacy: {unit: school, epsilon: 1}\nbudget: {rho: 1}\n",
}


def released(folder, privacy):
    """The folder of a release of the example survey with another privacy section."""
    plan = folder / "plan.yaml"
    text = PRIVACY.sub("", plan.read_text())
    plan.write_text(STATISTICS.sub("", text) + SMALL + privacy)
    done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
    assert done.returncode == OK, done.stderr
    return folder / "out"


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, path + (i,))
    else:
        yield path, value


def other(value):
    if isinstance(value, bool):
        return not value
    if value is None:
        return 1
    if isinstance(value, str):
        return value + "1"
    return value + 1


def changed(certificate, path):
    copy = json.loads(json.dumps(certificate))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = other(at[path[-1]])
    return copy


def each_plan(name, privacy):
    def both_believe_it_and_neither_a_change():
        with folder_with_plan() as folder:
            out = released(folder, privacy)
            file = out / "certificate.json"
            certificate = json.loads(file.read_text())
            done = tamis("verify", file, "--json")
            assert done.returncode == OK and json.loads(done.stdout)["ok"] is True, done.stdout
            assert verifier.verify(file) == []
            missing = {k: v for k, v in certificate.items() if k != "guarantee"}
            file.write_text(json.dumps(missing))
            again = tamis("verify", file, "--json")
            assert again.returncode == OK and again.stdout == done.stdout and verifier.verify(file) == [], again.stdout
            for i, (path, value) in enumerate(leaves(certificate)):
                file.write_text(json.dumps(changed(certificate, path)))
                assert verifier.verify(file) != [], (path, value)
                if i % 23 == 0:
                    done = tamis("verify", file, "--json")
                    assert done.returncode == INVALID and json.loads(done.stdout)["problems"], (path, done.stdout)

    case(both_believe_it_and_neither_a_change, f"{name}: both verifiers believe it, and neither believes a change")


for name, privacy in PLANS.items():
    each_plan(name, privacy)


@case
def for_people_a_problem_is_a_line_and_exit_3():
    with folder_with_plan() as folder:
        out = released(folder, PLANS["pure"])
        done = tamis("verify", out / "certificate.json")
        assert done.returncode == OK and done.stdout.startswith("no problem found"), done.stdout
        assert all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
        certificate = json.loads((out / "certificate.json").read_text())
        certificate["guarantee"]["sample"]["epsilon"]["upper"] = 1
        (out / "certificate.json").write_text(json.dumps(certificate))
        done = tamis("verify", out / "certificate.json")
        assert done.returncode == INVALID and done.stdout.startswith("guarantee.sample.epsilon.upper: says 1"), done.stdout


@case
def if_only_sentences_differ_verify_says_so():
    with folder_with_plan() as folder:
        file = released(folder, PLANS["pure"]) / "certificate.json"
        certificate = json.loads(file.read_text())
        certificate["not_covered"][0] = certificate["not_covered"][0].upper()
        certificate["amplification"]["reason"] += "!"
        file.write_text(json.dumps(certificate))
        done = tamis("verify", file)
        assert done.returncode == INVALID and "Only sentences differ" in done.stdout, done.stdout
        certificate["guarantee"]["sample"]["epsilon"]["upper"] = 1
        file.write_text(json.dumps(certificate))
        assert "Only sentences differ" not in tamis("verify", file).stdout


@case
def the_hash_is_a_problem_only_where_nothing_else_is():
    def fields_of(certificate):
        file.write_text(json.dumps(certificate))
        done = tamis("verify", file, "--json")
        assert done.returncode == INVALID
        return [p["field"] for p in json.loads(done.stdout)["problems"]]

    with folder_with_plan() as folder:
        file = released(folder, PLANS["pure"]) / "certificate.json"
        certificate = json.loads(file.read_text())
        assert fields_of({**certificate, "hash": "0" * 64}) == ["hash"]
        assert fields_of({k: v for k, v in certificate.items() if k != "hash"}) == ["hash"]
        assert fields_of({**certificate, "declared_public": []}) == ["declared_public"]
        plan = json.loads(json.dumps(certificate["plan"]))
        plan["columns"]["enroll"]["to"] = 3000
        wrong = fields_of({**certificate, "plan": plan})
        assert wrong and "hash" not in wrong, wrong
        assert fields_of({**certificate, "plan": {}}) == ["plan"]  # the files beside it are still those that it names


@case
def what_else_is_in_the_folder_is_said():
    with folder_with_plan() as folder:
        out = released(folder, PLANS["pure"])
        assert json.loads(tamis("verify", out, "--json").stdout)["others"] == []
        assert "also in the folder" not in tamis("verify", out).stdout
        (out / "release-2.csv").write_text("x")
        (out / "a\u202e.txt").write_text("x")
        done = tamis("verify", out)
        assert done.returncode == OK, done.stdout
        assert "also in the folder, but not part of the release: a<U+202E>.txt, release-2.csv" in " ".join(done.stdout.split()), done.stdout
        done = tamis("verify", out, "--json")
        assert done.returncode == OK and json.loads(done.stdout)["others"] == ["a<U+202E>.txt", "release-2.csv"], done.stdout
        assert json.loads(tamis("verify", out / "certificate.json", "--json").stdout)["others"] == []
        (out / "release.csv").write_text("x")
        done = tamis("verify", out)
        assert done.returncode == INVALID and "files.release.csv" in done.stdout and "also in the folder" in done.stdout, done.stdout


@case
def the_seeds_of_the_fuzzer_are_in_the_format_of_today():
    """Else most of what the fuzzer changes is never read. tests/fuzz/make_certificates.py writes them anew."""
    seeds = sorted((HERE.parent / "fuzz" / "seeds" / "certificate").glob("*.json"))
    assert len(seeds) == 4
    for seed in seeds:
        problems = json.loads(tamis("verify", seed, "--json").stdout)["problems"]
        of_format = [p for p in problems if p["message"].startswith(("expected", "is missing", "unknown"))]
        assert bool(of_format) == (seed.name == "empty.json"), (seed.name, of_format)


@case
def the_ledger_knows_the_certificate():
    with folder_with_plan() as folder:
        out = released(folder, PLANS["pure"])
        done = tamis("ledger", "verify", folder / "tamis.ledger", "--against", out / "certificate.json")
        assert done.returncode == OK, done.stdout + done.stderr


@case
def the_report_is_one_page_that_needs_nothing_else():
    with folder_with_plan() as folder:
        plan = folder / "plan.yaml"
        plan.write_text(plan.read_text().replace("survey: ", "survey: <script>alert(1)</script>&", 1))
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        html = (folder / "out" / "report.html").read_text()
        assert "<script" not in html and "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html
        assert not re.search(r"(src|href)=|@import|url\(", html)
        for words in ("second ledger", "neighbour", "journalist", "outsider", "clamped", "Declared public", "NIST SP 800-226"):
            assert words in html, words
        assert html.count("<table") == html.count("</table>") and html.count("<svg class=w") > 5


# ---- registry.yaml ----

TEXT, NUMBER = str, (int, float)
SCHEMA = {
    "url_slug": TEXT,
    "deployment": {
        "basic": {
            "name": TEXT, "data_curators": [{"data_curator_name": TEXT, "data_curator_type": TEXT}], "intended_use": TEXT,
            "data_product_type": ("Summary statistics", "Dataset", "Synthetic data"), "data_product_region": TEXT,
            "data_product_sector": TEXT, "description": TEXT, "publication_date": re.compile(r"\d{4}-\d\d-\d\d")},
        "dp_variant": {
            "variant_name": ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"), "data_domain": TEXT,
            "unprotected_quantities": TEXT},
        "privacy_loss": {"privacy_unit": TEXT, "privacy_unit_details": TEXT,
                         "privacy_parameters": {"epsilon?": NUMBER, "delta?": NUMBER, "rho?": NUMBER}, "privacy_parameters_details": TEXT},
        "deployment_model": {
            "model_name": ("Central", "Local", "Shuffle", "Federated", "Varies"), "actors": TEXT,
            "release_type": ("One release", "Many releases"), "data_source_type": ("Static", "Dynamic"),
            "access_type": ("Interactive", "Non-interactive")},
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {"preprocessing_and_hyperparameter_tuning": TEXT, "mechanisms": TEXT, "justification": TEXT},
        "administrative": {"sources": [TEXT], "notes": TEXT, "registry_authors": [TEXT], "status": TEXT, "tier": (1, 2, 3)},
    },
}


def read_yaml(lines, depth=0):
    """The little of YAML that registry.yaml uses: maps and lists by indentation, and JSON scalars."""
    found = None
    while lines:
        line = lines[0]
        indent = len(line) - len(line.lstrip())
        if indent < depth:
            break
        assert indent == depth, line
        text = line.strip()
        if text.startswith("- "):
            found = found if found is not None else []
            if text[2] == '"':
                found.append(json.loads(text[2:]))
                lines.pop(0)
            else:
                lines[0] = " " * (indent + 2) + text[2:]
                found.append(read_yaml(lines, indent + 2))
            continue
        found = found if found is not None else {}
        key, _, value = text.partition(":")
        lines.pop(0)
        assert key not in found, key
        found[key] = json.loads(value) if value.strip() else read_yaml(lines, len(lines[0]) - len(lines[0].lstrip()))
    return found


def faults(value, schema, path=""):
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return [path + ": no map"]
        known = {k.rstrip("?"): (inner, k.endswith("?")) for k, inner in schema.items()}
        found = [f"{path}.{k}: unknown" for k in value if k not in known]
        for key, (inner, optional) in known.items():
            if key in value:
                found += faults(value[key], inner, f"{path}.{key}")
            elif not optional:
                found.append(f"{path}.{key}: missing")
        return found
    if isinstance(schema, list):
        right = isinstance(value, list) and value
        return sum((faults(v, schema[0], path + "[]") for v in value), []) if right else [path + ": no list"]
    if isinstance(schema, re.Pattern):
        return [] if isinstance(value, str) and schema.fullmatch(value) else [path + ": " + str(value)]
    if schema in (TEXT, NUMBER):
        return [] if isinstance(value, schema) and value != "" else [path + ": " + repr(value)]
    return [] if value in schema else [path + ": " + repr(value)]


@case
def the_registry_record_fits_the_schema():
    for privacy, parameters in ((PLANS["pure"], {"epsilon", "delta"}), (PLANS["rho"], {"rho"})):
        with folder_with_plan() as folder:
            record = read_yaml((released(folder, privacy) / "registry.yaml").read_text().splitlines())
        assert faults(record, SCHEMA) == [], faults(record, SCHEMA)
        assert set(record["deployment"]["privacy_loss"]["privacy_parameters"]) == parameters
        del record["deployment"]["basic"]["name"]
        assert faults(record, SCHEMA) == [".deployment.basic.name: missing"]


@case
def a_file_that_is_too_large_is_called_so():
    with folder_with_plan() as folder:
        out = released(folder, PLANS["pure"])
        os.truncate(out / "release.json", 2 * 10**9)  # a hole, not on the disk
        done = tamis("verify", "out", cwd=folder)
        assert done.returncode == INVALID and "release.json: has 2.0 GB, too much to be read" in " ".join(done.stdout.split()), done.stdout


@case
def a_pipe_is_not_waited_for():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("plan.yaml", "sample.csv", "frame.csv"):
            shutil.copy(HERE.parents[1] / "examples" / "municipalities" / file, folder)
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr

        def verify(*more):
            done = tamis("verify", "out", "--json", *more, cwd=folder)
            return done.returncode, done.stdout and json.loads(done.stdout), done.stderr
        assert verify()[0] == OK and verify()[1]["frame"] == "match"
        os.mkfifo(folder / "out" / "frame.csv")
        code, found, _ = verify()
        assert code == INVALID and found["frame"] == "differ" and [p["field"] for p in found["problems"]] == ["frame"], found
        (folder / "out" / "frame.csv").unlink()
        os.mkfifo(folder / "pipe")
        code, _, said = verify("--frame", "pipe")
        assert code == INVALID and "pipe: is no regular file" in said, (code, said)
        (folder / "frame.csv").unlink()
        os.mkfifo(folder / "frame.csv")  # in the folder above it may be anybody's
        assert verify()[0] == OK and verify()[1]["frame"] == "missing"
        for file in ("release.csv", "certificate.sig"):
            kept = (folder / "out" / file).read_bytes() if (folder / "out" / file).exists() else None
            if kept is not None:
                (folder / "out" / file).unlink()
            os.mkfifo(folder / "out" / file)
            assert verify()[0] == INVALID, file
            (folder / "out" / file).unlink()
            if kept is not None:
                (folder / "out" / file).write_bytes(kept)
        certificate = json.loads((folder / "out" / "certificate.json").read_text())
        certificate["plan"]["columns"]["region"]["values"] = {"file": "pipe"}
        (folder / "out" / "certificate.json").write_text(json.dumps(certificate))
        code, found, _ = verify()
        assert code == INVALID and "names a file" in found["problems"][0]["message"], found
        (folder / "out" / "certificate.json").unlink()
        os.mkfifo(folder / "out" / "certificate.json")
        assert verify()[0] == INVALID


main()
