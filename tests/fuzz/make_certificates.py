#!/usr/bin/python3
"""Writes the seeds of the certificate fuzzer anew, from the examples:

    tests/fuzz/make_certificates.py build/release/cli/tamis

To be run when the format of certificates has changed; tests/cli/verify.py notices when a seed is no longer read to its end.
The noise, and with it the hashes in a seed, are others each time.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SEEDS = TOP / "tests" / "fuzz" / "seeds" / "certificate"

if len(sys.argv) != 2:
    sys.exit(__doc__)
for name in ("api", "households", "municipalities"):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / name
        shutil.copytree(TOP / "examples" / name, work)
        subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "release", "plan.yaml", "--out", "out", "--quiet"], cwd=work, check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy(work / "out" / "certificate.json", SEEDS / f"{name}.json")
