"""Copies a documentation catalog for DocC. The articles contain relative links to files, and symbols in code voice, as
repository hosts display them. In the copy, both are links to pages and symbols of the documentation.

    python3 Tools/catalog.py CATALOG SYMBOLS FOLDER    a .docc folder, the module's symbol graph, the destination
"""

import collections
import json
import os
import pathlib
import re
import shutil
import sys

catalog, symbols, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
shutil.copytree(catalog, folder)
names = collections.Counter(".".join(symbol["pathComponents"]) for symbol in json.loads(symbols.read_text())["symbols"])


def link(match):
    """Returns a link to a page of this or another catalog, or the text of a link to another file."""
    text, path = match.groups()
    if "://" in path:
        return match[0]
    target = pathlib.Path(os.path.normpath(catalog / path.partition("#")[0]))
    if target.parent.suffix != ".docc":
        return text
    if target.parent == catalog:
        return f"[{text}](doc:{target.stem})"
    module, page = target.parent.stem.lower(), target.stem.lower()
    return f"[{text}](/documentation/{module}{'' if page == module else '/' + page})"


def symbol(match):
    """Returns a link to a symbol of the module if its name is unique."""
    return f"``{match[1].replace('.', '/')}``" if names[match[1]] == 1 else match[0]


for page in folder.glob("*.md"):
    parts = re.split(r"(^```.*?^```$)", page.read_text(), flags=re.S | re.M)
    for index in range(0, len(parts), 2):
        part = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, parts[index])
        # In lists of pages, DocC accepts only links without text.
        part = re.sub(r"^- \[[^\]]+\]\(doc:(\w+)\)$", r"- <doc:\1>", part, flags=re.M)
        parts[index] = re.sub(r"(?<![`\[])`([A-Z]\w+\.[^`\s]+)`(?![`\]])", symbol, part)
    page.write_text("".join(parts))
