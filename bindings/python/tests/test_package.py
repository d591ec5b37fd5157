"""The Python package: builders and the schema, rows of every kind, errors without a cell, interrupts, ledgers, documents.

    python -m unittest discover bindings/python/tests
"""
import contextlib
import datetime
import doctest
import gc
import importlib.util
import inspect
import io
import json
import os
import pathlib
import pickle
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from decimal import Decimal
from fractions import Fraction

import tamis
from tamis import _tamis

TOP = pathlib.Path(__file__).resolve().parents[3]
CANARY = "canary4711"
ROWS = 40
DATA = {"income": [float(i % 10) for i in range(ROWS)], "region": ["north" if i % 2 else "south" for i in range(ROWS)]}
TERMS = {"design": tamis.srs(400, ROWS), "unit": "person", "columns": {"income": (0, 10), "region": ["north", "south"]}}
BLOCK = [tamis.total("income", by="region"), tamis.count()]
PEERS = {name: importlib.util.find_spec(name) is not None for name in ("numpy", "pandas", "polars", "pyarrow", "mypy", "duckdb", "matplotlib", "svy")}


def needs(*names):
    missing = [n for n in names if not PEERS[n]]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def setUpModule():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may have been started without it


def in_twenty_threads(work):
    """Calls `work` with 0 to 19 at the same time, and waits for all of them."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore", tamis.TamisWarning)

    def survey(self, data=DATA, name="people", **more):
        return tamis.Survey(name, data, ledger="a.ledger", budget=4, **{**TERMS, **more})


def objects_of(schema, path=""):
    """Every object of the schema that lists its keys, by its path; references lead to definitions, which have paths of their own."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield path, set(schema["properties"])
        for key, value in schema.items():
            here = path if key in ("properties", "definitions", "anyOf", "allOf", "oneOf", "items") else f"{path}.{key}".strip(".")
            yield from objects_of(value, here)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects_of(value, path)


class Builders(unittest.TestCase):
    """Every part of a plan that the schema knows, and every key of it, has a builder: a later statistic, design or key cannot be
    forgotten, since its object or its key would be missing here."""

    DESIGNS = {"srs": tamis.srs(9, 1), "census": tamis.census(9), "srs_with_replacement": tamis.srs_with_replacement(9, 1),
               "bernoulli": tamis.bernoulli("0.1", population=9), "poisson": tamis.poisson("p", frame="f.csv", population=9),
               "pps": tamis.pps("sampford", "p", 3, frame="f.csv", population=9),
               "systematic": tamis.systematic(9, 3, order="random"), "cluster": tamis.cluster("c", 9, 3, smallest=1, largest=2),
               "two_stage": tamis.two_stage("c", 9, 3, second_population="m", second_sample=2),
               "weights": tamis.weights("w", 9, strata="s", cluster="c", psus="p.csv", deff=2, population=9),
               "stratified": tamis.stratified("s", {"a": (9, 1)})}
    STATISTICS = [tamis.count(), tamis.total("x"), tamis.mean("x"), tamis.share({"a": "b"}), tamis.ratio("x", "y"), tamis.table(["a"]),
                  tamis.histogram("x", [0, 1]), tamis.quantile("x", [0.5]), tamis.median("x"), tamis.share_below("x", 3),
                  tamis.poverty("x"), tamis.gini("x"), tamis.iqr("x"), tamis.s80s20("x"), tamis.variance("x"),
                  tamis.difference(tamis.mean("x"), between={"a": ["b", "c"]}), tamis.quotient(tamis.count(), between={"a": ["b", "c"]}),
                  tamis.contrast(tamis.ratio("x", "y"), over="a", weights=[1, -1]),
                  tamis.difference(tamis.share({"a": "b"}), minus=tamis.mean("x")),
                  tamis.change(tamis.mean("x"), since="w1-release", independent=True),
                  tamis.change(tamis.mean("x"), since="w1-release", overlap={"size": 5, "before": "y"}),
                  tamis.correlation("x", "y"),
                  tamis.regression("x", ["a", {"y": [5]}], family="linear", interactions=[["a", "y"]], baseline={"a": "b"}, typical={"vif": 1, "r2": 0}),
                  tamis.total("x", by="a", where={"a": "b"}, budget_share=2, deff=1, confidence="0.9", label="l", shrink="yes", for_change="yes",
                              method="tree", interval="i", line=1)]

    def built(self):
        beside = tamis.srs(9, 1).with_(weight="w", max_weight=9, max_unit_weight=9, weight_step=1, weights_are="final", nonresponse=True,
                                       variance="hajek", regularise="0.1", typical=tamis.typical(icc="0.1"),
                                       replicates=tamis.replicates(["r1", "r2"], "brr"))
        arguments = set(inspect.signature(tamis.Plan).parameters)
        privacy = {"epsilon", "delta", "rho", "outsider", "insider", "unit", "id", "rows_per_unit", "protect", "given", "secret_sample", "design_variables"}
        number = tamis.number(0, 9, 1, typical=3, missing="none", missing_codes=[99], contribution=3, unit_contribution=9, label="l",
                              unit_of_measure="kg")
        category = tamis.category(["a", True], strata={"a": "1"}, of="d", parts={"a": ["1"]}, typical={"a": 1}, missing="category", missing_codes=["z"], label="l")
        designs = {name: set(d.to_dict()[name]) for name, d in self.DESIGNS.items()}
        stages = [self.DESIGNS["two_stage"]] + [tamis.two_stage("c", first=first, second_population="m", second_sample=2, second_method="srs",
                                                                second_smallest=2)
                                                for first in (tamis.srs(9, 3), tamis.pps("tille", "p", 3), tamis.systematic(9, 3, order="random"))]
        stages.append(tamis.two_stage("c", 9, 3, second_method="bernoulli", second_rate="1/5"))
        within = {name for name in designs if name not in ("stratified", "weights")}
        keys = {
            "": (arguments - privacy - {"data"}) | {"tamis", "privacy"},
            "privacy": arguments & privacy,
            "wave": tamis.wave("w", groups=["a"], same_sample=True),
            "source": tamis.source("f.csv", files=["g.csv"], table="t", postgres={"table": "t"}, caller="c", sharded_by="id",
                                   command=["psql"], dialect="postgres", rows_version="v", errors_to="e.log", timeout=9),
            "source.postgres": tamis.postgres("t", connection="c", connections=["c"]),
            "design": set(self.DESIGNS) | set(beside.to_dict()),
            "design.stratified": designs.pop("stratified"),
            "design.stratified.within": within,
            "design.replicates": tamis.replicates("r*", "fay", scale=1, rscales=[1], rho="0.3", mse=True),
            "design.typical": tamis.typical(population=1, sample=1, cluster=1, taken=1, rows=1, response=1, icc=1),
            "ledger": tamis.ledger_file("l", existing=True),
            "calibrate": tamis.calibrate("f.csv", "linear"),
            "postprocess": tamis.postprocess(nonnegative=True, consistent=True, caution={}, unreliable={}, suppress={}),
            "postprocess.caution": tamis.caution(cv_above=1, units_below=2),
            "postprocess.unreliable": tamis.unreliable(cv_above=1, units_below=2),
            "postprocess.suppress": tamis.suppress(cv_above=1, units_below=2),
            "loss": tamis.budget(1, 2, 3, outsider=1, insider=2),
            "two_stage.first": set().union(*(d.to_dict()["two_stage"]["first"] for d in stages)),
            "two_stage.second": set().union(*(d.to_dict()["two_stage"]["second"] for d in stages)),
            "weights.deff": tamis.deff(totals=1, shares=1, means=1),
            "guess": set(tamis.guess(1, 2)), "value_guess": tamis.guess(1, 2, 1),
            "sizes": tamis.sizes(1, 1, 1),
            "column": set(number.to_dict()) | set(category.to_dict()),
            "column.to": set(tamis.of_size(2, "s")) | set(tamis.private_bound("1/8", 9)), "column.values": tamis.values_file("f.csv", "c"),
            "condition": tamis.between(1, 2),
            "control": set(tamis.control("units", totals=1)) | set(tamis.control("x", by="a", totals=1)),
            "statistic": set().union(*(s.to_dict() for s in self.STATISTICS)),
            "compared": set().union(*(s.to_dict()[k] for s in self.STATISTICS for k in ("difference", "quotient", "contrast") if k in s.to_dict()),
                                    {"total"}),
            "regression": tamis.regression("x", ["a"], family="linear", interactions=[["a", "b"]]).to_dict()["regression"],
            "statistic.overlap": {"size", "before"},
            "statistic.typical": {"vif", "r2"},
            "statistic.ratio": tamis.ratio("x", "y").to_dict()["ratio"],
        }
        return {path: set(k) for path, k in {**keys, **designs}.items()}

    def test_every_key_has_a_builder(self):
        schema = json.loads((TOP / "share" / "plan.schema.json").read_text())
        wanted = {}
        for path, keys in objects_of(schema):
            wanted.setdefault(path, set()).update(keys)
        built = self.built()
        self.assertEqual(set(built), set(wanted))
        for path, keys in wanted.items():
            self.assertEqual(built[path], keys, path)

    def test_keys_of_statistics_have_types(self):
        from tamis.statistics import _KEYS, Keys
        self.assertEqual([*Keys.__annotations__, "line", "at", "cuts"], list(_KEYS))

    def test_the_schema_is_in_the_package(self):
        inside = pathlib.Path(tamis.__file__).parent / "plan.schema.json"
        self.assertEqual(inside.read_bytes(), (TOP / "share" / "plan.schema.json").read_bytes())

    def test_a_plan_of_every_builder(self):
        """The library takes what they write."""
        def plan(statistics, **more):
            return tamis.Plan("p", design=tamis.srs(400, 40), unit="person", epsilon=1, budget=tamis.budget(4), ledger="l",
                              columns={"x": tamis.number(0, 9, typical=tamis.guess(4, 2, "0.9")), "y": (0, 9), "a": ["b", "c"]},
                              statistics=statistics, **more)
        for statistic in self.STATISTICS[:-1]:
            with self.subTest(statistic):
                plan([statistic])
        plan([tamis.total("x", by="a", where={"x": tamis.between(1, 5)}, budget_share=2, confidence="0.9", label="l")],
             calibrate=tamis.calibrate([tamis.control("units", by="a", totals={"b": 300, "c": 100})], "raking"),
             postprocess=tamis.postprocess(nonnegative=True, suppress=tamis.suppress(cv_above="0.5", units_below=3)),
             wave=tamis.wave("2026-Q1"), title="T")

    def test_amounts(self):
        from tamis.amounts import text_of
        self.assertEqual([text_of(x) for x in ("1e-6", 2, Fraction(1, 3), Decimal("0.10"), 0.1)], ["1e-6", "2", "1/3", "0.10", "0.1"])
        with self.assertWarns(tamis.FloatEpsilonWarning):
            text_of(1 / 3)
        for wrong in (True, None, [1]):
            with self.assertRaises(tamis.InvalidPlanError):
                text_of(wrong)


class Plans(InFolder):
    def test_round_trip(self):
        plan = tamis.Plan("people", statistics=BLOCK, epsilon=1, budget=2, ledger="a.ledger", **TERMS)
        self.assertEqual(plan.columns_read, ["income", "region"])
        for other in (pickle.loads(pickle.dumps(plan)), tamis.Plan.parse(plan.to_yaml()), tamis.Plan.from_dict(plan.to_dict())):
            self.assertEqual(plan, other)
            self.assertEqual(hash(plan), hash(other))
        self.assertNotEqual(plan, plan.replace(epsilon=2))
        self.assertIn('"epsilon": "2"', plan.replace(epsilon=2).to_json())
        pathlib.Path("plan.yaml").write_text(plan.to_yaml())
        self.assertEqual(tamis.Plan.read("plan.yaml"), plan)

    def test_entries_are_named_after_the_survey(self):
        for name, shown in (("people", "plan of people"), ("a/b", "plan of a_b"), ("\u00e9" * 250, "plan of " + "\u00e9" * 200)):
            self.survey(name=name).total("income", epsilon=1)
            self.assertEqual(tamis.Ledger("a.ledger").entries().to_dicts()[-1]["release"], shown)
        plan = self.survey(name="parsed").plan(tamis.total("income"), epsilon=1)
        tamis.Plan.parse(plan.to_yaml()).release(DATA)
        tamis.Plan.parse(plan.to_yaml(), name="june.yaml").release(DATA, again=True)
        self.assertEqual([e["release"] for e in tamis.Ledger("a.ledger").entries().to_dicts()[-2:]], ["plan of parsed", "june.yaml"])
        with self.assertRaises(tamis.InvalidPlanError) as caught:
            self.survey(name="people 2").plan(tamis.total("wealth"), epsilon=1)
        self.assertTrue(str(caught.exception).startswith("statistics"), caught.exception)

    def test_errors_have_keys(self):
        with self.assertRaises(tamis.InvalidPlanError) as caught:
            tamis.Plan("people", statistics=[{"total": "wealth"}], epsilon=1, **{**TERMS, "design": {"srs": {"population": 0}}})
        self.assertIn("design.srs.population", [e.key for e in caught.exception.errors])
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual(caught.exception.code, "plan")
        with self.assertRaises(tamis.InvalidError):
            tamis.Plan.read("nowhere.yaml")


class FirstDay(InFolder):
    """What strangers stumbled over."""

    def test_a_survey_has_the_usual_statistics(self):
        s = self.survey()
        self.assertEqual(repr(s), "<tamis.Survey 'people', ledger 'a.ledger'>")
        self.assertEqual(len(s.count(by="region", epsilon="0.1")), 2)
        self.assertEqual(len(s.share({"region": "north"}, epsilon="0.1")), 1)
        self.assertEqual(len(s.ratio("income", {"region": "north"}, epsilon="0.1")), 1)
        self.assertEqual(len(s.table("region", epsilon="0.1")), 2)
        self.assertEqual([r.at for r in s.quantile("income", ["0.25", "0.5"], epsilon="0.1")], [0.25, 0.5])

    def test_messages_speak_python(self):
        s = self.survey()
        with self.assertRaisesRegex(tamis.InvalidPlanError, r"^statistics\[1\].mean: incone is not declared"):
            s.mean("incone", epsilon=1)
        with self.assertRaisesRegex(TypeError, r"^mean\(\) got an unexpected keyword argument 'group_by'; statistics take by, where"):
            s.mean("income", epsilon=1, group_by="region")
        with self.assertRaisesRegex(tamis.BudgetError, r"tamis.Ledger\('.*'\).raise_budget\('people', ..., reason=...\)"):
            s.count(by="region", epsilon="0.1")
            s.mean("income", epsilon=10)
        self.assertNotIn("--all", repr(s.check(*BLOCK, epsilon=1)))
        with self.assertRaisesRegex(tamis.InvalidError, "without a topic, all are listed"):
            tamis.explain("epsilon")

    def test_rows_of_the_caller_are_asked_for(self):
        plan = self.survey().plan(*BLOCK, epsilon=1)
        for verb in (plan.release, plan.estimate):
            with self.assertRaises(tamis.InvalidDataError) as caught:
                verb()
            self.assertIn("its rows come with the call; give them as data", str(caught.exception))
        self.assertEqual(plan.estimate(DATA).facts["columns"]["income"], {"missing": 0, "outside_bounds": 0})

    def test_previews_are_tables(self):
        preview = self.survey().check(tamis.mean("income", by="region"), tamis.quantile("income", ["0.5"]), epsilon=1)
        self.assertEqual([(r["statistic"], r["by"], r["at"]) for r in preview], [("mean", "region", None), ("quantile", None, 0.5)])

    @needs("pandas", "pyarrow")
    def test_init_leaves_out_what_pandas_cannot_export(self):
        import pandas
        frame = pandas.DataFrame({"income": [1, 2], "mixed": [1, CANARY]})
        with self.assertWarnsRegex(tamis.TamisWarning, "^column mixed: pandas cannot export it, so it is left out$"):
            text = tamis.init(frame, name="people")
        self.assertIn("income", text)
        self.assertNotIn("mixed", text)

    @needs("pandas", "pyarrow")
    def test_times_are_refused_with_the_way_on(self):
        import pandas
        times = pandas.DataFrame({"moved": pandas.to_datetime(["2020-01-01"] * 40)})
        s = self.survey(times, columns={"moved": ["2020-01-01"]})
        with self.assertRaisesRegex(tamis.InvalidDataError, "convert it, for example to dates or to text"):
            s.count(by="moved", epsilon=1)


class Svy(InFolder):
    """Designs of the package svy: the same estimates and standard errors, or the refusal."""

    def setUp(self):
        super().setUp()
        import polars
        rows = polars.DataFrame({"stratum": ["a"] * 12 + ["b"] * 8, "village": [i // 2 for i in range(20)], "y": [float(i * i % 17) for i in range(20)]})
        size = polars.when(polars.col("stratum") == "a").then(60).otherwise(24)
        self.rows = rows.with_columns(size=size, all=84, villages=50, w=size / polars.when(polars.col("stratum") == "a").then(12).otherwise(8))

    def same(self, rows, design, **more):
        import svy
        sample = svy.Sample(rows, svy.Design(**design))
        s = tamis.Survey("svy", sample, unit="person", ledger="s.ledger", budget=4, columns={"y": (0, 17)}, design=tamis.from_svy(sample, **more))
        for here, there in ((tamis.total("y"), sample.estimation.total("y")), (tamis.mean("y"), sample.estimation.mean("y"))):
            found, expected = s.estimate(here)[0], there.estimates[0]
            self.assertAlmostEqual(found.estimate / expected.est, 1, delta=1e-12)
            self.assertAlmostEqual(found.se / expected.se, 1, delta=1e-9)
        self.assertEqual(len(s.total("y", epsilon=1)), 1)  # and it can be released

    @needs("svy", "polars")
    def test_strata_with_sizes(self):
        self.same(self.rows, {"stratum": "stratum", "wgt": "w", "pop_size": "size"})

    @needs("svy", "polars")
    def test_a_simple_sample(self):
        import polars
        self.same(self.rows.with_columns(w=polars.lit(84 / 20)), {"wgt": "w", "pop_size": "all"})

    @needs("svy", "polars")
    def test_clusters_with_sizes(self):
        import polars
        self.same(self.rows.with_columns(w=polars.lit(5.0)), {"psu": "village", "wgt": "w", "pop_size": "villages"}, smallest=1, largest=9)

    @needs("svy", "polars")
    def test_weights_alone(self):
        self.same(self.rows, {"stratum": "stratum", "wgt": "w"}, max_weight=9)

    @needs("svy", "polars")
    def test_weights_and_clusters(self):
        self.same(self.rows, {"stratum": "stratum", "psu": "village", "wgt": "w", "wr": True}, max_weight=9)

    @needs("svy", "polars")
    def test_refusals(self):
        import polars
        import svy
        rows = self.rows.with_columns(half=polars.col("size") + 0.5, mixed=polars.int_range(20) + 60)
        for error, design, words in (
                (tamis.InvalidPlanError, {"wgt": "w"}, "max_weight: give a public upper bound"),
                (tamis.InvalidPlanError, {"pop_size": "all", "wgt": "w"}, "max_weight: the weights are not those of the design"),
                (tamis.InvalidPlanError, {"psu": "village", "pop_size": "villages"}, "smallest, largest: give bounds"),
                (tamis.InvalidPlanError, {"psu": "village", "ssu": "y", "pop_size": svy.PopSize("villages", "size")}, "max_weight, second_sample"),
                (tamis.RefusedError, {"psu": "village", "ssu": "y", "pop_size": "villages"}, "for each stage, or for none"),
                (tamis.RefusedError, {"stratum": ("stratum", "village"), "wgt": "w"}, "make one column of them"),
                (tamis.RefusedError, {"pop_size": "half"}, "not a whole number"),
                (tamis.RefusedError, {"pop_size": "mixed"}, "differs within a stratum")):
            with self.assertRaisesRegex(error, words):
                tamis.from_svy(svy.Sample(rows, svy.Design(**design)))
        with self.assertRaisesRegex(tamis.InvalidPlanError, "give the svy.Sample"):
            tamis.from_svy(svy.Design(pop_size="all"))
        with self.assertRaisesRegex(tamis.RefusedError, "replicate weights do not say how the sample was drawn"):
            tamis.from_svy(svy.Design(wgt="w", rep_wgts=svy.BootstrapWgts(prefix="r", n_reps=4)))
        with self.assertRaises(TypeError):
            tamis.from_svy(rows)


class Releases(InFolder):
    def test_release_repeat_verify(self):
        s = self.survey()
        self.assertEqual(s.left, {"epsilon": "4"})
        with self.assertWarns(tamis.NewLedgerWarning):
            first = s.release(*BLOCK, epsilon="0.5")
        self.assertFalse(first.repeated)
        self.assertEqual((len(first), first[0].group, first[2].column), (3, {"region": "north"}, None))
        with self.assertWarns(tamis.RepeatedReleaseWarning) as said:
            again = s.release(*BLOCK, epsilon="0.5")
        self.assertEqual([w.category for w in said.warnings], [tamis.RepeatedReleaseWarning])  # once, with the way on
        self.assertIn("again=True", str(said.warning))
        self.assertTrue(again.repeated)
        self.assertEqual(again.to_csv(), first.to_csv())
        self.assertEqual(s.left["epsilon"], tamis.Bound(3.5, 3.5))
        paid = s.release(*BLOCK, epsilon="0.5", again=True)
        self.assertFalse(paid.repeated)
        self.assertEqual(s.left["epsilon"].lower, 3)
        self.assertTrue(tamis.verify(first))
        first.save("june")
        self.assertTrue(tamis.verify("june"))
        wrong = {**first.files(), "release.csv": "nothing"}
        self.assertFalse(tamis.verify(wrong))
        with self.assertRaises(tamis.BudgetError) as caught:
            s.mean("income", epsilon=9)
        self.assertEqual(caught.exception.code, "budget")
        self.assertIn("would exceed the budget", s.check(tamis.mean("income"), epsilon=9).refused)
        self.assertIn("<table>", first._repr_html_())
        self.assertIn("protected release", repr(first))
        ledger = tamis.Ledger("a.ledger")
        self.assertEqual(ledger.accounts().to_dicts()[0]["spent_epsilon"], 1)
        self.assertEqual(len(ledger.entries()), 2)
        self.assertTrue(ledger.verify("june"))
        ledger.raise_budget("people", epsilon=10, reason="approved on Monday")
        self.assertEqual(ledger.left("people")["epsilon"].lower, 9)
        with self.assertRaises(tamis.RefusedError):
            ledger.void(2, reason="it was published")

    def test_a_count_reads_no_column(self):
        frames = {"dict": DATA}
        if PEERS["polars"]:
            import polars
            frames |= {"polars": polars.DataFrame(DATA), "lazy": polars.LazyFrame(DATA)}
        if PEERS["pandas"]:
            import pandas
            frames["pandas"] = pandas.DataFrame({"x": [[1], "a"] * (ROWS // 2)})
        if PEERS["pyarrow"]:
            import pyarrow
            frames |= {"pyarrow": pyarrow.table(DATA), "batch": pyarrow.record_batch(DATA), "reader": pyarrow.table(DATA).to_reader()}
        for name, data in frames.items():
            with self.subTest(name):
                s = tamis.Survey(name, data, ledger="c.ledger", budget=200, **{**TERMS, "design": tamis.bernoulli("0.1")})
                self.assertEqual(s.plan(tamis.count(), epsilon=200).columns_read, [])
                found = s.count(epsilon=200)[0].estimate  # noise of 10 or more has a probability below e^-199
                self.assertAlmostEqual(found, 10 * ROWS, delta=9)
        with self.assertRaises(tamis.InvalidDataError):
            self.survey({}).count(epsilon=1)

    def test_versions_of_rows(self):
        s = self.survey()
        s.release(*BLOCK, epsilon=1, rows_version="first")
        with self.assertRaises(tamis.RepeatedError) as caught:
            s.release(*BLOCK, epsilon=1, rows_version="corrected")
        self.assertIn("same_rows=True", str(caught.exception))
        self.assertTrue(s.release(*BLOCK, epsilon=1, rows_version="corrected", same_rows=True).repeated)
        self.assertFalse(s.release(*BLOCK, epsilon=1, rows_version="corrected", again=True).repeated)

    def test_estimate_is_the_same_for_all_rows(self):
        lists = self.survey().estimate(*BLOCK)
        self.assertIn("Not protected", repr(lists))
        self.assertEqual([r.estimate for r in lists], [1000.0, 800.0, 400.0])
        sources = []
        if PEERS["numpy"]:
            import numpy
            sources.append({"income": numpy.array(DATA["income"], dtype="float32"), "region": numpy.array(DATA["region"])})
            sources.append({"income": numpy.array(DATA["income"]).astype("int16"), "region": numpy.array(DATA["region"], dtype=object)})
        if PEERS["pandas"]:
            import pandas
            frame = pandas.DataFrame(DATA, index=[CANARY] * ROWS)
            frame["mixed"] = [1, "x"] * (ROWS // 2)  # a column that the plan does not use
            sources += [frame, frame.astype({"region": "category"})]
        if PEERS["polars"]:
            import polars
            frame = polars.DataFrame(DATA)
            sources += [frame, frame.lazy(), frame.with_columns(polars.col("region").cast(polars.Categorical))]
        if PEERS["pyarrow"]:
            import pyarrow
            table = pyarrow.table(DATA)
            sources += [table, table.to_reader(), table.to_batches()[0],
                        table.set_column(1, "region", table["region"].dictionary_encode()),
                        table.set_column(0, "income", table["income"].cast(pyarrow.decimal128(5, 2)))]
        for data in sources:
            self.assertEqual(self.survey(data).estimate(*BLOCK).to_csv(), lists.to_csv(), type(data))

    def test_dates_and_booleans(self):
        day = datetime.date(2026, 11, 18)
        data = {"day": [day if i % 4 else None for i in range(ROWS)], "employed": [i % 2 == 0 for i in range(ROWS)]}
        s = self.survey(data, columns={"day": ["2026-11-18"], "employed": [True, False]})
        made = s.estimate(tamis.total({"day": "2026-11-18"}), tamis.total({"employed": "true"}))
        self.assertEqual([r.estimate for r in made], [300.0, 200.0])

    @needs("pandas", "polars", "pyarrow")
    def test_data_frames(self):
        import pandas
        import polars
        import pyarrow
        r = self.survey().release(*BLOCK, epsilon=1)
        names = ["statistic", "column", "where", "region", "at", "line", "estimate", "se", "sampling_se", "noise_sd", "lower", "upper",
                 "confidence", "df", "cv", "quality", "notes"]
        self.assertEqual(r.to_arrow().column_names, names)
        self.assertEqual(list(r.to_pandas().columns), names)
        self.assertEqual(polars.DataFrame(r).columns, names)
        self.assertEqual(pyarrow.table(r)["estimate"].to_pylist(), [x.estimate for x in r])
        self.assertIsInstance(tamis.Ledger("a.ledger").accounts().to_pandas(), pandas.DataFrame)


class BadInput(InFolder):
    """The language's own exceptions, nothing charged, no crash, and no cell in a message."""

    def expect(self, data, error=tamis.InvalidDataError, **more):
        with self.assertRaises(error) as caught:
            self.survey(data, **more).release(*BLOCK, epsilon=1)
        seen, problem = [], caught.exception
        while problem is not None:
            seen.append(str(problem) + repr(problem.args) + "".join(getattr(problem, "__notes__", [])))
            problem = problem.__cause__ or problem.__context__  # also one that is not shown
        self.assertNotIn(CANARY, "".join(seen))
        self.assertFalse(os.path.exists("a.ledger"))

    def test_frames(self):
        for data in ({}, {"income": DATA["income"]}, {"region": [CANARY] * ROWS}, {**DATA, "income": [CANARY] * ROWS},
                     {**DATA, "income": [CANARY, 1] * (ROWS // 2)}, {**DATA, "income": [[CANARY]] * ROWS}, {**DATA, "income": 3},
                     {**DATA, "income": DATA["income"][:5]}, {"income": [], "region": []}, {"income": [1.0], "region": [CANARY]}, 17,
                     object(), [1, 2], {**DATA, "income": [object()] * ROWS},
                     {**DATA, "income": [datetime.datetime(2026, 1, 1)] * ROWS}):
            with self.subTest(type(data)):
                self.expect(data)

    def test_missing_values_are_missing(self):
        nan, inf = float("nan"), float("inf")
        data = {"income": [nan, inf, -inf, None] * (ROWS // 4), "region": [None, "", CANARY, "north"] * (ROWS // 4)}
        made = self.survey(data).release(*BLOCK, epsilon=1)
        self.assertNotIn(CANARY, made.to_json() + repr(made))

    @needs("pandas", "pyarrow")
    def test_words_of_other_libraries(self):
        import pandas
        import pyarrow
        self.expect(pandas.DataFrame({"income": [1, CANARY] * (ROWS // 2), "region": DATA["region"]}))
        self.expect(pandas.DataFrame({"income": pandas.to_datetime(["2026-01-01T10:00"] * ROWS), "region": DATA["region"]}))
        reader = pyarrow.table(DATA).to_reader()
        self.survey(reader).estimate(*BLOCK)
        self.expect(reader, tamis.TamisError)  # a stream that was read

        class Broken:
            def __arrow_c_stream__(self, requested_schema=None):
                raise ValueError(CANARY)
        self.expect(Broken())

        masked = pyarrow.StructArray.from_arrays([pyarrow.array(DATA["income"]), pyarrow.array(DATA["region"])], ["income", "region"],
                                                 mask=pyarrow.array([True] + [False] * (ROWS - 1)))
        self.expect(masked)

    @needs("numpy", "pandas", "polars", "pyarrow")
    def test_hostile_frames(self):
        """A canary in every cell, in indices and in what streams raise."""
        import numpy
        import pandas
        import polars
        import pyarrow
        cells = [CANARY] * ROWS
        frame = pandas.DataFrame({"income": cells, "region": cells}, index=cells)
        twice = pandas.DataFrame(numpy.full((ROWS, 3), CANARY), columns=["income", "income", "region"])

        def batches():
            yield pyarrow.record_batch(DATA)
            raise ValueError(CANARY)
        schema = pyarrow.record_batch(DATA).schema

        class Answers:
            def __init__(self, answer):
                self.answer = answer

            def __arrow_c_stream__(self, requested_schema=None):
                return self.answer

        class Panics:
            columns = ["income", "region"]

            def __arrow_c_stream__(self, requested_schema=None):
                raise BaseException(CANARY)

        class Names:
            @property
            def columns(self):
                raise ValueError(CANARY)

            __arrow_c_stream__ = None
        used = pyarrow.table(DATA).__arrow_c_stream__()
        pyarrow.RecordBatchReader._import_from_c_capsule(used)
        for data in (frame, twice, frame.astype("category"), frame.astype("string"), frame.iloc[:0], frame.iloc[:1], polars.DataFrame({"income": cells, "region": cells}),
                     polars.LazyFrame({"income": cells, "region": cells}).with_columns(polars.col("income").cast(polars.Int64)),
                     polars.LazyFrame({"income": cells}).select(polars.col("region")), pyarrow.table({"income": cells, "region": cells}),
                     pyarrow.RecordBatchReader.from_batches(schema, batches()), Answers(None), Answers(cells), Answers(used), Panics(), Names(),
                     {"income": numpy.array(cells), "region": numpy.array(cells)}, {"income": ["\ud800" + CANARY] * ROWS, "region": cells},
                     {"income": numpy.zeros((ROWS, 2)), "region": cells}, {"income": numpy.zeros(ROWS, complex), "region": cells},
                     {"income": numpy.array([CANARY, 1, None] + cells[3:], dtype=object), "region": cells},
                     pandas.DataFrame({"income": [[CANARY]] * ROWS, "region": cells}), pandas.Series(cells), numpy.array(cells)):
            with self.subTest(type(data)):
                self.expect(data, tamis.InvalidError)

    @needs("numpy", "pandas", "polars")
    def test_missing_in_frames(self):
        import numpy
        import pandas
        import polars
        income = [1.0, None, 3.0, None] * (ROWS // 4)
        frames = [{"income": income, "region": DATA["region"]}, pandas.DataFrame({"income": pandas.array(income, dtype="Float64"), "region": DATA["region"]}),
                  pandas.DataFrame({"income": income, "region": DATA["region"]}), polars.DataFrame({"income": income, "region": DATA["region"]}),
                  {"income": numpy.array(income, dtype=float), "region": DATA["region"]}, {"income": numpy.ma.masked_invalid(numpy.array(income, dtype=float)), "region": DATA["region"]},
                  {"income": [pandas.NA if x is None else numpy.float32(x) for x in income], "region": [numpy.str_(r) for r in DATA["region"]]},
                  {"income": [numpy.inf if x is None else x for x in income], "region": DATA["region"]}]
        made = [self.survey(f).estimate(tamis.total("income", by="region")).to_csv() for f in frames]
        self.assertEqual(set(made[:-1]), {made[0]})
        self.assertEqual(made[-1], made[0])  # infinity counts as missing

    def test_one_row(self):
        s = self.survey({"income": [3.0], "region": ["north"]}, design=tamis.srs(400, 1))
        self.assertEqual(s.estimate(tamis.total("income"))[0].estimate, 1200)
        self.assertEqual(len(s.release(tamis.total("income"), epsilon=1)), 1)

    @needs("numpy")
    def test_rows_that_change(self):
        import numpy
        income, stop = numpy.array(DATA["income"] * 500), threading.Event()
        region = numpy.array(DATA["region"] * 500, dtype=object)

        def change():
            while not stop.is_set():
                income[:] = numpy.random.default_rng().choice([0.0, numpy.nan, 1e308, -numpy.inf], len(income))
                region[::7] = CANARY
        other = threading.Thread(target=change)
        other.start()
        try:
            s = self.survey({"income": income, "region": region}, design=tamis.srs(200000, len(income)))
            for i in range(10):
                self.assertNotIn(CANARY, repr(s.estimate(*BLOCK)))
            self.assertEqual(len(s.release(*BLOCK, epsilon=1)), 3)
            with self.assertRaises(ValueError):  # numpy's own: the buffer is in use
                source = __import__("tamis.rows", fromlist=["source_of"]).source_of({"income": income}, ["income"])
                income.resize(10)
            del source
        finally:
            stop.set()
            other.join()

    def test_twenty_threads_one_survey(self):
        """All of them get the same numbers, for one charge."""
        s, made, problems = self.survey(), [], []

        def work():
            try:
                made.append(s.release(*BLOCK, epsilon=1).to_csv())
            except tamis.TamisError as problem:
                problems.append(problem)
        in_twenty_threads(lambda _: work())
        self.assertTrue(made)
        for problem in problems:  # another thread's charge is not published yet
            self.assertIn(problem.code, ("busy", "refused", "system"), problem)
        self.assertEqual(len(set(made)), 1)
        self.assertEqual(s.left["epsilon"].lower, 3)

    def test_wrong_arguments(self):
        for arguments in ({"threads": -1}, {"threads": "2"}, {"engine": "sqlite"}, {"sign": "nowhere.key", "folder": "x"},
                          {"folder": "no/such/folder"}, {"rows_version": ""}):
            with self.subTest(arguments), self.assertRaises((tamis.InvalidError, TypeError, OverflowError, ValueError)):
                self.survey().release(*BLOCK, epsilon=1, **arguments)
        self.assertFalse(os.path.exists("a.ledger"))
        for wrong in (None, 3, b"x"):
            with self.assertRaises(TypeError):
                _tamis.plan_read(wrong)
            with self.assertRaises((TypeError, ValueError)):
                _tamis.release_text(wrong, "json")
        with self.assertRaises((TypeError, ValueError)):
            _tamis.source_columns(1 << 40, [("x", "g", None, bytes(8), None)])

    def test_callbacks_that_raise(self):
        class Stop(Exception):
            pass

        def raises(share, rows):
            raise Stop(CANARY)
        with self.assertRaises(Stop) as caught:
            self.survey().release(*BLOCK, epsilon=1, progress=raises)
        self.assertIn("nothing was charged", "".join(caught.exception.__notes__))
        self.assertFalse(os.path.exists("a.ledger"))

    def test_twenty_threads(self):
        made, problems = [], []

        def work(i):
            try:
                made.append(self.survey(name=f"people {i}", source={"caller": f"people {i}"}).release(*BLOCK, epsilon=1))
            except Exception as problem:
                problems.append(problem)
        in_twenty_threads(work)
        self.assertEqual(problems, [])
        self.assertEqual(len(tamis.Ledger("a.ledger").accounts()), 20)

    def test_fork(self):
        source = __import__("tamis.rows", fromlist=["source_of"]).source_of(DATA, ["income", "region"])
        plan = self.survey().plan(*BLOCK, epsilon=1)
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                try:
                    _tamis.release(plan._capsule, source, None, None, 0, None, None, None, None, 0, 0, None)
                except _tamis.Failure as failure:
                    code = 0 if failure.args[0] == 3 else 2
            os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_nothing_is_left(self):
        for _ in range(50):
            self.survey().estimate(*BLOCK).__arrow_c_stream__()
        gc.collect()


class Interrupts(InFolder):
    def test_control_c(self):
        def press(share, rows):
            signal.raise_signal(signal.SIGINT)  # to this thread, before it returns
        with self.assertRaises(tamis.Interrupted) as caught:
            self.survey().release(*BLOCK, epsilon=1, progress=press)
        self.assertIsNone(caught.exception.charged)
        self.assertNotIsInstance(caught.exception, Exception)

    def stop_at(self, turn, stop):
        """A release whose watch calls `stop` when it is asked for the turn-th time. It is asked at most 20 times a second; one that
        takes longer than that is asked whenever there is a chance, so that every phase has its turn."""
        asked = []

        def watch(share, rows):
            asked.append(share)
            time.sleep(0.055)
            if len(asked) > turn:
                stop()
        s = self.survey(name=f"people {turn}", source={"caller": f"people {turn}"})
        try:
            return s, s.release(*BLOCK, epsilon=1, progress=watch)
        except BaseException as problem:
            return s, problem

    def test_control_c_in_every_phase(self):
        charged = []
        for turn in range(40):
            s, made = self.stop_at(turn, lambda: signal.raise_signal(signal.SIGINT))
            if isinstance(made, tamis.Release):
                break
            self.assertIsInstance(made, tamis.Interrupted)
            charged.append(made.charged)
            if made.charged is not None:
                self.assertEqual((made.charged.ledger, made.charged.amount), ("a.ledger", "epsilon 1"))
                self.assertIn("epsilon 1", str(made))
            self.assertEqual(len(s.release(*BLOCK, epsilon=1)), 3)  # takes a charge over
            self.assertEqual(s.left["epsilon"].lower, 3)
        self.assertIsInstance(made, tamis.Release)
        before = charged.index(next(c for c in charged if c is not None))
        self.assertTrue(before > 0 and len(charged) > before + 1 and None not in charged[before:], charged)

    def test_callbacks_that_raise_after_the_charge(self):
        class Stop(Exception):
            pass

        def stop():
            if os.path.exists("a.ledger") and len(tamis.Ledger("a.ledger").entries()):
                raise Stop(CANARY)
        s, problem = self.stop_at(0, stop)
        self.assertIsInstance(problem, Stop)
        self.assertIn("entry 2", "".join(problem.__notes__))
        self.assertFalse(s.release(*BLOCK, epsilon=1).repeated)
        self.assertEqual(s.left["epsilon"].lower, 3)


class Others(InFolder):
    def test_compute_explain_parts_init(self):
        found = tamis.compute("amplification", "forward", N=100, n=1, eps=5, delta=0)["eps_pop"]
        self.assertTrue(0.9058 < found.lower <= found.upper < 0.9059)
        with self.assertRaises(tamis.InvalidError):
            tamis.compute("amplification", "forward", N=100)
        self.assertIn("srs", tamis.explain("designs"))
        self.assertEqual(tamis.parts()["tamis"], tamis.__version__)
        pathlib.Path("rows.csv").write_text(f"income,region\n1,{CANARY}\n")
        text = tamis.init("rows.csv")
        self.assertIn("FILL_IN", text)
        self.assertNotIn(CANARY, text)
        if PEERS["pyarrow"]:
            import pyarrow
            self.assertIn("caller: people", tamis.init(pyarrow.table({"income": [1.0], "region": [CANARY]}), name="people"))

    def test_a_file(self):
        pathlib.Path("rows.csv").write_text("income,region\n" + "".join(f"{x},{r}\n" for x, r in zip(DATA["income"], DATA["region"])))
        made = self.survey("rows.csv").estimate(*BLOCK)
        self.assertEqual([r.estimate for r in made], [1000.0, 800.0, 400.0])

    @needs("duckdb", "pyarrow")
    def test_duckdb_of_pypi(self):
        """Parquet is read by the library inside PyPI's package, which is not imported; the numbers are those of the memory engine."""
        import pyarrow.parquet
        pyarrow.parquet.write_table(pyarrow.table(DATA), "rows.parquet")
        code = """if True:
            import importlib.metadata, sys, warnings
            import tamis
            s = tamis.Survey("people", "rows.parquet", ledger="d.ledger", budget=4, design=tamis.srs(400, 40), unit="person",
                             columns={"income": (0, 10), "region": ["north", "south"]})
            print(s.estimate(tamis.total("income", by="region"), tamis.count()).to_csv())
            warnings.simplefilter("ignore")
            assert len(s.release(tamis.total("income", by="region"), epsilon=1)) == 2
            assert "duckdb" not in sys.modules and "_duckdb" not in sys.modules
            assert tamis.parts()["DuckDB"].lstrip("v") == importlib.metadata.version("duckdb"), tamis.parts()
            """
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), self.survey().estimate(*BLOCK).to_csv().strip())
        without = "import importlib.util as u; u.find_spec = lambda name: None\n" + code.replace("if True:", "if True:", 1)
        done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
        self.assertIn("pip install duckdb, or read the file yourself and give the rows: polars.scan_parquet(...)", done.stderr)
        import duckdb
        relation = duckdb.sql("SELECT *, now() AS unused, [1] AS listed FROM 'rows.parquet'")
        self.assertEqual(self.survey(relation).estimate(*BLOCK).to_csv(), self.survey().estimate(*BLOCK).to_csv())

    @needs("matplotlib")
    def test_plot(self):
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        self.addCleanup(pyplot.close, "all")
        made = self.survey().release(*BLOCK, epsilon=1)
        panels = made.plot()
        self.assertEqual([p.get_title(loc="left") for p in panels], ["total of income", "count of units"])
        self.assertEqual([t.get_text() for t in panels[0].get_yticklabels()], ["north", "south"])
        points = [line for line in panels[0].lines if line.get_marker() == "o"]
        self.assertEqual([p.get_xdata()[0] for p in points], [made[0].estimate, made[1].estimate])
        ends = [list(line.get_xdata()) for line in panels[0].lines if line.get_marker() != "o"]
        self.assertEqual(ends, [[made[0].lower, made[0].upper], [made[1].lower, made[1].upper]])
        one = pyplot.figure().subplots()
        self.assertIs(made.plot("total", column="income", ax=one), one)
        self.assertEqual(len(one.get_yticklabels()), 2)
        panels[0].figure.savefig("plot.png")
        self.assertGreater(os.path.getsize("plot.png"), 1000)
        with self.assertRaises(ValueError):
            made.plot("median")

    def test_progress(self):
        with self.assertRaises(TypeError):
            self.survey().release(*BLOCK, epsilon=1, progress=3)
        self.assertEqual(len(self.survey().release(*BLOCK, epsilon=1, progress=True)), 3)

    def test_log(self):
        s = self.survey()
        with self.assertLogs("tamis", "DEBUG") as told:
            s.estimate(*BLOCK)
            with self.assertRaises(tamis.BudgetError):
                s.release(*BLOCK, epsilon=9)
        self.assertRegex("\n".join(told.output), r"^DEBUG:tamis:estimate of people begins\nDEBUG:tamis:estimate of people: \d\.\d+ s\n"
                         r"DEBUG:tamis:release of people begins\nDEBUG:tamis:release of people: BudgetError after \d\.\d+ s$")

    def test_import_is_light(self):
        code = ("import sys, tamis; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'tqdm', 'logging', 'secrets', "
                "'tamis.spark', 'tamis.svy') if m in sys.modules])")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip(), "[]")


class Documents(InFolder):
    def test_docstrings(self):
        """The examples of every module run, and whatever is public has a docstring."""
        for module in [tamis] + [importlib.import_module(f"tamis.{m.name}") for m in pkgutil.iter_modules(tamis.__path__) if m.name[0] != "_"]:
            self.assertEqual(doctest.testmod(module).failed, 0, module.__name__)
        for name in tamis.__all__:
            thing = getattr(tamis, name)
            if callable(thing):
                self.assertTrue((thing.__doc__ or "").strip(), name)
                own = vars(thing) if inspect.isclass(thing) else {}
                bare = [n for n, f in own.items() if n[0] != "_" and (inspect.isfunction(f) or isinstance(f, property)) and not f.__doc__]
                self.assertEqual(bare, [], name)

    @needs("polars")
    def test_tutorial(self):
        """The blocks of docs/python.md and of README.md, each page in a folder with the bundled survey."""
        for page, least in (("docs/python.md", 9), ("README.md", 1)):
            with self.subTest(page), tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
                os.chdir(folder)
                pathlib.Path("apistrat.csv").write_bytes((TOP / "examples" / "schools" / "apistrat.csv").read_bytes())
                names = {}
                blocks = [b.split("```")[0] for b in (TOP / page).read_text().split("```python\n")[1:]]
                self.assertGreaterEqual(len(blocks), least)
                for block in blocks:
                    exec(compile(block, page, "exec"), names)
                os.chdir(TOP)

    @needs("polars", "matplotlib")
    def test_notebook(self):
        """Its outputs are those of a run, but for noise."""
        import matplotlib
        matplotlib.use("Agg")
        import notebook
        book = json.loads((TOP / "examples" / "python" / "first.ipynb").read_text())
        pathlib.Path("apistrat.csv").write_bytes((TOP / "examples" / "schools" / "apistrat.csv").read_bytes())
        stored = [c["outputs"] for c in book["cells"] if c["cell_type"] == "code"]
        self.assertGreater(sum(map(len, stored)), 7)
        for here, there in zip(notebook.run(book), stored, strict=True):
            self.assertEqual(notebook.shape(here), notebook.shape(there))

    @needs("mypy")
    def test_types(self):
        """mypy --strict of the package, and the stub of the extension beside the extension itself."""
        for command in (["mypy", "--strict", "--cache-dir", "cache", "-p", "tamis"], ["mypy.stubtest", "tamis._tamis"]):
            done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
