"""The account of a survey over time: a budget that is raised, files that move, waves, rotation groups, ledgers of the first format."""
import copy
import sys

from book import *
from kit import *

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

tamis = with_memory  # noqa: F405

PLAN = """tamis: 1
survey: panel
source: {file: rows.csv}
design: {srs: {population: 300, sample: 30}}
privacy: {unit: person, epsilon: 1}
columns:
  x: {from: 0, to: 9, step: 1}
statistics:
  - {total: x}
budget: {epsilon: 4}
"""
ROWS = "x\n" + "".join(f"{i % 10}\n" for i in range(30))
SECRET = "unit: person, protect: frame, given: population, secret_sample: yes, "


class place:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        (folder / "rows.csv").write_text(ROWS)
        return folder

    def __exit__(self, *_):
        self.folder.cleanup()


def release(folder, out, plan, *more):
    named = re.search(r"name: (\w+), groups", plan)
    if named:  # other groups are other rows: a file of their own
        plan = plan.replace("rows.csv", named[1] + ".csv")
        (folder / (named[1] + ".csv")).write_text(ROWS)
    (folder / "plan.yaml").write_text(plan)
    return tamis("release", "plan.yaml", "--quiet", "--out", out, *more, cwd=folder)


def released(folder, out, plan, *more):
    done = release(folder, out, plan, "--json", *more)
    assert done.returncode == OK, done.stderr
    assert tamis("verify", out, cwd=folder).returncode == OK, tamis("verify", out, cwd=folder).stdout
    assert verifier.verify(folder / out) == [], verifier.verify(folder / out)
    assert tamis("ledger", "verify", "tamis.ledger", "--against", out, cwd=folder).returncode == OK
    return json.loads(done.stdout), json.loads((folder / out / "certificate.json").read_text())


def refused(folder, plan, *words, code=REFUSED):
    done = release(folder, "refused", plan, "--again")
    assert done.returncode == code and not (folder / "refused").exists(), done
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def raise_to(folder, *budget, survey="panel", reason="the board's decision"):
    return tamis("ledger", "raise", "tamis.ledger", "--survey", survey, *budget, "--reason", reason, cwd=folder)


def accounts(folder):
    return json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder).stdout)["accounts"]


def wave(text, plan=PLAN):
    return plan + f"wave: {text}\n"


@case
def a_budget_is_raised_and_certificates_say_so():
    with place() as folder:
        plan = PLAN.replace("{epsilon: 4}", "{epsilon: 1}")
        _, first = released(folder, "a", plan)
        assert first["account"]["cap"] == {"epsilon": "1"} and "raised" not in first["account"]
        assert "unless raised" in first["account"]["statement"]
        refused(folder, plan, "tamis ledger raise tamis.ledger --survey 'panel'")
        refused(folder, PLAN, "above that of the account", "--epsilon 4 --reason")
        for options, code in ((["--epsilon", "1"], REFUSED), (["--epsilon", "4", "--delta", "1e-6"], REFUSED), (["--rho", "4"], REFUSED),
                              ([], USAGE), (["--epsilon", "x"], USAGE), (["--rho", "4", "--delta", "1e-6"], USAGE)):
            done = raise_to(folder, *options)
            assert done.returncode == code and done.stdout == "", done
        assert raise_to(folder, "--epsilon", "4", survey="nobody").returncode == REFUSED
        assert raise_to(folder, "--epsilon", "4", reason=" ").returncode == INVALID
        assert tamis("ledger", "raise", "none.ledger", "--survey", "s", "--epsilon", "1", "--reason", "r", cwd=folder).returncode == INVALID
        assert not (folder / "none.ledger").exists()
        done = raise_to(folder, "--epsilon", "4", "--json")
        assert done.returncode == OK and json.loads(done.stdout)["accounts"][0]["raised"][0]["reason"] == "the board's decision"
        assert "raised" in tamis("ledger", "show", "tamis.ledger", cwd=folder).stdout
        refused(folder, plan, "plan's own budget of epsilon 1, since epsilon 1 is already spent;")
        told, second = released(folder, "b", PLAN, "--again")
        assert told["left"]["epsilon"]["lower"] == 2 and second["account"]["cap"] == {"epsilon": "4"}
        raised = second["account"]["raised"][0]
        assert raised["from"] == {"epsilon": "1"} and raised["to"] == {"epsilon": "4"} and raised["reason"] == "the board's decision"
        assert "was raised" in (folder / "b" / "report.html").read_text()
        assert tamis("ledger", "verify", "tamis.ledger", "--against", "a", "b", cwd=folder).returncode == OK
        _, lower = released(folder, "c", PLAN.replace("{epsilon: 4}", "{epsilon: 3}"), "--again")
        assert lower["plan"]["budget"] == {"epsilon": "3"} and lower["account"]["cap"] == {"epsilon": "4"}
        refused(folder, PLAN.replace("{epsilon: 4}", "{epsilon: 2}"), "plan's own budget of epsilon 2, since epsilon 3 is already spent;")


@case
def with_rho_the_highest_cap_counts():
    with place() as folder:
        plan = PLAN.replace("epsilon: 1}", "rho: 1/10}").replace("{epsilon: 4}", "{rho: 1/10}")
        released(folder, "a", plan)
        assert raise_to(folder, "--rho", "1/5").returncode == OK
        _, second = released(folder, "b", plan.replace("budget: {rho: 1/10}", "budget: {rho: 1/5}"), "--again")
        assert "holds at the highest cap" in second["account"]["statement"], second["account"]


@case
def the_same_people_in_another_file_are_the_same_account():
    with place() as folder:
        first, _ = released(folder, "a", PLAN)
        assert "wave" not in first and 'name: "panel"\n' in (folder / "a" / "registry.yaml").read_text()
        (folder / "moved").mkdir()
        (folder / "moved" / "corrected.csv").write_text(ROWS.replace("9", "8"))
        plan = PLAN.replace("rows.csv", "moved/corrected.csv")
        same, _ = released(folder, "b", plan)  # the same release of the same people
        assert same["ledger"]["repeated"] and same["ledger"]["entry"] == first["ledger"]["entry"]
        again, _ = released(folder, "c", plan, "--again")
        assert again["spent"]["epsilon"]["upper"] == 2 and len(accounts(folder)) == 1
        # but a source that belongs to another account does not
        (folder / "other.csv").write_text(ROWS)
        other = PLAN.replace("survey: panel", "survey: other").replace("rows.csv", "other.csv")
        assert release(folder, "d", other).returncode == OK
        refused(folder, PLAN.replace("rows.csv", "other.csv"), "for the same source")
        refused(folder, PLAN.replace("survey: panel", "survey: third"), "for the same source", "--new-account")


@case
def waves_add_up_and_each_has_its_own_design():
    with place() as folder:
        plan = PLAN.replace("unit: person, ", SECRET)
        told, certificate = released(folder, "a", wave("2026-Q1", plan))
        assert certificate["plan"]["wave"] == {"name": "2026-Q1"} and certificate["account"]["waves"] == [{"name": "2026-Q1"}]
        assert told["guarantee"]["outsider"] is not None
        assert told["wave"] == "2026-Q1" and ", wave 2026-Q1: " in (folder / "a" / "report.html").read_text()
        assert "panel, wave 2026-Q1: protected release\n" in tamis("verify", "a", cwd=folder).stdout
        registry = (folder / "a" / "registry.yaml").read_text()
        assert 'url_slug: "panel-2026-q1"\n' in registry and 'name: "panel, wave 2026-Q1"\n' in registry, registry
        refused(folder, plan, "names none", "wave: 2026-Q1")
        refused(folder, wave("2026-Q1", plan).replace("population: 300", "population: 400"), "'design'",
                "(design.srs.population: 300 there, 400 here)")
        refused(folder, wave("2026-Q1", plan).replace("srs: {population: 300, sample: 30}", "bernoulli: {rate: 1/10}"), "'design'", "none here)")
        refused(folder, wave("2026-Q2", plan).replace("unit: person", "unit: household"), "'unit'", "(unit: person there, household here)")
        larger = plan.replace("population: 300", "population: 400")
        refused(folder, wave("{name: 2026-Q2, same_sample: yes}", larger), "same_sample", "'design'",
                "(design.srs.population: 300 there, 400 here)")
        told, certificate = released(folder, "b", wave("{name: 2026-Q2, same_sample: yes}", plan))
        assert not told["ledger"]["repeated"] and told["spent"]["epsilon"]["upper"] == 2
        assert told["guarantee"]["outsider"] is not None and certificate["amplification"]["theorem"] is not None
        assert any("sample of the previous wave" in line for line in certificate["declared_public"])
        told, certificate = released(folder, "c", wave("2026-Q3", larger))
        assert told["spent"]["epsilon"]["upper"] == 3 and told["guarantee"]["outsider"] is None
        assert "same sample" in certificate["amplification"]["reason"]
        assert "all 3 waves add up" in " ".join(tamis("check", "plan.yaml", cwd=folder).stdout.split())
        shown = accounts(folder)[0]
        assert [e["wave"] for e in shown["entries"]] == ["2026-Q1", "2026-Q2", "2026-Q3"] and shown["outsider"] is None
        assert "same sample" in shown["outsider_reason"]
        assert "2026-Q2" in tamis("ledger", "export", "tamis.ledger", cwd=folder).stdout


@case
def rotation_groups_lose_by_their_own_waves():
    with place() as folder:
        told = []
        for out, groups in (("1", "A, B"), ("2", "B, C"), ("3", "C, D")):
            told.append(released(folder, out, wave(f"{{name: w{out}, groups: [{groups}]}}")))
        assert [t["spent"]["epsilon"]["upper"] for t, _ in told] == [1, 2, 2]
        certificate = told[2][1]
        sums = {g["group"]: g["after"]["epsilon"] for g in certificate["account"]["groups"]}
        assert sums == {"A": "1", "B": "2", "C": "2", "D": "1"} and certificate["account"]["after"]["epsilon"] == "0"
        assert any("is in the same group in all waves" in line for line in certificate["declared_public"])
        refused(folder, wave("{name: w3, groups: [C]}"), "'wave'", '(wave.groups: ["C", "D"] there, ["C"] here)')
        told, _ = released(folder, "all", wave("w4"))  # everybody is in it
        assert told["spent"]["epsilon"]["upper"] == 3 and told["left"]["epsilon"]["lower"] == 1
        shown = accounts(folder)[0]
        assert {g["group"]: g["left"]["epsilon"]["lower"] for g in shown["groups"]} == {"A": 2, "B": 1, "C": 1, "D": 2}
        assert release(folder, "5", wave("{name: w5, groups: [B]}")).returncode == OK
        refused(folder, wave("{name: w6, groups: [A, B]}"), "would exceed the budget")
        # the worst group has nothing left, but those of the next wave have
        (folder / "plan.yaml").write_text(wave("{name: w6, groups: [A]}"))
        words, told = (tamis("check", "plan.yaml", *more, cwd=folder).stdout for more in ((), ("--json",)))
        assert "The group of this wave (A) has epsilon 2 left; this release would leave it epsilon 1." in " ".join(words.split()), words
        assert "left: epsilon 0." in " ".join(words.split()) and "would leave epsilon" not in words, words
        told = json.loads(told)["rotation_groups"]
        assert told["groups"] == ["A"] and [told[k]["epsilon"]["lower"] for k in ("left", "would_leave")] == [2, 1], told
        (folder / "plan.yaml").write_text(wave("{name: w6, groups: [A, E]}"))
        words = " ".join(tamis("check", "plan.yaml", cwd=folder).stdout.split())
        assert "The groups of this wave (A, E) have epsilon 2 left; this release would leave them epsilon 1." in words, words
        refused(folder, wave("{name: w6, groups: [A]}", PLAN.replace(" epsilon: 1}", " epsilon: 3}")), "of which epsilon 2 is left")
        assert release(folder, "6", wave("{name: w6, groups: [A]}")).returncode == OK


@case
def a_file_keeps_its_groups():
    with place() as folder:
        released(folder, "a", wave("{name: w1, groups: [A]}"))
        refused(folder, wave("{name: w2,  groups: [B]}", PLAN.replace("rows.csv", "w1.csv")), "the wave w1 has the same source but other groups")


@case
def what_a_survey_has_read_is_noted_with_every_charge():
    with place() as folder:
        (folder / "more.csv").write_text(ROWS)
        (folder / "third.csv").write_text(ROWS)
        released(folder, "a", PLAN)
        released(folder, "b", PLAN.replace("rows.csv", "more.csv"), "--again")
        other = PLAN.replace("survey: panel", "survey: other")
        refused(folder, other.replace("rows.csv", "more.csv"), "for the same source")
        released(folder, "c", other.replace("rows.csv", "third.csv"))
        done = release(folder, "d", PLAN.replace("rows.csv", "third.csv"))
        assert done.returncode == REFUSED and "for the same source" in done.stderr, done
        (folder / "fourth.csv").write_text(ROWS)
        (folder / "plan.yaml").write_text(PLAN.replace("rows.csv", "fourth.csv"))
        done = tamis("release", "plan.yaml", "--out", "e", cwd=folder)
        assert done.returncode == OK and "from a source other than the one that the plan names now" in done.stderr, done
        pilot = PLAN.replace("survey: panel", "survey: pilot")
        assert release(folder, "f", pilot, "--new-account", "a pilot").returncode == OK
        refused(folder, pilot.replace("rows.csv", "third.csv"), "for the same source")


@case
def groups_need_records_that_are_replaced_within_them():
    with place() as folder:
        plan = wave("{name: w, groups: [A, B]}")
        for change in (("srs: {population: 300, sample: 30}", "bernoulli: {rate: 1/10}"),
                       ("sample: 30}}", "sample: 30}, nonresponse: yes}"),
                       ("unit: person,", "unit: person, protect: respondents, given: frame,"),
                       ("unit: person,", "unit: person, protect: sample, given: population, design_variables: protected,")):
            changed = plan.replace(*change).replace("total: x", "mean: x")
            refused(folder, changed, "wave.groups", "nearest setting that works")
            assert tamis("check", "plan.yaml", cwd=folder).returncode == REFUSED
        assert not (folder / "tamis.ledger").exists()


@case
def every_new_field_of_a_certificate_is_checked():
    with place() as folder:
        plan = PLAN.replace("{epsilon: 4}", "{epsilon: 1}")
        released(folder, "a", wave("{name: w1, groups: [A, B]}", plan))
        assert raise_to(folder, "--epsilon", "4").returncode == OK
        _, right = released(folder, "b", wave("{name: w2, groups: [B, C]}"))
        lies = {
            "cap": lambda c: c["account"].update(cap={"epsilon": "5"}),
            "no cap": lambda c: c["account"].pop("cap"),
            "no raise": lambda c: c["account"].pop("raised"),
            "raise from": lambda c: c["account"]["raised"][0].update({"from": {"epsilon": "2"}}),
            "raise to": lambda c: c["account"]["raised"][0].update(to={"epsilon": "3"}),
            "raise later": lambda c: c["account"]["raised"][0].update(entry=1000),
            "waves": lambda c: c["account"]["waves"].pop(),
            "wave twice": lambda c: c["account"]["waves"].append({"name": "w1"}),
            "other groups": lambda c: c["plan"]["wave"].update(groups=["C"]),
            "group before": lambda c: c["account"]["groups"][1]["before"].update(epsilon="0"),
            "group after": lambda c: c["account"]["groups"][2]["after"].update(epsilon="0"),
            "no group": lambda c: c["account"]["groups"].pop(),
            "strange group": lambda c: c["account"]["groups"][0].update(group="Z"),
            "budget": lambda c: c["plan"].update(budget={"epsilon": "5"}),
            "statement": lambda c: c["account"].update(statement="All is well."),
        }
        path = folder / "b" / "certificate.json"
        for name, lie in lies.items():
            forged = copy.deepcopy(right)
            lie(forged)
            body = {k: v for k, v in forged.items() if k not in ("guarantee", "hash")}
            forged["hash"] = sha256(json.dumps(body, sort_keys=True, ensure_ascii=False))
            path.write_text(json.dumps(forged))
            assert tamis("verify", "b", cwd=folder).returncode == INVALID, name
            assert verifier.verify(folder / "b") != [], name
        results = folder / "b" / "release.json"
        kept = results.read_text()
        for changed in (kept.replace('"wave": "w2"', '"wave": "w1"'), kept.replace('  "wave": "w2",\n', "")):
            assert changed != kept
            results.write_text(changed)
            forged = copy.deepcopy(right)
            forged["files"]["release.json"] = sha256(changed)
            body = {k: v for k, v in forged.items() if k not in ("guarantee", "hash")}
            forged["hash"] = sha256(json.dumps(body, sort_keys=True, ensure_ascii=False))
            path.write_text(json.dumps(forged))
            done = tamis("verify", "b", cwd=folder)
            assert done.returncode == INVALID and "release.json.wave" in done.stdout, done.stdout
            assert any("release.json.wave" in fault for fault in verifier.verify(folder / "b")), verifier.verify(folder / "b")
        results.write_text(kept)
        reason = copy.deepcopy(right)  # what only the ledger knows
        reason["account"]["raised"][0]["reason"] = "nobody decided"
        path.write_text(json.dumps(reason))
        done = tamis("ledger", "verify", "tamis.ledger", "--against", "b", cwd=folder)
        assert done.returncode == INVALID and "account.cap" in done.stdout, done.stdout


@case
def a_ledger_of_the_first_format_is_read_and_goes_on():
    """As tamis wrote it before there were waves: `source` and `budget` among the frozen fields."""
    with place() as folder:
        released(folder, "new", PLAN)
        entries = json.loads(tamis("ledger", "export", "tamis.ledger", "--json", cwd=folder).stdout)["entries"]
        account, charge = (json.loads(entries[i]["entry"]) for i in (0, 1))
        (folder / "tamis.ledger").unlink()
        book = Book(folder / "tamis.ledger")
        assert "source" not in account["frozen"] and "budget" not in account["frozen"]
        old = {**account["frozen"], "source": {"files": ["rows.csv"]}, "budget": {"epsilon": "4"}}
        book.add("account", survey="panel", budget={"epsilon": "4"}, frozen=old, source=["file rows.csv"])
        entry = book.charge("panel", {"epsilon": "1"}, measures=charge["measures"])
        book.released(entry, entries[2]["measurements"])
        book.close()
        told, _ = released(folder, "same", PLAN)
        assert told["ledger"]["repeated"]  # what was released is known
        assert version(folder) == 1
        (folder / "moved.csv").write_text(ROWS)
        told, _ = released(folder, "moved", PLAN.replace("rows.csv", "moved.csv"), "--again")
        assert told["spent"]["epsilon"]["upper"] == 2
        refused(folder, PLAN.replace("unit: person", "unit: household"), "'unit'")
        refused(folder, PLAN.replace("{epsilon: 4}", "{epsilon: 5}"), "above that of the account")
        told, _ = released(folder, "wave", wave("2026-Q1"))
        assert told["spent"]["epsilon"]["upper"] == 3 and version(folder) == 2
        assert raise_to(folder, "--epsilon", "5").returncode == OK
        assert tamis("ledger", "verify", "tamis.ledger", cwd=folder).returncode == OK


def rewritten(folder, certificate, **changes):
    """A certificate with other values, and the hash that it should have; its guarantee follows."""
    forged = copy.deepcopy({k: v for k, v in certificate.items() if k != "guarantee"})
    for key, value in changes.items():
        forged[key] = {**forged[key], **value} if key in ("account", "ledger") else value
    body = {k: v for k, v in forged.items() if k != "hash"}
    forged["hash"] = sha256(json.dumps(body, sort_keys=True, ensure_ascii=False))
    (folder / "forged.json").write_text(json.dumps(forged))
    return folder / "forged.json"


def against(folder, certificate):
    """The fields of the certificate that the ledger contradicts."""
    done = tamis("ledger", "verify", "tamis.ledger", "--against", certificate, "--json", cwd=folder)
    return {p["field"].rsplit(": ", 1)[1] for p in json.loads(done.stdout)["problems"]}


@case
def no_wave_is_left_out_of_a_certificate():
    """Without the second wave the third release would have an outsider's number: the file by itself cannot show that it is missing."""
    with place() as folder:
        plan = PLAN.replace("unit: person, ", SECRET)
        _, first = released(folder, "a", wave("w1", plan))
        released(folder, "b", wave("w2", plan))
        told, third = released(folder, "c", wave("w1", plan), "--again")
        assert told["guarantee"]["outsider"] is None and len(third["account"]["waves"]) == 2
        amplified = {**first["amplification"], "epsilon": "3"}
        forged = rewritten(folder, third, account={"waves": [{"name": "w1"}]}, amplification=amplified)
        found = json.loads(tamis("verify", "forged.json", "--json", cwd=folder).stdout)
        assert found["ok"] and found["guarantee"]["outsider"] is not None and verifier.verify(forged) == [], found
        assert against(folder, forged) == {"account.waves"}
        repeated = rewritten(folder, third, account={"waves": [{"name": "w1"}]}, amplification=amplified, ledger={"repeated": True})
        assert against(folder, repeated) == {"account.waves"}
        many = rewritten(folder, third, account={"waves": [{"name": f"w{i}"} for i in range(1, 6)]})
        assert tamis("verify", many, cwd=folder).returncode == INVALID and "account.waves" in str(verifier.verify(many))


@case
def a_repeated_certificate_is_of_one_moment():
    with place() as folder:
        plan = PLAN.replace("{epsilon: 4}", "{epsilon: 2}")
        _, first = released(folder, "a", wave("w1", plan))
        early = released(folder, "a1", wave("w1", plan))[1]["account"]
        released(folder, "b", wave("w2", plan))
        middle = released(folder, "a2", wave("w1", plan))[1]["account"]
        assert raise_to(folder, "--epsilon", "4").returncode == OK
        _, last = released(folder, "a3", wave("w1", plan))
        late = last["account"]
        assert (early["after"], len(early["waves"])) == (first["account"]["after"], 1)
        assert middle["after"]["epsilon"] == late["after"]["epsilon"] == "2" and "raised" not in middle and len(late["raised"]) == 1
        raised = {k: late[k] for k in ("cap", "raised", "statement")}
        for account in (early, middle, late):
            assert against(folder, rewritten(folder, {**last, "account": account})) == set()
        for account, field in (({**early, **raised}, "account.waves"), ({**middle, "waves": early["waves"]}, "account.after"),
                               ({**early, "waves": late["waves"]}, "account.after"), ({**late, "after": early["after"]}, "account.after")):
            assert against(folder, rewritten(folder, {**last, "account": account})) == {field}, (field, account)
        assert against(folder, rewritten(folder, {**last, "account": late}, ledger={"repeated": False})) >= {"account.cap"}


@case
def the_clock_of_a_certificate_is_that_of_its_entry():
    with place() as folder:
        _, right = released(folder, "right", PLAN)
        assert "clock_behind" not in right["ledger"]
        forged = rewritten(folder, right, ledger={"clock_behind": True})
        assert tamis("verify", forged, cwd=folder).returncode == OK and against(folder, forged) == {"ledger.clock_behind"}
        forged = rewritten(folder, right, ledger={"clock_behind": True, "repeated": True})
        assert tamis("verify", forged, cwd=folder).returncode == INVALID and "ledger.clock_behind" in verifier.verify(forged)[0]
        account = json.loads(json.loads(tamis("ledger", "export", "tamis.ledger", "--json", cwd=folder).stdout)["entries"][0]["entry"])
        (folder / "tamis.ledger").unlink()
        book = Book(folder / "tamis.ledger")
        book.add(**{**{k: v for k, v in account.items() if k != "number"}, "time": "9000-01-01T00:00:00Z"})
        book.close()
        _, behind = released(folder, "behind", PLAN)
        assert behind["ledger"]["clock_behind"] and behind["ledger"]["time"].startswith("9000")
        _, same = released(folder, "same", PLAN)
        assert "clock_behind" not in same["ledger"] and same["ledger"]["repeated"]
        del behind["ledger"]["clock_behind"]
        assert against(folder, rewritten(folder, behind)) == {"ledger.clock_behind"}


@case
def a_void_does_not_cover_what_was_overspent():
    for amounts in (("3", "1"), ("3", "3")):
        with place() as folder:
            book = Book(folder / "tamis.ledger")
            book.account("panel", {"epsilon": "4"}, unit="person")
            entries = [book.charge("panel", {"epsilon": a}) for a in amounts]
            book.add("voided", entry=entries[1], reason="never published")
            book.close()
            done = tamis("ledger", "verify", "tamis.ledger", cwd=folder)
            assert done.returncode == (OK if amounts[1] == "1" else INVALID), done
            assert ("exceed the budget at the time" in done.stdout) == (amounts[1] == "3"), done.stdout


def version(folder):
    db = sqlite3.connect(folder / "tamis.ledger")
    found = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return found


main()
