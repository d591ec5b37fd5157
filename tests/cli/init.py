"""tamis init: a plan to fill in, which check refuses until it is, and which editors have a schema for."""
from kit import *

DATA = "pay,region\n10,north\n20,south\n30,north\n"


def written(*arguments, data="data.csv", code=OK):
    """What init does with a file, the folder that it works in, and the plan that it wrote there."""
    folder = pathlib.Path(tempfile.mkdtemp())
    place = folder / data
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(DATA)
    done = tamis("init", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    plans = sorted(folder.rglob("*.yaml"))
    return done, folder, plans[0] if plans else None


def filled(text):
    for place in ("pay-2026", "Pay", "{srs: {population: 900, sample: 3}}", "person", "1", "{from: 0, to: 100, step: 1}", "{values: [north, south]}", "5"):
        head, _, tail = text.partition("tamis: 1\n")  # the comments before speak of the places
        assert "FILL_IN" in tail, place
        text = head + "tamis: 1\n" + tail.replace("FILL_IN", place, 1)
    return text


@case
def the_plan_is_refused_until_it_is_filled_in():
    done, folder, plan = written("data.csv")
    assert plan == folder / "data.yaml" and done.stdout.startswith("Wrote data.yaml."), done.stdout
    checked = tamis("check", "data.yaml", cwd=folder)
    assert checked.returncode == INVALID and checked.stdout == "", checked.stdout
    assert checked.stderr.count(": to be filled in: expected ") == 8, checked.stderr
    assert "data.yaml:8:9: survey: to be filled in" in checked.stderr or ": survey: to be filled in: expected a text" in checked.stderr
    plan.write_text(filled(plan.read_text()))
    for command in ("check", "estimate", "release"):
        done = tamis(command, "data.yaml", cwd=folder)
        assert done.returncode == OK, done.stderr
    shutil.rmtree(folder)


@case
def nothing_is_written_over():
    done, folder, plan = written("data.csv")
    before = plan.read_text()
    again = tamis("init", "data.csv", cwd=folder)
    is_usage_error(again, "data.yaml already exists", "--out")
    assert plan.read_text() == before
    (folder / "link.yaml").symlink_to("nowhere")
    is_usage_error(tamis("init", "data.csv", "--out", "link.yaml", cwd=folder), "link.yaml already exists")
    shutil.rmtree(folder)


@case
def the_plan_finds_its_data():
    for data, arguments in (("data.csv", ["data.csv", "--out", "plan.yaml"]), ("in/data.csv", ["in/data.csv"]),
                            ("in/data.csv", ["in/data.csv", "--out", "in/plan.yaml"]),
                            ("in/data.csv", ["in/data.csv", "--out", "plan.yaml"]), ("in/data.csv", ["in/data.csv", "--out", "./plan.yaml"])):
        done, folder, plan = written(*arguments, data=data)
        plan.write_text(filled(plan.read_text()))
        estimated = tamis("estimate", plan, cwd="/")
        assert estimated.returncode == OK, (arguments, estimated.stderr)
        shutil.rmtree(folder)


@case
def the_schema_that_it_names_is_there():
    done, folder, plan = written("data.csv")
    first = plan.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=/"), first
    assert json.loads(pathlib.Path(first.split("=", 1)[1]).read_text())["title"] == "tamis plan"
    shutil.rmtree(folder)


@case
def in_json_it_says_where_the_plan_is():
    done, folder, plan = written("data.csv", "--json", "--out", 'a "b".yaml')
    assert json.loads(done.stdout) == {"plan": 'a "b".yaml'}, done.stdout
    shutil.rmtree(folder)


@case
def a_connection_needs_a_table():
    for data in ("service=survey", "postgresql://localhost/db"):
        done, folder, plan = written(data, code=USAGE)
        is_usage_error(done, "--table: must be the table in PostgreSQL")
        shutil.rmtree(folder)
    done, folder, plan = written("x=y.csv", data="x=y.csv")
    assert plan.name == "x=y.yaml"
    shutil.rmtree(folder)


@case
def what_cannot_be_read_leaves_no_plan():
    for name, words in (("nobody.csv", "nobody.csv"), ("data.txt", "must be a file that ends in")):
        done, folder, plan = written(name, code=INVALID)
        assert plan is None and words in done.stderr, done.stderr
        shutil.rmtree(folder)
    done, folder, plan = written("data.csv", "--table", "t", code=INVALID)
    assert plan is None and "table: needs a DuckDB file" in done.stderr
    done = tamis("init", "data.csv", "--out", "nowhere/plan.yaml", cwd=folder)
    is_usage_error(done, "there is no folder nowhere")
    shutil.rmtree(folder)


main()
