"""The plan as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pathways.geometry import count

Data = dict[str, Any]


def show(console: Console, data: Data) -> None:
    """Print everything that is derived, most important first."""
    console.print(_headline(data))
    for title, content in [
        ("Slices", _slices(data)),
        ("Node pools", _pools(data)),
        ("What runs", _containers(data)),
        ("Addresses", _pairs(_addresses(data))),
        ("Names", _pairs(data["names"].items())),
        ("Network", _pairs(_network(data))),
        ("Versions", _pairs(_versions(data))),
        ("Permissions", _permissions(data)),
        ("Quotas", _quotas(data)),
        ("In the cluster", _manifests(data)),
    ]:
        console.print()
        console.print(Text(title, "bold cyan"))
        console.print(Padding(content, (0, 0, 0, 2), expand=False))
    if data["warnings"]:
        console.print()
        console.print(Text("Warnings", "bold yellow"))
        for warning in data["warnings"]:
            console.print(Padding(_warning(warning), (0, 0, 0, 2), expand=False))


def _headline(data: Data) -> RenderableType:
    totals, slices = data["totals"], data["slices"]
    amount = f"{count(totals['slices'], 'slice')} of {slices['instanceType']}"
    return Text.assemble(
        (data["stack"], "bold"),
        f": {amount}, {count(totals['tpuVms'], 'TPU VM')}, ",
        (count(totals["chips"], "chip"), "bold green"),
        f", in {slices['zone']} of project {data['project']}",
    )


def _slices(data: Data) -> RenderableType:
    slices = data["slices"]
    hosts = f"{slices['hostBounds'].replace(',', 'x')} VMs" if slices["vms"] > 1 else "one VM"
    return _pairs(
        [
            ("accelerator", f"{slices['accelerator']}, each slice a {slices['acceleratorType']}"),
            ("topology", f"{slices['topology']}: {count(slices['chips'], 'chip')} on {hosts}"),
            ("machine type", f"{slices['machineType']}, {count(slices['chipsPerVm'], 'chip')} per VM"),
            ("capacity", slices["capacity"]),
            ("placement", f"{slices['placement'].replace('_', ' ')} ({slices['hostKind']}-host)"),
        ]
    )


def _pools(data: Data) -> RenderableType:
    table = _table("Pool", "Machine type", "Nodes", "Zone", "How")
    for pools in _alike(data["nodePools"]):
        first, last = pools[0]["name"], pools[-1]["name"]
        name = first if len(pools) == 1 else f"{first} to {last}"
        table.add_row(
            name,
            pools[0]["machineType"],
            f"{len(pools)} x {pools[0]['nodes']:,}" if len(pools) > 1 else f"{pools[0]['nodes']:,}",
            pools[0]["zone"],
            ", ".join(_how(pools[0])) or "-",
        )
    return table


def _alike(pools: Sequence[Data]) -> list[list[Data]]:
    """Neighbours that differ by name only."""
    groups: list[list[Data]] = []
    for pool in pools:
        if groups and {**groups[-1][-1], "name": ""} == {**pool, "name": ""}:
            groups[-1].append(pool)
        else:
            groups.append([pool])
    return groups


def _how(pool: Data) -> Iterable[str]:
    if pool.get("spot"):
        yield "spot"
    if flex := pool.get("flexStart"):
        yield f"flex-start for {count(flex['maxRunSeconds'] / 3600, 'hour')}" + (", queued" if flex["queued"] else "")
    if reservation := (pool.get("reservation") or {}).get("name"):
        yield f"reservation {reservation}"
    if pool.get("autoscaled"):
        yield "scaled to none or all"
    if pool.get("protected"):
        yield "protected"
    if pool.get("secondNetwork"):
        yield "second network card"
    if pool.get("dranet"):
        yield "DRANET"


def _containers(data: Data) -> RenderableType:
    repository = _repository(data["containers"])
    table = _table("Container", "Ports and limits", "Image and arguments", lines=True)
    for container in data["containers"]:
        copies = f"{container['copies']:,} in " if container["copies"] > 1 else "in "
        limits = [f"{name.removeprefix('google.com/')} {amount}" for name, amount in container["limits"].items()]
        ports = [f":{port}" for port in container["ports"]]
        image = Text(container["image"].removeprefix(repository), "bold")
        arguments = [Text(each, overflow="fold") for each in (*container["command"], *container["args"])]
        table.add_row(
            Group(Text(container["name"], "bold"), Text(copies + container["job"], "dim")),
            Group(*([Text(" ".join(ports))] if ports else []), *map(Text, limits)),
            Group(image, *arguments),
        )
    return Group(Text(f"images from {repository}"), table) if repository else table


def _repository(containers: Sequence[Data]) -> str:
    """Where most images come from, with the slash that ends it; empty where they share nothing."""
    folders = [container["image"].rpartition("/")[0] for container in containers if "/" in container["image"]]
    return max(set(folders), key=folders.count) + "/" if folders else ""


def _addresses(data: Data) -> list[tuple[str, str]]:
    addresses = data["addresses"]
    found = [("resource manager", addresses["resourceManager"])]
    if addresses["proxy"]:
        found += [("proxy", addresses["proxy"]), ("client's backend target", addresses["backendTarget"])]
    else:
        found.append(("proxy", f"each client's own, {count(data['totals']['clientsAtOnce'], 'client')} at once"))
    if balancer := addresses["loadBalancer"]:
        reach = " and other regions" if balancer["globalAccess"] else ""
        found.append(("load balancer", f"internal, for {', '.join(balancer['allowedRanges'])}{reach}"))
    return [*found, ("scratch", data["scratch"]["uri"])]


def _network(data: Data) -> list[tuple[str, str]]:
    return [(_words(key), "yes" if value is True else str(value)) for key, value in data["network"].items() if value]


def _versions(data: Data) -> list[tuple[str, str]]:
    versions = data["versions"]
    least = f"{versions['gkeAtLeast']} or newer for {versions['gkeAtLeastBecause']}"
    shown = [("JAX", versions["jax"]), ("GKE", f"{versions['gke']}; {least}"), ("JobSet", versions["jobset"])]
    return shown + ([("Kueue", versions["kueue"])] if versions["kueue"] else [])


def _permissions(data: Data) -> RenderableType:
    table = _table("Role", "On")
    for each in data["permissions"]:
        holds = f" ({', '.join(each['permissions'])})" if "permissions" in each else ""
        table.add_row(each["role"] + holds, each["on"])
    member = data["permissions"][0]["member"].removeprefix("serviceAccount:")
    return Group(Text(f"held by the nodes' service account {member}"), table)


def _quotas(data: Data) -> RenderableType:
    if not data["quotas"]:
        return Text("none: the chips are reserved")
    table = _table("Compute Engine quota", "Needed", "Region")
    for quota in data["quotas"]:
        family = f", family {quota['family']}" if quota["family"] else ""
        table.add_row(quota["name"] + family, f"{quota['amount']:,} {quota['unit']}", quota["region"])
    return table


def _manifests(data: Data) -> RenderableType:
    table = _table("Kind", "Namespace", "Name")
    for each in data["manifests"]:
        table.add_row(each["kind"], each["namespace"] or "-", each["name"])
    return table


def _warning(warning: Data) -> RenderableType:
    return Text(f"{warning['path']}: {warning['reason']}\n  {warning['fix']}  [{warning['id']}]")


def _table(*headings: str, lines: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_lines=lines)
    for heading in headings:
        numbers = heading in ("Nodes", "Needed")
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    return table


def _pairs(pairs: Iterable[tuple[str, Any]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for key, value in pairs:
        shown = _range(value) if isinstance(value, list) else str(value)
        grid.add_row(_words(key), escape(shown))
    return grid


def _range(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]}"


def _words(key: str) -> str:
    """`serviceAccount` as "service account"; what is written in words stays so."""
    if " " in key or key.isupper() or key in ("JobSet", "Kueue", "JAX", "GKE"):
        return key
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in key)
