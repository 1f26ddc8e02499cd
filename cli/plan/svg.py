"""Elements of an SVG drawing."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as xml

Element = xml.Element
Point = tuple[float, float]


def add(parent: Element, tag: str, text: str | None = None, **attributes: object) -> Element:
    """Append an element; `class_` and `stroke_width` stand for class and stroke-width, numbers are rounded."""
    child = xml.SubElement(parent, tag)
    for name, value in attributes.items():
        child.set(name.rstrip("_").replace("_", "-"), number(value) if isinstance(value, float) else str(value))
    child.text = text
    return child


def number(value: float) -> str:
    """At most two decimals, which is finer than anyone sees."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def closed(points: Iterable[Point]) -> str:
    """Path data of a polygon."""
    return _path(points) + "Z"


def line(*points: Point) -> str:
    """Path data of a line through the points."""
    return _path(points)


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


def serialise(root: Element) -> str:
    """The drawing as a file's content."""
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"
