#include "histopyramid/classifier.h"

#include <math.h>

tsr_status tsr_classifier_check(const char *what, tsr_pyramid_classifier kind, double lower, double upper)
{
    if (kind == TSR_PYRAMID_USER) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: classifier user, expected a predefined one here", what);
    if ((unsigned)kind > TSR_PYRAMID_CROSSINGS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: classifier is %d, expected one of tsr_pyramid_classifier (0 to %d)", what, (int)kind,
                 (int)TSR_PYRAMID_CROSSINGS);
    if (kind == TSR_PYRAMID_COUNTS || kind == TSR_PYRAMID_NONZERO) return TSR_OK;
    if (kind == TSR_PYRAMID_RANGE || kind == TSR_PYRAMID_BOUNDARY) {
        if (!(lower < upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: range from %g to %g, expected lower < upper", what, lower, upper);
    } else if (isnan(lower) || (kind == TSR_PYRAMID_MAGNITUDE && lower < 0)) {
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lower is %g, expected %s", what, lower, kind == TSR_PYRAMID_MAGNITUDE ? "0 or more" : "a number");
    }
    return TSR_OK;
}

uint32_t tsr_classifier_most(tsr_pyramid_classifier kind, int32_t most)
{
    return kind == TSR_PYRAMID_COUNTS ? (uint32_t)most : kind == TSR_PYRAMID_CROSSINGS ? 3 : 1;
}

/* The byte rule by trying all 256: values are monotone in the byte, so those kept are one range or all but one range. */
static void find_byte_rule(tsr_classifier *c)
{
    int kept[256], changes = 0;
    for (int b = 0; b < 256; b++) {
        kept[b] = tsr_classify_value(c, (double)b * c->slope + c->intercept);
        changes += b && kept[b] != kept[b - 1];
    }
    if (changes > 2) return;
    c->bytes = 1;
    c->invert = changes == 2 ? kept[0] : 0;
    c->low = 0;
    while (c->low < 256 && kept[c->low] == c->invert) c->low++;
    c->high = 255;
    while (c->high >= 0 && kept[c->high] == c->invert) c->high--;
    if (c->low > c->high) { /* none kept */
        c->low = 1;
        c->high = 0;
    }
}

tsr_status tsr_classifier_make(const char *what, tsr_pyramid_classifier kind, double lower, double upper, const tsr_volume *volume, int64_t batch,
                               tsr_classifier *classifier)
{
    *classifier = (tsr_classifier){ .kind = kind,
                                    .dtype = volume->dtype,
                                    .data = volume->data,
                                    .slope = volume->slope,
                                    .intercept = volume->intercept,
                                    .size = { volume->size.x, volume->size.y, volume->size.z / batch },
                                    .lower = lower,
                                    .upper = upper,
                                    .most = UINT8_MAX };
    if (kind == TSR_PYRAMID_COUNTS && (volume->dtype == TSR_F32 || volume->dtype == TSR_F64))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: counts of type %s, expected integers (or another classifier)", what, tsr_dtype_name(volume->dtype));
    if (volume->dtype == TSR_U8 && kind != TSR_PYRAMID_COUNTS && tsr_classifier_local(kind)) find_byte_rule(classifier);
    return TSR_OK;
}
