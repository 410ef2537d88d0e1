"""`python -m evals recall …` and `python -m evals speed …`."""

from __future__ import annotations

import os

# One thread everywhere: figures of a shared machine that two runs can compare. Set before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from evals.commands import main  # noqa: E402

if __name__ == "__main__":
    main()
