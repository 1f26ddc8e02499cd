"""How the program of a Deployment is started."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rehearsal.kubernetes.controllers import Controller, LocalPorts, program_of, rehearsed_config
from tests.unit.kubernetes import samples

PORTS = LocalPorts(webhook=30001, health=30002)


def controller() -> Controller:
    found = Controller.of(samples.deployment())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("image", "program"),
    [
        ("registry.k8s.io/jobset/jobset:v0.11.1", "jobset"),
        ("localhost:5000/kueue", "kueue"),
        ("registry.example/jobset/jobset@sha256:abc", "jobset"),
        ("us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:latest", None),
        ("registry.example/jobset/tools:v1", None),
    ],
)
def test_a_program_is_known_by_the_name_of_its_image(image: str, program: str | None) -> None:
    assert program_of(image) == program


def test_a_deployment_that_is_scaled_to_none_runs_nothing() -> None:
    assert Controller.of(samples.deployment(replicas=0)) is None


def test_a_changed_deployment_means_a_new_start() -> None:
    changed = samples.deployment()
    changed["metadata"]["generation"] = 2
    other = Controller.of(changed)
    assert other is not None
    assert other.generation != controller().generation


def test_the_configuration_comes_from_the_mounted_config_map() -> None:
    assert controller().config_source == ("jobset-controller-config", "controller_manager_config.yaml")


def test_a_config_map_mounted_as_a_folder_is_found_too() -> None:
    deployment = samples.deployment()
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container["args"] = ["--config", "/etc/manager/config.yaml"]
    container["volumeMounts"] = [{"name": "manager-config", "mountPath": "/etc/manager/"}]
    found = Controller.of(deployment)
    assert found is not None
    assert found.config_source == ("jobset-controller-config", "config.yaml")


def test_the_program_gets_the_containers_arguments_and_environment_but_its_own_configuration() -> None:
    argv = controller().argv(Path("/tools/jobset"), Path("/run/config.yaml"))
    assert argv == ["/tools/jobset", "--zap-log-level=2", "--config=/run/config.yaml"]
    assert controller().environment == {"PLAIN": "1"}


def test_the_program_acts_as_the_service_account_of_its_pods() -> None:
    assert controller().user == "system:serviceaccount:jobset-system:jobset-controller"


def test_settings_of_the_config_map_are_kept_but_for_what_one_machine_makes_necessary() -> None:
    config = yaml.safe_load(rehearsed_config("jobset", samples.CONFIG, PORTS, Path("/run/certificates")))
    assert config["clientConnection"] == {"qps": 500, "burst": 500}
    assert config["internalCertManagement"]["webhookServiceName"] == "jobset-webhook-service"
    assert config["internalCertManagement"]["enable"] is False
    assert config["webhook"] == {"host": "127.0.0.1", "port": 30001, "certDir": "/run/certificates"}
    assert config["health"]["healthProbeBindAddress"] == "127.0.0.1:30002"
    assert config["leaderElection"]["leaderElect"] is False


def test_kueue_makes_its_certificate_itself_and_serves_nothing_at_a_fixed_place() -> None:
    config = yaml.safe_load(
        rehearsed_config("kueue", "featureGates: {TASFailedNodeReplacement: true}", PORTS, Path("/c"))
    )
    assert config["featureGates"] == {"TASFailedNodeReplacement": True, "VisibilityOnDemand": False}
    assert config["webhook"]["certDir"] == "/c"
    assert "internalCertManagement" not in config


def test_the_webhook_service_leads_to_the_programs_webhook_port() -> None:
    assert controller().routes([samples.service()], {}, PORTS) == {("34.118.224.9", 443): 30001}


def test_a_service_for_another_port_leads_nowhere() -> None:
    metrics = samples.service()
    metrics["spec"]["ports"] = [{"name": "https", "port": 8443, "targetPort": 8443}]
    assert controller().routes([metrics], {}, PORTS) == {}


def test_a_service_without_selector_or_with_another_is_not_the_programs() -> None:
    foreign = samples.service()
    foreign["spec"]["selector"] = {"app.kubernetes.io/name": "other"}
    assert controller().serves_for(samples.service())
    assert not controller().serves_for(foreign)
    assert not controller().serves_for({"spec": {}})


def test_the_certificate_comes_from_the_secret_mounted_where_the_webhooks_look() -> None:
    assert controller().certificate_secret({}) == "jobset-webhook-server-cert"
    assert controller().certificate_secret({"webhook": {"certDir": "/elsewhere"}}) is None
