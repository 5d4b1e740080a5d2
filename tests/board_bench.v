// Plays the bytes of bytes.hex to the port rx of a board's top level, which has a model of its PLL
// here, and prints each byte that comes out of tx. Defines: SENT and WANTED count bytes, DIVIDER
// the clock cycles of a bit.
module pll_model (input in, output out, output reg locked);
  assign out = in;
  initial begin
    locked = 0;
    repeat (20) @(posedge in);
    locked = 1;
  end
endmodule

module EHXPLLL #(parameter CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 1, CLKOP_CPHASE = 0,
    CLKOP_ENABLE = "", FEEDBK_PATH = "", OUTDIVIDER_MUXA = "", PLLRST_ENA = "",
    INTFB_WAKE = "", STDBY_ENABLE = "", DPHASE_SOURCE = "")
    (input RST, STDBY, CLKI, CLKFB, output CLKOP, LOCK);
  pll_model model (.in(CLKI), .out(CLKOP), .locked(LOCK));
endmodule

module SB_PLL40_PAD #(parameter FEEDBACK_PATH = "", DIVR = 0, DIVF = 0, DIVQ = 0,
    FILTER_RANGE = 0)
    (input PACKAGEPIN, RESETB, BYPASS, output PLLOUTGLOBAL, LOCK);
  pll_model model (.in(PACKAGEPIN), .out(PLLOUTGLOBAL), .locked(LOCK));
endmodule

module bench;
  reg osc = 0, rx = 1;
  wire tx, led;
  reg [7:0] bytes [0:`SENT-1];
  reg [7:0] byte_in;
  integer sent, bit_out, bit_in, received;
  `TOP dut (.osc(osc), .rx(rx), .tx(tx), .led(led));
  always #1 osc = ~osc;

  initial begin
    $readmemh("bytes.hex", bytes);
    repeat (1100) @(negedge osc);
    for (sent = 0; sent < `SENT; sent = sent + 1) begin
      rx = 0;
      repeat (`DIVIDER) @(negedge osc);
      for (bit_out = 0; bit_out < 8; bit_out = bit_out + 1) begin
        rx = bytes[sent][bit_out];
        repeat (`DIVIDER) @(negedge osc);
      end
      rx = 1;
      repeat (`DIVIDER) @(negedge osc);
    end
  end

  initial begin
    repeat (1100) @(negedge osc);
    for (received = 0; received < `WANTED; received = received + 1) begin
      while (tx) @(negedge osc);
      repeat (`DIVIDER / 2) @(negedge osc);
      for (bit_in = 0; bit_in < 8; bit_in = bit_in + 1) begin
        repeat (`DIVIDER) @(negedge osc);
        byte_in[bit_in] = tx;
      end
      repeat (`DIVIDER) @(negedge osc);
      $display("%02x", byte_in);
    end
    $finish;
  end

  initial begin
    repeat (400000) @(negedge osc);
    $display("silence");
    $finish;
  end
endmodule
