"""A client of the language server protocol: the part that an editor needs to ask rust-analyzer."""

import json
import os
import queue
import subprocess
import threading
import time
import urllib.parse

# Error codes of requests that an edit interrupted; the request must be repeated.
CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802


class ServerError(Exception):
    """The server died, or did not answer in time."""


class RequestError(Exception):
    """The server refused to answer."""


class Client:
    """One server on one project. Every wait ends at the deadline of the constructor."""

    def __init__(self, root, seconds, log):
        self.root = os.path.realpath(root)
        self.deadline = time.monotonic() + seconds
        self.texts = {}
        self.ids = 0
        self.incoming = queue.Queue()
        self.quiescent = False
        self.health = "ok"
        self.messages = []
        self.server = subprocess.Popen(
            ["rust-analyzer"], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        threading.Thread(target=self._read, daemon=True).start()

    def load(self):
        """Opens the project, and waits until it is indexed."""
        capabilities = {
            "experimental": {"serverStatusNotification": True},
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {
                "definition": {"linkSupport": True},
                "hover": {"contentFormat": ["markdown"]},
                "rename": {"prepareSupport": True},
                "diagnostic": {},
            },
            "workspace": {"workspaceEdit": {"documentChanges": True}},
        }
        options = {"checkOnSave": False, "cachePriming": {"enable": False}}
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.uri("."),
                "workspaceFolders": [{"uri": self.uri("."), "name": "project"}],
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        while not self.quiescent:
            self._handle(self._receive("loading the project"))

    def stop(self):
        self.server.kill()
        self.server.wait()

    # Messages.

    def _read(self):
        stream = self.server.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length == 0:
                self.incoming.put(None)
                return
            self.incoming.put(json.loads(stream.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.server.stdin.flush()
        except BrokenPipeError:
            raise ServerError("rust-analyzer has ended") from None

    def _receive(self, waiting_for):
        try:
            message = self.incoming.get(timeout=max(0, self.deadline - time.monotonic()))
        except queue.Empty:
            raise ServerError(f"no answer in time: {waiting_for}") from None
        if message is None:
            raise ServerError(f"rust-analyzer has ended while it was asked: {waiting_for}")
        return message

    def _handle(self, message):
        """Handles a message that the server sends by itself."""
        method = message.get("method")
        if method == "experimental/serverStatus":
            self.quiescent = message["params"]["quiescent"]
            self.health = message["params"]["health"]
            if text := message["params"].get("message"):
                self.messages.append(text)
        if method and "id" in message:
            # Requests of the server, for example to show progress, which this client does not show.
            self._send({"id": message["id"], "result": None})

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def request(self, method, params):
        """Returns the result; repeats the request if an edit interrupted it."""
        while True:
            self.ids += 1
            self._send({"id": self.ids, "method": method, "params": params})
            while True:
                message = self._receive(method)
                if message.get("id") == self.ids and "method" not in message:
                    break
                self._handle(message)
            error = message.get("error")
            if error is None:
                return message["result"]
            if error["code"] not in (CONTENT_MODIFIED, SERVER_CANCELLED):
                raise RequestError(error["message"])

    # Files.

    def uri(self, file):
        return "file://" + urllib.parse.quote(os.path.normpath(os.path.join(self.root, file)))

    def file(self, uri):
        """Returns the path relative to the project, for people."""
        return os.path.relpath(urllib.parse.unquote(uri.removeprefix("file://")), self.root)

    def open(self, file):
        with open(os.path.join(self.root, file), encoding="utf-8") as source:
            text = source.read()
        self.texts[file] = text
        document = {"uri": self.uri(file), "languageId": "rust", "version": 0, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return text

    def change(self, file, text):
        self.ids += 1
        document = {"uri": self.uri(file), "version": self.ids}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        self.texts[file] = text
