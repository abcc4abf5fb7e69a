// SPDX-License-Identifier: Apache-2.0
// link_credit of two ends of a direction: `near` sends beats, `far` frees cells and says so in CF sets, of which any may
// be lost on their way of DELAY cycles. A frame starts with credit for a largest one (S2); a core frees what it holds, and
// holds what has left the sender or less (docs/link.md, C1 to C5). Credits, cells in use and frees not yet known make up
// the far cells; never a beat without credit; a CF that arrives tells all that was freed when it left, whatever was lost
// before; a core that counts itself is given each cell once.
`default_nettype none
`include "formal.svh"

module formal_link_credit #(
    parameter int LANES = 2,  /// lanes
    parameter int M     = 3,  /// beats of a largest frame
    parameter int DELAY = 2,  /// cycles of a CF on its way
    parameter int CELLS = 4,  /// far cells
    parameter int FIRST = 32766  /// counters at a fresh start
) (
    input wire                 clk,        /// clock
    input wire                 rst,        /// reset
    input wire                 fresh,      /// state OFF at both ends
    input wire                 load,       /// far cells become known
    input wire                 go,         /// a beat would leave
    input wire                 ends,       /// it would be its frame's last
    input wire [LANES > 1 ? $clog2(LANES)-1 : 0:0] starts_lane,  /// lane of a frame that starts
    input wire [  LANES*8-1:0] freed,      /// cells that the far core frees
    input wire                 say,        /// a CF leaves
    input wire                 lost        /// the CF that would arrive is lost
);

  localparam int LW = LANES > 1 ? $clog2(LANES) : 1;

  wire [14:0] cnt_init = 15'(FIRST);
  wire [9:0] far_init = 10'(CELLS);

  // ---- sender -----------------------------------------------------------------------------------------------
  logic loaded;  // the session has begun
  logic [7:0] left;  // beats of the frame that its room was kept for
  logic [LW-1:0] lane_now;
  wire [LANES*16-1:0] credits;
  wire [LW-1:0] sent_lane = left != 0 ? lane_now : starts_lane;
  wire starts = left == 0 && credits[sent_lane*16+:16] >= 16'(M);
  wire sent = go && loaded && !load && (left != 0 || starts);
  always_ff @(posedge clk) begin
    if (rst || fresh) begin
      loaded <= rst && load;
      left   <= '0;
    end else begin
      if (load) loaded <= 1'b1;
      if (sent) left <= ends ? 8'd0 : left != 0 ? left - 8'd1 : 8'(M - 1);
    end
    if (sent) lane_now <= sent_lane;
  end

  // ---- CF on its way ----------------------------------------------------------------------------------------
  logic [39:0] way [DELAY];
  logic [DELAY-1:0] on_way;
  wire [39:0] words;
  wire arrives = on_way[DELAY-1] && !lost && loaded;
  wire says = say && loaded;
  always_ff @(posedge clk) begin
    on_way <= rst || fresh ? '0 : DELAY'({on_way, says});
    way[0] <= words;
    for (int i = 1; i < DELAY; i++) way[i] <= way[i-1];
  end

  wire [LANES*8-1:0] given;
  link_credit #(.LANES(LANES)) near (
      .clk(clk), .rst(rst), .fresh(fresh), .cnt_init(cnt_init), .load(load), .far_init(far_init), .up(loaded),
      .sent(sent), .sent_lane(sent_lane), .free_cells('0), .cf_valid(arrives), .cf_one(way[DELAY-1][39:20]),
      .cf_two(way[DELAY-1][19:0]), .say(1'b0), .words(), .many(), .some(), .credits(credits), .m_credit(given));
  link_credit #(.LANES(LANES)) far (
      .clk(clk), .rst(rst), .fresh(fresh), .cnt_init(cnt_init), .load(load), .far_init(far_init), .up(loaded),
      .sent(1'b0), .sent_lane('0), .free_cells(freed), .cf_valid(1'b0), .cf_one('0), .cf_two('0), .say(says),
      .words(words), .many(), .some(), .credits(), .m_credit());

  `FORMAL_START
  always_comb begin
    assume (32'(sent_lane) < LANES);
    assume (!load || !loaded);  // B4: accepted once a session
    assume (!load || rst || !fresh);
  end

  for (genvar v = 0; v < LANES; v++) begin : g_of_lane
    wire [14:0] used = near.g_lane[v].cc - far.g_freed[v].cf;  // beats on their way and cells in use
    wire [14:0] unknown = far.g_freed[v].cf - near.g_lane[v].far_cf;  // freed, the sender does not know
    wire [15:0] credit = credits[v*16+:16];
    logic [14:0] paid;  // given to a core that counts itself
    always_ff @(posedge clk) paid <= rst || fresh ? '0 : paid + 15'(given[v*8+:8]);
    always_comb assume (15'(freed[v*8+:8]) <= used);

    // what is on its way was said in order: none of it is behind what is known, or behind a later one
    wire [14:0] told [DELAY];
    wire [DELAY-1:0] has;
    logic [14:0] ghost [DELAY];  // freed when it left
    for (genvar i = 0; i < DELAY; i++) begin : g_way
      wire second = way[i][19:15] == 5'(v);
      assign has[i] = on_way[i] && (second || way[i][39:35] == 5'(v));
      assign told[i] = (second ? way[i][14:0] : way[i][34:20]) - near.g_lane[v].far_cf;
      always_ff @(posedge clk) begin
        if (!rst && has[i]) a_said : assert (told[i] <= unknown);
        if (!rst && has[i]) a_said_all : assert (ghost[i] - near.g_lane[v].far_cf == told[i]);
        if (!rst && has[i] && way[i][39:35] == way[i][19:15]) a_one : assert (way[i][34:20] == way[i][14:0]);
      end
      for (genvar k = 0; k < i; k++) begin : g_later
        always_ff @(posedge clk) if (!rst && has[i] && has[k]) a_order : assert (told[i] <= told[k]);
      end
    end

    // a CF heals: then the sender knows all that was freed when it left
    logic healed;
    logic [14:0] healed_to;
    always_ff @(posedge clk) begin
      ghost[0] <= far.g_freed[v].cf;
      for (int i = 1; i < DELAY; i++) ghost[i] <= ghost[i-1];
      healed    <= arrives && has[DELAY-1] && !rst && !fresh;
      healed_to <= ghost[DELAY-1];
      if (!rst && healed) a_heals : assert (near.g_lane[v].far_cf == healed_to);
    end

    always_ff @(posedge clk) begin
      if (!rst) begin
        if (loaded) begin
          // credit + used + unknown == far_init: modulo 2^15, and neither more
          a_conserved : assert (15'(credit) == 15'(far_init) - (near.g_lane[v].cc - near.g_lane[v].far_cf));
          a_within : assert (16'(used) + 16'(unknown) <= 16'(far_init) && credit <= 16'(far_init));
          a_cells : assert (near.far_cells == far_init);
          if (left != 0 && lane_now == LW'(v)) a_covered : assert (credit >= 16'(left));
          if (sent && sent_lane == LW'(v)) a_credit : assert (credit != 0);
        end else begin
          a_none : assert (used == 0 && unknown == 0 && left == 0 && on_way == 0);
        end
        a_given : assert (15'(paid + 15'(given[v*8+:8]) + near.g_lane[v].due + near.g_lane[v].gain) ==
                          15'(near.g_lane[v].far_cf - cnt_init));
        c_all_gone : cover (loaded && credit == 0);
        c_lost : cover (loaded && lost && on_way[DELAY-1] && has[DELAY-1] && unknown != 0);
        c_back : cover (healed && unknown == 0 && credit == 16'(far_init) && paid != 0);
      end
    end
  end

endmodule

`default_nettype wire
