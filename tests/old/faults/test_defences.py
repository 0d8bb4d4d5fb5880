"""Defences that nothing else would miss: each of these fails when the defence that it names is taken away."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import aiohttp
import nbformat
import psutil
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from ragbench.old import report
from ragbench.old.core import settings
from ragbench.old.core.settings import ConfigurationError, Settings, secrets, urls
from ragbench.old.data import remotes
from ragbench.old.data.remotes import RemoteError
from ragbench.old.llm import ModelError
from ragbench.old.store import Source, Store, StoreError, server
from ragbench.old.store.database_tables import connect
from tests.old.llm.llm_client import ask
from tests.old.small_project import add
from tests.old.store.own_database import own_database

CANARY = "CANARY"


class TestTheDatabase:
    def test_its_processes_know_nothing_of_our_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("FAR_API_KEY", "PGOPTIONS", "LD_LIBRARY_PATH"):
            monkeypatch.setenv(name, CANARY if name != "PGOPTIONS" else "-c work_mem=1MB")
        with own_database("pg") as own:
            known = psutil.Process(server.start(own).pid).environ()
        assert CANARY not in "".join(known.values())
        assert not {"FAR_API_KEY", "PGOPTIONS", "LD_LIBRARY_PATH", "HOME"} & known.keys()

    def test_its_files_are_closed_whatever_the_umask(self, monkeypatch: pytest.MonkeyPatch) -> None:
        begun: list[int] = []
        real = server.Cluster.run

        def run(own: server.Cluster, program: str, *words: str, **more: Any) -> Any:
            begun.extend(path.stat().st_mode & 0o077 for path in own.folder.glob("new-*"))
            return real(own, program, *words, **more)

        monkeypatch.setattr(server.Cluster, "run", run)
        before = os.umask(0)
        try:
            with own_database("pg") as own:
                server.start(own)
                data = server.cluster_of(own).data
                open_to_others = [path.name for path in data.rglob("*") if path.lstat().st_mode & 0o077]
                assert data.stat().st_mode & 0o077 == 0
                assert begun == [0], "nobody reaches it before initdb closes it"
        finally:
            os.umask(before)
        assert set(open_to_others) <= {"ragbench.conf"}, "PostgreSQL closes its own; what is in ours is no secret"

    @pytest.mark.parametrize("kind", ["open to others", "of somebody else", "a link", "a file"])
    def test_a_socket_folder_that_is_not_its_own_is_refused(self, kind: str, tmp_path: Path) -> None:
        if kind == "of somebody else" and not server.is_root():
            pytest.skip("only root can give a folder away")
        own = server.Cluster(tmp_path / ("d" * server.LONGEST_SOCKET_PATH))
        own.folder.mkdir()
        folder = own.sockets
        assert folder != own.data
        user = server.server_user(own.folder) if server.is_root() else (os.getuid(), os.getgid())
        try:
            if kind == "a link":
                (tmp_path / "mine").mkdir(mode=0o700)
                folder.symlink_to(tmp_path / "mine")
            elif kind == "a file":
                folder.touch(0o600)
            else:
                folder.mkdir()
                folder.chmod(0o755 if kind == "open to others" else 0o700)
            if server.is_root():
                os.chown(folder, *((12345, 12345) if kind == "of somebody else" else user), follow_symlinks=False)
            with pytest.raises(StoreError, match="is not a private folder of uid"):
                own._make_socket_folder()
        finally:
            folder.unlink() if folder.is_symlink() or folder.is_file() else shutil.rmtree(folder)

    def test_a_failing_statement_shows_none_of_its_values(self, store: Store) -> None:
        with store.engine.connect() as connection, pytest.raises(DBAPIError) as caught:
            connection.execute(text("SELECT :secret, no_such_column"), {"secret": CANARY})
        assert "no_such_column" in str(caught.value)
        assert CANARY not in str(caught.value)

    def test_a_transaction_that_nobody_works_in_is_ended(self, database_settings: Settings, store: Store) -> None:
        short = database_settings.database.model_copy(update={"statement_seconds": 0.2})
        engine = connect(server.address(database_settings), short)
        with engine.connect() as idle:
            assert idle.execute(text("SHOW idle_in_transaction_session_timeout")).scalar_one() == "200ms"
            process = idle.execute(text("SELECT pg_backend_pid()")).scalar_one()
            there = "SELECT count(*) FROM pg_stat_activity WHERE pid = :process"
            with store.engine.connect() as watching:
                while watching.execute(text(there), {"process": process}).scalar_one():
                    watching.rollback()  # the test's own limit ends a wait that has no end
            idle.invalidate()
        engine.dispose()

    @pytest.mark.parametrize("table", ["chunks", "questions"])
    def test_our_own_schema_is_no_users_table(self, project: Path, store: Store, table: str) -> None:
        mine = '[databases.j.chunks]\ntable = "a"\n' if table == "questions" else ""
        add(project, f'[databases.j]\n{mine}[databases.j.{table}]\ntable = "journal"\nin_schema = "ragbench"\n')
        with Source.open("j", settings.load()) as source, pytest.raises(StoreError, match="is ragbench's own"):
            list(source.chunks() if table == "chunks" else source.questions())


METADATA = ("169.254.169.254", "169.254.0.1", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]",
            "100.100.100.200")  # fmt: skip


class TestLinkLocalAddresses:
    @pytest.mark.fault("metadata", tried="link-local addresses in each table of the settings", count=24)
    @pytest.mark.parametrize("host", METADATA)
    @pytest.mark.parametrize(
        "table",
        [
            '[judges.j]\nmodel = "m"\nbase_url = "{}"\n',
            '[providers.p]\nbase_url = "{}"\n',
            '[embedders.e]\nkind = "openai"\nmodel = "m"\nbase_url = "{}"\n',
            '[systems.s]\nids = "ids"\nurl = "{}"\n',
        ],
    )
    def test_they_are_refused_where_they_are_named(self, bare: Path, table: str, host: str) -> None:
        add(bare, table.format(f"http://{host}/latest"))
        with pytest.raises(ConfigurationError, match="link-local"):
            settings.load()

    @pytest.mark.parametrize("host", ["10.0.0.1", "127.0.0.1", "[::1]", "[fd00::1]", "192.168.1.1", "api.example"])
    def test_others_are_not(self, bare: Path, host: str) -> None:
        add(bare, f'[judges.j]\nmodel = "m"\nbase_url = "http://{host}/v1"\n')
        assert settings.load().judges["j"].base_url == f"http://{host}/v1"

    @pytest.mark.parametrize(
        "host",
        [
            "a.example\\\\.evil",
            "a.example:80\\\\.evil",
            "a\\tb",
            "a b",
            "a:0",
            "a:99999",
            "１２７.0.0.1",
            "a\\u202eb",
            "a%2eb",
        ],
    )
    @pytest.mark.parametrize("line", ['[judges.j]\nmodel = "m"\nbase_url', '[systems.s]\nids = "ids"\nurl'])
    def test_a_host_that_two_readers_may_take_for_two_is_none(self, bare: Path, line: str, host: str) -> None:
        add(bare, f'{line} = "http://{host}/v1"\n')
        with pytest.raises(ConfigurationError, match=r"a host, and perhaps its port, is expected|Port out of range"):
            settings.load()

    def test_what_the_client_takes_for_no_address_is_said(self) -> None:
        with pytest.raises(ConfigurationError, match=r"base_url = 'http://אa1\.example/v1': Invalid IDNA hostname"):
            ask("http://אa1.example/v1", ["a"], attempts=1)

    @pytest.mark.fault("metadata", tried="names that lead to link-local addresses, and redirects there", count=4)
    @pytest.mark.parametrize("name", ["metadata.google.internal", "rebound.example"])
    def test_a_name_that_leads_there_is_never_asked(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = resolving(monkeypatch)
        with pytest.raises(ModelError, match=r"169\.254\.169\.254 is link-local"):
            ask(f"http://{name}/v1", ["a"], attempts=1)
        url = urls.Url.of(f"http://{name}/data")
        storage, path = remotes.opened(url)
        with pytest.raises(RemoteError, match="link-local"), remotes.refusing(url, "read"):
            storage.cat_file(path)
        assert asked == [], "no socket was connected"

    def test_a_redirect_of_storage_leads_nowhere_either(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(302)
                self.send_header("Location", "http://169.254.169.254/latest")
                self.end_headers()

        asked = resolving(monkeypatch)
        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as near:
            threading.Thread(target=near.serve_forever, daemon=True).start()
            url = urls.Url.of(f"http://127.0.0.1:{near.server_port}/data")
            storage, path = remotes.opened(url)
            with pytest.raises(RemoteError, match="link-local"), remotes.refusing(url, "read"):
                storage.cat_file(path)
            near.shutdown()
        assert asked == []

    def test_figures_in_any_writing(self) -> None:
        written = [
            *("2852039166", "0xa9fea9fe", "0xA9.254.0251.254", "0251.0376.0251.0376", "169.254.43518", "169.16689662"),
            *("169.254.169.254.", "[::a9fe:a9fe]", "[::ffff:0:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "fe80::1%eth0"),
            *("[2002:a9fe:a9fe::1]", "[64:ff9b:1::a9fe:a9fe]", "[2001:0:4136:e378:8000:63bf:5601:5601]", "192.0.0.192"),
            *("１６９.２５４.１６９.２５４", "169。254。169｡254"),
        ]
        assert [host for host in (*METADATA, *written) if not urls.is_metadata(host)] == []
        others = ["2130706433", "0x7f000001", "08", "0", "a9fe", "1.2.3.4.5", "[2001:db8::a9fe:a9fe]", "9999999999"]
        assert [host for host in others if urls.is_metadata(host)] == []
        with pytest.raises(remotes.MetadataAddressError):
            remotes.guarded((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80)))


def resolving(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every name leads to the address of metadata; the connections that were made are given."""
    made: list[Any] = []

    async def resolve(self: Any, host: str, port: int = 0, family: Any = socket.AF_INET) -> list[dict[str, Any]]:
        place = {"hostname": host, "host": "169.254.169.254", "port": port, "family": socket.AF_INET}
        return [{**place, "proto": 0, "flags": socket.AI_NUMERICHOST}]

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", resolve)
    monkeypatch.setattr(aiohttp.DefaultResolver, "resolve", resolve)
    real = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: made.append(to) if "169.254" in str(to) else real(self, to)
    )
    return made


class TestKeysAndUrls:
    @pytest.mark.parametrize("written", [quote, quote_plus, lambda key: quote(key, safe="")])
    def test_a_key_is_masked_as_urls_write_it(
        self, written: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = "sk/9 x+Q=z&%7"
        monkeypatch.setenv("FAR_API_KEY", key)
        assert secrets.exact_masker()(f"GET /ask?key={written(key)}&k=5") == "GET /ask?key=••••&k=5"

    @pytest.mark.parametrize(
        "key",
        ["sk-proj-Ab3dEfGh1jKlMn0pQ", "wJalrXUtnFEMI/K7MDENG+bPxRfi==", "123E4567-E89B-12D3-A456", "pw-9x!7",
         "a'b\"c&d<e>f%g h1", "ключ-пароль-Ёж-77", "tail\\n\\\\with\\99"],
    )  # fmt: skip
    def test_a_key_is_masked_whoever_writes_it(self, key: str) -> None:
        """As other libraries write it: PHP, Go, .NET and XML escape other signs, or the same ones in another way."""
        escaped = json.dumps(key)[1:-1]
        long = len(key) >= secrets.LONG
        ways = [
            key, escaped, json.dumps(escaped)[1:-1], escaped.replace("/", "\\/"), repr(key)[1:-1],
            quote(quote(key, "")),
            "".join(sign if sign.isalnum() and sign.isascii() else f"&#{ord(sign)};" for sign in key),
            "".join(sign if sign.isalnum() and sign.isascii() else f"&amp;#x{ord(sign):X};" for sign in key),
            "".join(sign if sign.isalnum() or sign == "\\" else f"\\u{ord(sign):04X}" for sign in key),
            re.sub("%..", lambda code: code[0].lower(), quote(key, "")), *((key.lower(), key.upper()) if long else ()),
        ]  # fmt: skip
        own = key.encode()
        if long:
            ways += [b64encode(own).decode(), urlsafe_b64encode(own).decode(), own.hex(), own.hex().upper(),
                     "".join(f"%{byte:02X}" for byte in own)]  # fmt: skip
        mask = secrets.masker_of(key)
        for before, after in product(("", "a", "me", "you:", "ключ "), ("", "x", "\r\n")) if long else ():
            for encode in (b64encode, urlsafe_b64encode):  # as in "Basic …", which has the user's name, too
                kept = mask(encode(before.encode() + own + after.encode()).decode()).partition("••••")
                assert kept[1]
                assert len(kept[0]) <= len(before.encode()) * 8 / 6 + 1
                assert len(kept[2].rstrip("=")) <= 2
        assert [way for way in ways if mask(f"it is <{way}>.") != "it is <••••>."] == []
        assert mask(words := f"Of {key[: len(key) // 2]} nothing is told.") is words

    @pytest.mark.parametrize(
        "url", ["s3://bucket/kb::http://evil.example/x", "file:///data::zip", "https://host/a::b", "memory://a::b/c"]
    )
    def test_no_url_is_made_of_several(self, url: str) -> None:
        with pytest.raises(ValueError, match="none is made of several"):
            urls.Url.of(url)


def test_a_kernel_runs_no_startup_file_of_its_user(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    startup = project / "home" / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "0.py").write_text(f"open({str(project / CANARY)!r}, 'w')", encoding="utf-8")
    monkeypatch.setenv("HOME", str(project / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(project / "home" / ".ipython"))
    cell = nbformat.v4.new_code_cell("import os\nopen('folder', 'w').write(os.environ['IPYTHONDIR'])", id="one")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), project / "mine.ipynb")
    assert not report.run(["mine.ipynb"], {}).failures
    (made,) = [path for path in project.rglob("folder") if path.is_file()]
    assert "ragbench-" in made.read_text(encoding="utf-8"), "a folder of its own"
    assert not (project / CANARY).exists()
