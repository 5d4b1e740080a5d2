// Signed multiplier: p = a * b, LATENCY clock edges from the operands to the product (2 or 3).
// Operands are always registered first; nothing is reset; one result per clock.
//   default              behavioural: ar, br -> (m ->) p
//   KINEGATE_DSP48E1     one DSP48E1: A, B, (M,) and P registers; AW <= 25, BW <= 18
//   KINEGATE_MULT18X18D  one MULT18X18D: input and output registers; AW, BW <= 18, LATENCY = 2
//   KINEGATE_SB_MAC16    one SB_MAC16: input and product registers; AW, BW <= 16, LATENCY = 2
module kg_mul #(
    parameter AW = 18,
    parameter BW = 18,
    parameter LATENCY = 2
) (
    input clk,
    input signed [AW-1:0] a,
    input signed [BW-1:0] b,
    output signed [AW+BW-1:0] p
);
`ifdef KINEGATE_DSP48E1
  generate
    if (AW > 25 || BW > 18 || LATENCY < 2 || LATENCY > 3)
      kg_mul_outside_dsp48e1 refused ();
  endgenerate
  wire signed [29:0] ax = a;
  wire signed [17:0] bx = b;
  wire [47:0] px;
  assign p = px[AW+BW-1:0];
  DSP48E1 #(
      .AREG(1), .ACASCREG(1), .BREG(1), .BCASCREG(1), .MREG(LATENCY - 2), .PREG(1),
      .CREG(1), .DREG(0), .ADREG(0), .OPMODEREG(0), .ALUMODEREG(0), .INMODEREG(0),
      .CARRYINREG(0), .CARRYINSELREG(0),
      .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_DPORT("FALSE"), .USE_MULT("MULTIPLY"),
      .USE_SIMD("ONE48"), .USE_PATTERN_DETECT("NO_PATDET"), .AUTORESET_PATDET("NO_RESET"),
      .SEL_MASK("MASK"), .SEL_PATTERN("PATTERN")
  ) dsp (
      .CLK(clk), .A(ax), .B(bx), .P(px),
      .C(48'hffffffffffff), .D(25'd0), .CARRYIN(1'b0),
      .OPMODE(7'b0000101), .ALUMODE(4'b0000), .INMODE(5'b00000), .CARRYINSEL(3'b000),
      .ACIN(30'd0), .BCIN(18'd0), .PCIN(48'd0), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CEA1(1'b1), .CEA2(1'b1), .CEB1(1'b1), .CEB2(1'b1), .CEM(1'b1), .CEP(1'b1),
      .CEC(1'b0), .CED(1'b0), .CEAD(1'b0), .CECTRL(1'b1), .CEALUMODE(1'b1), .CEINMODE(1'b1),
      .CECARRYIN(1'b1),
      .RSTA(1'b0), .RSTB(1'b0), .RSTM(1'b0), .RSTP(1'b0), .RSTC(1'b0), .RSTD(1'b0),
      .RSTCTRL(1'b0), .RSTALUMODE(1'b0), .RSTINMODE(1'b0), .RSTALLCARRYIN(1'b0)
  );
`elsif KINEGATE_MULT18X18D
  generate
    if (AW > 18 || BW > 18 || LATENCY != 2)
      kg_mul_outside_mult18x18d refused ();
  endgenerate
  wire signed [17:0] ax = a;
  wire signed [17:0] bx = b;
  wire [35:0] px;
  assign p = px[AW+BW-1:0];
  // One CE0 net (tied to 1) for the whole chip: the four multipliers of a block share their enables.
  MULT18X18D #(
      .REG_INPUTA_CLK("CLK0"), .REG_INPUTA_CE("CE0"), .REG_INPUTA_RST("RST0"),
      .REG_INPUTB_CLK("CLK0"), .REG_INPUTB_CE("CE0"), .REG_INPUTB_RST("RST0"),
      .REG_OUTPUT_CLK("CLK0"), .REG_OUTPUT_CE("CE0"), .REG_OUTPUT_RST("RST0"),
      .GSR("DISABLED"), .RESETMODE("SYNC"), .SOURCEB_MODE("B_SHIFT")
  ) dsp (
      .CLK0(clk), .CE0(1'b1), .RST0(1'b0),
      .SIGNEDA(1'b1), .SIGNEDB(1'b1), .SOURCEA(1'b0), .SOURCEB(1'b0),
      .A0(ax[0]), .A1(ax[1]), .A2(ax[2]), .A3(ax[3]), .A4(ax[4]), .A5(ax[5]),
      .A6(ax[6]), .A7(ax[7]), .A8(ax[8]), .A9(ax[9]), .A10(ax[10]), .A11(ax[11]),
      .A12(ax[12]), .A13(ax[13]), .A14(ax[14]), .A15(ax[15]), .A16(ax[16]), .A17(ax[17]),
      .B0(bx[0]), .B1(bx[1]), .B2(bx[2]), .B3(bx[3]), .B4(bx[4]), .B5(bx[5]),
      .B6(bx[6]), .B7(bx[7]), .B8(bx[8]), .B9(bx[9]), .B10(bx[10]), .B11(bx[11]),
      .B12(bx[12]), .B13(bx[13]), .B14(bx[14]), .B15(bx[15]), .B16(bx[16]), .B17(bx[17]),
      .C0(1'b0), .C1(1'b0), .C2(1'b0), .C3(1'b0), .C4(1'b0), .C5(1'b0),
      .C6(1'b0), .C7(1'b0), .C8(1'b0), .C9(1'b0), .C10(1'b0), .C11(1'b0),
      .C12(1'b0), .C13(1'b0), .C14(1'b0), .C15(1'b0), .C16(1'b0), .C17(1'b0),
      .P0(px[0]), .P1(px[1]), .P2(px[2]), .P3(px[3]), .P4(px[4]), .P5(px[5]),
      .P6(px[6]), .P7(px[7]), .P8(px[8]), .P9(px[9]), .P10(px[10]), .P11(px[11]),
      .P12(px[12]), .P13(px[13]), .P14(px[14]), .P15(px[15]), .P16(px[16]), .P17(px[17]),
      .P18(px[18]), .P19(px[19]), .P20(px[20]), .P21(px[21]), .P22(px[22]), .P23(px[23]),
      .P24(px[24]), .P25(px[25]), .P26(px[26]), .P27(px[27]), .P28(px[28]), .P29(px[29]),
      .P30(px[30]), .P31(px[31]), .P32(px[32]), .P33(px[33]), .P34(px[34]), .P35(px[35])
  );
`elsif KINEGATE_SB_MAC16
  generate
    if (AW > 16 || BW > 16 || LATENCY != 2)
      kg_mul_outside_sb_mac16 refused ();
  endgenerate
  wire signed [15:0] ax = a;
  wire signed [15:0] bx = b;
  wire [31:0] px;
  assign p = px[AW+BW-1:0];
  SB_MAC16 #(
      .NEG_TRIGGER(1'b0), .MODE_8x8(1'b0), .A_SIGNED(1'b1), .B_SIGNED(1'b1),
      .A_REG(1'b1), .B_REG(1'b1), .C_REG(1'b0), .D_REG(1'b0),
      .TOP_8x8_MULT_REG(1'b0), .BOT_8x8_MULT_REG(1'b0),
      .PIPELINE_16x16_MULT_REG1(1'b0), .PIPELINE_16x16_MULT_REG2(1'b1),
      .TOPOUTPUT_SELECT(2'b11), .TOPADDSUB_LOWERINPUT(2'b00), .TOPADDSUB_UPPERINPUT(1'b0),
      .TOPADDSUB_CARRYSELECT(2'b00), .BOTOUTPUT_SELECT(2'b11), .BOTADDSUB_LOWERINPUT(2'b00),
      .BOTADDSUB_UPPERINPUT(1'b0), .BOTADDSUB_CARRYSELECT(2'b00)
  ) dsp (
      .CLK(clk), .CE(1'b1), .A(ax), .B(bx), .C(16'd0), .D(16'd0), .O(px),
      .AHOLD(1'b0), .BHOLD(1'b0), .CHOLD(1'b0), .DHOLD(1'b0),
      .IRSTTOP(1'b0), .IRSTBOT(1'b0), .ORSTTOP(1'b0), .ORSTBOT(1'b0),
      .OLOADTOP(1'b0), .OLOADBOT(1'b0), .OHOLDTOP(1'b0), .OHOLDBOT(1'b0),
      .ADDSUBTOP(1'b0), .ADDSUBBOT(1'b0), .CI(1'b0), .ACCUMCI(1'b0), .SIGNEXTIN(1'b0)
  );
`else
  reg signed [AW-1:0] ar;
  reg signed [BW-1:0] br;
  (* use_dsp = "yes" *) reg signed [AW+BW-1:0] pr;
  assign p = pr;
  always @(posedge clk) begin
    ar <= a;
    br <= b;
  end
  generate
    if (LATENCY == 2) begin : short_pipe
      always @(posedge clk) pr <= ar * br;
    end else begin : long_pipe
      reg signed [AW+BW-1:0] m;
      always @(posedge clk) begin
        m  <= ar * br;
        pr <= m;
      end
    end
  endgenerate
`endif
endmodule
