"""No data value reaches the page. Before the charge the server reads the header of the data and what all neighbours share, and a value
that nobody else has is in no answer and in no line of the log, whatever is asked."""
import os

from server import *

CANARY = "907153"  # of one school; in no other place


def with_canary(folder):
    lines = (folder / "apisrs.csv").read_text().splitlines(keepends=True)
    at = lines[0].replace('"', "").strip().split(",").index("enroll")
    fields = lines[100].rstrip("\n").split(",")
    # texts with commas come before; the column is counted from the end
    fields[at - len(lines[0].split(","))] = CANARY
    lines[100] = ",".join(fields) + "\n"
    (folder / "apisrs.csv").write_text("".join(lines))
    text = (folder / "plan.yaml").read_text().replace("to: 4000", "to: 1000000")
    (folder / "plan.yaml").write_text(text)
    return text


def ask_everything(server, text, seen):
    """Each route, with what a page would ask and with what an attacker would."""
    plan = {"file": "plan.yaml", "text": text}
    questions = [
        ("about", {}), ("files", {}), ("header", {"file": "apisrs.csv"}), ("new", {"file": "apisrs.csv"}), ("read", {"file": "plan.yaml"}),
        ("read", {"file": "apisrs.csv"}), ("draft", plan), ("set", {**plan, "changes": [{"path": "/title", "value": "x"}]}), ("preview", plan),
        ("preview", {**plan, "advice": True}), ("compare", plan), ("epsilon", {**plan, "share": "0.5"}), ("settings", {}), ("account", plan),
        ("verify", {"folder": "."}), ("open", {"folder": ".", "name": "apisrs.csv"}), ("ready", plan), ("job", {}),
        ("draft", {"text": "calibrate: {to: apisrs.csv}\n"}), ("preview", {"text": text + "calibrate: {to: apisrs.csv}\n"}),
        ("preview", {"text": text.replace("{values: [E, M, H], typical: {E: 0.7, M: 0.15}}", "{values: {file: apisrs.csv}}")}),
        ("account", {"ledger": "apisrs.csv"}), ("verify", {"ledger": "apisrs.csv"}), ("export", {"ledger": "apisrs.csv"}),
        ("preview", {"text": text.replace("srs: {population: 6194, sample: 200}", "pps: {method: sampford, frame: apisrs.csv, id: cds}")}),
    ]
    for route, members in questions:
        answer = server.ask(route, **members)
        seen.append((route, answer.status, answer.body))


@case
def a_value_of_the_data_is_in_no_answer_and_in_no_log():
    with api_folder() as folder:
        text = with_canary(folder)
        assert CANARY in (folder / "apisrs.csv").read_text()
        server = Server(folder)
        seen = []
        ask_everything(server, text, seen)
        job = server.finish(file="plan.yaml", text=text, confirm=DEMO)
        assert job["state"] == "done", job
        seen.append(("job", 200, json.dumps(job).encode()))
        ask_everything(server, text, seen)
        view = server.must("open", folder="plan-release")["view"]
        seen.append(("view", 200, server.raw(server.head("GET", view)).body))
        # more rows than the design says, and none at all: what is wrong is said without a value
        for rows in ("1,2,3\n", "", (folder / "apisrs.csv").read_text() + f'{CANARY},"x"\n'):
            (folder / "wrong.csv").write_text(rows)
            wrong = text.replace("apisrs.csv", "wrong.csv")
            (folder / "wrong.yaml").write_text(wrong)
            answer = server.ask("ready", file="wrong.yaml", text=wrong, again=True)
            assert answer.status in (403, 422), answer.body
            seen.append(("ready", answer.status, answer.body))
        assert server.end() == OK
        for route, status, body in seen:
            assert CANARY.encode() not in body, (route, status)
        assert CANARY not in server.said()
        assert [status for _, status, _ in seen].count(200) > 30


def reads_of(trace, path):
    """From a log of strace -f: the bytes that were read from a file."""
    files, total = set(), 0
    for line in trace.splitlines():
        opened = re.search(r'open(?:at|at2)?\(.*"([^"]*)".*\) = (\d+)', line)
        closed = re.search(r"close\((\d+)\)", line)
        read = re.search(r"\b(?:read|pread64|readv|preadv)\((\d+),.*= (\d+)$", line)
        other = re.search(r"\b(?:mmap\(.*, (\d+), 0(?:x[0-9a-f]+)?\) = 0x|dup[23]?\((\d+))", line)
        if opened and opened.group(1).endswith(path):
            files.add(opened.group(2))
        elif closed:
            files.discard(closed.group(1))
        elif read and read.group(1) in files:
            total += int(read.group(2))
        elif other and (other.group(1) or other.group(2)) in files:
            raise AssertionError("what is read through a map or a second number cannot be seen: " + line)
    return total


@case
def planning_reads_nothing_of_the_data_but_the_header():
    if not shutil.which("strace"):
        raise Skip("no strace")
    program = unsanitized()
    with api_folder() as folder:
        text = (folder / "plan.yaml").read_text()
        lines = (folder / "apisrs.csv").read_text().splitlines(keepends=True)
        with (folder / "apisrs.csv").open("w") as out:  # beyond any buffer of a reader
            out.writelines([lines[0], *lines[1:] * 200])
        size = (folder / "apisrs.csv").stat().st_size
        log = folder.parent / (folder.name + ".strace")
        try:
            server = Server(folder, program=program, before=["strace", "-f", "-qq", "-e", "trace=open,openat,openat2,close,read,pread64,readv,preadv,mmap,dup,dup2,dup3",
                                            "-o", str(log)])
            for route, members in [("files", {}), ("header", {"file": "apisrs.csv"}), ("new", {"file": "apisrs.csv"}), ("draft", {"text": text}),
                                   ("preview", {"text": text, "advice": True}), ("compare", {"text": text}), ("epsilon", {"text": text, "share": "0.5"}),
                                   ("account", {"text": text}), ("save", {"file": "b.yaml", "text": text, "hash": None})]:
                server.must(route, **members)
            child = int(pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()[0])
            os.kill(child, signal.SIGINT)
            server.process.wait(60)
            trace = log.read_text()
        finally:
            log.unlink(missing_ok=True)
        assert trace.count('apisrs.csv') >= 2, "the header was read, and the log does not show it"
        total = reads_of(trace, "apisrs.csv")
        print(f"# bytes read of {size}: {total}")
        assert 0 < total <= 2 * 65536 < size / 4, total


main()
