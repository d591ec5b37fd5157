#!/usr/bin/python3
"""Everything that is charged, with a limit of a file's size: whatever cannot be written, the command says so and ends with 1; it is
not killed by the signal of that limit. The same command without the limit then goes on, and pays nothing more."""
import json
import pathlib
import tempfile

from kit import OK, SYSTEM, case, main, with_memory as tamis, shell

REPORTS = "smoker\n" + "1\n" * 350 + "0\n" * 650
PLAN = """tamis: 1
survey: s
source: {file: d.csv}
design: {srs: {population: 20000, sample: 200}}
privacy: {unit: person, epsilon: 0.1}
columns:
  a: {values: [%s]}
statistics:
  - {count: units, by: a}
ledger: s.ledger
budget: {epsilon: 0.3}
""" % ", ".join(f"v{i}" for i in range(200))  # files that are larger than the ledger
COMMANDS = {
    "release": ("s.ledger", "out", ["release", "plan.yaml", "--out", "out", "--engine", "memory"]),
    "quantile": ("q.csv.ledger", None, ["quantile", "q.csv", "--column", "x", "--from", "0", "--to", "100", "--epsilon", "1", "--engine", "memory"]),
    "tally": ("t.ledger", "out", ["tally", "reports.csv", "--lie", "1/4", "--out", "out", "--ledger", "t.ledger", "--survey", "smokers", "--budget", "2"]),
}
BLOCKS = (0, 1, 8, 30, 60, 65, 75, 90, 150, 1000)  # of 512 bytes, as /bin/sh counts


def charges(folder, ledger):
    if not (folder / ledger).exists():
        return []
    told = json.loads(tamis("ledger", "show", ledger, "--json", cwd=folder).stdout)
    return [entry for account in told["accounts"] for entry in account["entries"]]


def limited(name, blocks):
    ledger, out, command = COMMANDS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "d.csv").write_text("a\n" + "v1\nv2\n" * 100)
        (folder / "q.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(100)))
        (folder / "reports.csv").write_text(REPORTS)
        (folder / "plan.yaml").write_text(PLAN)
        done = shell(f"ulimit -f {blocks}; exec tamis {' '.join(command)}", cwd=folder)
        assert done.returncode in (OK, SYSTEM), (name, blocks, done)
        if done.returncode == OK:
            return "published"
        paid = charges(folder, ledger)
        assert done.stdout == "" and not (out and (folder / out).exists()), done
        assert len(paid) <= 1 and (not paid or ("charged (entry 2 of " + ledger in done.stderr and " again" in done.stderr)), (done, paid)
        if paid:
            assert "earlier version" not in tamis("ledger", "show", ledger, cwd=folder).stdout
        again = tamis(*command, cwd=folder)
        assert again.returncode == OK and len(charges(folder, ledger)) == 1, (name, blocks, done, again)
        assert tamis("ledger", "verify", ledger, *(["--against", out] if out else []), cwd=folder).returncode == OK
        return "charged" if paid else "not charged"


def of(name):
    def limits_are_errors():
        seen = {limited(name, blocks) for blocks in BLOCKS}
        assert seen >= {"not charged", "published"} | ({"charged"} if name == "release" else set()), seen
    return limits_are_errors


for command in COMMANDS:
    case(of(command), f"a_limit_of_size_in_{command}")

main()
