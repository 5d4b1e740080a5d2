// A verilated AXI shell and a small bus functional model around it, behind a C interface.
//
// Every function that needs clock cycles runs as many as the hardware takes; one that would never
// end gives up after PATIENCE and says so in `response`.

#include <cstddef>
#include <cstdint>

#define TEXT(name) #name
#define QUOTED(name) TEXT(name)
#include QUOTED(MODEL_HEADER)

#include "verilated.h"

namespace {

constexpr int PATIENCE = 100000;
constexpr uint32_t NO_ANSWER = 4;  // none of AXI's responses

struct Model {
    VerilatedContext context;
    MODEL top{&context};
    uint32_t response = 0;

    void settle() {
        top.aclk = 0;
        top.eval();
    }

    void edge() {
        top.aclk = 1;
        top.eval();
    }

    void reset() {
        top.aresetn = 0;
        top.m_axis_tready = 0;
        for (int cycle = 0; cycle < 3; cycle++) {
            settle();
            edge();
        }
        top.aresetn = 1;
    }
};

Model &model(void *handle) { return *static_cast<Model *>(handle); }

}  // namespace

extern "C" {

void *kg_model_new() {
    Model *made = new Model;
    made->reset();
    return made;
}

void kg_model_delete(void *handle) { delete static_cast<Model *>(handle); }

// The response of the last access: 0 OKAY, 2 SLVERR, 4 none.
uint32_t kg_model_response(void *handle) { return model(handle).response; }

uint32_t kg_model_interrupt(void *handle) { return model(handle).top.irq; }

void kg_model_run(void *handle, uint32_t cycles) {
    for (uint32_t cycle = 0; cycle < cycles; cycle++) {
        model(handle).settle();
        model(handle).edge();
    }
}

void kg_model_write(void *handle, uint32_t address, uint32_t word) {
    Model &m = model(handle);
    auto &top = m.top;
    top.s_axi_awaddr = address;
    top.s_axi_wdata = word;
    top.s_axi_wstrb = 15;
    top.s_axi_awvalid = top.s_axi_wvalid = top.s_axi_bready = 1;
    m.response = NO_ANSWER;
    for (int cycle = 0; cycle < PATIENCE && m.response == NO_ANSWER; cycle++) {
        m.settle();
        bool addressed = top.s_axi_awready, given = top.s_axi_wready;
        if (top.s_axi_bvalid) m.response = top.s_axi_bresp;
        m.edge();
        if (addressed) top.s_axi_awvalid = 0;
        if (given) top.s_axi_wvalid = 0;
    }
    top.s_axi_bready = 0;
}

uint32_t kg_model_read(void *handle, uint32_t address) {
    Model &m = model(handle);
    auto &top = m.top;
    uint32_t word = 0;
    top.s_axi_araddr = address;
    top.s_axi_arvalid = top.s_axi_rready = 1;
    m.response = NO_ANSWER;
    for (int cycle = 0; cycle < PATIENCE && m.response == NO_ANSWER; cycle++) {
        m.settle();
        bool addressed = top.s_axi_arready;
        if (top.s_axi_rvalid) {
            m.response = top.s_axi_rresp;
            word = top.s_axi_rdata;
        }
        m.edge();
        if (addressed) top.s_axi_arvalid = 0;
    }
    top.s_axi_rready = 0;
    return word;
}

// Sends beats as one packet and takes `wanted` beats, no more; returns how many came. `ends` counts
// the packets that ended with them.
size_t kg_model_stream(void *handle, const uint32_t *sent, size_t beats, uint32_t *taken,
                       size_t wanted, size_t *ends) {
    Model &m = model(handle);
    auto &top = m.top;
    const size_t words = sizeof(top.s_axis_tdata) / sizeof(uint32_t);
    size_t out = 0, in = 0;
    top.s_axis_tkeep = (1u << (4 * words)) - 1;
    *ends = 0;
    for (int quiet = 0; quiet < PATIENCE && (in < wanted || out < beats); quiet++) {
        top.m_axis_tready = in < wanted;
        top.s_axis_tvalid = out < beats;
        top.s_axis_tlast = out + 1 == beats;
        if (out < beats) {
            uint64_t data = sent[out * words];
            if (words > 1) data |= static_cast<uint64_t>(sent[out * words + 1]) << 32;
            top.s_axis_tdata = data;
        }
        m.settle();
        bool moved = top.s_axis_tvalid && top.s_axis_tready;
        if (top.m_axis_tvalid && top.m_axis_tready) {
            uint64_t data = top.m_axis_tdata;
            for (size_t word = 0; word < words; word++)
                taken[in * words + word] = static_cast<uint32_t>(data >> (32 * word));
            in++;
            *ends += top.m_axis_tlast;
            quiet = 0;
        }
        m.edge();
        out += moved;
    }
    top.s_axis_tvalid = 0;
    top.m_axis_tready = 0;
    return in;
}

}
