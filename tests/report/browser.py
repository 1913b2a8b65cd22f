"""A headless Chromium for tests, controlled through a pair of pipes with the DevTools protocol."""

import base64
import fcntl
import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT = 60.0
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
# Chromium reads commands from descriptor 3 and answers on 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
KEYS = {"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Home": 36, "Tab": 9}


def chromium_path() -> str | None:
    """The path of Chromium, if it is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in one browser. Errors and requests of the page are collected."""

    def __init__(self, path: str, profile: Path) -> None:
        self._read, answers = _high_pipe()
        commands, self._write = _high_pipe()
        launch = [
            sys.executable,
            "-c",
            LAUNCH,
            str(commands),
            str(answers),
            path,
            *OPTIONS,
            f"--user-data-dir={profile}",
        ]
        silent: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        self._process = subprocess.Popen(launch, pass_fds=(commands, answers), **silent)
        os.close(commands)
        os.close(answers)
        self._unread, self._count, self._session = b"", 0, None
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser; it is waited for, and ended by force if it will not."""
        try:
            self._session = None
            self.send("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._read)
            os.close(self._write)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path: Path, *, width: int = 1000, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Load a file at a size, in light or dark, on screen or on paper; forget what earlier pages did."""
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.problems, self.requests, self._loaded = [], [], False
        self.send("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._next_message()

    def resize(self, width: int, height: int) -> None:
        """The size of the screen; a narrow one is that of a phone."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def run(self, expression: str) -> Any:
        """The value of a script."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = KEYS[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code}
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse, once it is in sight."""
        find = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{find}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({find}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path: Path) -> None:
        """All of the page, as a PNG file."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self) -> bytes:
        """The page as it would be printed."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _next_message(self) -> dict[str, Any]:
        """The next answer or event; events are noted."""
        while b"\0" not in self._unread:
            self._unread += self._more()
        text, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _more(self) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            begun = time.monotonic()
            if not selector.select(TIMEOUT):
                raise TimeoutError(f"No answer from the browser for {time.monotonic() - begun:.0f} seconds.")
        part = os.read(self._read, 1 << 16)
        if not part:
            raise EOFError("The browser has gone.")
        return part

    def _note(self, method: str, found: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(found["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(f"console: {found['args']}")
        elif method == "Log.entryAdded":
            self.problems.append(found["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {found['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])


def _high_pipe() -> tuple[int, int]:
    """A pipe with descriptors above those that Chromium uses."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(end)
    return ends[0], ends[1]
