"""Line charts as SVG, drawn by hand: a handful of lines needs no library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

Point = tuple[float, float]
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 44, 52
_COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c98a1b", "#5b6770", "#0f9aa8", "#a34d00")


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn: lines by name, each from left to right."""

    title: str
    across: str
    upward: str
    lines: Mapping[str, Sequence[Point]]
    is_logarithmic: bool = False
    """Of the upward axis."""


def drawn(chart: Chart) -> str:
    """The chart as an SVG document."""
    points = [point for line in chart.lines.values() for point in line]
    across = _Axis.over([x for x, _ in points], _LEFT, _WIDTH - _RIGHT)
    upward = _Axis.over([y for _, y in points], _HEIGHT - _BOTTOM, _TOP, is_logarithmic=chart.is_logarithmic)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 24, chart.title, size=15),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, chart.across, anchor="middle"),
        _text(_LEFT, _TOP - 6, chart.upward, size=11),
    ]
    for value in upward.ticks():
        at = upward.at(value)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e3e3e3"/>')
        parts.append(_text(_LEFT - 6, at + 4, f"{value:,.6g}", anchor="end"))
    below = _HEIGHT - _BOTTOM + 18
    parts += [_text(across.at(value), below, f"{value:,.6g}", anchor="middle") for value in across.ticks()]
    for number, (name, line) in enumerate(chart.lines.items()):
        parts += _drawn_line(name, line, number=number, across=across, upward=upward)
    return "\n".join([*parts, "</svg>\n"])


def _drawn_line(name: str, line: Sequence[Point], *, number: int, across: _Axis, upward: _Axis) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    dash = "" if number < len(_COLOURS) else ' stroke-dasharray="5 4"'
    places = [(across.at(x), upward.at(y)) for x, y in line]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    legend = _TOP + 10 + 20 * number
    left = _WIDTH - _RIGHT + 16
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places),
        f'<line x1="{left}" x2="{left + 18}" y1="{legend}" y2="{legend}" stroke="{colour}" stroke-width="3"{dash}/>',
        _text(left + 24, legend + 4, name),
    ]


@dataclass(frozen=True, slots=True)
class _Axis:
    """From values to places on the paper."""

    low: float
    high: float
    first: float
    last: float
    is_logarithmic: bool

    @classmethod
    def over(cls, values: Sequence[float], first: float, last: float, *, is_logarithmic: bool = False) -> _Axis:
        """An axis with all values on it, from 0 unless it is logarithmic."""
        if is_logarithmic:
            positive = [value for value in values if value > 0] or [1.0]
            return cls(min(positive) / 1.15, max(positive) * 1.15, first, last, True)
        return cls(0.0, 1.05 * max(values, default=1.0) or 1.0, first, last, False)

    def at(self, value: float) -> float:
        """Where a value lies."""
        if self.is_logarithmic:
            share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        else:
            share = value / self.high
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        if self.is_logarithmic:
            powers = range(floor(log10(self.low)), floor(log10(self.high)) + 1)
            values = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
            return [value for value in values if self.low <= value <= self.high]
        rough = self.high / 5
        size = 10.0 ** floor(log10(rough))
        step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
        return [number * step for number in range(int(self.high / step) + 1)]


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
