// A verilated serial shell behind a C interface: bytes go to its line and come from it bit by bit.

#include <cstddef>
#include <cstdint>
#include <deque>

#define TEXT(name) #name
#define QUOTED(name) TEXT(name)
#include QUOTED(MODEL_HEADER)

#include "verilated.h"

namespace {

constexpr int BITS = 10;  // with the start and the stop bit

struct Model {
    VerilatedContext context;
    MODEL top{&context};
    uint32_t divider;
    std::deque<uint8_t> out, in;
    // Cycles since the start bit of the byte on either line began; -1 between bytes.
    int64_t sending = -1, hearing = -1;
    uint32_t sent = 0, heard = 0;

    explicit Model(uint32_t divider) : divider(divider) {
        top.rx = 1;
        top.rst = 1;
        for (int cycle = 0; cycle < 3; cycle++) edge();
        top.rst = 0;
    }

    void edge() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }

    void drive() {
        if (sending < 0 && !out.empty()) {
            sent = (out.front() << 1) | 1u << (BITS - 1);
            out.pop_front();
            sending = 0;
        }
        if (sending < 0) return;
        top.rx = sent >> (sending / divider) & 1;
        if (++sending == static_cast<int64_t>(BITS) * divider) sending = -1;
    }

    void listen() {
        if (hearing < 0 && !top.tx) hearing = heard = 0;
        if (hearing < 0) return;
        if (hearing % divider == divider / 2) heard |= static_cast<uint32_t>(top.tx) << (hearing / divider);
        if (hearing++ < (BITS - 1) * static_cast<int64_t>(divider) + divider / 2) return;
        // Without its stop bit it was no byte.
        if (heard >> (BITS - 1) & 1) in.push_back(heard >> 1 & 255);
        hearing = -1;
    }
};

Model &model(void *handle) { return *static_cast<Model *>(handle); }

}  // namespace

extern "C" {

void *kg_line_new(uint32_t divider) { return new Model(divider); }

void kg_line_delete(void *handle) { delete static_cast<Model *>(handle); }

void kg_line_write(void *handle, const uint8_t *data, size_t count) {
    model(handle).out.insert(model(handle).out.end(), data, data + count);
}

size_t kg_line_waiting(void *handle) { return model(handle).in.size(); }

// Runs until `count` bytes are there, or for `silence` cycles without one after all was sent;
// returns how many it gave.
size_t kg_line_read(void *handle, uint8_t *data, size_t count, uint64_t silence) {
    Model &m = model(handle);
    size_t had = m.in.size();
    for (uint64_t quiet = 0; m.in.size() < count && quiet < silence; quiet++) {
        m.drive();
        m.edge();
        m.listen();
        if (m.sending >= 0 || !m.out.empty() || m.in.size() != had) quiet = 0;
        had = m.in.size();
    }
    size_t given = had < count ? had : count;
    for (size_t at = 0; at < given; at++) {
        data[at] = m.in.front();
        m.in.pop_front();
    }
    return given;
}

// Runs for so many cycles, whatever comes.
void kg_line_run(void *handle, uint64_t cycles) {
    Model &m = model(handle);
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        m.drive();
        m.edge();
        m.listen();
    }
}

}
