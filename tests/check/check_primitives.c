/* Every primitive on every backend and SIMD variant against plain serial loops that use nothing of tessera. */
#include "check.h"

#include <math.h>

#include "primitives/primitives_ops.h"

enum { SIZES = 14, PATTERNS = 5 };
static const int64_t sizes[SIZES] = { 0, 1, 31, 32, 33, 1023, 1024, 1025, 4097, 32767, 65536, 65537, 131089, (1 << 20) + 7 };
static const char *const patterns[PATTERNS] = { "random", "zero", "ones", "alternating", "sparse" };

/* Element i as 64 bits. */
static uint64_t element(int pattern, int64_t i, uint64_t *random)
{
    uint64_t r = check_random(random);
    switch (pattern) {
    case 0: return r;
    case 1: return 0;
    case 2: return UINT64_MAX;
    case 3: return i & 1 ? UINT64_MAX : 0;
    default: return r % 1000 == 0 ? r : 0;
    }
}

/* Floats of a pattern: ordinary ones, and in the alternating case the awkward. */
static double number(int pattern, int64_t i, uint64_t bits)
{
    static const double awkward[8] = { 1e20, 1, -1e20, NAN, INFINITY, -0.0, 0.0, 1e-40 };
    if (pattern == 3) return awkward[i % 8] + 0.0 * (double)i;
    if (pattern == 1) return i & 1 ? -0.0 : 0.0;
    if (pattern == 4) return bits ? (double)(int32_t)bits : 0.0;
    return (double)(int64_t)bits * 0x1p-40;
}

static void fill(void *data, tsr_dtype dtype, int pattern, int64_t n)
{
    uint64_t random = 77u + (uint64_t)n;
    size_t size = tsr_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        uint64_t v = element(pattern, i, &random);
        if (dtype == TSR_F64) ((double *)data)[i] = number(pattern, i, v);
        else if (dtype == TSR_F32) ((float *)data)[i] = (float)number(pattern, i, v);
        else memcpy((char *)data + (size_t)i * size, &v, size);
    }
}

/* The inputs made last: every variant of a case asks for the same. */
enum { KEPT = 4 };
static struct kept_input { tsr_dtype dtype; int pattern; int64_t n; void *data; } kept_inputs[KEPT];

static void *input(tsr_dtype dtype, int pattern, int64_t n)
{
    static int next;
    size_t bytes = (size_t)n * tsr_dtype_size(dtype);
    void *data = malloc(bytes + 64);
    if (!data) abort();
    for (int k = 0; k < KEPT; k++) {
        const struct kept_input *kept = &kept_inputs[k];
        if (!kept->data || kept->dtype != dtype || kept->pattern != pattern || kept->n != n) continue;
        memcpy(data, kept->data, bytes);
        return data;
    }
    fill(data, dtype, pattern, n);
    void *copy = malloc(bytes + 64);
    if (!copy) abort();
    memcpy(copy, data, bytes);
    free(kept_inputs[next].data);
    kept_inputs[next] = (struct kept_input){ dtype, pattern, n, copy };
    next = (next + 1) % KEPT;
    return data;
}

/* A case number taken apart: size, pattern, and what the entry adds. */
typedef struct shape { int64_t n; int pattern, more; } shape;
/* The largest size, 17 tiles of 65536, is for random data; other patterns have 4 tiles there: their trouble lies at the edges of tiles. */
enum { MANY_TILES = (1 << 20) + 7, SOME_TILES = 3 * 65536 + 7 };
static shape shape_of(int index)
{
    shape s = { sizes[index % SIZES], index / SIZES % PATTERNS, index / (SIZES * PATTERNS) };
    if (s.n == MANY_TILES && s.pattern) s.n = SOME_TILES;
    return s;
}

/* ---- reduce --------------------------------------------------------------------------------------------------------------------- */

static const char *const reductions[3] = { "sum", "min", "max" };

/* The order of a sum of awkward floats shows between many tiles, too. */
static shape reduce_shape(int index)
{
    shape s = shape_of(index);
    tsr_dtype dtype = (tsr_dtype)(s.more / 3);
    if (s.n == SOME_TILES && s.pattern == 3 && (dtype == TSR_F32 || dtype == TSR_F64)) s.n = MANY_TILES;
    return s;
}

static void reduce_describe(int index, char *text, size_t bytes)
{
    shape s = reduce_shape(index);
    snprintf(text, bytes, "%s %s n=%lld %s", reductions[s.more % 3], tsr_dtype_name((tsr_dtype)(s.more / 3)), (long long)s.n, patterns[s.pattern]);
}

static void reduce_run(check *c, int index)
{
    shape s = reduce_shape(index);
    tsr_dtype dtype = (tsr_dtype)(s.more / 3);
    size_t bytes = (size_t)s.n * tsr_dtype_size(dtype), work_bytes = 0;
    void *host = input(dtype, s.pattern, s.n);
    void *data = check_device(c, host, bytes);
    tsr_reduced *result = (tsr_reduced *)check_device(c, NULL, sizeof *result);
    check_status(c, tsr_reduce_workspace(c->context, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, bytes, tsr_reduce(c->context, (tsr_reduction)(s.more % 3), dtype, data, s.n, result, work, work_bytes));
    check_keep_device(c, "result", result, sizeof *result);
    check_release(c, work, work_bytes);
    check_release(c, result, sizeof *result);
    check_release(c, data, bytes);
    free(host);
}

static double lanes_sum(const double *p, int64_t n) /* the documented order: 1024 lanes, then halves */
{
    double lane[1024];
    for (int l = 0; l < 1024; l++) {
        lane[l] = 0;
        for (int64_t i = l; i < n; i += 1024) lane[l] += p[i];
    }
    for (int half = 512; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) lane[l] = lane[l] + lane[l + half];
    return lane[0];
}

static void reduce_oracle(check *c, int index)
{
    shape s = reduce_shape(index);
    tsr_dtype dtype = (tsr_dtype)(s.more / 3);
    int reduction = s.more % 3;
    void *host = input(dtype, s.pattern, s.n);
    tsr_reduced r = { 0 };
    if (dtype == TSR_F32 || dtype == TSR_F64) {
        double *v = (double *)malloc((size_t)s.n * 8 + 8), *tile = (double *)malloc(((size_t)s.n / 32768 + 1) * 8);
        if (!v || !tile) abort();
        for (int64_t i = 0; i < s.n; i++) v[i] = dtype == TSR_F32 ? (double)((float *)host)[i] : ((double *)host)[i];
        if (reduction == TSR_REDUCE_SUM) {
            int64_t tiles = 0;
            for (int64_t i = 0; i < s.n; i += 32768) tile[tiles++] = lanes_sum(v + i, s.n - i < 32768 ? s.n - i : 32768);
            r.f = lanes_sum(tile, tiles);
        } else {
            r.f = reduction == TSR_REDUCE_MIN ? INFINITY : -INFINITY;
            for (int64_t i = 0; i < s.n; i++) {
                int lower = v[i] < r.f || (v[i] == r.f && signbit(v[i]) > signbit(r.f));
                int higher = v[i] > r.f || (v[i] == r.f && signbit(v[i]) < signbit(r.f));
                if (reduction == TSR_REDUCE_MIN ? lower : higher) r.f = v[i];
            }
        }
        free(tile);
        free(v);
    } else {
        int64_t low = 0;
        uint64_t size = tsr_dtype_size(dtype), high = size == 8 ? UINT64_MAX : (1ull << (8 * size)) - 1u;
        int is_signed = dtype == TSR_I8 || dtype == TSR_I16 || dtype == TSR_I32 || dtype == TSR_I64;
        if (is_signed) {
            high >>= 1;
            low = -(int64_t)high - 1;
        }
        if (reduction == TSR_REDUCE_MIN) r.u = high;
        if (reduction == TSR_REDUCE_MAX) r.i = low;
        for (int64_t i = 0; i < s.n; i++) {
            uint64_t u = 0;
            memcpy(&u, (char *)host + (size_t)i * size, size);
            int64_t v = (int64_t)(u << (64 - 8 * size)) >> (64 - 8 * size);
            if (reduction == TSR_REDUCE_SUM) r.u += is_signed ? (uint64_t)v : u;
            else if (is_signed) r.i = (reduction == TSR_REDUCE_MIN ? v < r.i : v > r.i) ? v : r.i;
            else r.u = (reduction == TSR_REDUCE_MIN ? u < r.u : u > r.u) ? u : r.u;
        }
    }
    check_keep(c, "result", &r, sizeof r);
    free(host);
}

/* ---- scan ----------------------------------------------------------------------------------------------------------------------- */

static const tsr_dtype scan_types[5][2] = { { TSR_U8, TSR_U32 }, { TSR_U8, TSR_U64 }, { TSR_U32, TSR_U32 }, { TSR_U32, TSR_U64 }, { TSR_U64, TSR_U64 } };

static void scan_describe(int index, char *text, size_t bytes)
{
    shape s = shape_of(index);
    const tsr_dtype *t = scan_types[s.more / 2];
    snprintf(text, bytes, "%s %s to %s n=%lld %s", s.more % 2 ? "inclusive" : "exclusive", tsr_dtype_name(t[0]), tsr_dtype_name(t[1]), (long long)s.n,
             patterns[s.pattern]);
}

static void scan_run(check *c, int index)
{
    shape s = shape_of(index);
    const tsr_dtype *t = scan_types[s.more / 2];
    /* one element into the array: not aligned to 16 bytes in every second pattern */
    size_t skip = s.pattern & 1 ? tsr_dtype_size(t[0]) : 0, in = (size_t)s.n * tsr_dtype_size(t[0]), out = (size_t)s.n * tsr_dtype_size(t[1]), work_bytes = 0;
    char *host = (char *)malloc(in + skip + 1);
    if (!host) abort();
    memset(host, 0, in + skip + 1);
    char *elements = (char *)input(t[0], s.pattern, s.n);
    memcpy(host + skip, elements, in);
    free(elements);
    char *data = (char *)check_device(c, host, in + skip);
    void *sums = check_device(c, NULL, out);
    check_status(c, tsr_scan_workspace(c->context, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, in + out, tsr_scan(c->context, (tsr_scan_kind)(s.more % 2), t[0], s.n ? data + skip : NULL, s.n, t[1], sums, work, work_bytes));
    check_keep_device(c, "sums", sums, out);
    check_release(c, work, work_bytes);
    check_release(c, sums, out);
    check_release(c, data, in + skip);
    free(host);
}

static void scan_oracle(check *c, int index)
{
    shape s = shape_of(index);
    const tsr_dtype *t = scan_types[s.more / 2];
    size_t size = tsr_dtype_size(t[0]), out = tsr_dtype_size(t[1]);
    char *host = (char *)input(t[0], s.pattern, s.n), *sums = (char *)malloc((size_t)s.n * out + 1);
    if (!sums) abort();
    uint64_t sum = 0;
    for (int64_t i = 0; i < s.n; i++) {
        uint64_t v = 0, before = sum;
        memcpy(&v, host + (size_t)i * size, size);
        sum += v;
        memcpy(sums + (size_t)i * out, s.more % 2 ? &sum : &before, out);
    }
    check_keep(c, "sums", sums, (size_t)s.n * out);
    free(sums);
    free(host);
}

/* ---- select, values, count ------------------------------------------------------------------------------------------------------ */

static const tsr_dtype select_types[3] = { TSR_U8, TSR_U16, TSR_F32 };
static tsr_predicate predicate_of(int which)
{
    static const tsr_predicate all[3] = { { TSR_KEEP_NONZERO, 0, 0 }, { TSR_KEEP_RANGE, 99.5, 201.0 }, { TSR_KEEP_RANGE, 5, 4 } };
    return all[which];
}

/* more: type (3) x predicate (3) x kind (u32 indices, u64 indices with half the room) */
static void select_describe(int index, char *text, size_t bytes)
{
    shape s = shape_of(index);
    snprintf(text, bytes, "%s predicate %d %s n=%lld %s", tsr_dtype_name(select_types[s.more % 3]), s.more / 3 % 3,
             s.more / 9 ? "u64, half the room" : "u32", (long long)s.n, patterns[s.pattern]);
}

static void select_run(check *c, int index)
{
    shape s = shape_of(index);
    tsr_dtype dtype = select_types[s.more % 3];
    int wide = s.more / 9;
    int64_t capacity = wide ? s.n / 2 : s.n;
    size_t in = (size_t)s.n * tsr_dtype_size(dtype), out = (size_t)capacity * (wide ? 8 : 4), work_bytes = 0;
    void *host = input(dtype, s.pattern, s.n), *data = check_device(c, host, in), *indices = check_device(c, NULL, out);
    uint64_t *found = (uint64_t *)check_device(c, NULL, 8), *counted = (uint64_t *)check_device(c, NULL, 8);
    check_status(c, tsr_select_workspace(c->context, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    if (!c->failed) check_status(c, c->context->backend->fill(c->context->queue, indices, 0, out));
    check_status(c, tsr_count(c->context, predicate_of(s.more / 3 % 3), dtype, data, s.n, counted));
    check_call(c, in, tsr_select_indices(c->context, predicate_of(s.more / 3 % 3), dtype, data, s.n, wide ? TSR_U64 : TSR_U32, indices, capacity, found,
                                         work, work_bytes));
    check_keep_device(c, "found", found, 8);
    check_keep_device(c, "counted", counted, 8);
    check_keep_device(c, "indices", indices, out);
    check_release(c, work, work_bytes);
    check_release(c, counted, 8);
    check_release(c, found, 8);
    check_release(c, indices, out);
    check_release(c, data, in);
    free(host);
}

static int kept(tsr_dtype dtype, const void *host, int64_t i, int which)
{
    double v = dtype == TSR_U8 ? ((const uint8_t *)host)[i] : dtype == TSR_U16 ? ((const uint16_t *)host)[i] : (double)((const float *)host)[i];
    tsr_predicate p = predicate_of(which);
    return which == 0 ? !(v == 0) : v >= p.lower && v <= p.upper;
}

static void select_oracle(check *c, int index)
{
    shape s = shape_of(index);
    tsr_dtype dtype = select_types[s.more % 3];
    int wide = s.more / 9;
    uint64_t found = 0, capacity = (uint64_t)(wide ? s.n / 2 : s.n);
    void *host = input(dtype, s.pattern, s.n);
    char *indices = (char *)calloc((size_t)capacity * 8 + 8, 1);
    if (!indices) abort();
    for (int64_t i = 0; i < s.n; i++) {
        if (!kept(dtype, host, i, s.more / 3 % 3)) continue;
        if (found < capacity && wide) ((uint64_t *)(void *)indices)[found] = (uint64_t)i;
        else if (found < capacity) ((uint32_t *)(void *)indices)[found] = (uint32_t)i;
        found++;
    }
    check_keep(c, "found", &found, 8);
    check_keep(c, "counted", &found, 8);
    check_keep(c, "indices", indices, (size_t)capacity * (wide ? 8 : 4));
    free(indices);
    free(host);
}

static void values_describe(int index, char *text, size_t bytes)
{
    shape s = shape_of(index);
    snprintf(text, bytes, "%d bytes n=%lld %s", 1 << s.more, (long long)s.n, patterns[s.pattern]);
}

static void values_run(check *c, int index)
{
    shape s = shape_of(index);
    size_t size = (size_t)1 << s.more, work_bytes = 0, n = (size_t)s.n;
    void *flags_host = input(TSR_U8, s.pattern, s.n), *values_host = input(TSR_U64, 0, s.n);
    uint8_t *flags = (uint8_t *)check_device(c, flags_host, n);
    void *values = check_device(c, values_host, n * size), *kept_values = check_device(c, NULL, n * size);
    uint64_t *found = (uint64_t *)check_device(c, NULL, 8), some = 0;
    check_status(c, tsr_select_workspace(c->context, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    check_call(c, n * (size + 1), tsr_select_values(c->context, flags, values, (int32_t)size, s.n, kept_values, s.n, found, work, work_bytes));
    if (!c->failed) check_status(c, tsr_found_host(c->context, found, s.n, &some));
    check_keep_device(c, "kept", kept_values, (size_t)some * size);
    check_release(c, work, work_bytes);
    check_release(c, found, 8);
    check_release(c, kept_values, n * size);
    check_release(c, values, n * size);
    check_release(c, flags, n);
    free(values_host);
    free(flags_host);
}

static void values_oracle(check *c, int index)
{
    shape s = shape_of(index);
    size_t size = (size_t)1 << s.more, at = 0;
    uint8_t *flags = (uint8_t *)input(TSR_U8, s.pattern, s.n), *values = (uint8_t *)input(TSR_U64, 0, s.n);
    for (size_t i = 0; i < (size_t)s.n; i++)
        if (flags[i]) memmove(values + size * at++, values + size * i, size);
    check_keep(c, "kept", values, at * size);
    free(values);
    free(flags);
}

/* ---- sort ----------------------------------------------------------------------------------------------------------------------- */

static const int sort_bits[4][2] = { { 0, 64 }, { 0, 32 }, { 5, 18 }, { 7, 7 } };

/* more: key (2) x payload (2) x bits (4) x backend's sort or the portable one (2) */
/* The emulator is slow here, a barrier at a time: all sizes are for random keys, up to 17 tiles of 4096 of all bits and of two uneven passes in the portable
 * sort, which is the emulator's only one; four sizes for the other patterns. */
enum { SORT_RANDOM = 12, SORT_OTHER = 4, SORT_SHAPES = SORT_RANDOM + (PATTERNS - 1) * SORT_OTHER };
static shape sort_shape(int index)
{
    static const int64_t random[SORT_RANDOM] = { 0, 1, 31, 32, 33, 1023, 1024, 1025, 4097, 8191, 16384, 65537 }, other[SORT_OTHER] = { 33, 1025, 4096, 8193 };
    int at = index % SORT_SHAPES, more = index / SORT_SHAPES, small = more < 16 || more / 4 % 2;
    if (at >= SORT_RANDOM) return (shape){ other[(at - SORT_RANDOM) % SORT_OTHER], 1 + (at - SORT_RANDOM) / SORT_OTHER, more };
    return (shape){ small && random[at] == 65537 ? 16385 : random[at], 0, more };
}

static void sort_describe(int index, char *text, size_t bytes)
{
    shape s = sort_shape(index);
    snprintf(text, bytes, "%s%s bits %d-%d%s n=%lld %s", s.more % 2 ? "u64" : "u32", s.more / 2 % 2 ? " + u32" : "", sort_bits[s.more / 4 % 4][0],
             sort_bits[s.more / 4 % 4][1], s.more / 16 ? " portable" : "", (long long)s.n, patterns[s.pattern]);
}

static void sort_run(check *c, int index)
{
    shape s = sort_shape(index);
    int size = s.more % 2 ? 8 : 4, with_payload = s.more / 2 % 2, first = sort_bits[s.more / 4 % 4][0], last = sort_bits[s.more / 4 % 4][1];
    if (last > 8 * size) last = 8 * size;
    tsr_dtype type = size == 8 ? TSR_U64 : TSR_U32;
    size_t bytes = (size_t)s.n * (size_t)size, payload_bytes = with_payload ? (size_t)s.n * 4 : 0, work_bytes = 0;
    void *host = input(type, s.pattern, s.n), *payload_host = input(TSR_U32, 0, s.n);
    void *keys = check_device(c, host, bytes), *sorted = check_device(c, NULL, bytes);
    uint32_t *payload = (uint32_t *)check_device(c, payload_host, payload_bytes), *moved = (uint32_t *)check_device(c, NULL, payload_bytes);
    check_status(c, tsr_sort_workspace(c->context, type, with_payload, s.n, &work_bytes));
    void *work = check_device(c, NULL, work_bytes);
    if (s.more / 16 && s.n) {
        const struct tsr_primitives_ops *ops = c->context->backend->primitives;
        const tsr_sort_job job = { size, keys, sorted, payload, moved, s.n, first, last };
        check_call(c, 2 * (bytes + payload_bytes), ops->sort_own(c->context->queue, &job, work));
    } else {
        check_call(c, 2 * (bytes + payload_bytes), tsr_sort(c->context, type, keys, sorted, payload, moved, s.n, first, last, work, work_bytes));
    }
    check_keep_device(c, "keys", sorted, bytes);
    check_keep_device(c, "payload", moved, payload_bytes);
    check_keep_device(c, "input", keys, bytes);
    check_release(c, work, work_bytes);
    check_release(c, moved, payload_bytes);
    check_release(c, payload, payload_bytes);
    check_release(c, sorted, bytes);
    check_release(c, keys, bytes);
    free(payload_host);
    free(host);
}

typedef struct item { uint64_t digit, key; uint32_t payload, at; } item;
static int item_order(const void *a, const void *b)
{
    const item *x = (const item *)a, *y = (const item *)b;
    if (x->digit != y->digit) return x->digit < y->digit ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

static void sort_oracle(check *c, int index)
{
    shape s = sort_shape(index);
    int size = s.more % 2 ? 8 : 4, with_payload = s.more / 2 % 2, first = sort_bits[s.more / 4 % 4][0], last = sort_bits[s.more / 4 % 4][1];
    if (last > 8 * size) last = 8 * size;
    char *host = (char *)input(size == 8 ? TSR_U64 : TSR_U32, s.pattern, s.n), *input_copy = (char *)malloc((size_t)s.n * 8 + 8);
    uint32_t *payload = (uint32_t *)input(TSR_U32, 0, s.n);
    item *items = (item *)malloc((size_t)s.n * sizeof *items + 1);
    if (!items || !input_copy) abort();
    memcpy(input_copy, host, (size_t)s.n * (size_t)size);
    for (int64_t i = 0; i < s.n; i++) {
        uint64_t key = 0;
        memcpy(&key, host + i * size, (size_t)size);
        uint64_t above = last - first >= 64 ? UINT64_MAX : ((uint64_t)1 << (last - first)) - 1u;
        items[i] = (item){ key >> first & above, key, payload[i], (uint32_t)i };
    }
    qsort(items, (size_t)s.n, sizeof *items, item_order);
    for (int64_t i = 0; i < s.n; i++) {
        memcpy(host + i * size, &items[i].key, (size_t)size);
        payload[i] = items[i].payload;
    }
    check_keep(c, "keys", host, (size_t)s.n * (size_t)size);
    check_keep(c, "payload", payload, with_payload ? (size_t)s.n * 4 : 0);
    check_keep(c, "input", input_copy, (size_t)s.n * (size_t)size);
    free(items);
    free(payload);
    free(input_copy);
    free(host);
}

/* ---- histogram ------------------------------------------------------------------------------------------------------------------ */

static const struct { double lower, upper; int bins; } ranges[4] = { { 0, 256, 256 }, { 10, 200.5, 7 }, { -100, 70000, 5000 }, { 0, 65536, 65536 } };

/* more: type (3) x range (4); u64 counts for odd ranges */
static void histogram_describe(int index, char *text, size_t bytes)
{
    shape s = shape_of(index);
    snprintf(text, bytes, "%s [%g, %g) %d bins n=%lld %s", tsr_dtype_name(select_types[s.more % 3]), ranges[s.more / 3].lower, ranges[s.more / 3].upper,
             ranges[s.more / 3].bins, (long long)s.n, patterns[s.pattern]);
}

static void histogram_run(check *c, int index)
{
    shape s = shape_of(index);
    tsr_dtype dtype = select_types[s.more % 3];
    int range = s.more / 3;
    size_t in = (size_t)s.n * tsr_dtype_size(dtype), out = (size_t)ranges[range].bins * (range % 2 ? 8 : 4);
    void *host = input(dtype, s.pattern, s.n), *data = check_device(c, host, in), *counts = check_device(c, NULL, out);
    check_call(c, in, tsr_histogram(c->context, dtype, data, s.n, ranges[range].lower, ranges[range].upper, ranges[range].bins,
                                    range % 2 ? TSR_U64 : TSR_U32, counts));
    check_keep_device(c, "counts", counts, out);
    check_release(c, counts, out);
    check_release(c, data, in);
    free(host);
}

static void histogram_oracle(check *c, int index)
{
    shape s = shape_of(index);
    tsr_dtype dtype = select_types[s.more % 3];
    int range = s.more / 3, wide = range % 2, bins = ranges[range].bins;
    double lower = ranges[range].lower, upper = ranges[range].upper;
    void *host = input(dtype, s.pattern, s.n);
    char *counts = (char *)calloc((size_t)bins, 8);
    if (!counts) abort();
    for (int64_t i = 0; i < s.n; i++) {
        double v = dtype == TSR_U8 ? ((uint8_t *)host)[i] : dtype == TSR_U16 ? ((uint16_t *)host)[i] : (double)((float *)host)[i];
        if (!(v >= lower && v < upper)) continue;
        int64_t b = (int64_t)floor((v - lower) * ((double)bins / (upper - lower)));
        if (b >= bins) b = bins - 1;
        if (wide) ((uint64_t *)(void *)counts)[b]++;
        else ((uint32_t *)(void *)counts)[b]++;
    }
    check_keep(c, "counts", counts, (size_t)bins * (wide ? 8 : 4));
    free(counts);
    free(host);
}

int main(int argc, char **argv)
{
    enum { SHAPES = SIZES * PATTERNS };
    static const check_entry entries[] = {
        { "reduce", SHAPES * 30, reduce_describe, reduce_run, reduce_oracle },
        { "scan", SHAPES * 10, scan_describe, scan_run, scan_oracle },
        { "select", SHAPES * 18, select_describe, select_run, select_oracle },
        { "values", SHAPES * 4, values_describe, values_run, values_oracle },
        { "sort", SORT_SHAPES * 32, sort_describe, sort_run, sort_oracle },
        { "histogram", SHAPES * 12, histogram_describe, histogram_run, histogram_oracle },
    };
    return check_main(argc, argv, entries, (int)(sizeof entries / sizeof *entries));
}
