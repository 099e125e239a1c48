# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Reads report.html as a browser does, and as XML: whole tags, nothing from outside, images that decode, the text of
the case, every monitor, and after a restart the whole of every series.

Arguments: the program curlew and the folder of cases.
"""
import base64
import html.parser
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

XHTML = "{http://www.w3.org/1999/xhtml}"

failures = 0


def check(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", *words)


class Page(html.parser.HTMLParser):
    """What a page holds: the texts that tags have themselves, its images and its curves."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.images, self.curves = [], [], [], []
        self.feed(text)
        self.close()
        check(not self.open, "tags are left open:", self.open)

    def handle_starttag(self, tag, attributes):
        check(tag not in ("script", "link", "iframe", "object"), "the page has a", tag)
        for name, value in attributes:
            if name in ("href", "src"):
                check(value.startswith("data:image/png;base64,"), "the page asks for", value[:60])
                self.images.append(base64.b64decode(value.split(",")[1], validate=True))
            check(not name.startswith("on"), "the page has a script in", name)
            if name == "d" and ("class", "curve") in attributes:
                self.curves.append(value)
        self.open.append((tag, []))
        self.texts.append(self.open[-1])

    def handle_endtag(self, tag):
        check(self.open and self.open.pop()[0] == tag, "a", tag, "ends that is not open")

    def handle_data(self, data):
        if self.open:
            self.open[-1][1].append(data)

    def of(self, tag):
        return ["".join(texts) for its_tag, texts in self.texts if its_tag == tag]


def pixels(png):
    """Rows of (red, green, blue)."""
    check(png[:8] == b"\x89PNG\r\n\x1a\n", "an image is no PNG")
    place, data, size = 8, b"", None
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        kind, chunk = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", png, place + 8 + length)
        check(checksum == zlib.crc32(kind + chunk), "the checksum of", kind)
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", chunk)
        elif kind == b"IDAT":
            data += chunk
        place += 12 + length
    check(kind == b"IEND" and size[2:] == (8, 2, 0, 0, 0), "an image of", size)
    rows, width = zlib.decompress(data), 1 + 3 * size[0]
    check(len(rows) == width * size[1], "an image of", size, "has", len(rows), "bytes")
    check(all(rows[k] == 0 for k in range(0, len(rows), width)), "an image with filters")
    return [[tuple(rows[k + c : k + c + 3]) for c in range(1, width, 3)] for k in range(0, len(rows), width)]


def coloured_share(png):
    """Of pixels that are neither white nor grey."""
    all_of_them = [pixel for row in pixels(png) for pixel in row]
    return sum(len(set(pixel)) > 1 for pixel in all_of_them) / len(all_of_them)


def run(program, case, *arguments, status=0):
    """The report of a run of the case into `out` beside it."""
    out = case.parent / "out"
    done = subprocess.run([program, "run", case, "--quiet", "--output", out, *arguments], capture_output=True, text=True)
    check(done.returncode == status, arguments, "ended with", done.returncode, done.stderr)
    text = (out / "report.html").read_text(encoding="utf-8")
    root = xml.etree.ElementTree.fromstring(text)
    check(root.tag == XHTML + "html", "the page is a", root.tag)
    page = Page(text)
    check(case.read_text() in page.of("pre"), "the case file is not in the page")
    overrides = [b for a, b in zip(arguments, arguments[1:]) if a == "--set"]
    check(not overrides or "\n".join(overrides) in page.of("pre"), "not in the page:", overrides)
    check(not re.search(r"nan|inf\b", " ".join(page.curves)), "a curve has what is no number")
    return page


def monitors(page):
    return [text for tag in ("h3", "caption") for text in page.of(tag)]


def most_points(page):
    return max(1 + path.count("L") for path in page.curves)


BOX = """
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 0.5, 2};
Physical Surface("ends") = {1, 2, 3, 4, 5, 6};
Physical Volume("all") = {1};
"""
HEAT = """
# <é & "quotes">
[case]
name = "box"
[mesh]
file = "box.geo"
size = 0.25
[model]
type = "heat-diffusion"
[material.all]
conductivity = 1
density = 1
heat_capacity = 1
[initial]
temperature = 300
[boundary.ends]
type = "temperature"
value = "300 + 10*x"
[time]
end = 0.2
step = 0.01
[output]
fields = ["temperature", "gradient", "heat_flux"]
[monitor."mean.all"]
type = "average"
[monitor.axis]
type = "line"
from = [0.5, 0.25, 0]
to = [0.5, 0.25, 2]
points = 11
"""


def main(program, cases):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # In space: a section and a view of the surface of each field.
        (folder / "box.geo").write_text(BOX)
        (folder / "case.toml").write_text(HEAT, encoding="utf-8")
        case = folder / "case.toml"
        page = run(program, case, "--steps", "7", "--set", 'boundary.ends.value="x < 0.5 && y>0.1 ? 310 : 300"')
        check("stopped" in page.of("span"), "the status", page.of("span"))
        check(len(page.images) == 6, len(page.images), "images")
        for k, image in enumerate(page.images):
            share = coloured_share(image)
            check(share > 0.99 if k % 2 == 0 else 0.5 < share < 0.95, "image", k, "is coloured to", share)
        check(most_points(page) == 8, "points before the restart:", most_points(page))
        page = run(program, case, "--restart", folder / "out", "--set", 'boundary.ends.value="300 + 10*x"')
        check("done" in page.of("span"), "the status", page.of("span"))
        check(most_points(page) == 21, "points after the restart:", most_points(page))
        check({"mean.all", "axis at 0.2 s"} <= set(monitors(page)), "the monitors", monitors(page))
        run(program, case, "--set", "solver.temperature.max_iterations=1", "--set",
            'solver.temperature.preconditioner="jacobi"', status=3)

        # In the plane: one picture of each field, and four at most.
        shutil.copytree(cases / "taylor-green", folder / "vortices")
        page = run(program, folder / "vortices/decay.toml", "--steps", "5", "--set",
                   'output.fields=["velocity", "pressure", "vorticity", "divergence", "q_criterion"]')
        check(len(page.images) == 4, len(page.images), "images")
        check("Not shown: q_criterion." in page.of("p"), "what is not shown:", page.of("p"))
        check(all(coloured_share(image) > 0.99 for image in page.images), "an image is not coloured")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
