"""Which values have memory cells of their own: outputs, inputs and constants, in this order.

Outputs come first, so that the hardware recognises their low addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hdl.folded.instruction import Instruction, Operation
from hdl.folded.selection import Selection


class Cells:
    """Fixed cells of a selection's values.

    *Parameters*: the selection; the names of all inputs; the value of each output; `following`,
    inputs by the outputs that become them in the next pass. Such an output has its input's cell.

    *Members*: `instructions`, with moves to outputs that could not be computed in place; `fixed`,
    cells by value; `inputs`, `outputs`, cells by port; `initial`, codes of constants by cell;
    `guards`, for a value that replaces an input what has to start before its instruction.
    """

    def __init__(
        self,
        chosen: Selection,
        inputs: Sequence[str],
        outputs: Mapping[str, int],
        following: Mapping[str, str],
    ) -> None:
        self._chosen, self._following = chosen, following
        self.instructions = list(chosen.instructions)
        self._next = 1 + max([0, *chosen.widths])
        self.guards: dict[int, set[int]] = defaultdict(set)
        ports = [name for name in outputs if name not in following]
        self.outputs = {name: cell for cell, name in enumerate(ports)}
        self.inputs = {name: len(ports) + at for at, name in enumerate(inputs)}
        self.outputs |= {name: self.inputs[state] for name, state in following.items()}
        self.fixed = {value: self.inputs[name] for name, value in chosen.inputs.items()}
        constants = dict(chosen.constants)
        zero = next((value for value, code in constants.items() if code == 0), None)
        if zero is None:
            zero = self._named()
            constants[zero] = 0
        first = len(ports) + len(inputs)
        self.fixed |= {value: first + at for at, value in enumerate(constants)}
        self.initial = {self.fixed[value]: code for value, code in constants.items()}
        self.count = first + len(constants)
        made = {entry.result for entry in chosen.instructions}
        self._moves(outputs, made, zero)

    def _named(self) -> int:
        self._next += 1
        return self._next - 1

    def _moves(self, outputs: Mapping[str, int], made: set[int], zero: int) -> None:
        """Every output in its cell: computed there, or moved; then what each of them waits for."""
        values = {}
        # Outputs that replace nothing first: their moves may read what others replace.
        for name in sorted(outputs, key=lambda name: name in self._following):
            value = outputs[name]
            taken = value in self.fixed or value not in made
            if taken or self._old_readers(name) & self._behind(value):
                copy = self._named()
                self.instructions.append(Instruction(copy, Operation.ADD, a=value, c=zero))
                value = copy
            self.fixed[value] = self.outputs[name]
            values[name] = value
        for name, value in values.items():
            self.guards[value] |= self._old_readers(name) - {value}

    def _old_readers(self, name: str) -> set[int]:
        """Results of the instructions that read what the output replaces."""
        old = self._chosen.inputs.get(self._following.get(name, ""))
        return {entry.result for entry in self.instructions if old in entry.operands}

    def _behind(self, value: int) -> set[int]:
        """What depends on the value."""
        found = {value}
        for entry in self.instructions:
            if found & set(entry.operands):
                found.add(entry.result)
        return found - {value}
