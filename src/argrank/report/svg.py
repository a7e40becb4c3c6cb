"""Charts as inline SVG: lines, columns, bars, points, dots. Colours and fonts come from the page's style sheet."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from argrank._tables import plain
from argrank.report.scale import Scale, tick_text

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 48
N_COLOURS = 10
LABEL_STEP = 14  # between the names at the ends of lines
MOST_LABELS = 16
FARTHEST, NAME_HEIGHT = 14, 16  # most steps between a point and its name, and the height of a step

Box = tuple[float, float, float, float]  # left, top, right, bottom

_numbers = count(1)  # ids within one page must differ; they may also differ between pages


@dataclass(frozen=True)
class Series:
    """A line of a chart; ``colour`` is the number of the system it belongs to."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int = 0


def escape(text: object) -> str:
    """Return a text for use in HTML and in quoted attributes."""
    return html.escape(plain(str(text)))


def lines(
    series: Sequence[Series], title: str, x_label: str, y_label: str, *, log_x: bool = False, log_y: bool = False
) -> str:
    """Draw one line for each series with its name at its end, and a dot at each value as long as they are few."""
    named = 1 < len(series) <= MOST_LABELS
    right = RIGHT + (min(120.0, 14 + 6.6 * max(len(cut(one.name, 16)) for one in series)) if named else 0)
    x = Scale.of((v for one in series for v in one.x), LEFT, WIDTH - right, log=log_x)
    y = Scale.of((v for one in series for v in one.y), HEIGHT - BOTTOM, TOP, log=log_y)
    points_of = [
        [(x(a), y(b), a, b) for a, b in zip(one.x, one.y, strict=True) if x.shows(a) and y.shows(b)] for one in series
    ]
    places = _apart([shown[-1][1] if shown else HEIGHT - BOTTOM for shown in points_of])
    parts = [_axes(x, y, x_label, y_label)]
    for one, shown, place in zip(series, points_of, places, strict=True):
        if not shown:
            continue
        path = " ".join(f"{'L' if i else 'M'}{px:.1f} {py:.1f}" for i, (px, py, _, _) in enumerate(shown))
        drawn = f'<path class="line d{one.colour // N_COLOURS % 3}" d="{path}"><title>{escape(one.name)}</title></path>'
        drawn += f'<path class="reach" d="{path}"/>'  # wide and invisible: easy to point at
        if len(shown) <= 12:
            drawn += "".join(
                f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="3.5">'
                f"<title>{escape(one.name)}: {tick_text(a)}, {tick_text(b)}</title></circle>"
                for px, py, a, b in shown
            )
        if named:
            px, py = shown[-1][:2]
            drawn += f'<path class="leader" d="M{px + 4:.1f} {py:.1f}L{px + 12:.1f} {place:.1f}"/>'
            drawn += _text(px + 14, place + 4, cut(one.name, 16), "start", "name")
        parts.append(f'<g class="series c{one.colour % N_COLOURS}" data-system="{one.colour}">{drawn}</g>')
    described = f"{y_label} against {x_label}: {', '.join(one.name for one in series)}."
    return _figure(f'<g class="ends">{"".join(parts)}</g>', title, described)


def dots(
    names: Sequence[tuple[str, int]],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    title: str,
    x_label: str,
) -> str:
    """Draw a dot with an interval for each system, given with its number, one below the other."""
    width = 420  # next to the text: narrower than other charts, so that its text is not smaller
    left = min(190.0, 16 + 9 * max(len(cut(name, 20)) for name, _ in names))
    height = 10 + BOTTOM + 26 * len(names)
    ends = [end for interval in intervals for end in interval]
    x = Scale.of([*values, *ends], left, width - RIGHT)
    parts = [_upright(x, 10, height, 4)]
    parts.append(_text((left + width) / 2, height - 8, x_label, "middle"))
    for place, ((name, number), value, (low, high)) in enumerate(zip(names, values, intervals, strict=True)):
        middle = 10 + 26 * place + 13
        words = f"{name}: {tick_text(value)}"
        drawn = _text(left - 8, middle + 4, cut(name, 20), "end", "name")
        if x.shows(low) and x.shows(high):
            words += f" ({tick_text(low)} to {tick_text(high)})"
            drawn += f'<path class="line" d="M{x(low):.1f} {middle}H{x(high):.1f}"/>'
        if x.shows(value):
            drawn += (
                f'<circle class="dot" cx="{x(value):.1f}" cy="{middle}" r="5"><title>{escape(words)}</title></circle>'
            )
        parts.append(f'<g class="series c{number % N_COLOURS}" data-system="{number}">{drawn}</g>')
    described = "; ".join(f"{name} {tick_text(value)}" for (name, _), value in zip(names, values, strict=True))
    return _figure("".join(parts), title, f"{x_label}: {described}.", height, width)


def columns(names: Sequence[str], counts: Sequence[float], title: str, x_label: str, y_label: str) -> str:
    """Draw upright columns, a histogram."""
    y = Scale.of(counts, HEIGHT - BOTTOM, TOP, zero=True)
    width = (WIDTH - LEFT - RIGHT) / max(len(names), 1)
    every = -(-len(names) // 12) if max(map(len, names), default=0) < 5 else -(-len(names) // 6)
    parts = [_y_axis(y, y_label), _x_title(x_label)]
    for number, (name, value) in enumerate(zip(names, counts, strict=True)):
        left, top = LEFT + number * width, y(value)
        parts.append(
            f'<rect class="bar c0" x="{left + width * 0.08:.1f}" y="{top:.1f}" width="{width * 0.84:.1f}" '
            f'height="{y(0) - top:.1f}"><title>{escape(name)}: {value:,}</title></rect>'
        )
        if number % every == 0:
            parts.append(_text(left + width / 2, HEIGHT - BOTTOM + 16, name, "middle"))
    summary = ", ".join(f"{name}: {value:,}" for name, value in list(zip(names, counts, strict=True))[:12])
    return _figure("".join(parts), title, f"{y_label} by {x_label}. {summary}")


def bars(
    names: Sequence[str],
    values: Sequence[float],
    title: str,
    x_label: str,
    intervals: Sequence[tuple[float, float]] | None = None,
    of: str = "features",
) -> str:
    """Draw lying bars to both sides of zero, each perhaps with its interval; ``of`` names the values."""
    ends = [end for interval in intervals or () for end in interval]
    names_width = min(210, 20 + 7 * max((len(name) for name in names), default=0))
    height = 10 + BOTTOM + 24 * len(names)
    x = Scale.of([*values, *ends], names_width, WIDTH - RIGHT, zero=True)
    parts = [_upright(x, 10, height)]
    parts.append(f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="10" y2="{height - BOTTOM}"/>')
    parts.append(_text(WIDTH / 2, height - 8, x_label, "middle"))
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        middle = 10 + 24 * number + 12
        left, right = sorted((x(0), x(value)))
        words = f"{name}: {tick_text(value)}"
        if intervals is not None:
            words += f" ({tick_text(intervals[number][0])} to {tick_text(intervals[number][1])})"
        parts.append(_text(names_width - 8, middle + 4, cut(name, 28), "end"))
        parts.append(
            f'<rect class="bar {"c0" if value >= 0 else "c1"}" x="{left:.1f}" y="{middle - 8}" '
            f'width="{max(right - left, 0.5):.1f}" height="16"><title>{escape(words)}</title></rect>'
        )
        if intervals is not None:
            low, high = (x(end) for end in intervals[number])
            parts.append(
                f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8'
                f'M{high:.1f} {middle - 4}v8"/>'
            )
    return _figure("".join(parts), title, f"{x_label} of {len(names)} {of}.", height)


def points(
    names: Sequence[str], xs: Sequence[float], ys: Sequence[float], title: str, x_label: str, y_label: str
) -> str:
    """Draw one named point for each system, x on a logarithmic scale."""
    x = Scale.of(xs, LEFT + 12, WIDTH - RIGHT - 110, log=True)
    y = Scale.of(ys, HEIGHT - BOTTOM, TOP)
    parts = [_axes(x, y, x_label, y_label)]
    shown = [(x(a), y(b), name, a, b) for name, a, b in zip(names, xs, ys, strict=True) if x.shows(a) and y.shows(b)]
    taken = [(px - 6, py - 8, px + 6, py + 8) for px, py, *_ in shown]
    for px, py, name, a, b in shown:
        text, words = cut(name, 16), f"{name}: {tick_text(a)}, {tick_text(b)}"
        where, anchor, box = _free_place(px, py, 8.5 * len(text), taken)  # space for larger text on phones
        taken.append(box)
        number = list(names).index(name)
        leader = ""
        if abs(where[1] - py) > 20:
            end = box[3] if where[1] < py else box[1]
            leader = f'<path class="leader" d="M{px:.1f} {py:.1f}L{where[0]:.1f} {end:.1f}"/>'
        parts.append(
            f'<g class="series c{number % N_COLOURS}" data-system="{number}">{leader}'
            f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="6"><title>{escape(words)}</title></circle>'
            f"{_text(*where, text, anchor, 'name')}</g>"
        )
    return _figure("".join(parts), title, f"{y_label} against {x_label}: {', '.join(names)}.")


def legend(names: Sequence[str]) -> str:
    """Return the key to the colours of the systems: buttons that highlight one in all charts."""
    items = "".join(
        f'<li><button type="button" class="key" data-system="{i}" aria-pressed="false">'
        f'<svg viewBox="0 0 24 8" aria-hidden="true"><path class="line c{i % N_COLOURS} d{i // N_COLOURS % 3}" '
        f'd="M0 4H24"/></svg>{escape(name)}</button></li>'
        for i, name in enumerate(names)
    )
    return f'<ul class="legend" aria-label="Highlight a system in the charts">{items}</ul>'


def _figure(body: str, title: str, description: str, height: float = HEIGHT, width: float = WIDTH) -> str:
    name = f"chart-{next(_numbers)}"
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{name} {name}-d"><title id="{name}">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>{body}</svg></figure>'
    )


def _axes(x: Scale, y: Scale, x_label: str, y_label: str) -> str:
    return _upright(x, TOP, HEIGHT, 6) + _y_axis(y, y_label, x.end) + _x_title(x_label)


def _upright(x: Scale, top: float, height: float, about: int = 5) -> str:
    """Return the upright lines of a chart with their values below."""
    return "".join(
        f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{top}" y2="{height - BOTTOM}"/>'
        f"{_text(x(t), height - BOTTOM + 16, tick_text(t), 'middle')}"
        for t in x.ticks(about)
    )


def _y_axis(y: Scale, label: str, right: float = WIDTH - RIGHT) -> str:
    ticks = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
        f"{_text(LEFT - 6, y(t) + 4, tick_text(t), 'end')}"
        for t in y.ticks()
    )
    base = f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>'
    return f"{ticks}{base}{_text(4, 16, label, 'start')}"


def _x_title(label: str) -> str:
    return _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, label, "middle")


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _apart(wanted: Sequence[float]) -> list[float]:
    """Return heights near the given ones, in their order, at which names do not overlap."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    lowest = -math.inf
    for i in order:
        lowest = places[i] = max(wanted[i], lowest + LABEL_STEP)
    highest: float = HEIGHT - BOTTOM + LABEL_STEP
    for i in reversed(order):
        highest = places[i] = min(places[i], highest - LABEL_STEP)
    return places


def _free_place(px: float, py: float, width: float, taken: list[Box]) -> tuple[tuple[float, float], str, Box]:
    """Return the position of a point's name: beside, above or below it, or farther, the first without overlap."""
    choices: list[tuple[tuple[float, float], str, Box]] = [
        ((px + 10, py + 4), "start", (px + 9, py - 8, px + 10 + width, py + 7)),
        ((px - 10, py + 4), "end", (px - 10 - width, py - 8, px - 9, py + 7)),
        ((px, py - 11), "middle", (px - width / 2, py - 22, px + width / 2, py - 9)),
        ((px, py + 19), "middle", (px - width / 2, py + 9, px + width / 2, py + 22)),
    ]
    for step in range(1, FARTHEST):
        for height in (-step * NAME_HEIGHT, step * NAME_HEIGHT):
            for (x, y), anchor, (left, top, right, bottom) in choices[:4]:
                choices.append(((x, y + height), anchor, (left, top + height, right, bottom + height)))
    for choice in choices:
        low_x, low_y, high_x, high_y = choice[2]
        inside = low_x > LEFT and high_x < WIDTH and low_y > 0 and high_y < HEIGHT - BOTTOM
        if inside and not any(low_x < t[2] and t[0] < high_x and low_y < t[3] and t[1] < high_y for t in taken):
            return choice
    return choices[0]


def cut(text: str, length: int) -> str:
    """Return a text, shortened with three dots if it is too long."""
    return text if len(text) <= length else text[: length - 1] + "…"
