"""Change since an earlier release: two and three waves end to end, what both verifiers make of them, and every folder that is no good."""
import csv
import hashlib
import math
from fractions import Fraction

from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

HEAD = """tamis: 1
survey: {survey}
wave: {wave}
source: {{file: rows{wave}.csv}}
design: {design}
privacy: {{unit: {unit}, {loss}}}
columns:
  x: {{from: 0, to: {to}, step: 1, typical: {{mean: 20, sd: 8}}}}
  y: {{from: 0, to: 10, step: 1}}
  g: {{values: [{values}]}}
statistics:
{statistics}{more}ledger: a.ledger
budget: {{{budget}}}
"""
SRS = "{srs: {population: 3000, sample: 300}}"
CLUSTERS = "{cluster: {by: c, population: 500, sample: 60, smallest: 1, largest: 9}, typical: {cluster: {mean: 5, sd: 1}}}"
PARTS = ["{mean: x, by: g}", "{total: y}", "{share: {g: a}}", "{ratio: {of: x, to: y}}"]
CHANGES = ["{change: {mean: x}, by: g, since: 1-release}", "{change: {total: y}, since: 1-release/, samples: independent}",
           "{change: {share: {g: a}}, since: 1-release}", "{change: {ratio: {of: x, to: y}}, since: ./1-release, samples: independent}"]


def rows(folder, wave):
    seed, lines = 7 + wave, ["x,y,g,c"]
    for i in range(300):
        seed = (seed * 1103515245 + 12345) % 2 ** 31
        a = seed >> 8
        lines.append(f"{min((a % 41 + i % 20) % 41 + wave, 40)},{a % 11},{'ab'[a % 7 > 2]},{i // 5}")
    (folder / f"rows{wave}.csv").write_text("\n".join(lines) + "\n")


def plan(folder, wave, statistics, name=None, design=SRS, loss="epsilon: 4", unit="person", to=40, values="a, b", survey="waves", more="",
         budget="epsilon: 10000"):
    path = folder / f"{name or wave}.yaml"
    path.write_text(HEAD.format(wave=wave, design=design, loss=loss, unit=unit, to=to, values=values, survey=survey, more=more, budget=budget,
                                statistics="".join(f"  - {s}\n" for s in statistics)))
    return path


def release(folder, path):
    done = with_memory("release", path, "--out", folder / f"{path.stem}-release", "--json", cwd=folder)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)["results"]


def verified(folder, name, words):
    done = tamis("verify", folder / name)
    assert done.returncode == OK and words in done.stdout, done.stdout + done.stderr
    assert verifier.verify(folder / name) == [], verifier.verify(folder / name)


class Waves:
    """A folder with the first wave, released."""

    def __init__(self, **how):
        self.how = how

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.place.name)
        for wave in (1, 2, 3):
            rows(folder, wave)
        self.first = release(folder, plan(folder, 1, PARTS, **self.how))
        return folder, self.first

    def __exit__(self, *_):
        self.place.cleanup()


@case
def a_change_is_this_number_minus_that_of_the_other_folder():
    for how in ({}, {"design": CLUSTERS, "loss": "epsilon: 30"}, {"loss": "rho: 1", "budget": "rho: 1000"}):
        with Waves(**how) as (folder, before):
            found = release(folder, plan(folder, 2, PARTS + CHANGES, **how))
            now, changes = found[:5], found[5:]
            for r, x, y in zip(changes, now, before, strict=True):
                assert abs(r["estimate"] - (x["estimate"] - y["estimate"])) < 1e-9 * (1 + abs(x["estimate"])), r
                for key in ("sampling_se", "noise_sd", "se"):
                    both = (x[key] ** 2 + y[key] ** 2) ** 0.5
                    assert abs(r[key] - both) < 1e-6 * both, (key, r, x, y)
                half = (r["interval"]["upper"] - r["interval"]["lower"]) / 2
                own = [(z["interval"]["upper"] - z["interval"]["lower"]) / 2 for z in (x, y)]
                assert max(own) < half < 1.05 * sum(own), (r, own)
                assert r["statistic"] == "change" and r["since"] == "1-release" and r["of"] == x["statistic"], r
            notes = ["opposite directions" in " ".join(r.get("notes", [])) for r in changes]
            assert notes == [True, True, False, True, False], notes
            verified(folder, "2-release", "the earlier release agrees with the certificate")
            with open(folder / "2-release" / "release.csv", newline="") as file:
                assert [r["contrast"] for r in csv.DictReader(file)][5:7] == ["mean, since 1-release"] * 2
            page = (folder / "2-release" / "report.html").read_text()
            assert "Change in: Mean of x, since 1-release" in page and "opposite directions" in page
            certificate = json.loads((folder / "2-release" / "certificate.json").read_text())
            other = json.loads((folder / "1-release" / "certificate.json").read_text())
            assert [e["certificate"] for e in certificate["earlier"]] == [other["hash"]] * 4
            assert "the sample and that of 1-release are independent" in certificate["declared_public"]
            shutil.move(folder / "1-release", folder / "elsewhere")
            verified(folder, "2-release", "the earlier release is missing, and was not compared")


def panel(folder, size):
    """The second wave with `size` persons of the first, and what they said then, in `w`; new persons have no value there."""
    first = [line.split(",") for line in (folder / "rows1.csv").read_text().split()[1:]]
    second = [line.split(",") for line in (folder / "rows2.csv").read_text().split()[1:]]
    lines = []
    for i, (old, new) in enumerate(zip(first, second)):
        kept = i < size
        lines.append(",".join([str(min(int(old[0]) + i % 3, 40)), old[1], old[2], old[3], old[0]] if kept else new + [""]))
    (folder / "rows2.csv").write_text("\n".join(["x,y,g,c,w", *lines]) + "\n")


@case
def persons_of_both_samples_take_their_covariance_off():
    """With next to no noise V is V2 + V1 - 2 C, C from the persons of both samples: here by hand, from the two files."""
    overlap = "since: 1-release, overlap: {size: 200, before: w}"
    for epsilon in (20, 100000):
        with Waves(loss=f"epsilon: {epsilon}", budget="epsilon: 1000000") as (folder, before):
            panel(folder, 200)
            path = plan(folder, 2, ["{mean: x, by: g}", "{mean: x}", f"{{change: {{mean: x}}, by: g, {overlap}}}"], loss=f"epsilon: {epsilon}",
                        budget="epsilon: 1000000")
            path.write_text(path.read_text().replace("  y: {", "  w: {from: 0, to: 40, step: 1}\n  y: {"))
            found = release(folder, path)
            certificate = json.loads((folder / "2-release" / "certificate.json").read_text())
            assert any([("number" in a) for a in m["axes"]].count(True) == 2 for m in certificate["measurements"]), certificate["measurements"]
            line = "200 units are in both this sample and that of 1-release; the column w has their value of x there"
            assert certificate["declared_public"].count(line) == 1 and line in (folder / "2-release" / "report.html").read_text(), certificate
            assert not any("another survey" in x for x in certificate["not_covered"]), certificate["not_covered"]
            earlier = certificate["earlier"][0]
            assert (earlier["sample"], earlier["population"]) == (300, 3000) and all("rows" in x for x in earlier["numbers"]), earlier
            table = [line.split(",") for line in (folder / "rows2.csv").read_text().split("\n")[1:-1]]
            for r, x, y, g in zip(found[3:], found[:2], before[:2], "ab", strict=True):
                own = [row for row in table if row[2] == g]
                both = [(int(row[0]), int(row[4])) for row in own if row[4]]
                sizes = [len(own), sum(line.endswith(f",{g}") or f",{g}," in line for line in (folder / "rows1.csv").read_text().split())]
                products = sum((a - x["estimate"]) * (b - y["estimate"]) for a, b in both)
                covariance = products * (1 - 300 * 300 / (3000 * 200)) / (sizes[0] * sizes[1])
                plain = x["sampling_se"] ** 2 + y["sampling_se"] ** 2
                wanted = max(plain - 2 * covariance, 0.05 * plain) ** 0.5
                assert r["sampling_se"] < 0.98 * plain ** 0.5, (r, plain)
                assert not any("opposite directions" in n for n in r.get("notes", [])), r
                if epsilon > 20:
                    assert abs(r["sampling_se"] - wanted) < 2e-3 * wanted, (r["sampling_se"], wanted, plain ** 0.5)
                else:
                    assert r["sampling_se"] > 0.8 * wanted, (r["sampling_se"], wanted)
            verified(folder, "2-release", "the earlier release agrees with the certificate")


@case
def units_of_two_surveys_lose_what_both_spend():
    with Waves(loss="epsilon: 3") as (folder, _):
        panel(folder, 200)
        path = plan(folder, 2, ["{change: {mean: x}, by: g, since: 1-release, overlap: {size: 200, before: w}}", "{change: {total: y}, since: 1-release}"],
                    survey="other")
        path.write_text(path.read_text().replace("  y: {", "  w: {from: 0, to: 40, step: 1}\n  y: {").replace("a.ledger", "b.ledger"))
        release(folder, path)
        line = ("1-release is a release of another survey, waves, with a budget of its own: units in both samples lose what both surveys spend "
                "together. With that release the other one had spent epsilon 3.")
        certificate = json.loads((folder / "2-release" / "certificate.json").read_text())
        assert certificate["not_covered"].count(line) == 1 and line in (folder / "2-release" / "report.html").read_text(), certificate["not_covered"]
        assert [(e["epsilon"], e["delta"]) for e in certificate["earlier"]] == [("3", "0")] * 2, certificate["earlier"]
        verified(folder, "2-release", "the earlier release agrees with the certificate")

        def left_out(c, key, words):
            c[key] = [x for x in c[key] if words not in x]

        def less(c):
            for e in c["earlier"]:
                e["epsilon"] = "1"
            c["not_covered"] = [x.replace("epsilon 3", "epsilon 1") for x in c["not_covered"]]

        for forge in (lambda c: left_out(c, "not_covered", "another survey"), lambda c: left_out(c, "declared_public", "200 units"), less):
            c = json.loads(json.dumps(certificate))
            forge(c)
            body = {k: v for k, v in c.items() if k not in ("guarantee", "hash")}
            c["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
            (folder / "2-release" / "certificate.json").write_text(json.dumps(c))
            done = tamis("verify", folder / "2-release")
            assert done.returncode == INVALID and verifier.verify(folder / "2-release") != [], (c, done)


@case
def an_overlap_needs_two_simple_random_samples():
    for first, second in ((SRS, CLUSTERS), (CLUSTERS, SRS)):
        with Waves(design=first) as (folder, _):
            path = plan(folder, 2, ["{change: {mean: x}, by: g, since: 1-release, overlap: {size: 100, before: w}}"], design=second)
            path.write_text(path.read_text().replace("  y: {", "  w: {from: 0, to: 40, step: 1}\n  y: {"))
            done = with_memory("check", path, cwd=folder)
            assert done.returncode == REFUSED and "overlap" in done.stderr and "simple random sample" in done.stderr, done.stderr
    with Waves() as (folder, _):
        path = plan(folder, 2, ["{change: {mean: x}, by: g, since: 1-release, overlap: {size: 301, before: w}}"])
        path.write_text(path.read_text().replace("  y: {", "  w: {from: 0, to: 40, step: 1}\n  y: {"))
        done = with_memory("check", path, cwd=folder)
        assert done.returncode == INVALID and "at most the size of the sample" in done.stderr, done.stderr


@case
def two_releases_in_folders_of_one_name_are_refused():
    with Waves() as (folder, _):
        release(folder, plan(folder, 2, PARTS, "other"))
        for place in ("a", "b"):
            (folder / place).mkdir()
        shutil.move(folder / "1-release", folder / "a" / "o")
        shutil.move(folder / "other-release", folder / "b" / "o")
        plan(folder, 3, ["{change: {mean: x}, by: g, since: a/o}", "{change: {total: y}, since: b/o}"])
        for command in ("check", "release"):
            done = with_memory(command, folder / "3.yaml", *(["--out", folder / "out"] if command == "release" else []), cwd=folder)
            assert done.returncode == REFUSED and "rename one of the folders" in done.stderr, done.stderr
        assert not (folder / "out").exists()
        plan(folder, 3, ["{change: {mean: x}, by: g, since: a/o}", "{change: {total: y}, since: ./a/o}"])
        release(folder, folder / "3.yaml")


@case
def nothing_is_paid_for_the_earlier_wave_and_the_text_says_what_is_assumed():
    with Waves() as (folder, _):
        plan(folder, 2, PARTS, "alone")
        plan(folder, 2, PARTS + CHANGES)
        done = with_memory("release", folder / "2.yaml", "--out", folder / "out", cwd=folder)
        assert done.returncode == OK and "vary in opposite directions" in " ".join(done.stdout.split()), done.stderr
        tables = [json.loads(with_memory("release", p, "--out", folder / f"{p.stem}-t", "--json", "--ledger", folder / f"{p.stem}.l", cwd=folder).stdout)
                  for p in (folder / "alone.yaml", folder / "2.yaml")]
        assert tables[0]["measured_in"] == tables[1]["measured_in"] and tables[0]["spent"] == tables[1]["spent"], tables


@case
def a_third_wave_follows_the_second_although_nobody_asked_for_the_number_itself():
    with Waves() as (folder, _):
        second = release(folder, plan(folder, 2, CHANGES[:1]))
        third = release(folder, plan(folder, 3, ["{change: {mean: x}, by: g, since: 2-release}", "{change: {mean: x}, by: g, since: 1-release}"]))
        for a, b, c in zip(second, third[:2], third[2:]):  # steps add up to the whole way
            assert abs(a["estimate"] + b["estimate"] - c["estimate"]) < 1e-9 * 40, (a, b, c)
        for name in ("2-release", "3-release"):
            verified(folder, name, "the earlier release agrees with the certificate")


@case
def the_preview_foresees_changes():
    for how in ({}, {"design": CLUSTERS, "loss": "epsilon: 30"}):
        with Waves(**how) as (folder, _):
            path = plan(folder, 2, PARTS + CHANGES, **how)
            told = json.loads(tamis("check", path, "--json", cwd=folder).stdout)["statistics"]
            found = release(folder, path)
            for s, r in zip(told[4:], [found[5], *found[7:]], strict=True):
                assert s["statistic"] == "change" and 1 / 2 < s["se"] / r["se"] < 2, (s, r)


@case
def an_estimate_says_that_a_change_is_of_releases():
    with Waves() as (folder, _):
        done = tamis("estimate", plan(folder, 2, ["{mean: x}", CHANGES[0]]), "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        found = json.loads(done.stdout)["results"]
        assert found[0]["estimate"] and all(r["estimate"] is None and "estimate both waves" in r["reason"] for r in found[1:]), found


@case
def what_was_withheld_stays_so():
    with Waves(more="postprocess: {suppress: {units_below: 150}}\n") as (folder, before):
        assert before[0]["estimate"] is None and before[1]["estimate"] is not None, before
        found = release(folder, plan(folder, 2, CHANGES[:1]))
        assert found[0]["estimate"] is None and "no such number" in found[0]["reason"] and found[1]["estimate"] is not None, found
        verified(folder, "2-release", "agrees with the certificate")


WORDS = {
    "{change: {mean: x}}": "expected the key since",
    "{change: {mean: x}, since: 1-release, samples: same}": "independent",
    "{change: {mean: x}, since: ..}": "expected a folder by its name",
    "{change: {mean: x, by: g}, since: 1-release}": "does not belong in change",
    "{change: {mean: x, between: {g: [a, b]}}, since: 1-release}": "does not belong in change",
    "{change: {median: x}, since: 1-release}": "are not compared",
    "{change: {mean: x}, since: 1-release, shrink: yes}": "is not for contrasts",
    "{change: {mean: x}, since: 1-release, overlap: 100}": "size: 500, before: income_before",
    "{change: {mean: x}, since: 1-release, overlap: {size: 100}}": "before: income_before",
    "{change: {mean: x}, since: 1-release, overlap: {size: 100, before: y, of: x}}": "unknown key",
    "{change: {mean: x}, since: 1-release, overlap: {size: 100, before: y}}": "with the range and step of x",
    "{change: {mean: x}, since: 1-release, overlap: {size: 100, before: x}}": "with the range and step of x",
    "{change: {total: x}, since: 1-release, overlap: {size: 100, before: y}}": "is for the change of a mean",
    "{change: {mean: x}, since: 1-release, samples: independent, overlap: {size: 100, before: y}}": "contradicts samples",
    "{mean: x, overlap: {size: 100, before: y}}": "is for change",
    "{change: {mean: x}, since: 1-release, for_change: yes}": "belongs beside the number itself",
    "{mean: x, since: 1-release}": "is for change",
    "{mean: x, samples: independent}": "is for change",
    "{change: {count: units}, since: 1-release}": "is public",
    "{change: {mean: x}, since: nowhere}": "expected the folder of a release",
    "{change: {mean: x}, since: rows1.csv}": "expected the folder of a release",
    "{change: {mean: x}, since: empty}": "expected the folder of a release",
}


@case
def a_plan_that_says_nonsense_is_invalid():
    with Waves() as (folder, _):
        (folder / "empty").mkdir()
        before = (folder / "a.ledger").read_bytes()
        for statistic, words in WORDS.items():
            path = plan(folder, 2, [statistic])
            for done in (tamis("check", path, cwd=folder), with_memory("release", path, "--out", folder / "out", cwd=folder)):
                assert done.returncode == INVALID and words in " ".join(done.stderr.split()), (statistic, done.returncode, done.stderr)
        done = tamis("check", plan(folder, 2, [CHANGES[0], CHANGES[0]]), cwd=folder)
        assert done.returncode == INVALID and "duplicate statistic" in done.stderr, done.stderr
        text = plan(folder, 2, [CHANGES[1]]).read_text().replace("wave: 2", "wave: {name: 2, same_sample: yes}", 1)
        (folder / "2.yaml").write_text(text)
        done = tamis("check", folder / "2.yaml", cwd=folder)
        assert done.returncode == INVALID and "contradicts the wave" in done.stderr, done.stderr
        assert (folder / "a.ledger").read_bytes() == before and not (folder / "out").exists()


def refused(folder, path, words):
    """Both commands refuse, and nothing is charged."""
    before = (folder / "a.ledger").read_bytes()
    for done in (tamis("check", path, cwd=folder), with_memory("release", path, "--out", folder / "out", cwd=folder)):
        assert done.returncode == REFUSED and words in " ".join(done.stderr.split()), (words, done.returncode, done.stderr)
    assert (folder / "a.ledger").read_bytes() == before and not (folder / "out").exists()


@case
def another_range_group_unit_or_wave_is_refused_before_the_charge():
    one = ["{change: {mean: x}, by: g, since: 1-release}"]
    with Waves() as (folder, _):
        refused(folder, plan(folder, 2, one, to=50), "declares a column of it otherwise")
        refused(folder, plan(folder, 2, one, values="b, a"), "declares a column of it otherwise")
        refused(folder, plan(folder, 2, one, values="a, b, c"), "declares a column of it otherwise")
        refused(folder, plan(folder, 2, one, unit="household"), "is of other units")
        refused(folder, plan(folder, 1, one, name="again"), "is of the same survey and wave")
        refused(folder, plan(folder, 2, ["{change: {mean: x}, since: 1-release}"]), "has no such number")
        refused(folder, plan(folder, 2, ["{change: {mean: y}, by: g, since: 1-release}"]), "has no such number")
        refused(folder, plan(folder, 2, ["{change: {mean: x}, by: g, where: {y: {from: 3}}, since: 1-release}"]), "has no such number")
        refused(folder, plan(folder, 2, ["{change: {mean: x}, by: g, since: 1-release, confidence: 0.9}"]), "another confidence")
        release(folder, plan(folder, 2, one))  # which is none of these
    with Waves(more="calibrate: {to: [{count: units, by: g, totals: [1500, 1500]}]}\n") as (folder, _):
        refused(folder, plan(folder, 2, one), "is calibrated")


def rewrite(folder, certificate):
    """The certificate with its own hash made right again."""
    body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
    certificate["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate))


LISTED = "{weights: {cluster: c, psus: psus.csv, population: 3000}, weight: v, max_weight: 10, typical: {sample: 300, cluster: {mean: 5, sd: 1}}}"
GROUPED = ["{mean: x, by: g, for_change: yes}", "{total: y, for_change: yes}"]
SINCE = ["{change: {mean: x}, by: g, since: 1-release}", "{change: {total: y}, since: 1-release}"]


def clusters(folder, wave, labels=range(60)):
    """Clusters of five persons, whose values hardly change between the waves, and the public list of them."""
    lines = ["x,y,g,v,c"]
    for c in range(60):
        seed = 77 + 1000003 * c
        for i in range(5):
            seed = (seed * 1103515245 + 12345) % 2 ** 31
            x = (c * 7 % 23 + (seed >> 8) % 17 + wave * (seed >> 20) % 3) % 41
            lines.append(f"{x},{(c * 5 + i) % 11 if wave < 3 else (c + i) % 7},{'ab'[(seed >> 9) % 2]},10,{c}")
    (folder / f"rows{wave}.csv").write_text("\n".join(lines) + "\n")
    (folder / "psus.csv").write_text("c\n" + "".join(f"{c}\n" for c in labels))


def panel_of_clusters(folder, epsilon, loss=None, first=GROUPED, second=GROUPED):
    for wave, statistics in ((1, first), (2, second + SINCE)):
        clusters(folder, wave)
        plan(folder, wave, statistics, design=LISTED, loss=loss or f"epsilon: {epsilon}", budget="rho: 100000" if loss else "epsilon: 1000000")
    return release(folder, folder / "1.yaml"), release(folder, folder / "2.yaml")


def by_hand(folder, pairs, estimates):
    """The variance of the change of the mean of x in group a, from both files, without noise: over a grid of V, by the normal law."""
    differences = [0.0] * 32
    total = {}
    for sign, wave, r in ((-1, 1, estimates[0]), (1, 2, estimates[1])):
        rows = [line.split(",") for line in (folder / f"rows{wave}.csv").read_text().split()[1:]]
        own = [row for row in rows if row[2] == "a"]
        for row in own:
            total[row[4]] = total.get(row[4], 0) + sign * (int(row[0]) - r) / len(own)
    hashes = {c: int.from_bytes(hashlib.sha256(f"\0{c}".encode()).digest()[:8], "big") for c in map(str, range(60))}

    def pair(own, bit):
        if len(own) < 2:
            return own
        left = [x for side in (0, 1) for x in pair([c for c in own if hashes[c] >> bit & 1 == side], bit - 1)]
        if len(left) < 2:
            return left
        both = sum(hashes[c] for c in left)
        small, large = sorted(left, key=hashes.get)
        differences[both % 32] += (total.get(small, 0) - total.get(large, 0)) * (1 if both >> 5 & 1 else -1)
        return []

    pair(list(hashes), 63)
    apart = estimates[2]
    seen = [(d * d, p / sum(pairs)) for d, p in zip(differences, pairs) if p]
    posterior = []
    for k in range(1, 40):
        V = 0.05 * k * apart
        posterior.append((V, math.log(1 - abs(0.05 * k - 1)) - sum(d / (2 * V * s) + math.log(V * s) / 2 for d, s in seen)))
    most = max(p for _, p in posterior)
    posterior = [(V, math.exp(p - most)) for V, p in posterior]
    low, high = 0, 10 * apart ** 0.5
    for _ in range(80):
        h = (low + high) / 2
        inside = sum(p * math.erf(h / (2 * V) ** 0.5) for V, p in posterior) / sum(p for _, p in posterior)
        low, high = (h, high) if inside < 0.95 else (low, h)
    return h / 1.959963984540054


@case
def clusters_of_both_waves_take_their_covariance_off():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        before, found = panel_of_clusters(folder, 100000)
        certificate = json.loads((folder / "2-release" / "certificate.json").read_text())
        for r, x, y in zip(found[3:], found[:3], before, strict=True):
            plain = (x["sampling_se"] ** 2 + y["sampling_se"] ** 2) ** 0.5
            assert 0.05 ** 0.5 * plain < r["sampling_se"] < 0.8 * plain, (r, plain)
            assert not r.get("notes") and abs(r["estimate"] - (x["estimate"] - y["estimate"])) < 1e-9, r
        wanted = by_hand(folder, certificate["psus"]["pairs"], (before[0]["estimate"], found[0]["estimate"],
                                                               found[0]["sampling_se"] ** 2 + before[0]["sampling_se"] ** 2))
        assert abs(found[3]["sampling_se"] - wanted) < 2e-3 * wanted, (found[3]["sampling_se"], wanted)
        verified(folder, "1-release", "the list of clusters agrees with the certificate")
        verified(folder, "2-release", "the earlier release agrees with the certificate")
        assert "opposite directions" not in (folder / "2-release" / "report.html").read_text()
        told = json.loads((folder / "1-release" / "measurements.json").read_text())
        assert [len(m["values"]) for m in told["measurements"] if m["weighed_by"] == "groups"] == [64, 32]


@case
def groups_have_noise_of_either_law_and_an_account():
    for loss in (None, "rho: 20"):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            before, found = panel_of_clusters(folder, 60, loss)
            for r, x, y in zip(found[3:], found[:3], before, strict=True):
                plain = (x["sampling_se"] ** 2 + y["sampling_se"] ** 2) ** 0.5
                assert 0.05 ** 0.5 * plain < r["sampling_se"] < 1.4 * plain, (r, plain)
            verified(folder, "2-release", "the earlier release agrees with the certificate")
            c = json.loads((folder / "2-release" / "certificate.json").read_text())
            parts = [Fraction(m["rho" if loss else "epsilon"]) for m in c["measurements"]]
            assert sum(parts) == Fraction(20 if loss else 60) and sum(m["weighed_by"] == "groups" for m in c["measurements"]) == 2


@case
def groups_in_one_wave_or_of_another_list_say_what_they_are():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        plain = [s.replace(", for_change: yes", "") for s in GROUPED]
        before, found = panel_of_clusters(folder, 60, first=plain)
        assert all("has no totals of groups" in " ".join(r["notes"]) for r in found[3:]), found
        assert all("pairs" not in e for e in json.loads((folder / "2-release" / "certificate.json").read_text())["earlier"])
        verified(folder, "2-release", "the earlier release agrees with the certificate")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        panel_of_clusters(folder, 60)
        clusters(folder, 3, labels=range(4, 60))
        found = release(folder, plan(folder, 3, GROUPED + SINCE, design=LISTED, loss="epsilon: 60", budget="epsilon: 1000000"))
        assert all("lists of clusters of both waves differ" in " ".join(r["notes"]) for r in found[3:]), found
        verified(folder, "3-release", "the earlier release agrees with the certificate")
        plan(folder, 3, GROUPED + [SINCE[0][:-1] + ", samples: independent}", SINCE[1]], name="4", design=LISTED, loss="epsilon: 61", budget="epsilon: 1000000")
        release(folder, folder / "4.yaml")
        told = json.loads((folder / "4-release" / "certificate.json").read_text())["earlier"]
        assert ["pairs" in e for e in told] == [False, True], told
        verified(folder, "4-release", "the earlier release agrees with the certificate")


@case
def forged_groups_are_found():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        panel_of_clusters(folder, 60)
        right = {name: json.loads((folder / name / "certificate.json").read_text()) for name in ("1-release", "2-release")}

        def wrong(name, change):
            shutil.rmtree(folder / "copy", ignore_errors=True)
            shutil.copytree(folder / name, folder / "copy")
            certificate = json.loads(json.dumps(right[name]))
            change(certificate, folder / "copy")
            rewrite(folder / "copy", certificate)
            assert tamis("verify", folder / "copy").returncode == INVALID and verifier.verify(folder / "copy") != [], change

        def measured(c):
            return next(m for m in c["measurements"] if m["weighed_by"] == "groups")

        def other_values(c, copy):
            told = json.loads((copy / "measurements.json").read_text())
            own = next(m for m in told["measurements"] if m["weighed_by"] == "groups")
            own["values"] = own["values"][:-32]
            (copy / "measurements.json").write_text(json.dumps(told))
            c["files"]["measurements.json"] = hashlib.sha256((copy / "measurements.json").read_bytes()).hexdigest()

        def smaller_steps(c, copy):
            told = json.loads((copy / "measurements.json").read_text())
            own = next(s for s in told["standard_errors"] if s.get("weighed_by") == "groups")
            own["numbers"][0]["divisor"] -= 1
            (copy / "measurements.json").write_text(json.dumps(told))
            c["files"]["measurements.json"] = hashlib.sha256((copy / "measurements.json").read_bytes()).hexdigest()

        wrong("1-release", other_values)
        wrong("1-release", smaller_steps)
        wrong("1-release", lambda c, _: c["psus"].pop("pairs"))
        wrong("1-release", lambda c, _: [t.pop("for_change") for t in c["plan"]["statistics"]])
        wrong("1-release", lambda c, _: c["psus"]["pairs"].__setitem__(0, c["psus"]["pairs"][0] + 1))
        wrong("1-release", lambda c, _: measured(c)["noise"][0].update(scale="1"))
        wrong("1-release", lambda c, _: measured(c).update(weighed_by="psus"))
        wrong("1-release", lambda c, _: c["plan"]["statistics"][0].pop("for_change"))
        wrong("2-release", lambda c, _: c["earlier"][0].pop("pairs"))
        wrong("2-release", lambda c, _: c["earlier"][0]["numbers"][0].pop("groups"))
        wrong("2-release", lambda c, _: c["earlier"][0]["numbers"][0]["groups"].pop())
        wrong("2-release", lambda c, _: c["earlier"][0]["numbers"][0].update(group_scale="-1"))
        wrong("2-release", lambda c, _: c["earlier"][0]["numbers"][0]["groups"].__setitem__(3, "1000"))


@case
def groups_need_a_list_and_numbers_that_changes_are_of():
    wrong = {"{mean: x, for_change: maybe}": (INVALID, "expected yes or no"),
             "{variance: x, for_change: yes}": (INVALID, "is for counts, totals, means, shares and ratios"),
             "{median: x, for_change: yes}": (INVALID, "is for counts, totals, means, shares and ratios"),
             "{difference: {mean: x, between: {g: [a, b]}}, for_change: yes}": (INVALID, "is for counts, totals, means, shares and ratios"),
             "{mean: x, by: {y: [2, 4, 6, 8]}, shrink: yes, for_change: yes}": (INVALID, "without `method` and `shrink`")}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        clusters(folder, 1)
        for statistic, (code, words) in wrong.items():
            done = tamis("check", plan(folder, 1, [statistic], design=LISTED), cwd=folder)
            assert done.returncode == code and words in " ".join(done.stderr.split()), (statistic, done.returncode, done.stderr)
        for design in (SRS, CLUSTERS):
            done = tamis("check", plan(folder, 1, GROUPED, design=design), cwd=folder)
            assert done.returncode == INVALID and "needs a public list of the clusters" in " ".join(done.stderr.split()), done.stderr
        done = tamis("check", plan(folder, 1, GROUPED, design=LISTED, more="calibrate: {to: [{count: units, by: g, totals: [1500, 1500]}]}\n"), cwd=folder)
        assert done.returncode == REFUSED and "results are calibrated" in done.stderr, done.stderr
        (folder / "psus.csv").write_text("c\n1\n")  # a single cluster shows no variance
        done = tamis("check", plan(folder, 1, GROUPED, design=LISTED), cwd=folder)
        assert done.returncode == REFUSED and "is not measured from totals of clusters" in " ".join(done.stderr.split()), done.stderr


@case
def check_says_what_groups_cost_and_bring():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        clusters(folder, 1)
        for epsilon, pays in ((0.5, False), (60, True)):
            path = plan(folder, 1, GROUPED, design=LISTED, loss=f"epsilon: {epsilon}")
            done = tamis("check", path, "--json", cwd=folder)
            told = [s["for_change"] for s in json.loads(done.stdout)["statistics"]]
            assert [t["pays"] for t in told] == [pays] * 2 and 0.02 < sum(t["budget_part"] for t in told) < 0.51, told
            assert all((t["se_of_change"] < 0.98 * t["se_of_change_without"]) == pays for t in told), told
            text = " ".join(tamis("check", path, cwd=folder).stdout.split())
            assert "of the budget is for totals of groups of clusters" in text and ("does not make changes more precise" in text) != pays, text


@case
def a_forged_folder_is_refused():
    path = ["{change: {mean: x}, by: g, since: forged}"]
    with Waves() as (folder, _):
        def forged(change):
            shutil.rmtree(folder / "forged", ignore_errors=True)
            shutil.copytree(folder / "1-release", folder / "forged")
            change(folder / "forged")
            refused(folder, plan(folder, 2, path), "does not verify")

        def other_number(f):
            told = json.loads((f / "release.json").read_text())
            told["results"][0]["estimate"] += 1
            (f / "release.json").write_text(json.dumps(told))

        def other_number_and_hash(f):
            other_number(f)
            certificate = json.loads((f / "certificate.json").read_text())
            certificate["files"]["release.json"] = hashlib.sha256((f / "release.json").read_bytes()).hexdigest()
            rewrite(f, certificate)

        def other_integers(f):
            text = json.loads((f / "measurements.json").read_text())
            text["measurements"][0]["values"][0] += 1000
            (f / "measurements.json").write_text(json.dumps(text))
            certificate = json.loads((f / "certificate.json").read_text())
            certificate["files"]["measurements.json"] = hashlib.sha256((f / "measurements.json").read_bytes()).hexdigest()
            rewrite(f, certificate)

        def less_noise(f):
            certificate = json.loads((f / "certificate.json").read_text())
            certificate["measurements"][0]["noise"][0]["scale"] = "1"
            rewrite(f, certificate)

        for change in (other_number, other_number_and_hash, other_integers, less_noise, lambda f: (f / "release.csv").unlink(),
                       lambda f: (f / "release.json").write_text("{}")):
            forged(change)

        def linked(f):  # a file that leads out of the folder is not opened
            shutil.move(f / "measurements.json", folder / "measurements.json")
            (f / "measurements.json").symlink_to(folder / "measurements.json")

        forged(linked)


@case
def what_a_certificate_says_of_the_earlier_release_is_compared():
    with Waves() as (folder, _):
        release(folder, plan(folder, 2, PARTS + CHANGES))
        right = json.loads((folder / "2-release" / "certificate.json").read_text())

        def wrong(change, field):
            shutil.rmtree(folder / "copy", ignore_errors=True)
            shutil.copytree(folder / "2-release", folder / "copy")
            certificate = json.loads(json.dumps(right))
            change(certificate["earlier"])
            rewrite(folder / "copy", certificate)
            done = tamis("verify", folder / "copy", "--json")
            fields = [p["field"] for p in json.loads(done.stdout)["problems"]]
            assert done.returncode == INVALID and any(field in f for f in fields), (field, fields)
            return verifier.verify(folder / "copy")

        def shifted(e):
            e[0]["numbers"][0]["estimate"] = repr(float(e[0]["numbers"][0]["estimate"]) + 1)

        assert wrong(shifted, "earlier") != []
        assert wrong(lambda e: e[0]["numbers"][0].update(sampling_se="0.001"), "earlier") != []
        assert wrong(lambda e: e[0]["numbers"][0]["noise"].pop(), "earlier") != []
        assert wrong(lambda e: e[0].update(survey="other"), "earlier") != []
        assert wrong(lambda e: e.pop(), "earlier") != []
        assert wrong(lambda e: e[0]["numbers"].pop(), "earlier") != []
        assert wrong(lambda e: e[0]["numbers"][0]["noise"][0].__setitem__(1, "-1"), "earlier") != []
        wrong(lambda e: e[0]["numbers"][0].update(df=-3), "earlier")
        wrong(lambda e: e[0].update(law="none"), "earlier")
        for e in right["earlier"]:
            e["certificate"] = "0" * 64  # that of no folder here: the numbers can be compared with nothing
        rewrite(folder / "2-release", right)
        verified(folder, "2-release", "the earlier release is missing, and was not compared")


main()
