#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One SVG for each curve of a file of points: plot.py CURVES.csv FOLDER"""
import csv
import math
import sys
from collections import OrderedDict
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 50, 60
COLOURS = {"posixtrace": "#1b6ca8", "LTTng-UST": "#d1495b", "clock": "#777"}
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
WIDE = {"latency", "drain"}  # values from one to a thousand; the small ones matter too


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
            most = max(self.values) or 1
            decade = 10 ** math.floor(math.log10(most)) / 10
            self.step = next(decade * m for m in (2, 2.5, 5, 10, 20, 25) if decade * m * 6 >= most)
            self.low, self.high = 0, self.step * math.ceil(most / self.step)

    def __call__(self, value):
        if self.kind == "steps":
            place, low, high = self.values.index(value), 0, max(len(self.values) - 1, 1)
        elif self.kind == "log":
            place = math.log2(value) if value > 0 else self.low
            low, high = self.low, self.high
        else:
            place, low, high = value, self.low, self.high
        return self.begin + (place - low) / (high - low) * (self.end - self.begin)

    def decades(self):
        """Powers of ten; with their double and fivefold values if there are few."""
        decades = range(math.floor(self.low * math.log10(2)), math.ceil(self.high * math.log10(2)) + 1)
        steps = (1, 2, 5) if len(decades) < 6 else (1,)
        ticks = [m * 10.0 ** i for i in decades for m in steps]
        return [t for t in ticks if self.low <= math.log2(t) <= self.high]

    def ticks(self):
        if self.kind == "linear":
            return [self.step * i for i in range(round(self.high / self.step) + 1)]
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


def place(name, value):
    return "slowest" if name == "latency" and value == 100 else number(value)


def draw(name, points):
    title, below = TITLES[name]
    unit = points[0]["unit"]
    xs = [float(p["x"]) for p in points]
    ys = [float(p["median"]) for p in points]
    x_axis = Axis(xs, LEFT, WIDTH - RIGHT, "log" if name in LOGARITHMIC else "steps")
    wide = name in WIDE
    y_axis = Axis(ys, HEIGHT - BOTTOM, TOP, "log" if wide else "linear")
    tell = duration if unit == "ns" and wide else number
    # Durations name their unit.
    beside = "" if tell is duration else unit
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>',
           f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 18}" text-anchor="middle">{below}</text>',
           f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
           f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{escape(beside)}</text>']
    y_ticks = y_axis.decades() if wide else y_axis.ticks()
    for value in y_ticks:
        y = y_axis(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tell(value)}</text>')
    for value in x_axis.ticks():
        x = x_axis(value)
        out.append(f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="#333"/>'
                   f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{place(name, value)}</text>')
    series = OrderedDict()
    for point in points:
        series.setdefault(point["series"], []).append(point)
    key_x = LEFT
    shades, lines = [], []
    for label, line in series.items():
        tracer = label.split()[0]
        colour = COLOURS[tracer]
        dashes = ' stroke-dasharray="7 5"' if label.endswith(" loaded") else ""
        line.sort(key=lambda p: float(p["x"]))
        spot = [(x_axis(float(p["x"])), y_axis(float(p["median"]))) for p in line]
        least = [(x_axis(float(p["x"])), y_axis(float(p["low"]))) for p in line]
        if spot != least:
            area = " ".join(f"{x:.1f},{y:.1f}" for x, y in spot + least[::-1])
            shades.append(f'<polygon points="{area}" fill="{colour}" fill-opacity="0.18"/>')
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spot)
        drawn = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>']
        for p, (x, y) in zip(line, spot):
            # The points of the other tracer are rings, so that both are visible where they meet.
            form = ('r="3" fill="{0}"' if tracer == "posixtrace" else
                    'r="4.5" fill="#fff" stroke="{0}" stroke-width="2"').format(colour)
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {form}><title>{escape(label)}, '
                         f'{place(name, float(p["x"]))}: {p["median"]} {escape(unit)} '
                         f'(least {p["low"]})</title></circle>')
        lines.append((tracer == "posixtrace", drawn))
        out.append(f'<path d="M{key_x} 33h18" stroke="{colour}" stroke-width="3"{dashes}/>'
                   f'<text x="{key_x + 22}" y="37">{escape(label)}</text>')
        key_x += 34 + 6 * len(label)
    if shades:
        out.append(f'<text x="{WIDTH - RIGHT}" y="37" text-anchor="end" fill="#777">'
                   'shade: from the least of the rounds to their median</text>')
    out += shades
    for _, drawn in sorted(lines, key=lambda pair: pair[0]):
        out += drawn
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
