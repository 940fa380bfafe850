"""The program `temblor`."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the program, which has the words of this process."""
    program = str(Path(__file__).parent / "temblor")
    os.execv(program, [program, *sys.argv[1:]])
