"""XML as importers read it: names in any case, numbers checked, and errors that name the place."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from solver_ref.errors import InputError, shown
from solver_ref.importing.draft import decimal


class Node:
    """An element of an XML file; `key` is where it stands, for messages."""

    def __init__(self, file: Path, element: Element, key: str) -> None:
        self.file, self.element, self.key = file, element, key

    @property
    def tag(self) -> str:
        """The element's name in lower case."""
        return self.element.tag.lower()

    def error(self, name: str, *, wrong: str, expected: str, got: str) -> InputError:
        """The error to raise for the child or attribute `name`, or the element itself."""
        key = ".".join(filter(None, (self.key, name)))
        return InputError(self.file, key, wrong=wrong, expected=expected, got=got)

    def children(self, name: str | None = None) -> list[Node]:
        """The children of that name, in order; all of them without one."""
        found = [child for child in self.element if name in (None, child.tag.lower())]
        return [Node(self.file, child, self._key_of(child)) for child in found]

    def child(self, name: str) -> Node:
        """The one child of that name."""
        found = self.children(name)
        if len(found) != 1:
            wrong = "is missing" if not found else "is there more than once"
            got = f"{len(found)} of them" if found else "nothing"
            raise self.error(name, wrong=wrong, expected=f"one <{name}>", got=got)
        return found[0]

    def below(self, name: str) -> Iterator[Node]:
        """Every descendant of that name."""
        for element in self.element.iter():
            if element.tag.lower() == name:
                yield Node(self.file, element, self._key_of(element))

    def attribute(self, name: str, default: str | None = None) -> str:
        """The text of an attribute; an error where it is missing and there is no default."""
        named = {key.lower(): value for key, value in self.element.attrib.items()}
        if name not in named:
            if default is not None:
                return default
            raise self.error(name, wrong="is missing", expected="a text", got="nothing")
        return named[name].strip()

    def text(self, name: str) -> str:
        """What stands in the child of that name."""
        return (self.child(name).element.text or "").strip()

    def numbers(self, name: str, count: int) -> tuple[Decimal, ...]:
        """`count` numbers in the child of that name, between blanks."""
        return self._numbers(name, self.text(name), count)

    def number(self, name: str) -> Decimal:
        """One number in the child of that name."""
        return self.numbers(name, 1)[0]

    def attribute_numbers(self, name: str, count: int) -> tuple[Decimal, ...]:
        """`count` numbers in an attribute, between blanks."""
        return self._numbers(name, self.attribute(name), count)

    def _numbers(self, name: str, text: str, count: int) -> tuple[Decimal, ...]:
        expected = f"{count} numbers" if count > 1 else "a number"
        try:
            values = tuple(decimal(word) for word in text.split())
        except ValueError:
            values = ()
        if len(values) != count:
            raise self.error(name, wrong="cannot be read", expected=expected, got=shown(text))
        return values

    def _key_of(self, element: Element) -> str:
        named = {key.lower(): value for key, value in element.attrib.items()}
        label = named.get("id") or named.get("name")
        step = element.tag.lower() + (f"[{shown(label)}]" if label else "")
        return ".".join(filter(None, (self.key, step)))


def read_xml(file: Path, data: bytes) -> Node:
    """The root of an XML document; InputError where it is malformed or declares entities.

    A byte order mark, blank lines before the declaration and a DOCTYPE are tolerated; nothing
    outside the document is fetched.
    """
    mark = b"\xef\xbb\xbf"
    try:
        root = defusedxml.ElementTree.fromstring(data.removeprefix(mark).lstrip())
    except (ParseError, ValueError, LookupError) as error:
        hostile = isinstance(error, DefusedXmlException)
        wrong = "declares entities" if hostile else "is malformed"
        got = type(error).__name__ if hostile else shown(str(error), 100)
        raise InputError(
            file, "XML", wrong=wrong, expected="an XML document of elements and texts", got=got
        ) from None
    return Node(file, root, "")
