// What the packets of AXI4-Stream are, for any source and any sink: transfers of three words, a
// signed one of 5 bits, an unsigned one of 32 and a signed one of 3.
module properties(
  input clk, rst,
  input [31:0] s_tdata, input [3:0] s_tkeep, input s_tlast, s_tvalid, open, batch,
  input valid_in, ends_in, input [39:0] word_in, input m_tready
);
  // --- packets to transfers
  wire s_tready, valid, unfit, ends, short_packet, long_packet, null_bytes, dropping, spoilt;
  wire [39:0] word;
  wire [1:0] at;
  reader reader (
    .clk(clk), .rst(rst),
    .s_axis_tdata(s_tdata), .s_axis_tkeep(s_tkeep), .s_axis_tlast(s_tlast),
    .s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready), .open(open), .batch(batch),
    .valid(valid), .word(word), .unfit(unfit), .ends(ends),
    .short_packet(short_packet), .long_packet(long_packet), .null_bytes(null_bytes),
    .index(at), .dropping(dropping), .spoilt(spoilt), .part_a(part_a), .part_b(part_b)
  );
  wire [4:0] part_a;
  wire [31:0] part_b;

  // Beats of the packet so far that are good, and whether the rest of it is to be dropped.
  reg [1:0] good = 0;
  reg lost = 0, odd = 0;
  reg [4:0] first = 0;
  reg [31:0] second = 0;
  wire moves = s_tvalid && s_tready;
  wire whole = s_tkeep == 15;
  wire signed [31:0] given = s_tdata;
  wire fits = good == 0 ? given >= -16 && given < 16 : good == 1 || (given >= -4 && given < 4);
  always @(posedge clk)
    if (rst) {good, lost, odd} <= 0;
    else if (moves) begin
      if (s_tlast) lost <= 0;
      else if (!lost) lost <= !whole || (good == 2 && !batch);
      good <= lost || !whole || s_tlast || good == 2 ? 0 : good + 1;
      odd <= !lost && whole && !s_tlast && good != 2 && (odd || !fits);
      if (!lost && whole && good == 0) first <= s_tdata;
      if (!lost && whole && good == 1) second <= s_tdata;
    end

  always @* begin
    assert (at == good && at != 3 && dropping == lost && spoilt == odd);
    if (lost) assert (good == 0);
    if (good == 0) assert (!odd);
    if (good >= 1) assert (part_a == first);
    if (good >= 2) assert (part_b == second);
    assert (s_tready == (lost || good != 2 || open));
    assert (valid == (moves && !lost && whole && good == 2 && (s_tlast || batch)));
    assert (null_bytes == (moves && !lost && !whole));
    assert (short_packet == (moves && !lost && whole && good != 2 && s_tlast));
    assert (long_packet == (moves && !lost && whole && good == 2 && !s_tlast && !batch));
    if (valid) begin
      assert (word == {s_tdata[2:0], second, first});
      assert (unfit == (odd || !fits));
      assert (ends == s_tlast);
    end
  end

  // --- transfers to packets
  wire ready, m_tvalid, m_tlast, kept_ends;
  wire [31:0] m_tdata;
  wire [3:0] m_tkeep;
  wire [39:0] kept;
  wire [1:0] next;
  writer writer (
    .clk(clk), .rst(rst),
    .valid(valid_in), .ready(ready), .word(word_in), .ends(ends_in),
    .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep), .m_axis_tlast(m_tlast),
    .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready),
    .index(next), .kept(kept), .kept_ends(kept_ends)
  );

  // Transfers taken and not yet wholly delivered, the oldest first, and its beats delivered.
  reg [1:0] held = 0, beat = 0;
  reg [40:0] oldest = 0, newest = 0;
  wire taken = valid_in && ready;
  wire over = m_tvalid && m_tready && beat == 2;
  always @(posedge clk)
    if (rst) {held, beat} <= 0;
    else begin
      held <= held + taken - over;
      if (m_tvalid && m_tready) beat <= over ? 0 : beat + 1;
      if (taken) newest <= {ends_in, word_in};
      if (taken && (held == 0 || (held == 1 && over))) oldest <= {ends_in, word_in};
      else if (over) oldest <= newest;
    end
  wire [31:0] right = beat == 0 ? {{27{oldest[4]}}, oldest[4:0]}
    : beat == 1 ? oldest[36:5] : {{29{oldest[39]}}, oldest[39:37]};

  always @* begin
    assert (held != 3 && beat != 3);
    assert (held == (m_tvalid && beat == 2) + !ready || (held == 1 && !ready));
    if (held == 1) assert (oldest == newest);
    if (held == 0) assert (!m_tvalid && ready && beat == 0);
    if (held == 2) assert (m_tvalid && beat == 2 && next == 0);
    if (!ready) assert ({kept_ends, kept} == newest);
    if (held == 1 && !ready) assert (next == beat + m_tvalid && next != 3);
    if (held == 1 && ready) assert (m_tvalid && beat == 2);
    if (m_tvalid) begin
      assert (m_tdata == right);
      assert (m_tkeep == 15);
      assert (m_tlast == (beat == 2 && oldest[40]));
    end
  end

  // What is offered stands until it is taken.
  reg stood = 0, was_last = 0;
  reg [31:0] was_data = 0;
  always @(posedge clk) begin
    stood <= m_tvalid && !m_tready && !rst;
    {was_last, was_data} <= {m_tlast, m_tdata};
  end
  always @* if (stood) assert (m_tvalid && m_tlast == was_last && m_tdata == was_data);
endmodule
