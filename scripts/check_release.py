"""Builds the release, checks it, and tries it as a new user would: `make release-check`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_DIST: Final = _REPOSITORY / "dist"


def main() -> None:
    """Build, check, install and try; end with an error at the first thing that is wrong."""
    version = _version()
    shutil.rmtree(_DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", _DIST, _REPOSITORY)
    archives = sorted(_DIST.iterdir())
    _run(sys.executable, "-m", "twine", "check", "--strict", *archives)
    wheel = next(archive for archive in archives if archive.suffix == ".whl")
    _try_wheel(wheel, version)
    print(f"Ebbing {version} is ready: {', '.join(archive.name for archive in archives)}")


def _version() -> str:
    """Return the version, which the package and the changelog must name as well."""
    project = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    version: str = project["version"]
    if f'__version__ = "{version}"' not in (_REPOSITORY / "src/ebbing/__init__.py").read_text("utf-8"):
        sys.exit(f"src/ebbing/__init__.py does not say version {version}: set __version__ there")
    if f"## [{version}]" not in (_REPOSITORY / "CHANGELOG.md").read_text("utf-8"):
        sys.exit(f"CHANGELOG.md has no section for {version}: add one")
    return version


def _first_example() -> str:
    """Return the first Python block of the README."""
    blocks = re.findall(r"^```python\n(.*?)^```", (_REPOSITORY / "README.md").read_text("utf-8"), re.M | re.S)
    if not blocks:
        sys.exit("README.md has no Python example to try: add one")
    return str(blocks[0])


def _try_wheel(wheel: Path, version: str) -> None:
    """Install the wheel into a fresh environment, and run the README's first example and the command there."""
    with tempfile.TemporaryDirectory(prefix="ebbing-release-") as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        scripts = place / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        _run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        printed = _run(scripts / "python", "-c", _first_example(), cwd=place)
        if not printed.strip():
            sys.exit("the README's first example prints nothing: a reader would see no answer")
        print(printed)
        told = _run(scripts / "ebbing", "--version", cwd=place)
        if version not in told:
            sys.exit(f"`ebbing --version` prints {told.strip()!r} instead of {version}")


def _run(*command: str | Path, cwd: Path = _REPOSITORY) -> str:
    """Run a command and return what it printed; end with its output if it fails."""
    print("·", " ".join(str(part).splitlines()[0] for part in command), flush=True)
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
