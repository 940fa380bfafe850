"""Packs the wheel: wheel.py LIBRARY-FOLDER FOLDER, where LIBRARY-FOLDER is what Tools/library has written."""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

library, folder = Path(sys.argv[1]), Path(sys.argv[2])
here = Path(__file__).parent
shared = (library / "lib" / "libtemblor.so").resolve()
version = shared.name.removeprefix("libtemblor.so.")
tag = "py3-none-manylinux_2_34_x86_64"
information = f"temblor_haptics-{version}.dist-info"
moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
record = []

metadata = f"""Metadata-Version: 2.1
Name: temblor-haptics
Version: {version}
Summary: Haptic patterns (AHAP and others) as sound: read, check, render, compare, convert and play them
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: test
Requires-Dist: pytest; extra == "test"
Requires-Dist: dask; extra == "test"
Requires-Dist: pyarrow; extra == "test"
Requires-Dist: ray; extra == "test"
Provides-Extra: parquet
Requires-Dist: pyarrow; extra == "parquet"
Description-Content-Type: text/markdown

{(here / "README.md").read_text()}"""
wheel = f"Wheel-Version: 1.0\nGenerator: temblor\nRoot-Is-Purelib: false\nTag: {tag}\n"

with zipfile.ZipFile(folder / f"temblor_haptics-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:

    def add(name: str, content: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, moment)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        file.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")

    for path in sorted((here / "temblor_haptics").glob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            text = path.read_text().replace('__version__ = "0.0.0"', f'__version__ = "{version}"')
            add(f"temblor_haptics/{path.name}", text.encode())
    add("temblor_haptics/libtemblor.so.0", shared.read_bytes(), 0o755)
    add("temblor_haptics/temblor", (library / "bin" / "temblor").read_bytes(), 0o755)
    add(f"{information}/METADATA", metadata.encode())
    add(f"{information}/WHEEL", wheel.encode())
    add(f"{information}/entry_points.txt", b"[console_scripts]\ntemblor = temblor_haptics._program:main\n")
    add(f"{information}/licenses/LICENSE", (here.parent / "LICENSE").read_bytes())
    record.append(f"{information}/RECORD,,\n")
    add(f"{information}/RECORD", "\n".join(record).encode())
