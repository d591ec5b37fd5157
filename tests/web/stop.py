"""SIGINT, SIGTERM and Stop at random moments of a release: the ledger verifies, nothing is published that was not charged, and the next
run of the same plan pays nothing more. The seed is printed; TAMIS_TEST_LONG=1 does it 200 times."""
import os
import random

from server import *

LONG = bool(os.environ.get("TAMIS_TEST_LONG"))
TIMES = 200 if LONG else 12
SEED = int(os.environ.get("TAMIS_TEST_SEED", time.time_ns() % 10**9))


def charges(folder):
    """Of the account: the number of charges that count, and what was spent."""
    if not (folder / "tamis.ledger").exists():
        return 0, 0
    done = tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder)
    assert done.returncode == OK, done.stderr
    accounts = json.loads(done.stdout)["accounts"]
    if not accounts:
        return 0, 0
    counted = [entry for entry in accounts[0]["entries"] if entry["state"] != "voided"]
    return len(counted), accounts[0]["spent"]["epsilon"]["upper"]


def larger(folder):
    """The example with as many rows as take some time to read."""
    lines = (folder / "apisrs.csv").read_text().splitlines(keepends=True)
    with (folder / "apisrs.csv").open("w") as out:
        out.write(lines[0])
        for _ in range(300):
            out.writelines(lines[1:])
    text = (folder / "plan.yaml").read_text().replace("{population: 6194, sample: 200}", "{population: 100000, sample: 60000}")
    (folder / "plan.yaml").write_text(text)
    return text


def once(dice, how):
    with api_folder() as folder:
        text = larger(folder)
        server = Server(folder)
        number = server.must("release", file="plan.yaml", text=text, confirm=DEMO)["job"]
        # a phase, and some time after it: on a busy machine time alone would always end the same one
        reached = ("checked", "charged", "read")[:dice.randrange(4)]
        while reached and (job := server.must("job", job=number))["state"] in ("waiting", "running") and job["phase"] != reached[-1] \
                and job["phase"] != "written":
            pass
        time.sleep(dice.choice((0, dice.uniform(0, 0.05), dice.uniform(0, 0.5))))
        if how == "stop":
            server.must("stop", job=number)
            begun = time.monotonic()
            while (job := server.must("job", job=number))["state"] in ("waiting", "running"):
                assert time.monotonic() - begun < 20
                time.sleep(0.02)
            assert server.end() == OK, server.said()
        else:
            code = server.end(getattr(signal, how))
            assert code in (OK, SYSTEM), (code, server.said())
            job = None
        said = server.said()
        count, spent = charges(folder)
        published = (folder / "plan-release").exists()
        assert count in (0, 1) and not (published and count == 0), (count, published)
        if how != "stop":  # who ends a release that was charged says so, with the entry and the amount
            told = "entry" in said and "epsilon 6" in said
            assert told == (code == SYSTEM and count == 1), (how, code, count, published, said)
        elif job["state"] == "stopped":
            assert job["error"] and not published and bool(job["error"]["charged"]) == (count == 1), job
        if count:
            assert spent == 6 and tamis("ledger", "verify", "tamis.ledger", cwd=folder).returncode == OK
        # the same plan again
        server = Server(folder)
        job = server.finish(file="plan.yaml", text=text, confirm=DEMO, folder="again")
        assert job["state"] == "done" and server.must("verify", folder="again")["ok"], job
        assert server.end() == OK
        assert charges(folder) == (1, 6)
        return count, published


@case
def a_release_may_be_ended_at_any_moment():
    print(f"# seed {SEED}")
    dice = random.Random(SEED)
    seen = [once(dice, ("SIGINT", "SIGTERM", "SIGHUP", "stop")[i % 4]) for i in range(TIMES)]
    print(f"# ended before the charge {seen.count((0, False))}, after it {seen.count((1, False))}, after the end {seen.count((1, True))}")


@case
def a_second_signal_changes_nothing():
    with api_folder() as folder:
        text = larger(folder)
        server = Server(folder)
        server.must("release", file="plan.yaml", text=text, confirm=DEMO)
        time.sleep(0.15)
        for _ in range(20):
            server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) in (OK, SYSTEM)
        assert charges(folder)[0] in (0, 1)


@case
def a_charge_that_was_not_published_is_voided_or_finished():
    with api_folder() as folder:
        text = larger(folder)
        for _ in range(40):  # until one is stopped between charge and end
            server = Server(folder)
            number = server.must("release", file="plan.yaml", text=text, confirm=DEMO, folder="one")["job"]
            while (job := server.must("job", job=number))["phase"] in (None, "checked") and job["state"] in ("waiting", "running"):
                pass
            server.must("stop", job=number)
            while (job := server.must("job", job=number))["state"] in ("waiting", "running"):
                pass
            if job["state"] == "stopped":
                break
            server.end()
            shutil.rmtree(folder / "one", ignore_errors=True)
            (folder / "tamis.ledger").unlink()
        assert job["state"] == "stopped" and job["error"]["charged"]["entry"] == job["entry"], job
        entries = server.must("account", ledger="tamis.ledger")["book"]["accounts"][0]["entries"]
        assert entries[-1]["state"] == "charged"
        book = server.must("void", ledger="tamis.ledger", entry=job["entry"], reason="stopped by a test")["book"]
        assert book["accounts"][0]["entries"][-1]["state"] == "voided" and book["accounts"][0]["spent"]["epsilon"]["upper"] == 0
        assert server.end() == OK


@case
def a_database_that_does_not_answer_keeps_nobody_waiting():
    with serving() as server, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        body = json.dumps({"connection": f"host=127.0.0.1 port={silent.getsockname()[1]} dbname=x", "table": "t"}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as asking:
            asking.sendall(server.head(path="/api/header", body=body) + body)
            silent.settimeout(20)
            silent.accept()
            begun = time.monotonic()
            server.must("account", text=plan_of(server))
            server.must("preview", text=plan_of(server))
            assert server.end() == OK and time.monotonic() - begun < 20


@case
def a_database_that_stops_answering_is_left():
    with serving() as server, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(20)
        source = {"postgres": {"connection": f"host=127.0.0.1 port={silent.getsockname()[1]} user=x dbname=x", "table": "t"}}
        text = server.must("set", text=plan_of(server), changes=[{"path": "/source", "value": source}])["text"]
        server.must("save", file="silent.yaml", text=text, hash=None)
        body = json.dumps({"file": "silent.yaml", "text": text}).encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as asking:
            asking.sendall(server.head(path="/api/ready", body=body) + body)
            client, _ = silent.accept()
            with client:
                client.settimeout(20)
                while len(client.recv(4096)) == 8:  # no, no encryption
                    client.sendall(b"N")
                told = b"".join(b"S" + (len(pair) + 4).to_bytes(4, "big") + pair for pair in (b"server_version\x0016.0\0", b"server_encoding\0UTF8\0"))
                client.sendall(b"R\0\0\0\x08\0\0\0\0" + told + b"Z\0\0\0\x05I")
                assert client.recv(4096)  # the first question, which is never answered
                server.process.send_signal(signal.SIGTERM)
                assert asking.recv(4096).startswith(b"HTTP/1.1 "), "the request was not answered"
                assert server.end() == OK


@case
def a_release_that_is_being_accepted_is_not_forgotten():
    values = ",".join(f"v{i}" for i in range(30000))  # the plan takes some time to read
    accepted = 0
    for delay in (0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3):
        with api_folder() as folder:
            text = (folder / "plan.yaml").read_text().replace("columns:\n", "columns:\n  big: {values: [" + values + "]}\n")
            (folder / "plan.yaml").write_text(text)
            server = Server(folder)
            body = json.dumps({"file": "plan.yaml", "text": text, "confirm": DEMO}).encode()
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as asking:
                asking.sendall(server.head(path="/api/release", body=body) + body)
                time.sleep(delay)
                code = server.end(signal.SIGTERM)
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while piece := asking.recv(4096):
                        answer += piece
            taken = answer.startswith(b"HTTP/1.1 200 ")
            accepted += taken
            published = (folder / "plan-release").exists()
            said = [line for line in server.said().splitlines() if line.startswith("tamis: ")]
            assert not (published and not taken) and code == (SYSTEM if taken and not published else OK), (delay, code, answer, published, said)
            assert bool(said) == (code == SYSTEM), (delay, code, answer, said)
    print(f"# accepted {accepted} of 9")


main()
