"""The elements of a page, read by Python's HTML parser, and the faults in it."""

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img", "br", "hr"}
REFERENCES = ("aria-labelledby", "aria-describedby", "for", "aria-controls")


class PageOutline(HTMLParser):
    """Tags in order, ids, texts and references; ``faults`` lists errors."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []  # tag, name, value
        self.texts: dict[str, list[str]] = {}  # by their tag
        self._open: list[str] = []
        self._ids: set[str] = set()
        self._wanted: list[str] = []
        self._svg_children: list[list[str]] = []
        self.feed(html)
        self.close()
        self.faults += [f"{tag} is never closed" for tag in self._open]
        self.faults += [f"no element has the id {name!r}" for name in self._wanted if name not in self._ids]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)
        if tag == "svg":
            self._svg_children.append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open and self._open[-1] == "svg":
            self._svg_children[-1].append(tag)
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"{tag} has an attribute twice")
        values = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in values.items()]
        if "id" in values:
            if values["id"] in self._ids or not values["id"]:
                self.faults.append(f"the id {values['id']!r} is there twice, or empty")
            self._ids.add(values["id"])
        for name in REFERENCES:
            self._wanted += values.get(name, "").split()
        if values.get("href", "").startswith("#"):
            self._wanted.append(values["href"][1:])
        if tag == "th" and "scope" not in values:
            self.faults.append("a th has no scope")
        if tag == "svg" and values.get("role") != "img" and values.get("aria-hidden") != "true":
            self.faults.append("an svg is neither an image nor hidden")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1:]}")
            return
        self._open.pop()
        if tag == "svg" and self._svg_children.pop()[:1] != ["title"]:
            self.faults.append("an svg does not begin with a title")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.setdefault(self._open[-1] if self._open else "", []).append(data)

    @property
    def text(self) -> str:
        """All text for readers and screen readers, in one line."""
        seen = (part for tag, parts in self.texts.items() if tag not in ("style", "script") for part in parts)
        return " ".join(" ".join(seen).split())

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [value for _, values, value in self.attributes if values == name]
