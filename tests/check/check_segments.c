/* Segmented reductions and scans, gather, scatter and inverse on every backend and SIMD variant against plain serial loops. */
#include "check.h"

#include <math.h>

enum { LAYOUTS = 8 };
static const char *const layouts[LAYOUTS] = {
    "ones", "short", "mixed", "one long", "empty between", "long and short", "at powers of two", "all long"
};
static const int64_t counts[LAYOUTS] = { 517, 4001, 20011, 70001, 999, 50021, 8192, 70003 };

/* Offsets of a layout into starts (room for count + 2); returns the number of segments. */
static int64_t lay_out(int layout, int64_t count, uint64_t *starts)
{
    uint64_t random = 5u + (uint64_t)layout;
    int64_t n = 0, at = 0;
    while (at < count && n < count) {
        int64_t length = 1;
        if (layout == 1) length = 1 + (int64_t)(check_random(&random) % 9);
        if (layout == 2) length = (int64_t)(check_random(&random) % (n % 7 == 3 ? 3000 : 100));
        if (layout == 3) length = count;
        if (layout == 4) length = check_random(&random) % 3 ? 0 : (int64_t)(check_random(&random) % 50);
        if (layout == 5) length = n == 1 ? 40000 : n == 3 ? 5000 : (int64_t)(check_random(&random) % 70);
        if (layout == 6) length = at ? at : 1;
        if (layout == 7) length = n == 2 ? 33000 : 4097 + 1000 * n;
        starts[n++] = (uint64_t)at;
        at += length;
    }
    starts[n] = (uint64_t)(at < count ? at : count);
    return n;
}

/* ---- reduce --------------------------------------------------------------------------------------------------------------------- */

enum { TYPES = 6 };
static const tsr_dtype types[TYPES] = { TSR_F32, TSR_F64, TSR_U8, TSR_I32, TSR_U64, TSR_I16 };

typedef struct segments {
    int64_t count, n;
    uint64_t *starts;
    void *data;
    size_t bytes;
    tsr_dtype dtype;
} segments;

static segments make_segments(int layout, tsr_dtype dtype)
{
    segments s = { .count = counts[layout], .dtype = dtype };
    uint64_t random = 99;
    s.starts = (uint64_t *)malloc(((size_t)s.count + 2) * 8);
    s.bytes = (size_t)s.count * tsr_dtype_size(dtype);
    s.data = malloc(s.bytes + 8);
    if (!s.starts || !s.data) abort();
    s.n = lay_out(layout, s.count, s.starts);
    for (int64_t i = 0; i < s.count; i++) {
        const uint64_t v = check_random(&random);
        const double real = i % 41 == 7 ? -0.0 : (double)(int64_t)v * (i % 3 ? 0x1p-50 : 0x1p-20);
        if (dtype == TSR_F32) ((float *)s.data)[i] = i % 13 == 5 && layout == 2 ? 1e20f : (float)real;
        else if (dtype == TSR_F64) ((double *)s.data)[i] = real;
        else memcpy((char *)s.data + (size_t)i * tsr_dtype_size(dtype), &v, tsr_dtype_size(dtype));
    }
    return s;
}
static void drop_segments(segments *s)
{
    free(s->starts);
    free(s->data);
}

static void reduce_describe(int index, char *text, size_t bytes)
{
    static const char *const names[3] = { "sum", "min", "max" };
    snprintf(text, bytes, "%s of %s, %s", names[index % 3], tsr_dtype_name(types[index / 3 % TYPES]), layouts[index / 3 / TYPES]);
}

static void reduce_run(check *c, int index)
{
    segments s = make_segments(index / 3 / TYPES, types[index / 3 % TYPES]);
    const int wide = index % 2;
    const size_t offset_bytes = (size_t)(s.n + 1) * (wide ? 8 : 4), result_bytes = (size_t)s.n * 8;
    size_t work_bytes = 0;
    uint32_t *narrow = (uint32_t *)malloc(((size_t)s.n + 1) * 4);
    if (!narrow) abort();
    for (int64_t k = 0; k <= s.n; k++) narrow[k] = (uint32_t)s.starts[k];
    void *data = check_device(c, s.data, s.bytes), *offsets = check_device(c, wide ? (void *)s.starts : (void *)narrow, offset_bytes);
    tsr_reduced *results = (tsr_reduced *)check_device(c, NULL, result_bytes);
    check_status(c, tsr_segmented_reduce_workspace(c->context, s.count, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, s.bytes + offset_bytes + result_bytes,
               tsr_segmented_reduce(c->context, (tsr_reduction)(index % 3), s.dtype, data, s.count, wide ? TSR_U64 : TSR_U32, offsets, s.n, results,
                                    work, work_bytes));
    check_keep_device(c, "results", results, result_bytes);
    check_release(c, work, work_bytes);
    check_release(c, results, result_bytes);
    check_release(c, offsets, offset_bytes);
    check_release(c, data, s.bytes);
    free(narrow);
    drop_segments(&s);
}

static double lanes_sum(const double *p, int64_t n) /* 1024 lanes, then halves */
{
    double lane[1024] = { 0 };
    for (int64_t i = 0; i < n; i++) lane[i % 1024] += p[i];
    for (int half = 512; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) lane[l] = lane[l] + lane[l + half];
    return lane[0];
}
static double tree_sum(const double *p, int64_t n)
{
    double tile[64];
    int tiles = 0;
    for (int64_t i = 0; i < n; i += 32768) tile[tiles++] = lanes_sum(p + i, n - i < 32768 ? n - i : 32768);
    return lanes_sum(tile, tiles);
}

static void reduce_oracle(check *c, int index)
{
    segments s = make_segments(index / 3 / TYPES, types[index / 3 % TYPES]);
    const int r = index % 3;
    tsr_reduced *results = (tsr_reduced *)calloc((size_t)s.n + 1, 8);
    double *v = (double *)malloc((size_t)s.count * 8);
    if (!results || !v) abort();
    for (int64_t k = 0; k < s.n; k++) {
        const int64_t begin = (int64_t)s.starts[k], n = (int64_t)s.starts[k + 1] - begin;
        tsr_reduced *out = &results[k];
        if (s.dtype == TSR_F32 || s.dtype == TSR_F64) {
            out->f = r == 0 ? 0 : r == 1 ? INFINITY : -INFINITY;
            for (int64_t i = 0; i < n; i++) {
                v[i] = s.dtype == TSR_F32 ? (double)((float *)s.data)[begin + i] : ((double *)s.data)[begin + i];
                if (r == 1 && (v[i] < out->f || (v[i] == out->f && signbit(v[i])))) out->f = v[i];
                if (r == 2 && (v[i] > out->f || (v[i] == out->f && !signbit(v[i])))) out->f = v[i];
            }
            if (r == 0) out->f = tree_sum(v, n);
        } else if (s.dtype == TSR_U8 || s.dtype == TSR_U64) {
            out->u = r == 1 ? (s.dtype == TSR_U8 ? 255 : UINT64_MAX) : 0;
            for (int64_t i = begin; i < begin + n; i++) {
                const uint64_t u = s.dtype == TSR_U8 ? ((uint8_t *)s.data)[i] : ((uint64_t *)s.data)[i];
                out->u = r == 0 ? out->u + u : (r == 1 ? u < out->u : u > out->u) ? u : out->u;
            }
        } else {
            const int64_t least = s.dtype == TSR_I16 ? INT16_MIN : INT32_MIN, most = s.dtype == TSR_I16 ? INT16_MAX : INT32_MAX;
            out->i = r == 0 ? 0 : r == 1 ? most : least;
            for (int64_t i = begin; i < begin + n; i++) {
                const int64_t u = s.dtype == TSR_I16 ? ((int16_t *)s.data)[i] : ((int32_t *)s.data)[i];
                out->i = r == 0 ? out->i + u : (r == 1 ? u < out->i : u > out->i) ? u : out->i;
            }
        }
    }
    check_keep(c, "results", results, (size_t)s.n * 8);
    free(v);
    free(results);
    drop_segments(&s);
}

/* ---- scan ----------------------------------------------------------------------------------------------------------------------- */

/* kind (2), heads by flags or offsets (2), types (5), layout */
static const tsr_dtype scan_from[5] = { TSR_U8, TSR_U8, TSR_U32, TSR_U32, TSR_U64 }, scan_to[5] = { TSR_U32, TSR_U64, TSR_U32, TSR_U64, TSR_U64 };

static void scan_describe(int index, char *text, size_t bytes)
{
    const int t = index / 4 % 5;
    snprintf(text, bytes, "%s %s to %s by %s, %s", index % 2 ? "inclusive" : "exclusive", tsr_dtype_name(scan_from[t]), tsr_dtype_name(scan_to[t]),
             index / 2 % 2 ? "flags" : "offsets", layouts[index / 20]);
}

static uint8_t *flags_of(const segments *s)
{
    uint8_t *flags = (uint8_t *)calloc((size_t)s->count + 1, 1);
    if (!flags) abort();
    for (int64_t k = 0; k <= s->n; k++)
        if (s->starts[k] < (uint64_t)s->count) flags[s->starts[k]] = (uint8_t)(1 + k % 255);
    return flags;
}

static void scan_run(check *c, int index)
{
    const int t = index / 4 % 5, by_flags = index / 2 % 2;
    segments s = make_segments(index / 20, scan_from[t]);
    uint8_t *host_flags = flags_of(&s);
    const size_t out_bytes = (size_t)s.count * tsr_dtype_size(scan_to[t]), offset_bytes = (size_t)(s.n + 1) * 8;
    size_t work_bytes = 0;
    void *data = check_device(c, s.data, s.bytes), *sums = check_device(c, NULL, out_bytes), *offsets = check_device(c, s.starts, offset_bytes);
    uint8_t *flags = (uint8_t *)check_device(c, host_flags, (size_t)s.count);
    check_status(c, tsr_segmented_scan_workspace(c->context, s.count, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, s.bytes + out_bytes,
               tsr_segmented_scan(c->context, index % 2 ? TSR_SCAN_INCLUSIVE : TSR_SCAN_EXCLUSIVE, scan_from[t], data, s.count,
                                  by_flags ? flags : NULL, TSR_U64, by_flags ? NULL : offsets, s.n, scan_to[t], sums, work, work_bytes));
    check_keep_device(c, "sums", sums, out_bytes);
    check_release(c, work, work_bytes);
    check_release(c, flags, (size_t)s.count);
    check_release(c, offsets, offset_bytes);
    check_release(c, sums, out_bytes);
    check_release(c, data, s.bytes);
    free(host_flags);
    drop_segments(&s);
}

static void scan_oracle(check *c, int index)
{
    const int t = index / 4 % 5;
    const size_t size = tsr_dtype_size(scan_to[t]);
    segments s = make_segments(index / 20, scan_from[t]);
    uint8_t *flags = flags_of(&s);
    char *sums = (char *)malloc((size_t)s.count * size);
    uint64_t sum = 0;
    if (!sums) abort();
    for (int64_t i = 0; i < s.count; i++) {
        uint64_t v = 0;
        memcpy(&v, (char *)s.data + (size_t)i * tsr_dtype_size(scan_from[t]), tsr_dtype_size(scan_from[t]));
        if (flags[i]) sum = 0;
        const uint64_t out = index % 2 ? sum + v : sum;
        memcpy(sums + (size_t)i * size, &out, size);
        sum += v;
    }
    check_keep(c, "sums", sums, (size_t)s.count * size);
    free(sums);
    free(flags);
    drop_segments(&s);
}

/* ---- scatter, gather, inverse --------------------------------------------------------------------------------------------------------- */

enum { SOURCES = 9001, PLACES = 4099, RULES = 8, KINDS = 5 };
static const char *const rules[RULES] = { "exclusive", "common", "arbitrary", "first", "last", "sum", "min", "max" };
static const char *const kinds[KINDS] = { "random", "one place", "permutation", "some outside", "all outside" };
static const tsr_dtype combined[6] = { TSR_U32, TSR_I32, TSR_U64, TSR_I64, TSR_F32, TSR_F64 };

static void make_indices(int kind, uint64_t *indices)
{
    uint64_t random = 31u + (uint64_t)kind;
    for (int64_t i = 0; i < SOURCES; i++) {
        const uint64_t r = check_random(&random);
        indices[i] = kind == 0   ? r % PLACES
                     : kind == 1 ? 77
                     : kind == 2 ? (uint64_t)i * 2897u % SOURCES
                     : kind == 3 ? (r % 5 ? r % PLACES : r | 1ull << 31)
                                 : UINT32_MAX;
    }
}

/* more: value size (4) and index type of moves, type of combinations */
static int scatter_more(int index) { return index / RULES / KINDS; }
static void scatter_describe(int index, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s, %s, %d", rules[index % RULES], kinds[index / RULES % KINDS], scatter_more(index));
}

/* Values of every width; sums of floats are exact in them but not all. */
static void fill_values(void *values, tsr_dtype dtype, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t v = check_random(&seed);
        if (dtype == TSR_F32) ((float *)values)[i] = i % 97 == 3 ? NAN : (float)((double)(int64_t)v * 0x1p-40);
        else if (dtype == TSR_F64) ((double *)values)[i] = (double)(int64_t)v * 0x1p-40;
        else memcpy((char *)values + (size_t)i * tsr_dtype_size(dtype), &v, tsr_dtype_size(dtype));
    }
}

static const tsr_dtype widths[4] = { TSR_U8, TSR_U16, TSR_U32, TSR_U64 };
static tsr_dtype scatter_type(int index)
{
    return index % RULES < TSR_SCATTER_SUM ? widths[scatter_more(index) % 4] : combined[scatter_more(index) % 6];
}

static void *narrowed(const uint64_t *indices, int wide)
{
    void *own = malloc(SOURCES * 8);
    if (!own) abort();
    for (int64_t i = 0; i < SOURCES; i++)
        if (wide) ((uint64_t *)own)[i] = indices[i];
        else ((uint32_t *)own)[i] = (uint32_t)indices[i];
    return own;
}

static void scatter_run(check *c, int index)
{
    static uint64_t indices[SOURCES], values[SOURCES], out[SOURCES];
    const tsr_scatter_rule rule = (tsr_scatter_rule)(index % RULES);
    const int kind = index / RULES % KINDS, wide = scatter_more(index) & 1;
    const tsr_dtype dtype = scatter_type(index), index_type = wide ? TSR_U64 : TSR_U32;
    const size_t size = tsr_dtype_size(dtype), index_bytes = SOURCES * tsr_dtype_size(index_type);
    const int64_t places = kind == 2 ? SOURCES : PLACES;
    size_t work_bytes = 0;
    make_indices(kind, indices);
    fill_values(values, dtype, SOURCES, 8);
    fill_values(out, dtype, places, 9);
    void *own = narrowed(indices, wide), *at = check_device(c, own, index_bytes), *from = check_device(c, values, SOURCES * size),
         *to = check_device(c, out, (size_t)places * size);
    tsr_scatter_report *report = (tsr_scatter_report *)check_device(c, NULL, sizeof *report);
    if (rule < TSR_SCATTER_SUM) check_status(c, tsr_scatter_workspace(c->context, places, &work_bytes));
    else check_status(c, tsr_scatter_combine_workspace(c->context, dtype, index_type, SOURCES, places, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    if (rule < TSR_SCATTER_SUM)
        check_call(c, 0, tsr_scatter(c->context, rule, from, (int32_t)size, index_type, at, SOURCES, to, places, report, work, work_bytes));
    else check_call(c, 0, tsr_scatter_combine(c->context, rule, dtype, from, index_type, at, SOURCES, to, places, work, work_bytes));
    check_keep_device(c, "out", to, (size_t)places * size);
    if (rule < TSR_SCATTER_SUM) check_keep_device(c, "report", report, sizeof *report);
    check_release(c, work, work_bytes);
    check_release(c, report, sizeof *report);
    check_release(c, to, (size_t)places * size);
    check_release(c, from, SOURCES * size);
    check_release(c, at, index_bytes);
    free(own);
}

static void combine_floats(int rule, tsr_dtype dtype, const uint64_t *indices, const uint64_t *values, int64_t places, uint64_t *out)
{
    static double mine[SOURCES];
    for (int64_t j = 0; j < places; j++) {
        int64_t n = 0;
        for (int64_t i = 0; i < SOURCES; i++)
            if (indices[i] == (uint64_t)j)
                mine[n++] = dtype == TSR_F32 ? (double)((const float *)(const void *)values)[i] : ((const double *)(const void *)values)[i];
        if (!n) continue;
        float *f = (float *)(void *)out + j;
        double *d = (double *)(void *)out + j, v = dtype == TSR_F32 ? (double)*f : *d;
        if (rule != TSR_SCATTER_SUM && isnan(v)) v = rule == TSR_SCATTER_MIN ? INFINITY : -INFINITY; /* NaN is passed over */
        if (rule == TSR_SCATTER_SUM) v += tree_sum(mine, n);
        else
            for (int64_t i = 0; i < n; i++)
                if (rule == TSR_SCATTER_MIN ? mine[i] < v : mine[i] > v) v = mine[i];
        if (dtype == TSR_F32) *f = (float)v;
        else *d = v;
    }
}

static void scatter_oracle(check *c, int index)
{
    static uint64_t indices[SOURCES], values[SOURCES], out[SOURCES];
    static int64_t owner[SOURCES];
    const tsr_scatter_rule rule = (tsr_scatter_rule)(index % RULES);
    const int kind = index / RULES % KINDS, wide = scatter_more(index) & 1;
    const tsr_dtype dtype = scatter_type(index);
    const size_t size = tsr_dtype_size(dtype);
    const int64_t places = kind == 2 ? SOURCES : PLACES;
    tsr_scatter_report report = { 0, 0, UINT64_MAX, UINT64_MAX };
    make_indices(kind, indices);
    for (int64_t i = 0; i < SOURCES && !wide; i++) indices[i] = (uint32_t)indices[i];
    fill_values(values, dtype, SOURCES, 8);
    fill_values(out, dtype, places, 9);
    for (int64_t j = 0; j < SOURCES; j++) owner[j] = -1;
    if (dtype == TSR_F32 || dtype == TSR_F64) combine_floats(rule, dtype, indices, values, places, out);
    for (int64_t i = 0; i < SOURCES && dtype != TSR_F32 && dtype != TSR_F64; i++) {
        const uint64_t j = indices[i];
        char *to = (char *)out + j * size;
        const char *from = (const char *)values + (size_t)i * size;
        uint64_t a = 0, b = 0;
        if (j >= (uint64_t)places) {
            report.outside++;
            continue;
        }
        memcpy(&a, to, size);
        memcpy(&b, from, size);
        const int is_signed = dtype == TSR_I32 || dtype == TSR_I64,
                  less = is_signed ? (int64_t)(b << (64 - 8 * size)) < (int64_t)(a << (64 - 8 * size)) : b < a;
        if (rule == TSR_SCATTER_SUM) a += b;
        else if (rule == TSR_SCATTER_MIN) a = less ? b : a;
        else if (rule == TSR_SCATTER_MAX) a = less || a == b ? a : b;
        else if (owner[j] < 0 || rule == TSR_SCATTER_LAST) a = b;
        else if (rule == TSR_SCATTER_EXCLUSIVE || (rule == TSR_SCATTER_COMMON && a != b)) {
            if (!report.conflicts++) {
                report.first = (uint64_t)i;
                report.second = (uint64_t)owner[j];
            }
        }
        memcpy(to, &a, size);
        if (owner[j] < 0) owner[j] = i;
    }
    check_keep(c, "out", out, (size_t)places * size);
    if (rule < TSR_SCATTER_SUM) check_keep(c, "report", &report, sizeof report);
}

/* The inverse, and what a gather by it and by the indices themselves gives. */
static void invert_describe(int index, char *text, size_t bytes) { snprintf(text, bytes, "%s, %s", kinds[index / 2], index % 2 ? "u64" : "u32"); }
static void invert_run(check *c, int index)
{
    static uint64_t indices[SOURCES], values[SOURCES];
    static const uint32_t other = 0xabcdu;
    const int wide = index % 2;
    const size_t index_bytes = SOURCES * (wide ? 8u : 4u);
    size_t work_bytes = 0;
    make_indices(index / 2, indices);
    fill_values(values, TSR_U32, SOURCES, 3);
    void *own = narrowed(indices, wide), *at = check_device(c, own, index_bytes), *from = check_device(c, values, SOURCES * 4),
         *to = check_device(c, NULL, SOURCES * 4);
    uint64_t *starts = (uint64_t *)check_device(c, NULL, (PLACES + 1) * 8);
    uint32_t *sources = (uint32_t *)check_device(c, NULL, SOURCES * 4);
    check_status(c, tsr_invert_workspace(c->context, wide ? TSR_U64 : TSR_U32, SOURCES, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, 0, tsr_invert(c->context, wide ? TSR_U64 : TSR_U32, at, SOURCES, PLACES, starts, sources, work, work_bytes));
    check_keep_device(c, "starts", starts, (PLACES + 1) * 8);
    check_keep_device(c, "sources", sources, SOURCES * 4);
    check_status(c, tsr_gather(c->context, from, 4, PLACES, wide ? TSR_U64 : TSR_U32, at, SOURCES, &other, to));
    check_keep_device(c, "gathered", to, SOURCES * 4);
    check_release(c, work, work_bytes);
    check_release(c, sources, SOURCES * 4);
    check_release(c, starts, (PLACES + 1) * 8);
    check_release(c, to, SOURCES * 4);
    check_release(c, from, SOURCES * 4);
    check_release(c, at, index_bytes);
    free(own);
}
static void invert_oracle(check *c, int index)
{
    static uint64_t indices[SOURCES], values[SOURCES], starts[PLACES + 1];
    static uint32_t sources[SOURCES], gathered[SOURCES];
    int64_t n = 0;
    make_indices(index / 2, indices);
    for (int64_t i = 0; i < SOURCES && index % 2 == 0; i++) indices[i] = (uint32_t)indices[i];
    fill_values(values, TSR_U32, SOURCES, 3);
    for (uint64_t j = 0; j < PLACES; j++) {
        starts[j] = (uint64_t)n;
        for (int64_t i = 0; i < SOURCES; i++)
            if (indices[i] == j) sources[n++] = (uint32_t)i;
    }
    starts[PLACES] = (uint64_t)n;
    /* those outside follow by their indices, equal ones in order */
    for (uint64_t least = PLACES; n < SOURCES;) {
        uint64_t next = UINT64_MAX;
        for (int64_t i = 0; i < SOURCES; i++)
            if (indices[i] >= least && indices[i] < next) next = indices[i];
        for (int64_t i = 0; i < SOURCES; i++)
            if (indices[i] == next) sources[n++] = (uint32_t)i;
        least = next + 1;
    }
    for (int64_t i = 0; i < SOURCES; i++) gathered[i] = indices[i] < PLACES ? ((uint32_t *)(void *)values)[indices[i]] : 0xabcdu;
    check_keep(c, "starts", starts, sizeof starts);
    check_keep(c, "sources", sources, sizeof sources);
    check_keep(c, "gathered", gathered, sizeof gathered);
}

int main(int argc, char **argv)
{
    static const check_entry entries[] = {
        { "segmented reduce", 3 * TYPES * LAYOUTS, reduce_describe, reduce_run, reduce_oracle },
        { "segmented scan", 20 * LAYOUTS, scan_describe, scan_run, scan_oracle },
        { "scatter", RULES * KINDS * 6, scatter_describe, scatter_run, scatter_oracle },
        { "invert", KINDS * 2, invert_describe, invert_run, invert_oracle },
    };
    return check_main(argc, argv, entries, (int)(sizeof entries / sizeof *entries));
}
