"""The Cluster Director cluster: its nodes, its storage and its service job."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pathways.settings.base import Section

Script = Annotated[str, StringConstraints(min_length=1)]


class BootDisk(Section):
    """The boot disk of a node. It cannot be changed later, only replaced with the node."""

    type: str = Field(default="pd-balanced", pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
    size_gb: int = Field(default=100, ge=40, le=65536, description="Size in GB.")


class Home(Section):
    """Where users' home folders lie, shared by all nodes as /home."""

    type: Literal["bucket", "filestore", "lustre"] = "bucket"
    existing: str | None = Field(
        default=None,
        description="A bucket, or projects/P/locations/L/instances/I, to use instead of creating one.",
    )
    storage_class: Literal["STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE"] | None = Field(
        default=None, description="Bucket: storage class; default: Google's."
    )
    capacity_gb: int | None = Field(
        default=None, ge=1, description="Filestore: 1,024 to 102,400 GB; Lustre: 18,000 to 7,632,000."
    )
    tier: Literal["ZONAL", "REGIONAL"] = Field(default="ZONAL", description="Filestore: service tier.")
    throughput: Literal[125, 250, 500, 1000] | None = Field(
        default=None, description="Lustre: MB/s for each TiB; default: Google's."
    )


class LoginNodes(Section):
    """The nodes users log in to."""

    count: int = Field(default=1, ge=1, le=10)
    machine_type: str = Field(default="n2-standard-8", description="Of the N2 series, as TPU clusters want it.")
    boot_disk: BootDisk = BootDisk()
    public_ips: bool = Field(default=False, description="false: users come through Identity-Aware Proxy.")
    os_login: bool = Field(default=True, description="IAM decides who may log in, and who has sudo.")
    startup_script: str | None = Field(default=None, description="Text of a script that runs at boot as root.")


class Nodes(Section):
    """The compute nodes of one kind, beside their machine type."""

    static: bool = Field(default=False, description="true: the nodes run always; false: they come with a job.")
    boot_disk: BootDisk = BootDisk()
    startup_script: str | None = Field(default=None, description="Text of a script that runs at boot as root.")


class Director(Section):
    """The Cluster Director cluster. Its network is pathways:network.existing, or a new one."""

    cluster_id: str | None = Field(
        default=None,
        pattern=r"^[a-z][a-z0-9]{0,9}$",
        description="Name of the cluster, at most 10 characters; default: pathways:name without hyphens.",
    )
    min_slices: int | None = Field(
        default=None, ge=1, description="Slices that must run before clients are let in; default: all."
    )
    home: Home = Home()
    login_nodes: LoginNodes = LoginNodes()
    cpu_nodes: Nodes = Nodes(static=True)
    tpu_nodes: Nodes = Nodes()
    prolog_scripts: list[Script] = Field(default_factory=list, description="Run on a node before each job.")
    epilog_scripts: list[Script] = Field(default_factory=list, description="Run on a node after each job.")
    service_account: str | None = Field(
        default=None,
        pattern=r"^[^@\s]+@[^@\s]+\.gserviceaccount\.com$",
        description="Account as which the nodes act, where it is not the project's Compute Engine account.",
    )
    deletion_protection: bool = Field(default=True, description="Refuse to delete or replace the cluster.")
