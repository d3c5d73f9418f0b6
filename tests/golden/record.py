"""Writes what agtail prints for every golden case into expected/, to be read before it is kept.

Run it as a program: python tests/golden/record.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run every case in a copy of the input, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / "input", folder, dirs_exist_ok=True)
        for name, seconds in json.loads((HERE / "mtimes.json").read_text()).items():
            os.utime(Path(folder) / name, (seconds, seconds))
        for case in json.loads((HERE / "cases.json").read_text()):
            done = subprocess.run(
                [sys.executable, "-m", "agtail", *case["args"]],
                cwd=folder,
                env={"HOME": f"{folder}/nobody", "TZ": "UTC", "LANG": "C.UTF-8"},
                capture_output=True,
                check=False,
            )
            # The folder is another one every time: paths are recorded as if they were relative.
            here = f"{folder}/".encode()
            errors = done.stderr.replace(here, b"") + f"exit {done.returncode}\n".encode()
            (HERE / "expected" / f"{case['id']}.out").write_bytes(done.stdout.replace(here, b""))
            (HERE / "expected" / f"{case['id']}.err").write_bytes(errors)


if __name__ == "__main__":
    main()
