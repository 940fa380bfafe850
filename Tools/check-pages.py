"""Checks the code blocks in the pages of this package with a debug build: compiles each Swift block as a program, and
runs `temblor check --strict` on patterns.

    python3 Tools/check-pages.py FOLDER      the folder for the programs
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
pages = subprocess.check_output(["git", "ls-files", "*.md"], text=True).split()
swiftc = pathlib.Path(subprocess.check_output(["sh", "-c", "command -v swiftc"], text=True).strip())
manifest = swiftc.resolve().parent.parent / "lib/swift/pm/ManifestAPI"
options = ["-swift-version", "6", "-package-description-version", "6.2"]
options += ["-I", ".build/debug/Modules", "-I", manifest]
for header in sorted(pathlib.Path("Sources").glob("*/*/include")):
    options += ["-Xcc", f"-I{header}"]
for module in [*pathlib.Path(".build/debug").glob("*.build/module.modulemap"),
               *pathlib.Path("Sources").glob("*/*/**/module.modulemap")]:
    options += ["-Xcc", f"-fmodule-map-file={module}"]


def program(code):
    """Returns a block as a program. An element of a package manifest is assigned to a constant of its type."""
    if code.startswith(".product"):
        return "import PackageDescription\nlet element: Target.Dependency = " + code
    if code.startswith(".package"):
        return "import PackageDescription\nlet element: Package.Dependency = " + code
    return code


def check_pattern(page, line, text):
    path = folder / f"{page.replace('/', '_')}-{line}.ahap"
    path.write_text(text)
    result = subprocess.run(
        [".build/debug/temblor", "check", "--strict", path], capture_output=True, text=True)
    return f"{page}:{line}: the pattern is wrong\n{result.stdout}" if result.returncode else None


def check(block):
    page, line, language, code = block
    if language == "json":
        return check_pattern(page, line, code) if '"Pattern"' in code else None
    path = folder / f"{page.replace('/', '_')}-{line}" / "main.swift"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program(code))
    result = subprocess.run(
        [swiftc, "-typecheck", *options, path], capture_output=True, text=True)
    wrong = "error:" in result.stderr or "warning:" in result.stderr or result.returncode
    return f"{page}:{line}: the code does not compile\n{result.stderr}" if wrong else None


blocks = []
for page in pages:
    text = pathlib.Path(page).read_text()
    for match in re.finditer(r"^```(swift|json)\n(.*?)^```", text, re.S | re.M):
        blocks.append((page, text.count("\n", 0, match.start()) + 1, match[1], match[2]))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failures = [failure for failure in pool.map(check, blocks) if failure]
sys.stderr.write("".join(failures))
print(f"{len(blocks)} blocks, {len(failures)} wrong")
sys.exit(1 if failures or not blocks else 0)
