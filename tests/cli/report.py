"""report.html: what the plan calls things, no syntax of the plan, tables that a screen reader can read, plots with words, flags."""
import html.parser
import re

from kit import *

sys.path.insert(0, str(TOP / "tests"))
from tap import LONG  # noqa: E402

DATA = "age,pay,sex,region\n" + "".join(f"{20 + i % 50},{i % 1000},{'fm'[i % 2]},r{i % 3}\n" for i in range(1000))
PLAN = """tamis: 1
survey: pay-2026
title: "Pay & <b>people</b>"
source: {file: data.csv}
design: {stratified: {by: region, within: srs, strata: {r0: {population: 3400, sample: 334}, r1: {population: 3300, sample: 333}, r2: {population: 3300, sample: 333}}}}
privacy: {unit: employee, epsilon: 8, secret_sample: yes}
columns:
  pay: {from: 0, to: 1000, step: 1, label: "pay <img src=x onerror='alert(1)'>", unit_of_measure: euro}
  age: {from: 15, to: 80, step: 1, label: age, unit_of_measure: years}
  sex: {values: [f, m]}
  region: {values: [r0, r1, r2], label: '"region" of work'}
statistics:
  - {mean: pay}
  - {total: pay, by: [sex, region]}
  - {ratio: {of: pay, to: age}, confidence: 0.9}
  - {share: {sex: f, age: {from: 30, to: 39}}, by: {pay: [100, 500]}}
  - {share: {sex: f}, where: {age: {from: 65}}}
  - {count: units, by: sex, label: Women and men}
budget: {epsilon: 20}
"""


class Page(html.parser.HTMLParser):
    """Tables of the page: caption, head and body as rows of (tag, scope, text); labels of the plots."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.plots, self.cell, self.tags, self.words = [], [], None, [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("td", "th"):
            self.cell = [tag, attributes.get("scope"), ""]
            self.tables[-1]["rows"][-1].append(self.cell)
        elif tag == "caption":
            self.cell = None
        elif tag == "svg" and "w" in attributes.get("class", "").split():
            self.plots.append((attributes.get("role"), attributes.get("aria-label", "")))

    def handle_endtag(self, tag):
        if tag == "span" and self.cell:
            self.cell[2] += " "
        if tag == "table":
            self.cell = None

    def handle_data(self, data):
        if not self.tags or self.tags[-1][0] in ("style", "title"):
            return
        self.words += data
        if self.cell:
            self.cell[2] += data
        elif self.tables and not self.tables[-1]["rows"]:
            self.tables[-1]["caption"] += data


def released(plan, data=DATA):
    """The page, its text and release.json."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "plan.yaml").write_text(plan)
        (folder / "data.csv").write_text(data)
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        done = tamis("verify", "out", cwd=folder)
        assert done.returncode == OK, done.stdout
        text = (folder / "out" / "report.html").read_text()
        return Page(text), text, json.loads((folder / "out" / "release.json").read_text())


PAGE, TEXT, RELEASE = released(PLAN)


def number(text):
    return float(text.replace(",", "").strip("*"))


@case
def title_labels_and_units_are_shown_and_escaped():
    assert "<title>Pay &amp; &lt;b&gt;people&lt;/b&gt;: protected" in TEXT and "<h1>Pay &amp; &lt;b&gt;people" in TEXT
    assert "<img" not in TEXT and "&lt;img src=x onerror=&#39;alert(1)&#39;&gt; (euro)" in TEXT
    captions = [table["caption"].strip() for table in PAGE.tables]
    pay = "pay <img src=x onerror='alert(1)'>"
    assert f'Total of {pay}, by sex and "region" of work (euro)' in captions, captions
    assert "Women and men" in captions
    assert f"Share with age from 30 to 39 years and sex: f, by {pay}" in captions, captions
    singles = [row[0][2].strip() for row in PAGE.tables[0]["rows"][1:]]
    assert singles == [f"Mean of {pay} (euro)", f"Ratio of {pay} to age (euro per years)",
                       "Share with sex: f, among those with age at least 65 years"], singles
    assert "100 to under 500" in PAGE.words and "500 to 1000" in PAGE.words


@case
def no_syntax_of_the_plan_is_on_the_page():
    for syntax in ("`", "sex=f", "30..39", "secret_sample", "protect:", "given:", "rows_per_unit", "[100,500)", "sample given frame", "pay^2"):
        assert syntax not in PAGE.words, (syntax, PAGE.words[max(0, PAGE.words.find(syntax) - 80):][:200])


@case
def tables_have_captions_scopes_and_row_headers():
    assert len(PAGE.tables) == 6, [t["caption"] for t in PAGE.tables]  # single numbers, three by groups, meaning, measurements
    for table in PAGE.tables:
        assert table["caption"].strip()
        assert all(tag == "th" and scope == "col" for tag, scope, _ in table["rows"][0]), table
        for row in table["rows"][1:]:
            assert row[0][0] == "th" and row[0][1] in ("row", "rowgroup"), row
            assert all(tag == "td" for tag, _, _ in row[1:]), row
            assert len(row) == 1 or len(row) == len(table["rows"][0]) or "no separate guarantee" in row[1][2], row
    grouped = PAGE.tables[1]["rows"]
    assert [row[0][2].strip() for row in grouped[1:]] == ["sex: f", "r0", "r1", "r2", "sex: m", "r0", "r1", "r2"], grouped


@case
def words_are_those_of_the_unit_and_of_people():
    assert "What an attacker can learn about one employee, at most" in PAGE.words and "any sampled employee" in PAGE.words
    assert "belief about one employee move?" in TEXT and "that employee's answers had been replaced by any others" in PAGE.words
    hazard = "If several of them belong to one person, that person is protected less."
    rest = PAGE.words.replace(hazard, "").replace("smaller than a person", "")
    assert hazard in PAGE.words and "person" not in rest, rest[max(0, rest.find("person") - 80):][:200]
    assert not re.search(r"\de\+\d", PAGE.words), re.findall(r".{20}\de\+\d", PAGE.words)
    assert not re.search(r"\d %", PAGE.words.split("What an attacker")[1].split("Compared with")[0])  # a number and its % stay together
    assert re.search(r"Released <time>\d{4}-\d\d-\d\d</time>\.", TEXT) and "time{white-space:nowrap}" in TEXT
    assert "<td colspan=4>" not in TEXT or "td[colspan]{flex:0 0 100%" in TEXT


@case
def without_an_outsider_number_the_row_says_so():
    page, text, _ = released(PLAN.replace(", secret_sample: yes", ""))
    assert "no separate guarantee: the same as for a sampled employee" in page.words and "<td colspan=4>" in text
    assert "for an employee whose participation is unknown: the guarantee is the same as for a sampled employee" in page.words


@case
def every_plot_says_its_numbers_and_lies_between_the_ends_of_its_axis():
    rows = 0
    for table in PAGE.tables[1:4]:
        ends = [number(end) for end in re.findall(r"-?[\d,.]+", table["rows"][0][-1][2])]
        for row in table["rows"][1:]:
            if len(row) == 1:
                continue
            low, high = (number(end) for end in row[3][2].replace("\xa0", " ").split(" to "))
            assert ends[0] <= low <= high <= ends[1], (ends, row)
            assert PAGE.plots[rows] == ("img", f"estimate {row[1][2].strip('*')}, interval {row[3][2]}".replace("\xa0", " ")), PAGE.plots[rows]
            rows += 1
    assert rows == len(PAGE.plots) == 6 + 3 + 2


def flag(result):
    """Statistics Canada's limits; of shares those of the NCHS, with caution from half of them."""
    estimate, se = result["estimate"], result["se"]
    if result["statistic"] != "share":
        cv = se / abs(estimate)
        return "F" if cv > 1 / 3 else "E" if cv > 0.165 else ""
    limit = min(0.3, 1.3 * estimate)
    width = 3.92 * se
    return "" if width <= 0.05 else "F" if width >= limit else "E" if width >= limit / 2 else ""


@case
def flags_follow_the_limits():
    seen = set()
    for epsilon in ("8", "0.5", "0.1"):
        page, _, release = released(PLAN.replace("epsilon: 8", f"epsilon: {epsilon}"))
        shown = []
        for table in page.tables[:4]:
            at = [cell[2].strip() for cell in table["rows"][0]].index("Quality") if "Quality" in str(table["rows"][0]) else None
            shown += [(row[at][2].strip() if at else "")[:1] for row in table["rows"][1:] if len(row) > 1]
        results = release["results"]
        single = [r for r in results if not r["group"]]
        expected = single + [r for r in results if r["group"]]
        for given, result in zip(shown, expected):
            if result["estimate"] is not None and result["se"] and not result.get("outside_range"):
                assert given == flag(result), (given, result)
                seen.add(given)
        assert len(shown) == len(expected)
    assert seen == {"", "E", "F"}, seen


@case
def beliefs_are_compared_with_what_the_setting_compares():
    """Where nobody may be absent, only answers replaced by others are one step away: a missing record could be two."""
    plan = """tamis: 1
survey: absent
source: {file: data.csv}
design: {srs: {population: 100000, sample: 100}, nonresponse: yes}
privacy: {unit: person, epsilon: 1, protect: respondents, given: frame}
columns: {a: {values: [x, y]}}
statistics: [{share: {a: x}}]
budget: {epsilon: 1}
"""
    absent = released(plan, "a\n" + "x\n" * 90)[0].words
    assert "that person's answers had not been used," in absent, absent
    assert "answers had been replaced by any others," in PAGE.words


@case
def many_numbers_need_little_room():
    count = 60000 if LONG else 3000
    values = ", ".join(f"v{i}" for i in range(count // 100))
    plan = f"""tamis: 1
survey: many
source: {{file: data.csv}}
design: {{srs: {{population: 100000, sample: 100}}}}
privacy: {{unit: person, epsilon: 1}}
columns:
  a: {{values: [{', '.join(f'w{i}' for i in range(100))}]}}
  b: {{values: [{values}]}}
statistics: [{{count: units, by: [a, b]}}]
budget: {{epsilon: 1}}
"""
    page, text, release = released(plan, "a,b\n" + "".join(f"w{i},v{i % 7}\n" for i in range(100)))
    assert len(release["results"]) == count and not page.plots
    assert "Plots are left out" in page.words
    rows = [row for row in page.tables[0]["rows"][1:] if len(row) > 1]
    assert len(rows) == count
    assert len(text) < 20000 + 80 * count, len(text)  # 5 MB for 60,000


main()
