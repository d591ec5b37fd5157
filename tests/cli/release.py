"""tamis release, tamis estimate: from the plan to the output folder. Engines are tested elsewhere."""
import csv
import json
import re
import signal

from kit import *

LONG = bool(os.environ.get("TAMIS_TEST_LONG"))

FILES = {"release.json", "release.csv", "release.sdmx.csv", "release.xlsx", "measurements.json", "certificate.json", "registry.yaml",
         "report.html"}


@case
def a_release_writes_its_folder_and_prints_the_table():
    with folder_with_plan() as folder:
        before = set(os.listdir(folder))
        done = tamis("release", "plan.yaml", cwd=folder)
        assert done.returncode == OK and done.stderr == "", done.stderr
        assert set(os.listdir(folder)) - before == {"plan-release", "tamis.ledger"}
        assert FILES == set(os.listdir(folder / "plan-release"))
        assert "plan-release" in done.stdout and "epsilon" in done.stdout and "entry 2 of the" in done.stdout
        assert all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
        results = json.loads((folder / "plan-release" / "release.json").read_text())["results"]
        with open(folder / "plan-release" / "release.csv", newline="") as file:
            assert len(list(csv.reader(file))) == len(results) + 1


@case
def json_on_stdout_is_release_json():
    with folder_with_plan() as folder:
        done = tamis("release", "plan.yaml", "--json", "--out", "here", cwd=folder)
        assert done.returncode == OK, done.stderr
        told = json.loads(done.stdout)
        assert told == json.loads((folder / "here" / "release.json").read_text())
        assert told["protected"] is True and told["guarantee"]["sample"]["epsilon"]["upper"] > 0
        assert done.stderr.splitlines()[1:] == ["tamis: the release is in here"] and "New ledger: tamis.ledger; " in done.stderr
        quiet = tamis("release", "plan.yaml", "--json", "--quiet", "--out", "there", cwd=folder)
        assert quiet.returncode == OK and quiet.stderr == ""


def numbers(folder):
    return json.loads((folder / "measurements.json").read_text())["measurements"]


@case
def the_same_again_costs_nothing_and_fresh_noise_does():
    with folder_with_plan() as folder:
        plan = folder / "plan.yaml"
        told = [json.loads(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "a", cwd=folder).stdout)]
        text = plan.read_text()
        plan.write_text("# another order\n" + re.sub(r"(statistics:\n)(  - count: units\n)(.*)(budget:)", r"\1\3\2\4", text, flags=re.S))
        told.append(json.loads(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "b", cwd=folder).stdout))
        assert [t["ledger"]["repeated"] for t in told] == [False, True] and told[0]["ledger"]["entry"] == told[1]["ledger"]["entry"]
        assert {m["name"]: m["values"] for m in numbers(folder / "a")} == {m["name"]: m["values"] for m in numbers(folder / "b")}
        assert [t["spent"]["epsilon"]["upper"] for t in told] == [6, 6] and told[1]["left"]["epsilon"]["lower"] == 6
        before = tamis("check", "plan.yaml", "--json", cwd=folder)
        assert json.loads(before.stdout)["left"]["epsilon"]["lower"] == 6
        fresh = json.loads(tamis("release", "plan.yaml", "--again", "--json", "--quiet", "--out", "c", cwd=folder).stdout)
        assert fresh["spent"]["epsilon"]["upper"] == 12 and not fresh["ledger"]["repeated"]
        assert numbers(folder / "a") != numbers(folder / "c")
        (folder / "apisrs.csv").unlink()  # a refusal reads nothing
        refused = tamis("release", "plan.yaml", "--again", "--out", "d", cwd=folder)
        assert refused.returncode == REFUSED and not (folder / "d").exists(), refused


@case
def what_only_shares_its_names_is_not_the_same_release():
    with folder_with_plan() as folder:
        plan = folder / "plan.yaml"
        head = re.sub(r"statistics:.*", "", plan.read_text().replace("epsilon: 6", "epsilon: 100"), flags=re.S)
        cuts = "statistics:\n" + "".join(f"  - count: units\n    by: {{enroll: [0, {cut}, 3000]}}\n" for cut in (300, 1000))
        tail = "budget: {epsilon: 700}\n"
        first = head + cuts + tail
        types = head + "statistics:\n  - count: units\n    by: stype\n" + tail
        plans = [first, first, first.replace(" 300,", " 500,"), first.replace("to: 4000", "to: 4000, missing_codes: [99]"),
                 types, types.replace("[E, M, H]", "[H, M, E]")]
        repeated = []
        for i, text in enumerate(plans):
            plan.write_text(text)
            done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", str(i), cwd=folder)
            assert done.returncode == OK, done.stderr
            repeated.append(json.loads(done.stdout)["ledger"]["repeated"])
        assert repeated == [False, True, False, False, False, False], repeated
        assert [m["values"] for m in numbers(folder / "0")] == [m["values"] for m in numbers(folder / "1")]
        table, = numbers(folder / "5")
        classes = table["axes"][0]["crossed"][0]["classes"]
        assert classes == [["H"], ["M"], ["E"]], classes
        assert table["values"][2] > table["values"][0] + 50, table["values"]


@case
def a_budget_that_is_spent_is_exit_4_and_a_frozen_field_too():
    with folder_with_plan() as folder:
        for name in ("a", "again"):
            assert tamis("release", "plan.yaml", "--again", "--out", name, cwd=folder).returncode == OK
        done = tamis("release", "plan.yaml", "--again", "--out", "b", cwd=folder)
        assert done.returncode == REFUSED and "nothing was spent" in done.stderr and not (folder / "b").exists(), done
        plan = folder / "plan.yaml"
        plan.write_text(plan.read_text().replace("unit: school", "unit: pupil"))
        done = tamis("release", "plan.yaml", "--out", "c", cwd=folder)
        assert done.returncode == REFUSED and "unit" in done.stderr, done
        assert tamis("ledger", "verify", "tamis.ledger", cwd=folder).returncode == OK


def large_plan(folder, values):
    """A release of values x values cells, which takes from seconds to minutes."""
    lists = {c: "[" + ", ".join(f"{c}{i}" for i in range(values)) + "]" for c in "ab"}
    (folder / "d.csv").write_text("a,b\n" + "".join(f"a{i % values},b{i * 7 % values}\n" for i in range(200)))
    (folder / "plan.yaml").write_text(
        "tamis: 1\nsurvey: s\nsource: {file: d.csv}\ndesign: {srs: {population: 20000, sample: 200}}\n"
        "privacy: {unit: person, epsilon: 1}\ncolumns:\n" + "".join(f"  {c}: {{values: {lists[c]}}}\n" for c in "ab") +
        "statistics:\n  - {count: units, by: [a, b]}\nledger: s.ledger\nbudget: {epsilon: 100}\n")


@case
def a_large_release_stops_when_it_is_told_to():
    """2^20 cells: SIGTERM and Ctrl-C are obeyed in every phase. They wait for long, for machines under load."""
    moments = [(signal.SIGTERM, False, 0.3), (signal.SIGINT, True, 1)]  # whether after the charge, and how many seconds
    if LONG:
        moments += [(signal.SIGINT, False, 1), (signal.SIGTERM, True, 5), (signal.SIGINT, True, 20), (signal.SIGTERM, True, 60)]
    for signal_number, after_charge, delay in moments:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            large_plan(folder, 1023)  # and rows without a value, of each column
            process = subprocess.Popen([TAMIS, "release", "plan.yaml", "--out", "o", "--engine", "memory", "--quiet"], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       env=environment(LSAN_OPTIONS=CANCELLED))
            while after_charge and not (folder / "s.ledger").exists() and process.poll() is None:
                time.sleep(0.1)
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                pass
            if process.poll() is not None:  # a faster machine than any today
                assert process.returncode == OK
                continue
            for _ in range(2):  # timeout(1) sends two at once: the second says nothing new
                process.send_signal(signal_number)
                time.sleep(0.005)
            told = process.communicate(timeout=100)[1]
            assert process.returncode == SYSTEM and told.startswith("tamis: cancelled"), (process.returncode, told)
            left = set(os.listdir(folder)) - {"d.csv", "plan.yaml", "s.ledger"}
            charged = (folder / "s.ledger").exists() and b'"kind": "charge"' in (folder / "s.ledger").read_bytes()
            assert left == ({"s.ledger-charge-2"} if charged else set()), left
            assert ("epsilon 1 was charged (entry 2 of s.ledger)" in told) == charged, told
            # the numbers may be kept already, and then they are only to be published
            assert ("tamis ledger void s.ledger 2 --reason TEXT" in told or "the release is kept there" in told) == charged, told


@case
def a_budget_is_asked_for_by_release_alone():
    with folder_with_plan() as folder:
        plan = folder / "plan.yaml"
        plan.write_text(re.sub(r"(?m)^budget:.*\n", "", plan.read_text()))
        before = set(os.listdir(folder))
        done = tamis("release", "plan.yaml", "--out", "a", cwd=folder)
        assert done.returncode == INVALID and set(os.listdir(folder)) == before, done
        for words in ("plan.yaml", "`budget: {epsilon: 24}`", "all releases of this survey", "spends epsilon 6"):
            assert words in done.stderr, done.stderr
        for command in ("check", "estimate"):
            done = tamis(command, "plan.yaml", cwd=folder)
            assert done.returncode == OK, done
            assert (command == "check") == ("`budget: {epsilon: 24}`" in done.stdout.replace("\n  ", " ")), done.stdout
        told = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        assert "`budget: {epsilon: 24}`" in told["warnings"][0] and told["would_leave"] is None, told["warnings"]
        plan.write_text(plan.read_text() + "budget: {epsilon: 12}\n")
        assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
        plan.write_text(re.sub(r"(?m)^budget:.*\n", "", plan.read_text()))  # an account has one: what it leaves is known
        told = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        assert told["left"]["epsilon"]["lower"] == told["would_leave"]["epsilon"]["lower"] == 6, told["would_leave"]
        assert tamis("release", "plan.yaml", "--out", "b", cwd=folder).returncode == INVALID


@case
def a_new_ledger_is_announced_first_and_certified():
    with folder_with_plan() as folder:
        plan = folder / "plan.yaml"
        texts = [tamis("release", "plan.yaml", *more, "--out", name, cwd=folder).stdout
                 for name, more in (("a", ()), ("b", ()), ("c", ("--again",)))]
        assert texts[0].startswith("New ledger: tamis.ledger; this release created it and is the first in it"), texts[0]
        assert "This release is entry 2 of the ledger; entry 1 opened the account." in " ".join(texts[0].split()), texts[0]
        assert texts[1].startswith("The same release was made before, on 20"), texts[1]
        assert texts[2].startswith("california-schools-2000: protected release\n"), texts[2]
        told = [json.loads((folder / name / "release.json").read_text()) for name in "abc"]
        certificates = [json.loads((folder / name / "certificate.json").read_text()) for name in "abc"]
        assert [t["ledger"]["created"] for t in told] == [c["ledger"]["created"] for c in certificates] == [True, True, False]
        assert told[0]["warnings"][0].startswith("New ledger: this release created it") and "tamis.ledger" not in told[0]["warnings"][0]
        assert told[1]["warnings"][0].startswith("The same release was made before") and told[2]["warnings"] == []
        for name in "abc":
            assert tamis("verify", f"{name}/certificate.json", cwd=folder).returncode == OK


@case
def a_ledger_that_must_exist_is_not_created():
    with folder_with_plan() as folder:
        plan, text = folder / "plan.yaml", (folder / "plan.yaml").read_text()
        plan.write_text(text + "ledger: {file: old.ledger, existing: yes}\n")
        before = set(os.listdir(folder))
        for empty in (False, True):
            for command in ("release", "check"):
                done = tamis(command, "plan.yaml", cwd=folder)
                assert done.returncode == REFUSED and "old.ledger" in done.stderr and "existing: no" in done.stderr, done
            assert set(os.listdir(folder)) == before
            (folder / "old.ledger").write_text("")  # an empty file is no ledger either
            before = set(os.listdir(folder))
        (folder / "old.ledger").unlink()
        plan.write_text(text + "ledger: {file: old.ledger, existing: no}\n")
        assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
        plan.write_text(text + "ledger: {file: old.ledger, existing: yes}\n")
        done = tamis("release", "plan.yaml", "--again", "--out", "b", cwd=folder)
        assert done.returncode == OK and "New ledger" not in done.stdout, done


@case
def values_may_be_in_a_file():
    """Listed or in a file, it is the same plan: the second release is the first one again, and verify needs no file."""
    codes = "code,label\r\n E ,elementary\r\n\"M\",\"middle, or \"\"junior\"\"\"\r\nH,high\r\n"
    with folder_with_plan() as folder:
        plan, text = folder / "plan.yaml", (folder / "plan.yaml").read_text()
        assert with_memory("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
        for values, content in (("{file: codes.csv}", codes), ("{file: codes.csv, column: code}", "n,code\n1,E\n2,M\n3,H"),
                                ("{file: codes.csv}", "\ufeffcode\nE\nM\nH\n")):
            assert "[E, M, H]" in text
            plan.write_text(text.replace("values: [E, M, H]", f"values: {values}"))
            (folder / "codes.csv").write_bytes(content.encode())
            shutil.rmtree(folder / "b", ignore_errors=True)
            done = with_memory("release", "plan.yaml", "--out", "b", "--json", cwd=folder)
            assert done.returncode == OK and json.loads(done.stdout)["ledger"]["repeated"], done
            (folder / "codes.csv").unlink()
            assert tamis("verify", "b/certificate.json", cwd=folder).returncode == OK
            assert json.loads((folder / "b" / "certificate.json").read_text())["plan"]["columns"]["stype"]["values"] == ["E", "M", "H"]
        for content, words in ((None, "values.file: expected a CSV file that can be read"), ("code\nE\nM\nE\n", "duplicate in the file of values: E"),
                               ("code\n", "there is no value in it"), ("a,b\nE\n", "codes.csv: line 2: a line has another number of cells"),
                               ("code\n\"E\n", "a quote is never closed"), ("code\nE\u202e\n", "characters that cannot be seen"),
                               ("code\n" + "x" * (1 << 20), "expected a file of at most 1 MB"), ("code\nE\n \nH\n", "line 3: a value is empty")):
            (folder / "codes.csv").unlink(missing_ok=True)
            if content is not None:
                (folder / "codes.csv").write_text(content)
            plan.write_text(text.replace("values: [E, M, H]", "values: {file: codes.csv}"))
            done = tamis("check", "plan.yaml", cwd=folder)
            assert done.returncode == INVALID and words in done.stderr, (words, done)
        plan.write_text(text.replace("values: [E, M, H]", "values: {file: codes.csv, column: codes}"))
        (folder / "codes.csv").write_text("code\nE\n")
        assert "there is no such column" in tamis("check", "plan.yaml", cwd=folder).stderr


@case
def a_first_release_above_its_own_budget_is_refused_by_check_too():
    with folder_with_plan() as folder:
        plan, text = folder / "plan.yaml", (folder / "plan.yaml").read_text()
        for spends, budget in (("epsilon: 6", "epsilon: 5"), ("rho: 2", "rho: 1"), ("rho: 1", "epsilon: 2, delta: 1e-6")):
            plan.write_text(re.sub("budget: .*", f"budget: {{{budget}}}", text.replace("epsilon: 6", spends)))
            line = next(i for i, words in enumerate(plan.read_text().splitlines(), 1) if words.startswith("budget"))
            told = tamis("check", "plan.yaml", cwd=folder)
            assert told.returncode == REFUSED and "This release is refused." in " ".join(told.stdout.split()), told
            assert f"plan.yaml:{line}:" in told.stderr and f"budget.{budget[:3]}" in told.stderr, told.stderr
            assert "would exceed the budget" in told.stderr, told.stderr
            done = tamis("release", "plan.yaml", cwd=folder)
            assert done.returncode == REFUSED and done.stderr == told.stderr, done
            assert not (folder / "tamis.ledger").exists()


@case
def check_shows_the_preview_of_what_the_ledger_refuses():
    with folder_with_plan() as folder:
        plan, text = folder / "plan.yaml", (folder / "plan.yaml").read_text()
        assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
        plan.write_text(text.replace("epsilon: 6", "epsilon: 7"))
        done, told = tamis("check", "plan.yaml", cwd=folder), tamis("check", "plan.yaml", "--json", cwd=folder)
        assert done.returncode == told.returncode == REFUSED and "would exceed the budget" in done.stderr, done
        words = " ".join(done.stdout.split())
        assert "± is one standard deviation" in words and "Spent so far: epsilon 6; left: epsilon 6." in words, words
        assert "This release is refused. --all: " in words and "would leave" not in words, words
        assert json.loads(told.stdout)["code"] == "refused", told.stdout
        assert tamis("ledger", "verify", "tamis.ledger", cwd=folder).returncode == OK


@case
def a_second_account_over_the_same_source_needs_a_reason():
    with folder_with_plan() as folder:
        plan, text = folder / "plan.yaml", (folder / "plan.yaml").read_text()
        assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
        other = text.replace("survey: california-schools-2000", "survey: schools")
        (folder / "inside").mkdir()
        (folder / "link.csv").symlink_to("apisrs.csv")
        spellings = {folder / "other.yaml": "apisrs.csv", folder / "dot.yaml": "./inside/../apisrs.csv", folder / "link.yaml": "link.csv",
                     folder / "root.yaml": str(folder / "apisrs.csv"), folder / "inside" / "plan.yaml": "../apisrs.csv",
                     folder / "list.yaml": "[apisrs.csv, more.csv]"}
        for path, file in spellings.items():
            path.write_text(other.replace("file: apisrs.csv", f"file: {file}") + f"ledger: {folder / 'tamis.ledger'}\n")
            done = tamis("release", path, "--out", "b", cwd=folder)
            assert done.returncode == REFUSED and "for the same source" in done.stderr and "--new-account" in done.stderr, (path, done)
            done = tamis("check", path, cwd=folder)
            assert done.returncode == REFUSED and "for the same source" in done.stderr, done
            assert "± is one standard deviation" in done.stdout and "This release is refused." in " ".join(done.stdout.split()), done.stdout
            assert "Nothing has been released" not in done.stdout and "would leave" not in done.stdout, done.stdout
        assert not (folder / "b").exists()
        done = tamis("release", "other.yaml", "--new-account", "the board decided on it", "--out", "b", cwd=folder)
        assert done.returncode == OK and done.stdout.startswith("New account: "), done
        certificate = json.loads((folder / "b" / "certificate.json").read_text())
        assert certificate["account"]["new_account"] == "the board decided on it" and certificate["ledger"]["created"] is False
        shown = json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder).stdout)["accounts"]
        assert [a.get("new_account") for a in shown] == [None, "the board decided on it"]
        assert tamis("verify", "b/certificate.json", cwd=folder).returncode == OK
        assert tamis("ledger", "verify", "tamis.ledger", "--against", "b/certificate.json", cwd=folder).returncode == OK
        certificate["account"]["new_account"] = "another reason"
        (folder / "b" / "certificate.json").write_text(json.dumps(certificate))
        assert tamis("verify", "b/certificate.json", cwd=folder).returncode == INVALID
        done = tamis("release", "other.yaml", "--new-account", "once more", "--out", "c", cwd=folder)
        assert done.returncode == INVALID and "already" in done.stderr, done
        copy = folder / "copy.csv"  # another file is another source, as far as plans say
        copy.write_bytes((folder / "apisrs.csv").read_bytes())
        plan.write_text(text.replace("survey: california-schools-2000", "survey: copy").replace("apisrs.csv", "copy.csv"))
        done = tamis("release", "plan.yaml", "--out", "d", cwd=folder)
        assert done.returncode == OK and done.stdout.startswith("New account: this is the first release of this survey"), done


@case
def an_existing_folder_is_refused_and_left_alone():
    with folder_with_plan() as folder:
        (folder / "taken").mkdir()
        (folder / "file").write_text("mine")
        for name in ("taken", "file"):
            done = tamis("release", "plan.yaml", "--out", name, cwd=folder)
            is_usage_error(done, f"--out {name} already exists")
        assert os.listdir(folder / "taken") == [] and (folder / "file").read_text() == "mine"
        assert tamis("release", "plan.yaml", cwd=folder).returncode == OK
        is_usage_error(tamis("release", "plan.yaml", cwd=folder), "plan-release already exists", "with --out")


@case
def a_place_without_permission_is_named_with_its_option():
    with folder_with_plan() as folder:
        (folder / "closed").mkdir(mode=0o555)
        os.chmod(folder, 0o755)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}  # root may write everywhere
        try:
            done = tamis("release", "plan.yaml", "--out", "closed/r", cwd=folder, **nobody)
        except PermissionError:
            raise Skip("the program cannot be run by another user") from None
        is_usage_error(done, "--out closed/r cannot be created: Permission denied")


@case
def a_folder_that_cannot_be_made_is_an_error_before_the_data():
    with folder_with_plan() as folder:
        (folder / "apisrs.csv").unlink()
        for out, why in (("", "must be the name of a folder"), ("no/such/place", "there is no folder no/such/"),
                         ("/no-such/place//", "there is no folder /no-such/"), ("plan.yaml/x", "Not a directory"),
                         ("x" * 300, "too long"), ("no/" * 2000 + "x", "no/no/"), ("/", "already exists")):
            is_usage_error(tamis("release", "plan.yaml", "--out", out, cwd=folder), "--out", why)
        done = tamis("release", "plan.yaml", "--out", "/proc/x", cwd=folder)
        refused = (SYSTEM, INVALID) if os.geteuid() == 0 else (USAGE,)  # others have no permission there
        assert done.returncode in refused and done.stdout == "" and "/proc/x cannot be created" in done.stderr, done


@case
def an_invalid_plan_leaves_nothing():
    with folder_with_plan() as folder:
        (folder / "plan.yaml").write_text((folder / "plan.yaml").read_text().replace("epsilon: ", "epsilon: -"))
        before = set(os.listdir(folder))
        for command in ("release", "estimate", "check"):
            done = tamis(command, "plan.yaml", cwd=folder)
            assert done.returncode == INVALID and done.stdout == "", (command, done)
            assert re.match(r"plan\.yaml:\d+:\d+: ", done.stderr), (command, done.stderr)
        assert set(os.listdir(folder)) == before


@case
def data_that_contradict_the_plan_leave_nothing():
    with folder_with_plan() as folder:
        lines = (folder / "apisrs.csv").read_text().splitlines(keepends=True)
        secret = lines[1].split(",")[0]
        for what, text in (("rows", "".join(lines[:-1])), ("column", "".join(lines).replace("enroll", "xnroll")),
                           ("nothing", ""), ("missing", None)):
            if text is None:
                (folder / "apisrs.csv").unlink()
            else:
                (folder / "apisrs.csv").write_text(text)
            before = set(os.listdir(folder))
            done = tamis("release", "plan.yaml", cwd=folder)
            assert done.returncode == INVALID and done.stdout == "" and done.stderr.startswith("tamis: plan.yaml: "), (what, done)
            assert secret not in done.stderr
            assert set(os.listdir(folder)) == before, what


@case
def engines_are_chosen_by_name():
    with folder_with_plan() as folder:
        for engine in ENGINES:
            assert tamis("release", "plan.yaml", "--engine", engine, "--out", engine, cwd=folder).returncode == OK
        is_usage_error(tamis("release", "plan.yaml", "--engine", "abacus", cwd=folder), "abacus", "duckdb")


@case
def a_full_disk_behind_stdout_is_told_with_the_folder():
    with folder_with_plan() as folder, open("/dev/full", "w") as full:
        done = tamis("release", "plan.yaml", cwd=folder, stdout=full)
        assert done.returncode == SYSTEM and "cannot write to stdout" in done.stderr and "plan-release" in done.stderr


@case
def closed_streams_lend_their_numbers_to_no_file():
    with folder_with_plan() as folder:
        data = (folder / "apisrs.csv").read_bytes()
        done = shell("tamis release plan.yaml <&- >&- 2>&-; echo $?", cwd=folder)
        assert done.stdout == "1\n" and (folder / "apisrs.csv").read_bytes() == data
        for name in ("release.json", "measurements.json"):
            json.loads((folder / "plan-release" / name).read_text())


@case
def an_estimate_warns_and_writes_nothing():
    with folder_with_plan() as folder:
        before = set(os.listdir(folder))
        done = tamis("estimate", "plan.yaml", cwd=folder)
        assert done.returncode == OK and "NOT protected" in done.stderr, done
        assert "not protected" in done.stdout.lower()
        assert all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
        told = json.loads(tamis("estimate", "plan.yaml", "--json", cwd=folder).stdout)
        assert told["protected"] is False and told["guarantee"] is None
        quiet = tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder)
        assert quiet.returncode == OK and quiet.stderr == "" and json.loads(quiet.stdout) == told
        assert set(os.listdir(folder)) == before


@case
def a_mistyped_column_is_suggested():
    with folder_with_plan() as folder:
        (folder / "plan.yaml").write_text((folder / "plan.yaml").read_text().replace("enroll", "enrol"))
        done = tamis("release", "plan.yaml", "--out", "out", cwd=folder)
        assert done.returncode == INVALID and "there is no column enrol; did you mean enroll?" in done.stderr, done


@case
def names_that_cannot_be_read_are_refused_or_shown_by_number():
    with folder_with_plan() as folder:
        plan, data = (folder / "plan.yaml").read_text(), (folder / "apisrs.csv").read_text()
        for wrong, where in ((plan.replace("survey: cal", "survey: c\u202eal"), r"plan\.yaml:\d+:10: U\+202E"),
                             (plan + "# \u2067\n", r"plan\.yaml:\d+:3: U\+2067")):
            (folder / "plan.yaml").write_text(wrong)
            done = tamis("release", "plan.yaml", cwd=folder)
            assert done.returncode == INVALID and re.match(where, done.stderr), done
        (folder / "plan.yaml").write_bytes(plan.encode() + b"# \xff\n")
        assert "UTF-8" in tamis("check", "plan.yaml", cwd=folder).stderr
        (folder / "plan.yaml").write_text(plan)
        done = tamis("release", "plan.yaml", "--new-account", "a\u202eb", cwd=folder)
        assert done.returncode == INVALID and "new_account: U+202E" in done.stderr, done
        (folder / "apisrs.csv").write_text(data.replace("enroll", "enr\u00adoll"))  # a soft hyphen in the header
        done = tamis("release", "plan.yaml", cwd=folder)
        assert done.returncode == INVALID and "there is no column enroll; did you mean enr<U+00AD>oll?" in done.stderr, done
        assert not (folder / "plan-release").exists()


# Work of a few seconds: files of a million rows each, written once.
ROWS, PARTS = 1_000_000, 16
MUCH = tempfile.TemporaryDirectory()


class folder_with_much_work(folder_with_plan):
    def __enter__(self):
        folder = super().__enter__()
        for part in (pathlib.Path(MUCH.name, f"part{part}.csv") for part in range(PARTS)):
            if not part.exists():
                part.write_bytes(b"stype,enroll,api00\n" + b"E,501,612\nM,,700\n" * (ROWS // 2))
            (folder / part.name).symlink_to(part)
        plan = (folder / "plan.yaml").read_text()
        plan = plan.replace("file: apisrs.csv", f"files: [{', '.join(f'part{i}.csv' for i in range(PARTS))}]")
        plan = plan.replace("srs: {population: 6194, sample: 200}", "census: {population: %d}" % (ROWS * PARTS))
        (folder / "plan.yaml").write_text(plan.replace("budget: {epsilon: 12}", "budget: {epsilon: 100}"))
        return folder


@case
def a_bar_moves_on_a_terminal_and_goes():
    with folder_with_much_work() as folder:
        code, text = on_terminal(["release", "plan.yaml", "--json"], cwd=folder)
        assert code == OK, text
        steps = re.findall(r"(\d+) %  (?:([\d.]+ ?[kMG]?) rows, [\d.]+ ?[kMG]? rows/s)?", text)
        assert len({percent for percent, _ in steps}) >= 3, text[-3000:]
        assert "left" in text and "rows/s" in text
        assert "\r\033[K\033[1mtamis:" in text  # the line is empty again before the result
        code, text = on_terminal(["release", "plan.yaml", "--again", "--json", "--quiet", "--out", "quiet"], cwd=folder)
        assert code == OK and "%" not in text and json.loads(text), text[:300]
        code, text = on_terminal(["release", "plan.yaml", "--again", "--out", "narrow"], columns=30, cwd=folder, NO_COLOR="1")
        bars = [bar for bar in re.findall(r"\r\033\[K([^\r\n]*)", text) if "%" in bar]
        assert code == OK and bars and all(len(bar) < 30 for bar in bars), bars


@case
def ctrl_c_stops_and_publishes_nothing():
    """Where this process was asleep while the work went on, the signal comes in a later phase, or too late: then once more."""
    for number, phase in ((signal.SIGINT, "%"), (signal.SIGTERM, "%"), (signal.SIGINT, "looking")):
        for _ in range(20):
            with folder_with_much_work() as folder:
                before, sent = set(os.listdir(folder)), []

                def interrupt(process, text):
                    if phase in text and not sent:
                        sent.append(phase)
                        process.send_signal(number)

                code, text = on_terminal(["release", "plan.yaml"], act=interrupt, cwd=folder, LSAN_OPTIONS=CANCELLED)
                left = set(os.listdir(folder)) - before
                if code == OK or (left and phase == "looking"):
                    continue
                assert code == SYSTEM and "tamis:" in text, (code, text[-500:])
                assert left == ({"tamis.ledger", "tamis.ledger-charge-2"} if phase == "%" else set()), left
                if left:  # charged, and nothing published
                    told = json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder).stdout)
                    assert [e["state"] for e in told["accounts"][0]["entries"]] in (["charged"], ["released"]), told
                break
        else:
            raise AssertionError(f"never stopped while {phase} was shown")


@case
def ctrl_c_is_obeyed_by_short_work_too():
    """The signal goes out a little later each time, until it comes between the start of the work and the charge."""
    stopped = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for turn in range(100):
            with folder_with_plan() as folder:
                before = set(os.listdir(folder))
                process = subprocess.Popen([TAMIS, "release", "plan.yaml", "--quiet"], cwd=folder, text=True,
                                           env=environment(LSAN_OPTIONS=CANCELLED), stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(0.005 * turn)
                process.send_signal(number)
                said = process.communicate(timeout=60)
                left = set(os.listdir(folder)) - before
                if process.returncode == OK:
                    assert left == {"plan-release", "tamis.ledger"} and FILES == set(os.listdir(folder / "plan-release")), left
                    break
                if process.returncode == -number:  # before anything was done
                    assert left == set() and said == ("", ""), (left, said)
                    continue
                assert process.returncode == SYSTEM and said[0] == "", (number, process.returncode, said)
                if "entry 2 of tamis.ledger" in said[1]:
                    assert left == {"tamis.ledger", "tamis.ledger-charge-2"}, left
                    continue
                assert left <= {"tamis.ledger"} and said[1] == "tamis: cancelled; nothing was charged\n", (left, said)
                stopped += 1
                break
    assert stopped == 3, stopped


@case
def a_signal_that_is_ignored_stays_ignored():
    with folder_with_plan() as folder:
        done = shell("trap '' HUP INT; tamis release plan.yaml >/dev/null & "
                     "while kill -HUP $! && kill -INT $!; do sleep 0.002; done 2>/dev/null; wait $!; echo $?", cwd=folder)
        assert done.stdout == "0\n", done


main()
