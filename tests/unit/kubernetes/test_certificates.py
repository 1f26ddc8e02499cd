"""Certificates of a rehearsed cluster."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from rehearsal.kubernetes.certificates import Authority, serves


def handshake(authority: str, certificate: str, key: str, name: str, folder: Path) -> None:
    (folder / "tls.crt").write_text(certificate)
    (folder / "tls.key").write_text(key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    client = ssl.create_default_context(cadata=authority)
    ours, theirs = socket.socketpair()

    def answer() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except OSError:
            theirs.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        client.wrap_socket(ours, server_hostname=name).close()
    finally:
        ours.close()
        thread.join()


def test_a_client_that_trusts_the_authority_accepts_the_server_by_name_and_by_address(tmp_path: Path) -> None:
    authority = Authority.new("cluster ca")
    pair = authority.issue("server", ["webhook.jobset-system.svc"], ["127.0.0.1"])
    handshake(authority.certificate, pair.certificate, pair.key, "webhook.jobset-system.svc", tmp_path)
    handshake(authority.certificate, pair.certificate, pair.key, "127.0.0.1", tmp_path)


def test_a_client_refuses_another_name_and_another_authority(tmp_path: Path) -> None:
    authority = Authority.new("cluster ca")
    pair = authority.issue("server", ["webhook.jobset-system.svc"])
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(authority.certificate, pair.certificate, pair.key, "other.jobset-system.svc", tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(
            Authority.new("other").certificate,
            pair.certificate,
            pair.key,
            "webhook.jobset-system.svc",
            tmp_path,
        )


def test_a_certificate_serves_only_the_names_it_was_issued_for() -> None:
    pair = Authority.new("ca").issue("server", ["a.ns.svc", "b.ns.svc"])
    assert serves(pair.certificate, ["a.ns.svc"])
    assert not serves(pair.certificate, ["a.ns.svc", "c.ns.svc"])
    assert not serves("", ["a.ns.svc"])


def test_a_common_name_longer_than_x509_allows_is_no_obstacle() -> None:
    long = "a-project-of-thirty-characters_us-central1-a_a-cluster-of-forty-characters-exactly"
    assert serves(Authority.new(long).issue(long, [f"{long}.svc"]).certificate, [f"{long}.svc"])
