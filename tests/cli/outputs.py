#!/usr/bin/python3
"""release.xlsx and release.sdmx.csv: the numbers of release.json for spreadsheets and for exchange, with labels, units, quality
flags and what was withheld; the same bytes whenever they are made again."""
import csv
import hashlib
import json
import pathlib
import sys
import tempfile
import warnings
import zipfile

import openpyxl
from openpyxl.utils.escape import unescape

from kit import HERE, INVALID, OK, case, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

warnings.simplefilter("error")  # openpyxl warns of what it had to guess

PLAN = """tamis: 1
survey: "2026: the survey & <co>"
title: 'A "title" with =1+1 and _x0041_ and é'
wave: 2026
source: {file: sample.csv}
design: {srs: {population: 1000, sample: 240}}
privacy: {unit: person, epsilon: 8}
columns:
  x: {from: 0, to: 60, step: 1, label: 'Income <weekly>', unit_of_measure: euro}
  g: {values: [a, "=2+2", 'with "quotes", and commas'], label: 'Group & kind'}
  status: {values: ["yes", "no"]}
statistics:
  - {count: units, by: g}
  - {mean: x, by: [g, status], label: 'a/b: [c]*? far too long for the name of a sheet'}
  - {share: {status: "yes"}}
  - {quantile: x, at: [0.25, 0.5], by: {x: [20]}}
  - {difference: {mean: x, between: {status: ["yes", "no"]}}}
budget: {epsilon: 99}
"""


def released(place, more="", old="", new="", out="out"):
    """A folder of a release; of the third group there is nobody."""
    folder = pathlib.Path(place)
    rows = [f"{i % 50},{'a' if i % 40 else '=2+2'},{'no' if i % 3 else 'yes'}" for i in range(240)]
    (folder / "sample.csv").write_text("x,g,status\n" + "\n".join(rows) + "\n")
    assert old in PLAN
    (folder / "plan.yaml").write_text(PLAN.replace(old, new, 1) + more if old else PLAN + more)
    done = tamis("release", "plan.yaml", "--out", out, cwd=folder)
    assert done.returncode == OK, done.stderr
    assert "release.xlsx" in done.stdout and "release.sdmx.csv" in done.stdout
    return folder / out


def results(out):
    return json.loads((out / "release.json").read_text())["results"]


def exchanged(out):
    with open(out / "release.sdmx.csv", newline="") as file:
        return list(csv.DictReader(file))


def sheets(out):
    """The rows of each sheet below its headings, by their names."""
    book = openpyxl.load_workbook(out / "release.xlsx")
    found = {}
    for sheet in book.worksheets[1:]:
        rows = list(sheet.iter_rows(values_only=True))
        found[sheet.title] = [dict(zip(rows[2], row)) for row in rows[3:]]
    return book, found


@case
def the_spreadsheet_has_the_numbers_and_the_labels():
    with tempfile.TemporaryDirectory() as place:
        out = released(place)
        book, found = sheets(out)
        assert list(found) == ["1 count", "2 a b   c    far too long for t", "3 share status=yes", "4 quantile x", "5 difference x"], list(found)
        told = results(out)
        assert sum(map(len, found.values())) == len(told)
        keys = {"Estimate": "estimate", "Standard error": "se", "Sampling error": "sampling_se", "Noise": "noise_sd", "CV": "cv", "df": "df"}
        for row, r in zip((row for rows in found.values() for row in rows), told):
            for name, key in keys.items():
                assert row.get(name) == r[key], (name, row, r)
            for end in "lower", "upper":
                assert row.get(f"{end.title()} limit") == (r["interval"] or {}).get(end), (row, r)
        values = ["a", "=2+2", 'with "quotes", and commas']
        assert [row["Group & kind"] for row in found["1 count"]] == values
        cell = book["1 count"]["A5"]
        assert cell.value == "=2+2" and cell.data_type in ("s", "inlineStr"), cell.data_type  # a text, no formula
        about = [row[0] for row in book["About"].iter_rows(values_only=True)]
        assert unescape(about[0]) == 'A "title" with =1+1 and _x0041_ and é' and "wave 2026" in about[1], about
        assert any("epsilon 8" in line for line in about if line) and any("use with caution" in line for line in about if line)
        assert book.worksheets[2]["A1"].value.startswith("a/b: [c]*?") and "(euro)" in book.worksheets[2]["A1"].value
        assert "0.25" in str([row["At"] for row in found["4 quantile x"]])


@case
def the_exchange_file_has_them_too():
    with tempfile.TemporaryDirectory() as place:
        out = released(place)
        rows, told = exchanged(out), results(out)
        assert len(rows) == len(told)
        for row, r in zip(rows, told):
            assert (row["OBS_VALUE"] == "") == (r["estimate"] is None) and (not row["OBS_VALUE"] or float(row["OBS_VALUE"]) == r["estimate"])
            assert row["STATISTIC"] == r["statistic"] and row["TIME_PERIOD"] == "2026"
            assert row["STRUCTURE_ID"] == "TAMIS:X_2026__THE_SURVEY____CO_(1.0)" and row["STRUCTURE"] == "dataflow" and row["ACTION"] == "I"
            assert row["G"] == r["group"].get("g", "_T") and row["STATUS"] == r["group"].get("status", "_T")
            assert row["QUANTILE"] == ("_Z" if "at" not in r else repr(r["at"])) and row["DOMAIN"] == "_T"
            assert row["OBS_STATUS"] in "AUO" and row["CONF_STATUS"] == "F"
        assert [row["UNIT_MEASURE"] for row in rows if row["STATISTIC"] == "count"] == ["person"] * 3
        assert {row["UNIT_MEASURE"] for row in rows if row["STATISTIC"] in ("mean", "quantile")} == {"euro"}
        assert {row["UNIT_MEASURE"] for row in rows if row["STATISTIC"] == "share"} == {"PURE_NUMB"}
        empty = [r for r in rows if r["STATISTIC"] == "mean" and r["G"].startswith("with")]
        assert all(r["OBS_STATUS"] in "UO" for r in empty), empty


@case
def the_plan_sets_the_rules_of_quality():
    with tempfile.TemporaryDirectory() as place:
        more = ("postprocess: {caution: {cv_above: 0.000001, units_below: 20}, unreliable: {cv_above: 1000, units_below: 2}, "
                "suppress: {units_below: 1}}\n")
        out = released(place, more, old="epsilon: 8", new="epsilon: 80")  # next to no noise
        _, found = sheets(out)
        flags = [row.get("Quality") for row in found["1 count"]]
        assert flags == ["E", "E", None], flags  # 234 persons by their cv, 6 by their number, and nobody: withheld
        means = list(found.values())[1]
        withheld = [row for row in means if row["Estimate"] is None]
        assert withheld and all("Notes" in row and row["Notes"] for row in withheld), means
        rows = exchanged(out)
        assert {row["OBS_STATUS"] for row in rows} <= set("AUQO") and any(row["OBS_STATUS"] == "Q" and row["CONF_STATUS"] == "N" for row in rows)
        report = (out / "report.html").read_text()
        assert "is above 0.0001 %, or the group may have fewer than 20 sampled units" in report
        assert tamis("verify", out).returncode == OK and verifier.verify(out) == []


@case
def bytes_follow_and_edits_are_found():
    with tempfile.TemporaryDirectory() as place:
        out = released(place)
        certificate = out / "certificate.json"
        text = certificate.read_text()
        with zipfile.ZipFile(out / "release.xlsx") as book:
            assert book.testzip() is None and all(i.date_time == (1980, 1, 1, 0, 0, 0) for i in book.infolist())
        for name in "release.xlsx", "release.sdmx.csv":
            kept = (out / name).read_bytes()
            assert kept.count(b"euro") > 0
            (out / name).write_bytes(kept.replace(b"euro", b"yuan", 1))
            done = tamis("verify", out)
            assert done.returncode == INVALID and f"files.{name}" in done.stdout, done.stdout
            assert any(f"files.{name}" in p for p in verifier.verify(out))
            forged = json.loads(text)
            forged["files"][name] = hashlib.sha256((out / name).read_bytes()).hexdigest()
            certificate.write_text(json.dumps(hashed(forged)))
            done = tamis("verify", out)
            assert done.returncode == INVALID and "not what follows from the other files" in done.stdout, done.stdout
            (out / name).unlink()
            certificate.write_text(text)
            assert f"files.{name}" in tamis("verify", out).stdout
            (out / name).write_bytes(kept)
        assert tamis("verify", out).returncode == OK


def hashed(certificate):
    body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
    return {**certificate, "hash": hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()}


@case
def certificates_of_before_name_neither():
    with tempfile.TemporaryDirectory() as place:
        out = released(place)
        before = json.loads((out / "certificate.json").read_text())
        for name in "release.xlsx", "release.sdmx.csv":
            del before["files"][name]
        (out / "certificate.json").write_text(json.dumps(hashed(before)))
        done = tamis("verify", out)
        assert done.returncode == OK and "also in the folder" in done.stdout, done.stdout
        for name in "release.xlsx", "release.sdmx.csv":
            (out / name).unlink()
        done = tamis("verify", out, "--json")
        assert done.returncode == OK and set(json.loads(done.stdout)["files"]) == verifier.FILES
        assert verifier.verify(out) == []
        del before["files"]["release.csv"]
        (out / "certificate.json").write_text(json.dumps(hashed(before)))
        assert tamis("verify", out).returncode == INVALID


@case
def many_statistics_share_a_sheet():
    with tempfile.TemporaryDirectory() as place:
        many = "".join(f"  - {{share: {{x: {{from: {i}}}}}, by: g}}\n" for i in range(1, 61))
        out = released(place, old="budget:", new=many + "budget:")
        book, found = sheets(out)
        assert book.sheetnames == ["About", "Results"] and len(found["Results"]) == len(results(out))
        assert book["Results"].auto_filter.ref.startswith("A3:")
        row = found["Results"][-1]
        assert row["Statistic"] == "share" and row["Of"] == results(out)[-1]["column"] and row["g"] == 'with "quotes", and commas', row


main()
