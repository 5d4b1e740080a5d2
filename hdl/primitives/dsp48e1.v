// Simulation model of the 7-series DSP48E1, for the one use that kg_mul makes of it: P = A[24:0] * B
// with one A, one B, an optional M and one P register, no pre-adder, no cascade, no accumulation.
// Anything else stops the simulation. Written from the behaviour in Xilinx UG479.
module DSP48E1 #(
    parameter ACASCREG = 1,
    parameter ADREG = 1,
    parameter ALUMODEREG = 1,
    parameter AREG = 1,
    parameter AUTORESET_PATDET = "NO_RESET",
    parameter A_INPUT = "DIRECT",
    parameter BCASCREG = 1,
    parameter BREG = 1,
    parameter B_INPUT = "DIRECT",
    parameter CARRYINREG = 1,
    parameter CARRYINSELREG = 1,
    parameter CREG = 1,
    parameter DREG = 1,
    parameter INMODEREG = 1,
    parameter MREG = 1,
    parameter OPMODEREG = 1,
    parameter PREG = 1,
    parameter SEL_MASK = "MASK",
    parameter SEL_PATTERN = "PATTERN",
    parameter USE_DPORT = "FALSE",
    parameter USE_MULT = "MULTIPLY",
    parameter USE_PATTERN_DETECT = "NO_PATDET",
    parameter USE_SIMD = "ONE48"
) (
    input CLK,
    input [29:0] A,
    input [17:0] B,
    input [47:0] C,
    input [24:0] D,
    input CARRYIN,
    input [6:0] OPMODE,
    input [3:0] ALUMODE,
    input [4:0] INMODE,
    input [2:0] CARRYINSEL,
    input [29:0] ACIN,
    input [17:0] BCIN,
    input [47:0] PCIN,
    input CARRYCASCIN, MULTSIGNIN,
    input CEA1, CEA2, CEB1, CEB2, CEM, CEP, CEC, CED, CEAD, CECTRL, CEALUMODE, CEINMODE, CECARRYIN,
    input RSTA, RSTB, RSTM, RSTP, RSTC, RSTD, RSTCTRL, RSTALUMODE, RSTINMODE, RSTALLCARRYIN,
    output [47:0] P
);
  // With one input register the block uses its second one: CEA2 and CEB2 enable it.
  reg [24:0] a_held;
  reg [17:0] b_held;
  reg [42:0] m_held;
  reg [47:0] p_held;
  wire signed [24:0] left = a_held;
  wire signed [17:0] right = b_held;
  wire signed [42:0] exact = left * right;
  wire [42:0] m = MREG == 1 ? m_held : exact;
  assign P = p_held;

  always @(posedge CLK) begin
    if (RSTA) a_held <= 25'd0;
    else if (CEA2) a_held <= A[24:0];
    if (RSTB) b_held <= 18'd0;
    else if (CEB2) b_held <= B;
    if (RSTM) m_held <= 43'd0;
    else if (CEM) m_held <= exact;
    if (RSTP) p_held <= 48'd0;
    else if (CEP) p_held <= {{5{m[42]}}, m};
  end

`ifndef SYNTHESIS
  always @(posedge CLK)
    if (OPMODE != 7'b0000101 || ALUMODE != 4'd0 || INMODE != 5'd0 || CARRYINSEL != 3'd0 || CARRYIN)
      refuse;

  task refuse;
    begin
      $display("DSP48E1: this mode is outside the simulation model");
      $finish;
    end
  endtask

  initial
    if (AREG != 1 || BREG != 1 || (MREG != 0 && MREG != 1) || PREG != 1 || USE_DPORT != "FALSE"
        || USE_MULT != "MULTIPLY" || A_INPUT != "DIRECT" || B_INPUT != "DIRECT")
      refuse;
`endif
endmodule
