"""What a fresh process costs: import, open, first answer, memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from ebbing import Memory
from evals.metrics import percentile
from evals.speed.measure import Figures
from evals.speed.population import ConstantEmbedder, User

_IMPORT = "import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
_ANSWER = """
import json, sys
from ebbing import Memory
with Memory(path=sys.argv[1]) as memory:
    for user in json.loads(sys.argv[2]):
        memory.search("what do I like?", user_id=user)
    if len(sys.argv) > 3:
        import psutil
        print(psutil.Process().memory_info().rss)
"""


def imports(runs: int = 7) -> dict[str, Figures]:
    """Seconds to import, medians over fresh interpreters."""
    statements = {"import ebbing": "import ebbing", "from ebbing import Memory": "from ebbing import Memory"}
    return {
        name: {"p50_s": percentile([float(_python(_IMPORT.format(statement=code))) for _ in range(runs)], 0.5)}
        for name, code in statements.items()
    }


def whole_process(users: Sequence[User], model_id: str, *, runs: int = 3) -> dict[str, Figures]:
    """A process with the default embedder and these users' memories: seconds from its start to the end after one
    answer, and the resident memory once every user has been asked.

    The memories carry made vectors under the model's name: loading 10,000 real ones would measure the model.
    """
    with tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder:
        with Memory(path=folder, embedder=ConstantEmbedder(model_id)) as memory:
            for user in users:
                memory.add(list(user.texts), user_id=user.name, infer=False)
        seconds = []
        for _ in range(runs):
            began = time.perf_counter()
            _python(_ANSWER, folder, json.dumps([users[0].name]))
            seconds.append(time.perf_counter() - began)
        resident = int(_python(_ANSWER, folder, json.dumps([user.name for user in users]), "rss"))
    return {
        "start, one answer, end": {"p50_s": percentile(seconds, 0.5)},
        "resident memory": {"MiB": resident / 2**20, "memories": sum(len(user.texts) for user in users)},
    }


def _python(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
