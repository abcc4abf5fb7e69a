// SPDX-License-Identifier: Apache-2.0
// Stage stamps of a cable end, simulation only: the cycles at which frames' first beats pass
//   <TAP>.core_tx  from the core to the MAC              <TAP>.phy_rx  from the cable to the PHY
//   <TAP>.mac_tx   from the serialiser to the PHY        <TAP>.mac_rx  from the PHY to the MAC
//   <TAP>.phy_tx   from the PHY to the cable             <TAP>.core_rx from the MAC to the core
`default_nettype none

module link_taps #(
    parameter TAP = "link"  /// prefix of the stamps' names
) (
    input wire       clk,     /// clock
    input wire       rst,     /// synchronous reset, active high
    input wire [1:0] core_tx, /// {beat taken, its last flag}
    input wire [1:0] mac_tx,  /// {beat, its last flag} at each place
    input wire [1:0] phy_tx,  /// {beat, last}
    input wire [1:0] phy_rx,  /// {beat, last}
    input wire [1:0] mac_rx,  /// {beat, last}
    input wire [1:0] core_rx  /// {beat, last}
);

`ifndef SYNTHESIS
  wire [11:0] at = {core_tx, core_rx, mac_rx, phy_rx, phy_tx, mac_tx};
  logic [5:0] inside_frame;  // the next beat at this place is not a frame's first
  always_ff @(posedge clk) begin
    for (int i = 0; i < 6; i++) begin
      if (rst) inside_frame[i] <= 1'b0;
      else if (at[2*i+1]) inside_frame[i] <= !at[2*i];
    end
  end

  latency_tap #(.NAME({TAP, ".mac_tx"})) u_mac_tx (.clk(clk), .rst(rst), .event_i(at[1] && !inside_frame[0]));
  latency_tap #(.NAME({TAP, ".phy_tx"})) u_phy_tx (.clk(clk), .rst(rst), .event_i(at[3] && !inside_frame[1]));
  latency_tap #(.NAME({TAP, ".phy_rx"})) u_phy_rx (.clk(clk), .rst(rst), .event_i(at[5] && !inside_frame[2]));
  latency_tap #(.NAME({TAP, ".mac_rx"})) u_mac_rx (.clk(clk), .rst(rst), .event_i(at[7] && !inside_frame[3]));
  latency_tap #(.NAME({TAP, ".core_rx"})) u_core_rx (.clk(clk), .rst(rst), .event_i(at[9] && !inside_frame[4]));
  latency_tap #(.NAME({TAP, ".core_tx"})) u_core_tx (.clk(clk), .rst(rst), .event_i(at[11] && !inside_frame[5]));
`endif

endmodule

`default_nettype wire
