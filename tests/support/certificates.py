"""Certificates for invented names, made anew by openssl: no key lies in the repository."""

import shutil
import subprocess

import pytest


def make(folder, *names):
    """A file with a key and a certificate for some names, and one with the certificate alone, which vouches for itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: no certificate to trust or mistrust")
    key, cert, both = (folder / f"{names[0]}.{part}" for part in ("key", "cert", "both"))
    made = subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", f"/CN={names[0]}"),
            *("-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names)),
            *("-keyout", key, "-out", cert),
        ],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both, cert
