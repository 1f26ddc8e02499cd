"""Objects of an addon as its Helm chart makes them, cut down to what the rehearsal reads."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
NAMESPACE = "jobset-system"
LABELS = {"app.kubernetes.io/name": "jobset", "app.kubernetes.io/instance": "jobset"}
CONFIG = """
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: true}
clientConnection: {qps: 500, burst: 500}
internalCertManagement: {enable: true, webhookServiceName: jobset-webhook-service}
"""


def deployment(**spec: Any) -> Json:
    container = {
        "name": "controller",
        "image": "registry.example/jobset/jobset:v0.11.1",
        "args": ["--zap-log-level=2", "--config=/controller_manager_config.yaml"],
        "env": [{"name": "PLAIN", "value": "1"}, {"name": "FROM_SECRET", "valueFrom": {}}],
        "ports": [
            {"name": "health-probe", "containerPort": 8081},
            {"name": "webhook", "containerPort": 9443},
        ],
        "volumeMounts": [
            {
                "name": "manager-config",
                "mountPath": "/controller_manager_config.yaml",
                "subPath": "controller_manager_config.yaml",
            },
            {"name": "webhook-cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs"},
        ],
    }
    return {
        "metadata": {
            "namespace": NAMESPACE,
            "name": "jobset-controller",
            "uid": "u1",
            "generation": 1,
            "resourceVersion": "1",
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": LABELS},
            "template": {
                "metadata": {"labels": {**LABELS, "app.kubernetes.io/component": "controller"}},
                "spec": {
                    "serviceAccountName": "jobset-controller",
                    "containers": [container],
                    "volumes": [
                        {"name": "manager-config", "configMap": {"name": "jobset-controller-config"}},
                        {"name": "webhook-cert", "secret": {"secretName": "jobset-webhook-server-cert"}},
                    ],
                },
            },
            **spec,
        },
    }


def service() -> Json:
    return {
        "metadata": {"namespace": NAMESPACE, "name": "jobset-webhook-service"},
        "spec": {
            "clusterIPs": ["34.118.224.9"],
            "selector": LABELS,
            "ports": [{"name": "webhook", "port": 443, "targetPort": "webhook"}],
        },
    }


def webhook_configuration(service_name: str = "jobset-webhook-service") -> Json:
    client = {"service": {"namespace": NAMESPACE, "name": service_name, "path": "/mutate"}}
    return {
        "metadata": {"name": service_name},
        "webhooks": [
            {"name": "one.example", "clientConfig": client},
            {"name": "two.example", "clientConfig": client},
        ],
    }


def pod(name: str, node: str | None = "node-1") -> Json:
    spec = {"nodeName": node} if node else {}
    return {"metadata": {"namespace": NAMESPACE, "name": name, "labels": LABELS}, "spec": spec}


def config_map() -> Json:
    return {
        "metadata": {"name": "jobset-controller-config"},
        "data": {"controller_manager_config.yaml": CONFIG},
    }


def secret() -> Json:
    return {"metadata": {"name": "jobset-webhook-server-cert"}, "data": {"tls.crt": "", "tls.key": ""}}
