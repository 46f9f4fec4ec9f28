"""Plain and Markdown tables."""

from anyformer.report.tables import markdown, table, width


def test_columns_are_as_wide_as_their_longest_cell():
    assert table(["", "time", "ratio"], [["stock", "62.0 s", 1], ["ours", "9.1 s", 2.04]]) == (
        "         time  ratio\n-----  ------  -----\nstock  62.0 s      1\nours    9.1 s   2.04"
    )


def test_without_headers_the_rows_stand_alone():
    assert table(["", ""], [["n", 10], ["score", 7]]) == "n      10\nscore   7"
    assert table(["", ""], []) == ""


def test_wide_characters_take_two_columns():
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert table(["", ""], [["日本", 1], ["abc", 2]]) == "日本  1\nabc   2"


def test_bars_are_escaped_in_markdown():
    assert markdown(["a", "b"], [["x|y", 1]]) == "| a | b |\n| --- | --- |\n| x\\|y | 1 |"
