"""tamis compute: lines in, lines out. What is computed is tested in tests/compute/."""
import json
import math
import re
import subprocess
import threading
import xml.etree.ElementTree

from kit import *

GOOD = '{"id": "%s", "area": "amplification", "kind": "forward", "in": {"N": 100, "n": 1, "eps": "5", "delta": "0"}}'


def compute(text, **options):
    done = tamis("compute", input=text, **options)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@case
def each_line_is_answered_in_order():
    done, answers = compute("".join(GOOD % i + "\n" for i in range(200)))
    assert done.returncode == OK and done.stderr == ""
    assert [a["id"] for a in answers] == [str(i) for i in range(200)]
    assert all(list(a) == ["id", "out"] for a in answers)


@case
def an_empty_input_is_answered_by_nothing():
    done, answers = compute("")
    assert done.returncode == OK and answers == [] and done.stderr == ""


@case
def a_last_line_needs_no_newline():
    done, answers = compute(GOOD % "a" + "\n" + GOOD % "b")
    assert done.returncode == OK and [a["id"] for a in answers] == ["a", "b"]


@case
def a_bad_line_does_not_harm_the_others():
    for bad, code in (("", "invalid"), ("{", "invalid"), ("null", "invalid"), ("NaN", "invalid"), ("[]" * 9, "invalid"),
                      ('{"id": "x", "area": "alchemy", "kind": "gold", "in": {}}', "unknown"),
                      ('{"id": "x", "area": "amplification", "kind": "gold", "in": {}}', "unknown"),
                      ('{"id": "x", "area": "amplification", "kind": "forward", "in": {}}', "invalid")):
        done, answers = compute(GOOD % "a" + "\n" + bad + "\n" + GOOD % "b" + "\n")
        assert done.returncode == INVALID and len(answers) == 3, (bad, done)
        assert "out" in answers[0] and "out" in answers[2]
        assert list(answers[1]) == ["id", "error"] and answers[1]["error"]["code"] == code, answers[1]
        assert done.stderr == ""


@case
def bytes_that_are_no_text_are_an_error_of_their_line():
    done = tamis("compute", input=b"\xff\xfe\0\n" + (GOOD % "a").encode() + b"\n", text=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == INVALID and "error" in answers[0] and answers[1]["id"] == "a"


@case
def a_line_of_100_MB_is_refused_in_little_memory():
    line = b'{"id": "' + b"x" * 100_000_000 + b'"}\n'
    script = "import resource, subprocess, sys; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n" \
             "p = subprocess.run([sys.argv[1], 'compute'], stdin=sys.stdin.buffer, stdout=subprocess.PIPE)\n" \
             "print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n" \
             "print(p.stdout.decode())"
    done = subprocess.run([sys.executable, "-c", script, TAMIS], input=line + (GOOD % "a").encode(), env=environment(),
                          capture_output=True, timeout=300)
    first, *answers = done.stdout.decode().splitlines()
    code, kilobytes = map(int, first.split())
    answers = [json.loads(a) for a in answers if a]
    assert code == INVALID and answers[0]["id"] is None and answers[0]["error"]["code"] == "invalid"
    assert answers[1]["id"] == "a" and "out" in answers[1]
    assert kilobytes < 300_000, kilobytes  # a sanitizer's own memory included


@case
def each_answer_is_flushed():
    process = subprocess.Popen([TAMIS, "compute"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    for i in range(3):
        process.stdin.write((GOOD % i + "\n").encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == str(i)  # while stdin is still open
    process.stdin.close()
    assert process.wait() == OK
    watchdog.cancel()


@case
def a_directory_as_input_is_a_system_error():
    done = shell("tamis compute < /")
    assert done.returncode == SYSTEM and done.stderr.startswith("tamis: "), done


@case
def a_full_disk_is_a_system_error():
    with open("/dev/full", "w") as full:
        done = tamis("compute", input=GOOD % "a" + "\n", stdout=full)
    assert done.returncode == SYSTEM and done.stderr.startswith("tamis: cannot write to stdout"), done


DOCUMENT = (TOP / "docs" / "compute.md").read_text()
QUESTIONS = [json.loads(line) for block in re.findall(r"```json\n(.*?)```", DOCUMENT, re.S) for line in block.splitlines()]


def names_told(**question):
    """The names that stand in the message about an unknown one."""
    _, answers = compute(json.dumps({"id": "", "in": {}, **question}) + "\n")
    return set(answers[0]["error"]["message"].split("one of ")[1].split(", "))


def keys(value):
    """Of objects inside objects and lists; an enclosure has none."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = set(value) - {"lower", "upper"} if isinstance(value, dict) else set()
    return own.union(*map(keys, inside))


@case
def the_questions_of_the_document_are_answered():
    done, answers = compute("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    assert done.returncode == OK and len(answers) == len(QUESTIONS), [a for a in answers if "error" in a]
    for question, answer in zip(QUESTIONS, answers):
        section = DOCUMENT.split(f"\n## {question['area']}\n")[1].split("\n## ")[0]
        if "design" in question["in"]:
            section += DOCUMENT.split("\n### Designs\n")[1].split("\n## ")[0]
        missing = [k for k in keys(question["in"]) | keys(answer["out"]) if f"`{k}`" not in section]
        assert not missing and answer["id"] == question["id"], (question, missing)


@case
def the_document_has_every_area_kind_and_design():
    asked = {(q["area"], q["kind"]) for q in QUESTIONS}
    areas = names_told(area="")
    assert asked == {(area, kind) for area in areas for kind in names_told(area=area, kind="")}
    _, answers = compute('{"id": "", "area": "inclusion", "kind": "first", "in": {"design": {"x": {}}}}\n')
    designs = set(answers[0]["error"]["message"].split("one of ")[1].split(", "))
    assert designs == {k for q in QUESTIONS if q["area"] == "inclusion" for k in q["in"]["design"]}


@case
def the_example_of_the_paper_runs():
    def table(name):
        header, *rows = [line.split(",") for line in (pathlib.Path(folder) / name).read_text().splitlines()]
        return [dict(zip(header, row)) for row in rows]

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["sh", TOP / "examples" / "ht" / "curves.sh", folder], check=True, env=environment(TAMIS=TAMIS))
        curves = {(row["noise"], float(row["eps"])): float(row["delta"]) for row in table("delta.csv")}
        pure = {int(row["sample"]): float(row["eps"]) for row in table("pure.csv")}
        scales = [(row["noise"], float(row["eps"]), float(row["scale"])) for row in table("scale.csv")]
        json.loads((pathlib.Path(folder) / "delta.json").read_text())
        assert (pathlib.Path(folder) / "delta.svg").read_text().startswith("<svg")
    for noise in {noise for noise, _ in curves}:
        deltas = [curves[key] for key in sorted(curves) if key[0] == noise]
        assert deltas == sorted(deltas, reverse=True) and 1e-3 < deltas[0] < 200 / 6194 and deltas[-1] == 0, (noise, deltas)
    assert all(curves[key] <= curves["none", key[1]] for key in curves), curves
    for n, eps in pure.items():  # Result 9, with k = 400
        assert eps == math.inf if n > 400 else abs(eps / math.log(401 / (401 - n)) - 1) < 1e-12, (n, eps)
    assert len(scales) == 12 and any(scale == 0 for *_, scale in scales) and all(scale < 1000 for *_, scale in scales), scales


@case
def figure_5_1_of_settings_is_drawn():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["sh", TOP / "examples" / "settings" / "figure-5-1.sh", folder], check=True, env=environment(TAMIS=TAMIS))
        header, *rows = (pathlib.Path(folder) / "figure-5-1.csv").read_text().splitlines()
        example = (pathlib.Path(folder) / "example.csv").read_text()
        picture = xml.etree.ElementTree.parse(pathlib.Path(folder) / "figure-5-1.svg").getroot()
    assert example == "first,second,naive,right\n0.16,0.49,0.65,1.07\n", example
    assert header == "eps,naive,right" and len(rows) == 13
    for eps, naive, right in (map(float, row.split(",")) for row in rows):
        assert abs(naive - 2 * math.log1p(0.1 * math.expm1(eps))) < 1e-6
        assert abs(right - math.log1p(0.1 * math.expm1(2 * eps))) < 1e-6
    assert len([e for e in picture if e.tag.endswith("polyline")]) == 2


@case
def operands_are_refused():
    is_usage_error(tamis("compute", "a.jsonl", "b.jsonl"), "unexpected argument")


main()
