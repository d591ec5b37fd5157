"""What the tests of `tamis serve` share: a server in a folder of its own, and requests that no browser would send."""
import contextlib
import json
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from kit import *  # noqa: E402

DEMO = "california-schools-2000"


def unsanitized():
    """The command as it is shipped, for what sanitizers do not allow."""
    if b"__asan_init" not in pathlib.Path(TAMIS).read_bytes():
        return TAMIS
    released = TOP / "build" / "release" / "cli" / "tamis"
    if not released.exists():
        raise Skip("needs the release build: sanitizers do not allow this")
    return str(released)


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, folder, *options, before=(), program=TAMIS, **more):
        self.folder = pathlib.Path(folder)
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*before, program, "serve", str(folder), "--json", *options], stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, env=environment(**more))
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"no server: {self.end()} {self.said()}")
        self.url, self.token = json.loads(line)["url"].split("/#")
        self.port = json.loads(line)["port"]
        self.host = f"127.0.0.1:{self.port}"

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self, number=signal.SIGINT, seconds=60):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(seconds)

    def head(self, method="POST", path="/api/about", version="HTTP/1.1", body=b"{}", without=(), more=(), **changed):
        """The bytes of a request that would be answered, with changes: Host="evil.com"."""
        headers = {"Host": self.host, "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
                   "Content-Length": str(len(body)), "Connection": "close"}
        headers.update({name.replace("_", "-"): value for name, value in changed.items()})
        lines = [f"{method} {path} {version}"] + [f"{name}: {value}" for name, value in headers.items() if name not in without]
        return "\r\n".join(lines + [f"{name}: {value}" for name, value in more]).encode("latin-1") + b"\r\n\r\n"

    def raw(self, data, seconds=30):
        """What comes back; None if the connection was closed without an answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            got = b""
            with contextlib.suppress(ConnectionError):
                s.sendall(data)
            with contextlib.suppress(ConnectionError):
                while piece := s.recv(1 << 16):
                    got += piece
                    head, found, body = got.partition(b"\r\n\r\n")
                    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                    if found and length and len(body) >= int(length[0].split(b":")[1]):
                        break
        return Answer(got) if got else None

    def ask(self, route, /, **members):
        body = json.dumps(members).encode()
        return self.raw(self.head(path=f"/api/{route}", body=body) + body, 120)

    def must(self, route, /, **members):
        answer = self.ask(route, **members)
        assert answer and answer.status == 200, (route, answer and (answer.status, answer.body[:500]), self.said()[-2000:])
        return answer.json()

    def finish(self, **members):
        """Releases, and waits for the end of it."""
        number = self.must("release", **members)["job"]
        while (job := self.must("job", job=number))["state"] in ("waiting", "running"):
            time.sleep(0.05)
        return job


@contextlib.contextmanager
def api_folder():
    """The example's plan and data."""
    with tempfile.TemporaryDirectory(prefix="tamis-web-") as name:
        for file in ("plan.yaml", "apisrs.csv"):
            shutil.copy(API / file, name)
        yield pathlib.Path(name)


@contextlib.contextmanager
def serving(*options, **more):
    with api_folder() as folder:
        server = Server(folder, *options, **more)
        try:
            yield server
        finally:
            assert server.end() == OK, server.said()  # a sanitizer's complaint has another exit code


def plan_of(server):
    return server.must("read", file="plan.yaml")["text"]
