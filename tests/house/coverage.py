"""docs/coverage.md sums up docs/coverage-tables.md: the summary is that of the tables, and every plan of the study has one."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "tests"), str(TOP / "bench")]
from tap import case, done  # noqa: E402
sys.path.remove(str(TOP / "tests" / "house"))  # where this file has the name of the study
import coverage as study  # noqa: E402

tables, page = study.read(), study.PAGE.read_text()
case("every plan has a table, in the order of the study", list(tables) == list(study.PLANS), str(list(tables)))
for name, table in tables.items():
    read = len(study.NUMBER.findall(table))
    case(f"{name}: every line with a coverage is read", 2 * read == table.count("±") > 0, table)
case("the summary in docs/coverage.md is that of the tables", "\n" + study.summary(tables) + "\n" in page,
     "bench/coverage.py --summary")
case("docs/coverage-tables.md is what the study writes", study.text(tables) == study.TABLES.read_text(), "bench/coverage.py")
sys.exit(done())
