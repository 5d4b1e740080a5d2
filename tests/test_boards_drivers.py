"""Both drivers against the Verilated hardware: a toy kernel for all that can go wrong, a real one
for 1,000 poses."""

import ctypes
import importlib.util
import json
import shutil

import numpy as np
import pytest
from axi_toys import FACTS, NAME, loaded, toy_interface, toy_rows, write_toy
from c_driver import NAMES, READ, STRICT, WRITE, CDriver, compiled, write_driver
from toy_kernels import observed

from boards.drivers import description, python_driver
from hdl.design import Design
from hdl.options import Options
from kinegate.axi_files import axi_files
from sim.axi_model import AxiModel
from sim.tools import available
from sim.vectors import golden_vectors
from solver_ref.parameters import words
from solver_ref.robot_file import load

ARM = "arm-linux-gnueabihf-gcc"
FULL = 7  # transfers that a toy and its shell hold
EVENT = {"solved": 1 << 10, "late": 1 << 15, "failed": 1 << 9}

if reason := available("verilator"):
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """The folder of a toy's driver, its library, its Verilog and its interface."""
    folder, axi = tmp_path_factory.mktemp("toy"), toy_interface()
    write_driver(folder, axi)
    library = compiled(folder, NAME)
    for file, text in python_driver(description(axi, clock_mhz=100.0, pose=("p",))).items():
        (folder / file).write_text(text)
    return folder, library, write_toy(folder), axi


def model_of(toy):
    folder, _, verilog, _ = toy
    return AxiModel(verilog, NAME, folder / "model")


def c_driver_of(toy):
    _, library, _, axi = toy
    return CDriver(library, NAME, len(axi.inputs.fields), len(axi.outputs.fields))


def python_module(folder):
    spec = importlib.util.spec_from_file_location("kinegate_driver", folder / "kinegate_driver.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def opened(toy):
    """A model and the C driver that has it open."""
    model, driver = model_of(toy), c_driver_of(toy)
    assert driver.open(model.accesses, model.handle, FACTS.geometry) == "ok"
    yield model, driver
    model.close()


def test_the_c_driver_solves_any_codes(opened):
    _, driver = opened
    rows, expected = toy_rows(200)
    for given, right in zip(
        zip(*rows.values(), strict=True), zip(*expected.values(), strict=True), strict=True
    ):
        error, found, cycles = driver.solve(given)
        assert (error, found) == ("ok", [int(code) for code in right])
        assert cycles == 7


def test_codes_at_bit_31_and_of_two_words_keep_their_sign(opened):
    _, driver = opened
    corners = {"wide": (-(1 << 39), (1 << 39) - 1, -1), "left": (1 << 31, (1 << 32) - 1, 0)}
    for wide in corners["wide"]:
        for left in corners["left"]:
            error, found, _ = driver.solve([-256, -64, wide, 3, 0, 1, left, 15])
            assert (error, found) == ("ok", [16384, wide, 3, 0, left, 15, 1])


@pytest.mark.parametrize("at, code", [(0, 256), (0, -257), (2, 1 << 39), (3, -1), (6, 1 << 32)])
def test_a_value_that_is_no_code_is_refused_before_anything_is_written(opened, at, code):
    model, driver = opened
    given = [1, 2, 3, 0, 4, 1, 5, 6]
    given[at] = code
    assert driver.solve(given)[0] == "out_of_range"
    assert driver.observe().results == 0
    assert model.read(0x400) == 0


def altered(model, address, word):
    """The accesses of a bus on which a register reads as `word`."""
    read = READ(lambda _, at: word if at == address else model.read(at))
    write = WRITE(lambda _, at, value: model.write(at, value))
    pointers = [ctypes.cast(call, ctypes.c_void_p).value for call in (read, write)]
    return pointers, (read, write)


@pytest.mark.parametrize(
    "register, error",
    [
        ("identity", "no_kernel"),
        ("version", "wrong_version"),
        ("map", "wrong_map"),
        ("design", "wrong_design"),
        ("geometry", "wrong_geometry"),
    ],
)
def test_both_drivers_refuse_other_hardware(toy, register, error):
    folder, _, _, axi = toy
    model, driver, module = model_of(toy), c_driver_of(toy), python_module(toy[0])
    address = axi.registers.address("control", register)
    accesses, kept = altered(model, address, model.read(address) ^ 1 << 20)
    assert driver.open(accesses, None, FACTS.geometry) == error
    assert kept

    class Altered:
        write = model.write

        def read(self, offset):
            return model.read(offset) ^ (1 << 20 if offset == address else 0)

    with pytest.raises(module.DriverError, match=r"no kinegate|version|another"):
        module.Solver(Altered())
    model.close()


def test_both_drivers_notice_a_stuck_core(toy):
    model, driver, module = model_of(toy), c_driver_of(toy), python_module(toy[0])
    assert driver.open(model.accesses, model.handle, FACTS.geometry) == "ok"
    driver.device.patience = 100
    driver.call("kg_mode", 1, 1)  # nothing enters any more
    given = [1, 2, 3, 0, 4, 1, 5, 6]
    assert driver.solve(given)[0] == "timeout"
    assert driver.solve(given)[0] == "busy"
    solver = module.Solver(model, patience=100)
    with pytest.raises(module.DriverError, match="under way"):
        solver.solve(**dict.fromkeys(observed().inputs, 0))
    driver.call("kg_mode", 1, 0)
    model.run(20)
    assert driver.solve(given)[0] == "ok"
    model.close()


def test_the_drivers_name_every_error(toy):
    driver = c_driver_of(toy)
    texts = {driver._library.kg_error_text(number) for number in range(len(NAMES))}
    assert len(texts) == len(NAMES)
    assert driver._library.kg_error_text(len(NAMES)) == b"unknown"


def test_what_was_seen_is_counted(opened):
    _, driver = opened
    said = (1, 3, 0x10, 0x1FF, 0)
    for number, status in enumerate(said):
        assert driver.solve([1, 2, 3, 0, 4, status, 100 - number, number])[0] == "ok"
    seen = driver.observe()
    assert (seen.results, seen.failures) == (5, 2)
    assert list(seen.said) == [sum(word >> bit & 1 for word in said) for bit in range(9)]
    assert (seen.latency_last, seen.latency_min, seen.latency_max) == (7, 7, 7)
    assert (seen.status_last, seen.iterations_last, seen.iterations_max) == (0, 4, 4)
    assert (seen.residual_last, seen.residual_max) == (96, 100)
    driver.call("kg_clear")
    seen = driver.observe()
    assert (seen.results, seen.latency_min, seen.residual_max) == (0, 0xFFFFFFFF, 0)


def test_events_drive_the_interrupt_until_they_are_cleared(opened):
    model, driver = opened
    driver.call("kg_limits", 6, 0xFFFFFFFF)
    driver.call("kg_interrupt_on", EVENT["late"])
    assert driver.solve([1, 2, 3, 0, 4, 1, 5, 6])[0] == "ok"
    assert driver.call("kg_events") == EVENT["solved"] | EVENT["late"] | 1
    assert model.interrupt
    driver.call("kg_clear_events", EVENT["late"])
    model.run(2)
    assert not model.interrupt
    assert driver.call("kg_events") == EVENT["solved"] | 1


def test_the_stream_takes_what_the_driver_packs(opened):
    model, driver = opened
    rows, expected = toy_rows(50)
    driver.call("kg_mode", 2, 1)  # one packet of many transfers
    words = [driver.stream_words(given)[:9] for given in zip(*rows.values(), strict=True)]
    taken, ends = model.stream(np.concatenate(words), 8 * 50)
    assert ends == 1
    for found, right in zip(
        taken.reshape(50, 8), zip(*expected.values(), strict=True), strict=True
    ):
        assert driver.unpacked(found) == [int(code) for code in right]


def test_the_settings_come_from_registers_where_that_is_asked(opened):
    model, driver = opened
    driver._library.kg_set_input(ctypes.byref(driver.device), 3, ctypes.c_int64(2))
    driver._library.kg_set_input(ctypes.byref(driver.device), 4, ctypes.c_int64(77))
    sent = driver.stream_words([1, 2, 3, 1, 5, 1, 6, 7])[:9]
    for on, right in ((0, [1, 5]), (1, [2, 77])):
        driver.call("kg_mode", 4, on)
        taken, _ = model.stream(sent, 8)
        assert driver.unpacked(taken)[2:4] == right


def test_a_word_that_is_no_code_of_its_field_is_told_in_the_status(opened):
    model, driver = opened
    good = driver.stream_words([1, 2, 3, 1, 5, 1, 6, 7])[:9]
    for at, word in ((0, 256), (0, 0xFFFFFEFF), (3, 1 << 7), (4, 4), (5, 1 << 21)):
        sent = good.copy()
        sent[at] = word
        taken, _ = model.stream(sent, 8)
        assert driver.unpacked(taken)[-1] == 0x10, (at, word)
        taken, _ = model.stream(good, 8)
        assert driver.unpacked(taken)[-1] == 1
    assert driver.observe().unfit == 5


def test_the_python_driver_solves_rows_in_numpy(toy):
    model, module = model_of(toy), python_module(toy[0])
    solver = module.Solver(model)
    rows, expected = toy_rows(20)
    values = {name: codes * 1.0 for name, codes in rows.items()}
    values["lambda"] = np.ldexp(values["lambda"], -20)
    pose, status, latency = solver.solve(**values)
    assert pose.shape == (20, 1)
    assert pose[:, 0].tolist() == expected["p"].tolist()
    assert status.tolist() == expected["status"].tolist()
    assert set(latency) == {7}
    assert solver.observe()["results"] == 20
    with pytest.raises(ValueError, match="count is missing"):
        solver.solve(**{name: value for name, value in values.items() if name != "count"})
    with pytest.raises(ValueError, match="a has a value"):
        solver.solve(**(values | {"a": 256}))
    with pytest.raises(ValueError, match="no input is called q"):
        solver.solve(**values, q=1)
    packed = solver.pack(**values)
    with solver.mode("batch"):
        taken, ends = model.stream(packed, 8 * 20)
    assert ends == 1
    assert solver.unpack(taken).pose[:, 0].tolist() == expected["p"].tolist()
    model.close()


def registers_in_a_file(axi, path):
    """A file like the memory of hardware that does nothing."""
    image = np.zeros(1024, "<u4")
    for block, register in axi.registers:
        image[(block.base + register.offset) // 4] = register.reset
    image[axi.registers.address("control", "geometry") // 4] = FACTS.geometry
    image[axi.registers.address("control", "state") // 4] = 8  # agrees
    image.tofile(path)
    return path


def test_both_drivers_map_a_file(toy, tmp_path):
    axi = toy[3]
    path = registers_in_a_file(axi, tmp_path / "registers")
    driver = c_driver_of(toy)
    assert driver.open_file(tmp_path / "missing", FACTS.geometry) == "system"
    assert driver.open_file(path, FACTS.geometry) == "ok"
    driver.call("kg_limits", 0x80000000, 7)
    solver = python_module(toy[0]).Solver.from_file(str(path))
    assert solver.get("control.latency_limit") == 0x80000000
    solver.limits(latency=5)
    written = np.fromfile(path, "<u4")
    assert written[axi.registers.address("control", "latency_limit") // 4] == 5
    assert written[axi.registers.address("control", "residual_limit") // 4] == 7


def test_geometry_is_loaded_whole_or_refused(tmp_path):
    axi, graph = toy_interface(graph=loaded()), loaded()
    write_driver(tmp_path, axi)
    model = AxiModel(write_toy(tmp_path, graph=graph), NAME, tmp_path / "model")
    driver = CDriver(compiled(tmp_path, NAME), NAME, 1, 1)
    assert driver.open(model.accesses, model.handle, 0) == "wrong_geometry"
    assert driver.open(model.accesses, model.handle, axi.facts.geometry) == "ok"
    driver.device.patience = 500
    assert driver.solve([3])[1] == [79]
    good = words(graph.parameters, {"p": 5, "q": 20})
    driver.call("kg_mode", 2, 1)
    model.stream(np.full(FULL, 3), 0)  # nobody takes the results: one transfer waits at the kernel
    assert driver.load_geometry(good) == "timeout"
    state = model.read(axi.registers.address("control", "state"))
    assert not state & 2  # not yet paused: it would else meet half a geometry
    assert model.stream([], FULL)[0].tolist() == [79] * FULL
    assert driver.load_geometry(good) == "ok"
    assert driver.solve([3])[1] == [35]
    assert driver.call("kg_geometry") & 0xFFFFFFFF == good[-1]
    assert driver.load_geometry([6, 20, good[-1]]) == "refused"  # the sum of other words
    assert driver.load_geometry([151, 20, good[-1]]) == "refused"  # beyond its tolerance
    assert driver.solve([3])[0] == "timeout"  # it stays paused
    assert driver.load_geometry(good[1:]) == "no_load_port"
    solver = python_solver(tmp_path, axi, model, geometry=None)
    solver.load_geometry(good)
    model.run(20)
    assert solver.geometry == good[-1]
    model.close()


def python_solver(folder, axi, model, **options):
    """The Python driver of a toy that is no fixture."""
    for file, text in python_driver(description(axi, clock_mhz=100.0)).items():
        (folder / file).write_text(text)
    return python_module(folder).Solver(model, **options)


def test_the_c_driver_compiles_for_arm(toy, tmp_path):
    if shutil.which(ARM) is None:
        pytest.skip(f"{ARM} is not installed: apt install gcc-arm-linux-gnueabihf")
    assert compiled(toy[0], NAME, STRICT, [ARM]).exists()


def test_1000_poses_through_either_driver_are_those_of_the_model(tmp_path):
    """The kernel `step` of the reference crane, as `generate` writes it."""
    design = Design(load("four-cable"), Options(shell="axi"))
    for place, text in axi_files(design).items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    verilog = tmp_path / f"{design.name}.v"
    verilog.write_text(design.verilog)
    model = AxiModel(verilog, design.name, tmp_path / "model")
    folder = tmp_path / "driver"
    driver = CDriver(
        compiled(folder, design.name), design.name, len(design.inputs), len(design.outputs)
    )
    geometry = json.loads((folder / "design.json").read_text())["geometry"]
    assert driver.open(model.accesses, model.handle, geometry) == "ok"
    vectors = golden_vectors(design, 1000, 5)
    given = zip(*(vectors.inputs[name] for name in design.inputs), strict=True)
    right = zip(*(vectors.outputs[name].tolist() for name in design.outputs), strict=True)
    for row, (codes, wanted) in enumerate(zip(given, right, strict=True)):
        assert driver.solve(codes) == ("ok", list(wanted), design.latency), row
    assert driver.observe().results == 1000
    solver = python_module(folder).Solver(model)
    values = {n: form.decode(vectors.inputs[n][:50]) for n, form in design.inputs.items()}
    lengths = np.column_stack([values.pop(f"L{number}") for number in (1, 2, 3, 4)])
    pose, status, latency = solver.solve(lengths, **values)
    for column, name in zip(pose.T, design.robot.coordinates, strict=True):
        assert column.tolist() == design.outputs[name].decode(vectors.outputs[name][:50]).tolist()
    assert status.tolist() == vectors.outputs["status"][:50].tolist()
    assert set(latency) == {design.latency}
    model.close()
