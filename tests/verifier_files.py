"""The other half of tests/verifier.py: the files beside a certificate say what it says."""
import csv
import json
from fractions import Fraction

OWN = {"table", "limit"}  # of a measurement in a certificate
OWN_COLUMNS = {"statistic", "column", "where", "estimate", "se", "sampling_se", "noise_sd", "cv", "df", "lower", "upper", "confidence", "covers",
               "reason", "outside_range", "notes"}


class Files:
    """What a verifier checks besides the certificate; it has `c`, `path`, `strata`, `kind`, `check` and `first_stage`."""

    def load(self, name):
        file = self.path.parent / name
        return json.loads(file.read_text()) if file.exists() else None

    def measurements(self):
        """measurements.json says of every table what the certificate says; in another order if the release was repeated."""
        told, s = self.load("measurements.json"), self.c["sampling"]
        if told is None:
            return
        self.check(set(told) - {"bounds", "choices", "standard_errors"} == {"tamis", "survey", "design", "weights", "measurements"}, "measurements.json")
        self.bounds_of_file(told)
        self.check(told["tamis"] == 1 and told["survey"] == self.c["plan"]["survey"], "measurements.json.survey")
        self.check(told["weights"] == s["weights"], "measurements.json.weights")
        design = self.c["plan"]["design"]
        sizes = told["design"].get("stratified", {}).get("strata") or {None: told["design"].get(self.kind)}
        self.check(len(told["design"]) == 1 and next(iter(told["design"])) in design, "measurements.json.design")
        for name, z in self.strata:
            z, here = self.first_stage(z), sizes[name]
            right = all(here[k] == z[k] for k in ("population", "sample", "rate") if k in here and k in z)
            self.check(right and set(here) <= {"population", "sample", "rate"}, "measurements.json.design")
        ours = [{k: v for k, v in m.items() if k not in OWN} for m in self.c["measurements"]]
        theirs = [{k: v for k, v in m.items() if k != "values"} for m in told["measurements"]]
        self.check(len(ours) == len(theirs), "measurements.json.measurements", "are more or less than the certificate has")
        for i, (m, t) in enumerate(zip(ours, theirs)):
            if m in theirs and t in ours:
                continue
            for key in sorted(set(m) | set(t)):
                self.check(m.get(key) == t.get(key), f"measurements.json.measurements[{i}].{key}", "is not what the certificate says")
        for i, t in enumerate(told["measurements"]):
            m = self.c["measurements"][ours.index(theirs[i]) if theirs[i] in ours else i]
            right = self.has_numbers(m, len(t["values"])) and all(isinstance(v, int) and abs(v) <= m["limit"] for v in t["values"])
            self.check(right, f"measurements.json.measurements[{i}].values")
        self.chosen_points(told)
        self.errors_said(told)

    def release(self):
        """release.json has the promise of the certificate and, where that is a plain sum, the numbers of measurements.json;
        release.csv has the same numbers."""
        told = self.load("release.json")
        if told is None:
            return
        g, plan = self.c.get("guarantee", {}), self.c["plan"]
        self.check(told["tamis"] == 1 and told["protected"] is True and told["survey"] == plan["survey"], "release.json.survey")
        self.check(told.get("wave") == (plan.get("wave") or {}).get("name"), "release.json.wave")
        for key in ("spent", "left"):
            self.check(key not in g or g[key] is None or told[key] == g[key], "release.json." + key)
        for key in ("sample", "outsider"):
            self.check(key not in g or told["guarantee"][key] == g[key], "release.json.guarantee." + key)
        entry = {k: v for k, v in (self.c["ledger"] or {}).items() if k != "clock_behind"} or None
        self.check(told["ledger"] == entry and told["not_covered"] == self.c["not_covered"], "release.json.ledger")
        self.bounds_of_results(told)
        self.check(told["guarantee"]["setting"] == self.c["setting"], "release.json.guarantee.setting")
        numbers = self.load("measurements.json")
        if numbers and not plan.get("calibrate") and not plan.get("postprocess"):
            self.readings(told["results"], numbers["measurements"], numbers.get("choices", []))
        if not plan.get("postprocess"):
            self.since_earlier(told["results"])
        if numbers:
            self.measured_in(told["results"], told["measured_in"], {m["name"] for m in numbers["measurements"]})
        self.table(told["results"])

    def measured_in(self, results, lists, names):
        """Lists of names in measurements.json, numbered from 1 in the order in which results name them."""
        named = list(dict.fromkeys(r["measured_in"] for r in results if r["measured_in"] is not None))
        self.check(named == [str(i + 1) for i in range(len(lists))] and set(named) == set(lists), "release.json.results",
                   "name lists of tables that are not there")
        self.check(all(tables and set(tables) <= names for tables in lists.values()), "release.json.measured_in",
                   "has a table that is not in measurements.json")

    def table(self, results):
        file = self.path.parent / "release.csv"
        if not file.exists():
            return
        with file.open(newline="") as opened:
            rows = list(csv.DictReader(opened))
        results = [x for r in results for x in ([{**r, **t, "df": r["df"] if t["se"] is not None else None} for t in r["terms"]] if "terms" in r else [r])]
        self.check(len(rows) == len(results), "release.csv", "has another number of results")
        for row, r in zip(rows, results):
            told = {**r, "lower": (r["interval"] or {}).get("lower"), "upper": (r["interval"] or {}).get("upper")}
            self.check("term" not in r or row["term"].lstrip("'") == r["term"].lstrip("'"), "release.csv.term")
            for key in ("p",) if "term" in r else ():
                self.check(row[key] == "" if r[key] is None else float(row[key]) == r[key], "release.csv.p", "is not the number of release.json")
            for key in ("estimate", "se", "sampling_se", "noise_sd", "cv", "df", "lower", "upper"):
                if key not in told:  # of a coefficient
                    continue
                right = row[key] == "" if told[key] is None else row[key] != "" and float(row[key]) == told[key]
                self.check(right, f"release.csv.{key}", "is not the number of release.json")
            groups = [row.get(k) if k not in OWN_COLUMNS else row["by_" + k] for k in r["group"]]
            self.check(row["where"].lstrip("'") == r.get("where", "").lstrip("'"), "release.csv.where")
            self.check(row["statistic"] == r["statistic"] and [g.lstrip("'") for g in groups] == [v.lstrip("'") for v in r["group"].values()],
                       "release.csv")
