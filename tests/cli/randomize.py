"""tamis randomize"""
import csv
import io
import json
import struct

from kit import *

ANSWERS = "smoker,region,age\nyes,north,44\nNo,south,\nTRUE,east,7\n"
REGIONS = ("--columns", "smoker,region", "--categories", "region=north,south,east")


def randomize(*arguments, answers=ANSWERS, **options):
    return tamis("randomize", *arguments, input=answers, **options)


@case
def keeps_the_header():
    done = randomize("--lie", "1/4", answers="a,b\n1,0\nyes,no\ntrue,false\n")
    lines = done.stdout.splitlines()
    assert done.returncode == OK and lines[0] == "a,b" and len(lines) == 4
    assert all(line in ("0,0", "0,1", "1,0", "1,1") for line in lines[1:])
    assert done.stderr == "tamis: 3 reports of 2 bits; local epsilon 2.19723 per person, for each report\n"  # 2 log 3
    assert randomize("--lie", "1/4", "--quiet", answers="a\n1\n").stderr == ""


@case
def codes_categories():
    done = randomize("--lie", "1/1000000000000000000000", *REGIONS)
    assert done.stdout == "smoker,region=north,region=south,region=east\n1,1,0,0\n0,0,1,0\n1,0,0,1\n"
    assert "1 columns of the file were left out" not in done.stderr and "1 column of the file was left out" in done.stderr
    missing = randomize("--lie", "1/1000000000000000000000", "--missing", "bit", answers="a,b\n,1\n1,\n")
    assert missing.stdout == "a,a=missing,b,b=missing\n0,1,1,0\n1,0,0,1\n"


@case
def reads_and_writes_files():
    with folder_with_plan() as folder:
        out = folder / "reports.csv"
        done = tamis("randomize", folder / "apisrs.csv", "--lie", "1/4", "--columns", "awards", "--id", "cds", "--out", out, "--json")
        told = json.loads(done.stdout)
        assert done.returncode == OK and told["reports"] == 200 and told["bits"] == 1
        assert told["guarantee"]["local"]["lower"] <= 1.0986122886681098 <= told["guarantee"]["local"]["upper"]
        rows = list(csv.DictReader(open(out)))
        assert [row["cds"] for row in rows] == [row["cds"] for row in csv.DictReader(open(folder / "apisrs.csv"))]
        before = out.read_bytes()
        is_usage_error(tamis("randomize", folder / "apisrs.csv", "--lie", "1/4", "--columns", "awards", "--out", out), "exists")
        assert out.read_bytes() == before


@case
def packs():
    done = randomize("--lie", "1/4", *REGIONS, "--packed", text=False, answers=ANSWERS.encode())
    size = struct.unpack_from("<I", done.stdout, 12)[0]
    assert done.returncode == OK and done.stdout.startswith(b"\x89tmk\r\n\x1a\n") and len(done.stdout) == size + 8 + 8 + 16
    assert struct.unpack("<II", done.stdout[size:size + 8]) == (3, 0) and done.stdout.endswith(struct.pack("<IIQ", 0, 0, 3))


BAD = [  # answers, arguments, exit code, what is said
    ("a,b\n1,0\n1\n", (), INVALID, "standard input: line 3: 1 cells, but the header has 2 columns"),
    ("a,b\n1,0,secret\n", (), INVALID, "line 2: 3 cells"),
    ("a\nsecret\n", (), INVALID, "line 2: column a: must be"),
    ("a,b\n1,\n", (), INVALID, "line 2: column b: the answer is missing"),
    ("a\n1\nsecret\n", ("--packed",), INVALID, "line 3"),
    ("r\nsecret\n", ("--categories", "r=x,y"), INVALID, "line 2: column r: not one of its 2 categories"),
    ("a\n\"secret\n", (), INVALID, "never closed"),
    ("", (), INVALID, "empty"),
    ("a,a\n1,1\n", (), INVALID, "column 2 has the same name as another column"),
    ("a\n1\n", ("--columns", "b"), INVALID, "no column b"),
    ("a\n1\n", ("--id", "b"), INVALID, "no id column b"),
    ("a,b\n1,\n", ("--id", "b"), INVALID, "the id is missing"),
    ("a\n1\n", ("--categories", "b=x,y"), INVALID, "no column b"),
    ("a\n1\n", ("--categories", "a=x"), INVALID, "at least two"),
    ("a\n1\n", ("--categories", "a"), USAGE, "--categories"),
    ("a\n1\n", ("--categories", "a=x,,y"), USAGE, "--categories"),
    ("a\n1\n", ("--columns", "a,,b"), USAGE, "--columns"),
    ("a\n1\n", ("--memo", "file"), USAGE, "--id"),
    ("a\n1\n", ("--json",), USAGE, "--out"),
]


@case
def bad_input_is_refused():
    for answers, arguments, code, says in BAD:
        done = randomize("--lie", "1/4", *arguments, answers=answers)
        assert done.returncode == code, (answers, arguments, done)
        assert says in done.stderr and "secret" not in done.stderr, done.stderr
        if "--json" not in arguments:
            assert done.stdout == "", done.stdout


@case
def lies_outside_their_range_are_wrong_usage():
    for lie in ("0", "1/2", "3/4", "1", "-1/4", "abc", "1/0", ""):
        is_usage_error(randomize("--lie", lie), "lie")
    for zero in ("0", "3/4", "1", "x"):
        is_usage_error(randomize("--lie", "1/4", "--lie-zero", zero), "lie")
    assert randomize("--lie", "3/4", "--lie-zero", "1/5", answers="a\n1\n").returncode == OK


@case
def an_error_leaves_no_file():
    with tempfile.TemporaryDirectory() as folder:
        for packed in ((), ("--packed",)):
            rows = "a\n" + "1\n" * 70000 + "2\n"  # the error is behind the first block
            done = randomize("--lie", "1/4", *packed, "--out", f"{folder}/reports", answers=rows)
            assert done.returncode == INVALID and "line 70002" in done.stderr and os.listdir(folder) == []
        is_usage_error(randomize("--lie", "1/4", "--out", f"{folder}/no/reports"), "")


@case
def a_reader_that_goes_away_is_no_error():
    done = shell("(echo a; yes 1 | head -n 300000) | tamis randomize --lie 1/4 | head -n 1")
    assert done.stdout == "a\n" and done.stderr == "", done


@case
def permanent_lies_repeat():
    with tempfile.TemporaryDirectory() as folder:
        secret = f"{folder}/secret"
        answers = "id,a\n" + "".join(f"{i},{i % 2}\n" for i in range(300))
        waves = [randomize("--lie", "1/3", "--id", "id", "--memo", secret, answers=answers) for _ in range(2)]
        assert waves[0].returncode == OK and waves[0].stdout == waves[1].stdout != answers
        assert "for all waves" in waves[0].stderr and os.stat(secret).st_mode & 0o777 == 0o600
        other = randomize("--lie", "1/3", "--id", "id", "--memo", f"{folder}/other", answers=answers)
        assert other.stdout != waves[0].stdout
        os.chmod(secret, 0o644)
        assert randomize("--lie", "1/3", "--id", "id", "--memo", secret, answers=answers).returncode == INVALID


def far_from(counts, expected):
    """Chi-square beyond its quantile at 10^-10 for 7 degrees of freedom, which is 61.5."""
    return sum((k - e) ** 2 / e for k, e in zip(counts, expected)) > 61.5


@case
def reports_have_their_distribution():
    """Three bits of 60,000 people with the answers 1, 0, 1; both forms, dyadic and other lies. Four tests at 10^-10 each."""
    n = 60000
    for one, zero in (("1/4", "3/16"), ("1/3", "1/7")):
        p, q = (int(a) / int(b) for a, b in (text.split("/") for text in (one, zero)))
        expected = [n * (1 - p if k & 1 else p) * (q if k & 2 else 1 - q) * (1 - p if k & 4 else p) for k in range(8)]
        answers = "a,b,c\n" + "1,0,1\n" * n
        text = randomize("--lie", one, "--lie-zero", zero, answers=answers).stdout
        counts = [0] * 8
        for a, b, c in list(csv.reader(io.StringIO(text)))[1:]:
            counts[int(a) + 2 * int(b) + 4 * int(c)] += 1
        assert sum(counts) == n and not far_from(counts, expected), (one, counts)
        packed = randomize("--lie", one, "--lie-zero", zero, "--packed", text=False, answers=answers.encode()).stdout
        block = packed[struct.unpack_from("<I", packed, 12)[0] + 8:-16]
        counts = [0] * 8
        for byte in block:
            counts[byte & 15] += 1
            counts[byte >> 4] += 1
        assert sum(counts) == n and not far_from(counts, expected), (one, counts)


main()
