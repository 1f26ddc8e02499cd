"""The provider protocol of Pulumi's engine, answered over gRPC."""

from __future__ import annotations

import functools
import json
import os
import traceback
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

import grpc
from google.protobuf import any_pb2, empty_pb2

# Pulumi's own copy of this message cannot be loaded in a process that has Google's.
from google.rpc import status_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from rehearsal.provider import check, schema
from rehearsal.provider.facts import Facts
from rehearsal.provider.google import Google, GoogleError, Interrupted, OperationError
from rehearsal.provider.invokes import invoke
from rehearsal.provider.paths import parse, show
from rehearsal.provider.plan import Change
from rehearsal.provider.resources import resource
from rehearsal.provider.resources.base import Config, Incomplete, Refused, Resource
from rehearsal.provider.values import UNKNOWN, from_struct, to_struct

ADDRESS = "REHEARSAL_GOOGLE_URL"
_Diff = provider_pb2.PropertyDiff
_KINDS = {
    ("add", False): _Diff.ADD,
    ("add", True): _Diff.ADD_REPLACE,
    ("delete", False): _Diff.DELETE,
    ("delete", True): _Diff.DELETE_REPLACE,
    ("update", False): _Diff.UPDATE,
    ("update", True): _Diff.UPDATE_REPLACE,
}
_Method = TypeVar("_Method", bound=Callable[..., Any])


def _told(method: _Method) -> _Method:
    """Errors become one sentence for the engine to show; an error nobody foresaw is said to be one."""

    @functools.wraps(method)
    def wrapper(self: Servicer, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except Incomplete as error:
            self.abort_incomplete(context, request, error)
        except (GoogleError, OperationError, Refused, Interrupted) as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            context.abort(
                grpc.StatusCode.INTERNAL,
                f"the rehearsal's gcp provider failed in {method.__name__}: {type(error).__name__}: {error} "
                f"({os.path.basename(where.filename)}, line {where.lineno})",
            )

    return wrapper  # type: ignore[return-value]


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One provider process: configured once, then asked about many resources at the same time."""

    def __init__(self) -> None:
        self._config = Config()
        self._google: Google | None = None

    # The plugin itself

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse()

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=version("pulumi_gcp"))

    @_told
    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema.package()))

    def Cancel(self, request: Any, context: Any) -> Any:
        if self._google:
            self._google.interrupt()
        return empty_pb2.Empty()

    # Configuration

    @_told
    def CheckConfig(self, request: Any, context: Any) -> Any:
        allowed = schema.provider_inputs() | {"version", "pluginDownloadURL", "addPulumiAttributionLabel"}
        failures = [
            provider_pb2.CheckFailure(reason=f"gcp:{name} is no setting of the gcp provider")
            for name in request.news.fields
            if name not in allowed and not name.startswith("__")
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    @_told
    def DiffConfig(self, request: Any, context: Any) -> Any:
        changed = from_struct(request.old_inputs or request.olds) != from_struct(request.news)
        return provider_pb2.DiffResponse(changes=_some(changed))

    @_told
    def Configure(self, request: Any, context: Any) -> Any:
        address = os.environ.get(ADDRESS)
        if not address:
            raise Refused(
                f"{ADDRESS} is not set: this gcp provider speaks to a rehearsal only; start it with "
                "`python -m rehearsal up`"
            )
        settings = {name: value for name, value in from_struct(request.args).items() if value is not UNKNOWN}
        self._config = Config(
            project=settings.get("project", ""),
            region=settings.get("region", ""),
            zone=settings.get("zone", ""),
            default_labels=_decoded(settings.get("defaultLabels")) or {},
            attribution=_decoded(settings.get("addPulumiAttributionLabel", True)) is not False,
        )
        self._google = Google(address)
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    @_told
    def Invoke(self, request: Any, context: Any) -> Any:
        answer = invoke(request.tok, self._google, self._config, from_struct(request.args))
        return provider_pb2.InvokeResponse(**{"return": to_struct(answer)})

    # Resources

    @_told
    def Check(self, request: Any, context: Any) -> Any:
        inputs = from_struct(request.news)
        try:
            kind = self._resource(request.urn)
            found = check.faults(kind.schema, kind.facts, inputs) or kind.misplaced(inputs)
        except Refused as error:
            failure = provider_pb2.CheckFailure(reason=str(error))
            return provider_pb2.CheckResponse(inputs=request.news, failures=[failure])
        old = from_struct(request.olds)
        done = check.complete(kind.schema, kind.facts, inputs, old, request.urn, request.randomSeed)
        failures = [provider_pb2.CheckFailure(reason=fault) for fault in found]
        return provider_pb2.CheckResponse(inputs=to_struct(done), failures=failures)

    @_told
    def Diff(self, request: Any, context: Any) -> Any:
        kind = self._resource(request.urn)
        inputs = from_struct(request.news)
        ignored = [parse(path) for path in request.ignoreChanges]
        found = kind.changes(from_struct(request.olds), inputs, ignored)
        return _diff(kind.facts, found, explicit=check.explicit_name(kind.facts, inputs))

    @_told
    def Create(self, request: Any, context: Any) -> Any:
        kind = self._resource(request.urn)
        inputs = from_struct(request.properties)
        if request.preview:
            state = kind.preview({}, inputs, create=True)
            return provider_pb2.CreateResponse(properties=self._outputs(kind, state))
        identity, state = kind.create(inputs, request.timeout or kind.facts.timeout)
        return provider_pb2.CreateResponse(id=identity, properties=self._outputs(kind, state))

    @_told
    def Read(self, request: Any, context: Any) -> Any:
        kind = self._resource(request.urn)
        found = kind.read(request.id, from_struct(request.inputs), from_struct(request.properties))
        if found is None:
            return provider_pb2.ReadResponse()
        identity, inputs, state = found
        outputs = self._outputs(kind, state)
        return provider_pb2.ReadResponse(id=identity, properties=outputs, inputs=to_struct(inputs))

    @_told
    def Update(self, request: Any, context: Any) -> Any:
        kind = self._resource(request.urn)
        state, inputs = from_struct(request.olds), from_struct(request.news)
        if request.preview:
            expected = kind.preview(state, inputs, create=False)
        else:
            ignored = [parse(path) for path in request.ignoreChanges]
            expected = kind.update(request.id, state, inputs, ignored, request.timeout or kind.facts.timeout)
        return provider_pb2.UpdateResponse(properties=self._outputs(kind, expected))

    @_told
    def Delete(self, request: Any, context: Any) -> Any:
        kind = self._resource(request.urn)
        kind.delete(request.id, from_struct(request.properties), request.timeout or kind.facts.timeout)
        return empty_pb2.Empty()

    def abort_incomplete(self, context: grpc.ServicerContext, request: Any, error: Incomplete) -> None:
        """Tell the engine that the resource exists and is not finished; it keeps it and updates it next time."""
        detail = provider_pb2.ErrorResourceInitFailed(
            id=error.identity,
            properties=self._outputs(self._resource(request.urn), error.state),
            reasons=[str(error)],
            inputs=request.properties if isinstance(request, provider_pb2.CreateRequest) else None,
        )
        packed = any_pb2.Any()
        packed.Pack(detail)
        code = grpc.StatusCode.FAILED_PRECONDITION
        status = status_pb2.Status(code=code.value[0], message=str(error), details=[packed])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(code, str(error))

    def _resource(self, urn: str) -> Resource:
        token = urn.split("::")[2].rsplit("$", 1)[-1]
        if self._google is None:
            raise Refused("the provider was asked about a resource before it was configured")
        return resource(token, self._google, self._config)

    def _outputs(self, kind: Resource, state: dict[str, Any]) -> Any:
        return to_struct(state, kind.facts.sets["secrets"])


def _diff(facts: Facts, found: list[Change], *, explicit: bool) -> Any:
    replaces = sorted({str(change.path[0]) for change in found if change.replaces})
    return provider_pb2.DiffResponse(
        changes=_some(bool(found)),
        replaces=replaces,
        diffs=sorted({str(change.path[0]) for change in found}),
        deleteBeforeReplace=bool(replaces) and (explicit or facts.delete_before_replace),
        detailedDiff={show(c.path): _Diff(kind=_KINDS[c.kind, c.replaces]) for c in found},
        hasDetailedDiff=True,
    )


def _some(changed: bool) -> Any:
    return provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE


def _decoded(value: Any) -> Any:
    """Settings of the provider that are no text arrive as JSON in a text."""
    return json.loads(value) if isinstance(value, str) else value
