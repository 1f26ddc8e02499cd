"""Objects: upload, read, list, delete. Small ones; content is kept with the state."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from email import message_from_bytes
from typing import Any
from urllib.parse import quote

from rehearsal.google.api import Call, Media
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.errors import invalid, not_found, unimplemented
from rehearsal.google.services.storage.service import BASE, SERVICE, check_conditions, find_bucket

Json = dict[str, Any]

LARGEST = 16 * 2**20


@SERVICE.handles("storage.objects.insert")
def insert(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    metadata, content, content_type = _upload(call)
    name = metadata.get("name") or call.query.get("name", "")
    if not name:
        raise invalid("Required", "required")
    if len(content) > LARGEST:
        raise unimplemented(
            f"The rehearsal stores objects of up to {LARGEST >> 20} MiB, this one has {len(content)} bytes."
        )
    key = f"{bucket['name']}/{name}"
    check_conditions(call, cloud.store.get(f"storage/o/{key}") or {"generation": "0"})
    created = now()
    generation = str(time.time_ns() // 1000)
    item = {
        "storageClass": bucket["storageClass"],
        "contentType": content_type,
        **metadata,
        "kind": "storage#object",
        "id": f"{key}/{generation}",
        "name": name,
        "bucket": bucket["name"],
        "generation": generation,
        "metageneration": "1",
        "size": str(len(content)),
        "md5Hash": base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode(),
        "etag": base64.b64encode(generation.encode()).decode(),
        "selfLink": f"{BASE}b/{key}",
        "mediaLink": f"{call.origin}/storage/storage/v1/b/{bucket['name']}/o/{quote(name, '')}?alt=media",
        "timeCreated": created,
        "updated": created,
    }
    cloud.store.put(f"storage/o/{key}", item)
    cloud.store.put(f"storage/content/{key}", {"base64": base64.b64encode(content).decode()})
    cloud.mounts.written(bucket["name"], name, content)
    return item


def _upload(call: Call) -> tuple[Json, bytes, str]:
    """Metadata, content and content type of a simple or multipart upload."""
    if not call.method.upload:
        return call.body, b"", "application/octet-stream"
    kind = call.query.get("uploadType")
    if kind == "media":
        return {}, call.content, call.content_type or "application/octet-stream"
    if kind != "multipart":
        raise unimplemented("The rehearsal takes uploads of type media and multipart, not resumable ones.")
    message = message_from_bytes(b"Content-Type: " + call.content_type.encode() + b"\r\n\r\n" + call.content)
    parts = message.get_payload()
    if not isinstance(parts, list) or len(parts) != 2:
        raise invalid("Malformed multipart body.", "badContent")
    first, second = (part.get_payload(decode=True) for part in parts if not isinstance(part, str))
    if not isinstance(first, bytes) or not isinstance(second, bytes):
        raise invalid("Malformed multipart body.", "badContent")
    try:
        metadata: Json = json.loads(first)
    except ValueError as error:
        raise invalid(f"Malformed metadata: {error}", "parseError") from error
    return metadata, second, parts[1].get_content_type() if not isinstance(parts[1], str) else ""


def _find(cloud: Cloud, call: Call) -> tuple[str, Json]:
    bucket = find_bucket(cloud, call)
    key = f"{bucket['name']}/{call.path['object']}"
    item = cloud.store.get(f"storage/o/{key}")
    if item is None or call.query.get("generation", item["generation"]) != item["generation"]:
        raise not_found(f"No such object: {key}")
    check_conditions(call, item)
    return key, item


@SERVICE.handles("storage.objects.get")
def get(cloud: Cloud, call: Call) -> Json | Media:
    key, item = _find(cloud, call)
    if call.query.get("alt") != "media":
        return item
    stored = cloud.store.get(f"storage/content/{key}") or {"base64": ""}
    return Media(base64.b64decode(stored["base64"]), item["contentType"])


@SERVICE.handles("storage.objects.list")
def list_objects(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
    items, prefixes = [], set()
    for item in cloud.store.list(f"storage/o/{bucket['name']}/{prefix}").values():
        rest = item["name"][len(prefix) :]
        if delimiter and delimiter in rest:
            prefixes.add(prefix + rest.split(delimiter)[0] + delimiter)
        else:
            items.append(item)
    start = int(call.query.get("pageToken") or 0)
    size = int(call.query.get("maxResults") or 1000)
    answer: Json = {"kind": "storage#objects", "items": items[start : start + size]}
    if prefixes:
        answer["prefixes"] = sorted(prefixes)
    if start + size < len(items):
        answer["nextPageToken"] = str(start + size)
    return answer


@SERVICE.handles("storage.objects.delete")
def delete(cloud: Cloud, call: Call) -> None:
    key, item = _find(cloud, call)
    cloud.store.delete(f"storage/o/{key}")
    cloud.store.delete(f"storage/content/{key}")
    cloud.mounts.removed(item["bucket"], item["name"])
