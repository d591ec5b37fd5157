"""The seeded generator of studies can never reach a release: no object of another room refers to it, or to anything else that study
defines, and study's objects do not define what release or rng could take for a source of noise."""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

LIBRARY = TOP / "build" / "release" / "libtamis.a"
LATER = ("study", "compute")  # rooms at or above study, which may refer to it


def symbols(option):
    """{object: names}, as nm lists the library."""
    found, member = {}, None
    for line in subprocess.run(["nm", option, LIBRARY], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(".o:"):
            member = line[:-1]
            found[member] = set()
        elif line.strip():
            found[member].add(line.split()[-1])
    return found


def room(member):
    match = re.match(r"src_([a-z]+)_", member)
    return match.group(1) if match else None


defined, wanted = symbols("--defined-only"), symbols("--undefined-only")
of_study = {name for member, names in defined.items() if room(member) == "study" for name in names if name.startswith(("tmi_", "tamis_"))}
case("study defines its generator", {"tmi_stream_of", "tmi_stream_sample"} <= of_study)
for name in ("release", "rng", "schedule", "engine", "collect"):
    members = [member for member in wanted if room(member) == name]
    case(f"there are objects of {name}", bool(members))
    case(f"no object of {name} refers to study", not any(wanted[member] & of_study for member in members),
         "\n".join(f"{member}: {sorted(wanted[member] & of_study)}" for member in members))
others = {member: wanted[member] & of_study for member in wanted if room(member) not in LATER}
case("no object below study refers to it", not any(others.values()), str({m: n for m, n in others.items() if n}))
# The generator in study refers to nothing but mathematics: it cannot be a door to other randomness either.
seeded = wanted["src_study_seeded.c.o"]
case("the generator refers to functions of mathematics only", seeded <= {"log", "cos", "sqrt", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}, str(seeded))
sys.exit(done())
