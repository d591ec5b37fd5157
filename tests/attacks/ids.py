"""Attacks by names: one person's rows under several spellings of one id, so that each spelling would have rows_per_unit rows of its
own. Run by tests/engine/with_postgres: only a database has so many spellings."""
from attack import *

CONNECTION = os.environ.get("TAMIS_TEST_POSTGRES")

PLAN = """tamis: 1
survey: attack
source: {postgres: {connection: "CONNECTION", table: people}}
design: {bernoulli: {rate: 1/10}}
privacy: {unit: person, id: id, rows_per_unit: 1, epsilon: 2}
budget: {epsilon: 2}
columns:
  x: {from: 0, to: 10, step: 1, missing: 0}
statistics:
  - {total: x}
LEDGER"""


def sql(text):
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", CONNECTION, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def table(kind, ids):
    """Each id has a row of the largest value, and ten others have theirs."""
    others = "SELECT (20 + i)::text::people_id, 5 FROM generate_series(1, 10) i"
    rows = "".join(f"; INSERT INTO people VALUES ({i}, 10)" for i in ids)
    sql(f"DROP TABLE IF EXISTS people; DROP DOMAIN IF EXISTS people_id; CREATE DOMAIN people_id AS {kind}; "
        f"CREATE TABLE people (id people_id, x float8); INSERT INTO people {others}{rows}")


def sums(plan):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, plan.replace("CONNECTION", CONNECTION).replace("LEDGER", ""), [])
        return release(folder, fixed=True)[1]


def person_is_worth(kind, ids):
    """The loss when the person with all of these rows is there or not, over epsilon."""
    table(kind, ids)
    there = sums(PLAN)
    table(kind, [])
    return float(apart(there, sums(PLAN)) / epsilon_of(PLAN))


@case
def another_spelling_is_no_other_person():
    for kind, ids in (("numeric", ["1", "1.0", "1.00"]), ("float8", ["0", "'-0'"]), ("float4", ["0", "'-0'"]), ("int4", ["1", "01"]),
                      ("text", ["'a'", "' a '", "E'a\\n'"])):
        used = person_is_worth(kind, ids)
        assert 0.65 < used <= 1 + 1e-3, (kind, used)


@case
def what_has_several_spellings_is_refused_before_the_charge():
    sql("CREATE EXTENSION IF NOT EXISTS citext; CREATE COLLATION IF NOT EXISTS any_case (provider = icu, locale = 'und-u-ks-level2', "
        "deterministic = false)")
    with tempfile.TemporaryDirectory() as folder:
        plan = PLAN.replace("CONNECTION", CONNECTION)
        write(folder, plan.replace("LEDGER", "ledger: l.ledger\n").replace("budget: {epsilon: 2}", "budget: {epsilon: 10}"), [])
        table("text", ["'a'"])
        release(folder)
        book = tamis("ledger", "show", "l.ledger", "--json", cwd=folder).stdout
        for kind in ("citext", "text COLLATE any_case", "char(8)", "bytea"):
            table(kind, ["'a'", "'b'"])
            done = tamis("release", "plan.yaml", "--again", "--out", "again", cwd=folder)
            assert done.returncode == INVALID and "column id" in done.stderr and "one form for equal values" in done.stderr, (kind, done.stderr)
            assert not pathlib.Path(folder, "again").exists()
            assert tamis("ledger", "show", "l.ledger", "--json", cwd=folder).stdout == book


@case
def a_frame_names_the_same_people():
    """The ids of a frame are values: in a column of numbers 17 of the frame is 17.00 of the table, and a person whom the frame has
    twice, as 17 and 17.0, is refused before the charge. Nobody is lost: the total is what the weights of the frame make it."""
    plan = (PLAN.replace("CONNECTION", CONNECTION).replace("LEDGER", "ledger: l.ledger\n").replace("budget: {epsilon: 2}", "budget: {epsilon: 10}")
            .replace("{bernoulli: {rate: 1/10}}", "{poisson: {probability: p, frame: data.csv}}"))
    for kind in ("numeric", "float8", "int4", "text"):
        table(kind, [])
        with tempfile.TemporaryDirectory() as folder:
            write(folder, loud(plan), ["id,p", *(f"{20 + i},0.5" for i in range(1, 11)), "4,0.25"])
            results, _ = release(folder)
            assert abs(results["results"][0]["estimate"] - 10 * 5 / 0.5) < 1, (kind, results["results"][0]["estimate"])
        with tempfile.TemporaryDirectory() as folder:
            write(folder, plan, ["id,p", *(f"{20 + i},0.5" for i in range(1, 11)), "21.0,0.25"])
            done = tamis("release", "plan.yaml", "--out", "out", cwd=folder)
            assert done.returncode == (OK if kind == "text" else INVALID), (kind, done.stderr)
            if kind != "text":
                assert "are equal" in done.stderr, done.stderr
                assert '"entry"' not in tamis("ledger", "show", "l.ledger", "--json", cwd=folder).stdout


main()
