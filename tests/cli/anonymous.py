"""tamis privacy anonymous: the three numbers, targets, samples, forms, and wrong usage."""
import json
import math

import anonymised
from kit import *


def anonymous(*arguments, **options):
    return tamis("privacy", "anonymous", *arguments, **options)


def told(*arguments):
    done = anonymous(*arguments, "--json")
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout)


def fraction(text):
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


TEXTS = {
    "bit": ["--reports", "1000", "--lie", "1/4"],
    "sample": ["--reports", "500", "--lie", "1/4", "--population", "20000"],
    "whole": ["--reports", "4", "--bits", "2", "--whole", "--lie", "1/10", "--epsilon", "1"],
}
golden("anonymous", TEXTS, anonymous)


@case
def three_numbers_and_what_dropouts_cost():
    out = told("--reports", "1000", "--bits", "1", "--lie", "1/4", "--delta", "1e-6")
    local, eps = out["local"]["epsilon"], out["anonymous"]["epsilon"]
    assert local["lower"] <= math.log(3) <= local["upper"] and 0.14205 < eps["lower"] <= eps["upper"] < 0.14207
    assert out["anonymous"]["delta"] == "1e-6" and out["local"]["delta"] == "0"
    assert out["collector"]["with_senders"]["epsilon"] == local and out["collector"]["without_senders"]["epsilon"] == eps
    assert out["dropouts"]["reports"] == 900 and out["dropouts"]["anonymous"]["epsilon"]["lower"] > eps["upper"]


LIES = (("1/2", "1/10"), ("1/7", "1/3"))


@case
def every_form_by_its_definition():
    forms = [(n, ["--bits", bits, *(["--whole"] if whole else []), *more], anonymised.vectors(bits, *limits), whole)
             for n, bits in ((2, 2), (4, 2), (3, 3)) for whole in (False, True)
             for more, limits in (([], ()), (["--ones", 1], (0, 1)), (["--one-hot"], (1, 1))) if bits == 2 or (more and not whole)]
    tried = 0
    for n, words, answers, whole in forms:
        for one, zero in LIES:
            flips = fraction(one), fraction(zero)
            truth = anonymised.Collection(answers, n, anonymised.bits_chance(*flips), anonymised.whole if whole else anonymised.counts)
            asked = ["--reports", n, *words, "--lie", one, "--lie-zero", zero]
            out = told(*map(str, asked), "--epsilon", "0.7")
            assert truth.holds_delta(out["anonymous"]["delta"], 0.7), (asked, out["anonymous"], truth.delta(0.7))
            assert truth.holds_local(out["local"]["epsilon"]), (asked, out["local"], truth.local)
            out = told(*map(str, asked), "--delta", "0.05")
            assert truth.holds_epsilon(out["anonymous"]["epsilon"], 0.05), (asked, out["anonymous"])
            tried += 1
    for n, count in ((2, 2), (3, 3), (2, 4)):
        for lie in ("1/4", "1/2") if count > 2 else ("1/4",):
            truth = anonymised.Collection(range(count), n, anonymised.categories_chance(count, fraction(lie)), anonymised.whole)
            out = told("--reports", str(n), "--categories", str(count), "--lie", lie, "--epsilon", "0.3")
            assert truth.holds_delta(out["anonymous"]["delta"], 0.3) and truth.holds_local(out["local"]["epsilon"]), (n, count, lie)
            assert truth.holds_epsilon(told("--reports", str(n), "--categories", str(count), "--lie", lie, "--delta", "0.1")["anonymous"]["epsilon"], 0.1)
    assert tried > 20


@case
def one_hot_is_exactly_one():
    asked = ["--reports", "4", "--bits", "2", "--lie", "1/2", "--lie-zero", "1/10", "--epsilon", "0.7"]
    out, most = told(*asked, "--one-hot"), told(*asked, "--ones", "1")
    assert out["one_hot"] is True and "one_hot" not in most
    assert 0.09 < out["anonymous"]["delta"]["lower"] <= 0.0945 and most["anonymous"]["delta"]["lower"] > 0.15
    assert "exactly one of them a one" in anonymous(*asked, "--one-hot").stdout


@case
def a_delta_that_is_met_exactly_needs_no_epsilon():
    assert told("--reports", "2", "--lie", "1/4", "--delta", "3/8")["anonymous"]["epsilon"] == {"lower": 0, "upper": 0}
    assert told("--reports", "2", "--lie", "1/4", "--delta", "0.3749")["anonymous"]["epsilon"]["lower"] > 0


@case
def epsilon_and_delta_are_inverse():
    eps = told("--reports", "1000", "--lie", "1/4", "--delta", "1e-6")["anonymous"]["epsilon"]
    delta = told("--reports", "1000", "--lie", "1/4", "--epsilon", repr(eps["upper"]))["anonymous"]["delta"]
    assert 0.999e-6 < delta["lower"] <= delta["upper"] <= 1e-6


@case
def delta_is_one_in_a_million_unless_asked():
    assert told("--reports", "100", "--lie", "1/4")["anonymous"]["delta"] == "1e-6"


@case
def a_target_is_met_and_the_next_smaller_lie_misses_it():
    out = told("--reports", "1000", "--target", "0.5,1e-6")
    lie = fraction(out["lie"])
    assert (lie * 65536).is_integer() and out["anonymous"]["epsilon"]["upper"] <= 0.5000001
    below = told("--reports", "1000", "--lie", f"{round(lie * 65536) - 1}/65536", "--epsilon", "0.5")
    assert below["anonymous"]["delta"]["lower"] > 1e-6
    local = told("--reports", "1000", "--target-local", "1")
    assert fraction(local["lie"]) == math.ceil(65536 / (1 + math.e)) / 65536 and local["local"]["epsilon"]["upper"] <= 1


@case
def forms_are_told_apart():
    bits = told("--reports", "50", "--bits", "4", "--one-hot", "--lie", "1/4", "--delta", "1e-3")
    assert bits["form"] == "counts" and bits["ones"] == 1 and bits["local"]["epsilon"]["lower"] <= 2 * math.log(3)
    assert bits["anonymous"]["epsilon"]["lower"] > 0
    uneven = told("--reports", "50", "--lie", "1/2", "--lie-zero", "1/10", "--delta", "1e-3")
    assert uneven["lie_zero"] == "1/10" and uneven["local"]["epsilon"]["lower"] <= math.log(5) <= uneven["local"]["epsilon"]["upper"]
    three = told("--reports", "5", "--categories", "3", "--lie", "1/4", "--delta", "1e-2")
    assert three["form"] == "categories" and three["local"]["epsilon"]["upper"] >= math.log(6)
    whole = told("--reports", "4", "--bits", "2", "--whole", "--lie", "1/10", "--epsilon", "0")
    assert abs(whole["anonymous"]["delta"]["upper"] - 0.77624) < 1e-5


@case
def whole_reports_that_hardly_hide_say_so():
    """Fewer than 20 look alike, reports (2 lie)^bits: what would help is said. 320 of 4 bits that lie with 1/4 are just enough."""
    def asked(*words):
        return told(*words, "--epsilon", "1").get("warnings", [])

    (few,) = asked("--reports", "319", "--bits", "4", "--whole", "--lie", "1/4")
    assert "is 19.9" in few or "is 19," in few, few
    assert "at least 20" in few and "more reports (about 320)" in few and "Fewer bits" in few and "larger lie" in few, few
    assert "counts of the bits" in few and few in " ".join(
        tamis("privacy", "anonymous", "--reports", "319", "--bits", "4", "--whole", "--lie", "1/4", "--epsilon", "1").stdout.split())
    assert not asked("--reports", "320", "--bits", "4", "--whole", "--lie", "1/4")
    assert not asked("--reports", "320", "--bits", "4", "--lie", "1/4")  # counts
    assert not asked("--reports", "2", "--bits", "1", "--whole", "--lie", "1/4")  # exact
    assert asked("--reports", "319", "--bits", "4", "--whole", "--lie", "3/8", "--lie-zero", "1/8")
    (far,) = asked("--reports", "100", "--bits", "60", "--whole", "--lie", "1/4")
    assert "more reports would help" in far, far  # more than there can be


@case
def a_sample_adds_to_it():
    out = told("--reports", "500", "--lie", "1/4", "--population", "20000")
    assert out["sample"]["epsilon"]["upper"] < 0.05 * out["anonymous"]["epsilon"]["upper"]
    rate = told("--reports", "500", "--lie", "1/4", "--population", "20000", "--rate", "1/40")
    assert out["sample"]["epsilon"]["upper"] < rate["sample"]["epsilon"]["upper"] < 0.05 * out["anonymous"]["epsilon"]["upper"]


WRONG = {
    "no lie": ["--reports", "10"],
    "half": ["--reports", "10", "--lie", "1/2"],
    "zero": ["--reports", "10", "--lie", "0"],
    "no number": ["--reports", "10", "--lie", "often"],
    "no reports": ["--reports", "0", "--lie", "1/4"],
    "too many reports": ["--reports", "1000000001", "--lie", "1/4"],
    "sum of one": ["--reports", "10", "--lie", "1/2", "--lie-zero", "1/2"],
    "negative epsilon": ["--reports", "10", "--lie", "1/4", "--epsilon", "-1"],
    "large delta": ["--reports", "10", "--lie", "1/4", "--delta", "2"],
    "two questions": ["--reports", "10", "--lie", "1/4", "--delta", "1e-6", "--epsilon", "1"],
    "half a target": ["--reports", "10", "--target", "1"],
    "target and lie": ["--reports", "10", "--target", "1,1e-6", "--lie", "1/4"],
    "no bits": ["--reports", "10", "--lie", "1/4", "--bits", "0"],
    "too many ones": ["--reports", "10", "--lie", "1/4", "--bits", "3", "--ones", "4"],
    "one hot of one": ["--reports", "10", "--lie", "1/4", "--one-hot"],
    "bits and categories": ["--reports", "10", "--lie", "1/4", "--bits", "3", "--categories", "3"],
    "unlikely truth": ["--reports", "10", "--lie", "0.7", "--categories", "3"],
    "small population": ["--reports", "10", "--lie", "1/4", "--population", "9"],
    "rate alone": ["--reports", "10", "--lie", "1/4", "--rate", "1/10"],
    "rate above one": ["--reports", "10", "--lie", "1/4", "--population", "90", "--rate", "2"],
}


@case
def wrong_usage_is_said():
    for name, arguments in WRONG.items():
        done = anonymous(*arguments)
        assert done.returncode == USAGE and done.stdout == "" and done.stderr.startswith("tamis: --"), (name, done)


@case
def a_target_that_no_lie_meets_is_unable():
    done = anonymous("--reports", "2", "--target", "1e-9,1e-9")
    assert done.returncode == UNABLE and done.stdout == "", done


main()
