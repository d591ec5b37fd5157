"""tamis draw"""
import csv
import json
import re
import signal
import tempfile
import time

from kit import *

API_ROWS = list(csv.DictReader(open(API / "apisrs.csv", newline="")))


def draw(folder, *arguments, frame=API / "apisrs.csv", out="s.csv"):
    done = tamis("draw", frame, *arguments, "--out", pathlib.Path(folder) / out)
    if done.returncode != OK:
        return done, []
    return done, list(csv.DictReader(open(pathlib.Path(folder) / out, newline="")))


def frame_of(folder, text):
    path = pathlib.Path(folder) / "frame.csv"
    path.write_text(text)
    return path


DESIGNS = [
    ("srs", ["--sample", "20"], 20),
    ("systematic", ["--sample", "20"], 20),
    ("systematic_random", ["--sample", "2e1"], 20),
    ("bernoulli", ["--rate", "1/2"], None),
    ("poisson", ["--size", "enroll", "--sample", "20"], None),
    ("systematic", ["--size", "enroll", "--sample", "20"], 20),
    ("systematic_random", ["--size", "enroll", "--sample", "20"], 20),
    ("pivotal", ["--size", "enroll", "--sample", "20"], 20),
    ("pivotal_random", ["--size", "enroll", "--sample", "20"], 20),
    ("conditional_poisson", ["--size", "enroll", "--sample", "20"], 20),
    ("sampford", ["--size", "enroll", "--sample", "20"], 20),
    ("brewer", ["--size", "enroll", "--sample", "20"], 20),
    ("tille", ["--size", "enroll", "--sample", "20"], 20),
]


@case
def every_design_keeps_the_rows_of_the_frame():
    total = sum(float(row["enroll"]) for row in API_ROWS)
    place = {row["cds"]: i for i, row in enumerate(API_ROWS)}
    for name, options, size in DESIGNS:
        with tempfile.TemporaryDirectory() as folder:
            done, rows = draw(folder, "--design", name, *options)
            assert done.returncode == OK and done.stderr == "", (name, done.stderr)
            assert os.listdir(folder) == ["s.csv"]
        assert len(rows) == size if size else 0 < len(rows) < 200, name
        at = [place[row["cds"]] for row in rows]
        assert at == sorted(set(at)), name
        for row in rows:
            pi, weight = float(row.pop("inclusion_probability")), float(row.pop("weight"))
            assert row == API_ROWS[place[row["cds"]]], name
            wanted = 20 * float(row["enroll"]) / total if "--size" in options else 0.5 if size is None else 0.1
            assert abs(pi - wanted) < 1e-12 and abs(weight * pi - 1) < 1e-12, (name, pi, wanted)


@case
def strata_are_drawn_by_themselves():
    with tempfile.TemporaryDirectory() as folder:
        done, rows = draw(folder, "--design", "srs", "--strata", "stype", "--sample", "5", "--json")
        assert json.loads(done.stdout) == {"population": 200, "sample": 15, "strata": 3}
        for kind in "EMH":
            units = sum(row["stype"] == kind for row in API_ROWS)
            drawn = [row for row in rows if row["stype"] == kind]
            assert len(drawn) == 5 and all(abs(float(row["weight"]) - units / 5) < 1e-9 for row in drawn)
        done, rows = draw(folder, "--design", "bernoulli", "--strata", "stype,yr.rnd", "--rate", "1", out="t.csv")
        assert done.returncode == INVALID and "column yr.rnd, row 1: empty" in done.stderr, done.stderr
        done, rows = draw(folder, "--design", "bernoulli", "--strata", "stype,awards", "--rate", "1", out="u.csv")
        assert [{k: row[k] for k in API_ROWS[0]} for row in rows] == API_ROWS


def counts(rows, column):
    found = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


@case
def with_replacement_a_row_is_a_draw():
    with tempfile.TemporaryDirectory() as folder:
        done, rows = draw(folder, "--design", "srs_with_replacement", "--sample", "300")
        assert len(rows) == 300 and len(counts(rows, "cds")) < 200, done.stderr
        for row in rows:
            assert abs(float(row["inclusion_probability"]) - (1 - (199 / 200) ** 300)) < 1e-12
            assert abs(float(row["weight"]) - 200 / 300) < 1e-12
        done, rows = draw(folder, "--design", "srs_with_replacement", "--strata", "stype", "--sample", "5", out="t.csv")
        for kind, drawn in counts(rows, "stype").items():
            units = sum(row["stype"] == kind for row in API_ROWS)
            assert len(drawn) == 5 and all(abs(float(row["weight"]) - units / 5) < 1e-9 for row in drawn)


@case
def clusters_are_drawn_whole():
    whole = counts(API_ROWS, "cname")
    with tempfile.TemporaryDirectory() as folder:
        done, rows = draw(folder, "--design", "srs", "--cluster", "cname", "--sample", "6", "--json")
        told = json.loads(done.stdout)
        assert told == {"population": 200, "sample": len(rows), "strata": 1, "clusters": len(whole), "clusters_drawn": 6}
        drawn = counts(rows, "cname")
        assert len(drawn) == 6
        for name, units in drawn.items():
            assert [row["cds"] for row in units] == [row["cds"] for row in whole[name]]
            assert all(abs(float(row["weight"]) - len(whole) / 6) < 1e-9 for row in units)
        done, rows = draw(folder, "--design", "bernoulli", "--cluster", "stype,cname", "--rate", "1", out="t.csv")
        assert [{k: row[k] for k in API_ROWS[0]} for row in rows] == API_ROWS  # the frame's order, whatever the clusters


@case
def two_stages_take_some_of_each_drawn_cluster():
    whole = counts(API_ROWS, "cname")
    with tempfile.TemporaryDirectory() as folder:
        done, rows = draw(folder, "--design", "srs", "--cluster", "cname", "--sample", "8", "--within", "2")
        drawn = counts(rows, "cname")
        assert len(drawn) == 8, done.stderr
        for name, units in drawn.items():
            size = len(whole[name])
            assert len(units) == min(2, size)
            assert all(abs(float(row["weight"]) - len(whole) / 8 * size / min(2, size)) < 1e-9 for row in units)
            assert all(abs(float(row["cluster_probability"]) - 8 / len(whole)) < 1e-12 for row in units)
            assert all(int(row["cluster_size"]) == size for row in units)
        done, rows = draw(folder, "--design", "srs", "--cluster", "stype", "--sample", "3", "--within", "7", "--within-systematic",
                          out="k.csv")
        order = {row["cds"]: i for name, units in counts(API_ROWS, "stype").items() for i, row in enumerate(units)}
        for name, units in counts(rows, "stype").items():  # of N rows, one is in each of seven pieces of length N/7
            places, size = [order[row["cds"]] for row in units], len(counts(API_ROWS, "stype")[name])
            gaps = {b - a for a, b in zip(places, places[1:])}
            assert len(places) == 7 and gaps <= {size // 7, size // 7 + 1}, places
        done, rows = draw(folder, "--design", "srs", "--cluster", "cname", "--sample", "20", "--within-rate", "1/3", out="b.csv")
        taken = sum(len(whole[name]) for name in counts(rows, "cname"))
        assert 0 < len(counts(rows, "cname")) <= 20 and 0 < len(rows) < taken, done.stderr
        for row in rows:
            assert abs(float(row["weight"]) - len(whole) / 20 * 3) < 1e-9 and abs(float(row["cluster_probability"]) - 20 / len(whole)) < 1e-12
        done, rows = draw(folder, "--design", "srs", "--cluster", "cname", "--sample", "5", "--within-rate", "1", out="c.csv")
        assert len(counts(rows, "cname")) == 5 and all(len(units) == len(whole[name]) for name, units in counts(rows, "cname").items())
        for wrong in (["--cluster", "cname", "--within-rate", "0"], ["--cluster", "cname", "--within-rate", "3/2"], ["--within-rate", "1/2"],
                      ["--cluster", "cname", "--within-rate", "x"], ["--cluster", "cname", "--within-rate", "1/2", "--within", "2"]):
            done, _ = draw(folder, "--design", "srs", "--sample", "3", *wrong, out="w.csv")
            assert done.returncode == USAGE and "within-rate" in done.stderr, done.stderr
        done, _ = draw(folder, "--design", "srs", "--cluster", "cname", "--sample", "3", "--within-systematic", out="u.csv")
        assert done.returncode == USAGE and "--within" in done.stderr, done.stderr
        # sizes and allocations by columns; labels of clusters count inside a stratum: 2 strata of 3 clusters of 4 units
        text = "h,n,c,x,m\n" + "".join(f"{h},{h + 1},{c},{c + 1},{c + 1}\n" for h in (0, 1) for _ in range(4) for c in range(3))
        done, rows = draw(folder, "--design", "sampford", "--strata", "h", "--allocation", "n", "--cluster", "c", "--size", "x",
                          "--within", "m", frame=frame_of(folder, text), out="t.csv")
        assert len(rows) > 0, done.stderr
        for h, of in counts(rows, "h").items():
            clusters = counts(of, "c")
            assert len(clusters) == int(h) + 1
            for c, units in clusters.items():
                first = min(1, (int(h) + 1) * (int(c) + 1) / 6) if (h, c) != ("1", "2") else 1
                assert len(units) == int(c) + 1
                assert abs(float(units[0]["inclusion_probability"]) - first * (int(c) + 1) / 4) < 1e-12, (h, c, units[0])


@case
def an_allocation_is_a_column():
    with tempfile.TemporaryDirectory() as folder:
        frame = frame_of(folder, "h,n,x\n" + "".join(f"{'ab'[i % 2]},{1 + 2 * (i % 2)},{i + 1}\n" for i in range(10)))
        for more in (["--design", "srs"], ["--design", "pivotal", "--size", "x"]):
            done, rows = draw(folder, *more, "--strata", "h", "--allocation", "n", frame=frame, out=more[1])
            assert sorted(row["h"] for row in rows) == list("abbb"), done.stderr


@case
def probabilities_are_exact_and_certain_units_are_in():
    with tempfile.TemporaryDirectory() as folder:
        frame = frame_of(folder, 'p,"a ""b"", c"\n1,"x, ""y"""\n1/3,\n 1/3 ,"two\nlines"\n1/3, z\n')
        for k in range(12):
            done, rows = draw(folder, "--design", "sampford", "--probability", "p", frame=frame, out=f"{k}")
            assert len(rows) == 2 and rows[0]['a "b", c'] == 'x, "y"' and rows[0]["weight"] == "1", done.stderr
            assert rows[1]['a "b", c'] in ("", "two\nlines", " z") and abs(float(rows[1]["weight"]) - 3) < 1e-12


@case
def every_unit_comes_as_often_as_it_should():
    with tempfile.TemporaryDirectory() as folder:  # 4000 strata, one of two units each: the law without 4000 calls
        frame = frame_of(folder, "h,x,u\n" + "".join(f"{i},1,a\n" for i in range(4000)) + "".join(f"{i},3,b\n" for i in range(4000)))
        done, rows = draw(folder, "--design", "pivotal", "--size", "x", "--strata", "h", "--sample", "1", frame=frame)
        assert len(rows) == 4000
        assert abs(sum(row["u"] == "b" for row in rows) - 3000) < 7 * 27.4  # seven standard deviations


@case
def bad_frames_are_named():
    bad = [
        ("", ["srs", "--sample", "1"], ""),
        ("x\n", ["srs", "--sample", "1"], "no rows"),
        ("x\n1\n2\n", ["srs", "--sample", "3"], "--sample: 3 units, but there are only 2"),
        ("x\n1\n2\n", ["pivotal", "--sample", "1", "--size", "y"], "size: the frame has no column y"),
        ("turnover\n1\n2\n", ["pivotal", "--sample", "1", "--size", "turnovr"],
         "size: the frame has no column turnovr; did you mean turnover?"),
        ("region\na\nb\n", ["srs", "--sample", "1", "--strata", "Region"],
         "strata: the frame has no column Region; did you mean region?"),
        ("x\n1\n0\n", ["pivotal", "--sample", "1", "--size", "x"], "column x, row 2: must be positive"),
        ("x\n1\nabc\n", ["pivotal", "--sample", "1", "--size", "x"], "column x, row 2: not a number"),
        ("x,y\n1,1\n,1\n", ["pivotal", "--sample", "1", "--size", "x"], "column x, row 2: empty"),
        ("x\n0.5\n0.4\n", ["pivotal", "--probability", "x"], "sum"),
        ("x\n0.5\n1.5\n", ["poisson", "--probability", "x"], "column x, row 2: a probability is at most 1"),
        ("1,2\n3,4\n", ["srs", "--sample", "1"], "the first line contains numbers"),
        ("a;b\n1;2\n", ["srs", "--sample", "1"], "separate columns by commas"),
        ("weight\n1\n", ["srs", "--sample", "1"], "already has a column weight"),
        ("h,n\na,1\na,2\n", ["srs", "--strata", "h", "--allocation", "n"], "column n, row 2: differs"),
        ("h,n\na,1\nb,2\n", ["srs", "--strata", "h", "--allocation", "n"], "the stratum of row 2: --sample: 2 units"),
        ("h,n\na,0.5\n", ["srs", "--strata", "h", "--allocation", "n"], "whole number"),
        ("h\na,b\n", ["srs", "--sample", "1"], "line 2"),
        ("c,x\na,1\na,2\n", ["sampford", "--cluster", "c", "--size", "x", "--sample", "1"], "column x, row 2: differs"),
        ("c,m\na,1\na,2\n", ["srs", "--cluster", "c", "--within", "m", "--sample", "1"], "column m, row 2: differs"),
        ("c,m\na,1/2\n", ["srs", "--cluster", "c", "--within", "m", "--sample", "1"], "column m, row 1: must be a whole"),
        ("c,x\na,1\n,2\n", ["srs", "--cluster", "c", "--sample", "1"], "column c, row 2: empty"),
        ("c\na\na\n", ["srs", "--cluster", "c", "--sample", "2"], "--sample: 2 clusters, but there are only 1"),
        ("c\na\n", ["srs", "--cluster", "d", "--sample", "1"], "cluster: the frame has no column d"),
        ("c\na\n", ["srs", "--cluster", "c", "--within", "d", "--sample", "1"], "within: the frame has no column d"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for text, options, words in bad:
            done, _ = draw(folder, "--design", *options, frame=frame_of(folder, text))
            assert done.returncode == INVALID and words in done.stderr and done.stdout == "", (text, done.stderr)
            assert os.listdir(folder) == ["frame.csv"]
        assert draw(folder, "--design", "srs", "--sample", "1", frame="nowhere.csv")[0].returncode == INVALID


@case
def wrong_usage_is_named():
    with tempfile.TemporaryDirectory() as folder:
        for options, words in ((["srs"], "--sample"), (["srs", "--sample", "0"], "--sample"),
                               (["srs", "--sample", "1.5"], "--sample"), (["srs", "--sample", "-3"], "--sample"),
                               (["srs", "--sample", "9" * 30], "--sample"), (["srs", "--sample", "x"], "--sample"),
                               (["bernoulli"], "--rate"), (["bernoulli", "--rate", "x"], "--rate"),
                               (["bernoulli", "--rate", "0"], "--rate: must be above 0"),
                               (["bernoulli", "--rate", "1.2"], "--rate: must be above 0 and at most 1"),
                               (["srs", "--sample", "3", "--within", "2"], "--within"),
                               (["srs", "--sample", "3", "--cluster", "cname", "--within", "1/2"], "--within"),
                               (["srs_with_replacement", "--sample", "3", "--cluster", "cname"], "--cluster"),
                               (["best", "--sample", "3"], "--design"), (["sampford", "--sample", "3"], "--probability")):
            is_usage_error(draw(folder, "--design", *options)[0], words)
        assert os.listdir(folder) == []


MUCH = "x\n" + "".join(f"{100 + i * 7919 % 2000}\n" for i in range(150000))


@case
def a_bar_moves_on_a_terminal():
    with tempfile.TemporaryDirectory() as folder:
        frame_of(folder, MUCH)
        line = ["draw", "frame.csv", "--design", "conditional_poisson", "--size", "x", "--sample", "100", "--out"]
        code, text = on_terminal([*line, "s.csv"], cwd=folder)
        assert code == OK and len(set(re.findall(r"(\d+) %", text))) >= 3, text[-2000:]
        assert "\r\033[K100 of 150000" in text
        code, text = on_terminal([*line, "quiet.csv", "--quiet"], cwd=folder)
        assert code == OK and "%" not in text


@case
def ctrl_c_stops_and_leaves_nothing():
    """Should the signal come too late, because this process was asleep: once more."""
    for design, phase in (("brewer", "%"), ("conditional_poisson", "%"), ("conditional_poisson", "")):
        for _ in range(20):
            with tempfile.TemporaryDirectory() as folder:
                frame_of(folder, MUCH)
                sent = []

                def interrupt(process, text):
                    if phase in text and not sent:
                        sent.append(phase)
                        process.send_signal(signal.SIGINT)

                code, text = on_terminal(["draw", "frame.csv", "--design", design, "--size", "x", "--sample", "1000", "--out",
                                          "s.csv"], act=interrupt, cwd=folder, LSAN_OPTIONS=CANCELLED)
                if code == OK:
                    continue
                assert sent and code in (SYSTEM, -signal.SIGINT), (design, code, text[-500:])
                assert os.listdir(folder) == ["frame.csv"], os.listdir(folder)
                break
        else:
            raise AssertionError(f"{design} was never stopped")


@case
def nothing_is_written_over():
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder) / "s.csv"
        there.write_text("mine")
        done, _ = draw(folder, "--design", "srs", "--sample", "2")
        is_usage_error(done, "s.csv already exists")
        assert there.read_text() == "mine"
        is_usage_error(draw(folder, "--design", "srs", "--sample", "2", out="none/s.csv")[0], "there is no folder")
        assert os.listdir(folder) == ["s.csv"]


main()
