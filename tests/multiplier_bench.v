// Drives two multipliers with the same operands: all pairs of corners, then seeded random ones.
// Prints "PASS <checked>" or one line per mismatch; `gold` and `gate` are text macros.
`timescale 1ns / 1ps
module multiplier_bench;
  parameter AW = `AW;
  parameter BW = `BW;
  parameter LATENCY = `LATENCY;
  localparam CORNERS = 8;

  reg clk = 0;
  reg signed [AW-1:0] a = 0;
  reg signed [BW-1:0] b = 0;
  wire signed [AW+BW-1:0] gold_p;
  wire signed [AW+BW-1:0] gate_p;
  reg signed [AW+BW-1:0] expected [0:LATENCY];
  integer n, k, seed, wrong, checked;

  `GOLD #(.AW(AW), .BW(BW), .LATENCY(LATENCY)) gold (.clk(clk), .a(a), .b(b), .p(gold_p));
  `GATE #(.AW(AW), .BW(BW), .LATENCY(LATENCY)) gate (.clk(clk), .a(a), .b(b), .p(gate_p));

  function signed [63:0] corner(input integer which, input integer width);
    case (which)
      0: corner = 0;
      1: corner = 1;
      2: corner = -1;
      3: corner = (64'sd1 <<< (width - 1)) - 1;
      4: corner = -(64'sd1 <<< (width - 1));
      5: corner = 1 - (64'sd1 <<< (width - 1));
      6: corner = 64'h5555555555555555;
      default: corner = 64'haaaaaaaaaaaaaaaa;
    endcase
  endfunction

  always #5 clk = ~clk;

  initial begin
    seed = 1;
    wrong = 0;
    checked = 0;
    for (n = 0; n < CORNERS * CORNERS + 2000; n = n + 1) begin
      @(negedge clk);
      if (n > LATENCY) begin
        checked = checked + 1;
        if (gold_p !== expected[LATENCY-1] || gate_p !== expected[LATENCY-1]) begin
          wrong = wrong + 1;
          if (wrong < 5)
            $display("MISMATCH at %0d: expected %0d, gold %0d, gate %0d", n, expected[LATENCY-1],
                     gold_p, gate_p);
        end
      end
      for (k = LATENCY; k > 0; k = k - 1) expected[k] = expected[k-1];
      if (n < CORNERS * CORNERS) begin
        a = corner(n / CORNERS, AW);
        b = corner(n % CORNERS, BW);
      end else begin
        a = $random(seed);
        b = $random(seed);
      end
      expected[0] = a * b;
    end
    if (wrong == 0) $display("PASS %0d", checked);
    $finish;
  end
endmodule
