"""A WebDriver client of the standard library alone: what the browser test needs of the W3C protocol."""
import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    """Headless Chromium behind chromedriver. `Browser.missing()` says what is not installed."""

    @staticmethod
    def missing():
        lacking = [name for name, paths in (("chromium", ("chromium", "chromium-browser", "google-chrome")), ("chromedriver", ("chromedriver",)))
                   if not any(shutil.which(p) for p in paths)]
        return ", ".join(lacking)

    def __init__(self, width, height):
        self.port = free_port()
        self.session = None
        self.process = subprocess.Popen([shutil.which("chromedriver"), f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
                     f"--window-size={width},{height}", "--no-first-run", "--disable-extensions", "--disable-background-networking"]
        for _ in range(200):
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
        value = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"binary": binary, "args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = value["sessionId"]
        self.size(width, height)

    def size(self, width, height):
        """The page itself is width x height, whatever the window's frame takes."""
        inner, outer = self.script("return [innerWidth, innerHeight]"), self.command("GET", "/window/rect")
        self.command("POST", "/window/rect", {"width": width + outer["width"] - inner[0], "height": height + outer["height"] - inner[1]})

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def command(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    def script(self, text, *arguments):
        return self.command("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def until(self, text, seconds, what, *arguments):
        """Waits for a script to return something true. `seconds` is what a quiet machine takes at most."""
        seconds *= 4
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.script(text, *arguments)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"after {seconds} s still not: {what}; page says: {self.script('return document.getElementById(`messages`).innerText')!r}")

    def click(self, selector):
        element = next(iter(self.command("POST", "/element", {"using": "css selector", "value": selector}).values()))
        self.command("POST", f"/element/{element}/click", {})

    def drag(self, points, button=0, pause=40):
        """Real mouse input through page coordinates."""
        moves = [{"type": "pointerMove", "duration": pause, "x": round(x), "y": round(y)} for x, y in points]
        actions = [moves[0], {"type": "pointerDown", "button": button}, *moves[1:], {"type": "pause", "duration": pause}, {"type": "pointerUp", "button": button}]
        self.command("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def move(self, points, pause=40):
        """The mouse without a button."""
        actions = [{"type": "pointerMove", "duration": pause, "x": round(x), "y": round(y)} for x, y in points]
        self.command("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def keys(self, text):
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    def log(self):
        """Errors of the page's console."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def close(self):
        try:
            if self.session:
                self.command("DELETE", "")
        except (OSError, RuntimeError, urllib.error.URLError):
            pass
        self.process.terminate()
        self.process.wait(10)
