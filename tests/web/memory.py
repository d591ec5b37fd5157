"""A server whose allocations fail: a request may fail then, and the server goes on. Asked are routes that need neither GMP nor libfyaml,
which end the process without memory (docs/known-issues.md). The second argument is memory_that_fails.so."""
import collections
import os

from server import *

FAILING = os.path.abspath(sys.argv[2])
SECONDS = 2 if not os.environ.get("TAMIS_TEST_LONG") else 60
QUESTIONS = [("about", {}), ("files", {}), ("read", {"file": "plan.yaml"}), ("settings", {}), ("account", {"ledger": "x.ledger"}),
             ("header", {"file": "apisrs.csv"}), ("job", {}), ("open", {"folder": "."}), ("save", {"file": "new.yaml", "text": "x", "hash": None}),
             ("release", {"text": "x", "confirm": "x"}), ("verify", {"folder": "x"})]


def each(rate):
    def goes_on():
        program = unsanitized()
        with api_folder() as folder, tempfile.TemporaryDirectory() as marks:
            mark = pathlib.Path(marks) / "mark"
            server = Server(folder, program=program, LD_PRELOAD=FAILING, TAMIS_FAIL=str(mark), TAMIS_FAIL_RATE=str(rate), TAMIS_FAIL_SEED=str(rate))
            try:
                server.must("read", file="plan.yaml")  # the first digest loads OpenSSL's own parts, which do not survive without memory
                mark.touch()
                seen, begun = collections.Counter(), time.monotonic()
                while time.monotonic() - begun < SECONDS:
                    for route, members in QUESTIONS:
                        with contextlib.suppress(OSError):
                            answer = server.ask(route, **members)
                            seen[answer.status if answer else 0] += 1
                        assert server.process.poll() is None, (server.process.poll(), route, server.said()[-500:])
                mark.unlink()
                assert server.must("about")["folder"] == folder.name
                print(f"# {dict(seen)}")
                assert seen[500] > 0, seen
            finally:
                assert server.end() == OK

    case(goes_on, f"one allocation in {rate} fails")


for rate in (50, 300, 2000):
    each(rate)
main()
