"""Whatever is random in what is published is audited: every family of noisy tables, and every file that draws. Neighbours in tests
follow from the definition of the setting.

A family is a value of tmi_weighting. tests/release/audit.c releases a plan of each and compares the noise with the law that the
certificate declares; it takes them from the enumeration. A file that draws random bits, and is neither a sampler itself nor
draws samples, is listed here with the test that compares its draws with their law: a new one fails until it has such a test.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

DRAWS = re.compile(r"\b(tamis_noise_draw|tamis_uniform|tmi_uniform\w*|tamis_permutation|tmi_draw_key|tamis_bernoulli\w*|"
                   r"tmi_bernoulli\w*|tmi_bits_take|tamis_rng_new|tmi_flips\w*)\(")
SAMPLERS = ("src/rng/", "src/survey/", "src/draw/", "src/study/")  # samplers, and samples that are drawn or imagined
AUDITS = {
    "src/release/noise.c": ("release/audit", "every_family_has_the_declared_noise"),
    "src/release/statistic.c": ("release/statistic", None),
    "src/release/bounds.c": ("release/bounds", "what_is_found_has_the_declared_law"),
    "src/measure/request/bounds.c": ("release/bounds", "a_unit_moves_the_counts_within_its_rows"),
    "src/release/quantiles/selection.c": ("release/selection", "bits_are_drawn_before_the_data_are_read"),
    "src/measure/request/request.c": ("release/audit", "every_family_has_the_declared_noise"),
    "src/measure/request/psu_slots.c": ("measure/neighbours", "clusters_go_to_slots_at_random"),
    "src/collect/randomizer.c": ("collect/randomize", None),
    "src/collect/tally/shuffle.c": ("collect/tally", "shuffles"),
    "src/collect/secret_file.c": ("collect/tally", None),
    "src/engine/statements/command.c": ("engine/command", "words_are_new_for_each_question"),
    "src/mech/quantile/above.c": ("mech/quantile/above", None),
    "src/mech/quantile/answer.c": ("mech/quantile/inverse", None),
    "src/mech/quantile/distribution.c": ("mech/quantile/tree", None),
    "src/mech/quantile/find.c": ("mech/quantile/inverse", None),
    "src/mech/quantile/joint.c": ("mech/quantile/several", None),
    "src/mech/quantile/keys.c": ("mech/quantile/inverse", None),
    "src/mech/quantile/smooth.c": ("mech/quantile/smooth", None),
    "src/mech/quantile/tree.c": ("mech/quantile/tree", None),
    "src/mech/quantile/uniform_bits.c": ("mech/quantile/inverse", None),
}


def code_of(file):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read_text(), flags=re.S)


def families():
    text = code_of(TOP / "src" / "measure" / "moments.h")
    return re.findall(r"TMI_\w+", re.search(r"typedef enum tmi_weighting \{(.*?)\}", text, re.S).group(1))


names = families()
trial, audit = code_of(TOP / "tests" / "release" / "audit_trial.h"), code_of(TOP / "tests" / "release" / "audit.c")
case("families end with their number", len(names) > 1 and names[-1] == "TMI_WEIGHTINGS", names)
case("the audit goes through all of them, and a family without a plan fails",
     re.search(r"for \(size_t weighting = 0; weighting < TMI_WEIGHTINGS; weighting\+\+\).*?if \(p == PLANS\) fail_msg", trial, re.S))
case("with all kinds of noise", all(f"audit_families({law});" in audit for law in ("TMI_NOT_GAUSSIAN", "TMI_DISCRETE_GAUSSIAN", "TMI_ROUNDED_NORMAL")))
case("and it is run", "cmocka_unit_test(every_family_has_the_declared_noise)" in audit)

drawing = sorted(str(f.relative_to(TOP)) for f in (TOP / "src").rglob("*.c") if DRAWS.search(code_of(f)))
drawing = [f for f in drawing if not f.startswith(SAMPLERS)]
case("files that draw were found", "src/release/noise.c" in drawing, drawing)
for file in drawing:
    test, function = AUDITS.get(file, (None, None))
    path = TOP / "tests" / f"{test}.c"
    case(f"{file} draws: a test compares it with its law", test and path.exists() and (not function or function in path.read_text()),
         f"add it to {pathlib.Path(__file__).name}, with a test of the law of what it draws")
gone = sorted(set(AUDITS) - set(drawing))
case("no file is listed that does not draw", not gone, gone)

# What a schedule believes about neighbours is what is tested: a test that asks it would agree with any mistake.
FLAGS = re.compile(r"\bsampling(?:\.|->)(stays|public_strata|anywhere|parts|rows_fixed|of_units)\b|tmi_is_certain\(")
for name in ("neighbours", "contributions", "definition"):
    file = next(f for f in (TOP / "tests" / "measure").iterdir() if f.stem == name)
    text = code_of(file)
    case(f"{name}: neighbours follow from the definition", not FLAGS.search(text), FLAGS.findall(text))
    case(f"{name}: the definition is used", name == "definition" or '#include "tests/measure/definition.h"' in text)
sys.exit(done())
