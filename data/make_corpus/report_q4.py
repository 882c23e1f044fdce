"""Management report: two-line headers, row spans, totals, a landscape page stored with /Rotate 90."""

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.platypus import CondPageBreak, NextPageTemplate, PageBreak, Paragraph, Spacer

from .markup import Block, parse
from .pdf_doc import Doc
from .pdf_flow import Flow, load_fonts

NAME = "finance/Management Report Q4 2024.pdf"
TURNED = 3  # the page with the wide table
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
ORDERS = {  # £k per month of 2024; the rows add up to 31,970
    "LM-220 Brook": (298, 310, 342, 325, 301, 336, 288, 265, 340, 352, 331, 312),
    "LM-410 Tarn": (612, 588, 655, 640, 702, 688, 671, 594, 720, 748, 735, 697),
    "LM-640 Beck": (455, 470, 518, 540, 566, 602, 955, 590, 622, 648, 671, 613),
    "LM-900 Weir": (301, 288, 325, 342, 360, 355, 338, 297, 401, 412, 396, 365),
    "Spares and consumables": (402, 411, 438, 425, 433, 440, 427, 398, 446, 462, 455, 463),
    "Service contracts": (688, 215, 240, 262, 231, 248, 255, 219, 236, 270, 281, 345),
}


def orders(width: float):
    """The wide table: twelve months, a total column and a total row."""

    def table(_text: str) -> list:
        rows = [["£k", *MONTHS, "2024"]]
        for name, months in ORDERS.items():
            rows.append([name, *(f"{v:,}" for v in months), f"{sum(months):,}"])
        sums = [sum(col) for col in zip(*ORDERS.values(), strict=True)]
        rows.append(["Total", *(f"{v:,}" for v in sums), f"{sum(sums):,}"])
        right = ",".join(str(i) for i in range(1, 14))
        opts = {"header": "1", "total": "1", "right": right, "widths": "24," + "8," * 12 + "10"}
        flow = Flow("Serif", 10, accent="#43565b", width=width)
        return flow.table(Block("table", items=rows, opts=opts))

    return table


def turned(canvas, _doc) -> None:
    """A page that is shown as landscape: stored upright, drawn sideways, /Rotate 90."""
    canvas.translate(A4[0], 0)
    canvas.rotate(90)


def running(canvas, page: int, pages: int) -> None:
    """Footer; the turned page is still in its sideways coordinates here."""
    width = A4[1] if page == TURNED else A4[0]
    canvas.setFont("Serif", 8.5)
    canvas.setFillColor(colors.HexColor("#444444"))
    canvas.drawString(64, 34, "Lindmoor Instruments Ltd. – Management Report Q4 2024 – Confidential")
    canvas.drawRightString(width - 64, 34, f"{page} / {pages}")


def make() -> None:
    """Write the report."""
    load_fonts()
    flow = Flow("Serif", 10.5, accent="#43565b", width=A4[0] - 128)
    doc = Doc(
        NAME,
        running,
        small=flow.small,
        margins=(64, 70, 64, 90),
        title="Management Report Q4 2024",
        author="Finance",
    )
    wide = doc.frame("wide", (64, 70, A4[1] - 128, A4[0] - 140))
    landscape = doc.template("wide", [wide], turned, (A4[1], A4[0]))
    landscape.rotation = 90
    doc.addPageTemplates([doc.template("text"), landscape])
    directives = {
        "orders": orders(A4[1] - 128),
        "landscape": lambda _t: [NextPageTemplate("wide"), PageBreak()],
        "portrait": lambda _t: [NextPageTemplate("text"), PageBreak()],
    }
    title = flow.heads[0].clone("title", fontSize=24, leading=29, spaceAfter=4)
    story = [
        Paragraph("Management Report", title),
        Paragraph("Fourth quarter and full year 2024", flow.heads[1]),
        Paragraph(
            "Lindmoor Instruments Ltd. and subsidiaries · figures in thousands of pounds (£k)", flow.body
        ),
        Spacer(0, 12),
        CondPageBreak(100),
    ]
    doc.make(story + flow.story(*parse("report_q4.md"), directives))
