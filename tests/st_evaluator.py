"""Runs Structured Text as IEC 61131-3 says: the small part of it that the project writes.

LINT has 64 bits and leaving them is an error; `/` cuts towards zero, MOD has the sign of its left
operand. The text is translated to Python statement by statement.
"""

import re

_TOKEN = re.compile(
    r"\s+|\(\*.*?\*\)|LINT#-?\d+|\w+|:=|<>|<=|>=|\.\.|[-+*/()\[\],;:<>=]", re.DOTALL
)
_LEVELS = (("OR",), ("=", "<>", "<", ">", "<=", ">="), ("+", "-"), ("*", "/", "MOD"))
_PYTHON = {"=": "==", "<>": "!=", "OR": "or"}


class Lint:
    """A LINT. Overflow raises OverflowError."""

    def __init__(self, value: int) -> None:
        if not -(1 << 63) <= value < 1 << 63:
            raise OverflowError(f"{value} does not fit a LINT")
        self.value = value

    def __add__(self, other):
        return Lint(self.value + other.value)

    def __sub__(self, other):
        return Lint(self.value - other.value)

    def __mul__(self, other):
        return Lint(self.value * other.value)

    def __neg__(self):
        return Lint(-self.value)

    def __truediv__(self, other):
        size = abs(self.value) // abs(other.value)
        return Lint(size if (self.value < 0) == (other.value < 0) else -size)

    def __mod__(self, other):
        return self - self / other * other

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return self.value > other.value

    def __ge__(self, other):
        return self.value >= other.value


def index(value: Lint) -> int:
    assert value.value >= 0
    return value.value


_FUNCTIONS = {
    "LINT": Lint,
    "index": index,
    "SEL": lambda flag, a, b: b if flag else a,
    "LIMIT": lambda low, x, high: max(low, min(x, high)),
    "MAX": max,
    "MIN": min,
    "ABS": lambda x: Lint(abs(x.value)),
}


class FunctionBlock:
    """A function block from its text; call it with input codes for its output codes. What stays
    from call to call is in `kept`."""

    def __init__(self, text: str) -> None:
        found = list(_TOKEN.finditer(text))
        assert sum(len(token[0]) for token in found) == len(text), "a character that is no token"
        words = [token[0] for token in found]
        self._words = [w for w in words if not w.isspace() and not w.startswith("(*")]
        self._place = 0
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.arrays: dict[str, list[Lint]] = {}
        self.kept: dict[str, Lint] = {}
        self._expect("FUNCTION_BLOCK")
        self.name = self._next()
        self._declared = self._declarations()
        lines = self._statements("END_FUNCTION_BLOCK", "")
        self._code = compile("\n".join(lines), self.name, "exec")

    def __call__(self, **inputs: int) -> dict[str, int]:
        assert sorted(inputs) == sorted(self.inputs)
        given = {name: Lint(code) for name, code in inputs.items()}
        scope = _FUNCTIONS | self.arrays | self.kept | given
        exec(self._code, scope)
        self.kept = {name: scope[name] for name in self.kept}
        return {name: scope[name].value for name in self.outputs}

    def _peek(self) -> str:
        return self._words[self._place]

    def _next(self) -> str:
        self._place += 1
        return self._words[self._place - 1]

    def _expect(self, word: str) -> None:
        found = self._next()
        assert found == word, f"expected {word}, got {found} at {self._place}"

    def _declarations(self) -> set[str]:
        declared: set[str] = set()
        kinds = {"VAR_INPUT": self.inputs, "VAR_OUTPUT": self.outputs}
        while self._peek().startswith("VAR"):
            kind = self._next()
            if self._peek() == "CONSTANT":
                kind = self._next()
            while self._peek() != "END_VAR":
                name = self._next()
                assert name.upper() not in {other.upper() for other in declared}, name
                declared.add(name)
                kinds.setdefault(kind, []).append(name)
                self._declare(name, kind)
            self._next()
        return declared

    def _declare(self, name: str, kind: str) -> None:
        self._expect(":")
        if kind == "CONSTANT":
            self.arrays[name] = self._array()
        else:
            self._expect("LINT")
        if self._peek() == ":=":
            assert kind in ("VAR", "VAR_OUTPUT"), f"{kind} {name} forgets its first value"
            self._next()
            self.kept[name] = Lint(int(self._next().removeprefix("LINT#")))
        self._expect(";")

    def _array(self) -> list[Lint]:
        for word in ("ARRAY", "[", "0", ".."):
            self._expect(word)
        size = int(self._next()) + 1
        for word in ("]", "OF", "LINT", ":=", "["):
            self._expect(word)
        items = []
        while self._peek() != "]":
            items.append(Lint(int(self._next().removeprefix("LINT#"))))
            if self._peek() == ",":
                self._next()
        self._next()
        assert len(items) == size
        return items

    def _statements(self, end: str, indent: str) -> list[str]:
        lines = []
        while self._peek() != end:
            word = self._next()
            inner = indent + "    "
            if word == "IF":
                lines += [f"{indent}if {self._expression()}:"]
                self._expect("THEN")
                lines += self._statements("END_IF", inner)
            elif word == "REPEAT":
                lines += [f"{indent}while True:", *self._statements("UNTIL", inner)]
                lines += [f"{inner}if {self._expression()}: break"]
                self._expect("END_REPEAT")
            else:
                assert word in self._declared and word not in self.inputs, word
                self._expect(":=")
                lines.append(f"{indent}{word} = {self._expression()}")
            self._expect(";")
        self._next()
        return lines

    def _expression(self, level: int = 0) -> str:
        if level == len(_LEVELS):
            return self._factor()
        text = self._expression(level + 1)
        while self._peek() in _LEVELS[level]:
            word = self._next()
            operator = {"MOD": "%"}.get(word, _PYTHON.get(word, word))
            text = f"({text} {operator} {self._expression(level + 1)})"
        return text

    def _factor(self) -> str:
        word = self._next()
        if word == "-":
            return f"(-{self._factor()})"
        if word == "(":
            text = self._expression()
            self._expect(")")
            return f"({text})"
        if word.startswith("LINT#"):
            return f"LINT({word.removeprefix('LINT#')})"
        if self._peek() == "[":
            self._next()
            text = f"{word}[index({self._expression()})]"
            self._expect("]")
            return text
        if self._peek() == "(":
            assert word in _FUNCTIONS, word
            self._next()
            arguments = [self._expression()]
            while self._peek() == ",":
                self._next()
                arguments.append(self._expression())
            self._expect(")")
            return f"{word}({', '.join(arguments)})"
        assert word in self._declared, word
        return word
