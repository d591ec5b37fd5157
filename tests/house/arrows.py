"""The arrow script passes on this tree and finds each kind of fault in a tree that has it. docs/architecture.md shows its drawing."""
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

# A file, one line in it, and the words that the complaint must contain (None: no complaint).
CASES = [
    ("src/rng/a.c", '#include "num/ball.h"', None),
    ("src/rng/a.c", "#include <tamis/num.h>", None),
    ("src/rng/a.c", "#include <stdio.h>", None),
    ("src/num/a.c", '#include "rng/generator.h"', "num may not know rng"),
    ("src/num/a.c", "#include <tamis/release.h>", "num may not know release"),
    ("src/survey/a.c", "#include <tamis/experimental/estimator.h>", None),
    ("src/survey/a.c", "#include <tamis/estimate.h>", "survey may not know release"),
    ("src/num/a.c", "#include <tamis/tamis.h>", "not tamis.h"),
    ("src/composition/a.c", '#include "survey/normal.h"', "composition may not know survey"),
    ("src/plan/a.c", '#include "engine/core/engine.h"', "plan may not know engine"),
    ("src/release/a.c", '#include "study/gain.h"', "release may not know study"),
    ("src/inference/a.c", '#include "engine/core/engine.h"', "inference may not know engine"),
    ("src/attic/a.c", "", "attic has no place"),
    ("include/tamis/num.h", "#include <tamis/experimental/amplification.h>", "num may not know amplification"),
    ("include/tamis/num.h", '#include "num/ball.h"', "no private one"),
    ("cli/a.c", "#include <tamis/tamis.h>", None),
    ("cli/a.c", '#include "command.h"', None),
    ("cli/a.c", '#include "num/ball.h"', "only <tamis/...>"),
    ("web/a.c", "#include <tamis/plan.h>", None),
    ("web/a.c", '#include "server.h"', None),
    ("web/a.c", "#include <jansson.h>", None),
    ("web/a.c", "#include <microhttpd.h>", None),
    ("web/a.c", "#include <tamis/tamis.h>", "the headers that it needs"),
    ("web/a.c", '#include "plan/plan.h"', "only <tamis/...>"),
    ("web/a.c", "#include <sqlite3.h>", "SQLite is not"),
    ("cli/a.c", "#include <microhttpd.h>", "libmicrohttpd is not"),
    ("src/num/a.c", "#include <arb.h>", None),
    ("src/num/a.c", "#include <flint/fmpz.h>", None),
    ("src/rng/a.c", "#include <arb.h>", "Arb is not for this file"),
    ("src/rng/a.c", "  #  include <flint/arb.h>", "Arb is not for this file"),
    ("src/rng/a.c", "#include <gmp.h>", "GMP"),
    ("src/base/a.c", "#include <jansson.h>", "jansson is not"),
    ("src/release/a.c", "#include <libfyaml.h>", "libfyaml is not"),
    ("src/num/a.c", "#include <openssl/evp.h>", "libcrypto is not"),
    ("src/rng/a.c", "#include <openssl/evp.h>", None),
    ("src/engine/core/sql.c", "#include <duckdb.h>", "DuckDB is not"),
    ("src/engine/duckdb/rows.c", "#include <duckdb.h>", None),
    ("cli/a.c", "#include <sqlite3.h>", "SQLite is not"),
    ("src/draw/a.c", '#include "engine/files/frame.h"', None),
    ("src/release/a.c", '#include "engine/files/frame.h"', "The cells of a frame"),
    ("src/release/run.c", "status = engine->rows(engine, columns, 2, take, &sums, err);", "only estimate"),
    ("src/release/run.c", "read = plan->engine->rows;", "only estimate"),
    ("src/release/run.c", "status = e->rows( e, columns, 2, take, &sums, err);", "only estimate"),
    ("src/release/run.c", "n = piece->rows + how->rows(design);", None),
    ("src/estimate/estimate.c", "status = engine->rows(engine, columns, 2, take, &sums, err);", None),
    ("src/collect/tally/publish.c", "    TMI_TRY(tamis_ledger_charge(&charged, ledger, &charge, err));", "by publish alone"),
    ("src/release/run.c", "    status = tmi_ledger_keep(ledger, entry, text, NULL, err);", "by publish alone"),
    ("src/publish/publish.c", "    status = tmi_ledger_keep(ledger, entry, text, NULL, err);", None),
]


def arrows(*arguments):
    done = subprocess.run([TOP / "scripts" / "arrows", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout


def with_files(texts, *options):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return arrows(*options, folder)


def with_file(path, text, *options):
    return with_files({path: text}, *options)


def case_is_right(path, line, words):
    code, said = with_file(path, "\n" + line + "\n")
    if words is None:
        return code == 0 and said == ""
    return code == 1 and words in said and said.startswith(path + ":")


code, said = arrows(TOP)
case("this tree has no arrow that points up", code == 0, said)
for path, line, words in CASES:
    case(f"{path}: {line or 'unknown room'}", case_is_right(path, line, words))
DOWN = {"src/measure/a.c": '#include "measure/frame/b.h"\n', "src/measure/request/c.c": '#include "measure/a.h"\n'}
case("folders of a room are layers", with_files(DOWN) == (0, ""))
code, said = with_files({**DOWN, "src/measure/frame/b.h": '#include "measure/a.h"\n'})
case("two folders that include each other are a fault", code == 1 and "src/measure/frame/b.h:1:" in said and "src/measure/a.c:1:" in said
     and "request" not in said, said)
code, said = with_files({**DOWN, "src/measure/frame/b.h": '#include "measure/request/c.h"\n'})
case("and so are three", code == 1 and all(f"{path}:1:" in said for path in [*DOWN, "src/measure/frame/b.h"]), said)
with tempfile.TemporaryDirectory() as empty:
    case("an empty folder is a fault", arrows(empty)[0] == 1)
code, said = with_file("src/rng/a.c", '#include "num/ball.h"\n#include <tamis/base.h>\n#include <stdio.h>\n', "--draw")
lines = [line.split() for line in said.splitlines()]
case("a drawing lists the rooms that a room includes", code == 0 and ["2", "rng", "base", "num"] in lines, said)
case("a drawing lists rooms without files", ["0", "base", "(not", "built", "yet)"] in lines, said)
code, said = arrows("--draw", TOP)
page = (TOP / "docs" / "architecture.md").read_text()
case("docs/architecture.md shows the drawing of this tree", code == 0 and f"```\n{said}```\n" in page,
     "replace its drawing by the output of scripts/arrows --draw:\n" + said)
sys.exit(done())
