"""The walks of docs/: each is a page whose commands are run, one after the other, in a folder of its own. The lines that it shows come out in
this order; "..." means lines that are left out, and a line may go on where the page stops."""
from kit import *

WALKS = ["publish", "plan-survey", "collect", "use-database", "check-certificate"]
ENV = {}


def steps_of(page):
    """(command, lines shown below it)"""
    found = []
    for line in page.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
        elif not line.startswith("    ") and line and found and not found[-1][1]:
            found[-1] = (found[-1][0], None)  # text follows: nothing is shown
    return [(command, [line for line in shown or [] if line.strip() and line.strip() != "..."]) for command, shown in found]


def walk(name):
    steps = steps_of((TOP / "docs" / f"{name}.md").read_text())
    assert len(steps) >= 4, steps
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
        os.symlink(PLAIN or TAMIS, os.path.join(place, "tamis"))
        script = "set -e\n" + "".join(f"echo '@{i}'\n{command}\n" for i, (command, _) in enumerate(steps))
        done = subprocess.run(["/bin/sh", "-c", script.replace("/usr/local/share/tamis/examples", str(TOP / "examples"))], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, env=environment(PATH=place + ":/usr/bin:/bin", **ENV))
    assert done.returncode == 0, done.stdout[-3000:]
    printed = re.split(r"^@\d+\n", done.stdout, flags=re.M)[1:]
    assert len(printed) == len(steps), done.stdout
    for (command, shown), text in zip(steps, printed):
        lines = iter(text.splitlines())
        for wanted in shown:
            assert any(line.startswith(wanted) for line in lines), f"{command}\ndoes not print: {wanted}\nbut:\n{text}"


for name in WALKS:
    case(lambda name=name: walk(name), f"docs/{name}.md can be walked")


@case
def the_index_has_every_walk_and_every_page():
    index = (TOP / "docs" / "README.md").read_text()
    missing = [page.name for page in sorted((TOP / "docs").glob("*.md")) if page.name != "README.md" and f"({page.name})" not in index]
    assert not missing, missing
    head = index[:index.index("## All pages")]
    assert re.findall(r"^\| [^|]+ \| \[([a-z-]+)\.md\]\([^|]+ \|", head, re.M)[:len(WALKS)] == WALKS, head


with tempfile.TemporaryDirectory() as services:
    ENV = serve(services)  # where libpq finds the service `survey`
    main()
