// SPDX-License-Identifier: Apache-2.0
// A bench top under nothing but C++: what the same design, transactors and stimulus cost without Python.
//
// usage: <program> <phases> +run_dir=<folder with p0..p<phases-1>>
// Runs the phases by the protocol of tb/common/bench.py and prints "cycles <n> seconds <s>": cycles as the
// top counts them, wall-clock seconds between the release of reset and the end of each phase. Exit code 1
// when a phase reached its cycle limit.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Vtop.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {
constexpr int kResetCycles = 40;

class Clocked {
 public:
    Clocked(VerilatedContext* context, Vtop* top) : context_{context}, top_{top} {}

    // Inputs that were changed before this are seen by the rising edge; ends after the falling one.
    void cycles(int count) {
        for (int i = 0; i < count; ++i) {
            edge(1);
            edge(0);
        }
    }

 private:
    void edge(int level) {
        top_->clk = level;
        context_->timeInc(500);
        top_->eval();
    }

    VerilatedContext* const context_;
    Vtop* const top_;
};
}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s <phases> +run_dir=<folder>\n", argv[0]);
        return 2;
    }
    const int phases = std::atoi(argv[1]);
    const auto context = std::make_unique<VerilatedContext>();
    context->commandArgs(argc, argv);
    const auto top = std::make_unique<Vtop>(context.get(), "top");
    Clocked clock{context.get(), top.get()};
    uint64_t cycles = 0;
    double seconds = 0;
    bool late = false;

    top->clk = 0;
    top->rst = 1;
    top->start = 0;
    top->phase = 0;
    clock.cycles(2);
    for (int phase = 0; phase < phases && !context->gotFinish(); ++phase) {
        top->rst = 1;
        top->phase = phase;
        clock.cycles(kResetCycles);
        top->start = 1;
        clock.cycles(1);
        top->start = 0;
        clock.cycles(kResetCycles);
        top->rst = 0;
        const auto begin = std::chrono::steady_clock::now();
        while (!top->done && !top->timeout && !context->gotFinish()) clock.cycles(1);
        cycles += top->cycle;
        late |= !top->done;
        clock.cycles(2);  // monitors close their files at the edge after
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    top->final();
    std::printf("cycles %llu seconds %.6f\n", static_cast<unsigned long long>(cycles), seconds);
    return late ? 1 : 0;
}
