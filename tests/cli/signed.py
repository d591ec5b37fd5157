#!/usr/bin/python3
"""Signatures: an agency's keys, releases signed with them, and everything that must not pass for one. Checked by `tamis verify`, by
tests/verifier.py, whose Ed25519 is its own, and by openssl with the commands of docs/certificate.md."""
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys

from kit import HERE, INVALID, OK, TAMIS, TOP, Skip, case, environment, folder_with_plan, is_usage_error, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402


def room(folder):
    """Budget for a second release."""
    plan = folder / "plan.yaml"
    plan.write_text(re.sub(r"^budget:.*\n", "", plan.read_text(), flags=re.M) + "budget: {epsilon: 20}\n")


def keys(folder, name="agency"):
    done = tamis("key", "create", name, "--json", cwd=folder)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)["fingerprint"]


def signed(folder, *options, key="agency.key"):
    done = tamis("release", "plan.yaml", "--quiet", "--out", "out", "--sign", key, *options, cwd=folder)
    assert done.returncode == OK, done.stderr
    return folder / "out"


def look(place, *options):
    """The exit code, and what was found."""
    done = tamis("verify", place, *options, "--json")
    return done.returncode, json.loads(done.stdout)


def fields(found):
    return [p["field"] for p in found["problems"]]


def charges(folder):
    """How many charges the ledger has; 0 without one."""
    if not (folder / "tamis.ledger").exists():
        return 0
    done = tamis("ledger", "export", "tamis.ledger", "--json", cwd=folder)
    return sum('"kind": "charge"' in e["entry"] for e in json.loads(done.stdout)["entries"])


@case
def a_pair_of_keys_is_two_files_and_a_fingerprint():
    with folder_with_plan() as folder:
        fingerprint = keys(folder)
        secret, public = folder / "agency.key", folder / "agency.pub"
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        assert secret.read_text().startswith("-----BEGIN PRIVATE KEY-----\n") and public.read_text().startswith("-----BEGIN PUBLIC KEY-----\n")
        assert re.fullmatch("[0-9a-f]{64}", fingerprint)
        texts = secret.read_text(), public.read_text()
        is_usage_error(tamis("key", "create", "agency", cwd=folder), "agency.key already exists")
        public.rename(folder / "other.pub")
        is_usage_error(tamis("key", "create", "other", cwd=folder), "other.pub already exists")
        assert not (folder / "other.key").exists() and (secret.read_text(), (folder / "other.pub").read_text()) == texts
        assert tamis("key", "create", "nowhere/agency", cwd=folder).returncode == INVALID
        done = tamis("key", "create", "third", cwd=folder)
        assert done.returncode == OK and "keep it secret" in done.stdout and all(len(line) <= 80 for line in done.stdout.splitlines())


@case
def a_signed_release_is_the_agencys():
    with folder_with_plan() as folder:
        fingerprint, other = keys(folder), keys(folder, "other")
        out = signed(folder)
        assert (out / "certificate.sig").stat().st_size == 64
        code, found = look(out, "--key", folder / "agency.pub")
        assert code == OK and found["signature"] == "right" and found["signed_by"] == fingerprint != other
        assert verifier.verify(out, folder / "agency.pub") == [] == verifier.verify(out)
        code, found = look(out)
        assert code == OK and found["signature"] == "not checked"
        code, found = look(out, "--key", folder / "other.pub")
        assert code == INVALID and found["signature"] == "wrong" and fields(found) == ["signed_by"]
        assert verifier.verify(out, folder / "other.pub") != []
        text = tamis("verify", out, "--key", folder / "agency.pub").stdout
        assert "the signature is valid" in text and fingerprint in text and all(len(line) <= 80 for line in text.splitlines())


@case
def a_release_that_is_returned_as_it_was_is_signed_too():
    with folder_with_plan() as folder:
        keys(folder)
        assert tamis("release", "plan.yaml", "--quiet", "--out", "first", cwd=folder).returncode == OK
        out = signed(folder)
        certificate = json.loads((out / "certificate.json").read_text())
        assert certificate["ledger"]["repeated"] is True and charges(folder) == 1
        assert (out / "measurements.json").read_bytes() == (folder / "first" / "measurements.json").read_bytes()
        assert look(out, "--key", folder / "agency.pub")[0] == OK and look(folder / "first")[0] == OK
        done = tamis("ledger", "verify", "tamis.ledger", "--against", "first", "out", cwd=folder)
        assert done.returncode == OK, done.stdout


@case
def what_is_not_signed_says_so():
    with folder_with_plan() as folder:
        keys(folder)
        assert tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        assert json.loads((folder / "out" / "certificate.json").read_text())["signed_by"] is None
        code, found = look(folder / "out")
        assert code == OK and found["signature"] == "none" and found["signed_by"] is None
        assert "\nnot signed: " in tamis("verify", folder / "out").stdout
        code, found = look(folder / "out", "--key", folder / "agency.pub")
        assert code == INVALID and fields(found) == ["signed_by"]
        (folder / "out" / "certificate.sig").write_bytes(bytes(64))
        code, found = look(folder / "out")
        assert code == INVALID and fields(found) == ["certificate.sig"] and verifier.verify(folder / "out") != []


@case
def a_signature_that_is_missing_or_of_something_else_is_found():
    with folder_with_plan() as folder:
        room(folder)
        keys(folder)
        out = signed(folder)
        sig, public = out / "certificate.sig", folder / "agency.pub"
        right = sig.read_bytes()
        flipped = bytes([right[0] ^ 1]) + right[1:]  # tests/base/sign.c flips every bit
        for wrong in (right[:-1], right + b"\n", b"", flipped):
            sig.write_bytes(wrong)
            code, found = look(out, "--key", public)
            assert code == INVALID and "certificate.sig" in fields(found), (wrong, found)
        assert verifier.verify(out, public) != []
        sig.unlink()
        code, found = look(out)
        assert code == INVALID and fields(found) == ["certificate.sig"] and found["signature"] == "missing"
        code, found = look(out / "certificate.json")
        assert code == OK and found["signature"] == "missing"
        assert "certificate.sig is missing" in tamis("verify", out / "certificate.json").stdout
        assert look(out / "certificate.json", "--key", public)[0] == INVALID
        shutil.copytree(out, folder / "kept")
        again = tamis("release", "plan.yaml", "--quiet", "--out", "again", "--again", "--sign", "agency.key", cwd=folder)
        assert again.returncode == OK, again.stderr
        sig.write_bytes((folder / "again" / "certificate.sig").read_bytes())  # of another release
        code, found = look(out, "--key", public)
        assert code == INVALID and fields(found) == ["certificate.sig"], found
        sig.write_bytes(right)
        assert look(out, "--key", public)[0] == OK and verifier.verify(out, public) == []


@case
def whoever_changes_a_signed_release_needs_the_key():
    """Every file, the hashes made anew: the contents may follow, the signature does not."""
    with folder_with_plan() as folder:
        room(folder)
        keys(folder)
        out = signed(folder)
        other = folder / "other"
        done = tamis("release", "plan.yaml", "--quiet", "--out", "other", "--again", cwd=folder)
        assert done.returncode == OK, done.stderr
        certificate = json.loads((other / "certificate.json").read_text())  # genuine in itself, but not signed
        certificate["signed_by"] = json.loads((out / "certificate.json").read_text())["signed_by"]
        body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
        certificate["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        (other / "certificate.json").write_text(json.dumps(certificate))
        (other / "certificate.sig").write_bytes((out / "certificate.sig").read_bytes())
        assert look(other)[0] == OK  # without the key nobody can tell
        code, found = look(other, "--key", folder / "agency.pub")
        assert code == INVALID and fields(found) == ["certificate.sig"]
        assert verifier.verify(other, folder / "agency.pub") != []


@case
def a_key_that_cannot_sign_costs_nothing():
    with folder_with_plan() as folder:
        keys(folder)
        (folder / "open.key").write_text((folder / "agency.key").read_text())
        (folder / "open.key").chmod(0o644)
        (folder / "words.key").write_text("secret")
        (folder / "words.key").chmod(0o600)
        for key, words in (("nothing.key", "No such file"), ("open.key", "chmod 600"), ("words.key", "expected an Ed25519 key"),
                           ("agency.pub", "this is the public key of a pair; signing needs the secret one, agency.key"),
                           (".", "directory")):
            done = tamis("release", "plan.yaml", "--quiet", "--out", "out", "--sign", key, cwd=folder)
            assert done.returncode == INVALID and words in done.stderr, (key, done.stderr)
            assert charges(folder) == 0 and not (folder / "out").exists() and not list(folder.glob(".out*")), key
        done = tamis("verify", folder, "--key", "agency.pub")
        assert done.returncode == INVALID and "certificate.json" in done.stderr
        out = signed(folder)
        for key in ("agency.key", "nothing.pub", "plan.yaml"):
            done = tamis("verify", out, "--key", folder / key)
            assert done.returncode == INVALID and done.stdout == "" and key in done.stderr, done.stdout


def openssl():
    found = shutil.which("openssl")
    if not found or not subprocess.run([found, "version"], capture_output=True, text=True).stdout.startswith("OpenSSL 3"):
        raise Skip("no OpenSSL 3 command")


def blocks():
    """The indented commands of docs/certificate.md, Signatures."""
    text = (TOP / "docs" / "certificate.md").read_text().split("## Signatures")[1].split("\n## ")[0]
    return ["\n".join(line[4:] for line in block.splitlines()) for block in re.findall(r"(?:^    .*\n)+", text, re.M)]


def bash(lines, folder, **more):
    env = environment(PATH=f"{folder}/bin:/usr/bin:/bin", **more)
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin" / "tamis").exists():
        os.symlink(TAMIS, folder / "bin" / "tamis")
    return subprocess.run(["bash", "-euc", lines], capture_output=True, text=True, cwd=folder, env=env, timeout=300)


@case
def the_commands_of_the_documentation_work():
    openssl()
    line, create, encrypt, check = blocks()
    with folder_with_plan() as folder:
        done = bash(create, folder)
        assert done.returncode == OK, done.stderr
        fingerprint = re.search("[0-9a-f]{64}", done.stdout).group()
        certificate = json.loads((folder / "plan-release" / "certificate.json").read_text())
        done = bash("cp ../agency.pub .\n" + check, folder / "plan-release")
        assert done.returncode == OK and "Signature Verified Successfully" in done.stdout and fingerprint in done.stdout, done.stderr
        assert (folder / "plan-release" / "message").read_text() == line.replace("HASH", certificate["hash"]) + "\n"
        (folder / "plan-release" / "certificate.json").write_text(json.dumps({**certificate, "version": "2"}))
        done = bash(check, folder / "plan-release")
        assert done.returncode != OK and "Verified Successfully" not in done.stdout
        shutil.rmtree(folder / "plan-release")
        # the same with an encrypted key; the passphrase comes from a file instead of the terminal
        (folder / "pass").write_text("swordfish\n")
        encrypt = encrypt.replace("-aes256", "-aes256 -passout file:pass").replace("(openssl pkey", "(openssl pkey -passin file:pass")
        done = bash(encrypt, folder)
        assert done.returncode == OK, done.stderr
        assert look(folder / "plan-release", "--key", folder / "agency.pub")[1]["signature"] == "right"
        spent = charges(folder)
        done = tamis("release", "plan.yaml", "--quiet", "--again", "--out", "out", "--sign", "agency.enc.key", cwd=folder)
        assert done.returncode == INVALID and "encrypted" in done.stderr and charges(folder) == spent, done.stderr


@case
def keys_that_openssl_makes_sign_too():
    openssl()
    with folder_with_plan() as folder:
        done = bash("umask 077; openssl genpkey -algorithm ed25519 -out own.key; openssl pkey -in own.key -pubout -out own.pub\n"
                    "openssl genpkey -algorithm ed448 -out wrong.key", folder)
        assert done.returncode == OK, done.stderr
        out = signed(folder, key="own.key")
        assert look(out, "--key", folder / "own.pub")[1]["signature"] == "right" and verifier.verify(out, folder / "own.pub") == []
        done = tamis("release", "plan.yaml", "--quiet", "--again", "--out", "b", "--sign", "wrong.key", cwd=folder)
        assert done.returncode == INVALID and "Ed25519" in done.stderr, done.stderr


main()
