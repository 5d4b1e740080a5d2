// Testbench of @NAME@: feeds vectors through its streams and checks every output.
//
//   $ iverilog -g2005 -o sim @NAME@.v @NAME@_tb.v && vvp sim +seed=1
//   $ verilator --binary --timing -Wno-fatal --top @NAME@_tb @NAME@.v @NAME@_tb.v
//
// Options, each written +name=value:
//   vectors    how many (default @VECTORS@)
//   in         inputs, one hexadecimal word a line (default @NAME@_in.hex)
//   expected   outputs to compare with, likewise (default @NAME@_expected.hex, or none with +out)
//   out        file for the outputs, in the same form
//   trace      file for "vector accept-cycle present-cycle" lines
//   vcd        file for waves
//   stall_in, stall_out   chance in percent that a cycle offers or takes nothing
//   seed       of these chances
//   isolated   (without a value) offer a vector when the output of the last one was taken
//@ geometry
//   geometry   words to load before anything else, likewise; the checksum is the last one
//@ end
//   reset_at   cycle of one reset, after which the bench starts over from vector 0
//   watchdog   cycles without any transfer that are a failure
//
// Words: the fields side by side, the first one in the lowest bits, in two's complement:
//   in:       @IN_WORD@
//   expected: @OUT_WORD@
// The tag is the vector's number. Latency: clock edges from the cycle that accepts a vector to the
// first one that presents its output. II: cycles between two accepted vectors.

`timescale 1ns/1ps

`ifndef KINEGATE_CAPACITY
`define KINEGATE_CAPACITY @VECTORS@
`endif

module @NAME@_tb;
  localparam CAPACITY = `KINEGATE_CAPACITY;
  localparam IN_BITS = @IN_BITS@;
  localparam OUT_BITS = @OUT_BITS@;
  localparam TAG_BITS = @TAG_BITS@;
  localparam DRAIN = @DRAIN@; // cycles to wait for outputs that should not come
  localparam COMPLAINTS = 10; // as many are shown

  reg clk = 0, rst = 0;
  reg i_valid = 0, o_ready = 0;
  wire i_ready, o_valid;
  reg [IN_BITS-1:0] in_word = 0;
  reg [TAG_BITS-1:0] i_tag = 0;
  wire [TAG_BITS-1:0] o_tag;
@DECLARATIONS@
//@ geometry

  localparam GEOMETRY_WORDS = @GEOMETRY_WORDS@;
  reg geometry_valid = 0;
  reg [7:0] geometry_address = 0;
  reg [31:0] geometry_data = 0;
  wire geometry_ready, geometry_agrees, geometry_fault;
  wire [31:0] geometry_checksum;
  reg [31:0] geometry_words [0:GEOMETRY_WORDS-1];
  reg [8*1024:1] geometry_file;
  reg load, misloaded;
  integer loaded;
//@ end

  @DUT@ dut (
    .clk(clk), .rst(rst),
//@ geometry
    .geometry_valid(geometry_valid), .geometry_ready(geometry_ready),
    .geometry_address(geometry_address), .geometry_data(geometry_data),
    .geometry_checksum(geometry_checksum), .geometry_agrees(geometry_agrees),
    .geometry_fault(geometry_fault),
//@ end
    .i_valid(i_valid), .i_ready(i_ready), .i_tag(i_tag),
    .o_valid(o_valid), .o_ready(o_ready), .o_tag(o_tag),
@CONNECTIONS@
  );

  reg [IN_BITS-1:0] in_words [0:CAPACITY-1];
  reg [OUT_BITS-1:0] expected_words [0:CAPACITY-1];
  integer accept_cycle [0:CAPACITY-1];
  integer present_cycle [0:CAPACITY-1];

  integer vectors, stall_in, stall_out, reset_at, watchdog;
  reg isolated, check, write, trace;
  reg [32:1] random;
  reg [8*1024:1] in_file, expected_file, out_file, trace_file, vcd_file;
  integer out_handle, trace_handle;

  integer cycle, first_cycle, last_cycle, quiet, resets, k;
  integer sent, received, mismatches, complaints;
  integer latency, latency_min, latency_max, ii, ii_min, ii_max;
  reg [63:0] latency_sum, ii_sum;
  reg offering, presenting, wrong, timeout;
  reg [TAG_BITS+OUT_BITS-1:0] held;
  reg [OUT_BITS-1:0] expected;

  task options; begin
    if (!$value$plusargs("vectors=%d", vectors)) vectors = @VECTORS@;
    if (!$value$plusargs("stall_in=%d", stall_in)) stall_in = 0;
    if (!$value$plusargs("stall_out=%d", stall_out)) stall_out = 0;
    if (!$value$plusargs("reset_at=%d", reset_at)) reset_at = -1;
    if (!$value$plusargs("watchdog=%d", watchdog)) watchdog = @WATCHDOG@;
    if (!$value$plusargs("seed=%d", random)) random = 1;
    random = {random[16:1], random[32:17]} ^ 32'h9e3779b9; // any seed but one starts well
    if (random == 0) random = 1;
    isolated = $test$plusargs("isolated");
    if (!$value$plusargs("in=%s", in_file)) in_file = "@NAME@_in.hex";
    write = $value$plusargs("out=%s", out_file) != 0;
    check = 1;
    if (!$value$plusargs("expected=%s", expected_file)) begin
      expected_file = "@NAME@_expected.hex";
      check = !write;
    end
    trace = $value$plusargs("trace=%s", trace_file) != 0;
//@ geometry
    load = $value$plusargs("geometry=%s", geometry_file) != 0;
    misloaded = 0;
//@ end
    if ($value$plusargs("vcd=%s", vcd_file)) begin
      $dumpfile(vcd_file);
      $dumpvars(0, @NAME@_tb);
    end
  end endtask

  // From vector 0 on, also after the reset.
  task start; begin
    if (out_handle != 0) $fclose(out_handle);
    out_handle = write ? $fopen(out_file, "w") : 0;
    sent = 0; received = 0; mismatches = 0; complaints = 0; quiet = 0;
    latency_min = 0; latency_max = 0; latency_sum = 0;
    ii_min = 0; ii_max = 0; ii_sum = 0;
    offering = 0; presenting = 0; timeout = 0;
    first_cycle = cycle + 1;
    last_cycle = cycle;
  end endtask

//@ geometry
  // Loads the words before the first transfer, and waits until the kernel agrees with them.
  task load_geometry; begin
    $readmemh(geometry_file, geometry_words, 0, GEOMETRY_WORDS - 1);
    loaded = 0;
    k = 0;
    while (k < 64 * GEOMETRY_WORDS && (loaded < GEOMETRY_WORDS || geometry_agrees !== 1'b1)) begin
      k = k + 1;
      #5 clk = 1;
      #1 rst = 0;
      geometry_valid = loaded < GEOMETRY_WORDS;
      geometry_address = loaded;
      geometry_data = geometry_words[loaded < GEOMETRY_WORDS ? loaded : 0];
      #4 clk = 0;
      #4 if (geometry_valid && geometry_ready === 1'b1) loaded = loaded + 1;
      #1;
    end
    misloaded = geometry_agrees !== 1'b1 || geometry_fault !== 1'b0;
    if (misloaded)
      $display("MISMATCH geometry: words=%0d of %0d agrees=%b fault=%b checksum=%h", loaded,
        GEOMETRY_WORDS, geometry_agrees, geometry_fault, geometry_checksum);
  end endtask

//@ end
  // The next number of a 32-bit xorshift generator: the same in every simulator.
  task draw; begin
    random = random ^ (random << 13);
    random = random ^ (random >> 17);
    random = random ^ (random << 5);
  end endtask

  task complain; begin
    wrong = 1;
    complaints = complaints + 1;
  end endtask

  // What the bench puts on the ports for the coming clock edge. An offer stands until it is taken;
  // without an offer the fields hold nonsense.
  task drive; begin
    draw;
    if (sent >= vectors || (isolated && sent != received)) offering = 0;
    else if (!offering) offering = random % 100 >= stall_in;
    i_valid = offering;
    in_word = in_words[sent < vectors ? sent : 0] ^ {IN_BITS{!offering}};
    i_tag = sent ^ {TAG_BITS{!offering}};
    draw;
    o_ready = random % 100 >= stall_out;
    rst = cycle == reset_at;
  end endtask

  // What the coming clock edge transfers.
  task sample; begin
    wrong = 0;
    quiet = quiet + 1;
    if (o_valid !== 1'b0 && o_valid !== 1'b1 || i_ready !== 1'b0 && i_ready !== 1'b1) begin
      complain;
      if (complaints <= COMPLAINTS)
        $display("MISMATCH cycle=%0d i_ready=%b o_valid=%b", cycle, i_ready, o_valid);
    end
    if (o_valid === 1'b1 && received >= sent) begin
      complain;
      if (complaints <= COMPLAINTS) $display("MISMATCH cycle=%0d an output too many", cycle);
    end else if (o_valid === 1'b1) begin
      if (!presenting) note_present;
      else if (held !== {o_tag, out_word}) begin
        complain;
        if (complaints <= COMPLAINTS)
          $display("MISMATCH vector=%0d the output changed before it was taken", received);
      end
      if (o_ready) take;
    end else if (presenting) begin
      complain;
      if (complaints <= COMPLAINTS) $display("MISMATCH vector=%0d output withdrawn", received);
      presenting = 0;
    end
    if (wrong) mismatches = mismatches + 1;
    if (i_valid && i_ready === 1'b1) note_accept;
    if (quiet > watchdog && received < vectors) timeout = 1;
  end endtask

  task note_accept; begin
    if (sent > 0) begin
      ii = cycle - accept_cycle[sent - 1];
      if (sent == 1 || ii < ii_min) ii_min = ii;
      if (ii > ii_max) ii_max = ii;
      ii_sum = ii_sum + ii;
    end
    accept_cycle[sent] = cycle;
    sent = sent + 1;
    offering = 0;
    quiet = 0;
  end endtask

  task note_present; begin
    presenting = 1;
    held = {o_tag, out_word};
    present_cycle[received] = cycle;
    latency = cycle - accept_cycle[received];
    if (received == 0 || latency < latency_min) latency_min = latency;
    if (latency > latency_max) latency_max = latency;
    latency_sum = latency_sum + latency;
  end endtask

  task take; begin
    if (check) compare;
    if (o_tag !== received[TAG_BITS-1:0]) begin
      complain;
      if (complaints <= COMPLAINTS)
        $display("MISMATCH vector=%0d field=tag got=%0d expected=%0d", received, o_tag,
          received[TAG_BITS-1:0]);
    end
    if (write) $fwrite(out_handle, "%h\n", out_word);
    received = received + 1;
    presenting = 0;
    quiet = 0;
    last_cycle = cycle;
  end endtask

  task compare; begin
    expected = expected_words[received];
    if (out_word !== expected) begin
      complain;
      if (complaints <= COMPLAINTS) begin
@COMPARISONS@
      end
    end
  end endtask

  task report; begin
//@ geometry
    if (misloaded) mismatches = mismatches + 1;
//@ end
    if (write) $fclose(out_handle);
    if (trace) begin
      trace_handle = $fopen(trace_file, "w");
      for (k = 0; k < received; k = k + 1)
        $fwrite(trace_handle, "%0d %0d %0d\n", k, accept_cycle[k], present_cycle[k]);
      $fclose(trace_handle);
    end
    if (timeout) $display("TIMEOUT no transfer for %0d cycles", watchdog);
    $write("RESULT vectors=%0d received=%0d mismatches=%0d", vectors, received, mismatches);
    $write(" cycles=%0d latency_min=%0d latency_max=%0d latency_sum=%0d",
      last_cycle - first_cycle + 1, latency_min, latency_max, latency_sum);
    $write(" ii_min=%0d ii_max=%0d ii_sum=%0d", ii_min, ii_max, ii_sum);
    $display(" resets=%0d timeout=%0d", resets, timeout);
    if (received == vectors && mismatches == 0 && !timeout) $display("PASS");
    else $display("FAIL");
  end endtask

  task run; begin
    $readmemh(in_file, in_words, 0, vectors - 1);
    if (check) $readmemh(expected_file, expected_words, 0, vectors - 1);
    start;
    #1 rst = 1; // an edge: `always @*` blocks of the kernel have not run at time 0
    repeat (2) begin
      #5 clk = 1;
      #5 clk = 0;
    end
//@ geometry
    if (load) load_geometry;
//@ end
    while (!timeout && (received < vectors || quiet < DRAIN)) begin
      cycle = cycle + 1;
      #5 clk = 1;
      #1 drive;
      #4 clk = 0;
      #4;
      if (rst) begin
        resets = resets + 1;
        start;
      end else sample;
      #1;
    end
  end endtask

  // One process does everything in one order, away from the clock edge, so that no simulator can
  // order it in another way.
  initial begin
    cycle = -1;
    resets = 0;
    out_handle = 0;
    options;
    if (vectors > 0 && vectors <= CAPACITY) begin
      run;
      report;
    end else begin
      $display("vectors=%0d: expected 1 to %0d (define KINEGATE_CAPACITY)", vectors, CAPACITY);
      $display("FAIL");
    end
    $finish;
  end
endmodule
