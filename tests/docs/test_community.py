"""What greets a contributor names files, targets and tools that exist."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.docs.pages import REPOSITORY

PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
TARGETS = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_for_contributors_leads_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (REPOSITORY / name).read_text("utf-8"))
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_every_make_target_that_a_page_or_workflow_names_exists() -> None:
    files = [REPOSITORY / name for name in PAGES] + sorted((REPOSITORY / ".github").rglob("*.*"))
    named = {target for file in files for target in re.findall(r"\bmake ([a-z-]+)", file.read_text("utf-8"))}
    assert named
    assert named <= TARGETS


def test_templates_workflows_and_hooks_are_valid_yaml_with_what_their_readers_need() -> None:
    for file in (REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert {"name", "description", "body"} <= yaml.safe_load(file.read_text("utf-8")).keys()
    workflow = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert {"check", "windows"} <= workflow["jobs"].keys()
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    assert all(hook["entry"].startswith(".venv/bin/") for hook in hooks)
