"""Small invented workbooks and archives, written by hand. Every number here is made up."""

import io
import struct
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


# Small invented workbooks in the Binary Interchange File Format, version 8, inside a compound file, as of Microsoft's open


_SECTOR, _CUTOFF, _FREE, _END, _FAT = 512, 4_096, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_BOF, _EOF, _BOUNDSHEET, _NUMBER, _LABEL, _ERROR, _1904 = 0x0809, 0x000A, 0x0085, 0x0203, 0x0204, 0x0205, 0x0022
#: Codes of error marks.
_MARKS = {"#N/A": 42, "#VALUE!": 15}


def xls(sheets, *, from_1904=False):
    """A workbook of sheet name → rows of cells: numbers, texts, error marks, None for no cell."""
    bodies = [_beginning(0x0010) + _cells(rows) + _record(_EOF) for rows in sheets.values()]
    head = _beginning(0x0005) + _record(_1904, struct.pack("<H", from_1904))
    names = [name.encode("utf-16-le") for name in sheets]
    # Every sheet's record says where in the stream its body begins.
    place = len(head) + sum(12 + len(name) for name in names) + 4
    for name, body in zip(names, bodies, strict=True):
        head += _record(_BOUNDSHEET, struct.pack("<IBBBB", place, 0, 0, len(name) // 2, 1) + name)
        place += len(body)
    return _compound(head + _record(_EOF) + b"".join(bodies))


def _record(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def _beginning(kind):
    return _record(_BOF, struct.pack("<HHHHII", 0x0600, kind, 0, 1997, 0, 6))


def _cells(rows):
    return b"".join(
        _cell(struct.pack("<HHH", number, column, 0), value)
        for number, row in enumerate(rows)
        for column, value in enumerate(row)
        if value is not None
    )


def _cell(place, value):
    if value in _MARKS:
        return _record(_ERROR, place + struct.pack("<BB", _MARKS[value], 1))
    if isinstance(value, str):
        return _record(_LABEL, place + struct.pack("<HB", len(value), 1) + value.encode("utf-16-le"))
    return _record(_NUMBER, place + struct.pack("<d", value))


def _compound(stream):
    """A compound file of one stream, `Workbook`: its sectors, the directory's, those of the allocation table."""
    stream = stream.ljust(_CUTOFF, b"\0")
    count = -(-len(stream) // _SECTOR)
    tables = next(tables for tables in range(1, 110) if tables * 128 >= count + 1 + tables)
    chain = [*range(1, count), _END, _END, *[_FAT] * tables]
    chain += [_FREE] * (tables * 128 - len(chain))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(10)
    header += struct.pack("<IIIIIIIII", tables, count, 0, _CUTOFF, _END, 0, _END, 0, count + 1)
    header += b"".join(struct.pack("<I", count + 1 + number if number < tables else _FREE) for number in range(1, 109))
    directory = _entry("Root Entry", 5, 1, _END, 0) + _entry("Workbook", 2, _FREE, 0, len(stream)) + _entry("", 0) * 2
    return header + stream.ljust(count * _SECTOR, b"\0") + directory + struct.pack(f"<{len(chain)}I", *chain)


def _entry(name, kind, child=_FREE, start=0, size=0):
    text = name.encode("utf-16-le") + b"\0\0" if name else b""
    links = struct.pack("<HBBIII", len(text), kind, 1, _FREE, _FREE, child)
    return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)
