// The other end of @NAME@: its AXI interfaces as the streams of fields that the bench drives.
// Words of a packet: @IN_WORDS@
// Words of a result: @OUT_WORDS@

module @NAME@_peer (
  input clk, input rst,
  input i_valid, output i_ready, input [@TAG_BITS@-1:0] i_tag,
@PORTS@
//@ geometry
  input geometry_valid, output geometry_ready,
  input [7:0] geometry_address, input [31:0] geometry_data,
  output [31:0] geometry_checksum, output geometry_agrees, output geometry_fault,
//@ end
  output reg o_valid = 0, input o_ready, output [@TAG_BITS@-1:0] o_tag
);
  localparam BEAT = @BEAT_BITS@;
  localparam IN_BEATS = @IN_BEATS@;
  localparam OUT_BEATS = @OUT_BEATS@;

  // Packets in: a transfer is shifted out beat by beat, the lowest words first.
  reg [IN_BEATS*BEAT-1:0] packet = 0;
  reg [7:0] left = 0;
  wire s_axis_tready;
  wire s_axis_tvalid = left != 0;
  wire s_axis_tlast = left == 1;
  assign i_ready = !s_axis_tvalid || (s_axis_tlast && s_axis_tready);
  always @(posedge clk)
    if (rst) left <= 0;
    else if (i_valid && i_ready) begin
      packet <= @PACKET@;
      left <= IN_BEATS;
    end else if (s_axis_tvalid && s_axis_tready) begin
      packet <= packet >> BEAT;
      left <= left - 1;
    end

  // Tags wait beside the kernel, which does not see them.
  reg [@TAG_BITS@-1:0] tags [0:4095];
  reg [11:0] tag_in = 0, tag_out = 0;
  always @(posedge clk)
    if (rst) begin
      tag_in <= 0;
      tag_out <= 0;
    end else begin
      if (i_valid && i_ready) begin
        tags[tag_in] <= i_tag;
        tag_in <= tag_in + 1;
      end
      if (o_valid && o_ready) tag_out <= tag_out + 1;
    end

  // Packets out: beats are shifted in; a packet that is not as it should be spoils the tag.
  wire [BEAT-1:0] m_axis_tdata;
  wire [BEAT/8-1:0] m_axis_tkeep;
  wire m_axis_tvalid, m_axis_tlast;
  wire m_axis_tready = !o_valid;
  reg [OUT_BEATS*BEAT-1:0] result = 0;
  reg [7:0] came = 0;
  reg broken = 0;
  wire whole = came == OUT_BEATS - 1;
  always @(posedge clk)
    if (rst) begin
      came <= 0;
      o_valid <= 0;
      broken <= 0;
    end else if (m_axis_tvalid && m_axis_tready) begin
      result <= {m_axis_tdata, result} >> BEAT;
      came <= whole ? 0 : came + 1;
      o_valid <= whole;
      broken <= (came != 0 && broken) || m_axis_tlast !== whole || &m_axis_tkeep !== 1'b1;
    end else if (o_ready) o_valid <= 0;
@FIELDS@
  wire unextended = @UNEXTENDED@;
  assign o_tag = tags[tag_out] ^ {@TAG_BITS@{broken || unextended}};

  // AXI4-Lite: idle@LITE@.
  wire awready, wready, bvalid, arready, rvalid;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;
//@ geometry
  localparam AT_GEOMETRY = @AT_GEOMETRY@, AT_STATE = @AT_STATE@, AT_EVENT = @AT_EVENT@;
  localparam AT_ADDRESS = @AT_ADDRESS@, AT_DATA = @AT_DATA@;
  reg [2:0] step = 0; // of a round: two writes, three reads
  reg awvalid = 0, wvalid = 0, arvalid = 0, waiting = 0;
  reg [11:0] address = 0;
  reg [31:0] wdata = 0, checksum = 0;
  reg wanted = 0, taken = 0, agrees = 0, fault = 0;
  wire answered = waiting && (step < 2 ? bvalid : rvalid);
  assign geometry_ready = taken;
  assign geometry_checksum = checksum;
  assign geometry_agrees = agrees;
  assign geometry_fault = fault;
  always @(posedge clk)
    if (rst) begin
      step <= 2;
      {awvalid, wvalid, arvalid, waiting, wanted, taken, agrees, fault} <= 0;
    end else begin
      taken <= 0;
      if (awready) awvalid <= 0;
      if (wready) wvalid <= 0;
      if (arready) arvalid <= 0;
      if (!waiting) begin
        waiting <= 1;
        if (step < 2) begin
          {awvalid, wvalid} <= 3;
          address <= step == 0 ? AT_ADDRESS : AT_DATA;
          wdata <= step == 0 ? geometry_address : geometry_data;
        end else begin
          arvalid <= 1;
          address <= step == 2 ? AT_STATE : step == 3 ? AT_EVENT : AT_GEOMETRY;
        end
      end else if (answered) begin
        waiting <= 0;
        step <= step + 1;
        if (step == 1) wanted <= 1;
        if (step == 2) begin
          agrees <= rdata[3] && !wanted && !geometry_valid;
          if (wanted && rdata[2]) step <= 2;
          else if (wanted) begin
            wanted <= 0;
            taken <= 1;
          end
        end
        if (step == 3) fault <= rdata[@FAULT@];
        if (step == 4) begin
          checksum <= rdata;
          step <= geometry_valid ? 0 : 2;
        end
      end
    end
//@ end

  @NAME@ dut (
    .aclk(clk), .aresetn(!rst), .irq(),
    .s_axis_tdata(packet[BEAT-1:0]), .s_axis_tkeep({BEAT/8{1'b1}}), .s_axis_tlast(s_axis_tlast),
    .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast),
    .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready),
    .s_axi_awaddr(@ADDRESS@), .s_axi_awprot(3'd0), .s_axi_awvalid(@AWVALID@),
    .s_axi_awready(awready), .s_axi_wdata(@WDATA@), .s_axi_wstrb(4'd15),
    .s_axi_wvalid(@WVALID@), .s_axi_wready(wready),
    .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(1'b1),
    .s_axi_araddr(@ADDRESS@), .s_axi_arprot(3'd0), .s_axi_arvalid(@ARVALID@),
    .s_axi_arready(arready), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rvalid(rvalid),
    .s_axi_rready(1'b1)
  );
endmodule
