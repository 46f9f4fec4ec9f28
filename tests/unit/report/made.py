"""Frontiers to show: of a model with four layers, with all that is known of a point, with scores only, of one point."""

from dataclasses import replace

from anyformer.frontier import Frontier, Point
from anyformer.plan import Plan

FULL = Point(Plan.full(4), 1.0, 90.0, 20.0)
SMALL = Point(Plan.at({0: 0.5, 2: 0.25}, 4), 0.35, 86.0, 8.0, 0.06, (3.0, 5.0))
HALF = Point(Plan((1, 0.6, 0.6, 0.6), layers=(0, 1, 3)), 0.523, 89.5, 11.25, 0.00931, (-0.25, 1.25))
RICH = Frontier((SMALL, HALF, FULL), "accuracy", "", "one core", 1200)
BARE = Frontier(tuple(replace(point, latency_ms=None, loss_bound=None, lost=None) for point in RICH), "f1")
ONE = Frontier((FULL,), "f1")
