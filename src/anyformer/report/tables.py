"""Plain text tables, for a terminal and for a log: columns as wide as their longest cell, numbers to the right."""

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

GAP = "  "


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The first column is a name, to the left; the others stand to the right. An empty header is left out."""
    cells = [[str(cell) for cell in row] for row in ([header, *rows] if any(header) else rows)]
    if not cells:
        return ""
    widths = [max(width(row[i]) for row in cells) for i in range(len(header))]
    lines = [GAP.join(_filled(cell, widths[i], i == 0) for i, cell in enumerate(row)).rstrip() for row in cells]
    if any(header):
        lines.insert(1, GAP.join("-" * w for w in widths))
    return "\n".join(lines)


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same as a Markdown table; bars in cells are escaped."""
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def width(text: str) -> int:
    """Columns of a terminal that the text takes: two for wide characters, none for combining ones."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _filled(text: str, size: int, left: bool) -> str:
    space = " " * (size - width(text))
    return text + space if left else space + text
