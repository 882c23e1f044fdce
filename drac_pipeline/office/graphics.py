"""Text of what is drawn: diagrams (SmartArt) and charts, as lists and tables."""

from __future__ import annotations

from drac_pipeline.office.package import DGM, A, C, Node, Package, R, Relation, whole
from drac_pipeline.office.page import Piece, add

_MAX_POINTS = 20_000


def add_diagram(box: Node, package: Package, relations: dict[str, Relation], node: Node) -> bool:
    """The texts of the diagram that `node` (dgm:relIds) names, as a list. False if it has none."""
    relation = relations.get(node.get(f"{R}dm") or "")
    data = package.part(relation.target) if relation else None
    if data is None:
        return False
    texts: dict[str, str] = {}
    for point in data.iter(f"{DGM}pt"):
        if point.get("type") in ("pres", "parTrans", "sibTrans"):
            continue
        lines = ["".join(t.text or "" for t in p.iter(f"{A}t")) for p in point.iter(f"{A}p")]
        text = "\n".join(" ".join(line.split()) for line in lines if line.strip())
        texts[point.get("modelId") or ""] = text
    children: dict[str, list[tuple[int, str]]] = {}
    below: set[str] = set()
    for link in data.iter(f"{DGM}cxn"):
        if (link.get("type") or "parOf") == "parOf":
            child = link.get("destId") or ""
            below.add(child)
            children.setdefault(link.get("srcId") or "", []).append((whole(link.get("srcOrd")), child))
    if not any(texts.values()):
        return False
    listing = add(box, "ul")
    seen: set[str] = set()
    # (node, where its item goes), the next one last
    waiting = [(name, listing) for name in reversed(texts) if name not in below]
    while waiting:
        name, at = waiting.pop()
        if name in seen or name not in texts:
            continue
        seen.add(name)
        inner = at
        if texts[name]:
            item = add(at, "li", [Piece(texts[name])])
            inner = item
        order = [child for _, child in sorted(children.get(name, ()), reverse=True)]
        if order and inner is not at:
            inner = add(inner, "ul")
        waiting += [(child, inner) for child in order]
    for name, text in texts.items():
        if text and name not in seen:
            add(listing, "li", [Piece(text)])
    return True


def add_chart(box: Node, package: Package, relations: dict[str, Relation], node: Node) -> bool:
    """The title and the values of the chart that `node` (c:chart) names, as a table."""
    relation = relations.get(node.get(f"{R}id") or "")
    chart = package.part(relation.target) if relation else None
    if chart is None:
        return False
    series = []
    for ser in chart.iter(f"{C}ser"):
        name = " ".join(_points(ser.find(f"{C}tx")).values())
        keys = _points(_first(ser, "cat", "xVal"))
        values = _points(_first(ser, "val", "yVal"))
        series.append((name, keys, values))
    title = chart.find(f"{C}chart/{C}title")
    name = " ".join("".join(t.text or "" for t in title.iter(f"{A}t")).split()) if title is not None else ""
    rows = sorted({n for _, keys, values in series for n in (*keys, *values)})
    if not rows:
        if name:
            add(box, "p", [Piece(name)])
        return bool(name)
    axis = [t for ax in ("catAx", "dateAx") for t in chart.iter(f"{C}{ax}")]
    corner = "".join(t.text or "" for a in axis for x in a.findall(f"{C}title") for t in x.iter(f"{A}t"))
    table = add(box, "table")
    if name:
        add(table, "caption", [Piece(name)])
    head = add(add(table, "thead"), "tr")
    add(head, "th", [Piece(corner)])
    for label, _, _ in series:
        add(head, "th", [Piece(label)])
    body = add(table, "tbody")
    for n in rows:
        row = add(body, "tr")
        add(row, "td", [Piece(next((k[n] for _, k, _ in series if n in k), ""))])
        for _, _, values in series:
            add(row, "td", [Piece(values.get(n, ""))])
    return True


def _first(node: Node, *names: str) -> Node | None:
    return next((x for n in names if (x := node.find(f"{C}{n}")) is not None), None)


def _points(node: Node | None) -> dict[int, str]:
    """The cached values of a reference by their index; levels of a category joined."""
    out: dict[int, str] = {}
    if node is None:
        return out
    for point in node.iter(f"{C}pt"):
        index = whole(point.get("idx"))
        value = point.find(f"{C}v")
        text = " ".join(((value.text if value is not None else "") or "").split())
        if len(out) < _MAX_POINTS:
            out[index] = f"{text} {out[index]}" if index in out else text
    if not out and (value := node.find(f"{C}v")) is not None:
        out[0] = value.text or ""
    return {n: _rounded(t) for n, t in out.items()}


def _rounded(text: str) -> str:
    """Values are kept in binary: 0.1 + 0.2 is shown as 0.3."""
    if len(text) > 15 and "." in text:
        try:
            return f"{float(text):.12g}"
        except ValueError:
            return text
    return text
