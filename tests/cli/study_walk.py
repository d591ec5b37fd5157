"""docs/study.md is a walk from a question to a plan: each of its commands prints what the page shows, and draws the pictures of the
page. `study_walk.py TAMIS --write` writes the pictures anew."""
import json
import re
import xml.etree.ElementTree as xml

from kit import *

PAGE = TOP / "docs" / "study.md"


def commands_of(page):
    """(command, the lines that the page shows below it); "..." stands for lines that are left out."""
    found, lines = [], page.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("    $ "):
            shown = []
            for below in lines[i + 1:]:
                if below.startswith("    $ ") or (below and not below.startswith("    ")):
                    break
                shown.append(below[4:])
            while shown and not shown[-1]:
                shown.pop()
            found.append((line[6:], shown))
    return found


def run(line, folder):
    with tempfile.TemporaryDirectory() as place:
        os.symlink(PLAIN or TAMIS, os.path.join(place, "tamis"))
        return without_remark(subprocess.run(["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=300,
                                             env=environment(PATH=place + ":/usr/bin:/bin")))


COMMANDS = commands_of(PAGE.read_text())
PICTURES = re.findall(r"!\[[^]]*\]\((\S+\.svg)\)", PAGE.read_text())

if sys.argv[2:] == ["--write"]:
    with folder_with_plan() as folder:
        for line, shown in COMMANDS:
            print(f"    $ {line}\n" + "".join(f"    {l}\n" if l else "\n" for l in run(line, folder).stdout.splitlines()))
        for name in PICTURES:
            shutil.copy(folder / name, PAGE.parent)
    sys.exit()


def parts(shown):
    part = []
    for line in [*shown, "..."]:
        if line.strip() == "...":
            yield part
            part = []
        else:
            part.append(line)


@case
def every_command_prints_what_the_page_shows():
    assert len(COMMANDS) >= 6
    with folder_with_plan() as folder:
        for line, shown in COMMANDS:
            done = run(line, folder)
            assert done.returncode == OK, (line, done.stderr)
            printed = done.stdout.splitlines()
            for part in parts(shown):
                assert not part or any(printed[i:i + len(part)] == part for i in range(len(printed))), f"{line} printed\n{done.stdout}"
        for name in PICTURES:
            titles = [[e.text for e in xml.parse(place).iter("{http://www.w3.org/2000/svg}text")] for place in (PAGE.parent / name, folder / name)]
            assert titles[0] == titles[1], f"docs/{name} is not what the page's command draws"


@case
def the_page_names_every_study_command():
    text = PAGE.read_text()
    for name in listed("study"):
        assert f"tamis study {name}" in text, name


main()
