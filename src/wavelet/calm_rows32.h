/* wavelet/calm_rows32.h: the loops of calm.h over rows of 32 bits whose sums stay within 32 bits. Included by wavelet_isa.c, once. */
#define BEYOND32(v, bound) ((uint32_t)(v) + (uint32_t)(bound) >= 2 * (uint32_t)(bound))

static int i32_within(const void *row, int64_t n, int32_t bound)
{
    const int32_t *v = (const int32_t *)row;
    uint32_t over = 0;
    for (int64_t i = 0; i < n; i++) over |= BEYOND32(v[i], bound);
    return !over;
}

static int i32_split_calm(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high)
{
    const int32_t *TSR_RESTRICT p = (const int32_t *)in;
    int32_t *TSR_RESTRICT l = (int32_t *)low, *TSR_RESTRICT h = (int32_t *)high;
    const int32_t most = bound >> shift;
    uint32_t over = 0;
    for (int64_t k = 0; k < n / 2; k++) {
        const int32_t a = p[2 * k], b = p[2 * k + 1];
        over |= BEYOND32(a, most) | BEYOND32(b, most);
        l[k] = (int32_t)((uint32_t)a << shift);
        h[k] = (int32_t)((uint32_t)b << shift);
    }
    if (n & 1) {
        over |= BEYOND32(p[n - 1], most);
        l[n / 2] = (int32_t)((uint32_t)p[n - 1] << shift);
    }
    return !over;
}

/* `to` is x or apart from it, and neighbours are other rows. */
#define LIFT32(SUM)                                                                   \
    do {                                                                              \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                          \
        {                                                                             \
            const int32_t p = (TSR_LIFT_ROUND(SUM, rounding, shift) ^ minus) - minus; \
            to[i] = x[i] + p;                                                         \
        }                                                                             \
    } while (0)
#define V32(k) v##k[i]

static void i32_lift_calm(const tsr_lift_step *s, void *row, const void *const *neighbours, int64_t n, void *out, void *copy)
{
    const int32_t *const x = (const int32_t *)row, rounding = s->rounding, shift = s->shift, minus = s->sign < 0 ? -1 : 0;
    int32_t *const to = (int32_t *)out, t[TSR_WAVELET_TAPS];
    const int32_t *v[TSR_WAVELET_TAPS];
    for (int k = 0; k < TSR_WAVELET_TAPS; k++) {
        t[k] = s->tap[k];
        v[k] = (const int32_t *)neighbours[k < s->count ? k : 0];
    }
    const int32_t *const v0 = v[0], *const v1 = v[1], *const v2 = v[2], *const v3 = v[3], *const v4 = v[4], *const v5 = v[5], *const v6 = v[6],
                         *const v7 = v[7];
    if (s->symmetric && s->count == 2 && s->unit) LIFT32(V32(0) + V32(1));
    else if (s->symmetric && s->count == 2) LIFT32(TSR_LIFT_PAIR(t, V32));
    else if (s->symmetric && s->count == 4) LIFT32(TSR_LIFT_FOUR(t, V32));
    else if (s->symmetric && s->count == 8) LIFT32(TSR_LIFT_EIGHT(t, V32));
    else if (s->count == 1) LIFT32(t[0] * V32(0));
    else /* the other ones have taps of 0 */
        LIFT32(t[0] * V32(0) + t[1] * V32(1) + t[2] * V32(2) + t[3] * V32(3) + t[4] * V32(4) + t[5] * V32(5) + t[6] * V32(6) + t[7] * V32(7));
    if (copy) memcpy(copy, to, (size_t)n * sizeof *to);
}
#undef BEYOND32
#undef LIFT32
#undef V32
