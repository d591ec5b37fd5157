"""Changes since an earlier release, computed again from what the certificate repeats of it, and that compared with the other folder
where it is beside this one. A part of verifier.py."""
import hashlib
import json
import re
from fractions import Fraction
from math import isclose, prod, sqrt

from verifier_reading import variance_of

SHARED = {"sample", "population"}  # of a change with an overlap
GROUPED = {"groups", "group_scale"}  # of a number with totals of groups of clusters
LEAST_LEFT = 0.05  # of both variances, whatever their covariance is said to be
MOST_LEFT = 1.95  # the same, from groups of clusters, which may vary in opposite directions
KEYS = {"statistic", "survey", "wave", "certificate", "epsilon", "delta", "law", "numbers"}
NUMBER = {"estimate", "sampling_se", "df", "lower", "upper", "least", "most", "bias_at_most", "noise"}


def real(text):
    return None if text is None else float(text)


def noise_of(number, law):
    """The variance of the sum over all noisy integers of factor times noise."""
    total = 0.0
    for factor, scale, count in number["noise"]:
        total += float(count) * float(factor) ** 2 * variance_of(law, float(scale))
    return total


def near(x, y, dust=0.0):
    return (x is None) == (y is None) and (x is None or isclose(x, y, rel_tol=1e-7, abs_tol=dust))


class Changes:
    """A verifier has `c`, `path`, `check`, `size`; see verifier.py."""

    def since_earlier(self, results):
        statistics = self.c["plan"]["statistics"]
        asked, told = [i for i, t in enumerate(statistics) if "change" in t], self.c.get("earlier", [])
        right = [e.get("statistic") for e in told] == asked and ("earlier" in self.c) == bool(asked)
        self.check(right and all(self.is_earlier(statistics[e["statistic"]], e) for e in told), "earlier", "is not that of each change")
        if self.problems or not asked:
            return
        self.said_of_both(statistics, told)
        places, first = [], 0
        for t in statistics:
            places.append(first)
            first += self.cells_of(t)
        for e in told:
            t, own = statistics[e["statistic"]], None
            for j, u in enumerate(statistics):  # the same number, if the plan asks for it too
                plain = {k: v for k, v in u.items() if k in ("by", "where", "confidence", *t["change"])}
                if "method" not in u and "shrink" not in u and plain == {**t["change"], **{k: t[k] for k in ("by", "where", "confidence") if k in t}}:
                    own = j
            rows = results[places[e["statistic"]]:][:len(e["numbers"])]
            now = results[places[own]:][:len(e["numbers"])] if own is not None else [None] * len(rows)
            for r, x, before in zip(rows, now, e["numbers"]):
                self.change(r, x, before, e["law"], "overlap" in t, "groups" in before and own is not None and "for_change" in statistics[own])
            self.beside_folder(t, e)

    def said_of_both(self, statistics, told):
        """Which units are in both samples is declared; the account of another survey is not covered."""
        for e in told:
            t = statistics[e["statistic"]]
            if "overlap" in t:
                line = (f"{t['overlap']['size']:,} units are in both this sample and that of {t['since']}; the column {t['overlap']['before']} has "
                        f"their value of {t['change']['mean']} there")
                self.check(line in self.c["declared_public"], "declared_public", "an overlap is missing")
            if e["survey"] != self.c["plan"]["survey"]:
                lines = [x for x in self.c["not_covered"] if x.startswith(f"{t['since']} is a release of another survey, {e['survey']}, ")]
                said = re.fullmatch(r".* had spent epsilon ([\d./e+-]*\d)(?:, delta ([\d./e+-]*\d))?\.", lines[0]) if len(lines) == 1 else None
                true = [Fraction(e[k]) for k in ("epsilon", "delta")]
                self.check(said and all(x <= y <= x * (1 + Fraction(1, 10000)) for x, y in zip(true, map(Fraction, said.groups("0")))), "not_covered",
                           "the account of the other survey is missing")

    def cells_of(self, t):
        groups = t.get("by", []) + t.get("table", []) + ([{t["histogram"]: t["cuts"]}] if "histogram" in t else [])
        return prod(self.size(by) for by in groups) * (len(t["at"]) if "quantile" in t else 1)

    def is_earlier(self, t, e):
        more = {"rows"} if "overlap" in t else set()
        shared = "overlap" not in t or (1 < e["sample"] <= e["population"] and t["overlap"]["size"] <= e["sample"])
        now = [u for u in self.c["plan"]["statistics"] if "for_change" in u and all(u.get(k) == v for k, v in t["change"].items())]
        grouped = "pairs" in e
        right = not grouped or (now and "samples" not in t and len(e["pairs"]) == 32 and min(e["pairs"]) >= 0)
        return (right and set(e) - {"pairs"} == KEYS | (SHARED if "overlap" in t else set()) and shared and e["law"] in ("discrete_laplace", "discrete_gaussian", "rounded_normal")
                and re.fullmatch("[0-9a-f]{64}", e["certificate"]) is not None and len(e["numbers"]) == self.cells_of(t)
                and (e["survey"], e["wave"]) != (self.c["plan"]["survey"], self.c["plan"].get("wave", {}).get("name"))
                and all(set(x) in ([NUMBER | more] + [NUMBER | GROUPED] * grouped) and ("groups" not in x or (len(x["groups"]) == 32 and float(x["group_scale"]) > 0)) and all(len(p) == 3 and float(p[1]) > 0 and float(p[2]) >= 1 for p in x["noise"]) for x in e["numbers"]))

    def change(self, r, now, before, law, overlap, grouped):
        """One number: estimates are subtracted; variances of sampling and of noise are added, less what an overlap takes off."""
        said, where = r["estimate"], "release.json.results"
        if now is None or said is None:
            return
        self.check(near(said, now["estimate"] - real(before["estimate"]), 1e-7 * abs(now["estimate"])), where, "a change is not that of its numbers")
        if r["sampling_se"] is None:
            return
        sampling = sqrt(now["sampling_se"] ** 2 + real(before["sampling_se"]) ** 2)
        noise = sqrt(now["noise_sd"] ** 2 + noise_of(before, law))
        if grouped:
            left = (r["sampling_se"] / sampling) ** 2
            self.check(0.9999999 * LEAST_LEFT < left < 1.0000001 * MOST_LEFT, where, "the covariance of two waves is more than their variances allow")
            sampling = r["sampling_se"]
        if overlap:
            self.check(sqrt(LEAST_LEFT) * sampling < 1.0000001 * r["sampling_se"], where, "the covariance of two waves is more than their variances allow")
            sampling = r["sampling_se"]
        self.check(near(r["sampling_se"], sampling) and near(r["noise_sd"], noise) and near(r["se"], sqrt(sampling ** 2 + noise ** 2)), where,
                   "the errors of a change are not those of both waves")
        if r["interval"]:
            inside = r["interval"]["lower"] <= said <= r["interval"]["upper"]
            self.check(inside or r.get("outside_range") or now.get("outside_range"), where, "the interval of a change leaves it out")

    def beside_folder(self, t, e):
        """The numbers of the other folder, if it is beside this one and its certificate is the one that is named."""
        folder = self.path.parent.parent / t["since"]
        if "/" in t["since"] or not (folder / "certificate.json").exists():
            return
        other = json.loads((folder / "certificate.json").read_text())
        if other.get("hash") != e["certificate"]:
            return
        lost = other["amplification"]
        self.check((Fraction(lost["epsilon"]), Fraction(lost["delta"])) == (Fraction(e["epsilon"]), Fraction(e["delta"])), "earlier", "is not what was lost there")
        file = folder / "release.json"
        self.check(hashlib.sha256(file.read_bytes()).hexdigest() == other["files"]["release.json"], "earlier", "another release.json is in the other folder")
        published = json.loads(file.read_text())
        self.check((published["survey"], published.get("wave")) == (e["survey"], e["wave"]), "earlier", "the other folder is of another wave")
        kind = next(iter(t["change"]))
        own = [r for r in published["results"] if r["statistic"] == kind and self.is_about(r, t)]
        if other["plan"].get("postprocess") or len(own) != len(e["numbers"]):
            return
        self.groups_beside(folder, other, t, e)
        for r, x in zip(own, e["numbers"]):
            ends = r["interval"] or {"lower": None, "upper": None}
            right = near(r["estimate"], real(x["estimate"])) and near(r["sampling_se"], real(x["sampling_se"])) and all(
                near(ends[k], real(x[k]), 1e-9 * abs(r["estimate"] or 0)) for k in ("lower", "upper"))
            right = right and (r["noise_sd"] is None or near(r["noise_sd"], sqrt(noise_of(x, e["law"]))))
            self.check(right, "earlier", "the numbers are not those of the other folder")

    def groups_beside(self, folder, other, t, e):
        """Totals of groups are the noisy integers of the other folder, all of a number in one unit, in which their noise has its scale."""
        if "pairs" not in e:
            return
        self.check(e["pairs"] == other["psus"].get("pairs"), "earlier", "the pairs of clusters are not those of the other folder")
        told = json.loads((folder / "measurements.json").read_text())["measurements"]
        own = [m for m in told if m["weighed_by"] == "groups" and all(m["of"].get(k) == v for k, v in t["change"].items())
               and m["of"].get("by", []) == t.get("by", []) and m["of"].get("where") == t.get("where")]
        self.check(len(own) == 1, "earlier", "the other folder has no totals of groups")
        for m in own:
            for g, x in enumerate(e["numbers"]):
                unit = float(x.get("group_scale", 0)) / float(Fraction(m["noise"][0]["scale"]))
                values = m["values"][32 * g:32 * g + 32]
                self.check("groups" not in x or all(near(float(y), unit * v, 1e-9 * unit) for y, v in zip(x["groups"], values)), "earlier",
                           "totals of groups are not those of the other folder")

    def is_about(self, r, t):
        names = [by if isinstance(by, str) else next(iter(by)) for by in t.get("by", [])]
        about = t["change"].get("mean", t["change"].get("total", t["change"].get("share")))
        column = r["column"] if isinstance(about, str) else None
        return list(r["group"]) == names and "where" not in r and "where" not in t and (not isinstance(about, str) or column == about)
