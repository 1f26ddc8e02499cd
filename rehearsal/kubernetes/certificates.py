"""X.509 certificates of a rehearsed cluster, its API server's and those of its webhooks."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALIDITY = datetime.timedelta(days=3650)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: str
    key: str


@dataclass(frozen=True)
class Authority(KeyPair):
    """A certificate authority."""

    @classmethod
    def new(cls, name: str) -> Authority:
        """A self-signed authority of that common name."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(_certificate_pem(certificate), _key_pem(key))

    def issue(self, name: str, dns: Iterable[str] = (), addresses: Iterable[str] = ()) -> KeyPair:
        """A certificate for a server reached by these DNS names and IP addresses."""
        authority = x509.load_pem_x509_certificate(self.certificate.encode())
        signer = serialization.load_pem_private_key(self.key.encode(), password=None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(host) for host in dns]
        names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        issuer = authority.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
        certificate = (
            _builder(name, str(issuer), key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(signer, hashes.SHA256())
        )
        return KeyPair(_certificate_pem(certificate), _key_pem(key))


def new_signing_key() -> str:
    """A private key for service-account tokens, in the one PEM form of EC keys that Kubernetes reads here."""
    return _key_pem(ec.generate_private_key(ec.SECP256R1()), serialization.PrivateFormat.TraditionalOpenSSL)


def serves(certificate: str, dns: Iterable[str]) -> bool:
    """Whether a PEM certificate is readable, in its time, and good for all of these names."""
    try:
        loaded = x509.load_pem_x509_certificate(certificate.encode())
        names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    in_time = loaded.not_valid_before_utc <= _now() < loaded.not_valid_after_utc
    return in_time and set(dns) <= set(names.get_values_for_type(x509.DNSName))


def _builder(name: str, issuer: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    start = _now() - datetime.timedelta(minutes=5)
    return (
        x509.CertificateBuilder()
        .subject_name(_common_name(name))
        .issuer_name(_common_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALIDITY)
    )


def _common_name(name: str) -> x509.Name:
    # X.509 ends a common name after 64 characters; clients go by the alternative names.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _certificate_pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(
    key: ec.EllipticCurvePrivateKey, form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8
) -> str:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
