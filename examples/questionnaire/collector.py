#!/usr/bin/python3
"""A collector to try the questionnaire on one machine: serves the page and appends each report to a file.

    python3 collector.py [--port 8000] [--out reports.packed]

A real collector uses https, and stores no addresses and no times with the reports.
"""
import argparse
import http.server
import pathlib
import struct
import threading

PAGES = {"/examples/questionnaire/": ("index.html", "text/html; charset=utf-8"),
         "/client/tamis_client.mjs": ("../../client/tamis_client.mjs", "text/javascript")}
NAMES = [b"ill", b"ill=missing", b"medicine", b"medicine=missing",
         *(b"place=" + answer for answer in (b"office", b"workshop", b"outdoors", b"missing"))]


def header():
    """What each report must begin with: docs/collection.md, "The packed form"."""
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"3/8", b"3/8", b"client", *NAMES))
    size = (24 + len(texts) + 7) // 8 * 8
    return (b"\x89tmk\r\n\x1a\n" + struct.pack("<IIII", 1, size, len(NAMES), 1) + texts).ljust(size, b"\0")


def is_report(body):
    """One report of eight bits with an id, and nothing else."""
    begin, end = header(), struct.pack("<IIQ", 0, 0, 1)
    rest = body[len(begin):]
    return (body.startswith(begin) and len(rest) == 8 + 8 + 16 + 16 and rest[:8] == struct.pack("<II", 1, 0) and
            rest[9:16] == bytes(7) and rest.endswith(end))


class Collector(http.server.BaseHTTPRequestHandler):
    lock = threading.Lock()
    out = None

    def reply(self, code, body=b"", kind="text/plain"):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            self.send_response(302)
            self.send_header("Location", "/examples/questionnaire/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path in PAGES:
            name, kind = PAGES[self.path]
            self.reply(200, (pathlib.Path(__file__).resolve().parent / name).read_bytes(), kind)
        else:
            self.reply(404)

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        body = self.rfile.read(int(length)) if length.isdigit() and int(length) < 10000 else b""
        if self.path != "/examples/questionnaire/reports" or not is_report(body):
            self.reply(400)
            return
        with self.lock, open(self.out, "ab") as file:
            file.write(body)
        self.reply(204)

    def log_message(self, *_):
        """No log: it would record who answered and when."""


def main():
    arguments = argparse.ArgumentParser(description="collects the reports of the questionnaire")
    arguments.add_argument("--port", type=int, default=8000)
    arguments.add_argument("--out", default="reports.packed")
    given = arguments.parse_args()
    Collector.out = given.out
    with http.server.ThreadingHTTPServer(("127.0.0.1", given.port), Collector) as server:
        print(f"http://127.0.0.1:{server.server_port}/ - reports go to {given.out}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
