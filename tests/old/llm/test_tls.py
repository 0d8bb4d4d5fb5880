"""Certificates that are not to be trusted are called so, with the reason and what can be done: a real TLS server."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from tests.old.llm.chat_server import ChatServer

PROGRAM = """
import sys
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.llm import ProviderRefused
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import EmbeddingError
from tests.old.llm.llm_client import ask
url = sys.argv[1]
try:
    print(ask(url, ["x"])[0].status)
except ProviderRefused as error:
    print(error)
try:
    print(EndpointEmbedder("far", EmbedderSettings(kind="openai", model="m", base_url=url)).embed(["x"]).shape)
except EmbeddingError as error:
    print(error, error.dead)
"""


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority of our own, ca.pem, and what it signed: good.pem, expired.pem, elsewhere.pem."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl is not here, which makes the certificates")
    folder = tmp_path_factory.mktemp("tls")
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(folder, "req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-days", "9", "-subj", "/CN=Authority")
    here = "IP:127.0.0.1"
    for name, days, host in (("good", "9", here), ("expired", "-1", here), ("elsewhere", "9", "DNS:elsewhere")):
        (folder / "names").write_text(f"subjectAltName={host}\n", encoding="ascii")
        openssl(folder, "req", *new, "-keyout", f"{name}.key", "-out", "request", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days, "-extfile", "names")
        openssl(folder, "x509", "-req", "-in", "request", *signed, "-out", f"{name}.pem")
    return folder


@pytest.mark.slow
@pytest.mark.fault("hang", tried="certificates: expired, of another host, signed by itself, by nobody known", count=5)
@pytest.mark.parametrize(
    ("certificate", "trusted", "host", "said"),
    [
        ("expired", True, "127.0.0.1", "it has expired; the endpoint needs a new one"),
        ("elsewhere", True, "127.0.0.1", "it was made for another host; set base_url to the name"),
        ("elsewhere", True, "localhost", "it was made for another host; set base_url to the name"),
        ("ca", False, "127.0.0.1", "it is signed by itself; name its file in the variable SSL_CERT_FILE"),
        ("good", False, "127.0.0.1", "its authority is unknown here; name the file of your authority's certificate"),
        ("good", True, "127.0.0.1", ""),
    ],
)
def test_a_certificate_that_is_not_trusted_is_called_so(
    certificate: str, trusted: bool, host: str, said: str, authority: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / f"{certificate}.pem", authority / f"{certificate}.key")
    server = ChatServer(tls=context)
    with server.running():
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, server.url.replace("127.0.0.1", host)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "SSL_CERT_FILE": str(authority / "ca.pem") if trusted else os.devnull},
        )
    assert done.returncode == 0, done.stderr[-800:]
    assert done.stderr == "", "nothing is left unclosed"
    judged, embedded = done.stdout.splitlines()
    if not said:
        assert (judged, embedded) == ("ok", "(1, 32)")
        return
    for line in (judged, embedded):
        assert f"the certificate of {host} is not trusted: {said}" in line
    assert embedded.endswith("True")
    assert server.calls == 0
