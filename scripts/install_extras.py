"""Installs the packages of extras into the Python that runs this, without Ebbing and what it depends on."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path


def main(names: list[str]) -> None:
    """Install what `pyproject.toml` lists under each name."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    packages = [package for name in names for package in project["optional-dependencies"][name]]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
