"""The kinds of questions: their requests, and the checks of their answers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A position in a file: a unique snippet with `$0` at the position."""

    file: str
    snippet: str

    def find(self, text):
        """Returns line and column, from 0; the column counts bytes."""
        before, after = self.snippet.split("$0")
        if (count := text.count(before + after)) != 1:
            raise ValueError(f"{self.snippet!r} occurs {count} times in {self.file}")
        offset = text.index(before + after) + len(before)
        line_start = text.rfind("\n", 0, offset) + 1
        return text.count("\n", 0, offset), len(text[line_start:offset].encode())

    def position(self, client):
        line, column = self.find(client.texts[self.file])
        document = {"uri": client.uri(self.file)}
        return {"textDocument": document, "position": {"line": line, "character": column}}

    def show(self, client):
        line, column = self.find(client.texts[self.file])
        return f"{self.file}:{line + 1}:{column + 1}"


def show_range(client, uri, range_):
    start = range_["start"]
    return f"{client.file(uri)}:{start['line'] + 1}:{start['character'] + 1}"


@dataclass
class Answer:
    """The received answer, and the wanted answer."""

    got: list
    wanted: list
    ok: bool


def exactly(got, wanted):
    return Answer(sorted(got), sorted(wanted), sorted(got) == sorted(wanted))


@dataclass
class Definition:
    """The answer is exactly one place."""

    what: str
    at: Place
    target: Place

    def ask(self, client):
        links = client.request("textDocument/definition", self.at.position(client)) or []
        got = [show_range(client, link["targetUri"], link["targetSelectionRange"]) for link in links]
        return exactly(got, [self.target.show(client)])


@dataclass
class Hover:
    """The answer shows these texts, each once."""

    what: str
    at: Place
    texts: list

    def ask(self, client):
        hover = client.request("textDocument/hover", self.at.position(client)) or {}
        shown = hover.get("contents", {}).get("value", "")
        got = [text for text in self.texts for _ in range(shown.count(text))]
        return Answer(got, self.texts, got == self.texts)


@dataclass
class References:
    """The answer has these places, including the definition."""

    what: str
    at: Place
    places: list

    def ask(self, client):
        params = {**self.at.position(client), "context": {"includeDeclaration": True}}
        found = client.request("textDocument/references", params) or []
        got = [show_range(client, location["uri"], location["range"]) for location in found]
        return exactly(got, [place.show(client) for place in self.places])


@dataclass
class Rename:
    """The answer changes these places to the new name."""

    what: str
    at: Place
    places: list

    def ask(self, client):
        params = {**self.at.position(client), "newName": "renamed"}
        change = client.request("textDocument/rename", params) or {}
        got = [
            show_range(client, document["textDocument"]["uri"], edit["range"])
            for document in change.get("documentChanges", [])
            for edit in document["edits"]
            if edit["newText"] == "renamed"
        ]
        return exactly(got or [str(change)], [place.show(client) for place in self.places])


class Edited:
    """A question after an edit, which replaces `old` with the snippet of the place."""

    def ask(self, client):
        file, snippet = self.at.file, self.at.snippet.replace("$0", "")
        saved = client.texts[file]
        if self.old:
            Place(file, "$0" + self.old).find(saved)
            client.change(file, saved.replace(self.old, snippet))
        try:
            return self.ask_edited(client)
        finally:
            client.change(file, saved)


@dataclass
class Completion(Edited):
    """The answer offers at least these names."""

    what: str
    at: Place
    old: str
    names: list

    def ask_edited(self, client):
        offered = client.request("textDocument/completion", self.at.position(client)) or {"items": []}
        labels = {item["label"].split("(")[0] for item in offered["items"]}
        got = [name for name in self.names if name in labels]
        return Answer(got or sorted(labels)[:8], self.names, got == self.names)


@dataclass
class Diagnostics(Edited):
    """The answer shows errors that begin with these words, before the file is saved."""

    what: str
    at: Place
    old: str
    texts: list

    def ask_edited(self, client):
        self.at.position(client)
        document = {"textDocument": {"uri": client.uri(self.at.file)}}
        shown = client.request("textDocument/diagnostic", document)["items"]
        got = [item["message"] for item in shown]
        ok = len(got) == len(self.texts) and all(map(str.startswith, got, self.texts))
        return Answer(got or ["none"], self.texts, ok)


@dataclass
class Signature:
    """The answer shows this signature inside a call."""

    what: str
    at: Place
    label: str

    def ask(self, client):
        help_ = client.request("textDocument/signatureHelp", self.at.position(client)) or {"signatures": []}
        return exactly([one["label"] for one in help_["signatures"]], [self.label])
