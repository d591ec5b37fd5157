"""What the noise of the shipped library is made of: integers alone, random bits from one door, no seed.

Floating-point noise is how most libraries were broken (Mironov's low bits, precision attacks), so the machine code
itself is looked at: no file of src/rng may contain one instruction that computes with floating-point numbers. Moves and
bitwise operations on vector registers are integers' too and are allowed.
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

RELEASE = TOP / "build" / "release"
LIBRARY = RELEASE / "libtamis.a"

# Scalar and packed arithmetic, comparisons and conversions of SSE, AVX and FMA; everything of the x87; on ARM, the f...
# instructions and conversions.
FLOATING = re.compile(r"^(v?(add|sub|mul|div|sqrt|rsqrt|rcp|min|max|round|hadd|hsub|addsub|dp|cmp\w*|comi|ucomi|scalef|"
                      r"fmadd\w*|fmsub\w*|fnmadd\w*|fnmsub\w*|fmaddsub\w*|getexp|getmant)(ss|sd|ps|pd|sh|ph)"
                      r"|v?cvt\w+|f(ld|st|add|sub|mul|div|sqrt|il|ist|com|ucom|chs|abs|prem|rnd|scale|xtract|sin|cos|pt|yl)\w*"
                      r"|f(add|sub|mul|div|madd|msub|nmul|cvt\w+|cmp\w*|sqrt|rint\w*|max\w*|min\w*)|[su]cvtf)$")


def output(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


def floats_by_member():
    """{object file: [instructions that compute with floating-point numbers]}, for all of the library."""
    found, member = {}, None
    for line in output("objdump", "-d", "--no-show-raw-insn", LIBRARY).splitlines():
        if ":     file format" in line:
            member = pathlib.Path(line.split(":")[0]).name
            found[member] = []
        elif match := re.match(r"\s+[0-9a-f]+:\s+(?:(?:data16|rep\w*|lock|notrack|bnd|cs)\s+)*(\S+)", line):
            if FLOATING.match(match.group(1)):
                found[member].append(line.strip())
    return found


def names(*options):
    """{object file: symbols}"""
    found, member = {}, None
    for line in output("nm", *options, LIBRARY).splitlines():
        if line.endswith(":"):
            member = pathlib.Path(line[:-1]).name
            found[member] = set()
        elif line:
            found[member].add(line.split()[-1].split("@")[0])
    return found


def code_of(file):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read_text(), flags=re.S)


sources = sorted((TOP / "src" / "rng").glob("*.[ch]"))
floats = floats_by_member()
rng = {member: lines for member, lines in floats.items() if member.startswith("src_rng_")}
case("the objects of src/rng were found", len(rng) == sum(f.suffix == ".c" for f in sources), sorted(rng))
for member, lines in sorted(rng.items()):
    case(f"{member} computes with integers alone", not lines, "\n".join(lines[:10]))
case("floating point is seen where it is", any(lines for member, lines in floats.items() if member.startswith("src_num_")))
bad = [str(f.relative_to(TOP)) for f in sources if re.search(r"\b(double|float|_Float\d+|__float128)\b", code_of(f))]
case("no text of src/rng names a floating-point type", not bad, bad)

doors = {"getrandom", "getentropy", "arc4random", "arc4random_buf", "RAND_bytes", "RAND_priv_bytes", "EVP_EncryptUpdate"}
users = {member for member, wanted in names("-u").items() if wanted & doors}
case("one object asks for random bits", users == {"src_rng_generator.c.o"}, sorted(users))
text = "\n".join(code_of(f) for f in (TOP / "src").rglob("*.[ch]"))
case("no file opens another source of random bits", not re.search(r"/dev/u?random|rdrand|rdseed", text))

defined = set().union(*names("-g", "--defined-only").values())
case("no function takes a seed", not [n for n in defined if "seed" in n.lower()])
case("the bits of tests are not in the library", not [n for n in defined if n.startswith(("bits_from", "fail_allocation"))])
sys.exit(done())
