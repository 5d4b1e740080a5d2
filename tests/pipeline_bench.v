// One transfer every @II@ cycles into a pipeline; its outputs, in order, to outputs.hex.
`timescale 1ns / 1ns
module bench;
  reg clk = 0, rst = 1;
  reg [@IN_WIDTH@-1:0] inputs[0:@COUNT@-1];
  reg [@IN_WIDTH@-1:0] word = 0;
  integer sent = 0, got = 0, cycle = 0, first = -1, file;
  reg valid = 0;
  wire accept, o_valid;
  @WIRES@
  wire [@OUT_WIDTH@-1:0] results = @OUTPUTS@;
  pipeline dut (.clk(clk), .rst(rst), .accept(accept), .i_valid(valid), .o_valid(o_valid), @PORTS@);
  always #5 clk = !clk;
  initial begin
    $readmemh("inputs.hex", inputs);
    file = $fopen("outputs.hex");
    repeat (3) @(negedge clk);
    rst = 0;
    while (got < @COUNT@) begin
      if (o_valid !== 0) begin
        if (o_valid !== 1 || cycle != first + @LATENCY@ + @II@ * got) begin
          $display("output %0d in cycle %0d, first accepted in %0d", got, cycle, first);
          $fatal;
        end
        $fdisplay(file, "%h", results);
        got = got + 1;
      end
      valid = accept && sent < @COUNT@;
      word = valid ? inputs[sent] : ~word;
      if (valid && first < 0) first = cycle;
      sent = sent + valid;
      @(negedge clk);
      cycle = cycle + 1;
      if (cycle > first + @LATENCY@ + @II@ * (@COUNT@ + 1)) $fatal(1, "outputs are missing");
    end
    $finish;
  end
endmodule
