"""A small plan of every design, with its sample and its frame: certificates.py and golden.py release them all."""

UNITS = 24
ROWS = [{"id": f"u{i:02}", "x": i % 7, "g": "ab"[i % 2], "d": f"c{i % 6}", "m": 20, "k": 4, "p": f"{0.2 + 0.02 * i:.2f}", "w": 3 + i % 4}
        for i in range(UNITS)]
PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {design}
privacy: {{unit: person, {id}{setting}, {loss}}}
columns:
  x: {{from: -2, to: 6, step: 1{missing}}}
  g: {{values: [a, b]}}
  h: {{values: [u, v, w]}}
statistics:
  - total: x
  - {{count: units, by: h}}
budget: {budget}
"""
OPEN = "protect: sample, given: frame"
SECRET = "protect: frame, given: population, secret_sample: yes"
HIDDEN = "protect: population, given: nothing, design_variables: protected"
ID = "id: id, "
PURE, RHO, BOTH = ("epsilon: 1", "{epsilon: 3}"), ("rho: 1/10", "{rho: 1}"), ("epsilon: 1, delta: 1e-6", "{epsilon: 3, delta: 1e-5}")
NORMAL = ("epsilon: 1/2, delta: 1/10", "{epsilon: 2, delta: 1/5}")  # with so large a delta Gaussian noise is the smaller one here

SRS = "{srs: {population: 100, sample: 24}}"
STRATA = "{stratified: {by: g, within: srs, strata: {b: {population: 70, sample: 12}, a: {population: 30, sample: 12}}}}"
CLUSTER = "{cluster: {by: d, population: 30, sample: 6, smallest: 2, largest: 5}}"
TWO_STAGE = "{two_stage: {first: {by: d, population: 30, sample: 6}, second: {population: m, sample: 4}}, max_weight: 60}"
BERNOULLI_INSIDE = "{two_stage: {first: {by: d, population: 30, sample: 7}, second: {method: bernoulli, rate: 2/5}}}"  # of which one has no row
POISSON = "{poisson: {probability: p, frame: frame.csv}}"
PPS = "{pps: {method: pivotal, probability: p, sample: 24, frame: frame.csv}}"
KINDS = {
    "srs": (SRS, OPEN, PURE), "srs, outsider, rho": (SRS, SECRET, RHO), "srs, outsider, epsilon and delta": (SRS, SECRET, BOTH),
    "srs, outsider, normal noise": (SRS, SECRET, NORMAL), "clusters, normal noise": (CLUSTER, SECRET, NORMAL),
    "with replacement": ("{srs_with_replacement: {population: 100, sample: 24}}", SECRET, BOTH, ID + "rows_per_unit: 3, "),
    "bernoulli": ("{bernoulli: {rate: 1/4}}", SECRET, PURE),
    "bernoulli, several rows": ("{bernoulli: {rate: 1/4}}", SECRET, PURE, ID + "rows_per_unit: 2, "),
    "weights, several rows": ("{weights: {}, weight: w, max_weight: 8}", OPEN, RHO, ID + "rows_per_unit: 2, "),
    "weights of units": ("{weights: {}, weight: w, max_weight: 8, max_unit_weight: 12}", OPEN, PURE, "id: d, rows_per_unit: 4, "),
    "sizes of units": ("{srs: {population: 30, sample: 6}, max_unit_weight: 16}", OPEN, PURE, "id: d, rows_per_unit: 4, "),
    "contributions of units": ("{weights: {}, weight: w, max_weight: 8}", OPEN, PURE, "id: d, rows_per_unit: 4, ", ", unit_contribution: 20"),
    "contributions of units, rho": ("{srs: {population: 30, sample: 6}, max_unit_weight: 16}", OPEN, RHO, "id: d, rows_per_unit: 4, ",
                                    ", missing: 0, unit_contribution: 30"),
    "systematic": ("{systematic: {population: 100, sample: 24, order: public}}", SECRET, BOTH),
    "systematic in random order": ("{systematic: {population: 100, sample: 24, order: random}}", SECRET, PURE),
    "census": ("{census: {population: 24}}", OPEN, PURE),
    "strata": (STRATA, SECRET, BOTH),
    "strata of which one is taken whole": (STRATA.replace("population: 30", "population: 12"), SECRET, PURE),
    "protected strata": (STRATA, HIDDEN, PURE), "protected strata, rho": (STRATA, HIDDEN, RHO),
    "protected strata, several rows": (STRATA, HIDDEN, PURE, ID + "rows_per_unit: 2, "),
    "protected strata of clusters": (f"{{stratified: {{by: g, within: {{cluster: {CLUSTER[10:-2].replace('population: 30, sample: 6, ', '')}}}}}, strata: "
                                     "{a: {population: 9, sample: 3}, b: {population: 8, sample: 3}}}}", HIDDEN, PURE),
    "weights moved, strata": (STRATA[:-1] + ", regularise: 0.4}", OPEN, PURE),
    "weights moved, a frame": (PPS[:-1] + ", regularise: 1/3}", SECRET, RHO, ID),
    "poisson": (POISSON, SECRET, BOTH, ID), "poisson without a frame": ("{poisson: {probability: p}, max_weight: 5}", SECRET, PURE),
    "unequal probabilities": (PPS, SECRET, RHO, ID), "unequal probabilities, no coupling": (PPS.replace("pivotal", "brewer"), SECRET, PURE, ID),
    "clusters": (CLUSTER, SECRET, BOTH), "clusters, sample": (CLUSTER, OPEN, RHO),
    "two stages": (TWO_STAGE, SECRET, BOTH), "two stages, smallest": (TWO_STAGE.replace("sample: 4}", "sample: 4, smallest: 12}"), SECRET, BOTH),
    "two stages, a column": (TWO_STAGE.replace("sample: 4}", "sample: k}"), SECRET, PURE),
    "two stages, unequal probabilities": (TWO_STAGE.replace("population: 30, sample: 6", "pps: {method: sampford, probability: p, sample: 6}"), SECRET, PURE),
    "two stages, systematic": (TWO_STAGE.replace("population: 30, sample: 6", "systematic: {population: 30, sample: 6, order: public}").replace(
        "sample: 4}", "sample: k, method: systematic}"), OPEN, RHO),
    "two stages, Bernoulli inside": (BERNOULLI_INSIDE, SECRET, BOTH), "two stages, Bernoulli inside, sample": (BERNOULLI_INSIDE, OPEN, RHO),
    "two stages, Bernoulli inside, unequal probabilities": (
        BERNOULLI_INSIDE.replace("population: 30, sample: 7", "pps: {method: systematic, probability: p, sample: 7}")[:-1] + ", max_weight: 60}", SECRET, PURE),
    "two stages, Bernoulli inside, strata": (
        "{stratified: {by: g, within: {two_stage: {first: {by: d}, second: {method: bernoulli, rate: 0.3}}}, strata: "
        "{a: {population: 9, sample: 4}, b: {population: 7, sample: 7}}}}", SECRET, PURE),
    "two stages, Bernoulli inside, sizes of units": (BERNOULLI_INSIDE[:-1] + ", max_unit_weight: 20}", SECRET, PURE, ID + "rows_per_unit: 2, "),
    "weights": ("{weights: {cluster: d}, weight: w, max_weight: 8}", OPEN, PURE),
    "weights, listed clusters": ("{weights: {cluster: d, strata: h, psus: psus.csv}, weight: w, max_weight: 8}", OPEN, RHO),
    "weights, many clusters": ("{weights: {cluster: d, strata: h, psus: many.csv, population: 20000}, weight: w, max_weight: 8, typical: {sample: 8000}}", OPEN, PURE),
    "weights, population": ("{weights: {population: 100}, weight: w, max_weight: 8}", OPEN, PURE),
    "final weights": ("{weights: {}, weight: w, max_weight: 8, weights_are: final}", OPEN, RHO),
    "nonresponse": (SRS.replace("sample: 24}", "sample: 30}").replace("}}", "}, nonresponse: yes}"), "protect: respondents, given: frame", PURE),
    "nothing is missing": (SRS, OPEN, PURE, "", ", missing: 0"),
}


def write(folder, design, setting, coin, unit="", missing=""):
    text = PLAN.format(design=design, id=unit, setting=setting, loss=coin[0], budget=coin[1], missing=missing)
    if "nonresponse" in design:
        text = text.replace("  - total: x\n  - {count: units, by: h}\n", "  - mean: x\n")
    (folder / "plan.yaml").write_text(text)
    rows = [{**row, "h": "uvw"[i % 3]} for i, row in enumerate(ROWS)]
    (folder / "sample.csv").write_text("\n".join([",".join(rows[0])] + [",".join(map(str, row.values())) for row in rows]) + "\n")
    drawn = sorted({(row["h"], row["d"]) for row in rows} | {("u", "c9"), ("v", "c9")})  # of which two have no row, and strata are odd
    (folder / "psus.csv").write_text("h,d\n" + "".join(f"{s},{c}\n" for s, c in drawn))
    many = drawn + [(s, f"m{i}") for s in "uvw" for i in range(300)]
    (folder / "many.csv").write_text("h,d\n" + "".join(f"{s},{c}\n" for s, c in many))
    listed = [(row["id"], float(row["p"])) for row in rows] + [(f"v{i}", 0.3) for i in range(20)]
    scale = UNITS / sum(p for _, p in listed) if "pps" in design else 1
    (folder / "frame.csv").write_text("id,p\n" + "".join(f"{u},{min(1, p * scale):.12f}\n" for u, p in listed))
