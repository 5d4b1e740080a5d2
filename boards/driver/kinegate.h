/* Driver of a kinegate kernel behind its AXI4-Lite registers: no malloc, no floating point.
 *
 * Every access to the hardware goes through the two functions of a kg_bus: kg_memory_bus gives
 * those of memory-mapped registers, kinegate_uio.h those of Linux UIO, a test may give its own.
 * Values are integer codes in the order of the design's fields; kinegate_units.h turns them into
 * metres and radians. Functions are not reentrant for one device.
 */
#ifndef KINEGATE_H
#define KINEGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kg_error {
    KG_OK = 0,
    KG_NO_KERNEL,      /* what is at the address does not answer like a kinegate kernel */
    KG_WRONG_VERSION,  /* its register block is one that this driver does not know */
    KG_WRONG_MAP,      /* its registers are not those that this driver was made for */
    KG_WRONG_DESIGN,   /* it was made for another robot or with other options */
    KG_WRONG_GEOMETRY, /* it has not the geometry that the caller expects */
    KG_OUT_OF_RANGE,   /* a value is no code of its field; nothing was written */
    KG_BUSY,           /* a one-shot solve is under way */
    KG_TIMEOUT,        /* the hardware did not come to its end in time */
    KG_REFUSED,        /* the hardware refused a word of geometry or does not agree with its sum */
    KG_NO_LOAD_PORT,   /* the geometry is built in, or has another number of words */
    KG_SYSTEM          /* the operating system refused; errno says why */
};

/* One number of a transfer: its code is worth code * 2^-fraction. */
struct kg_field {
    const char *name;
    uint16_t address; /* of its word, or of the lower one of its two */
    uint8_t width;    /* bits of its code */
    bool has_sign;
    int8_t fraction;
};

/* What a driver knows of a design; NAME_design.c has the one of the design that it came with. */
struct kg_design {
    const char *name;
    uint32_t map, design, geometry; /* digests; of the geometry, the one that it was made with */
    uint16_t inputs, outputs, geometry_words;
    uint16_t words_per_beat; /* of a stream */
    const struct kg_field *input, *output;
};

struct kg_bus {
    uint32_t (*read32)(void *context, uint32_t address);
    void (*write32)(void *context, uint32_t address, uint32_t word);
    void *context;
};

struct kg_device {
    struct kg_bus bus;
    const struct kg_design *design;
    uint32_t patience; /* reads of the state before something counts as stuck */
};

#define KG_STATUS_BITS 9

/* What the hardware saw since its counters were cleared. Residuals are codes. */
struct kg_observation {
    uint64_t cycles; /* since the reset */
    uint32_t results, failures;
    uint32_t said[KG_STATUS_BITS]; /* results with each status bit */
    uint32_t short_packets, long_packets, null_bytes, unfit;
    uint32_t latency_last, latency_min, latency_max; /* clock cycles; min all ones without any */
    uint32_t status_last;
    uint32_t iterations_last, iterations_max;
    uint32_t residual_last, residual_max;
};

/* Registers in memory: base is where the device was mapped. */
struct kg_bus kg_memory_bus(volatile void *base);

/* Fills the device and checks that the hardware is what the design says; geometry is the digest
 * that it should have, mostly design->geometry. The device may be used after KG_OK only, or after
 * KG_WRONG_GEOMETRY to load the right one. */
enum kg_error kg_open(struct kg_device *device, const struct kg_design *design, struct kg_bus bus,
                      uint32_t geometry);

/* One transfer through the registers: a code for each input, in order, gives one for each output.
 * cycles (may be NULL) becomes the clock cycles that it took. The results are there whatever their
 * status says: look at it. */
enum kg_error kg_solve(struct kg_device *device, const int64_t *inputs, int64_t *outputs,
                       uint32_t *cycles);

/* Writes one input without solving: the setting of a stream's transfers, see kg_mode. */
enum kg_error kg_set_input(struct kg_device *device, size_t input, int64_t code);

enum kg_mode_bits { KG_PAUSE = 1, KG_BATCH = 2, KG_SETTINGS = 4 };

/* Sets or clears bits of the mode: no transfer enters; packets hold several transfers; transfers
 * of the stream take policy and lambda from the registers. */
void kg_mode(struct kg_device *device, uint32_t bits, bool on);

void kg_observe(struct kg_device *device, struct kg_observation *seen);
void kg_clear(struct kg_device *device);

/* A residual that is above, or a latency that is, becomes an event. */
void kg_limits(struct kg_device *device, uint32_t latency, uint32_t residual);

/* Events are bits of KINEGATE_CONTROL__EVENT__*_bm in the register header. */
uint32_t kg_events(struct kg_device *device);
void kg_clear_events(struct kg_device *device, uint32_t events);
void kg_interrupt_on(struct kg_device *device, uint32_t events);

/* Loads the words of a geometry, their checksum last, while no transfer is inside. On an error the
 * kernel stays paused, so that nothing is solved with half a geometry. */
enum kg_error kg_load_geometry(struct kg_device *device, const uint32_t *words, size_t count);
uint32_t kg_geometry(struct kg_device *device);

/* Between codes and the words of one transfer in a stream; the words are kg_words(...) many. */
size_t kg_words(const struct kg_design *design, const struct kg_field *fields, size_t count);
enum kg_error kg_pack(const struct kg_design *design, const int64_t *inputs, uint32_t *words);
void kg_unpack(const struct kg_design *design, const uint32_t *words, int64_t *outputs);

/* The number of a field, or -1. */
int kg_field_number(const struct kg_field *fields, size_t count, const char *name);

bool kg_fits(const struct kg_field *field, int64_t code);
const char *kg_error_text(enum kg_error error);

#ifdef __cplusplus
}
#endif

#endif
