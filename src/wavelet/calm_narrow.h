/* wavelet/calm_narrow.h: int32 samples in rows of 16 bits (TSR_ROWS_I32_NARROW), for what the loops of calm_rows.h leave over. Included by wavelet_isa.c, once.
 * A value that does not fit becomes the nearest that does, which is beyond every bound. */
static void i32_narrow_load(const void *in, int64_t stride, int64_t n, int32_t shift, double scale, void *row, uint32_t *lost)
{
    const int32_t *p = (const int32_t *)in;
    int16_t *r = (int16_t *)row;
    int64_t i = 0;
    for (; stride == 1 && i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) calm_put(r + i, narrowed(p + i));
    for (; i < n; i++) r[i] = (int16_t)tsr_maxi(tsr_mini(p[i * stride], INT16_MAX), INT16_MIN);
    (void)shift, (void)scale, (void)lost; /* of bands, which are as they are */
}

/* Of a row that is not calm, as who looks at it again will find. */
static void i32_narrow_split(const void *in, int64_t stride, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost)
{
    const int32_t *p = (const int32_t *)in;
    for (int64_t i = 0; i < n; i++) {
        const int64_t raised = TSR_LIFT_RAISE((int64_t)p[i * stride], shift);
        ((int16_t *)(i & 1 ? high : low))[i >> 1] = (int16_t)tsr_maxl(tsr_minl(raised, INT16_MAX), INT16_MIN);
    }
    (void)lost;
}

static void i32_narrow_store(const void *row, int64_t n, int32_t shift, double scale, void *out, int64_t stride, int stream, uint32_t *lost)
{
    const int16_t *r = (const int16_t *)row;
    int32_t *p = (int32_t *)out, part[TSR_WIDE_16];
    int64_t i = 0;
    for (; stride == 1 && !shift && i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) {
        if (!stream || (uintptr_t)(p + i) % 64) {
            widened(*(const tsr_wide_i16 *)(const void *)(r + i), p + i);
            continue;
        }
        widened(*(const tsr_wide_i16 *)(const void *)(r + i), part);
        stream_copy(p + i, part, sizeof part);
    }
    for (; i < n; i++) p[i * stride] = TSR_LIFT_LOWER((int32_t)r[i], shift);
    (void)scale, (void)lost;
}

static void i32_narrow_merge(const void *low, const void *high, int64_t n, int32_t shift, void *out, int64_t stride, int stream, uint32_t *lost)
{
    const int16_t *l = (const int16_t *)low, *h = (const int16_t *)high;
    int32_t *p = (int32_t *)out, part[2 * TSR_WIDE_16];
    int64_t k = 0;
    for (; stride == 1 && k + TSR_WIDE_16 <= n / 2; k += TSR_WIDE_16) {
        calm_zip(calm_at(l + k), calm_at(h + k), shift, stream ? part : p + 2 * k, 0, 1);
        if (stream) stream_copy(p + 2 * k, part, sizeof part);
    }
    for (int64_t i = 2 * k; i < n; i++) p[i * stride] = TSR_LIFT_LOWER((int32_t)(i & 1 ? h : l)[i >> 1], shift);
    (void)lost;
}

static void i32_narrow_lift_calm(const tsr_lift_step *s, void *row, const void *const *neighbours, int64_t n, void *out, void *copy)
{
    int16_t part[STREAM_PART + TSR_WIDE_16], *x = (int16_t *)row;
    uint32_t lost = 0;
    for (int64_t i = 0; i < n; i += STREAM_PART) {
        const int64_t count = n - i < STREAM_PART ? n - i : STREAM_PART;
        const void *from[TSR_WAVELET_TAPS];
        for (int32_t k = 0; k < s->count; k++) from[k] = (const int16_t *)neighbours[k] + i;
        i16_lift_calm(s, x + i, from, count, part, out == row ? x + i : NULL);
        if (out != row) i32_narrow_store(part, count, 0, 1, (int32_t *)out + i, 1, 0, &lost);
        if (copy) i32_narrow_store(part, count, 0, 1, (int32_t *)copy + i, 1, 0, &lost);
    }
}

static int i32_narrow_split_calm(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high)
{
    return split_calm16(in, n, shift, bound, low, high, 1);
}

static const tsr_wavelet_rows i32_narrow_rows = { .element = sizeof(int32_t),
                                                  .ring = sizeof(int16_t),
                                                  .split = i32_narrow_split,
                                                  .merge = i32_narrow_merge,
                                                  .lift = i16_lift,
                                                  .load = i32_narrow_load,
                                                  .store = i32_narrow_store,
                                                  .drain = tsr_stream_drain,
                                                  .within = i16_within,
                                                  .split_calm = i32_narrow_split_calm,
                                                  .lift_calm = i32_narrow_lift_calm,
                                                  .calm_loops = i32_calm_loops };
