"""A headless Chromium for tests of pages, controlled over two pipes with the DevTools protocol, using only
Python's standard library."""

import base64
import fcntl
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SECONDS = 60  # timeout of any answer


class Browser:
    """One page. `complaints` contains its errors, `asked` its network requests."""

    def __init__(self, profile):
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4, which may be in use.
        high = [fcntl.fcntl(item, fcntl.F_DUPFD, 10) for item in (to_read, to_write)]
        self.process = subprocess.Popen(
            [
                PROGRAM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            preexec_fn=lambda: [os.dup2(item, number) for item, number in zip(high, (3, 4))],
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for item in high:
            os.close(item)
        os.close(to_read)
        os.close(to_write)
        self.numbers = itertools.count(1)
        self.held, self.session, self.complaints, self.asked, self.events = b"", None, [], [], []
        pages = [
            target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"
        ]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.to)
        os.close(self.answers)

    def message(self, until):
        while b"\0" not in self.held:
            assert select.select([self.answers], [], [], max(0, until - time.monotonic()))[0], (
                "the browser does not answer"
            )
            more = os.read(self.answers, 1 << 20)
            assert more, "the browser has ended"
            self.held += more
        item, self.held = self.held.split(b"\0", 1)
        return json.loads(item)

    def note(self, event):
        method, told = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(told["args"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(told["request"]["url"])
        self.events.append(method)

    def call(self, method, **parameters):
        number, until = next(self.numbers), time.monotonic() + SECONDS
        command = {
            "id": number,
            "method": method,
            "params": parameters,
            **({"sessionId": self.session} if self.session else {}),
        }
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while (answer := self.message(until)).get("id") != number:
            self.note(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, path, width=1200, height=900, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        until = time.monotonic() + SECONDS
        while "Page.loadEventFired" not in self.events:
            self.note(self.message(until))

    def value(self, expression):
        """The value of a JavaScript expression."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key, code=0):
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=""
            )

    def drag(self, begin, end):
        self.call(
            "Input.dispatchMouseEvent",
            type="mousePressed",
            x=begin[0],
            y=begin[1],
            button="left",
            buttons=1,
            clickCount=1,
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], button="left", buttons=1)
        self.call(
            "Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1
        )

    def picture(self, path, whole=True):
        pathlib.Path(path).write_bytes(
            base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        )

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
