"""Small invented workbooks and archives, written by hand. Every number here is made up."""

import io
import zipfile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"

#: Serial numbers of 2099-01-05, 2099-01-06 and 2099-01-07.
MONDAY, TUESDAY, WEDNESDAY = 72_690, 72_691, 72_692


def zipped(members):
    """An archive of name → text or bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return out.getvalue()


def cell(reference, value):
    """A cell as a spreadsheet program writes it; an int text `#…` is an error mark, other texts are shared or inline."""
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{reference}" t="e"><v>{value}</v></c>'
    if isinstance(value, str) and value.startswith("shared "):
        return f'<c r="{reference}" t="s"><v>{value.removeprefix("shared ")}</v></c>'
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}"/>' if value is None else f'<c r="{reference}" s="1"><v>{value}</v></c>'


def sheet(rows):
    """A worksheet of lists of cells."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(cell(f"{chr(65 + column)}{number}", value) for column, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f'<?xml version="1.0"?>\n<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def workbook(sheets, texts=("years:",), properties=""):
    """Members of a workbook of sheet name → worksheet XML."""
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, start=1))
    links = "".join(
        f'<Relationship Id="rId{n}" Type="x" Target="{"/xl/" if n > 1 else ""}worksheets/sheet{n}.xml"/>'
        for n, _ in enumerate(sheets, start=1)
    )
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    members = {
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{properties}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{shared}</sst>',
    }
    return members | {f"xl/worksheets/sheet{n}.xml": body for n, body in enumerate(sheets.values(), start=1)}
