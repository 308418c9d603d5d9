"""Renderings read back by other programs: markdown by a parser, CSV by csv, JSON by json; hostile text stays text."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

from eval.stats.rates import Rate
from eval.table import Cell, Table
from eval.table_formats import to_csv, to_json, to_latex, to_markdown, to_terminal

HOSTILE = [
    "a|b",
    "back\\slash",
    "back\\|slash",
    "`code`",
    "**bold** and _slanted_ and __init__",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "[link](javascript:alert(1))",
    "![image](http://example.invalid/x.png)",
    "[ref][other]",
    "[ref]: http://example.invalid",
    "two\nlines | --- |",
    "snake_case_name",
    "~~gone~~",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left",
    "lone \ud800 surrogate",
    "=1+2",
]


def table(*cells: Cell, title: str = "T") -> Table:
    """One row named r."""
    return Table(title, ("name", *(f"c{i}" for i in range(len(cells)))), ((Cell("r"), *cells),))


def parsed(markdown: str) -> tuple[list[list[str]], set[str]]:
    """The cells of the first table as a markdown reader shows them, and the kinds of inline tokens in the document."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    rows: list[list[str]] = []
    kinds: set[str] = set()
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if token.type == "inline":
            kinds |= {child.type for child in token.children or []}
            if before.type in ("td_open", "th_open"):
                rows[-1].append("".join(child.content for child in token.children or []))
    return rows, kinds


def shown(text: str) -> str:
    """What a reader should see of `text`: one line, control characters replaced."""
    text = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(char)[0] == "C" else char for char in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_markdown_is_shown_as_it_is(text: str) -> None:
    rows, kinds = parsed(to_markdown([Table(text, ("name", text), ((Cell(text), Cell("1")),), (text,))]))
    assert rows == [["name", shown(text)], [shown(text), "1"]]
    assert kinds <= {"text", "text_special"}
    assert to_markdown([table(Cell(text))]).encode(), "no surrogate is left"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(alphabet="ab1 \\`*_|<>&~[]()!#:-=+.\"'\n\t;^@/\u2028\x85é中?", max_size=14) | st.text(max_size=30))
def test_any_text_in_a_markdown_cell_is_shown_as_it_is(text: str) -> None:
    rows, kinds = parsed(to_markdown([table(Cell(text))]))
    assert rows == [["name", "c0"], ["r", shown(text)]]
    assert kinds <= {"text", "text_special"}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(alphabet="ab1 \\`*_|<>&~[]()!#:-\n\x85é", max_size=14) | st.sampled_from(HOSTILE))
def test_any_text_of_a_link_is_shown_as_it_is_and_leads_where_it_should(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown([table(Cell(f"x{text}x", link="a/b%20c.md"))]))
    inline = [token.children for token in tokens if token.type == "inline"][-1] or []
    assert [child.attrs for child in inline if child.type == "link_open"] == [{"href": "a/b%20c.md"}]
    assert "".join(child.content for child in inline) == shown(f"x{text}x")
    assert {child.type for child in inline} <= {"text", "text_special", "link_open", "link_close"}


def test_a_link_is_for_markdown_alone() -> None:
    linked, plain = table(Cell.rate(Rate(1, 4), with_n=True)), table(Cell.rate(Rate(1, 4), with_n=True))
    linked = replace(linked, rows=((linked.rows[0][0], replace(linked.rows[0][1], link="rows.jsonl")),))
    assert "[25.0 \\[4.6, 69.9\\] n=4](rows.jsonl)" in to_markdown([linked])
    for render in (to_csv, to_latex, to_terminal):
        assert render([linked]) == render([plain])
    assert json.loads(to_json([linked]))[0]["rows"][0][1]["link"] == "rows.jsonl"


def test_many_columns_leave_the_names_of_rows_readable_in_a_terminal() -> None:
    row = (Cell("assistant_turn_restate"), *[Cell("100.0 [20.7, 100.0] n=1")] * 8)
    written = to_terminal([Table("T", ("label", *[f"column {i}" for i in range(8)]), (row,))], width=120)
    assert "  assistant_turn_restate  " in written
    assert max(map(len, written.splitlines())) <= 120


def test_readable_text_is_not_cluttered() -> None:
    assert "| pocket_math: 62.9 [60.3, 65.5] n=1319 (a) |" in to_markdown(
        [table(Cell("pocket_math: 62.9 [60.3, 65.5] n=1319 (a)"))]
    )


def test_markdown_is_aligned_also_behind_wide_characters() -> None:
    text = to_markdown(
        [
            Table(
                "T",
                ("name", "価格", "n"),
                ((Cell("中文名字"), Cell("1"), Cell("12345")), (Cell("a"), Cell("é"), Cell("3"))),
            )
        ]
    )
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({cell_len(line) for line in lines}) == 1
    assert lines[-1].endswith("|     3 |"), "numbers stand on the right"


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("columns", [6, 9, 12])
def test_a_terminal_shows_the_last_columns_of_a_wide_table(width: int, columns: int) -> None:
    cells = [Cell(f"{index}{index}.5 [{index}0.1, {index}9.9]") for index in range(1, columns)]
    row = (Cell("RL, pocket instructions follow-up"), *cells, Cell("worse"))
    headings = ("model", *[f"difference {index}" for index in range(1, columns)], "result")
    written = to_terminal([Table("T", headings, (row,))], width)
    assert max(map(len, written.splitlines())) <= width
    expected = Counter("".join([*headings, *(cell.text for cell in row)]).replace(" ", ""))
    assert not expected - Counter(written), "characters are missing"


def test_a_terminal_gets_every_word_within_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    rates = [Cell.rate(Rate(829, 1319), with_n=True) for _ in range(6)]
    cells = (Cell("r"), *rates, Cell("[red]name[/red]\x1b[2J"))
    wide = Table("Wide", ("name", "extraordinarily_long_heading", *"abcdef"), (cells,), ("a note",))
    written = to_terminal([wide, table(title="Next")], width=80)
    assert max(cell_len(line) for line in written.splitlines()) <= 80
    assert written.count("n=1319") == 6
    assert "…" not in written, "nothing is left out"
    assert all(word in written for word in ("Wide", "a note", "Next"))
    assert "\x1b" not in written
    assert "[red]name[/red]\ufffd[2J" in to_terminal([wide], width=300), "a cell is text, not markup"


def test_tables_follow_each_other_with_their_notes() -> None:
    first = Table("One", ("name",), ((Cell("a"),),), ("first note", "second note"))
    assert to_markdown([first, table(title="Two")]) == (
        "### One\n\n| name |\n| ---- |\n| a    |\n\n- first note\n- second note\n\n"
        "### Two\n\n| name |\n| ---- |\n| r    |\n"
    )


def test_csv_is_one_line_per_measurement_with_numbers_that_read_back() -> None:
    cells = (Cell.rate(Rate(3, 12)), Cell.number(7), Cell("held-out"))
    lines = list(csv.DictReader(io.StringIO(to_csv([table(*cells), table(Cell.number(1), title="U")]))))
    assert [(line["table"], line["row"], line["column"]) for line in lines] == [
        ("T", "r", "c0"),
        ("T", "r", "c1"),
        ("T", "r", "c2"),
        ("U", "r", "c0"),
    ]
    assert float(lines[0]["value"]) == 25.0
    assert float(lines[0]["low"]) < 25.0 < float(lines[0]["high"])
    assert (lines[0]["successes"], lines[0]["n"]) == ("3", "12")
    assert (lines[1]["value"], lines[1]["low"], lines[1]["text"]) == ("7", "", "7")
    assert (lines[2]["value"], lines[2]["text"]) == ("", "held-out")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_csv_stays_in_its_field(text: str) -> None:
    (line,) = csv.DictReader(io.StringIO(to_csv([table(Cell(text))])))
    assert line["text"] == ("'" if text.startswith("=") else "") + shown(text)


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_csv_text_is_a_formula(text: str) -> None:
    (line,) = csv.DictReader(io.StringIO(to_csv([table(Cell(text))])))
    assert line["text"].startswith("'")


@pytest.mark.parametrize("text", HOSTILE)
def test_json_reads_back_exactly(text: str) -> None:
    written = to_json([table(Cell(text), Cell.rate(Rate(1, 4)))])
    assert written.isascii()
    (read,) = json.loads(written)
    assert read["columns"] == ["name", "c0", "c1"]
    assert read["rows"][0][1]["text"] == text
    assert read["rows"][0][1]["value"] is None
    assert (read["rows"][0][2]["value"], read["rows"][0][2]["n"]) == (25.0, 4)


def test_a_negative_number_is_a_formula_to_no_spreadsheet() -> None:
    (line,) = csv.DictReader(io.StringIO(to_csv([table(Cell.estimate(-0.05, None, 93))])))
    assert float(line["value"]) == -5.0
    assert line["text"].startswith("'-5.0")


def latex_text(source: str) -> str:
    """What LaTeX prints for text that holds our escapes and nothing else; anything left over is an error."""
    words = {
        **{f"\\{char}": char for char in "&%$#_{}"},
        **{r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textbar{}": "|"},
        **{r"\textless{}": "<", r"\textgreater{}": ">", r"\textasciigrave{}": "`", r"{\char34}": '"'},
        **{"-{}": "-", "'{}": "'", r"\textemdash{}": "—", "{}": ""},
    }
    tokens = re.findall("|".join(map(re.escape, sorted(words, key=len, reverse=True))) + "|.", source)
    assert not {"\\", "{", "}", "&", "%", "$", "#", "_", "^", "~", "<", ">", "|", '"', "`"} & set(tokens), source
    printed = [words.get(token, token) for token in tokens]
    assert not any(a == b and a in ("-", "'") for a, b in pairwise(tokens)), "a ligature"
    return "".join(printed)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text(alphabet="ab1 \\`*_|<>&~[]()!#:-=+.\"'{}$%^\n—é?", max_size=14) | st.text(max_size=30))
def test_any_text_in_a_latex_cell_is_shown_as_it_is(text: str) -> None:
    written = to_latex([Table(text, ("name", text), ((Cell(text), Cell("1")),), (text,))])
    lines = written.splitlines()
    assert lines[0] == r"\begin{table}" and lines[-1] == r"\end{table}"
    caption, heading, row, note = lines[2], lines[5], lines[7], lines[10]
    assert latex_text(caption.removeprefix(r"\caption{").removesuffix("}")) == shown(text)
    assert latex_text(heading.removeprefix("name & ").removesuffix(r" \\")) == shown(text)
    assert latex_text(row.removesuffix(r" & 1 \\")) == shown(text)
    assert latex_text(note.removeprefix(r"\par\smallskip ")) == shown(text)
    assert not row.startswith(("[", "*")), "it would belong to the rule or the row above"


def test_latex_is_booktabs_with_a_column_per_cell() -> None:
    rate = Cell.rate(Rate(3, 300), with_n=True)
    written = to_latex([Table("Rates & more", ("model", "T=0", "T=1"), ((Cell("a_b"), rate, Cell("—")),), ("100 %",))])
    assert written.splitlines() == [
        r"\begin{table}",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        r"\caption{Rates \& more}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"model & T=0 & T=1 \\",
        r"\midrule",
        r"a\_b & 1.0 [0.3, 2.9] n=300 & \textemdash{} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip 100 \%",
        r"\end{table}",
    ]
