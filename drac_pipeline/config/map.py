"""Where documents are worked on: this machine, or the nodes of a Ray cluster."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from drac_pipeline.config.base import Settings


class MapConfig(Settings):
    """Where documents are worked on: by processes of this machine, or on a Ray cluster that runs already
    (docs/ray.md). Nothing of Ray is imported before `engine` says so."""

    engine: Literal["local", "ray"] = Field(
        default="local", description="`local`: on the cores of this machine; `ray`: on a Ray cluster"
    )
    address: str = Field(
        default="auto",
        description="`ray`: the cluster's address, host:port; auto: what RAY_ADDRESS says, else the cluster"
        " that this machine is a node of",
    )
    cpus_per_document: float = Field(
        default=1.0, gt=0, description="`ray`: CPUs asked for a document; parts of one are fine"
    )
    cpus_per_model_document: float = Field(
        default=0.25,
        gt=0,
        description="`ray`: the same where a model reads or plans, whose replies are mostly waited for",
    )
    pages_per_cpu: int = Field(
        default=100,
        ge=0,
        description="`ray`: a document asks for one CPU more for each so many pages; 0: never more",
    )
    max_cpus_per_document: int = Field(
        default=4, ge=1, description="`ray`: but not for more than so many, nor than a node has"
    )
    page_helpers: int = Field(
        default=8,
        ge=0,
        description="`ray`: workers on any node that read pages of one long document too, a CPU each, once no"
        " document waits for one; 0: none",
    )
    memory_per_document: int = Field(
        default=1_000_000_000, ge=0, description="`ray`: bytes of memory asked for a document"
    )
    memory_per_megabyte: int = Field(
        default=20_000_000,
        ge=0,
        description="`ray`: more for each megabyte of its file, up to limits.worker_memory_bytes",
    )
    tries: int = Field(
        default=3, ge=1, description="`ray`: how often a document is begun whose node or worker was lost"
    )
    documents_in_flight: int = Field(
        default=0,
        ge=0,
        description="`ray`: most documents given to the cluster at once; 0: twice what it has room for",
    )
    wait_seconds: float = Field(
        default=300.0,
        ge=0,
        description="`ray`: how long a cluster without any node that can work is waited for",
    )
    environment: list[str] = Field(
        default=[],
        description="`ray`: names of environment variables that the driver hands on to the nodes, such as"
        " those with AWS credentials",
    )
    send_code: bool = Field(
        default=False,
        description="`ray`: send the code of drac_pipeline to the nodes; what it depends on has to be there",
    )
    runtime_env: dict[str, Any] = Field(
        default={}, description="`ray`: the runtime environment of the workers, as Ray has it"
    )

    @field_validator("address")
    @classmethod
    def _no_client(cls, address: str) -> str:
        if address.startswith("ray://"):
            raise ValueError(
                "a Ray Client address, but the run has to be on a node of the cluster: give host:port of its"
                " head, or auto, and start it there (`ray job submit` does)"
            )
        if address in ("", "local"):
            raise ValueError(
                'the address of a running cluster, host:port, or "auto"; engine = "local" needs none'
            )
        return address

    @model_validator(mode="after")
    def _whole_above_one(self) -> MapConfig:
        for name in ("cpus_per_document", "cpus_per_model_document"):
            value = getattr(self, name)
            if value > 1 and value != int(value):
                raise ValueError(f"{name}: above 1 a whole number, as Ray has it")
        return self
