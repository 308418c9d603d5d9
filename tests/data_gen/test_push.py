"""Exactly the unchanged files of the manifest are pushed, to a small server that speaks the protocol of the Hub."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from data_gen.data_set import MANIFEST
from data_gen.push import checked_files, main
from eval.config import ConfigError


class Hub(ThreadingHTTPServer):
    """A Hub with one repository at most; it takes every file inline."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.private: bool | None = None
        """Of the repository that is there, None where there is none."""
        self.files: dict[str, bytes] = {}
        self.refuses = False


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.refuses or self.headers.get("Authorization") != "Bearer hf_test":
            return self._answer(401, {"error": "Invalid username or password."})
        if self.path == "/api/repos/create":
            if self.server.private is not None:
                return self._answer(409, {"error": "You already created this dataset repo", "url": self._url})
            self.server.private = json.loads(body).get("visibility") == "private"
            return self._answer(200, {"url": self._url, "name": "me/ferns"})
        if self.path.endswith("/preupload/main"):
            named = [{"path": file["path"], "uploadMode": "regular"} for file in json.loads(body)["files"]]
            return self._answer(200, {"files": [{**file, "shouldIgnore": False} for file in named]})
        if self.path.endswith("/commit/main"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            done = {"commitUrl": f"{self._url}/commit/0", "commitOid": "0", "pullRequestUrl": None}
            return self._answer(200, {"success": True, **done})
        return self._answer(200, {"errors": [], "warnings": []})  # the check of a card's header

    def do_GET(self) -> None:
        repository = {"id": "me/ferns", "sha": "0", "private": self.server.private, "siblings": []}
        self._answer(200, repository)

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/datasets/me/ferns"

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished data set folder, with an extra file that does not belong to it."""
    import hashlib

    path = tmp_path / "ferns"
    (path / "work").mkdir(parents=True)
    (path / "work" / "made.jsonl").write_text("secret")
    (path / "notes.txt").write_text("mine")
    files = {"conversations.jsonl": '{"task": "collab"}\n', "README.md": "---\nlicense: mit\n---\n# ferns\n"}
    for name, text in files.items():
        (path / name).write_text(text)
    hashes = {name: {"sha256": hashlib.sha256(text.encode()).hexdigest()} for name, text in files.items()}
    (path / MANIFEST).write_text(json.dumps({"files": hashes}))
    return path


def run(folder: Path, port: int, *extra: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"} | variables
    environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_TOKEN": "hf_test"}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": str(folder.parent / "home")}
    command = [sys.executable, "-m", "data_gen.push", "--data", str(folder), "--repo", "me/ferns", *extra]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def test_the_named_files_and_the_manifest_are_sent_and_nothing_else(folder: Path, hub: Hub) -> None:
    done = run(folder, hub.server_port, "--private")
    assert done.returncode == 0, done.stderr
    assert hub.private is True
    assert hub.files.keys() == {"conversations.jsonl", "README.md", MANIFEST}
    assert all(content == (folder / name).read_bytes() for name, content in hub.files.items())
    assert done.stdout.startswith(
        "3 files, 0.0 MB, to datasets/me/ferns: conversations.jsonl, README.md, manifest.json"
    )
    assert done.stdout.rstrip().endswith("/datasets/me/ferns/commit/0")


def test_a_dry_run_sends_nothing(folder: Path, hub: Hub) -> None:
    done = run(folder, hub.server_port, "--dry-run")
    assert done.returncode == 0 and "3 files" in done.stdout
    assert hub.private is None and not hub.files


def test_a_private_data_set_is_not_pushed_to_a_public_repository(folder: Path, hub: Hub) -> None:
    hub.private = False
    done = run(folder, hub.server_port, "--private")
    assert done.returncode == 2 and "me/ferns already exists and is public" in done.stderr and not hub.files
    assert run(folder, hub.server_port).returncode == 0 and hub.files


def test_a_rejection_by_the_hub_gives_a_one_line_error(folder: Path, hub: Hub) -> None:
    hub.refuses = True
    done = run(folder, hub.server_port)
    assert done.returncode == 2 and "uploading to me/ferns failed" in done.stderr and "hf auth login" in done.stderr
    assert "Traceback" not in done.stderr and not hub.files


@pytest.mark.parametrize("variables", [{}, {"HF_HUB_OFFLINE": "1"}], ids=["no server", "offline mode"])
def test_a_hub_that_cannot_be_reached_gives_a_one_line_error(folder: Path, variables: dict[str, str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    done = run(folder, port, **variables)
    assert done.returncode == 2 and done.stderr.startswith("error: uploading to me/ferns failed (")
    assert "check the network" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_folder_that_is_not_finished_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--repo", "me/ferns"]) == 2
    assert "not a finished data set" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["me/../ferns", "me ferns/x", "me/ferns/x", "https://huggingface.co/me/ferns", "ferns", ""]
)
def test_a_dry_run_rejects_an_invalid_repository_name(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(folder), "--repo", name, "--dry-run"]) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"error: --repo {name!r}") and "ORG/NAME" in output.err and not output.out


def test_a_file_that_was_changed_is_refused(folder: Path) -> None:
    assert checked_files(folder) == ["conversations.jsonl", "README.md", MANIFEST]
    (folder / "README.md").write_text("# other\n")
    with pytest.raises(ConfigError, match=r"README\.md was changed after it was written"):
        checked_files(folder)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"files": {"../x": {"sha256": ""}}}', '{"files": {"no.jsonl": {"sha256": ""}}}']
)
def test_an_invalid_manifest_is_rejected(folder: Path, content: str) -> None:
    (folder / MANIFEST).write_text(content)
    with pytest.raises(ConfigError, match=r"is not a valid data set manifest|which is not a file of"):
        checked_files(folder)
