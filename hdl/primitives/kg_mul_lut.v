// The ports, the meaning and the latency of kg_mul, always in LUTs: for the products that are left
// when the target's multipliers run out. Radix-4 Booth: row k adds digit[k] * a, digit in -2..2,
// and hands its sum / 4 to the next row. A row bit is one six-input LUT and its carry. With
// LATENCY = 3 a register stands between the two halves of the rows.
module kg_mul_lut #(
    parameter AW = 18,
    parameter BW = 18,
    parameter LATENCY = 2
) (
    input clk,
    input signed [AW-1:0] a,
    input signed [BW-1:0] b,
    output signed [AW+BW-1:0] p
);
  localparam ROWS = (BW + 1) / 2;
  localparam FIRST = LATENCY == 3 ? (ROWS + 1) / 2 : ROWS;

  reg signed [AW-1:0] ar;
  reg signed [BW-1:0] br;
  (* use_dsp = "no" *) reg [AW+BW-1:0] pr;
  wire [AW-1:0] carried;
  wire [2*FIRST-1:0] lower;
  wire [2*ROWS:0] digits = {br[BW-1], br, 1'b0};
  assign p = pr;

  always @(posedge clk) begin
    ar <= a;
    br <= b;
  end

  kg_mul_lut_rows #(.AW(AW), .ROWS(FIRST)) first (
      .a(ar), .digits(digits[2*FIRST:0]), .start({AW{1'b0}}), .carried(carried), .low(lower)
  );
  generate
    if (FIRST == ROWS) begin : one_stage
      reg [AW+BW-1:0] m;
      wire [AW+2*ROWS-1:0] product = {carried, lower};
      always @(posedge clk) begin
        m  <= product[AW+BW-1:0];
        pr <= LATENCY == 3 ? m : product[AW+BW-1:0];
      end
    end else begin : two_stages
      localparam REST = ROWS - FIRST;
      reg [AW-1:0] am;
      reg [AW-1:0] carried_m;
      reg [2*FIRST-1:0] lower_m;
      reg [2*REST:0] digits_m;
      wire [AW-1:0] highest;
      wire [2*REST-1:0] upper;
      wire [AW+2*ROWS-1:0] product = {highest, upper, lower_m};
      kg_mul_lut_rows #(.AW(AW), .ROWS(REST)) last (
          .a(am), .digits(digits_m), .start(carried_m), .carried(highest), .low(upper)
      );
      always @(posedge clk) begin
        am        <= ar;
        carried_m <= carried;
        lower_m   <= lower;
        digits_m  <= digits[2*ROWS:2*FIRST];
        pr        <= product[AW+BW-1:0];
      end
    end
  endgenerate
endmodule

// {carried, low} = start + a * digits, digits read as radix-4 Booth digits (two new bits a row).
module kg_mul_lut_rows #(
    parameter AW = 18,
    parameter ROWS = 9
) (
    input signed [AW-1:0] a,
    input [2*ROWS:0] digits,
    input signed [AW-1:0] start,
    output [AW-1:0] carried,
    output [2*ROWS-1:0] low
);
  wire [AW*(ROWS+1)-1:0] sums;
  assign sums[AW-1:0] = start;
  assign carried = sums[AW*ROWS+:AW];

  genvar k;
  generate
    for (k = 0; k < ROWS; k = k + 1) begin : row
      wire negative = digits[2*k+2];
      wire once = digits[2*k+1] ^ digits[2*k];
      wire twice = ~once & (digits[2*k+2] ^ digits[2*k+1]);
      wire [AW+1:0] single = {{2{a[AW-1]}}, a};
      wire [AW+1:0] double = {a[AW-1], a, 1'b0};
      wire [AW+1:0] addend =
          (({AW+2{once}} & single) | ({AW+2{twice}} & double)) ^ {AW+2{negative}};
      wire [AW-1:0] prior = sums[AW*k+:AW];
      // The lowest bit makes the carry that completes the negative addend.
      wire [AW+2:0] total = {{2{prior[AW-1]}}, prior, 1'b1} + {addend, negative};
      assign sums[AW*(k+1)+:AW] = total[AW+2:3];
      assign low[2*k+:2] = total[2:1];
    end
  endgenerate
endmodule
