"""share/plan.schema.json: it has the keys that the reader has, all plans that are read fit it, and wrong ones do not."""
import re

import jsonschema
import yaml

from kit import *

SCHEMA = json.loads((TOP / "share" / "plan.schema.json").read_text())
jsonschema.Draft7Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def plan_of(text):
    """As an editor reads it: YAML 1.2 knows true and false alone, but many read yes and no too; on, a key of models, and dates are texts."""
    class Loader(yaml.SafeLoader):
        pass
    Loader.yaml_implicit_resolvers = {first: [(tag, pattern) for tag, pattern in list_ if tag != "tag:yaml.org,2002:timestamp" and first not in ("o", "O")]
                                      for first, list_ in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    # YAML 1.1 reads the words on and off as booleans too; YAML 1.2, and tamis, do not
    Loader.yaml_implicit_resolvers = {**Loader.yaml_implicit_resolvers,
                                      **{first: [(tag, pattern) for tag, pattern in Loader.yaml_implicit_resolvers.get(first, []) if tag != "tag:yaml.org,2002:bool"]
                                         for first in "oO"}}
    return yaml.load(text, Loader)


def fits(text):
    return not list(VALIDATOR.iter_errors(plan_of(text)))


def why(text):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in VALIDATOR.iter_errors(plan_of(text))]


HEAD = "tamis: 1\nsurvey: s\nsource: {file: a.csv}\n"
UNKNOWN = "zzzzzzzzzzzzzzzz: 1"
DESIGNS = ["srs", "census", "srs_with_replacement", "bernoulli", "poisson", "pps", "systematic", "cluster", "two_stage", "weights"]

# The maps of a plan: where the schema has them, and a plan in which one has a key that nobody knows.
MAPS = {
    "": f"{HEAD}{UNKNOWN}\n",
    "properties/wave/anyOf/1": f"wave: {{{UNKNOWN}}}\n",
    "properties/source": f"source: {{{UNKNOWN}}}\n",
    "properties/source/properties/postgres": f"source: {{postgres: {{{UNKNOWN}}}}}\n",
    "properties/design": f"design: {{{UNKNOWN}}}\n",
    "properties/design/properties/stratified": f"design: {{stratified: {{{UNKNOWN}}}}}\n",
    "definitions/sizes": f"design: {{stratified: {{by: g, within: bernoulli, strata: {{a: {{{UNKNOWN}}}}}}}}}\n",
    **{f"definitions/{name}": f"design: {{{name}: {{{UNKNOWN}}}}}\n" for name in DESIGNS},
    "definitions/weights/properties/deff/anyOf/1": f"design: {{weights: {{deff: {{{UNKNOWN}}}}}}}\n",
    "definitions/two_stage/properties/first": f"design: {{two_stage: {{first: {{{UNKNOWN}}}}}}}\n",
    "definitions/two_stage/properties/second": f"design: {{two_stage: {{second: {{{UNKNOWN}}}}}}}\n",
    "properties/design/properties/replicates": f"design: {{replicates: {{{UNKNOWN}}}}}\n",
    "properties/design/properties/typical": f"design: {{typical: {{{UNKNOWN}}}}}\n",
    "definitions/guess": f"design: {{cluster: {{by: c, population: 9, sample: 3, smallest: 1, largest: 4}}, typical: {{cluster: {{{UNKNOWN}}}}}}}\n",
    "definitions/value_guess": f"columns: {{x: {{from: 0, to: 6, step: 1, typical: {{{UNKNOWN}}}}}}}\n",
    "properties/privacy": f"privacy: {{{UNKNOWN}}}\n",
    "definitions/column": f"columns: {{x: {{{UNKNOWN}}}}}\n",
    "definitions/column/properties/values/anyOf/1": f"columns: {{x: {{values: {{{UNKNOWN}}}}}}}\n",
    "definitions/condition/anyOf/2": f"columns: {{y: {{from: 0, to: 6, step: 1}}}}\nstatistics: [{{count: units, where: {{y: {{{UNKNOWN}}}}}}}]\n",
    "definitions/statistic": f"statistics: [{{{UNKNOWN}}}]\n",
    "definitions/statistic/properties/ratio": f"statistics: [{{ratio: {{{UNKNOWN}}}}}]\n",
    "definitions/compared": f"statistics: [{{difference: {{{UNKNOWN}}}}}]\n",
    "definitions/regression": f"statistics: [{{regression: {{{UNKNOWN}}}}}]\n",
    "definitions/statistic/properties/overlap": f"columns: {{y: {{from: 0, to: 6, step: 1}}}}\n"
                                                f"statistics: [{{change: {{mean: y}}, since: w, overlap: {{{UNKNOWN}}}}}]\n",
    "definitions/statistic/properties/typical": f"columns: {{y: {{from: 0, to: 6, step: 1}}, g: {{values: [a, b]}}}}\n"
                                                f"statistics: [{{regression: {{of: y, on: [g]}}, typical: {{{UNKNOWN}}}}}]\n",
    "definitions/loss": f"budget: {{{UNKNOWN}}}\n",
    "properties/ledger/anyOf/1": f"ledger: {{{UNKNOWN}}}\n",
    "properties/calibrate": f"calibrate: {{{UNKNOWN}}}\n",
    "definitions/control": f"calibrate: {{to: [{{{UNKNOWN}}}]}}\n",
    "properties/postprocess": f"postprocess: {{{UNKNOWN}}}\n",
    "properties/postprocess/properties/caution": f"postprocess: {{caution: {{{UNKNOWN}}}}}\n",
    "properties/postprocess/properties/unreliable": f"postprocess: {{unreliable: {{{UNKNOWN}}}}}\n",
    "properties/postprocess/properties/suppress": f"postprocess: {{suppress: {{{UNKNOWN}}}}}\n",
}
# Keys that the reader takes in a stratum as the design within asks for them, and the list of one design has only some.
APART = {"definitions/column/properties/to/anyOf/1": {"times", "of"}, # else it is a map by stratum
         "definitions/column/properties/to/anyOf/2": {"private", "beyond"},
         "definitions/sizes": {"population", "sample", "rate"},
         "properties/design/properties/stratified/properties/within/anyOf/1": set(DESIGNS) - {"weights"}}


def at(place):
    node = SCHEMA
    for step in filter(None, place.split("/")):
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node


def keys_of(text):
    """What the reader says that it knows, where a key is unknown."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.yaml").write_text(text)
        done = tamis("check", "p.yaml", cwd=folder)
    found = re.search(r"zzzzzzzzzzzzzzzz: unknown key; expected one of (.*)", done.stderr)
    assert done.returncode == INVALID and found, done.stderr
    return set(found.group(1).split(", "))


def maps_in(node, place=""):
    """Every place of the schema that lists keys."""
    if isinstance(node, dict) and "properties" in node and isinstance(node["properties"], dict) and node.get("type") == "object":
        yield place
    for key, part in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else []:
        yield from maps_in(part, f"{place}/{key}".lstrip("/"))


@case
def the_schema_has_the_keys_of_the_reader():
    wrong = []
    for place, text in MAPS.items():
        ours, readers = set(at(place)["properties"]), APART.get(place) or keys_of(text)
        if ours != readers:
            wrong.append(f"{place}: only the reader has {sorted(readers - ours)}, only the schema has {sorted(ours - readers)}")
    assert not wrong, "\n".join(wrong)
    for name in APART["properties/design/properties/stratified/properties/within/anyOf/1"]:
        assert name in at("properties/design/properties/stratified/properties/within/anyOf/1/properties")
        inside = keys_of(f"design: {{stratified: {{by: g, strata: {{a: {{}}}}, within: {{{name}: {{{UNKNOWN}}}}}}}}}\n")
        assert inside <= set(at(f"definitions/{name}")["properties"]), (name, inside)
    left = set(maps_in(SCHEMA)) - set(MAPS) - set(APART)
    assert not left, f"nobody compares {left}"
    for place in maps_in(SCHEMA):
        assert at(place).get("additionalProperties") is False, place


@case
def sizes_of_strata_are_read_as_the_schema_says():
    assert keys_of(MAPS["definitions/sizes"]) <= APART["definitions/sizes"]
    assert keys_of(MAPS["definitions/sizes"].replace("bernoulli", "srs")) <= APART["definitions/sizes"]


def plans():
    """All plans that come with tamis, those of its documents, and those of its tests that are whole."""
    for file in sorted((TOP / "examples").rglob("*.yaml")):
        if file.name not in ("releases.yaml", "study.yaml"):
            yield str(file.relative_to(TOP)), file.read_text()
    for page in sorted((TOP / "docs").glob("*.md")) + [TOP / "README.md"]:
        for i, block in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(), re.S)):
            if "tamis: 1" in block:
                yield f"{page.name}, block {i}", block
    for file in sorted((TOP / "tests" / "fuzz" / "seeds" / "plan").iterdir()):
        yield str(file.relative_to(TOP)), file.read_text()


@case
def every_plan_that_is_read_fits():
    tried, folder = 0, pathlib.Path(tempfile.mkdtemp())
    for name, text in plans():
        (folder / "p.yaml").write_text(text)
        if tamis("check", "p.yaml", cwd=folder).returncode == INVALID and not name.startswith("examples"):
            continue
        assert fits(text), (name, why(text))
        tried += 1
    shutil.rmtree(folder)
    assert tried > 20, tried


@case
def plans_in_certificates_fit():
    for file in sorted((TOP / "tests" / "fuzz" / "seeds" / "certificate").glob("*.json")):
        certificate = json.loads(file.read_text())
        if "plan" in certificate:
            errors = list(VALIDATOR.iter_errors(certificate["plan"]))
            assert not errors, (file.name, errors[0].message)


GOOD = """tamis: 1
survey: s
source: {file: a.csv}
design: {srs: {population: 900, sample: 30}}
privacy: {unit: person, epsilon: 1}
columns:
  x: {from: 0, to: 10, step: 1, missing: leave_out, typical: {mean: 4, sd: 2}}
  y: {from: 0, to: 10, step: 1, missing: none}
  g: {values: [a, 1, yes], label: group, typical: {a: 0.5}}
statistics: [{mean: x, by: [g, {x: [2, 5]}], where: {g: [a, 1]}}, {share: {g: a}}]
budget: {epsilon: 1}
"""

BAD = [("tamis: 1", "tamis: 2"), ("survey: s\n", ""), ("file: a.csv", "fil: a.csv"), ("srs:", "sra:"), ("population: 900, ", ""),
       ("population: 900", "population: many"), ("epsilon: 1}\ncolumns", "delta: 1}\ncolumns"), ("unit: person", "units: person"),
       ("from: 0, ", ""), ("values: [a, 1, yes]", "values: a"), ("mean: x", "men: x"), ("mean: x", "mean: x, total: x"),
       ("{share: {g: a}}", "{share: g}"), ("statistics: [", "statistics: {"), ("budget: {epsilon: 1}", "budget: 1"),
       ("survey: s", "survey: FILL_IN"), ("epsilon: 1}\ncolumns", "epsilon: FILL_IN}\ncolumns"), ("values: [a, 1, yes]", "values: [FILL_IN]"),
       *(("epsilon: 1}\ncolumns", f"{loss}}}\ncolumns") for loss in (
           "epsilon: 0", "epsilon: -1", "epsilon: '-1'", "epsilon: 0/1", "epsilon: 0.0e3", "rho: 0", "rho: -1/2", "epsilon: 1, delta: 0",
           "epsilon: 1, delta: 1", "epsilon: 1, delta: -1e-6")),
       ("budget: {epsilon: 1}", "budget: {epsilon: 0}"), ("population: 900", "population: 0"), ("share: {g: a}", "share: {g: a}, confidence: 1"),
       ("survey: s", "survey: s\nwave: {name: w, groups: C}"), ("survey: s", "survey: s\nwave: {name: w, groups: [C, D, C]}"),
       ("survey: s", "survey: s\nwave: {name: w, groups: []}")]


@case
def wrong_plans_do_not():
    folder = pathlib.Path(tempfile.mkdtemp())
    assert fits(GOOD), why(GOOD)
    for loss in ("epsilon: 1/100", "epsilon: 1e-3, delta: 1e-6", "epsilon: .5", "rho: 0.01", "epsilon: 1, delta: 1/1000000"):
        right = GOOD.replace("epsilon: 1}\ncolumns", f"{loss}}}\nwave: {{name: w, groups: [C, D]}}\ncolumns", 1)
        assert fits(right), why(right)
    for right, wrong in BAD:
        assert right in GOOD, right
        text = GOOD.replace(right, wrong, 1)
        if wrong == "statistics: {":
            text = text.replace("{share: {g: a}}]", "{share: {g: a}}}").replace("{{mean", "{a: {mean").replace(", {share", ", b: {share")
        assert not fits(text), wrong
        (folder / "p.yaml").write_text(text)
        assert tamis("check", "p.yaml", cwd=folder).returncode == INVALID, wrong  # nor does the reader take them
    shutil.rmtree(folder)


@case
def every_key_is_described():
    for place in maps_in(SCHEMA):
        for key, node in at(place)["properties"].items():
            told = node.get("description") or "properties" in node or "$ref" in node or place.endswith(("ratio", "within/anyOf/1"))
            assert told, (place, key)


main()
