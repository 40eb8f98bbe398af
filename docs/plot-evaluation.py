#!/usr/bin/env python3
"""Draws docs/evaluation.svg from lines "scenario criterion rate low high" on standard input."""
import html
import sys

LOOKS = {  # colour, mark, words
    "iff": ("#1d4ed8", "circle", "iff: readings of every call"),
    "paper-literal": ("#b45309", "square", "paper, literally: multisets"),
    "paper-set": ("#64748b", "diamond", "paper, as sets"),
}
W, LEFT, TOP, WIDE, ROW, APART = 860, 168, 64, 640, 42, 11


def mark(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    if kind == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" fill="{colour}"/>'


def interval(low, high, y, colour):
    a, b = LEFT + WIDE * low, LEFT + WIDE * high
    return f'<path d="M{a:.1f} {y:.1f}H{b:.1f}M{a:.1f} {y - 4:.1f}v8M{b:.1f} {y - 4:.1f}v8" stroke="{colour}" stroke-width="1.5"/>'


def row(out, at, title, by):
    y = TOP + ROW * at
    if at % 2 == 0:
        out.append(f'<rect x="8" y="{y}" width="{W - 16}" height="{ROW}" fill="#f8fafc"/>')
    out.append(f'<text x="{LEFT - 20}" y="{y + ROW / 2 + 5:.1f}" text-anchor="end">{html.escape(title)}</text>')
    return [(criterion, rates, y + ROW / 2 + APART * (list(LOOKS).index(criterion) - 1)) for criterion, rates in by.items()]


def main():
    data = {}
    for line in sys.stdin:
        title, criterion, *numbers = line.split()
        data.setdefault(title.replace("_", " "), {})[criterion] = [float(n) for n in numbers]
    bottom = TOP + ROW * len(data)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {bottom + 76}" font-family="ui-sans-serif,system-ui,sans-serif" font-size="14"'
           ' role="img" aria-label="For each scenario, the share of runs that each of three criteria judged right, with Wilson intervals">',
           "<style>.s{fill:#475569;font-size:12px}.g{stroke:#cbd5e1}</style>", f'<rect width="{W}" height="{bottom + 76}" fill="#fff"/>']
    for i, (colour, kind, words) in enumerate(LOOKS.values()):
        x = LEFT + 220 * i
        out.append(mark(kind, x + 5, 26, colour) + f'<text x="{x + 18}" y="31" fill="{colour}">{html.escape(words)}</text>')
    dots = [dot for at, (title, by) in enumerate(data.items()) for dot in row(out, at, title, by)]
    for i in range(6):
        x = LEFT + WIDE * i / 5
        out.append(f'<path class="g" d="M{x:.1f} {TOP}V{bottom}"/><text class="s" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{i / 5:g}</text>')
    # Where clean runs fail, so do faults: up to its dashed line a criterion has found nothing.
    for criterion, (rate, *_) in next(iter(data.values())).items():
        if rate < 1:
            x = LEFT + WIDE * (1 - rate)
            out.append(f'<path d="M{x:.1f} {TOP + ROW}V{bottom}" stroke="{LOOKS[criterion][0]}" stroke-dasharray="5 4" stroke-width="1.2" opacity="0.8"/>')
    for criterion, (rate, low, high), y in dots:
        colour, kind, _ = LOOKS[criterion]
        out.append(interval(low, high, y, colour) + mark(kind, LEFT + WIDE * rate, y, colour))
    out.append(f'<text class="s" x="{LEFT + WIDE / 2}" y="{bottom + 40}" text-anchor="middle">share of runs judged right: clean runs pass, faults do not; whiskers are Wilson 95 % intervals</text>')
    out.append(f'<text class="s" x="{LEFT + WIDE / 2}" y="{bottom + 58}" text-anchor="middle">dashed: the share of clean runs that a criterion fails; faults that it flags hardly more often, it does not see</text>')
    print("\n".join(out + ["</svg>"]))


main()
