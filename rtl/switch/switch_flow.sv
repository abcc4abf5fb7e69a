// SPDX-License-Identifier: Apache-2.0
// Flow hash of a frame, combinational: CRC-16 with polynomial 0x1021 over the 12 bytes of the flow key, most
// significant bit first, as an XOR matrix (docs/switch.md, H4). The initial value is added to the first two bytes,
// which is the same.
`default_nettype none

module switch_flow (
    input  wire  [95:0] key,   /// flow key, its first byte in the upper bits
    input  wire  [15:0] seed,  /// initial value
    output wire  [15:0] flow   /// hash
);

  // Row i, bit j: does key bit j reach bit i of the hash?
  function automatic logic [16*96-1:0] rows();
    logic [15:0] col;
    col = 16'h8000;
    for (int j = 0; j < 96; j++) begin
      col = {col[14:0], 1'b0} ^ (col[15] ? 16'h1021 : 16'h0);
      for (int i = 0; i < 16; i++) rows[i*96+j] = col[i];
    end
  endfunction

  localparam logic [16*96-1:0] ROWS = rows();
  wire [95:0] seeded = key ^ {seed, 80'd0};

  for (genvar i = 0; i < 16; i++) begin : g_bit
    assign flow[i] = ^(seeded & ROWS[i*96+:96]);
  end

endmodule

`default_nettype wire
