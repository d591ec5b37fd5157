"""How the command is called: options, operands, errors, exit codes, streams."""
import signal
import subprocess

from kit import *


@case
def no_command_shows_the_help_and_is_wrong_usage():
    done = tamis()
    assert done.returncode == USAGE and done.stdout == ""
    assert done.stderr == tamis("--help").stdout


@case
def an_unknown_command_is_named_and_the_nearest_offered():
    is_usage_error(tamis("nosie"), "unknown command 'nosie'", "did you mean 'noise'?")
    is_usage_error(tamis("xyzzy"), "unknown command 'xyzzy'")
    assert "mean '" not in tamis("xyzzy").stderr
    is_usage_error(tamis(""), "unknown command ''")
    is_usage_error(tamis("x" * 10000), "unknown command")


@case
def nothing_that_a_terminal_obeys_is_repeated():
    done = tamis("\033[31mred\n\a")
    is_usage_error(done, "unknown command '?[31mred??'")


@case
def a_command_of_a_later_version_says_so():
    for name in ("audit", "total"):
        is_usage_error(tamis(name), f"'{name}' is not in this version")


@case
def a_group_needs_a_command_of_its_own():
    done = tamis("privacy")
    assert done.returncode == USAGE and done.stdout == "" and done.stderr == tamis("privacy", "--help").stdout
    is_usage_error(tamis("privacy", "sr"), "unknown command 'privacy sr'", "did you mean 'srs'?")
    is_usage_error(tamis("privacy", "xyzzy"), "unknown command 'privacy xyzzy'")
    is_usage_error(tamis("privacy", "--svg", "x", "srs"), "unknown option --svg")
    assert "Try 'tamis privacy --help'" in tamis("privacy", "xyzzy").stderr
    assert "Try 'tamis privacy srs --help'" in tamis("privacy", "srs", "--zzz").stderr


@case
def an_unknown_option_is_named_and_the_nearest_offered():
    is_usage_error(tamis("--jsno"), "unknown option --jsno", "did you mean --json?")
    is_usage_error(tamis("--no-such-thing=3"), "unknown option --no-such-thing")
    is_usage_error(tamis("-z"), "unknown option -z")
    for command in commands():
        is_usage_error(tamis(*command.split(), "--zzzzzzzz"), "unknown option --zzzzzzzz")
        is_usage_error(tamis(*command.split(), "-z"), "unknown option -z")
        is_usage_error(tamis(*command.split(), "--" + "z" * 10000), "unknown option --zzz")


@case
def a_missing_value_is_told():
    is_usage_error(tamis("noise", "laplace", "--count", "3", "--scale"), "--scale needs a value")
    is_usage_error(tamis("release", "plan.yaml", "--sign", "--quiet"), "--sign needs a value, NAME.key, but --quiet is an option")
    is_usage_error(tamis("demo", "--out", "--json"), "--out needs a value, DIR, but --json is an option")
    done = tamis("release", "nowhere.yaml", "--sign=--quiet")
    assert done.returncode == INVALID and "nowhere.yaml" in done.stderr, done.stderr


@case
def a_needed_option_is_told():
    is_usage_error(tamis("noise", "laplace", "--scale", "1"), "--count N is missing")
    is_usage_error(tamis("noise", "laplace", "--count", "1"), "--scale P/Q is missing")


@case
def a_value_for_a_flag_is_refused():
    is_usage_error(tamis("noise", "laplace", "--scale", "1", "--count", "1", "--json=1"), "--json takes no value")


@case
def an_option_given_twice_is_refused():
    is_usage_error(tamis("noise", "laplace", "--scale", "1", "--count", "1", "--count", "2"), "duplicate option --count")


@case
def a_missing_operand_is_told():
    is_usage_error(tamis("noise", "--scale", "1", "--count", "1"), "laplace|gaussian|normal is missing")


@case
def one_operand_too_many_is_told():
    is_usage_error(tamis("noise", "laplace", "gaussian", "--scale", "1", "--count", "1"), "unexpected argument 'gaussian'")


@case
def an_operand_that_is_no_choice_is_refused_with_the_choices():
    is_usage_error(tamis("noise", "cauchy", "--scale", "1", "--count", "1"), "'cauchy'", "laplace gaussian")


@case
def after_two_dashes_everything_is_an_operand():
    done = tamis("noise", "--scale", "1", "--count", "1", "--", "laplace")
    assert done.returncode == OK and len(done.stdout.split()) == 1, done.stderr
    is_usage_error(tamis("noise", "--scale", "1", "--count", "1", "--", "--json"), "'--json'")
    is_usage_error(tamis("--", "--help"), "unknown command '--help'")


@case
def common_options_may_stand_before_the_command():
    done = tamis("--json", "noise", "laplace", "--scale", "1", "--count", "1")
    assert done.returncode == OK and done.stdout.startswith("{"), done


@case
def a_full_disk_is_a_system_error():
    for arguments in (["--help"], ["--version"], ["noise", "laplace", "--scale", "9", "--count", "1e5"],
                      ["help", "man"], ["noise", "--help"]):
        with open("/dev/full", "w") as full:
            done = tamis(*arguments, stdout=full)
        assert done.returncode == SYSTEM and done.stderr.startswith("tamis: cannot write to stdout"), (arguments, done)


@case
def a_closed_stdout_is_a_system_error():
    done = shell("tamis --version >&-; echo $?; tamis noise laplace --scale 1 --count 3 >&-; echo $?")
    assert done.stdout.split() == ["1", "1"], done
    assert done.stderr.count("tamis: cannot write to stdout") == 2, done.stderr


@case
def closed_streams_do_no_harm():
    done = shell("tamis --version <&- 2>&-; echo $?")
    assert done.stdout.endswith("\n0\n"), done
    process = subprocess.Popen(["/bin/sh", "-c", f"exec '{TAMIS}' compute >&- 2>&-"], stdin=subprocess.PIPE,
                               env=environment())
    held, hidden, end = set(), False, time.monotonic() + 20
    while not hidden and held != {"/dev/null"} and time.monotonic() < end:  # else the next file would get the number of stdout
        time.sleep(0.05)
        held = {os.readlink(f"/proc/{process.pid}/fd/{n}") for n in (1, 2) if os.path.lexists(f"/proc/{process.pid}/fd/{n}")}
        hidden = not os.access(f"/proc/{process.pid}/fd", os.X_OK)
    process.communicate()
    if hidden:
        raise Skip("the command as it ships shows its files to nobody but root")
    assert held == {"/dev/null"}, held


@case
def a_reader_that_goes_away_ends_it_quietly():
    done = shell("tamis noise laplace --scale 10 --count 9e18 | head -n 2")
    assert done.returncode == OK and len(done.stdout.split()) == 2 and done.stderr == "", done


@case
def a_reader_that_goes_away_ends_it_quietly_where_the_signal_is_ignored():
    process = subprocess.Popen([TAMIS, "noise", "laplace", "--scale", "10", "--count", "9e18"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment(), restore_signals=False,
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=60) == SYSTEM and process.stderr.read() == b""


main()
