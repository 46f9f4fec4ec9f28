"""The trade-off as SVG: well-formed, a group a point, round numbers on its axis."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.report.curves import curve
from anyformer.report.svg import chart, ticks
from tests.unit.report.made import BARE, ONE, RICH


@pytest.mark.parametrize("frontier", [RICH, BARE, ONE], ids=["rich", "bare", "one"])
def test_every_point_is_a_group_with_its_number(frontier):
    drawn = ElementTree.fromstring(chart(curve(frontier), 640, 380, "wide"))
    groups = drawn.findall("g")
    assert [group.get("data-point") for group in groups] == [str(i) for i in range(len(frontier))]
    places = [float(group.find("circle").get("cx")) for group in groups]
    assert places == sorted(places)
    assert all(0 <= place <= 640 for place in places)


def test_points_with_an_interval_show_it():
    drawn = ElementTree.fromstring(chart(curve(RICH), 640, 380, "wide"))
    assert len(drawn.findall("g/line[@class='interval']")) == 2


def test_a_name_cannot_break_the_chart():
    picture = curve(replace(RICH, metric='"><script>alert(1)</script>'))
    assert "<script" not in chart(picture, 640, 380, "wide")


@given(st.floats(-100, 100), st.floats(1e-3, 200))
def test_ticks_are_few_round_and_inside(low, span):
    found = ticks(low, low + span)
    assert 1 <= len(found) <= 7
    assert all(low - 1e-6 <= tick <= low + span + 1e-6 for tick in found)


def test_ticks_of_known_ranges():
    assert ticks(85.2, 93.4) == [86, 88, 90, 92]
    assert ticks(91.98, 92.41) == [92.0, 92.1, 92.2, 92.3, 92.4]
