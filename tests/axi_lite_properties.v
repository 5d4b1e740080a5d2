// What AXI4-Lite asks of a subordinate, and that no access is lost, doubled or changed: for any
// manager, since nothing is assumed of one but a reset at first.
module properties(
  input clk, rst,
  input [11:0] awaddr, araddr, input [2:0] prot, input awvalid, wvalid, bready, arvalid, rready,
  input [31:0] wdata, read_data, input [3:0] wstrb, input write_good, read_good
);
  wire awready, wready, bvalid, arready, rvalid, write, read;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata, write_data, write_mask;
  wire [9:0] write_address, read_address;

  lite dut (
    .clk(clk), .rst(rst),
    .s_axi_awaddr(awaddr), .s_axi_awprot(prot), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
    .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
    .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
    .s_axi_araddr(araddr), .s_axi_arprot(prot), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
    .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rvalid(rvalid), .s_axi_rready(rready),
    .write(write), .write_address(write_address), .write_data(write_data),
    .write_mask(write_mask), .write_good(write_good),
    .read(read), .read_address(read_address), .read_data(read_data), .read_good(read_good)
  );

  reg begun = 0;
  always @(posedge clk) begun <= 1;
  always @* if (!begun) assume (rst);

  // Accesses that were accepted and not answered, and what was accepted last.
  reg [1:0] addressed = 0, given = 0, asked = 0;
  reg [11:0] last_awaddr = 0, last_araddr = 0;
  reg [31:0] last_wdata = 0;
  reg [3:0] last_wstrb = 0;
  always @(posedge clk) begin
    addressed <= rst ? 0 : addressed + (awvalid && awready) - (bvalid && bready);
    given <= rst ? 0 : given + (wvalid && wready) - (bvalid && bready);
    asked <= rst ? 0 : asked + (arvalid && arready) - (rvalid && rready);
    if (awvalid && awready) last_awaddr <= awaddr;
    if (wvalid && wready) {last_wdata, last_wstrb} <= {wdata, wstrb};
    if (arvalid && arready) last_araddr <= araddr;
  end

  // A response belongs to an address and to data; each is answered once.
  always @* if (begun && !rst) begin
    assert (addressed == !awready + bvalid);
    assert (given == !wready + bvalid);
    assert (asked == !arready + rvalid);
    assert (write == (!awready && !wready && !bvalid));
    assert (read == (!arready && !rvalid));
    if (!awready) assert (write_address == last_awaddr[11:2]);
    if (!arready) assert (read_address == last_araddr[11:2]);
    if (!wready) begin
      assert (write_data == last_wdata);
      assert (write_mask == {{8{last_wstrb[3]}}, {8{last_wstrb[2]}}, {8{last_wstrb[1]}},
                             {8{last_wstrb[0]}}});
    end
  end

  // After a reset nothing is offered; what is offered stands until it is taken; an access is
  // answered in the next cycle with what it met.
  reg was_rst = 1, b_stood = 0, r_stood = 0, was_write = 0, was_read = 0;
  reg [1:0] was_bresp = 0, was_rresp = 0;
  reg [31:0] was_rdata = 0;
  reg was_write_good = 0, was_read_good = 0;
  reg [31:0] was_read_data = 0;
  always @(posedge clk) begin
    was_rst <= rst;
    b_stood <= bvalid && !bready && !rst;
    r_stood <= rvalid && !rready && !rst;
    {was_bresp, was_rresp, was_rdata} <= {bresp, rresp, rdata};
    {was_write, was_read} <= {write && !rst, read && !rst};
    {was_write_good, was_read_good, was_read_data} <= {write_good, read_good, read_data};
  end
  always @* if (begun) begin
    if (was_rst) assert (!bvalid && !rvalid);
    if (b_stood) assert (bvalid && bresp == was_bresp);
    if (r_stood) assert (rvalid && rresp == was_rresp && rdata == was_rdata);
    if (was_write) assert (bvalid && bresp == (was_write_good ? 0 : 2));
    if (was_read) assert (rvalid && rresp == (was_read_good ? 0 : 2) && rdata == was_read_data);
    if (!was_rst && !was_write && !b_stood) assert (!bvalid);
    if (!was_rst && !was_read && !r_stood) assert (!rvalid);
  end
endmodule
