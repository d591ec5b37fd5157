"""Requests of a hostile web page and of a hostile local process: one table, each with the status that it must get.

A row is a name, what is sent, and the statuses that are right; 0 is a connection that was cut off without an answer."""
import os

from server import *

COMMAND = {"command": ["touch", "ran"], "dialect": "duckdb", "table": "t"}
EVIL = "http://evil.example"


def small(name, status, path="/api/about", body=b"{}", **changed):
    return name, lambda s: s.head(path=path, body=body, **changed) + body, status


def to(name, status, route, /, **members):
    def make(s):
        body = json.dumps(members).encode()
        return s.head(path=f"/api/{route}", body=body) + body
    return name, make, status


def with_plan(name, status, route, path, value, /, **members):
    """A plan with one value changed, as its text."""
    def make(s):
        text = s.must("set", text=(API / "plan.yaml").read_text(), changes=[{"path": path, "value": value}])["text"]
        body = json.dumps({"text": text, **members}).encode()
        return s.head(path=f"/api/{route}", body=body) + body
    return name, make, status


def head(name, status, **changed):
    return name, lambda s: s.head(**changed) + b"{}", status


ROWS = [
    # Host: names of others that lead here, and what two readers would read differently
    head("a name that was pointed at this computer", 421, Host="evil.example"),
    head("that name with our port", 421, Host="evil.example:8080"),
    ("our address with another port", lambda s: s.head(Host=f"127.0.0.1:{s.port ^ 1}") + b"{}", 421),
    head("our address without a port", 421, Host="127.0.0.1"),
    ("another address of this computer", lambda s: s.head(Host=f"127.0.0.2:{s.port}") + b"{}", 421),
    ("the IPv6 address", lambda s: s.head(Host=f"[::1]:{s.port}") + b"{}", 421),
    ("our address with a dot", lambda s: s.head(Host=f"localhost.:{s.port}") + b"{}", 421),
    head("no Host", (400, 421), without=("Host",)),
    head("an empty Host", (400, 421), Host=""),
    ("two Hosts, ours first", lambda s: s.head(more=[("Host", "evil.example")]) + b"{}", 421),
    ("two Hosts, ours last", lambda s: s.head(Host="evil.example", more=[("Host", s.host)]) + b"{}", 421),
    ("two Hosts, both ours", lambda s: s.head(more=[("host", s.host)]) + b"{}", 421),
    ("an absolute address of others", lambda s: s.head(path="http://evil.example/api/about") + b"{}", 421),
    ("an absolute address of ours", lambda s: s.head(path=f"http://{s.host}/api/about") + b"{}", 421),
    head("HTTP/1.0", 421, version="HTTP/1.0"),
    head("HTTP/0.9", (0, 400, 421, 505), version="HTTP/0.9"),
    head("a path that is none", (0, 400, 421), path="*"),
    # Origin and Sec-Fetch-Site: pages of others
    head("a page of another origin", 403, Origin=EVIL),
    head("a page without an origin", 403, Origin="null"),
    ("a page of another port", lambda s: s.head(Origin=f"http://127.0.0.1:{s.port ^ 1}") + b"{}", 403),
    ("ours with https", lambda s: s.head(Origin=f"https://{s.host}") + b"{}", 403),
    ("ours with more behind it", lambda s: s.head(Origin=f"http://{s.host}.evil.example") + b"{}", 403),
    ("two Origins", lambda s: s.head(Origin=f"http://{s.host}", more=[("Origin", EVIL)]) + b"{}", 421),
    head("another site", 403, Sec_Fetch_Site="cross-site"),
    head("another port of this site", 403, Sec_Fetch_Site="same-site"),
    head("a site that is no word", 403, Sec_Fetch_Site="x"),
    head("a form that was sent from elsewhere", 403, Origin=EVIL, Content_Type="application/x-www-form-urlencoded"),
    ("a page of others asks for a script", lambda s: s.head("GET", "/index.html", without=("Authorization",), Sec_Fetch_Site="cross-site"), 403),
    ("a link to another file than the page", lambda s: s.head("GET", "/index.html", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate",
                                                              Sec_Fetch_Dest="document"), 403),
    ("our page in a frame", lambda s: s.head("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate",
                                             Sec_Fetch_Dest="iframe"), 403),
    ("a preflight", lambda s: s.head("OPTIONS", Origin=EVIL, without=("Authorization",),
                                     more=[("Access-Control-Request-Method", "POST")]), 403),
    # methods and addresses
    head("GET of a route", 405, method="GET"),
    head("PUT of a route", 405, method="PUT"),
    head("OPTIONS of a route", 405, method="OPTIONS"),
    head("a method that nobody knows", 405, method="FROB"),
    head("TRACE", 405, method="TRACE"),
    ("POST of the page", lambda s: s.head(path="/") + b"{}", 405),
    ("a file that is not in the program", lambda s: s.head("GET", "/secret"), 404),
    ("the folder's plan", lambda s: s.head("GET", "/plan.yaml"), 404),
    ("upwards", lambda s: s.head("GET", "/../../etc/passwd"), 404),
    ("upwards, encoded", lambda s: s.head("GET", "/%2e%2e/%2e%2e/etc/passwd"), 404),
    ("upwards, encoded twice", lambda s: s.head("GET", "/%252e%252e/etc/passwd"), 404),
    ("upwards with a backslash", lambda s: s.head("GET", "/..\\..\\etc\\passwd"), (400, 404)),
    ("a name with an end in it", lambda s: s.head("GET", "/index.html%00.js"), (200, 404)),
    ("a second slash", lambda s: s.head("GET", "//index.html"), 404),
    small("a route that is not there", 404, "/api/estimate"),
    small("a route with something behind it", 404, "/api/about/"),
    small("a route with something encoded behind it", 404, "/api/about%2f.."),
    small("no route", 404, "/api/"),
    ("a view that was never made", lambda s: s.head("GET", "/view/" + "0" * 32), 404),
    ("a view without a number", lambda s: s.head("GET", "/view/"), 404),
    # tokens
    head("no token", 401, without=("Authorization",)),
    head("a wrong token", 401, Authorization="Bearer " + "0" * 64),
    ("half of the token", lambda s: s.head(Authorization=f"Bearer {s.token[:32]}") + b"{}", 401),
    ("the token and more", lambda s: s.head(Authorization=f"Bearer {s.token}0") + b"{}", 401),
    ("the token in capitals", lambda s: s.head(Authorization=f"Bearer {s.token.upper()}x") + b"{}", 401),
    ("the token by another scheme", lambda s: s.head(Authorization=f"Basic {s.token}") + b"{}", 401),
    ("the token in the address", lambda s: s.head(path=f"/api/about?token={s.token}", without=("Authorization",)) + b"{}", 401),
    ("the token as a cookie", lambda s: s.head(without=("Authorization",), Cookie=f"token={s.token}") + b"{}", 401),
    ("two tokens", lambda s: s.head(more=[("Authorization", f"Bearer {s.token}")]) + b"{}", 421),
    # kinds and lengths of bodies
    head("a form", 415, Content_Type="application/x-www-form-urlencoded"),
    head("text, which a form can send without asking", 415, Content_Type="text/plain"),
    head("a kind that begins like JSON", 415, Content_Type="application/jsonx"),
    head("no kind", 415, without=("Content-Type",)),
    head("no length", 411, without=("Content-Length",)),
    ("pieces", lambda s: s.head(without=("Content-Length",), Transfer_Encoding="chunked") + b"2\r\n{}\r\n0\r\n\r\n", 411),
    ("pieces and a length", lambda s: s.head(Transfer_Encoding="chunked") + b"2\r\n{}\r\n0\r\n\r\n", (400, 411)),
    ("two lengths", lambda s: s.head(more=[("Content-Length", "3")]) + b"{} ", (400, 421)),
    head("a length below zero", (400, 411), Content_Length="-1"),
    head("a length that is none", (400,), Content_Length="two"),
    head("a length beyond 64 bits", (400, 413), Content_Length="99999999999999999999999"),
    ("2 MB", lambda s: s.head(Content_Length=str(2 << 20)) + b"{" * (2 << 20), (0, 413)),
    ("one byte too many", lambda s: s.head(Content_Length=str((1 << 20) + (64 << 10) + 1)), (0, 413)),
    ("a header of 200 kB", lambda s: s.head(X="x" * 200_000), (0, 413, 431)),
    ("10,000 headers", lambda s: s.head(more=[(f"X{i}", "x") for i in range(10_000)]), (0, 413, 431)),
    ("an address of 200 kB", lambda s: s.head("GET", "/" + "x" * 200_000), (0, 414, 431)),
    ("not HTTP", lambda s: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n", (0, 400, 505)),
    # JSON
    small("no JSON", 400, body=b"x"),
    small("an empty body", 400, body=b""),
    small("a list", 400, body=b"[]"),
    small("half an object", 400, body=b'{"a"'),
    small("two objects", 400, body=b"{}{}"),
    small("a member twice", 400, body=b'{"topic": "srs", "topic": "pps"}', path="/api/explain"),
    small("65 deep", 400, body=b'{"a":' * 65 + b"1" + b"}" * 65),
    small("100,000 deep", 400, body=b"[" * 100_000),
    small("an end of text in a text", 400, path="/api/read", body=b'{"file": "plan.yaml\\u0000.csv"}'),
    small("bytes that are no UTF-8", 400, path="/api/read", body=b'{"file": "\xff\xfe"}'),
    small("a member that nobody knows", 422, body=b'{"x": 1}'),
    to("a number in the place of a text", 422, "read", file=7),
    to("a text in the place of a truth", 422, "preview", text="", advice="yes"),
    # paths
    to("a file above the folder", 422, "read", file="../outside.yaml"),
    to("an absolute file", 422, "read", file="/etc/passwd.yaml"),
    to("no plan's name", 422, "read", file="apisrs.csv"),
    to("a hidden file", 422, "read", file=".hidden.yaml"),
    to("a link that leads out", 422, "read", file="link.yaml"),
    to("a link to a folder outside", 422, "read", file="out/outside.yaml"),
    to("a pipe", 422, "read", file="pipe.yaml"),
    to("a folder in the place of a file", 422, "read", file="folder.yaml"),
    to("this process", 422, "read", file="/proc/self/environ.yaml"),
    to("this process, from below", 422, "header", file="../../../../proc/self/environ"),
    to("a header outside", 422, "header", file="../outside.csv"),
    to("a header of a link that leads out", 422, "header", file="link.csv"),
    to("a header of a pipe", 422, "header", file="pipe.csv"),
    to("a header of a device", 422, "header", file="/dev/zero"),
    to("a list of a folder above", 422, "files", folder=".."),
    to("a list of the whole computer", 422, "files", folder="/"),
    to("a list through a link that leads out", 422, "files", folder="out"),
    to("a plan saved above", 422, "save", file="../new.yaml", text="x", hash=None),
    to("a plan saved through a link", 422, "save", file="out/new.yaml", text="x", hash=None),
    to("a plan saved in the place of a link that leads out", (409, 422, 500), "save", file="link.yaml", text="x", hash=None),
    to("a plan saved in a folder that is not there", 422, "save", file="none/new.yaml", text="x", hash=None),
    to("something else saved", 422, "save", file="x.csv", text="x", hash=None),
    to("a hidden file saved", 422, "save", file=".x.yaml", text="x", hash=None),
    to("a ledger outside", 422, "account", ledger="../tamis.ledger"),
    to("a ledger that is a link out", 422, "account", ledger="link.ledger"),
    to("a ledger that is no ledger", 422, "account", ledger="apisrs.csv"),
    to("a release outside", 422, "verify", folder="../outside"),
    to("the page's own folder as a release", 422, "verify", folder="."),
    to("a view of a file outside", 422, "open", folder="..", name="report.html"),
    to("a view of a link that leads out", 422, "open", folder="rel", name="report.html"),
    to("a view of a file that is none of a release", 422, "open", folder=".", name="apisrs.csv"),
    # plans
    with_plan("a source outside", 422, "preview", "/source", {"file": "../outside.csv"}),
    with_plan("an absolute source", 422, "preview", "/source", {"file": "/etc/passwd.csv"}),
    with_plan("a source that is a link out", 422, "preview", "/source", {"file": "link.csv"}),
    with_plan("a source that is a pipe", 422, "preview", "/source", {"file": "pipe.csv"}),
    with_plan("a source that runs a command", 403, "preview", "/source", COMMAND),
    with_plan("a source that runs a command, compared", 403, "compare", "/source", COMMAND),
    with_plan("a source that runs a command, for a shell", 422, "preview", "/source", {**COMMAND, "command": "touch ran"}),
    with_plan("a source that runs a command beside a file", 422, "preview", "/source", {**COMMAND, "file": "apisrs.csv"}),
    with_plan("a source that a program brings", 403, "preview", "/source", {"caller": "x"}),
    with_plan("a ledger outside, in a plan", 422, "preview", "/ledger", "/tmp/x.ledger"),
    with_plan("counts from a file outside", 422, "preview", "/calibrate", {"to": "/etc/hostname"}),
    with_plan("values from a file outside", 422, "preview", "/columns/stype", {"values": {"file": "/etc/hostname"}}),
    with_plan("an earlier release outside", 422, "preview", "/statistics", [{"change": {"total": "enroll"}, "since": "../elsewhere"}]),
    with_plan("an earlier release that is a link out", 422, "preview", "/statistics", [{"change": {"total": "enroll"}, "since": "out"}]),
    with_plan("a frame that is a pipe", 422, "preview", "/design", {"pps": {"method": "sampford", "frame": "pipe.csv", "id": "cds"}}),
]


def hostile_folder(server):
    """What somebody may have put into a folder."""
    outside = server.folder.parent / (server.folder.name + "-outside")
    outside.mkdir()
    for name in ("outside.yaml", "outside.csv", "tamis.ledger", "report.html"):
        (outside / name).write_text("secret-of-somebody-else\n")
    at = server.folder
    (at / "link.yaml").symlink_to(outside / "outside.yaml")
    (at / "link.csv").symlink_to(outside / "outside.csv")
    (at / "link.ledger").symlink_to(outside / "tamis.ledger")
    (at / "out").symlink_to(outside)
    (at / "rel").mkdir()
    (at / "rel" / "report.html").symlink_to(outside / "report.html")
    (at / "folder.yaml").mkdir()
    for name in ("pipe.yaml", "pipe.csv"):
        os.mkfifo(at / name)
    return outside


HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer",
           "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin"}


def each(name, make, statuses):
    def is_refused():
        assert server.process.poll() is None, server.said()
        answer = server.raw(make(server))
        status = answer.status if answer else 0
        assert status in (statuses if isinstance(statuses, tuple) else (statuses,)), (status, answer and answer.body[:300])
        if answer and status >= 400:
            assert b"secret-of-somebody-else" not in answer.body and server.token.encode() not in answer.body
            assert "set-cookie" not in answer.headers and "access-control-allow-origin" not in answer.headers
        if answer and answer.headers.get("content-type") == "application/json":
            assert all(answer.headers.get(key) == value for key, value in HEADERS.items()), answer.headers
            assert answer.json()["code"] in ("request", "token", "invalid", "refused", "changed", "system"), answer.body
        assert not list(server.folder.glob("ran")) and not list(server.folder.glob("new.yaml"))

    case(is_refused, f"{name}: {' or '.join(map(str, statuses)) if isinstance(statuses, tuple) else statuses}")


@case
def the_server_is_bound_to_this_computer_alone():
    with serving() as one:
        bound = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        mine = {fields[1] for fields in bound if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == one.port}
        assert {address.split(":")[0] for address in mine} == {"0100007F"}


@case
def nothing_is_written_under_read_only():
    with serving("--read-only") as one:
        text = plan_of(one)
        before = sorted((f.name, f.stat().st_mtime_ns) for f in one.folder.iterdir())
        assert one.must("about")["read_only"] is True
        for route in ("save", "example", "ready", "release", "stop", "void", "raise"):
            assert one.ask(route).status == 404, route
        one.must("preview", text=text)
        one.must("account", text=text)
        assert before == sorted((f.name, f.stat().st_mtime_ns) for f in one.folder.iterdir())


@case
def a_path_of_also_may_be_named():
    with tempfile.TemporaryDirectory() as other:
        shutil.copy(API / "apisrs.csv", other)
        (pathlib.Path(other) / "deep").mkdir()
        (pathlib.Path(other) / "deep" / "link.csv").symlink_to("/etc/passwd")
        with serving("--also", other) as one:
            real = one.must("about")["also"][0]
            text = one.must("set", text=plan_of(one), changes=[{"path": "/source/file", "value": f"{real}/apisrs.csv"}])["text"]
            one.must("preview", text=text)
            one.must("header", file=f"{real}/apisrs.csv")
            assert [e["name"] for e in one.must("files", folder=real)["entries"]] == ["deep", "apisrs.csv"]
            for wrong in (f"{real}/../x.csv", f"{real}x/apisrs.csv", f"{real}/deep/link.csv", "/etc/passwd"):
                assert one.ask("header", file=wrong).status == 422, wrong
            assert one.must("new", file=f"{real}/apisrs.csv")["text"].count(f"{real}/apisrs.csv") == 1


@case
def what_is_verified_does_not_lead_out_of_the_folder():
    with tempfile.TemporaryDirectory() as name:
        folder, other = pathlib.Path(name) / "in", pathlib.Path(name) / "out"
        folder.mkdir()
        other.mkdir()
        for file in ("plan.yaml", "sample.csv", "frame.csv"):
            shutil.copy(TOP / "examples" / "municipalities" / file, folder)
        done = tamis("release", "plan.yaml", "--quiet", "--out", "rel", "--engine", "memory", cwd=folder)
        assert done.returncode == OK, done.stderr
        shutil.copy(folder / "frame.csv", other)
        one = Server(folder)
        found = one.must("verify", folder="rel")
        assert found["ok"] and found["frame"] == "match", found
        beside, above = folder / "rel" / "frame.csv", folder / "frame.csv"
        for make in (lambda: beside.symlink_to(other / "frame.csv"), lambda: beside.symlink_to(other / "none"),
                     lambda: os.mkfifo(beside), lambda: beside.symlink_to("/dev/zero")):
            make()
            found = one.must("verify", folder="rel")
            assert found["frame"] == "differ" and [p["field"] for p in found["problems"]] == ["frame"], found
            beside.unlink()
        above.unlink()
        above.symlink_to(other / "frame.csv")
        assert one.must("verify", folder="rel")["frame"] == "missing"
        assert one.end() == OK, one.said()
        one = Server(folder, "--also", str(other))
        assert one.must("verify", folder="rel")["frame"] == "match"
        assert one.end() == OK, one.said()


@case
def a_connection_of_a_plan_sends_no_password_elsewhere():
    with serving() as one, socket.socket() as listening:
        listening.bind(("127.0.0.2", 0))
        listening.listen()
        listening.settimeout(0.2)
        to = f"hostaddr=127.0.0.2 port={listening.getsockname()[1]}"

        def ask(connection):
            source = {"postgres": {"connection": connection, "table": "t"}}
            text = one.must("set", text=plan_of(one), changes=[{"path": "/source", "value": source}])["text"]
            return one.ask("preview", text=text)
        for wrong in (f"host=db.agency.example {to} user=anna dbname=survey", f"host=x{to.replace('=', ' = ')}", f"dbname='x'{to}",
                      f"dbname='a\\' ' {to}", f"dbname=a\\ b {to}", "host=a passfile=/etc/x", "host=a sslkey=x", "host=a sslcert=x",
                      "host=a sslrootcert=x", "host=a sslmode=disable", "host=a sslmode='verify-full", "service=a servicefile=x",
                      "service=a host=b", "host=b service=a", "service=a port=1", "service=a user=b", "host=a options=-cx=y", "HOSTADDR=1",
                      "postgresql://anna@db/survey?hostaddr=127.0.0.2", "postgres://db/x?dbname=y&hostaddr=127.0.0.2", "postgresql:///x?service=a",
                      "postgresql://db/x?%68ostaddr=127.0.0.2", "postgresql://db/x?sslmode=disable", "postgresql://db/x?ssl=true",
                      "postgresql://db/x?sslmode=verify-full&passfile=y", "dbname=postgresql://db krbsrvname=x", "host"
                      "=a gssencmode=require", "a b=c", "=a"):
            answer = ask(wrong)
            assert answer.status == 422 and "expected service=NAME" in answer.json()["message"], (wrong, answer.body[:300])
            answer = one.ask("header", connection=wrong, table="t")
            assert answer.status == 422 and "expected service=NAME" in answer.json()["message"], (wrong, answer.body[:300])
            assert one.ask("new", connection=wrong, table="t").status == 422, wrong
        for right in ("service=survey", "service=survey dbname=x", "survey", "host=db.agency.example port=5432 user='anna' dbname = survey",
                      "host=a sslmode=verify-full connect_timeout=3", "postgresql://anna@db:5433/survey?sslmode=verify-full", "dbname='it\\'s'"):
            assert ask(right).status == 200, (right, ask(right).body[:300])
        with contextlib.suppress(TimeoutError):
            listening.accept()
            raise AssertionError("a server was connected to")


@case
def wrong_command_lines_are_said_so():
    with api_folder() as folder:
        for arguments in (["none"], [str(folder / "plan.yaml")], [str(folder), "--port", "80"], [str(folder), "--port", "x"],
                          [str(folder), "--also", "/no/such/path"], [str(folder), "--also", "/"]):
            done = tamis("serve", *arguments)
            assert done.returncode == USAGE and done.stdout == "" and done.stderr, (arguments, done)
        with serving() as one:
            done = tamis("serve", str(folder), "--port", str(one.port))
            assert done.returncode == SYSTEM and "could be started" in done.stderr


with serving() as server:
    outside = hostile_folder(server)
    for row in ROWS:
        each(*row)

    @case
    def the_table_has_60_rows_and_each_has_a_name_of_its_own():
        assert len(ROWS) >= 60 and len({row[0] for row in ROWS}) == len(ROWS)

    @case
    def an_honest_request_is_answered_after_all_that():
        assert server.must("about")["folder"] == server.folder.name

    @case
    def names_that_are_ours_are_answered():
        for changes in ({"Host": f"localhost:{server.port}"}, {"Origin": server.url}, {"Sec_Fetch_Site": "same-origin"},
                        {"Sec_Fetch_Site": "none"}, {"Origin": f"http://localhost:{server.port}"},
                        {"Content_Type": "application/json; charset=utf-8"}):
            answer = server.raw(server.head(**changes) + b"{}")
            assert answer.status == 200, changes

    @case
    def a_link_from_elsewhere_leads_to_the_page():
        answer = server.raw(server.head("GET", "/", without=("Authorization", "Content-Type", "Content-Length"), Sec_Fetch_Site="cross-site",
                                        Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document"))
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/html")
        policy = answer.headers["content-security-policy"]
        for piece in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
                      "base-uri 'none'", "form-action 'none'"):
            assert piece in policy, policy
        assert "unsafe" not in policy

    @case
    def a_file_of_the_page_is_not_sent_again():
        first = server.raw(server.head("GET", "/"))
        again = server.raw(server.head("GET", "/", If_None_Match=first.headers["etag"]))
        assert again.status == 304 and again.body == b""

    @case
    def names_are_listed_and_never_interpreted():
        names = ["<img src=x onerror=alert(1)>.csv", "\u202egpj.csv", "'; DROP TABLE x.csv", "a\nb.csv"]
        for name in names:
            (server.folder / name).write_text("<script>alert(1)</script>,\u202ex\n1,2\n")
        listed = {entry["name"] for entry in server.must("files")["entries"]}
        assert set(names) <= listed and not any(name.startswith(".") for name in listed)
        assert "link.csv" not in listed and "pipe.csv" not in listed and "out" not in listed
        header = server.must("header", file=names[0])
        assert header["columns"][0]["name"] == "<script>alert(1)</script>", header
        for name in names:
            (server.folder / name).unlink()

    @case
    def a_release_runs_no_command():
        text = server.must("set", text=plan_of(server), changes=[{"path": "/source", "value": COMMAND}])["text"]
        server.must("save", file="command.yaml", text=text, hash=None)
        assert server.ask("ready", file="command.yaml", text=text).status == 403
        assert server.ask("release", file="command.yaml", text=text, confirm=DEMO).status == 403
        assert server.must("job") == {"job": None} and not (server.folder / "ran").exists()
        (server.folder / "command.yaml").unlink()

    @case
    def a_pattern_or_an_address_is_no_file():
        for source in ("*.csv", "**/*.csv", "apisrs.cs?.csv", "[a]pisrs.csv", "http://127.0.0.1:1/x.csv", "s3://a/b.csv", "glob('x').csv",
                       "a.csv' OR '1.csv"):
            text = server.must("set", text=plan_of(server), changes=[{"path": "/source", "value": {"file": source}}])["text"]
            if (server.folder / "odd.yaml").exists():
                (server.folder / "odd.yaml").unlink()
            server.must("save", file="odd.yaml", text=text, hash=None)
            answer = server.ask("ready", file="odd.yaml", text=text)
            assert answer.status == 422, (source, answer.status, answer.body[:300])
            assert "no such file" in answer.json()["message"].lower() or "source" in answer.json()["message"], answer.body[:300]
        (server.folder / "odd.yaml").unlink()

    @case
    def slow_clients_are_cut_off():
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        begun = time.monotonic()
        for i in range(9):
            for s in slow:
                with contextlib.suppress(OSError):
                    s.sendall(b"GET / HTTP/1.1\r\n"[i:i + 1] or b"X")
            assert server.must("about")
            time.sleep(0.8)
        for s in slow:
            s.settimeout(5)
            with contextlib.suppress(ConnectionError):
                assert s.recv(1000) == b"", "a client that sends a byte now and then stays"
            s.close()
        assert time.monotonic() - begun < 30

    @case
    def two_hundred_idle_clients_lock_others_out_for_seconds_only():
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        begun = time.monotonic()
        assert server.raw(server.head() + b"{}", 60).status == 200
        assert time.monotonic() - begun < 40
        for s in idle:
            s.close()

    @case
    def the_log_has_nothing_of_a_request():
        server.ask("read", file="a-name-that-nobody-has.yaml")
        said = server.said()
        for line in said.splitlines():
            assert re.fullmatch(r"\d\d:\d\d:\d\d (-|[a-z]+) +\d{3} \d+ ms", line), line
        assert server.token not in said and "nobody-has" not in said

    @case
    def outside_nothing_was_changed():
        assert sorted(file.name for file in outside.iterdir()) == ["outside.csv", "outside.yaml", "report.html", "tamis.ledger"]
        assert {file.read_text() for file in outside.iterdir()} == {"secret-of-somebody-else\n"}

    @case
    def many_changes_of_a_long_plan_are_not_made():
        change = {"path": "/title", "value": "x"}
        assert server.must("set", text=plan_of(server), changes=[change] * 100)
        begun = time.monotonic()
        answer = server.ask("set", text=plan_of(server) + "#" * 900_000, changes=[change] * 100)
        assert answer.status == 422 and "too many" in answer.json()["message"] and time.monotonic() - begun < 10, answer.body[:300]

    @case
    def wrong_tokens_end_nothing():
        for i in range(60):
            assert server.raw(server.head(Authorization=f"Bearer {i:064}") + b"{}").status == 401
        assert server.must("about") and server.process.poll() is None

    try:
        main()
    finally:
        shutil.rmtree(outside)
