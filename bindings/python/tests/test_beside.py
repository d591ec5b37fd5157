"""What the package does beside releases: noise, samples, quantiles of a file, randomized response, tallies, studies."""
import inspect
import os
import pathlib
import re
import signal
import unittest

import tamis
from test_package import CANARY, TOP, InFolder, in_twenty_threads, needs

SCHOOLS = TOP / "examples" / "schools"
STUDY = """
tamis: 1
survey: study
source: {caller: study}
design: {srs: {population: 400, sample: 40}}
privacy: {unit: school, epsilon: 1}
columns: {api00: {from: 200, to: 1000, step: 1}, stype: {values: [E, M, H]}}
statistics: [{mean: api00}]
"""


def options_of(text, name):
    """The options of a command, from its row in the sources of the command line."""
    macros = {m: set(re.findall(r'\{"([a-z-]+)"', body)) for m, body in re.findall(r"#define (\w+)\s*\\\n((?:.*\\\n)*.*)", text)}
    block = re.search(r'\.name = "' + name + r'",(.*?)\n\};', text, re.S).group(1)
    listed = block[block.index(".options"):block.index(".examples")] if ".options" in block else ""
    return set(re.findall(r'\{"([a-z-]+)"', listed)).union(*(keys for m, keys in macros.items() if m in listed))


def setUpModule():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may have been started without it


class Command(unittest.TestCase):
    """Whatever the command offers, the package offers: a later option or study cannot be forgotten."""

    def setUp(self):
        self.text = "".join(p.read_text() for p in sorted((TOP / "cli").rglob("*.[ch]")))

    def arguments(self, *functions):
        return {a.rstrip("_").replace("_", "-") for f in functions for a in inspect.signature(f).parameters}

    def test_studies(self):
        names = {n.removeprefix("study ") for n in re.findall(r'\.name = "(study \w+)"', self.text)}
        made = {n for n, f in vars(tamis.study).items() if inspect.isfunction(f) and f.__module__ == "tamis.study" and n[0] != "_"}
        self.assertEqual(made, names)
        for name in names:
            wanted = options_of(self.text, f"study {name}") - {"svg", "csv", "out"}  # forms of the answer
            self.assertEqual(wanted - self.arguments(getattr(tamis.study, name)), set(), name)

    def test_others(self):
        for name, functions, otherwise in (
                ("noise", [tamis.noise], {"binary"}),
                ("draw", [tamis.draw], {"design"}),  # method
                ("quantile", [tamis.quantile_of_file], set()),
                ("randomize", [tamis.randomize], set()),
                ("tally", [tamis.Tally, tamis.Tally.add, tamis.Tally.publish], {"duplicates", "from", "csv", "out"})):
            self.assertEqual(options_of(self.text, name) - self.arguments(*functions), otherwise, name)


class Beside(InFolder):
    def test_noise(self):
        drawn = tamis.noise("laplace", 10, 20000)
        self.assertTrue(abs(sum(drawn)) < 20000 and len(drawn) == 20000)  # the mean is 0 to within 10 standard errors
        self.assertEqual(len(tamis.noise("gaussian", "1e16", 0)), 0)
        for law, scale, count in (("cauchy", 1, 1), ("normal", 0, 1), ("laplace", 0, 1), ("laplace", "x", 1), ("laplace", 1, -1), ("laplace", 1, 1.5)):
            with self.assertRaises(tamis.InvalidError):
                tamis.noise(law, scale, count)

    def test_draw(self):
        made = tamis.draw(SCHOOLS / "apistrat.csv", "srs", "s.csv", strata="stype", sample=5)
        self.assertEqual((made.population, made.sample, made.strata, made.rows), (200, 15, 3, None))
        self.assertEqual(len(pathlib.Path("s.csv").read_text().splitlines()), 16)
        frame = {"size": [float(10 + i) for i in range(50)], "region": ["a", "b"] * 25, "unused": [CANARY] * 50}
        made = tamis.draw(frame, "sampford", size="size", sample=4, strata="region")
        self.assertEqual((len(made.rows), len(set(made.rows)), sum(r % 2 for r in made.rows)), (8, 8, 4))
        for row, p, w in zip(made.rows, made.inclusion_probability, made.weight):
            total = sum(x for i, x in enumerate(frame["size"]) if i % 2 == row % 2)
            self.assertAlmostEqual(p, 4 * frame["size"][row] / total)
            self.assertAlmostEqual(w, 1 / p)
        self.assertEqual(sorted(tamis.draw({"x": [1, 2]}, "srs", sample=2).rows), [0, 1])

    def test_draw_from_bad_frames(self):
        for arguments in (({"size": [CANARY] * 4}, {"size": "size", "sample": 1}), ({"size": [1, 2]}, {"size": "sizes", "sample": 1}),
                          (17, {"size": "size", "sample": 1}), ({}, {"size": "size", "sample": 1}),
                          ({"size": [1, 2], "s": ["a"]}, {"size": "size", "sample": 1, "strata": "s"})):
            with self.subTest(arguments), self.assertRaises(tamis.InvalidError) as caught:
                tamis.draw(arguments[0], "sampford", **arguments[1])
            self.assertNotIn(CANARY, str(caught.exception))
        with self.assertRaises(tamis.InvalidError):
            tamis.draw(SCHOOLS / "apistrat.csv", "srs", sample=2)
        with self.assertRaises(tamis.InvalidError):
            tamis.draw({"x": [1]}, "srs", "out.csv", sample=1)

    @needs("pandas", "polars", "pyarrow")
    def test_draw_from_frames(self):
        import pandas
        import polars
        import pyarrow
        data = {"size": [1, 2, 3, 4], "region": ["a", "b", "a", "b"]}
        for frame in (pandas.DataFrame(data, index=[9, 8, 7, 6]), polars.DataFrame(data), polars.DataFrame(data).lazy(), pyarrow.table(data)):
            made = tamis.draw(frame, "srs", strata="region", sample=2)
            self.assertEqual(sorted(made.rows), [0, 1, 2, 3], type(frame))

    def test_quantile_of_a_file(self):
        pathlib.Path("x.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(300)))
        first = tamis.quantile_of_file("x.csv", "x", from_=0, to=300, at=["0.25", "0.5"], epsilon=1, budget=2)
        self.assertFalse(first.repeated)
        self.assertEqual([r["at"] for r in first], [0.25, 0.5])
        again = tamis.quantile_of_file("x.csv", "x", from_=0, to=300, at=["0.25", "0.5"], epsilon=1, budget=2)
        self.assertTrue(again.repeated)
        self.assertEqual(again.to_dicts(), first.to_dicts())
        self.assertEqual(again.left["epsilon"].lower, 1)
        with self.assertRaises(tamis.BudgetError):
            tamis.quantile_of_file("x.csv", "x", from_=0, to=300, epsilon=3)
        pathlib.Path("bad.csv").write_text(f"x\n{CANARY}\n")
        for arguments in ({"column": "y"}, {"from_": 9, "to": 1}, {"at": []}, {"at": ["2"]}, {"epsilon": None}, {"weight": "x"},
                          {"method": "guess"}, {"engine": "sqlite"}, {"neighbours": "all"}, {"bins": -1}):
            with self.subTest(arguments), self.assertRaises((tamis.InvalidError, ValueError)) as caught:
                tamis.quantile_of_file("bad.csv", **{"column": "x", "from_": 0, "to": 9, "epsilon": 1, **arguments})
            self.assertNotIn(CANARY, str(caught.exception))
        self.assertFalse(os.path.exists("bad.csv.ledger"))

    def test_randomize_and_tally(self):
        pathlib.Path("answers.csv").write_text("smoker,region,id\n" + "".join(f"{'yes' if i % 4 else 'no'},{'ns'[i % 2]},p{i}\n" for i in range(30)))
        made = tamis.randomize("answers.csv", "reports.csv", lie="1/8", columns=["smoker", "region"], categories={"region": ["n", "s"]}, id="id")
        self.assertEqual((made.reports, made.bits), (30, 3))
        tally = tamis.Tally("1/8", id="id", keep=True)
        tally.add("reports.csv")
        with self.assertRaises(tamis.InvalidError):
            tally.add("reports.csv")  # a second report of each client
        tally = tamis.Tally("1/8", id="id", keep=True)
        tally.add("reports.csv")
        shares = tally.shares(categories=["region"], population=1000)
        self.assertIn("Trusting nobody", repr(shares))
        self.assertEqual([s["column"] for s in shares], ["smoker", "region=n", "region=s"])
        reports = [line.split(",") for line in pathlib.Path("reports.csv").read_text().splitlines()]
        self.assertEqual(shares[0]["ones"], sum(r[reports[0].index("smoker")] == "1" for r in reports[1:]))
        tally.save("a.tally")
        tally.shuffle("shuffled.csv")
        other = tamis.Tally()
        other.add("a.tally")
        self.assertEqual(other.shares().to_json(), tally.shares().to_json())
        first = other.publish("out", ledger="c.ledger", survey="smoking", budget=8)
        self.assertAlmostEqual(first.guarantee["local"]["epsilon"].upper, 5.837730447165)  # 3 log 7: the bits are not said to be one answer's
        with self.assertRaises(tamis.RefusedError):
            other.publish(ledger="c.ledger", survey="smoking")
        other.publish(ledger="c.ledger", survey="smoking", repeat="free")
        self.assertEqual(len(tamis.Ledger("c.ledger").entries()), 1)
        self.assertTrue(tamis.verify("out"))

    def test_reports_in_memory(self):
        tally = tamis.Tally("1/4")
        tally.add({"a": [1, 0, 1], "b": [1, 0, 0]}, columns=["a", "b"])
        self.assertEqual([s["ones"] for s in tally.shares()], [2, 1])
        for wrong in ({"a": [CANARY], "b": [1]}, {"a": [2, 3], "b": [0, 1]}, 17, {}):
            with self.subTest(wrong), self.assertRaises(tamis.TamisError) as caught:
                tamis.Tally("1/4").add(wrong, columns=["a", "b"])
            self.assertNotIn(CANARY, str(caught.exception))
        with self.assertRaises(tamis.InvalidError):
            tally.add({"a": [1]})
        with self.assertRaises(tamis.InvalidError):
            tamis.Tally("3/4")

    def test_randomizer(self):
        lies = tamis.Randomizer("1/4", "1/8")
        reports = lies.report([True] * 4000)
        self.assertTrue(2600 < sum(reports) < 3400)
        secret = bytes(range(32))
        flips = {lies.again(True, secret=secret, question="smoker", answer="yes") for _ in range(20)}
        self.assertEqual(len(flips), 1)
        self.assertLess(lies.local(2).upper, 2 * lies.local(1).upper + 1e-9)
        for wrong in ([1, 0], ["yes"], [None]):
            with self.assertRaises(tamis.InvalidError):
                lies.report(wrong)
        with self.assertRaises(ValueError):
            lies.again(True, secret=b"short", question="q", answer="a")
        with self.assertRaises(tamis.InvalidError):
            tamis.Randomizer("1/2")

    def test_one_tally_and_twenty_threads(self):
        pathlib.Path("r.csv").write_text("a\n" + "1\n0\n" * 2000)
        tally, problems = tamis.Tally("1/4"), []

        def work():
            try:
                tally.add("r.csv")
            except RuntimeError:
                pass  # in use by another call: said, not suffered
            except Exception as problem:
                problems.append(problem)
        in_twenty_threads(lambda _: work())
        self.assertEqual((problems, tally.reports % 4000, tally.reports > 0), ([], 0, True))

    def test_studies(self):
        plan = tamis.Plan.parse(STUDY)
        population = SCHOOLS / "apistrat.csv"
        pathlib.Path("strata.csv").write_text("stratum,population,sd,from,to\nE,4421,400,0,4000\nM,1018,500,0,4000\n")
        made = {"gain": tamis.study.gain(epsilon=1, range=(0, 1), sd="0.2", population=5000),
                "rate": tamis.study.rate(epsilon=1, range=(0, 1), sd="0.2", population=5000),
                "allocation": tamis.study.allocation("strata.csv", sample=100, epsilon=1),
                "epsilon": tamis.study.epsilon(plan, {"mean api00": 40}),
                "plan": tamis.study.plan(plan),
                "coverage": tamis.study.coverage(tamis.Plan.parse(STUDY.replace("400", "200")), population, runs=5),
                "bounds": tamis.study.bounds(plan, population),
                "quantile": tamis.study.quantile(from_=0, to=1000, epsilon=1, values="normal:500,90", runs=3, rows=200),
                "figure": tamis.study.figure(5, runs=10),
                "table": tamis.study.table(runs=10)}
        for name, study in made.items():
            with self.subTest(name):
                self.assertTrue(repr(study).strip() and study.facts)
                self.assertEqual(study.svg is None, name == "table")
                if study.svg is not None:
                    self.assertIn("<svg", study._repr_html_())
        self.assertGreater(len(made["gain"]), 0)
        for wrong in (lambda: tamis.study.figure(14), lambda: tamis.study.gain(epsilon=1, range=(1, 0), sd=1), lambda: tamis.study.epsilon(plan),
                      lambda: tamis.study.gain(epsilon=1, range=(0, 1), statistic="mode"), lambda: tamis.study.plan(plan, runs=-1),
                      lambda: tamis.study.coverage(plan, "nowhere.csv"), lambda: tamis.study.quantile(from_=0, to=1, epsilon=1)):
            with self.assertRaises((tamis.InvalidError, ValueError)):
                wrong()
        with self.assertRaises(TypeError):
            tamis.study.plan("plan.yaml")

    def test_interrupts_of_studies(self):
        class Stop(Exception):
            pass

        def stop(share, rows):
            raise Stop

        def press(share, rows):
            signal.raise_signal(signal.SIGINT)
        with self.assertRaises(Stop):
            tamis.study.figure(8, progress=stop)
        with self.assertRaises(tamis.Interrupted):
            tamis.study.figure(8, progress=press)


if __name__ == "__main__":
    unittest.main()
