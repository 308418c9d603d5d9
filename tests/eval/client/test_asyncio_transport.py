from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest

from eval.client import asyncio_transport
from eval.client.asyncio_transport import AsyncioTransport

HEAD = b"HTTP/1.1 200 OK\r\n"
WHOLE = HEAD + b"Content-Length: 5\r\n\r\nhello"
ZIPPED = gzip.compress(b"hello", mtime=0)


class Scripted:
    """A server that answers the n-th request of all with the n-th response, raw; None closes without one."""

    def __init__(self, responses: list[bytes | None], certificates: ssl.SSLContext | None = None) -> None:
        self.responses, self.certificates = responses, certificates
        self.requests: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.responses:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                response = self.responses.pop(0)
                if response is None or b"connection: close" in response.lower() or b"HTTP/1.0" in response:
                    writer.write(response or b"")
                    break
                writer.write(response)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def run(
    server: Scripted,
    work: Callable[[httpx2.AsyncClient, str], Awaitable[None]],
    trusted: ssl.SSLContext | None = None,
) -> None:
    async def main() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=server.certificates)
        scheme = "https" if server.certificates else "http"
        url = f"{scheme}://localhost:{listening.sockets[0].getsockname()[1]}/v1/x?y=1"
        transport = AsyncioTransport(trusted)
        async with httpx2.AsyncClient(transport=transport, timeout=None) as client:
            await asyncio.wait_for(work(client, url), 60)
        listening.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "response",
    [
        WHOLE,
        b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;x=1\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n",
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(ZIPPED), ZIPPED),
        HEAD + b"Connection: close\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200\r\nContent-Length:5\r\n\r\nhello",
    ],
)
def test_a_response_is_read_however_its_end_is_marked(response: bytes) -> None:
    server = Scripted([response, response])

    async def work(client: httpx2.AsyncClient, url: str) -> None:
        for _ in range(2):
            reply = await client.post(url, content=b"abc", headers={"X-Y": "z"})
            assert (reply.status_code, reply.text) == (200, "hello")

    run(server, work)
    assert server.requests[0].startswith(b"POST /v1/x?y=1 HTTP/1.1\r\n") and server.requests[0].endswith(b"\r\n\r\nabc")
    assert b"x-y: z" in server.requests[0].lower() and b"host: localhost" in server.requests[0].lower()
    assert server.connections == (2 if b"close" in response or b"1.0" in response else 1)


def test_a_connection_carries_one_request_at_a_time_and_is_used_again() -> None:
    server = Scripted([WHOLE] * 40)

    async def work(client: httpx2.AsyncClient, url: str) -> None:
        for _ in range(4):
            replies = await asyncio.gather(*(client.post(url, content=b"abc") for _ in range(10)))
            assert [reply.text for reply in replies] == ["hello"] * 10

    run(server, work)
    assert server.connections == 10


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (None, httpx2.ReadError),
        (WHOLE[:-2] + b"", None),
        (b"SSH-2.0-OpenSSH\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 ok\r\n\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"Content-Length: many\r\n\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"no colon\r\n\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"X: " + b"a" * 300_000 + b"\r\n\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"Content-Length: 9\r\nConnection: close\r\n\r\nhello", httpx2.ReadError),
    ],
)
def test_what_is_no_response_is_an_error_and_its_connection_is_not_used_again(
    response: bytes | None, error: type[Exception] | None
) -> None:
    server = Scripted([response, WHOLE])

    async def work(client: httpx2.AsyncClient, url: str) -> None:
        if error is None:  # it never ends: cancelled
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.post(url, content=b"abc"), 0.1)
        else:
            with pytest.raises(error):
                await client.post(url, content=b"abc")
        assert (await client.post(url, content=b"abc")).text == "hello"

    run(server, work)
    assert server.connections == 2


def test_a_connection_that_the_server_has_closed_meanwhile_is_not_used() -> None:
    server = Scripted([WHOLE, WHOLE])

    async def work(client: httpx2.AsyncClient, url: str) -> None:
        server.responses = [WHOLE]
        await client.post(url, content=b"abc")  # the script has ended, so the server closes
        await asyncio.sleep(0.05)
        server.responses = [WHOLE]
        assert (await client.post(url, content=b"abc")).text == "hello"

    run(server, work)
    assert server.connections == 2


def test_nobody_there_is_an_error_of_its_own() -> None:
    async def work(client: httpx2.AsyncClient, url: str) -> None:
        with pytest.raises(httpx2.ConnectError, match=r"127\.0\.0\.1:1"):
            await client.post("http://127.0.0.1:1/v1", content=b"abc")

    run(Scripted([]), work)


def test_a_connection_that_is_not_made_in_time_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio_transport, "CONNECT_S", 0.05)

    async def work(client: httpx2.AsyncClient, url: str) -> None:
        with pytest.raises(httpx2.ConnectError, match=r"localhost:\d+"):  # it waits for a request, not for a handshake
            await client.post(url.replace("http:", "https:"), content=b"abc")

    run(Scripted([WHOLE]), work)


def test_a_certificate_is_checked(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=DNS:localhost"], cwd=tmp_path, check=True, capture_output=True
    )
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    async def trusting(client: httpx2.AsyncClient, url: str) -> None:
        assert (await client.post(url, content=b"abc")).text == "hello"
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            await client.post(url.replace("localhost", "127.0.0.1"), content=b"abc")

    async def distrusting(client: httpx2.AsyncClient, url: str) -> None:
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            await client.post(url, content=b"abc")

    run(Scripted([WHOLE], own), trusting, ssl.create_default_context(cafile=str(tmp_path / "cert.pem")))
    run(Scripted([WHOLE], own), distrusting)
