"""Lay out a chart for the width of a page or of a column, with text of 8 points."""

import copy
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crosslens.formatting import right_to_left, wrapped, wrapped_name
from crosslens.report.charts.label_places import label_width
from crosslens.results.chart import Chart

TEXT_WIDTH = 6.8
"""Width of the text of a page in ACL's style, in inches; a column has 3.3."""

PIXELS_PER_INCH = 96
"""Pixels of an SVG in an inch; letters of 11 pixels are 8 points high."""

NARROWER = 0.72
"""Part of its width to which a panel is made narrower before fewer of them stand beside one another."""

SYMBOL = 36
"""Width of the symbol of a legend with the space around it, in pixels."""

AXIS = 48
"""Width of a vertical axis of numbers with its title, in pixels."""

LABELS = 0.42
"""Part of the width of the paper that the labels of an axis may have."""

LEAST_STEP, LEAST_WIDTH = 12, 90
"""Least width of a column of a heat map, and of a panel with axes, in pixels."""

UPRIGHT, ROTATED = -90, -40
"""Angles of labels that are too long to stand side by side."""

Spec = dict[str, Any]
"""A chart, or a part of it, as Vega-Lite describes it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a chart is laid out.

    Attributes:
        width: of the paper, in pixels.
        columns: panels beside one another, at most.
        axis: width of vertical axes at most, in pixels.
        factor: by which panels are made narrower.
    """

    width: float
    columns: int
    axis: float
    factor: float = 1.0


def printed(chart: Chart, *, inches: float) -> str:
    """Draw a chart no wider than the paper, as SVG.

    A chart that is narrower stays as it is. Otherwise legends move below the panels, fewer panels stand side by side
    and each becomes narrower. Letters keep their size, except for numbers in the boxes of heat maps. A heat map of too
    many columns is as narrow as can be read.
    """
    spec = chart.to_dict()
    width = math.floor(inches * PIXELS_PER_INCH)
    svg = _draw(spec)
    drawn = svg_width(svg)
    if drawn <= width:
        return svg
    columns = max(_columns(spec), default=1)
    columns = max(1, min(columns, int(width / (NARROWER * drawn / columns))))
    whole = Layout(width, columns, _axis_width(spec, width))
    drawings: dict[str, str] = {}

    def draw(layout: Layout) -> str:
        """Draw a layout; those of a heat map that cannot be narrower are the same."""
        laid_out = _laid_out(spec, layout)
        key = json.dumps({name: part for name, part in laid_out.items() if name != "datasets"})
        if key not in drawings:
            drawings[key] = _draw(laid_out)
        return drawings[key]

    svg = draw(whole)
    wide = svg_width(svg)
    if wide <= width:
        return svg
    # Everything but the panels keeps its width, so the width of the chart is linear in theirs.
    narrow = svg_width(draw(replace(whole, factor=0.5)))
    factor = 0.5 + 0.5 * (width - narrow) / (wide - narrow) if wide > narrow else 0.5
    for _ in range(4):
        svg = draw(replace(whole, factor=max(factor, 0.05)))
        if svg_width(svg) <= width:
            break
        factor -= 1.1 * (svg_width(svg) - width) / max(wide - narrow, 1.0) * 0.5
    return svg


def svg_width(svg: str) -> float:
    """Width of an SVG, in pixels."""
    match = re.search(r'<svg[^>]*? width="([\d.]+)"', svg)
    assert match
    return float(match[1])


def _draw(spec: Spec) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(spec)


def _columns(node: Spec) -> Iterator[int]:
    """Yield how many panels each row of panels has at most."""
    for name in ("concat", "hconcat"):
        if name in node:
            yield min(node.get("columns", len(node[name])), len(node[name]))
    if "facet" in node:
        yield node.get("columns", 1)
    for panel in _panels(node):
        yield from _columns(panel)


def _panels(node: Spec) -> list[Spec]:
    """Parts of a chart that stand beside or below one another."""
    parts = next((node[name] for name in ("concat", "hconcat", "vconcat") if name in node), [])
    return [*parts, *([node["spec"]] if "spec" in node else [])]


def _axis_width(node: Spec, width: float) -> float:
    """Width of the widest vertical axis, in pixels; titles and legends begin to its right."""
    axes = [AXIS, *(_axis_width(panel, width) for panel in _panels(node))]
    for view in (node, *_layers(node)):
        labels = view.get("encoding", {}).get("y", {}).get("sort")
        if isinstance(labels, list) and labels:
            axes.append(min(LABELS * width, max(map(_width, labels))) + 12)
    return max(axes)


def _laid_out(spec: Spec, layout: Layout) -> Spec:
    data = {"datasets": spec["datasets"]} if "datasets" in spec else {}  # as it is: copies of it would be large
    spec = copy.deepcopy({name: part for name, part in spec.items() if name not in data}) | data
    config = spec.setdefault("config", {})
    config["axis"] = {**config.get("axis", {}), "labelLimit": LABELS * layout.width}
    bottom = {"direction": "vertical", "anchor": "start", "margin": 6}
    config["legend"] = {**config.get("legend", {}), "orient": "bottom", "layout": {"bottom": bottom}}
    _lay_out(spec, layout, layout.width, layout.width)
    return spec


def _lay_out(node: Spec, layout: Layout, pitch: float, legend: float) -> None:
    """Lay out a part of a chart.

    Args:
        node: the part, which is changed.
        pitch: width that the part may have with its axes and titles, in pixels.
        legend: width that its legends may have.
    """
    is_panel = "layer" in node or "mark" in node
    if "title" in node:
        node["title"] = _short_title(node["title"], pitch - layout.axis * is_panel)
    if "hconcat" in node:
        node["concat"] = node.pop("hconcat")
    if "concat" in node or "facet" in node:
        node["columns"] = min([layout.columns, *_columns({name: node[name] for name in node if name != "spec"})])
        pitch = layout.width / node["columns"] - 10
        legend = pitch if "independent" in node.get("resolve", {}).get("scale", {}).values() else layout.width
    if "facet" in node:
        facet = node["facet"]
        facet["header"] = {**(facet.get("header") or {}), "labelExpr": titles_in_lines(facet.get("sort", []), pitch)}
    for part in _panels(node):
        _lay_out(part, layout, pitch, legend)
    if is_panel:
        step = _narrow(node, layout.factor)
        for view in (node, *_layers(node)):
            if view is not node and "title" in view:
                view["title"] = _short_title(view["title"], pitch - layout.axis)
            for channel, encoding in view.get("encoding", {}).items():
                if channel == "x":
                    _short_axis(encoding, step, pitch - layout.axis)
                elif channel == "y" and isinstance(encoding.get("axis"), dict):
                    encoding["axis"].pop("labelLimit", None)
                elif isinstance(encoding, dict) and encoding.get("legend"):
                    _short_legend(encoding, legend - layout.axis)
        if step is not None:
            _small_numbers(node, step)


def _layers(node: Spec) -> Iterator[Spec]:
    for layer in node.get("layer", []):
        yield layer
        yield from _layers(layer)


def _narrow(view: Spec, factor: float) -> float | None:
    """Make a panel narrower, and return the width of a step where it is made of steps."""
    width = view.get("width")
    if isinstance(width, Mapping):
        step = min(width["step"], max(LEAST_STEP, width["step"] * factor))
        view["width"] = {"step": step}
        return step
    if isinstance(width, int | float):
        view["width"] = min(width, max(LEAST_WIDTH, width * factor))
    return None


def _short_axis(encoding: Spec, step: float | None, width: float) -> None:
    """Break the title of a horizontal axis, and turn labels that are wider than a step."""
    if encoding.get("title"):
        encoding["title"] = _wrapped(encoding["title"], width, font=11)
    axis, labels = encoding.get("axis"), encoding.get("sort")
    if step is None or not isinstance(axis, dict):
        return
    longest = max(map(_width, labels)) if isinstance(labels, list) and labels else 16.0
    if axis.get("labelAngle", 0) == 0 and longest > step - 3:
        axis["labelAngle"] = ROTATED
    if axis.get("labelAngle") == ROTATED and step < 18:
        axis["labelAngle"] = UPRIGHT


def _short_legend(encoding: Spec, width: float) -> None:
    """Set the entries of a legend below the panels in as many columns as have room; long ones have several lines."""
    legend = encoding["legend"] = {**encoding["legend"], "orient": "bottom", "labelLimit": width - SYMBOL}
    names = encoding.get("scale", {}).get("domain") or encoding.get("sort")
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        if max(map(_width, names)) > width - SYMBOL:
            lines = {name: _wrapped(name, width - SYMBOL, font=11) for name in names}
            legend["labelExpr"] = f"({_literal(lines)})[datum.label]"
        columns = int(width / (max(map(_width, names)) + SYMBOL))
        legend["columns"] = max(1, min(columns, legend.get("columns", len(names))))


def _small_numbers(view: Spec, step: float) -> None:
    """Write numbers in boxes and beside marks so that they fit, or leave them out."""
    for layer in list(_layers(view)):
        mark, text = layer.get("mark"), layer.get("encoding", {}).get("text")
        if not (isinstance(mark, dict) and mark.get("type") == "text" and text):
            continue
        if "format" not in text:  # beside a mark
            if step < 33:
                view["layer"].remove(layer)
            continue
        if step < 27:
            mark["fontSize"] = 8
        if step < 21:
            text["format"] = re.sub(r"\.(\d)", lambda match: f".{int(match[1]) - 1}", text["format"])
        if step < 14:
            view["layer"].remove(layer)


def _short_title(title: Any, width: float) -> Any:
    """A title in lines of at most this width."""
    if isinstance(title, Mapping):
        parts = {**title, "limit": width}
        for name, font in (("text", 12), ("subtitle", 11)):
            if title.get(name):
                parts[name] = _wrapped(title[name], width, font=font)
        return parts
    return {"text": _wrapped(title, width, font=12), "limit": width}


def titles_in_lines(titles: Iterable[str], width: float) -> str:
    """The expression of Vega for titles of panels in lines of at most this width, in pixels."""
    lines = {title: _wrapped(title, width, font=12) for title in titles}
    return f"({_literal(lines)})[datum.label]"


def _wrapped(text: str | Sequence[str], width: float, *, font: float) -> list[str]:
    """Break long lines, and names that are longer than a line.

    SVG reorders right-to-left text across lines, so from its first word on a line stays whole.
    """

    def fits(line: str) -> bool:
        return label_width(line, font=font) <= width

    lines: list[str] = []
    for line in [text] if isinstance(text, str) else text:
        start = next((i for i, letter in enumerate(line) if right_to_left(letter)), len(line))
        begin = line.rfind(" ", 0, start) + 1 if start < len(line) else len(line)
        head, tail = line[:begin].rstrip(), line[begin:]
        for part in wrapped(head, fits) if head or not tail else []:
            lines += [part] if fits(part) else wrapped_name(part, fits)
        if head and tail and fits(f"{lines[-1]} {tail}"):
            lines[-1] += f" {tail}"
        elif tail:
            lines.append(tail)
    return lines


def _width(label: object) -> float:
    return label_width(str(label), font=11)


def _literal(titles: Mapping[str, Sequence[str]]) -> str:
    """An object of Vega's expressions."""
    return json.dumps(titles, ensure_ascii=False)
