"""What is built, from which Go module, and which of a module's files a rehearsal needs at run time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
"""The folder with one folder per Go module of ours."""

BUILD_FLAGS = ("-trimpath", "-pgo=off", "-tags=osusergo,grpcnotrace")
"""-pgo=off: profiles make programs a little faster and their builds much slower."""

BUILD_ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off", "GOTOOLCHAIN": "local"}

KUBERNETES_PROVIDER = "4.25.0"
"""Release of pulumi-kubernetes that the commit pinned in programs/go.mod is; the SDK's pin must be the same."""


@dataclass(frozen=True)
class Copy:
    """A file or folder of a Go module, and where it goes under the tools' folder.

    `version` is written into the file, a JSON document, as its "version".
    """

    module: str
    source: str
    target: str
    version: str | None = None


@dataclass(frozen=True)
class Program:
    """One Go program. `module` is what its version is read from.

    `stamps` are the Go variables that hold a version, with what is written there: {version} is the module's,
    such as v1.35.4, {major} and {minor} its first two numbers.
    """

    name: str
    package: str
    module: str
    workspace: str = "programs"
    stamps: dict[str, str] = field(default_factory=dict)
    copies: tuple[Copy, ...] = ()
    optional: bool = False


_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_JOBSET = "sigs.k8s.io/jobset"
_KWOK = "sigs.k8s.io/kwok"
_KUEUE = "sigs.k8s.io/kueue"


def _kubernetes(name: str) -> Program:
    # Clients read the server's version and fail on the placeholder that an unstamped build answers with.
    version = "k8s.io/component-base/version"
    return Program(
        name,
        package=f"k8s.io/kubernetes/cmd/{name}",
        module="k8s.io/kubernetes",
        stamps={
            f"{version}.gitVersion": "{version}",
            f"{version}.gitMajor": "{major}",
            f"{version}.gitMinor": "{minor}",
        },
    )


def _provider_document(name: str, version: str | None = None) -> Copy:
    source = f"cmd/pulumi-resource-kubernetes/{name}"
    return Copy(_KUBERNETES_PROVIDER, source, f"bin/kubernetes-provider/{name}", version)


PROGRAMS = {
    program.name: program
    for program in (
        Program("etcd", package="go.etcd.io/etcd/server/v3", module="go.etcd.io/etcd/server/v3"),
        Program(
            "pulumi",
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            module="github.com/pulumi/pulumi/pkg/v3",
            stamps={f"{_PULUMI_SDK}/go/common/version.Version": "{version}"},
            copies=(
                Copy(
                    _PULUMI_SDK,
                    "python/cmd/pulumi-language-python-exec",
                    "share/pulumi/pulumi-language-python-exec",
                ),
                Copy(
                    _PULUMI_SDK,
                    "python/dist/pulumi-resource-pulumi-python",
                    "share/pulumi/pulumi-resource-pulumi-python",
                ),
            ),
        ),
        Program(
            "pulumi-resource-kubernetes",
            package="./pulumi-resource-kubernetes",
            module=_KUBERNETES_PROVIDER,
            stamps={"main.version": KUBERNETES_PROVIDER},
            copies=(
                _provider_document("schema.json", KUBERNETES_PROVIDER),
                _provider_document("terraform-mapping.json"),
            ),
        ),
        _kubernetes("kube-apiserver"),
        _kubernetes("kube-controller-manager"),
        _kubernetes("kube-scheduler"),
        Program(
            "jobset",
            package=_JOBSET,
            module=_JOBSET,
            copies=(
                Copy(_JOBSET, "charts/jobset", "share/jobset/chart"),
                Copy(_JOBSET, "config/components/crd/bases", "share/jobset/crd"),
                Copy(_JOBSET, "config/components/webhook", "share/jobset/webhook"),
            ),
        ),
        Program(
            "kwok",
            package=f"{_KWOK}/cmd/kwok",
            module=_KWOK,
            workspace="kwok",
            copies=(Copy(_KWOK, "kustomize/stage", "share/kwok/stage"),),
        ),
        Program(
            "kueue",
            package=f"{_KUEUE}/cmd/kueue",
            module=_KUEUE,
            workspace="kueue",
            copies=(
                Copy(_KUEUE, "charts/kueue", "share/kueue/chart"),
                Copy(_KUEUE, "config/components/crd/bases", "share/kueue/crd"),
                Copy(_KUEUE, "config/components/webhook", "share/kueue/webhook"),
            ),
            optional=True,
        ),
    )
}

DEFAULT = tuple(name for name, program in PROGRAMS.items() if not program.optional)
"""What a rehearsal of a stack needs before it is known what the stack asks for."""


def workspace(program: Program) -> Path:
    """The folder with the go.mod that pins a program."""
    return SOURCES / program.workspace
