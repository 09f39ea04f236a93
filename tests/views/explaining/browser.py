"""A real headless Chromium, spoken to over a pipe in its own protocol: no driver and no library is needed for that."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PHONE = {"width": 360, "height": 780, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1000, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def found():
    """Where Chromium is, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of one browser."""

    def __init__(self, process, to_browser, from_browser):
        self._process, self._to, self._from = process, to_browser, from_browser
        self._count, self._waiting = 0, b""
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Ask for something, and wait for the answer; what happens meanwhile is kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._waiting:
            more = self._from.read1(1 << 16)
            assert more, "the browser has gone"
            self._waiting += more
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)

    def until(self, method):
        """Wait for an event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def open(self, path, screen, scheme="light"):
        """Open a file on a screen of some size, in light or dark."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.as_uri())
        self.until("Page.loadEventFired")

    def value(self, script):
        """What an expression is, in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def press(self, key, code=0):
        """Press a key and let it go."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": "\r" if key == "Enter" else ""}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def complaints(self):
        """What the page said to its console, and what it asked the network for beside itself."""
        said = [
            e
            for e in self.events
            if e.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        ]
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return said + [url for url in asked if not url.startswith("file:")]

    def screenshot(self):
        """The whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def print(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])


@contextlib.contextmanager
def browser():
    """Start Chromium, and end it."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
        # Chromium reads from descriptor 3 and writes to 4; the shell puts them there.
        script = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
        process = subprocess.Popen(
            ["bash", "-c", script, str(found()), *options, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        with os.fdopen(to_write, "wb") as to_browser, os.fdopen(from_read, "rb") as from_browser:
            yield Browser(process, to_browser, from_browser)
            process.terminate()
            process.wait()
