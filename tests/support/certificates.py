"""Certificates for servers of the tests that speak TLS."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def self_signed_certificate(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """A certificate that nobody has signed but itself, and its file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    dated = builder.not_valid_before(now - DAY).not_valid_after(now + DAY)
    certificate = dated.add_extension(host, critical=False).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    file = directory / "certificate.pem"
    file.write_bytes(certificate.public_bytes(pem) + key.private_bytes(pem, form, plain))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    return tls, file
