"""The examples of docs/plan.md: each is read without a complaint."""
import re

from kit import *

BLOCKS = re.findall(r"```yaml\n(.*?)```", (TOP / "docs" / "plan.md").read_text(), re.S)


def sections(text):
    """A plan by its top-level keys."""
    return {part.split(":")[0]: part for part in re.split(r"(?m)^(?=\w)", text) if part}


WHOLE = sections(BLOCKS[0])
SMALL = sections("""tamis: 1
survey: example
source: {file: example.csv}
design: {srs: {population: 6194, sample: 200}}
privacy: {epsilon: 1}
statistics: [{count: units}]
""")


def read(plan):
    """tamis check refuses what it cannot release (4); errors of the plan are 3."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "plan.yaml").write_text("".join(plan.values()))
        pathlib.Path(folder, "frame.csv").write_text("business_id,inclusion_probability,turnover_last_year\n" +
                                                     "".join(f"b{i},0.5,{100 + i}\n" for i in range(300)))
        return tamis("check", "plan.yaml", cwd=folder)


@case
def the_whole_plan_and_every_piece_are_read():
    assert len(BLOCKS) >= 7 and "tamis" in WHOLE
    for block in BLOCKS:
        done = read(SMALL | sections(block))
        assert done.returncode in (OK, REFUSED), (block, done.stderr)


@case
def a_piece_with_a_mistake_is_not():
    assert read(SMALL | sections(BLOCKS[0].replace("within: srs", "within: urn"))).returncode == INVALID


main()
