"""The files of `deploy/` fit the program: what they name exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from ebbing.adapters.telemetry.prometheus_meter import PrometheusMeter
from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.config.settings import Settings

DEPLOY = Path(__file__).parents[3] / "deploy"
METRIC = re.compile(r"\bebbing_[a-z_]+")
SETTING = re.compile(r"\bEBBING_([A-Z0-9_]+)")


def real_metrics() -> set[str]:
    """Every name that Prometheus gets to see."""
    meter = PrometheusMeter(ManualClock())
    families = list(meter.registry.collect())
    names: set[str] = set()
    for family in families:
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""]}[family.type]
        names |= {family.name + ending for ending in endings}
    return names


def routes() -> set[str]:
    app = create_app(AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))))
    return set(app.openapi()["paths"])


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text("utf-8")))


def test_alerts_ask_for_metrics_that_exist() -> None:
    [rules] = documents("alerts.yaml")
    asked = {name for group in rules["groups"] for rule in group["rules"] for name in METRIC.findall(rule["expr"])}
    assert len(asked) > 5
    assert asked - real_metrics() == set()
    assert {"EbbingSearchSlow", "EbbingErrors", "EbbingStoreGrowsFast", "EbbingLowRetention"} <= {
        rule["alert"] for group in rules["groups"] for rule in group["rules"]
    }


def test_the_dashboard_shows_metrics_that_exist_each_in_its_own_place() -> None:
    board = json.loads((DEPLOY / "dashboard.json").read_text("utf-8"))
    shown = {
        name for panel in board["panels"] for target in panel["targets"] for name in METRIC.findall(target["expr"])
    }
    assert shown - real_metrics() == set()
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(places) == len(set(places))
    assert len({panel["id"] for panel in board["panels"]}) == len(places)


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "kubernetes.yaml"])
def test_every_setting_that_is_named_exists(name: str) -> None:
    named = {setting.lower() for setting in SETTING.findall((DEPLOY / name).read_text("utf-8"))}
    assert named - set(Settings.model_fields) == set()


def test_the_manifests_fit_the_schemas_of_kubernetes_and_the_routes_of_the_service() -> None:
    for document in documents("kubernetes.yaml"):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    [deployment] = [one for one in documents("kubernetes.yaml") if one["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    probes = {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes <= routes()
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert deployment["spec"]["strategy"]["type"] == "Recreate"


def test_the_image_runs_as_nobody_special_and_says_how_it_is() -> None:
    steps = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER \d+$", steps, re.MULTILINE)
    assert "EBBING_AUTH_MODE=required" in steps
    probed = re.search(r"127\.0\.0\.1:8830(/\w+)", steps)
    assert probed is not None
    assert probed[1] in routes()
    copied = {
        source for line in re.findall(r"^COPY (?!--from)(.+) \S+$", steps, re.MULTILINE) for source in line.split()
    }
    assert [source for source in copied if not (DEPLOY.parent / source).exists()] == []


def test_compose_gives_the_service_a_volume_and_nothing_it_does_not_need() -> None:
    [compose] = documents("compose.yaml")
    service = compose["services"]["ebbing"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["ports"] == ["127.0.0.1:8830:8830"]
    assert service["volumes"] == ["data:/data"]
    assert "data" in compose["volumes"]
