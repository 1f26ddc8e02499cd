"""What all sections of a stack file have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

ProjectId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")]
Region = Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]+$")]
# The last part is a letter, or ai1a and the like in Google's AI zones.
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]+-[a-z][a-z0-9]*$")]
DnsLabel = Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Cidr = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
Timestamp = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Mount = Annotated[str, StringConstraints(pattern=r"^/[-_./A-Za-z0-9]+$")]
BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-_a-z0-9.]{1,61}[a-z0-9]$")]
LabelKey = Annotated[str, StringConstraints(pattern=r"^[a-z][-_a-z0-9]{0,62}$")]
LabelValue = Annotated[str, StringConstraints(pattern=r"^[-_a-z0-9]{0,63}$")]


class Section(BaseModel):
    """A part of the stack file: immutable, strict about types, and no unknown keys."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True, defer_build=True
    )
