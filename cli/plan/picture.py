"""The picture of a stack: the head, the slices of its node pools, and who calls whom on which port."""

from __future__ import annotations

from cli.plan.isometric import Slab
from cli.plan.svg import Element, add, line, serialise
from pathways import endpoints
from pathways.geometry import count
from pathways.names import HEAD_JOB
from pathways.plan import Plan

WIDTH, MARGIN = 1240.0, 40.0
HEAD_WIDTH, GAP = 340.0, 130.0
TOP = 118.0
SLICES_LEFT = MARGIN + HEAD_WIDTH + GAP
SLICES_WIDTH = WIDTH - MARGIN - SLICES_LEFT
LABEL = 20.0
BOX = 74.0

_STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1d2b3a; font-size: 14px; }
.page { fill: #fbfcfe; }
.title { font-size: 27px; font-weight: 700; }
.strong { font-weight: 600; }
.faint, .port { fill: #5b6b7c; }
.small { font-size: 12px; }
.mono, .port { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; }
.port { font-weight: 600; fill: #b3541e; }
.area { fill: #f1f5fa; stroke: #c9d5e3; stroke-width: 1.2; }
.box { fill: #ffffff; stroke: #9db2c8; stroke-width: 1.2; }
.outside { fill: #fff8ef; stroke: #dcb98d; stroke-width: 1.2; stroke-dasharray: 5 4; }
.store { fill: #eaf6ee; stroke: #8fbf9f; stroke-width: 1.2; }
.call { stroke: #b3541e; stroke-width: 1.8; fill: none; }
.tip { fill: #b3541e; }
.data { stroke: #6fa583; stroke-width: 1.4; stroke-dasharray: 4 4; fill: none; }
.face.top { fill: #cfe3fb; } .face.right { fill: #86b4e8; } .face.left { fill: #a9cbf1; }
.other { fill: #b7d5f7; }
.chips { stroke: #ffffff; stroke-width: 0.7; stroke-opacity: 0.75; fill: none; }
.vms { stroke: #2f67a6; stroke-width: 1; fill: none; }
.edge { stroke: #2f67a6; stroke-width: 1.2; stroke-linejoin: round; fill: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e4ebf3; }
.page { fill: #10161d; }
.faint { fill: #93a4b6; }
.port { fill: #f0a26b; }
.area { fill: #161f29; stroke: #33465a; }
.box { fill: #1d2935; stroke: #4a6076; }
.outside { fill: #2a2118; stroke: #7d6340; }
.store { fill: #16261c; stroke: #47704f; }
.call { stroke: #f0a26b; } .tip { fill: #f0a26b; }
.data { stroke: #6fa583; }
.face.top { fill: #2f5c8f; } .face.right { fill: #1c3d63; } .face.left { fill: #254c79; }
.other { fill: #3a6ca5; }
.chips { stroke: #10161d; } .vms, .edge { stroke: #9cc4f2; }
}
"""


def draw(plan: Plan) -> str:
    """The picture as SVG text. It follows the reader's light or dark mode."""
    root = Element("svg", xmlns="http://www.w3.org/2000/svg")
    add(root, "title", f"The Pathways stack {plan.settings.stack}")
    add(root, "style", _STYLE)
    page = add(root, "rect", class_="page", width="100%")
    _header(root, plan)
    slices_bottom = _slices(root, plan)
    head_bottom = _head(root, plan)
    bottom = max(slices_bottom, head_bottom)
    height = _addresses(root, plan, bottom + 34)
    page.set("height", str(height))
    root.set("viewBox", f"0 0 {WIDTH:.0f} {height:.0f}")
    root.set("width", f"{WIDTH:.0f}")
    root.set("height", f"{height:.0f}")
    return serialise(root)


def _header(root: Element, plan: Plan) -> None:
    shape, slices = plan.shape, plan.settings.slices
    total = slices.count
    facts = [
        f"{count(total, 'slice')} of {shape.generation.name} {shape.topology}",
        count(total * shape.vms, "TPU VM"),
        count(total * shape.chips, "chip"),
        f"{slices.zone}, {_capacity(plan)}",
    ]
    add(root, "text", plan.settings.stack, x=MARGIN, y=58.0, class_="title")
    add(root, "text", "  ·  ".join(facts), x=MARGIN, y=86.0, class_="faint")


def _capacity(plan: Plan) -> str:
    words = {"onDemand": "on demand", "flexStart": "flex-start", "calendar": "calendar reservation"}
    capacity = plan.settings.slices.capacity.type
    return words.get(capacity, capacity)


def _slices(root: Element, plan: Plan) -> float:
    """The node pools of the TPU slices; returns where they end."""
    shape, pools = plan.shape, plan.tpu_pools
    columns = _columns(len(pools))
    gap = 22.0 if columns <= 4 else 10.0
    inner_left, inner_top = SLICES_LEFT + 24, TOP + 74
    cell = (SLICES_WIDTH - 48 - gap * (columns - 1)) / columns
    slab = Slab(shape)
    own_width, own_height = slab.size
    picture = min(cell * own_height / own_width, cell * 1.15, own_height * 80, 330.0)
    rows = -(-len(pools) // columns)
    height = inner_top - TOP + rows * (picture + LABEL + gap) + 10
    add(root, "rect", x=SLICES_LEFT, y=TOP, width=SLICES_WIDTH, height=height, rx=14, class_="area")
    first, last = pools[0].name, pools[-1].name
    names = first if len(pools) == 1 else f"{first} to {last}"
    title = f"{count(len(pools), 'slice')}, one node pool" + (" each" if len(pools) > 1 else "")
    add(root, "text", title, x=inner_left, y=TOP + 30, class_="strong")
    facts = f"{names}: {_vms(shape.vms, shape.machine_type.name)}, each outlined"
    add(root, "text", " · ".join([facts, *_traits(plan)]), x=inner_left, y=TOP + 52, class_="faint small")
    drawing = add(add(root, "defs"), "symbol", id="slice", overflow="visible")
    slab.draw(drawing, cell, picture)
    for index, pool in enumerate(pools):
        row, column = divmod(index, columns)
        x, y = inner_left + column * (cell + gap), inner_top + row * (picture + LABEL + gap)
        group = add(root, "g")
        add(group, "title", f"{pool.name}: {count(pool.nodes, 'node')} {pool.machine_type}, {pool.topology}")
        add(group, "use", href="#slice", x=x, y=y)
        label = add(group, "text", pool.name, x=x + cell / 2, y=y + picture + 15, class_="faint small")
        label.set("text-anchor", "middle")
    return TOP + height


def _vms(number: int, machine_type: str) -> str:
    return f"{count(number, 'VM')} of type {machine_type}"


def _columns(slices: int) -> int:
    """Columns of a grid that is about as high as it is wide, and whose labels can still be read."""
    for columns, most in [(1, 1), (2, 4), (3, 9), (4, 16), (6, 36)]:
        if slices <= most:
            return columns
    return 8


def _traits(plan: Plan) -> list[str]:
    pool, elastic = plan.tpu_pools[0], plan.settings.workload.elastic
    traits = [
        (pool.autoscaled, "scaled to none or all"),
        (pool.protected, "protected"),
        (pool.second_network, "second network"),
        (pool.dranet, "DRANET"),
        (plan.settings.runtime.colocated_python is not None, f"colocated Python on :{endpoints.SIDECAR_PORT}"),
        (elastic is not None, f"{elastic.slices if elastic else 0} may be lost"),
    ]
    return [words for holds, words in traits if holds]


def _head(root: Element, plan: Plan) -> float:
    """The head's node, the client and the bucket, with the calls between them; returns where they end."""
    settings, mode = plan.settings, plan.settings.workload.mode
    boxes = [("resource manager", f"knows {count(settings.slices.count, 'slice')} of {plan.shape.instance_type}")]
    ports = [f":{endpoints.RESOURCE_MANAGER_PORT}"]
    if mode != "service":
        boxes.insert(0, ("IFRT proxy", "takes the client's programs"))
        ports.insert(0, f":{endpoints.PROXY_PORT}")
    if mode == "batch":
        boxes.insert(0, ("JAX client", str(settings.workload.image).rpartition("/")[2]))
        ports.insert(0, "")
    y = TOP
    if mode != "batch":
        y = _outside(root, plan, y)
    top = y
    height = 54 + len(boxes) * (BOX + 34) - 34 + 18
    add(root, "rect", x=MARGIN, y=top, width=HEAD_WIDTH, height=height, rx=14, class_="area")
    pool = plan.head_pool
    add(root, "text", HEAD_JOB, x=MARGIN + 20, y=top + 24, class_="strong")
    nodes = f"{pool.name}: {_vms(pool.nodes, pool.machine_type)}"
    add(root, "text", nodes, x=MARGIN + 20, y=top + 42, class_="faint small")
    y = top + 54
    for index, ((name, about), port) in enumerate(zip(boxes, ports, strict=True)):
        add(root, "rect", x=MARGIN + 20, y=y, width=HEAD_WIDTH - 40, height=BOX, rx=9, class_="box")
        add(root, "text", name, x=MARGIN + 36, y=y + 31, class_="strong")
        add(root, "text", _short(about, 38), x=MARGIN + 36, y=y + 53, class_="faint small")
        _right(root, port, MARGIN + HEAD_WIDTH - 36, y + 31, "port")
        if index + 1 < len(boxes):
            _call(root, (MARGIN + 80, y + BOX), (MARGIN + 80, y + BOX + 34), ports[index + 1][1:])
        y += BOX + 34
    manager = y - 34 - BOX / 2
    _workers(root, manager)
    return _bucket(root, plan, top + height + 40, top + height)


def _outside(root: Element, plan: Plan, y: float) -> float:
    """The client that is not part of the stack; returns where what it calls begins."""
    service = plan.settings.workload.mode == "service"
    name = "JAX clients" if service else "your JAX client"
    about = "each with its own proxy Job" if service else "JAX_PLATFORMS=proxy"
    add(root, "rect", x=MARGIN, y=y, width=HEAD_WIDTH, height=BOX, rx=14, class_="outside")
    add(root, "text", name, x=MARGIN + 20, y=y + 31, class_="strong")
    add(root, "text", about, x=MARGIN + 20, y=y + 53, class_="mono faint")
    port = endpoints.RESOURCE_MANAGER_PORT if service else endpoints.PROXY_PORT
    how = "" if service else " gRPC, one client at a time"
    _call(root, (MARGIN + 80, y + BOX), (MARGIN + 80, y + BOX + 44), f"{port}{how}")
    return y + BOX + 44


def _workers(root: Element, y: float) -> None:
    """Workers register with the resource manager, which then tells them what to do."""
    left, right = MARGIN + HEAD_WIDTH - 20, SLICES_LEFT
    middle = (MARGIN + HEAD_WIDTH + right) / 2
    _arrow(root, (left, y - 9), (right, y - 9))
    _arrow(root, (right, y + 9), (left, y + 9))
    for text, at, kind in [
        ("workers", y - 38, "faint small"),
        (f":{endpoints.WORKER_PORT}", y - 20, "port"),
        (f":{endpoints.RESOURCE_MANAGER_PORT}", y + 28, "port"),
    ]:
        label = add(root, "text", text, x=middle, y=at, class_=kind)
        label.set("text-anchor", "middle")


def _bucket(root: Element, plan: Plan, y: float, above: float) -> float:
    add(root, "path", d=line((MARGIN + 80, above), (MARGIN + 80, y)), class_="data")
    add(root, "rect", x=MARGIN, y=y, width=HEAD_WIDTH, height=BOX, rx=14, class_="store")
    add(root, "text", "scratch bucket", x=MARGIN + 20, y=y + 31, class_="strong")
    days = plan.scratch.lifecycle_days
    rule = f"objects live {count(days, 'day')}" if days else "Pathways writes its rules"
    if plan.scratch.existing:
        rule = "exists already"
    _right(root, rule, MARGIN + HEAD_WIDTH - 20, y + 31, "faint small")
    add(root, "text", _short(plan.scratch.uri, 42), x=MARGIN + 20, y=y + 53, class_="mono faint")
    return y + BOX


def _addresses(root: Element, plan: Plan, y: float) -> float:
    """The addresses in full; returns the height of the page."""
    addresses, network = plan.endpoints, plan.settings.network
    rows = [("client's backend target", addresses.backend_target), ("resource manager", addresses.resource_manager)]
    rows += [("scratch location", plan.scratch.uri)]
    if not (plan.settings.cluster.existing or network.existing):
        rows += [("nodes, pods, services", f"{network.node_range}, {network.pod_range}, {network.service_range}")]
    if balancer := plan.settings.reach.load_balancer:
        rows += [("internal load balancer", f":{endpoints.PROXY_PORT} for {', '.join(balancer.allowed_ranges)}")]
    for label, text in rows:
        if text:
            add(root, "text", label, x=MARGIN, y=y, class_="faint small")
            add(root, "text", text, x=MARGIN + 180, y=y, class_="mono")
            y += 24
    return y + 16


def _call(root: Element, start: tuple[float, float], end: tuple[float, float], label: str) -> None:
    _arrow(root, start, end)
    add(root, "text", label, x=start[0] + 14, y=(start[1] + end[1]) / 2 + 4, class_="port")


def _arrow(root: Element, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An arrow along one axis."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    back_x, back_y = x2 - dx * 9, y2 - dy * 9
    add(root, "path", d=line(start, (back_x, back_y)), class_="call")
    wing = [(back_x + dy * 4.5, back_y + dx * 4.5), (x2, y2), (back_x - dy * 4.5, back_y - dx * 4.5)]
    add(root, "path", d=line(*wing), class_="tip")


def _right(root: Element, text: str, x: float, y: float, kind: str) -> None:
    add(root, "text", text, x=x, y=y, class_=kind).set("text-anchor", "end")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
