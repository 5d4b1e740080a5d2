"""The C functions that generated code calls: what C99 leaves to the compiler, spelled out.

Each has defined behaviour for every argument it can get: shifts and wrapping sums are unsigned, and
no value is converted to a signed type that does not hold it.
"""

from __future__ import annotations

import re

_WIDE = """
#ifndef KG_WIDE
#define KG_WIDE
/* A two's complement integer of 128 bits. */
struct kg_wide {
    uint64_t high;
    uint64_t low;
};
#endif
"""

_HELPERS = {
    "KG_PROVEN": """
/* With -DKG_CHECK, ranges that the model's proofs promise are looked at. */
#ifdef KG_CHECK
#include <assert.h>
#define KG_PROVEN(condition) assert(condition)
#else
#define KG_PROVEN(condition) ((void)0)
#endif
""",
    "kg_right32": """
/* floor(a / 2^n), n in 0..31. The compiler is asked what >> does to a negative number. */
static inline int32_t kg_right32(int32_t a, int32_t n)
{
#ifndef KG_PORTABLE
    if (((int32_t)-1 >> 1) == -1)
        return a >> n;
#endif
    return a < 0 ? -1 - ((-1 - a) >> n) : a >> n;
}
""",
    "kg_right64": """
/* floor(a / 2^n), n in 0..63. The compiler is asked what >> does to a negative number. */
static inline int64_t kg_right64(int64_t a, int32_t n)
{
#ifndef KG_PORTABLE
    if (((int64_t)-1 >> 1) == -1)
        return a >> n;
#endif
    return a < 0 ? -1 - ((-1 - a) >> n) : a >> n;
}
""",
    "kg_limit32": """
static inline int32_t kg_limit32(int32_t a, int32_t lo, int32_t hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}
""",
    "kg_limit64": """
static inline int64_t kg_limit64(int64_t a, int64_t lo, int64_t hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}
""",
    "kg_length": """
/* The number of bits of a without its leading zeros. */
static inline int32_t kg_length(uint64_t a)
{
#if defined(__GNUC__) && !defined(KG_PORTABLE)
    return a ? 64 - __builtin_clzll(a) : 0;
#else
    int32_t n = 0;
    int32_t step;
    for (step = 32; step; step /= 2)
        if (a >> step) {
            a >>= step;
            n += step;
        }
    return n + (int32_t)a;
#endif
}
""",
    "kg_signed": """
/* The two's complement meaning of a word. */
static inline int64_t kg_signed(uint64_t a)
{
    return a <= (uint64_t)INT64_MAX ? (int64_t)a : -1 - (int64_t)(UINT64_MAX - a);
}
""",
    "kg_wide_of": """
static inline struct kg_wide kg_wide_of(uint64_t high, uint64_t low)
{
    struct kg_wide a;
    a.high = high;
    a.low = low;
    return a;
}
""",
    "kg_wide_from": """
static inline struct kg_wide kg_wide_from(int64_t a)
{
    return kg_wide_of(a < 0 ? UINT64_MAX : 0, (uint64_t)a);
}
""",
    "kg_wide_low": """
/* The value of a number that fits 64 bits. */
static inline int64_t kg_wide_low(struct kg_wide a)
{
    return kg_signed(a.low);
}
""",
    "kg_wide_add": """
static inline struct kg_wide kg_wide_add(struct kg_wide a, struct kg_wide b)
{
    const uint64_t low = a.low + b.low;
    return kg_wide_of(a.high + b.high + (low < a.low), low);
}
""",
    "kg_wide_negative": """
static inline struct kg_wide kg_wide_negative(struct kg_wide a)
{
    return kg_wide_add(kg_wide_of(~a.high, ~a.low), kg_wide_of(0, 1));
}
""",
    "kg_wide_multiply": """
static inline struct kg_wide kg_wide_multiply(struct kg_wide a, struct kg_wide b)
{
    const uint64_t mask = UINT64_C(0xffffffff);
    const uint64_t al = a.low & mask, ah = a.low >> 32;
    const uint64_t bl = b.low & mask, bh = b.low >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32);
    const uint64_t cross = al * bh + (middle & mask);
    const uint64_t high = ah * bh + (middle >> 32) + (cross >> 32);
    return kg_wide_of(high + a.high * b.low + a.low * b.high, a.low * b.low);
}
""",
    "kg_wide_less": """
static inline int32_t kg_wide_less(struct kg_wide a, struct kg_wide b)
{
    const int64_t x = kg_signed(a.high), y = kg_signed(b.high);
    return x < y || (x == y && a.low < b.low);
}
""",
    "kg_wide_limit": """
static inline struct kg_wide kg_wide_limit(struct kg_wide a, struct kg_wide lo, struct kg_wide hi)
{
    return kg_wide_less(a, lo) ? lo : kg_wide_less(hi, a) ? hi : a;
}
""",
    "kg_wide_left": """
/* a * 2^n, n in 0..127. */
static inline struct kg_wide kg_wide_left(struct kg_wide a, int32_t n)
{
    if (n >= 64)
        return kg_wide_of(a.low << (n - 64), 0);
    return n ? kg_wide_of(a.high << n | a.low >> (64 - n), a.low << n) : a;
}
""",
    "kg_wide_right": """
/* floor(a / 2^n), n in 0..127. */
static inline struct kg_wide kg_wide_right(struct kg_wide a, int32_t n)
{
    const uint64_t sign = a.high >> 63 ? UINT64_MAX : 0;
    const uint64_t high = a.high ^ sign, low = a.low ^ sign;
    if (n >= 64)
        return kg_wide_of(sign, (high >> (n - 64)) ^ sign);
    return n ? kg_wide_of((high >> n) ^ sign, (high << (64 - n) | low >> n) ^ sign) : a;
}
""",
    "kg_wide_low_bits": """
/* a modulo 2^n, n in 0..127. */
static inline struct kg_wide kg_wide_low_bits(struct kg_wide a, int32_t n)
{
    if (n >= 64)
        return kg_wide_of(a.high & ((UINT64_C(1) << (n - 64)) - 1), a.low);
    return kg_wide_of(0, a.low & ((UINT64_C(1) << n) - 1));
}
""",
    "kg_wide_length": """
static inline int32_t kg_wide_length(struct kg_wide a)
{
    return a.high ? 64 + kg_length(a.high) : kg_length(a.low);
}
""",
    "kg_encode": """
/* The nearest code (ties to even) of a scaled value, limited to lo..hi; counts what it limits. */
static inline int64_t kg_encode(double value, int64_t lo, int64_t hi, int *limited)
{
    int64_t code;
    double rest;
    if (!(value > (double)lo) || !(value < (double)hi)) {
        *limited += !(value >= (double)lo - 0.5 && value <= (double)hi + 0.5);
        return value >= (double)hi ? hi : lo;
    }
    code = (int64_t)value;
    rest = value - (double)code;
    if (rest > 0.5 || (rest == 0.5 && code % 2))
        return code + 1;
    return rest < -0.5 || (rest == -0.5 && code % 2) ? code - 1 : code;
}
""",
    "kg_hold": """
/* A code as the port carries it; counts what it limits. */
static inline int64_t kg_hold(int64_t a, int64_t lo, int64_t hi, int *limited)
{
    *limited += a < lo || a > hi;
    return a < lo ? lo : a > hi ? hi : a;
}
""",
    "kg_whole": """
/* floor(a) in lo..hi; lo where a is not a number. */
static inline int64_t kg_whole(double a, int64_t lo, int64_t hi)
{
    int64_t whole;
    if (!(a > (double)lo))
        return lo;
    if (a >= (double)hi)
        return hi;
    whole = (int64_t)a;
    return whole - ((double)whole > a);
}
""",
    "kg_power": """
/* 2^n, n limited to 0..63. */
static inline double kg_power(double n)
{
    return (double)(UINT64_C(1) << kg_whole(n, 0, 63));
}
""",
    "kg_limit_real": """
static inline double kg_limit_real(double a, double lo, double hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}
""",
}

_NAME = re.compile(r"\b(?:kg_\w+|KG_PROVEN)\b")


def wide_type(text: str) -> str:
    """The declaration of the wide integer, where the text uses it."""
    return _WIDE if "struct kg_wide" in text or "kg_wide_" in text else ""


def helpers_for(text: str) -> str:
    """The helpers that a text calls, and those that they call, in a fixed order."""
    wanted: set[str] = set()
    pending = set(_NAME.findall(text))
    while pending:
        name = pending.pop()
        if name in _HELPERS and name not in wanted:
            wanted.add(name)
            pending |= set(_NAME.findall(_HELPERS[name]))
    return "".join(body for name, body in _HELPERS.items() if name in wanted)
