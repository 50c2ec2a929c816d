#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One SVG for each curve of a file of points: plot.py CURVES.csv FOLDER"""
import csv
import math
import sys
from collections import OrderedDict
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60
COLOURS = ["#1b6ca8", "#d1495b", "#6b8f23", "#8d5fb0", "#c98a00"]
TITLES = {
    "threads": ("An event of 8 bytes, by threads that trace at once", "threads"),
    "faults": ("Page faults, by threads that trace at once", "threads"),
    "payload": ("An event, by its payload", "bytes of payload"),
    "streams": ("An event of 8 bytes, by streams that record it", "streams"),
    "size": ("An event of 8 bytes, by the stream's size", "KiB"),
    "types": ("An event of 8 bytes, by types used in turn", "event types"),
    "drain": ("Events that reach the log, by their payload", "bytes of payload"),
    "drain_lost": ("Lost at full speed, by payload", "bytes of payload"),
    "latency": ("Single calls: no more than so long", "percent of the calls"),
}
LOGARITHMIC = {"threads", "faults", "payload", "size", "types", "drain", "drain_lost"}


class Axis:
    """Numbers to places: by their logarithm (0 has a place of its own), or in even steps."""

    def __init__(self, values, begin, end, kind):
        self.kind, self.begin, self.end = kind, begin, end
        self.values = sorted(set(values))
        positive = [v for v in self.values if v > 0] or [1]
        if kind == "log":
            self.low = math.floor(math.log2(min(positive))) - (0 in self.values)
            self.high = max(math.ceil(math.log2(max(positive))), self.low + 1)
        elif kind == "linear":
            self.low, self.high = 0, self.nice(max(self.values) or 1)

    @staticmethod
    def nice(value):
        step = 10 ** math.floor(math.log10(value))
        return next(step * m for m in (1, 2, 2.5, 5, 10) if step * m >= value)

    def __call__(self, value):
        if self.kind == "steps":
            place, low, high = self.values.index(value), 0, max(len(self.values) - 1, 1)
        elif self.kind == "log":
            place = math.log2(value) if value > 0 else self.low
            low, high = self.low, self.high
        else:
            place, low, high = value, self.low, self.high
        return self.begin + (place - low) / (high - low) * (self.end - self.begin)

    def ticks(self):
        if self.kind == "linear":
            return [self.high * i / 5 for i in range(6)]
        if self.kind == "log" and self.high - self.low > 14:
            return [2.0 ** i for i in range(self.low, self.high + 1, 2)]
        return self.values if self.kind == "steps" or len(self.values) < 14 else [
            2.0 ** i for i in range(self.low, self.high + 1)]


def number(value):
    return f"{value:g}" if value < 1e6 else f"{value / 1e6:g}M"


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def draw(name, points):
    title, below = TITLES[name]
    unit = points[0]["unit"]
    xs = [float(p["x"]) for p in points]
    ys = [float(p["median"]) for p in points]
    x_axis = Axis(xs, LEFT, WIDTH - RIGHT, "log" if name in LOGARITHMIC else "steps")
    wide = name in ("latency", "payload") and max(ys) > 50 * max(min(ys), 0.01)
    y_axis = Axis(ys, HEIGHT - BOTTOM, TOP, "log" if wide else "linear")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>',
           f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 18}" text-anchor="middle">{below}</text>',
           f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
           f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{escape(unit)}</text>']
    y_ticks = y_axis.ticks() if not wide else [10.0 ** i for i in range(12)
                                               if y_axis.low <= i * math.log2(10) <= y_axis.high]
    for value in y_ticks:
        y = y_axis(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{duration(value) if wide else number(value)}</text>')
    for value in x_axis.ticks():
        x = x_axis(value)
        out.append(f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="#333"/>'
                   f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{number(value)}</text>')
    series = OrderedDict()
    for point in points:
        series.setdefault(point["series"], []).append(point)
    key_x = LEFT
    for colour, (label, line) in zip(COLOURS, series.items()):
        line.sort(key=lambda p: float(p["x"]))
        path = " ".join(f'{x_axis(float(p["x"])):.1f},{y_axis(float(p["median"])):.1f}' for p in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for p in line:
            out.append(f'<circle cx="{x_axis(float(p["x"])):.1f}" cy="{y_axis(float(p["median"])):.1f}" '
                       f'r="3" fill="{colour}"><title>{escape(label)}, {number(float(p["x"]))}: '
                       f'{p["median"]} {escape(unit)} (least {p["low"]})</title></circle>')
        out.append(f'<rect x="{key_x}" y="30" width="12" height="4" fill="{colour}"/>'
                   f'<text x="{key_x + 17}" y="37">{escape(label)}</text>')
        key_x += 34 + 6.2 * len(label)
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#333"/></svg>')
    return "\n".join(out) + "\n"


def main():
    curves = OrderedDict()
    with open(sys.argv[1], newline="") as file:
        for point in csv.DictReader(file):
            curves.setdefault(point["curve"], []).append(point)
    for name, points in curves.items():
        with open(f"{sys.argv[2]}/{name}.svg", "w", encoding="utf-8") as out:
            out.write(draw(name, points))


main()
