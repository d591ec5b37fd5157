"""tamis noise"""
import json
import resource
import struct

from kit import *


def noise(*arguments, **options):
    return tamis("noise", *arguments, **options)


@case
def prints_one_integer_a_line():
    for law in ("laplace", "gaussian", "normal"):
        done = noise(law, "--scale", "10", "--count", "1000")
        assert done.returncode == OK and done.stderr == ""
        lines = done.stdout.splitlines()
        assert len(lines) == 1000 and all(str(int(line)) == line for line in lines)
        assert len(set(lines)) > 10


@case
def writes_little_endian_integers():
    done = noise("laplace", "--scale", "1e6", "--count", "5000", "--binary", text=False)
    assert done.returncode == OK and len(done.stdout) == 40000
    values = struct.unpack("<5000q", done.stdout)
    assert 5e5 < sum(map(abs, values)) / 5000 < 2e6  # mean |X| is 1e6, its standard error 1.4e4: 35 of them away
    values = struct.unpack("<5000q", noise("normal", "--scale", "1e6", "--count", "5000", "--binary", text=False).stdout)
    assert 5e5 < sum(map(abs, values)) / 5000 < 1.2e6  # mean |X| is 8e5, its standard error 9e3: 35 of them away


@case
def prints_one_json_object():
    told = json.loads(noise("gaussian", "--scale", "6/4", "--count", "20000", "--json").stdout)
    assert list(told) == ["law", "scale", "count", "noise"]
    assert told["law"] == "gaussian" and told["scale"] == "3/2" and told["count"] == 20000
    assert len(told["noise"]) == 20000 and all(type(k) is int for k in told["noise"])
    assert json.loads(noise("laplace", "--scale", "1", "--count", "0", "--json").stdout)["noise"] == []


@case
def json_and_binary_exclude_each_other():
    is_usage_error(noise("laplace", "--scale", "1", "--count", "1", "--json", "--binary"), "not both")


@case
def counts_are_exact_whole_numbers():
    for count, wanted in (("0", 0), ("1", 1), ("1e3", 1000), ("10/2", 5), ("8191", 8191), ("8192", 8192),
                          ("8193", 8193), ("+3", 3), ("2.0", 2)):
        done = noise("laplace", "--scale", "1", "--count", count)
        assert done.returncode == OK and len(done.stdout.splitlines()) == wanted, (count, done.stderr)


def little_time():
    """Should a count be believed that must not be, the flood ends soon."""
    resource.setrlimit(resource.RLIMIT_CPU, (3, 3))


@case
def bad_counts_are_wrong_usage():
    for count in ("-1", "1.5", "abc", "", "1e19", "9223372036854775809", "18446744073709551617", "1e999999999", "nan",
                  "inf", "0x10", "1 ", "1/0", "9" * 5000):
        done = noise("laplace", "--scale", "1", "--count", count, preexec_fn=little_time)
        is_usage_error(done, "--count", "whole number")


@case
def counts_up_to_two_to_the_63_begin():
    done = shell("tamis noise laplace --scale 1 --count 9223372036854775808 | head -n 1")
    assert done.returncode == OK and len(done.stdout.split()) == 1 and done.stderr == ""


@case
def bad_scales_are_wrong_usage():
    for law in ("laplace", "gaussian", "normal"):
        for scale in ("0", "-1", "abc", "", "1/0", "1e99", "1e-7", "nan", "inf", "1e999999999", "--", "1,5", "0x1"):
            is_usage_error(noise(law, "--scale", scale, "--count", "3"), "--scale")
    is_usage_error(noise("laplace", "--scale", "36028797018963969", "--count", "1"), "--scale")
    for law in ("gaussian", "normal"):
        is_usage_error(noise(law, "--scale", "10000000000000001", "--count", "1"), "--scale")


@case
def extreme_scales_are_served():
    for law, scale in (("laplace", "1e-6"), ("laplace", "36028797018963968"), ("gaussian", "1e-6"), ("gaussian", "1e16"),
                       ("laplace", "123456789/1000"), ("gaussian", "0.001"), ("normal", "1e-6"), ("normal", "1e16"), ("normal", "7/3")):
        done = noise(law, "--scale", scale, "--count", "3")
        assert done.returncode == OK and len(done.stdout.split()) == 3, (law, scale, done.stderr)
    assert noise("laplace", "--scale", "1e-6", "--count", "3").stdout == "0\n0\n0\n"


@case
def two_runs_differ():
    first, second = (noise("laplace", "--scale", "1e9", "--count", "4").stdout for _ in range(2))
    assert first != second  # equal by chance: below 10^-36


main()
