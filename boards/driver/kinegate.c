#include "kinegate.h"

#include <string.h>

#include "@NAME@_registers.h"

#define AT(member) ((uint32_t)offsetof(@NAME@_t, member))
#define USUAL_PATIENCE 1000000u

static uint32_t memory_read(void *context, uint32_t address)
{
    return ((volatile uint32_t *)context)[address / 4];
}

static void memory_write(void *context, uint32_t address, uint32_t word)
{
    ((volatile uint32_t *)context)[address / 4] = word;
}

struct kg_bus kg_memory_bus(volatile void *base)
{
    struct kg_bus bus = {memory_read, memory_write, (void *)(uintptr_t)base};
    return bus;
}

static uint32_t get(const struct kg_device *device, uint32_t address)
{
    return device->bus.read32(device->bus.context, address);
}

static void put(const struct kg_device *device, uint32_t address, uint32_t word)
{
    device->bus.write32(device->bus.context, address, word);
}

/* Waits until the bits of the state are what they should be. */
static enum kg_error await(const struct kg_device *device, uint32_t bits, uint32_t wanted)
{
    for (uint32_t tries = 0; tries < device->patience; tries++)
        if ((get(device, AT(control.state)) & bits) == wanted)
            return KG_OK;
    return KG_TIMEOUT;
}

enum kg_error kg_open(struct kg_device *device, const struct kg_design *design, struct kg_bus bus,
                      uint32_t geometry)
{
    device->bus = bus;
    device->design = design;
    device->patience = USUAL_PATIENCE;
    if (get(device, AT(control.identity)) != KINEGATE_CONTROL__IDENTITY__VALUE_reset)
        return KG_NO_KERNEL;
    uint32_t version = get(device, AT(control.version));
    if (version >> 16 != KINEGATE_CONTROL__VERSION__MAJOR_reset
        || (version & 0xffffu) + 1u <= KINEGATE_CONTROL__VERSION__MINOR_reset)
        return KG_WRONG_VERSION;
    if (get(device, AT(control.map)) != design->map)
        return KG_WRONG_MAP;
    if (get(device, AT(control.design)) != design->design)
        return KG_WRONG_DESIGN;
    /* After a reset the checksum of what is loaded takes a while. */
    if (await(device, KINEGATE_CONTROL__STATE__AGREES_bm, KINEGATE_CONTROL__STATE__AGREES_bm)
        || get(device, AT(control.geometry)) != geometry)
        return KG_WRONG_GEOMETRY;
    return KG_OK;
}

bool kg_fits(const struct kg_field *field, int64_t code)
{
    if (!field->has_sign)
        return code >= 0 && (field->width >= 63 || code >> field->width == 0);
    int64_t most = (int64_t)(((uint64_t)1 << (field->width - 1)) - 1);
    return code >= -most - 1 && code <= most;
}

static bool is_wide(const struct kg_field *field)
{
    return field->width > 32;
}

/* The code in a field's words: one whose highest bit is set is negative only where it has a sign. */
static int64_t code_of(const struct kg_field *field, uint32_t low, uint32_t high)
{
    if (is_wide(field))
        return (int64_t)((uint64_t)high << 32 | low);
    if (field->has_sign && low >> 31)
        return (int64_t)low - ((int64_t)1 << 32);
    return (int64_t)low;
}

static void write_code(const struct kg_device *device, const struct kg_field *field, int64_t code)
{
    uint64_t word = (uint64_t)code;
    put(device, field->address, (uint32_t)word);
    if (is_wide(field))
        put(device, field->address + 4u, (uint32_t)(word >> 32));
}

enum kg_error kg_set_input(struct kg_device *device, size_t input, int64_t code)
{
    if (input >= device->design->inputs || !kg_fits(&device->design->input[input], code))
        return KG_OUT_OF_RANGE;
    write_code(device, &device->design->input[input], code);
    return KG_OK;
}

enum kg_error kg_solve(struct kg_device *device, const int64_t *inputs, int64_t *outputs,
                       uint32_t *cycles)
{
    const struct kg_design *design = device->design;
    for (size_t k = 0; k < design->inputs; k++)
        if (!kg_fits(&design->input[k], inputs[k]))
            return KG_OUT_OF_RANGE;
    if (get(device, AT(control.state)) & KINEGATE_CONTROL__STATE__SOLVING_bm)
        return KG_BUSY;
    for (size_t k = 0; k < design->inputs; k++)
        write_code(device, &design->input[k], inputs[k]);
    put(device, AT(control.command), KINEGATE_CONTROL__COMMAND__SOLVE_bm);
    enum kg_error error = await(device, KINEGATE_CONTROL__STATE__SOLVING_bm, 0);
    if (error != KG_OK)
        return error;
    for (size_t k = 0; k < design->outputs; k++) {
        const struct kg_field *field = &design->output[k];
        uint32_t low = get(device, field->address);
        outputs[k] = code_of(field, low, is_wide(field) ? get(device, field->address + 4u) : 0);
    }
    if (cycles != NULL)
        *cycles = get(device, AT(watch.solve_latency));
    return KG_OK;
}

void kg_mode(struct kg_device *device, uint32_t bits, bool on)
{
    uint32_t mode = get(device, AT(control.mode));
    put(device, AT(control.mode), on ? mode | bits : mode & ~bits);
}

static uint64_t cycles_of(const struct kg_device *device)
{
    uint32_t high, low;
    do { /* the low word may wrap between the two */
        high = get(device, AT(watch.cycles_high));
        low = get(device, AT(watch.cycles_low));
    } while (high != get(device, AT(watch.cycles_high)));
    return (uint64_t)high << 32 | low;
}

void kg_observe(struct kg_device *device, struct kg_observation *seen)
{
    seen->cycles = cycles_of(device);
    seen->results = get(device, AT(watch.results));
    seen->failures = get(device, AT(watch.failures));
    for (uint32_t bit = 0; bit < KG_STATUS_BITS; bit++)
        seen->said[bit] = get(device, AT(watch.count_valid) + 4u * bit);
    seen->short_packets = get(device, AT(watch.count_short_packet));
    seen->long_packets = get(device, AT(watch.count_long_packet));
    seen->null_bytes = get(device, AT(watch.count_null_bytes));
    seen->unfit = get(device, AT(watch.count_unfit));
    seen->latency_last = get(device, AT(watch.latency_last));
    seen->latency_min = get(device, AT(watch.latency_min));
    seen->latency_max = get(device, AT(watch.latency_max));
    seen->status_last = get(device, AT(watch.status_last));
    seen->iterations_last = get(device, AT(watch.iterations_last));
    seen->iterations_max = get(device, AT(watch.iterations_max));
    seen->residual_last = get(device, AT(watch.residual_last));
    seen->residual_max = get(device, AT(watch.residual_max));
}

void kg_clear(struct kg_device *device)
{
    put(device, AT(control.command), KINEGATE_CONTROL__COMMAND__CLEAR_bm);
}

void kg_limits(struct kg_device *device, uint32_t latency, uint32_t residual)
{
    put(device, AT(control.latency_limit), latency);
    put(device, AT(control.residual_limit), residual);
}

uint32_t kg_events(struct kg_device *device)
{
    return get(device, AT(control.event));
}

void kg_clear_events(struct kg_device *device, uint32_t events)
{
    put(device, AT(control.event), events);
}

void kg_interrupt_on(struct kg_device *device, uint32_t events)
{
    put(device, AT(control.interrupt), events);
}

uint32_t kg_geometry(struct kg_device *device)
{
    return get(device, AT(control.geometry));
}

enum kg_error kg_load_geometry(struct kg_device *device, const uint32_t *words, size_t count)
{
    if (device->design->geometry_words == 0 || count != device->design->geometry_words + 1u)
        return KG_NO_LOAD_PORT;
    kg_mode(device, KG_PAUSE, true);
    enum kg_error error =
        await(device, KINEGATE_CONTROL__STATE__PAUSED_bm, KINEGATE_CONTROL__STATE__PAUSED_bm);
    kg_clear_events(device, KINEGATE_CONTROL__EVENT__GEOMETRY_FAULT_bm);
    for (size_t k = 0; k < count && error == KG_OK; k++) {
        put(device, AT(control.geometry_address), (uint32_t)k);
        put(device, AT(control.geometry_data), words[k]);
        error = await(device, KINEGATE_CONTROL__STATE__LOADING_bm, 0);
    }
    if (error != KG_OK)
        return error;
    error = await(device, KINEGATE_CONTROL__STATE__AGREES_bm, KINEGATE_CONTROL__STATE__AGREES_bm);
    if (error != KG_OK || (kg_events(device) & KINEGATE_CONTROL__EVENT__GEOMETRY_FAULT_bm))
        return KG_REFUSED;
    kg_mode(device, KG_PAUSE, false);
    return KG_OK;
}

size_t kg_words(const struct kg_design *design, const struct kg_field *fields, size_t count)
{
    size_t words = 0;
    for (size_t k = 0; k < count; k++)
        words += is_wide(&fields[k]) ? 2 : 1;
    return (words + design->words_per_beat - 1u) / design->words_per_beat * design->words_per_beat;
}

enum kg_error kg_pack(const struct kg_design *design, const int64_t *inputs, uint32_t *words)
{
    size_t at = 0, size = kg_words(design, design->input, design->inputs);
    for (size_t k = 0; k < design->inputs; k++) {
        if (!kg_fits(&design->input[k], inputs[k]))
            return KG_OUT_OF_RANGE;
        words[at++] = (uint32_t)inputs[k];
        if (is_wide(&design->input[k]))
            words[at++] = (uint32_t)((uint64_t)inputs[k] >> 32);
    }
    while (at < size)
        words[at++] = 0;
    return KG_OK;
}

void kg_unpack(const struct kg_design *design, const uint32_t *words, int64_t *outputs)
{
    for (size_t k = 0; k < design->outputs; k++) {
        const struct kg_field *field = &design->output[k];
        outputs[k] = code_of(field, words[0], is_wide(field) ? words[1] : 0);
        words += is_wide(field) ? 2 : 1;
    }
}

int kg_field_number(const struct kg_field *fields, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(fields[k].name, name) == 0)
            return (int)k;
    return -1;
}

const char *kg_error_text(enum kg_error error)
{
    static const char *const texts[] = {
        "good",
        "no kinegate kernel at this address",
        "the register block has another version",
        "the registers are not those of this driver",
        "the hardware was made for another robot or with other options",
        "the hardware has another geometry",
        "a value is no code of its field",
        "a solve is under way",
        "the hardware did not answer in time",
        "the hardware refused the geometry",
        "the hardware loads no geometry of this size",
        "the operating system refused",
    };
    return (size_t)error < sizeof texts / sizeof *texts ? texts[error] : "unknown";
}
