"""A WebSocket client of the standard library alone (RFC 6455), polite by default and rude on request: the tests of `tessera serve` speak through it."""
import base64
import hashlib
import json
import os
import resource
import socket
import ssl
import struct
import subprocess
import time
import urllib.parse

# Seconds after which what must happen has not happened: far more than it takes, for machines that do other work, too. What must be quick is compared with something else.
PATIENCE = 120


class Server:
    """`tessera serve` (or another verb) on a free port of this machine; `trusted` is the certificate that an https server must show."""

    def __init__(self, tessera, *arguments, trusted=None, verb=("serve",)):
        # Where memory is measured, what was freed must not be kept: AddressSanitizer would, 256 MiB of it.
        options = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=16:" + os.environ.get("ASAN_OPTIONS", "")}
        self.process = subprocess.Popen([tessera, *verb, *arguments, *([] if "--port" in arguments else ["--port", "0"])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=options)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("tessera serve: " + self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.url)
        self.scheme, self.host, self.port, self.path = parts.scheme, parts.hostname, parts.port, parts.path
        self.tls = ssl.create_default_context(cafile=trusted) if trusted else None

    def connect(self, timeout):
        plain = socket.create_connection((self.host, self.port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as browsers do
        return self.tls.wrap_socket(plain, server_hostname=self.host) if self.tls else plain

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def alive(self):
        return self.process.poll() is None

    def get(self, path, method="GET", timeout=PATIENCE, host=None):
        """Status and body; path as it is, nothing is normalised on the way. `host`: another name to ask for."""
        with self.connect(timeout) as s:
            s.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host or f'{self.host}:{self.port}'}\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            try:
                while piece := s.recv(65536):
                    answer += piece
            except ConnectionResetError:
                pass
        head, _, body = answer.partition(b"\r\n\r\n")
        words = head.split()
        return (int(words[1]) if len(words) > 1 else 0), body

    def work(self):
        """Seconds of processors that it has taken: what else the machine does is not in it."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err

    def work_to_stop(self):
        """Ends it well; the seconds of processors that the end took."""
        children, begun = resource.getrusage(resource.RUSAGE_CHILDREN), self.work()
        code, errors = self.stop()
        assert code == 0 and not errors, f"exit code {code}: {errors}"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime - begun


class Refused(Exception):
    """The server closed the connection or did not open it."""


class Page:
    """One page without a browser. Keeps the newest of everything the server said."""

    def __init__(self, server, path=None, timeout=PATIENCE, host=None, origin=None):
        self.state = self.driver = self.histogram = None
        self.texts, self.frames, self.counts = [], {}, {"source": 0, "speed": 0, "volume": 0, "second": 0, "third": 0}
        self.rest = b""
        self.closed = None
        self.socket = server.connect(timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        path = path if path is not None else server.path + "socket"
        more = f"Origin: {origin}\r\n" if origin is not None else ""
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host or f'{server.host}:{server.port}'}\r\n{more}Upgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                piece = self.socket.recv(4096)
                if not piece:
                    break
                head += piece
        except ConnectionResetError:
            pass
        expected = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if b" 101 " not in head.split(b"\r\n")[0] or expected not in head:
            self.socket.close()
            raise Refused(head.split(b"\r\n")[0].decode(errors="replace"))
        self.rest = head.partition(b"\r\n\r\n")[2]

    def raw(self, data):
        self.socket.sendall(data)

    @staticmethod
    def framed(payload, opcode=1, final=True, mask=True):
        head = bytes([(0x80 if final else 0) | opcode])
        flag = 0x80 if mask else 0
        n = len(payload)
        head += bytes([flag | n]) if n < 126 else bytes([flag | 126]) + struct.pack(">H", n) if n < 65536 else bytes([flag | 127]) + struct.pack(">Q", n)
        key = os.urandom(4)
        body = bytes(b ^ key[i % 4] for i, b in enumerate(payload)) if mask else payload
        return head + (key if mask else b"") + body

    def frame(self, payload, opcode=1, final=True, mask=True):
        self.raw(self.framed(payload, opcode, final, mask))

    def send(self, **message):
        self.frame(json.dumps(message).encode())

    def need(self, n):
        while len(self.rest) < n:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Refused("closed")
            self.rest += piece
        data, self.rest = self.rest[:n], self.rest[n:]
        return data

    def read(self, acknowledge=True):
        """One message: taken in; its type."""
        first, second = self.need(2)
        n = second & 127
        if n == 126:
            n = struct.unpack(">H", self.need(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", self.need(8))[0]
        data, opcode = self.need(n), first & 15
        if opcode == 8:
            self.closed = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
            raise Refused(f"closed with {self.closed}")
        if opcode == 9:
            self.frame(data, 10)
            return "ping"
        if opcode == 2:
            return self.picture(data, acknowledge)
        message = json.loads(data)
        kind = message["type"]
        if kind in ("state", "driver", "histogram"):
            setattr(self, kind, message)
        else:
            self.texts.append(message)
        return kind

    def picture(self, data, acknowledge):
        magic, version, view, draft = data[:4], data[4], data[5], data[6]
        assert magic == b"TSRF" and version == 1 and view < 5, data[:8]
        numbers = struct.unpack_from("<7I11f", data, 8)
        name = ("source", "speed", "volume", "second", "third")[view]
        self.frames[name] = {"draft": draft, "sequence": numbers[0], "width": numbers[1], "height": numbers[2], "view_input": numbers[3],
                             "edit_input": numbers[4], "steps": numbers[5] + (numbers[6] << 32), "origin": numbers[7:10], "right": numbers[10:13],
                             "down": numbers[13:16], "milliseconds": numbers[17], "jpeg": data[96:]}
        assert data[96:98] == b"\xff\xd8" and data[-2:] == b"\xff\xd9", "the payload is a whole JPEG file"
        self.counts[name] += 1
        if acknowledge:
            self.send(type="shown", view=name, sequence=numbers[0])
        return "frame"

    def until(self, condition, seconds=PATIENCE, what="what was waited for"):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"after {seconds} s still not: {what}; state {self.state}; texts {self.texts[-3:]}")
            self.socket.settimeout(max(0.05, end - time.monotonic()))
            try:
                self.read()
            except TimeoutError:
                pass

    def drives(self):
        """Waits until it is the one that drives: those of the tests before have been noticed to be gone."""
        self.until(lambda: self.driver and self.driver["driver"] == self.driver["you"], what="the controls")

    def errors(self):
        return [t["text"] for t in self.texts if t["type"] == "error"]

    def expect_error(self, words, **message):
        before = len(self.errors())
        self.send(**message)
        self.until(lambda: len(self.errors()) > before, what=f"an error with '{words}'")
        assert words in self.errors()[-1], (words, self.errors()[-1])

    def close(self):
        self.socket.close()
