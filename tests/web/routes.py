"""What the routes of `tamis serve` answer: the same texts as the command prints, and what they say of wrong requests."""
import gzip
import hashlib

from server import *

with serving() as server:

    def plan_text():
        return (API / "plan.yaml").read_text()

    def saved(name, text):
        """A plan of that name with this text."""
        (server.folder / name).write_text(text)
        return name

    @case
    def every_route_of_the_documentation_is_there_and_no_other():
        page = (TOP / "docs" / "page.md").read_text()
        table = page[page.index("| route | request | answer |"):]
        told = re.findall(r"^\| ([a-z]+) \|", table[:table.index("\n\n")], re.M)[1:]
        source = (TOP / "web" / "routes.c").read_text()
        there = re.findall(r'^    \{"([a-z]+)",', source, re.M)
        assert sorted(told) == sorted(there) and len(there) > 20, set(told) ^ set(there)

    @case
    def the_page_is_in_the_program():
        answer = server.raw(server.head("GET", "/"))
        body = gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body
        assert body == (TOP / "web" / "page" / "index.html").read_bytes()
        for file in (TOP / "web" / "page").iterdir():
            assert server.raw(server.head("GET", f"/{file.name}")).status == 200, file.name

    @case
    def a_preview_is_what_check_prints():
        told = json.loads(tamis("check", "plan.yaml", "--json", cwd=server.folder).stdout)
        assert server.must("preview", text=plan_text(), advice=True) == told
        quick = server.must("preview", text=plan_text())
        assert quick["statistics"][1]["se"] == told["statistics"][1]["se"]
        assert server.must("compare", text=plan_text()) == json.loads(tamis("check", "plan.yaml", "--compare", "--json", cwd=server.folder).stdout)

    @case
    def words_are_what_explain_prints():
        assert server.must("explain", topic="srs") == json.loads(tamis("explain", "srs", "--json").stdout)
        assert "srs" in server.must("explain")["topics"]
        assert server.ask("explain", topic="none").status == 422
        settings = server.must("settings")["settings"]
        assert len(settings) == 10 and settings[5]["name"] == "sample given frame" and settings[5]["size_is_public"] is True
        meaning = server.must("meaning", epsilon="1", svg=True)
        assert meaning["meaning"][0]["odds"]["upper"] > 2.718 and meaning["svg"].startswith("<svg")
        assert server.ask("meaning", epsilon=1).status == 422 and server.ask("meaning").status == 422

    @case
    def an_epsilon_is_found_for_an_error():
        found = server.must("epsilon", text=plan_text(), share="0.3", svg=True)
        assert found["study"] == json.loads(tamis("study", "epsilon", "plan.yaml", "--error", "0.3", "--json", cwd=server.folder).stdout)
        assert found["svg"].startswith("<svg")
        assert server.ask("epsilon", text=plan_text(), share="0.01").status == 503
        assert server.ask("epsilon", text=plan_text()).status == 422

    @case
    def a_text_that_is_no_plan_has_places_and_errors():
        draft = server.must("draft", text="tamis: 1\nsurvey: x\ncolumns:\n  a: {from: 0, to: }\n")
        assert draft["ok"] is False and draft["tree"]["survey"] == "x" and draft["errors"]
        assert any(place["path"] == "/columns/a/to" for place in draft["places"])
        answer = server.ask("preview", text="tamis: 1\n")
        assert answer.status == 422 and len(answer.json()["errors"]) > 1 and answer.json()["errors"][0]["line"]

    @case
    def one_value_is_changed_and_other_bytes_stay():
        text = plan_text()
        done = server.must("set", text=text, changes=[{"path": "/privacy/epsilon", "value": 0.1}, {"path": "/columns/enroll/to", "value": 5000},
                                                      {"path": "/title", "value": "a: b"}])
        assert done["draft"]["ok"] and done["draft"]["tree"]["privacy"]["epsilon"] == "0.1"
        assert "epsilon: 0.1\n" in done["text"] and "to: 5000" in done["text"]
        back = server.must("set", text=done["text"], changes=[{"path": "/privacy/epsilon", "value": 6}, {"path": "/columns/enroll/to", "value": 4000},
                                                              {"path": "/title", "value": None}])
        assert back["text"] == text
        assert server.ask("set", text=text, changes=[{"path": "/title", "value": "x"}, {"path": "x", "value": 1}]).status == 422
        for number in (0.1, 1e-06, 1 / 3, 0.30000000000000004, 12345678.9):
            one = server.must("set", text=text, changes=[{"path": "/privacy/epsilon", "value": number}])
            assert float(one["draft"]["tree"]["privacy"]["epsilon"]) == number
            assert len(one["draft"]["tree"]["privacy"]["epsilon"]) <= len(repr(number)) + 1

    @case
    def a_plan_begins_with_a_header():
        text = server.must("new", file="apisrs.csv", plan="deep/er/plan.yaml")["text"]
        assert 'file: "../../apisrs.csv"' in text or "file: ../../apisrs.csv" in text
        names = [column["name"] for column in server.must("header", file="apisrs.csv")["columns"]]
        header = (API / "apisrs.csv").read_text().splitlines()[0]
        assert names == header.replace('"', "").split(",")
        draft = server.must("draft", text=server.must("new")["text"])
        assert draft["tree"]["source"] == {"file": "survey.csv"} and draft["tree"]["columns"] == {}
        assert "program" not in server.must("new")["text"] and "header" not in server.must("new")["text"]

    @case
    def saving_finds_what_others_have_changed():
        text = plan_text()
        first = server.must("save", file="mine.yaml", text=text, hash=None)
        assert first["hash"] == hashlib.sha256(text.encode()).hexdigest() and (server.folder / "mine.yaml").read_text() == text
        assert server.ask("save", file="mine.yaml", text="x", hash=None).status == 409
        (server.folder / "mine.yaml").chmod(0o640)
        second = server.must("save", file="mine.yaml", text=text + "# a\n", hash=first["hash"])
        assert (server.folder / "mine.yaml").stat().st_mode & 0o777 == 0o640
        (server.folder / "mine.yaml").write_text("other\n")
        changed = server.ask("save", file="mine.yaml", text=text, hash=second["hash"])
        assert changed.status == 409 and changed.json()["code"] == "changed" and changed.json()["text"] == "other\n"
        (server.folder / "mine.yaml").unlink()
        gone = server.ask("save", file="mine.yaml", text=text, hash=second["hash"])
        assert gone.status == 409 and gone.json()["hash"] is None and gone.json()["text"] is None
        assert not [f for f in server.folder.iterdir() if f.name.startswith(".")]

    @case
    def a_release_is_checked_confirmed_made_and_verified():
        text = plan_text()
        assert server.must("account", file="plan.yaml", text=text) == {"ledger": "tamis.ledger", "exists": False, "book": None}
        assert server.must("job") == {"job": None} and server.ask("job", job=1).status == 404
        ready = server.must("ready", file="plan.yaml", text=text)
        assert ready["survey"] == DEMO and ready["folder"] == "plan-release" and ready["ready"]["repeated"] is False
        assert not (server.folder / "tamis.ledger").exists()
        changed = server.ask("ready", file="plan.yaml", text=text + "# more\n")
        assert changed.status == 409 and changed.json()["code"] == "changed"
        for confirm in ("", "x", DEMO.upper()):
            assert server.ask("release", file="plan.yaml", text=text, confirm=confirm).status == 422
        assert server.ask("release", file="plan.yaml", text=text).status == 422
        for folder in ("..", "../x", "/tmp/x", ".x", "apisrs.csv", "none/x"):
            assert server.ask("release", file="plan.yaml", text=text, confirm=DEMO, folder=folder).status == 422, folder
        assert not (server.folder / "tamis.ledger").exists()
        job = server.finish(file="plan.yaml", text=text, confirm=DEMO)
        assert job["state"] == "done" and job["phase"] == "written" and job["entry"] == 2, job
        assert job["result"]["release"] == json.loads((server.folder / "plan-release" / "release.json").read_text())
        assert "New ledger" in job["result"]["notice"] or "new ledger" in job["result"]["notice"], job["result"]["notice"]
        assert server.must("verify", folder="plan-release")["ok"] is True
        assert server.must("verify", ledger="tamis.ledger", against=["plan-release"])["ok"] is True
        book = server.must("account", file="plan.yaml", text=text)["book"]
        assert book == json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=server.folder).stdout)
        assert server.must("export", ledger="tamis.ledger")["text"] == tamis("ledger", "export", "tamis.ledger", cwd=server.folder).stdout
        assert server.must("export", ledger="tamis.ledger", form="json")["name"] == "tamis.ledger.json"
        kinds = {entry["name"]: entry["kind"] for entry in server.must("files")["entries"]}
        assert kinds["plan-release"] == "release" and kinds["tamis.ledger"] == "ledger" and kinds["plan.yaml"] == "plan"

    @case
    def the_same_again_costs_nothing_and_another_is_refused_by_the_budget():
        text = plan_text()
        ready = server.must("ready", file="plan.yaml", text=text, folder="second")
        assert ready["ready"]["repeated"] is True
        job = server.finish(file="plan.yaml", text=text, folder="second", confirm=DEMO)
        assert job["state"] == "done" and job["result"]["repeated"] is True and job["entry"] in (None, 2)
        more = server.must("set", text=text, changes=[{"path": "/privacy/epsilon", "value": 7}])["text"]
        refused = server.ask("ready", file=saved("more.yaml", more), text=more)
        assert refused.status == 403 and refused.json()["code"] == "refused" and refused.json()["reason"] == "budget"
        preview = server.must("preview", file="more.yaml", text=more)
        assert preview["refusal"]["reason"] == "budget"
        raised = server.must("raise", ledger="tamis.ledger", survey=DEMO, epsilon="13", reason="a test")
        assert raised["book"]["accounts"][0]["budget"]["epsilon"]["upper"] == 13
        assert server.ask("raise", ledger="tamis.ledger", survey=DEMO, epsilon="12", reason="a test").status == 403
        assert server.ask("raise", ledger="tamis.ledger", survey=DEMO, epsilon="14", rho="1", reason="x").status == 422
        assert server.ask("void", ledger="tamis.ledger", entry=2, reason="x").status == 403

    @case
    def a_report_is_seen_once_in_a_sandbox():
        view = server.must("open", folder="plan-release")["view"]
        answer = server.raw(server.head("GET", view, without=("Authorization",)))
        assert answer.status == 200 and answer.body == (server.folder / "plan-release" / "report.html").read_bytes()
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert "content-disposition" not in answer.headers
        assert server.raw(server.head("GET", view, without=("Authorization",))).status == 404
        view = server.must("open", folder="plan-release", name="release.csv")["view"]
        answer = server.raw(server.head("GET", view, without=("Authorization",)))
        assert answer.headers["content-disposition"] == 'attachment; filename="release.csv"'
        view = server.must("open", folder="plan-release")["view"]
        assert server.raw(server.head("GET", view, Sec_Fetch_Site="cross-site")).status == 403
        for _ in range(40):  # the oldest make room
            last = server.must("open", folder="plan-release")["view"]
        assert server.raw(server.head("GET", view)).status == 404 and server.raw(server.head("GET", last)).status == 200

    @case
    def the_example_is_copied_into_a_folder_of_its_own():
        first, second = server.must("example")["file"], server.must("example")["file"]
        assert first == "tamis-example/plan.yaml" and second != first
        server.must("preview", file=first, text=server.must("read", file=first)["text"])

    @case
    def a_plan_in_a_folder_has_its_release_beside_it():
        text = server.must("read", file="tamis-example/plan.yaml")["text"]
        assert server.must("ready", file="tamis-example/plan.yaml", text=text)["folder"] == "tamis-example/plan-release"
        assert server.must("account", file="tamis-example/plan.yaml", text=text)["ledger"] == "tamis-example/tamis.ledger"

    @case
    def a_release_is_signed_with_a_key_of_the_folder():
        assert tamis("key", "create", "agency", cwd=server.folder).returncode == OK
        text = plan_text()
        job = server.finish(file="plan.yaml", text=text, folder="signed", sign="agency.key", confirm=DEMO)
        assert job["state"] == "done" and (server.folder / "signed" / "certificate.sig").exists()
        assert server.must("verify", folder="signed")["signature"] == "not checked"
        assert server.ask("ready", file="plan.yaml", text=text, folder="x", sign="../agency.key").status == 422

    main()
