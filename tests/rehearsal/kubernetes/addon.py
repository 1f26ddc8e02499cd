"""The JobSet addon as its Helm chart installs it, written out for tests that have no Helm at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from pathways.labels import JOB_SET
from rehearsal.kubernetes.api import Api

Json = dict[str, Any]
NAMESPACE = "jobset-system"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/jobset-controller"
LABELS = {"app.kubernetes.io/name": "jobset"}
CONFIG = """
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: true}
internalCertManagement: {enable: true}
"""


def install(api: Api, share: Path) -> None:
    """Create everything at once, in the order in which a chart's objects are made."""
    api.create("/api/v1/namespaces", _named("v1", "Namespace", NAMESPACE))
    for file in sorted((share / "jobset" / "crd").glob("*.yaml")):
        api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", yaml.safe_load(file.read_text()))
    api.create(f"{CORE}/serviceaccounts", _named("v1", "ServiceAccount", "jobset-controller"))
    api.create(f"{RBAC}/clusterrolebindings", _binding())
    data = {"controller_manager_config.yaml": CONFIG}
    api.create(f"{CORE}/configmaps", _named("v1", "ConfigMap", "jobset-config") | {"data": data})
    api.create(f"{CORE}/secrets", _named("v1", "Secret", "jobset-webhook-server-cert"))
    api.create(f"{CORE}/services", _service())
    for kind, verb in (("mutating", "mutate"), ("validating", "validate")):
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"
        api.create(path, _webhooks(kind, verb))
    api.create(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", _deployment())


def _webhooks(kind: str, verb: str) -> Json:
    """What the chart registers: JobSets, and the pods of JobSets."""
    jobsets = _webhook(f"/{verb}-jobset-x-k8s-io-v1alpha2-jobset", "jobset.x-k8s.io", "v1alpha2", "jobsets")
    pods = _webhook(f"/{verb}--v1-pod", "", "v1", "pods")
    pods["objectSelector"] = {"matchExpressions": [{"key": JOB_SET, "operator": "Exists"}]}
    title = f"{kind.capitalize()}WebhookConfiguration"
    name = f"jobset-{kind}-webhook-configuration"
    return _named("admissionregistration.k8s.io/v1", title, name) | {"webhooks": [jobsets, pods]}


def _webhook(path: str, group: str, version: str, resource: str) -> Json:
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE"], "resources": [resource]}
    service = {"name": "jobset-webhook-service", "namespace": NAMESPACE, "path": path}
    return {
        "name": f"{resource}.jobset.example",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "rules": [rule],
        "sideEffects": "None",
    }


def _named(version: str, kind: str, name: str) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}


def _binding() -> Json:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": "jobset-controller", "namespace": NAMESPACE}
    binding = _named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "jobset-controller")
    return binding | {"roleRef": role, "subjects": [subject]}


def _service() -> Json:
    spec = {"selector": LABELS, "ports": [{"name": "webhook", "port": 443, "targetPort": "webhook"}]}
    return _named("v1", "Service", "jobset-webhook-service") | {"spec": spec}


def _deployment() -> Json:
    container = {
        "name": "controller",
        "image": "registry.k8s.io/jobset/jobset:v0.11.1",
        "args": ["--zap-log-level=2", "--config=/controller_manager_config.yaml"],
        "ports": [{"name": "webhook", "containerPort": 9443}],
        "volumeMounts": [
            {
                "name": "config",
                "mountPath": "/controller_manager_config.yaml",
                "subPath": "controller_manager_config.yaml",
            },
            {"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": True},
        ],
    }
    pod = {
        "serviceAccountName": "jobset-controller",
        "containers": [container],
        "volumes": [
            {"name": "config", "configMap": {"name": "jobset-config"}},
            {"name": "cert", "secret": {"secretName": "jobset-webhook-server-cert"}},
        ],
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": pod},
    }
    return _named("apps/v1", "Deployment", "jobset-controller") | {"spec": spec}
