"""The clients for other programs: the C file by itself, with gcc and clang, as C and as C++; the JavaScript module in Node and in
Chromium; the questionnaire. All of them, and the command, write the same bytes."""
import base64
import html
import http.server
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done, skip  # noqa: E402

TAMIS = sys.argv[1]
KNOWN = "1111100101000101010101001101110101000001"  # also in tests/collect/randomize.c
HERE = TOP / "tests" / "collect"
CLIENT = TOP / "client" / "tamis_client.c"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, timeout=300, **options)


def embedded(folder):
    """Gives the packed report of the first compiler."""
    packed = None
    for compiler, language, standard in (("gcc", "c", "c17"), ("clang", "c", "c17"), ("gcc", "c", "c99"), ("g++", "c++", "c++17"),
                                         ("clang++", "c++", "c++17")):
        name = f"{compiler}, {standard}"
        if not shutil.which(compiler):
            skip(name, f"{compiler} is not installed")
            continue
        alone = run(compiler, "-x", language, f"-std={standard}", "-Wpedantic", *WARNINGS, "-c", CLIENT, "-o", folder / "client.o")
        case(f"{name}: compiled by itself", alone.returncode == 0, alone.stderr.decode())
        if standard == "c99":
            continue
        program = folder / f"embedded-{compiler}"
        # Its own source needs 128-bit integers, which a strict standard does not have.
        made = run(compiler, "-x", language, f"-std={standard.replace('c', 'gnu', 1)}", *WARNINGS, "-D_GNU_SOURCE", CLIENT,
                   HERE / "embedded.c", "-Wl,--wrap=getentropy", "-o", program)
        case(f"{name}: the test is compiled", made.returncode == 0, made.stderr.decode())
        if made.returncode != 0:
            continue
        told = run(program, "exact").stdout.decode()
        case(f"{name}: lies are exact", told == "ok\n", told)
        case(f"{name}: permanent lies are the known ones", run(program, "known").stdout.decode().strip() == KNOWN)
        n = 100000
        lied = list(map(int, run(program, "chance", n).stdout.split()))
        # within 7.5 standard deviations: a false alarm has probability below 10^-12
        case(f"{name}: counts may be chance", len(lied) == 2 and all(abs(k - n * p) < 7.5 * (n * p * (1 - p)) ** .5
                                                                      for k, p in zip(lied, (1 / 3, 1 / 5))), str(lied))
        bytes_ = run(program, "pack").stdout
        case(f"{name}: the same bytes as the first", packed in (None, bytes_) and len(bytes_) > 100)
        packed = bytes_
    return packed


def by_command(folder, packed):
    """Lies so rare that reports are the truth, but for one in 10^11 runs of this test."""
    (folder / "answers.csv").write_text("smoker,region,client\n1,south,person 7\n")
    arguments = [TAMIS, "randomize", folder / "answers.csv", "--lie", "1/1000000000000", "--id", "client", "--categories",
                 "region=north,south,été", "--packed"]
    told = run(*arguments)
    case("the command writes the same bytes as the embedded client", told.returncode == 0 and told.stdout == packed,
         f"{told.stdout.hex()}\n{packed and packed.hex()}\n{told.stderr.decode()}")


def results(source, where, packed):
    told = json.loads(source)
    for name, good in told["checks"]:
        case(f"{where}: {name}", good)
    case(f"{where}: permanent lies are the known ones", told["known"] == KNOWN, told["known"])
    case(f"{where}: the same bytes as the embedded client", packed is None or told["packed"] == packed.hex(), told["packed"])


NODE = """
import {webcrypto} from "node:crypto";
import {readFileSync} from "node:fs";
globalThis.crypto ??= webcrypto; // Node 18 has it under another name
const {cases} = await import(process.argv[2]);
const {unpack} = await import(process.argv[3]);
const {form, reports, ids} = unpack(new Uint8Array(readFileSync(process.argv[4])));
console.log(JSON.stringify({...cases(), read: {form, reports, ids: ids.length}}));
"""


def in_node(folder, packed):
    if not shutil.which("node"):
        skip("JavaScript in Node", "nodejs is not installed")
        return
    rows = [(i % 2, ("north", "south", "west")[i % 3]) for i in range(1000)]
    (folder / "many.csv").write_text("smoker,region,id\n" + "".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(rows)))
    run(TAMIS, "randomize", folder / "many.csv", "--lie", "1/1000000000000000000", "--id", "id", "--categories",
        "region=north,south,west", "--packed", "--out", folder / "many.packed")
    (folder / "run.mjs").write_text(NODE)
    told = run("node", folder / "run.mjs", HERE / "client_cases.mjs", TOP / "client" / "tamis_client.mjs", folder / "many.packed")
    case("JavaScript in Node: runs", told.returncode == 0, told.stderr.decode())
    if told.returncode != 0:
        return
    results(told.stdout, "JavaScript in Node", packed)
    read = json.loads(told.stdout)["read"]
    case("JavaScript in Node: reads what the command packed", read["ids"] == 1000 and read["reports"] ==
         [[a, int(b == "north"), int(b == "south"), int(b == "west")] for a, b in rows] and read["form"]["one"] == "1/1000000000000000000")


PAGE = """<!DOCTYPE html><meta charset="utf-8"><pre id="told"></pre><iframe id="page"></iframe><script type="module">
import {cases} from "/tests/collect/client_cases.mjs";
const frame = document.getElementById("page");
const sent = () => frame.contentDocument.getElementById("status").textContent;
async function submit(answers) {
    frame.contentDocument.getElementById("status").textContent = "";
    for (const [name, value] of Object.entries(answers)) {
        frame.contentDocument.querySelector(`input[name=${name}][value="${value}"]`).checked = true;
    }
    frame.contentDocument.querySelector("button").click();
    for (let i = 0; i < 200 && !sent(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
    return [sent(), Array.from(frame.contentDocument.querySelectorAll("#bits tr"), (row) => row.textContent)];
}
const load = () => new Promise((resolve) => {
    frame.onload = resolve;
    frame.src = "/examples/questionnaire/";
});
const answers = {ill: "1", medicine: "0", place: "office"};
let told;
try {
    await load();
    told = {...cases(), submitted: [await submit(answers), await submit(answers), await submit({ill: "0", medicine: "", place: "outdoors"})],
        others: []};
    for (let i = 0; i < 8; i++) { // other people: each has a secret of its own
        localStorage.clear();
        await load();
        told.others.push((await submit(answers))[1]);
    }
} catch (error) {
    told = {error: String(error)};
}
document.getElementById("told").textContent = "TOLD" + btoa(unescape(encodeURIComponent(JSON.stringify(told)))) + "END";
</script>"""


def in_chromium(folder, packed):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        skip("JavaScript in Chromium, and the questionnaire", "chromium is not installed")
        return
    spec = importlib.util.spec_from_file_location("collector", TOP / "examples" / "questionnaire" / "collector.py")
    collector = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(collector)

    class WithTest(collector.Collector):
        out = folder / "reports.packed"

        def do_GET(self):
            if self.path == "/test":
                self.reply(200, PAGE.encode(), "text/html")
            elif self.path == "/tests/collect/client_cases.mjs":
                self.reply(200, (HERE / "client_cases.mjs").read_bytes(), "text/javascript")
            else:
                super().do_GET()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WithTest)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        told = run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}",
                   "--virtual-time-budget=60000", "--dump-dom", f"http://127.0.0.1:{server.server_port}/test")
    except subprocess.TimeoutExpired:
        skip("JavaScript in Chromium, and the questionnaire", "chromium does not come to an end here")
        return
    finally:
        server.shutdown()
    found = re.search(r"TOLD(\S*)END</pre>", told.stdout.decode(errors="replace"))
    if not found and "<html" not in told.stdout.decode(errors="replace"):
        skip("JavaScript in Chromium, and the questionnaire", "chromium does not start here")
        return
    case("JavaScript in Chromium: runs", found is not None, told.stdout.decode(errors="replace") + told.stderr.decode(errors="replace"))
    if not found:
        return
    text = base64.b64decode(html.unescape(found.group(1))).decode()
    if "error" in json.loads(text):
        case("JavaScript in Chromium: no error", False, text)
        return
    results(text, "JavaScript in Chromium", packed)
    first, again, other = json.loads(text)["submitted"]
    case("the questionnaire sends", all("bytes were sent" in said for said, _ in (first, again, other)), text)
    case("the same answers are the same reports", first[1] == again[1] and len(first[1]) == 8, text)
    case("answers that are kept are those that were given", [row[-2] for row in first[1]] == list("10001000"), str(first))
    # 64 bits of eight people: none lies with probability (5/8)^64 < 10^-13, all of them with even less
    rows = [row for other in json.loads(text)["others"] for row in other]
    case("the questionnaire lies, and not always", len(rows) == 64 and 0 < sum(row[-1] != row[-2] for row in rows) < 64, text)
    body = (folder / "reports.packed").read_bytes()
    one = len(body) // 11
    body = body[:3 * one]
    case("the collector has three reports of one client", len(body) == 3 * one and body[:one] == body[one:2 * one] and
         body.startswith(collector.header()) and body[one - 32:one - 16] == body[-32:-16])
    case("what arrived is what the page showed", [str(body[len(collector.header()) + 8] >> i & 1) for i in range(8)] ==
         [row[-1] for row in first[1]])
    case("the collector refuses others", not collector.is_report(body) and not collector.is_report(body[:one - 1]) and
         collector.is_report(body[:one]))


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    report = embedded(place)
    by_command(place, report)
    in_node(place, report)
    in_chromium(place, report)
sys.exit(done())
