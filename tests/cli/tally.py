"""tamis tally"""
import csv
import io
import json
import itertools
import math
import resource
import tempfile

import anonymised
from kit import *

REPORTS = {"reports.csv": "smoker,region=n,region=s\n" + "1,1,0\n" * 6 + "0,1,0\n" * 4 + "0,0,1\n" * 9 + "1,0,0\n"}

ONE = {"reports.csv": "smoker\n" + "1\n" * 350 + "0\n" * 650}  # the anonymous epsilon of one bit takes no time


def tally(folder, *arguments, files=REPORTS, names=None):
    for name, text in files.items():
        (pathlib.Path(folder) / name).write_text(text)
    return tamis("tally", *arguments, *(names if names is not None else files), cwd=folder)


@case
def json_has_the_shape_of_a_release():
    with tempfile.TemporaryDirectory() as folder:
        done = tally(folder, "--lie", "1/4", "--json")
        one = json.loads(tally(folder, "--lie", "1/4", "--json", files=ONE).stdout)["results"][0]
    assert done.returncode == OK and done.stderr == "", done.stderr
    said = json.loads(done.stdout)
    assert [r["column"] for r in said["results"]] == ["smoker", "region=n", "region=s"]
    for result, ones, reports in zip(said["results"] + [one], (7, 10, 9, 350), (20, 20, 20, 1000)):
        x = ones / reports
        assert result["statistic"] == "share" and abs(result["estimate"] - (x - 0.25) / 0.5) < 1e-12
        assert abs(result["se"] - math.sqrt(x * (1 - x) / reports) / 0.5) < 1e-12
        assert result["interval"]["confidence"] == 0.95
        assert result["interval"]["lower"] < result["estimate"] < result["interval"]["upper"]
    assert abs(one["interval"]["upper"] - one["estimate"] - 1.96 * one["se"]) < 0.2 * one["se"]
    local = said["guarantee"]["local"]["epsilon"]
    assert local["lower"] <= 3 * math.log(3) <= local["upper"] < 3.2959
    anonymous = said["guarantee"]["anonymous"]
    assert 0 <= anonymous["epsilon"]["lower"] <= anonymous["epsilon"]["upper"] <= local["upper"]
    assert anonymous["delta"]["upper"] >= 1e-6


@case
def categories_add_up_and_cost_two_bits():
    with tempfile.TemporaryDirectory() as folder:
        for words in ("region", "region=n,s"):
            done = tally(folder, "--lie", "1/4", "--json", "--categories", words)
            said = json.loads(done.stdout)
            shares = [r["consistent"] for r in said["results"] if "consistent" in r]
            assert len(shares) == 2 and abs(sum(shares) - 1) < 1e-12 and min(shares) >= 0
            assert said["guarantee"]["positions"] == 3
        for words in ("colour", "smoker", "region,region", ""):
            done = tally(folder, "--lie", "1/4", "--categories", words)
            assert done.returncode == INVALID and "categories" in done.stderr, done.stderr


ANSWERS = {  # header: what people can answer, as `tamis randomize` codes it
    "a": [(0,), (1,)],
    "a,b": anonymised.vectors(2),
    "a,a=missing": [(0, 0), (1, 0), (0, 1)],
    "c=x,c=y": [(1, 0), (0, 1)],
    "c=x,c=y,c=missing": anonymised.vectors(3, 1, 1),
    "b,a,a=missing": [(b, *a) for b in (0, 1) for a in ((0, 0), (1, 0), (0, 1))],
    "c=x,a,c=y": [(c, a, 1 - c) for c in (0, 1) for a in (0, 1)],
}


@case
def both_ends_of_the_guarantee_by_the_definition():
    with tempfile.TemporaryDirectory() as folder:
        for (header, answers), (lie, zero), n, table in itertools.product(ANSWERS.items(), (("1/3", "1/7"), ("1/8", "2/5")),
                                                                          (2, 3), (False, True)):
            if n == 3 and (len(answers[0]) == 3 or table):
                continue
            flips = [int(x.split("/")[0]) / int(x.split("/")[1]) for x in (lie, zero)]
            truth = anonymised.Collection(answers, n, anonymised.bits_chance(*flips), anonymised.whole if table else anonymised.counts)
            reports = {"r.csv": header + "\n" + (",".join("0" * len(answers[0])) + "\n") * n}
            for declared in ([], ["--categories", "c"])[:1 + ("c=" in header)]:
                done = tally(folder, "--lie", lie, "--lie-zero", zero, "--delta", "0.05", "--json", *declared, *(["--table"] if table else []),
                             files=reports)
                said = json.loads(done.stdout)["guarantee"]
                where = header, lie, zero, n, table, declared, said, truth.local
                assert truth.holds_local(said["local"]["epsilon"]) and truth.holds_local(said["collector"]["epsilon"]), where
                assert truth.holds_epsilon(said["anonymous"]["epsilon"], 0.05), where
                assert said["anonymous"]["epsilon"]["lower"] > 0 or truth.delta(0) <= 0.3, where


@case
def certificates_of_the_first_bounds_still_verify():
    """tests/data/tally has the certificates of two tables: from before the exchange bound, and from before the words that say where
    too few reports look alike. A new one says which bounds it has."""
    old = TOP / "tests" / "data" / "tally" / "first-bounds.json"
    done = tamis("verify", old)
    assert done.returncode == OK and "epsilon 1.112" in done.stdout, done.stdout
    second = tamis("verify", old.with_name("exchange-bounds.json"))
    assert second.returncode == OK and "publish the counts of the bits alone" in " ".join(second.stdout.split()), second.stdout
    counts = json.loads(old.read_text())["tally"]
    rows = [",".join(str(cell >> i & 1) for i in range(3)) + "\n" for cell, count in enumerate(counts["cells"]) for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        made = tally(folder, "--lie", "1/4", "--table", "--out", "new", files={"reports.csv": "a,b,c\n" + "".join(rows)})
        assert made.returncode == OK, made.stderr
        path = pathlib.Path(folder) / "new" / "certificate.json"
        certificate = json.loads(path.read_text())
        assert certificate["guarantee"]["bounds"] == 3 and certificate["guarantee"]["anonymous_epsilon"]["upper"] < 0.9
        assert tamis("verify", path.parent).returncode == OK
        for bounds in (1, 4):
            path.write_text(path.read_text().replace('"bounds": 3', f'"bounds": {bounds}'))
            assert tamis("verify", path.parent).returncode != OK
            path.write_text(path.read_text().replace(f'"bounds": {bounds}', '"bounds": 3'))


@case
def tables_with_little_anonymity_say_so():
    """With fewer than reports (2 lie)^bits = 20 the words say so on the screen, in JSON and on the page; the certificate verifies."""
    def words(rows, *options):
        with tempfile.TemporaryDirectory() as folder:
            files = {"reports.csv": "a,b,c\n" + "1,0,1\n" * rows}
            made = tally(folder, "--lie", "1/4", *options, "--out", "new", files=files)
            assert made.returncode == OK, made.stderr
            new = pathlib.Path(folder) / "new"
            assert tamis("verify", new).returncode == OK
            told = [w for w in json.loads((new / "release.json").read_text())["in_words"] if "look alike" in w]
            for text in (made.stdout, tamis("verify", new).stdout):
                assert all(w in " ".join(text.split()) for w in told), text
            assert ("look alike" in (new / "report.html").read_text()) == bool(told)
            return told

    (few,) = words(159, "--table")
    assert "adds little" in few and "at least 20" in few and "(about 160)" in few and "without --table" in few, few
    assert not words(160, "--table") and not words(159)
    (none,) = words(3, "--table")
    assert "(about 160)" in none


@case
def tables_for_people_and_spreadsheets():
    with tempfile.TemporaryDirectory() as folder:
        done = tally(folder, "--lie", "1/4", "--lie-zero", "1/8", files=ONE)
        assert done.returncode == OK and "95 % interval" in done.stdout and "Trusting nobody" in done.stdout
        assert all(len(line) <= 79 for line in done.stdout.splitlines())
        rows = list(csv.DictReader(io.StringIO(tally(folder, "--lie", "1/4", "--lie-zero", "1/8", "--csv", files=ONE).stdout)))
        assert [row["column"] for row in rows] == ["smoker"]
        assert abs(float(rows[0]["estimate"]) - (0.35 - 0.125) / 0.625) < 1e-12 and rows[0]["ones"] == "350"


@case
def whole_reports():
    with tempfile.TemporaryDirectory() as folder:
        table = json.loads(tally(folder, "--lie", "1/4", "--table", "--json").stdout)["table"]
    assert table["columns"] == ["smoker", "region=n", "region=s"] and len(table["cells"]) == 8
    assert {c["bits"]: c["reports"] for c in table["cells"] if c["reports"]} == {"110": 6, "010": 4, "001": 9, "100": 1}
    assert abs(sum(c["estimate"] for c in table["cells"]) - 1) < 1e-12
    assert abs(sum(c["estimate"] for c in table["cells"] if c["bits"][0] == "1") - 0.2) < 1e-12
    assert len(table["covariance"]) == 8 and abs(table["covariance"][3][3] - table["cells"][3]["se"] ** 2) < 1e-15


@case
def whole_reports_for_people():
    """All of a few answers, the largest first; the sixteen largest of many, and what is left."""
    many = {"reports.csv": ",".join("abcdefgh") + "\n" + "".join(",".join(f"{i * 37 % 256:08b}") + "\n" for i in range(200))}
    with tempfile.TemporaryDirectory() as folder:
        few, of_many = (tally(folder, "--lie", "1/4", "--table", files=files) for files in (REPORTS, many))
        table = json.loads(tally(folder, "--lie", "1/4", "--table", "--json").stdout)["table"]
    rows = re.findall(r"^([01]{3}) +(\d+) +(-?[\d.]+) +([\d.]+) +([\d.]+)$", few.stdout, re.M)
    assert few.returncode == OK and "in this order: smoker, region=n, region=s." in few.stdout, few
    assert {row[0]: row[1] for row in rows} == {c["bits"]: str(c["reports"]) for c in table["cells"]}, few.stdout
    assert [float(row[4]) for row in rows] == sorted((float(row[4]) for row in rows), reverse=True)
    for row in rows:
        cell = next(c for c in table["cells"] if c["bits"] == row[0])
        for shown, exact in zip(row[2:], (cell["estimate"], cell["se"], cell["consistent"])):
            assert abs(float(shown) - exact) <= 0.5001 * 10 ** -len(shown.partition(".")[2]), (row, cell)
    assert len(re.findall(r"^[01]{8} ", of_many.stdout, re.M)) <= 16 and re.search(r"The other \d+ answers together: 0\.", of_many.stdout)
    assert all(len(line) <= 79 for line in (few.stdout + of_many.stdout).splitlines())


@case
def an_estimate_outside_the_possible_range_is_marked():
    with tempfile.TemporaryDirectory() as folder:
        done = tally(folder, "--lie", "1/4", files={"reports.csv": "smoker,drinker\n" + "1,0\n" * 25 + "1,1\n" * 25})
    assert re.search(r"^smoker +50 +1\.5\d* +[\d.]+ +[\d.]+ to 1\.\d+ \*$", done.stdout, re.M), done.stdout
    assert re.search(r"^drinker .* to [\d.]+$", done.stdout, re.M) and "* this estimate is outside" in done.stdout, done.stdout


@case
def the_questionnaire_states_the_epsilon_that_its_command_prints():
    text = (TOP / "examples" / "questionnaire" / "README.md").read_text()
    page = (TOP / "examples" / "questionnaire" / "index.html").read_text()
    words = re.search(r"    tamis tally (.*) reports.packed", text)[1].split()
    bits = ["ill", "ill=missing", "medicine", "medicine=missing"] + [f"place={p}" for p in ("office", "workshop", "outdoors", "missing")]
    assert 'ill: ["1"], medicine: ["1"], place: ["office", "workshop", "outdoors"]' in page and 'one: "3/8"' in page
    with tempfile.TemporaryDirectory() as folder:
        files = {"reports.csv": ",".join(["client", *bits]) + "\n" + "".join(f"c{i}" + ",1" * 8 + "\n" for i in range(9))}
        done = tally(folder, *words, "--lie", "3/8", files=files)
    assert done.returncode == OK and re.search(r"epsilon ([\d.]+), delta 0", done.stdout)[1] == re.search(r"person is\s+([\d.]+):", text)[1], done


@case
def tallies_are_added_up():
    with tempfile.TemporaryDirectory() as folder:
        assert tally(folder, "--lie", "1/4", "--save", "a.tally", files=ONE).returncode == OK
        assert tally(folder, "--lie", "1/4", "--save", "b.tally", files=ONE, names=["reports.csv", "reports.csv"]).returncode == OK
        assert tally(folder, "--lie", "1/4", "--save", "b.tally", files=ONE).returncode == USAGE  # it exists
        said = json.loads(tally(folder, "--json", files=ONE, names=["a.tally", "b.tally"]).stdout)
        assert said["reports"] == 3000 and said["lie"] == "1/4"
        assert abs(said["results"][0]["estimate"] - 0.2) < 1e-12
        done = tally(folder, files=ONE, names=["a.tally", "a.tally"])
        assert done.returncode == INVALID and "added already" in done.stderr
        done = tally(folder, "--lie", "1/8", files=ONE, names=["a.tally"])
        assert done.returncode == INVALID and "other lie probabilities" in done.stderr
        saved = (pathlib.Path(folder) / "a.tally").read_text()
        (pathlib.Path(folder) / "c.tally").write_text(saved.replace("350", "351"))
        done = tally(folder, files=ONE, names=["c.tally"])
        assert done.returncode == INVALID and "was changed" in done.stderr


@case
def clients_count_once():
    text = "who,a\nx,1\ny,0\nx,0\n"
    with tempfile.TemporaryDirectory() as folder:
        done = tally(folder, "--lie", "1/4", "--id", "who", files={"r.csv": text})
        assert done.returncode == INVALID and "r.csv: line 4" in done.stderr
        done = tally(folder, "--lie", "1/4", "--id", "who", "--duplicates", "once", "--json", names=["r.csv"])
        said = json.loads(done.stdout)
        assert said["reports"] == 2 and said["repeated"] == 1 and said["results"][0]["ones"] == 1
        done = tally(folder, "--lie", "1/4", "--id", "who", "--duplicates", "once", "--out", "o", names=["r.csv"])
        assert done.returncode == OK and tamis("verify", "o", cwd=folder).returncode == OK
        assert tally(folder, "--lie", "1/4", "--duplicates", "once", names=["r.csv"]).returncode == USAGE


@case
def shuffled_reports_have_no_ids():
    text = "who,a,b\n" + "".join(f"client{i},{i % 2},{i % 3 % 2}\n" for i in range(24))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("s.csv", "s.packed"):
            done = tally(folder, "--lie", "1/4", "--id", "who", "--shuffle", name, "--json", files={"r.csv": text})
            assert done.returncode == OK and "client" not in (pathlib.Path(folder) / name).read_bytes().decode("latin-1")
            again = tally(folder, "--lie", "1/4", "--json", names=[name])
            assert json.loads(again.stdout)["results"] == json.loads(done.stdout)["results"]
        lines = (pathlib.Path(folder) / "s.csv").read_text().splitlines()
        assert sorted(lines[1:]) == sorted(line.split(",", 1)[1] for line in text.splitlines()[1:])
        assert lines[1:] != [line.split(",", 1)[1] for line in text.splitlines()[1:]]  # by chance with probability 2e-12


@case
def fewer_reports_than_promised():
    with tempfile.TemporaryDirectory() as folder:
        done = tally(folder, "--lie", "1/4", "--promised", "5000", "--json", files=ONE)
        said = json.loads(done.stdout)
        assert done.returncode == OK and any("5000 reports were promised" in w for w in said["warnings"])
        assert not json.loads(tally(folder, "--lie", "1/4", "--promised", "1000", "--json", files=ONE).stdout)["warnings"]


@case
def bad_input():
    cases = [
        ("a,b\n0,1\n0\n", "line 3"),
        ("a,b\n0,1\n0,1,1\n", "line 3"),
        ("a,b\n0,1\n0,9\n", "line 3"),
        ("a,b\n0,1\n0,\n", "line 3"),
        ("", "bad.csv"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for text, words in cases:
            done = tally(folder, "--lie", "1/4", "--save", "x.tally", "--shuffle", "x.csv", files={"bad.csv": text})
            assert done.returncode == INVALID and "bad.csv" in done.stderr and words in done.stderr, (text, done.stderr)
            assert "9" not in done.stderr and sorted(os.listdir(folder)) == ["bad.csv"]
        done = tally(folder, "--lie", "1/4", "--json", files={"bad.csv": "a\n2\n"})
        assert json.loads(done.stdout)["line"] == 2 and json.loads(done.stdout)["file"] == "bad.csv"
        assert tally(folder, "--lie", "1/4", names=["missing.csv"]).returncode == INVALID
        assert tally(folder, names=["bad.csv"]).returncode == INVALID
        for lie in ("0", "1/2", "3/4", "-1/4", "x"):
            done = tally(folder, "--lie", lie, files={"r.csv": "a\n1\n"})
            assert done.returncode == USAGE and "--lie" in done.stderr, (lie, done.stderr)
        done = tally(folder, "--lie", "1/4", files={"a.csv": "a\n1\n", "b.csv": "b\n1\n"})
        assert done.returncode == INVALID and "b.csv" in done.stderr
        done = tally(folder, "--lie", "1/4", "--shuffle", "s.packed", files={"r.csv": "a,b\n1,0\n"})
        whole = (pathlib.Path(folder) / "s.packed").read_bytes()
        for length in range(8, len(whole)):
            (pathlib.Path(folder) / "cut").write_bytes(whole[:length])
            if length % 7 == 0 or length > len(whole) - 10:
                done = tally(folder, names=["cut"])
                assert done.returncode == INVALID and "cut" in done.stderr
        for two in (("--save", "x", "--shuffle", "x"), ("--out", "x", "--save", "x")):
            done = tally(folder, "--lie", "1/4", *two, files={"r.csv": "a\n1\n"})
            assert done.returncode == USAGE and not (pathlib.Path(folder) / "x").exists(), done.stderr
        done = tally(folder, "--population", "1", "--lie", "1/4", files={"r.csv": "a\n1\n0\n"})
        assert done.returncode == INVALID and "population" in done.stderr


@case
def weights_and_a_population():
    text = "a,w\n" + "1,2\n" * 300 + "0,1\n" * 400
    with tempfile.TemporaryDirectory() as folder:
        result = json.loads(tally(folder, "--lie", "1/4", "--weight", "w", "--json", files={"r.csv": text}).stdout)["results"][0]
        assert abs(result["estimate"] - (0.6 - 0.25) / 0.5) < 1e-12 and "reporters" not in result
        assert abs(result["noise_sd"] - math.sqrt(0.75 * 1600) / 1000) < 1e-12
        plain = "a\n" + "1\n" * 400 + "0\n" * 600
        ends = []
        for options in ([], ["--population", "100000"], ["--population", "2000"], ["--population", "1000"]):
            said = json.loads(tally(folder, "--lie", "1/4", "--json", *options, files={"p.csv": plain}).stdout)
            interval = said["results"][0]["interval"]
            ends.append(interval["upper"] - interval["lower"])
        assert ends[0] * 1.02 > ends[1] > ends[2] > ends[3]


def book(folder, *arguments):
    return json.loads(tamis("ledger", "show", "a.ledger", "--json", cwd=folder).stdout)["accounts"][0]


@case
def a_folder_that_can_be_verified():
    with tempfile.TemporaryDirectory() as folder:
        assert tamis("key", "create", "k", cwd=folder).returncode == OK
        done = tally(folder, "--lie", "1/4", "--out", "o", "--sign", "k.key", "--json", files=ONE)
        assert done.returncode == OK, done.stderr
        out = pathlib.Path(folder) / "o"
        assert sorted(os.listdir(out)) == ["certificate.json", "certificate.sig", "release.csv", "release.json", "report.html"]
        assert json.loads((out / "release.json").read_text()) == json.loads(done.stdout)
        assert "<h1>" in (out / "report.html").read_text()
        for path in ("o", "o/certificate.json"):
            done = tamis("verify", path, "--key", "k.pub", "--json", cwd=folder)
            assert done.returncode == OK and json.loads(done.stdout) == {"ok": True, "problems": [], "signature": "right"}, done.stdout
        assert "signature is right" in tamis("verify", "o", "--key", "k.pub", cwd=folder).stdout
        assert tally(folder, "--lie", "1/4", "--out", "o", files=ONE).returncode == USAGE  # it exists
        whole = {name: (out / name).read_bytes() for name in os.listdir(out)}
        changes = [("release.json", b"0.2,", b"0.3,"), ("release.csv", b"350", b"351"), ("report.html", b"0.2", b"0.3"),
                   ("certificate.json", b"350", b"351"), ("certificate.json", b'"19/20"', b'"9/10"'),
                   ("certificate.json", b'"positions": 1', b'"positions": 0'), ("certificate.json", b'"1/4"', b'"1/5"')]
        for name, old, new in changes:
            assert old in whole[name], (name, old)
            (out / name).write_bytes(whole[name].replace(old, new, 1))
            done = tamis("verify", "o", "--json", cwd=folder)
            assert done.returncode == INVALID and json.loads(done.stdout)["problems"], (name, done.stdout)
            (out / name).write_bytes(whole[name])
        os.remove(out / "release.csv")
        assert tamis("verify", "o", cwd=folder).returncode == INVALID
        assert tamis("verify", "o/certificate.json", cwd=folder).returncode == OK


@case
def the_guarantee_is_computed_once():
    """It is most of the time of a tally: with a folder, a ledger and a saved file the same as without. The shortest of three runs."""
    def seconds(*options):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            done = tally(folder, "--lie", "1/4", *options)
        assert done.returncode == OK, done.stderr
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime
    plain = min(seconds() for _ in range(3))
    out = min(seconds("--out", "o", "--ledger", "a.ledger", "--survey", "s", "--budget", "9", "--save", "counts.json") for _ in range(3))
    assert out < 1.6 * plain + 0.1, (out, plain)


@case
def an_account_is_charged_once_for_the_same_reports():
    with tempfile.TemporaryDirectory() as folder:
        account = ("--ledger", "a.ledger", "--survey", "smokers")
        assert tally(folder, "--lie", "1/4", *account, "--budget", "2", files=ONE).returncode == OK
        assert abs(book(folder)["spent"]["epsilon"]["upper"] - math.log(3)) < 1e-9
        done = tally(folder, "--lie", "1/4", "--out", "o", *account, files=ONE)  # the same reports, or others with the same sum?
        assert done.returncode == REFUSED and "--repeat" in done.stderr and done.stdout == "", done.stderr
        assert len(book(folder)["entries"]) == 1 and not (pathlib.Path(folder) / "o").exists()
        assert tally(folder, "--lie", "1/4", *account, "--repeat", "free", files=ONE).returncode == OK
        assert len(book(folder)["entries"]) == 1
        done = tally(folder, "--lie", "1/4", *account, "--repeat", "charged", files=ONE)
        assert done.returncode == REFUSED and "budget" in done.stderr
        assert tally(folder, "--lie", "1/4", "--repeat", "free", files=ONE).returncode == USAGE
        assert tally(folder, "--lie", "1/4", *account, "--repeat", "free", "--out", "o", files=ONE).returncode == OK
        done = tamis("ledger", "verify", "a.ledger", "--against", "o", cwd=folder)
        assert done.returncode == OK, done.stdout
        certificate = pathlib.Path(folder) / "o" / "certificate.json"
        whole = certificate.read_text()
        for old, new in (('"survey": "smokers"', '"survey": "others"'), ('"entry": 2', '"entry": 3'), ('"hash": "', '"hash": "0')):
            assert old in whole
            certificate.write_text(whole.replace(old, new))
            assert tamis("ledger", "verify", "a.ledger", "--against", "o", cwd=folder).returncode == INVALID, old
        shutil.rmtree(pathlib.Path(folder) / "o")
        done = tally(folder, "--lie", "1/4", "--out", "o", *account, files=ONE, names=["reports.csv", "reports.csv"])
        assert done.returncode == REFUSED and done.stdout == "" and not (pathlib.Path(folder) / "o").exists()
        assert tally(folder, "--lie", "1/4", "--ledger", "a.ledger").returncode == USAGE
        assert tally(folder, "--lie", "1/4", "--budget", "5").returncode == USAGE
        assert tally(folder, "--lie", "1/4", "--sign", "k.key").returncode == USAGE


@case
def a_full_disk_behind_stdout_is_told_with_the_charge():
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
        account = ("--lie", "1/4", "--ledger", "a.ledger", "--survey", "smokers", "--budget", "9")
        (pathlib.Path(folder) / "reports.csv").write_text(ONE["reports.csv"])
        done = tamis("tally", *account, "reports.csv", cwd=folder, stdout=full)
        assert done.returncode == SYSTEM and "epsilon" in done.stderr and "(entry 2 of a.ledger) was charged" in done.stderr, done.stderr
        assert "--repeat free" in done.stderr and tally(folder, *account, "--repeat", "free", files=ONE).returncode == OK
        assert len(book(folder)["entries"]) == 1


@case
def engines_count_the_same():
    text = "a,b,note\n" + "1,0,x\n" * 30 + "0,1,y\n" * 50 + "1,1,z\n" * 20
    with tempfile.TemporaryDirectory() as folder:
        plain = json.loads(tally(folder, "--lie", "1/4", "--json", files={"p.csv": "a,b\n" + "1,0\n" * 30 + "0,1\n" * 50 + "1,1\n" * 20}).stdout)
        for engine in ["memory"] + ["duckdb"] * HAS_DUCKDB:
            said = tally(folder, "--lie", "1/4", "--json", "--engine", engine, "--columns", "a,b", files={"r.csv": text})
            assert said.returncode == OK and json.loads(said.stdout)["results"] == plain["results"], (engine, said.stderr)
            done = tally(folder, "--lie", "1/4", "--engine", engine, "--columns", "a", files={"bad.csv": "a\n1\n0\n7\n"})
            assert done.returncode == INVALID and "neither 0 nor 1" in done.stderr and "7" not in done.stderr
        assert tally(folder, "--lie", "1/4", "--engine", "memory", names=["r.csv"]).returncode == USAGE
        assert tally(folder, "--lie", "1/4", "--columns", "a", names=["r.csv"]).returncode == USAGE
        assert tally(folder, "--engine", "memory", "--columns", "a", names=["r.csv"]).returncode == USAGE


main()
