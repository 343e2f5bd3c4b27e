"""The demonstration's page: one HTML file that needs nothing beside it."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from crosslens import __version__
from crosslens.data.records import Results
from crosslens.numbers import plain, signed
from crosslens.report.finding import (
    Effect,
    describe,
    describe_correlation,
    describe_similarity,
    effects,
    similarity_means,
)
from crosslens.tasks import find_task

if TYPE_CHECKING:
    import pandas

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d5dae0;
  --a: #0b6bcb; --b: #c2410c; --c: #66707a }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --paper: #14171b; --line: #3a4149; --a: #6cb2ff; --b: #ff9a5c; --c: #98a2ad } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto;
  padding: 0 1rem; max-width: 60rem }
h1, h2 { line-height: 1.2 } section { margin: 2.5rem 0 } .wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left } tr.mean { font-weight: 600 }
svg { width: 100%; height: auto; max-width: 44rem } svg text { fill: var(--ink); font: 12px system-ui, sans-serif }
.a { fill: var(--a); stroke: var(--a) } .b { fill: var(--b); stroke: var(--b) } .c { fill: var(--c); stroke: var(--c) }
svg polyline[class] { fill: none; stroke-width: 2.5 } .axis { stroke: var(--line) }
.note { color: var(--c); font-size: .9rem }
"""


def make_page(results: Results, *, title: str, introduction: str) -> str:
    """The page of a demonstration.

    Args:
        results: all its records.
        title: of the page.
        introduction: what was done, in a sentence or two.

    Returns:
        HTML, with no reference to anything outside of it.
    """
    found = effects(results)
    similarity = similarity_means(results)
    parts = [
        "<h1>Where does cross-lingual transfer live?</h1>",
        f"<p>{escape(introduction)}</p>",
    ]
    for effect in found:
        parts.append(f"<section><h2>{escape(effect.task)}</h2>")
        parts += [f"<p>{escape(sentence)}</p>" for sentence in describe(effect)]
        parts += [_bars(effect), _scores(results, effect), "</section>"]
    lines = {
        "pretrained": similarity.loc[("pretrained", "cka")].tolist(),
        "untrained": similarity.loc[("untrained", "cka")].tolist(),
        "unrelated sentences of like length": similarity.loc[("pretrained", "cka_length_matched")].tolist(),
    }
    parts += [
        "<section><h2>Similarity of translations</h2>", f"<p>{escape(describe_similarity(similarity))}</p>",
        _lines(lines), "<p class=note>By layer; 0 is the embeddings.</p>", _similarities(similarity),
        *(f"<p>{escape(describe_correlation(results, effect))}</p>" for effect in found), "</section>",
        f"<p class=note>crosslens {__version__}. Every number is in results.csv beside this page, with its interval and"
        " signature.</p>",
    ]  # fmt: skip
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _scores(results: Results, effect: Effect) -> str:
    frame = results.filter(task=effect.task, metric=find_task(effect.task).metric).table()
    rows = []
    for (target, corpus), row in frame.iterrows():
        cells = [(signed if str(name).startswith("Δ") else plain)(value) for name, value in row.items()]
        rows.append((f"{target} {corpus}".strip(), cells, str(target).endswith("mean")))
    return _table([f"{effect.metric}, trained on the source", *map(str, frame.columns)], rows)


def _similarities(frame: "pandas.DataFrame") -> str:
    rows = [
        (f"{state}, {measure}", [f"{value:.2f}" for value in row], False) for (state, measure), row in frame.iterrows()
    ]
    return _table(["mean over the pairs", *(f"layer {layer}" for layer in frame.columns)], rows)


def _table(header: Sequence[str], rows: Sequence[tuple[str, Sequence[str], bool]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr{' class=mean' if mean else ''}><td>{escape(label)}</td>{''.join(f'<td>{c}</td>' for c in cells)}</tr>"
        for label, cells, mean in rows
    )
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _bars(effect: Effect) -> str:
    """Change of the same-language score and of the cross-language mean, for each pair of layers."""
    pairs = [*effect.pairs, *([effect.all_layers] if effect.all_layers else [])]
    values = [(effect.same[pair].mean, effect.cross[pair].mean) for pair in pairs]
    lowest = min(-1.0, *(min(two) for two in values)) * 1.1
    highest = max(1.0, *(max(two) for two in values)) * 1.25
    width, height, left = max(640.0, 50 + 125.0 * len(pairs)), 280.0, 50.0
    step = (width - left) / len(pairs)

    def y(value: float) -> float:
        return 40 + (highest - value) / (highest - lowest) * (height - 80)

    shapes = [f'<line class=axis x1="{left}" x2="{width}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>']
    for number, (pair, two) in enumerate(zip(pairs, values, strict=True)):
        for side, value in enumerate(two):
            x = left + number * step + step * (0.2 + 0.3 * side)
            top, tall = min(y(0), y(value)), abs(y(value) - y(0))
            shapes.append(
                f'<rect class="{"ab"[side]}" x="{x:.1f}" y="{top:.1f}" width="{step * 0.28:.1f}" height="{tall:.1f}"/>'
            )
            place = y(value) + (14 if value < 0 else -4)
            middle = x + step * 0.14
            shapes.append(f'<text x="{middle:.1f}" y="{place:.1f}" text-anchor="middle">{signed(value)}</text>')
        shapes.append(
            f'<text x="{left + (number + 0.5) * step:.1f}" y="{height - 6}" text-anchor="middle">layers {pair}</text>'
        )
    legend = _legend({"same language": "a", "mean of the others": "b"})
    label = f"Change of {effect.metric} when layers are drawn anew"
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}">{"".join(shapes)}{legend}</svg>'
    )


def _lines(lines: Mapping[str, Sequence[float]]) -> str:
    """A similarity by layer, for each encoder."""
    width, height, left = 640.0, 260.0, 50.0
    depth = max(len(values) for values in lines.values()) - 1

    def point(layer: int, value: float) -> str:
        return f"{left + layer * (width - left - 30) / depth:.1f},{30 + (1 - value) * (height - 70):.1f}"

    shapes = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = 30 + (1 - tick) * (height - 70)
        shapes.append(f'<line class=axis x1="{left}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        shapes.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:.2f}</text>')
    for layer in range(depth + 1):
        x = point(layer, 0).split(",")[0]
        shapes.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle">{layer}</text>')
    for kind, values in zip("abc", lines.values(), strict=True):
        shapes.append(f'<polyline class="{kind}" points="{" ".join(point(*p) for p in enumerate(values))}"/>')
    legend = _legend(dict(zip(lines, "abc", strict=True)))
    return _svg([*shapes, legend], width, height, "CKA of translations by layer; 0 is the embeddings")


def _svg(shapes: Sequence[str], width: float, height: float, label: str) -> str:
    opening = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(label)}">'
    return opening + "".join(shapes) + "</svg>"


def _legend(names: Mapping[str, str]) -> str:
    parts, x = [], 60
    for name, kind in names.items():
        parts.append(f'<rect class="{kind}" x="{x}" y="4" width="12" height="12"/>')
        parts.append(f'<text x="{x + 18}" y="14">{escape(name)}</text>')
        x += 40 + 7 * len(name)
    return "".join(parts)
