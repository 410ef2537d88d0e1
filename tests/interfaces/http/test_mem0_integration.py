"""mem0's own integration tests for its npm client, from a checkout of its repository, against a service of ours.

They are not part of this repository. `EBBING_TEST_MEM0_REPO` names a checkout of github.com/mem0ai/mem0;
`make test-mem0 MEM0=PATH` runs them. One expression of the client is changed: where it sends its requests.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.registry_clients import node_with, run, service

CHECKOUT = os.environ.get("EBBING_TEST_MEM0_REPO", "")
KEY = "a-key-of-at-least-32-characters-000"
HOST = 'options.host || "https://api.mem0.ai"'
LEAST_PASSED = 41
PACKAGES = ("jest@29", "ts-jest@29", "typescript@5.5", "axios@1", "dotenv@16", "@types/jest@29", "@types/node@22")


@pytest.mark.slow
@pytest.mark.skipif(not CHECKOUT, reason="set EBBING_TEST_MEM0_REPO to a checkout of mem0's repository")
def test_mem0s_own_integration_tests_pass(tmp_path: Path) -> None:
    installed = node_with("mem0-integration", *PACKAGES)
    source, folder = Path(CHECKOUT) / "mem0-ts", tmp_path / "mem0-ts"
    names = ("src", "tests", "jest.config.js", "jest.integration.config.js", "jest.setup.ts", "package.json")
    for name in (*names, "tsconfig.json", "tsconfig.test.json"):
        copy = shutil.copytree if (source / name).is_dir() else shutil.copy
        folder.mkdir(exist_ok=True)
        copy(source / name, folder / name)
    (folder / "node_modules").symlink_to(installed / "node_modules")
    client = folder / "src" / "client" / "mem0.ts"
    text = client.read_text()
    assert text.count(HOST) == 1
    client.write_text(text.replace(HOST, "options.host || process.env.MEM0_HOST"))
    with service(tmp_path / "store", EBBING_SERVICE_API_KEY=KEY) as address:
        options = ["--config", "jest.integration.config.js", "--forceExit", "--json", "--outputFile", "result.json"]
        settings = {"MEM0_HOST": address, "MEM0_API_KEY": KEY}
        ended = run(["node_modules/.bin/jest", *options], folder=folder, settings=settings)
    result = json.loads((folder / "result.json").read_text())
    passed, total = result["numPassedTests"], result["numTotalTests"]
    print(f"{passed} of {total} of mem0's integration tests passed")
    assert total >= LEAST_PASSED, ended.stderr[-2_000:]
    assert passed >= LEAST_PASSED, ended.stderr[-8_000:]
