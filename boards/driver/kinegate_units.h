/* Between the integer codes of kinegate.h and values in metres, radians, newtons, ...
 *
 * Values become the nearest codes, ties to even (in the usual rounding mode). Needs libm.
 */
#ifndef KINEGATE_UNITS_H
#define KINEGATE_UNITS_H

#include <math.h>

#include "kinegate.h"

static inline double kg_to_double(const struct kg_field *field, int64_t code)
{
    return ldexp((double)code, -field->fraction);
}

/* KG_OUT_OF_RANGE for a value that the field cannot carry, NaN among them. */
static inline enum kg_error kg_from_double(const struct kg_field *field, double value,
                                           int64_t *code)
{
    double scaled = rint(ldexp(value, field->fraction));
    double most = ldexp(1.0, field->width - (field->has_sign ? 1 : 0));
    if (!(scaled < most && scaled >= (field->has_sign ? -most : 0.0)))
        return KG_OUT_OF_RANGE;
    *code = (int64_t)scaled;
    return KG_OK;
}

static inline float kg_to_float(const struct kg_field *field, int64_t code)
{
    return ldexpf((float)code, -field->fraction);
}

static inline enum kg_error kg_from_float(const struct kg_field *field, float value, int64_t *code)
{
    float scaled = rintf(ldexpf(value, field->fraction));
    float most = ldexpf(1.0f, field->width - (field->has_sign ? 1 : 0));
    if (!(scaled < most && scaled >= (field->has_sign ? -most : 0.0f)))
        return KG_OUT_OF_RANGE;
    *code = (int64_t)scaled;
    return KG_OK;
}

#endif
