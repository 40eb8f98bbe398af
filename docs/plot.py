#!/usr/bin/env python3
"""Draws docs/log.svg from lines "panel series x y" on standard input, both axes logarithmic."""
import html
import math
import sys

PANELS = [("append", "writers", "records/s, durable"), ("verify", "log size, MB", "seconds to verify")]
COLOURS = ["#1d4ed8", "#94a3b8", "#047857"]
W, H, LEFT, TOP, WIDE, HIGH, GAP = 860, 340, 80, 46, 300, 220, 120


def ticks(low, high):
    return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def name(v):
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if v >= size:
            return f"{v / size:g}{suffix}"
    return f"{v:g}"


def panel(out, left, title, across, up, series):
    points = [p for s in series.values() for p in s]
    xs, ys = ticks(*[f(p[0] for p in points) for f in (min, max)]), ticks(*[f(p[1] for p in points) for f in (min, max)])

    def place(p):
        part = [(math.log10(v) - math.log10(t[0])) / (math.log10(t[-1]) - math.log10(t[0])) for v, t in zip(p, (xs, ys))]
        return left + WIDE * part[0], TOP + HIGH * (1 - part[1])

    out.append(f'<text x="{left}" y="{TOP - 14}" font-weight="600">{html.escape(title)}</text>')
    for x in xs:
        at = place((x, ys[0]))[0]
        out.append(f'<path class="g" d="M{at:.1f} {TOP}V{TOP + HIGH}"/><text class="s" x="{at:.1f}" y="{TOP + HIGH + 18}" text-anchor="middle">{name(x)}</text>')
    for y in ys:
        at = place((xs[0], y))[1]
        out.append(f'<path class="g" d="M{left} {at:.1f}H{left + WIDE}"/><text class="s" x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{name(y)}</text>')
    out.append(f'<text class="s" x="{left + WIDE / 2}" y="{TOP + HIGH + 38}" text-anchor="middle">{html.escape(across)}</text>')
    out.append(f'<text class="s" x="{left + WIDE}" y="{TOP - 14}" text-anchor="end">{html.escape(up)}</text>')
    for i, (label, s) in enumerate(series.items()):
        at = [place(p) for p in sorted(s)]
        out.append(f'<path fill="none" stroke="{COLOURS[i]}" stroke-width="2" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in at)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{COLOURS[i]}"/>' for x, y in at]
        out.append(f'<text class="s" x="{left + 8}" y="{TOP + 18 + 18 * i}" fill="{COLOURS[i]}" style="fill:{COLOURS[i]}">{html.escape(label)}</text>')


def main():
    data = {}
    for line in sys.stdin:
        which, series, x, y = line.split()
        data.setdefault(which, {}).setdefault(series.replace("_", " "), []).append((float(x), float(y)))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="ui-sans-serif,system-ui,sans-serif" font-size="14"'
           ' role="img" aria-label="Durable records a second by number of writers, and time to verify by size of log">',
           "<style>.s{fill:#475569;font-size:12px}.g{stroke:#e2e8f0}</style>", f'<rect width="{W}" height="{H}" fill="#fff"/>']
    for i, (which, across, up) in enumerate(PANELS):
        panel(out, LEFT + i * (WIDE + GAP), which, across, up, data[which])
    print("\n".join(out + ["</svg>"]))


main()
