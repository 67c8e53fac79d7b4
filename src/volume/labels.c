/* volume/labels.c: the labels of a volume, counted slice by slice: each slice has a table of its own, and tables are joined in the order of the slices. */
#include "volume/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"

/* ---- table -------------------------------------------------------------------------------------------------------------------------------- */

static uint32_t slot_of(const tsr_label_table *t, int64_t value)
{
    uint64_t h = (uint64_t)value * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32) & ((uint32_t)(2 * t->room) - 1);
}

static int grow(tsr_label_table *t)
{
    const int32_t room = t->room ? 2 * t->room : 16;
    int64_t *values = (int64_t *)realloc(t->values, (size_t)room * sizeof *values);
    if (values) t->values = values;
    int32_t *slots = values ? (int32_t *)calloc((size_t)room * 2, sizeof *slots) : NULL;
    if (!slots) return 0;
    free(t->slots);
    t->slots = slots;
    t->room = room;
    for (int32_t e = 0; e < t->count; e++) {
        uint32_t at = slot_of(t, t->values[e]);
        while (t->slots[at]) at = (at + 1) & ((uint32_t)(2 * room) - 1);
        t->slots[at] = e + 1;
    }
    return 1;
}

int32_t tsr_label_entry(tsr_label_table *t, int64_t value)
{
    if (t->count == t->room && (t->room > INT32_MAX / 8 || !grow(t))) return -1;
    uint32_t at = slot_of(t, value);
    for (; t->slots[at]; at = (at + 1) & ((uint32_t)(2 * t->room) - 1))
        if (t->values[t->slots[at] - 1] == value) return t->slots[at] - 1;
    t->values[t->count] = value;
    t->slots[at] = ++t->count;
    return t->count - 1;
}

void tsr_label_table_free(tsr_label_table *t)
{
    free(t->values);
    free(t->slots);
    *t = (tsr_label_table){ 0 };
}

int tsr_label_before(tsr_dtype dtype, int64_t a, int64_t b) { return dtype == TSR_U64 ? (uint64_t)a < (uint64_t)b : a < b; }

/* ---- counting ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct slice_labels {
    tsr_label_table table;
    tsr_label *found; /* by entry */
    int32_t room;
    int64_t not_whole; /* voxel, -1: none */
    int failed;        /* no memory, or more than there may be */
} slice_labels;

struct counting {
    const tsr_volume *volume;
    int32_t most;
    slice_labels *slices;
};

/* A run of one label along x. */
static void take_run(slice_labels *s, int64_t value, int64_t begin, int64_t end, int64_t y, int64_t z, int32_t most)
{
    const int32_t before = s->table.count, e = tsr_label_entry(&s->table, value);
    s->failed |= e < 0 || e > most;
    if (s->failed) return;
    if (e >= s->room) {
        const int32_t room = s->room ? 2 * s->room : 16;
        tsr_label *grown = (tsr_label *)realloc(s->found, (size_t)room * sizeof *grown);
        if (!grown) {
            s->failed = 1;
            return;
        }
        s->found = grown;
        s->room = room;
    }
    tsr_label *l = &s->found[e];
    if (e == before) *l = (tsr_label){ value, 0, 0, { begin, y, z }, { end, y + 1, z + 1 } };
    l->voxels += end - begin;
    l->lower = (tsr_size3){ tsr_min64(l->lower.x, begin), tsr_min64(l->lower.y, y), l->lower.z };
    l->upper = (tsr_size3){ tsr_max64(l->upper.x, end), tsr_max64(l->upper.y, y + 1), l->upper.z };
}

static void count_slices(void *user, int64_t begin, int64_t end, int worker)
{
    const struct counting *c = (const struct counting *)user;
    const tsr_volume *v = c->volume;
    const tsr_size3 n = v->size;
    const int scaled = tsr_label_scaled(v);
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        slice_labels *s = &c->slices[z];
        for (int64_t y = 0; y < n.y && !s->failed && s->not_whole < 0; y++) {
            const int64_t row = (z * n.y + y) * n.x;
            int64_t from = 0, value = 0;
            int whole = 1;
            for (int64_t x = 0; x < n.x && whole; x++) {
                const int64_t here = tsr_label_at(v, row + x, scaled, &whole);
                if (!whole) s->not_whole = row + x;
                if (here == value) continue;
                if (value) take_run(s, value, from, x, y, z, c->most);
                value = here;
                from = x;
            }
            if (value) take_run(s, value, from, n.x, y, z, c->most);
        }
    }
}

tsr_status tsr_labels_require_cpu(const tsr_context *context, const char *what)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the context is on %s, expected a CPU context and host volumes", what,
                 tsr_device_kind_name(context->device.kind));
    return TSR_OK;
}

tsr_status tsr_labels_not_whole(const tsr_volume *v, int64_t i, const char *name)
{
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is no label map: voxel (%lld, %lld, %lld) is %g, expected whole numbers", name, (long long)(i % v->size.x),
             (long long)(i / v->size.x % v->size.y), (long long)(i / (v->size.x * v->size.y)),
             tsr_voxel_load(v->data, v->dtype, i) * v->slope + v->intercept);
}

static void widen(tsr_label *l, const tsr_label *by)
{
    l->voxels += by->voxels;
    l->lower = (tsr_size3){ tsr_min64(l->lower.x, by->lower.x), tsr_min64(l->lower.y, by->lower.y), tsr_min64(l->lower.z, by->lower.z) };
    l->upper = (tsr_size3){ tsr_max64(l->upper.x, by->upper.x), tsr_max64(l->upper.y, by->upper.y), tsr_max64(l->upper.z, by->upper.z) };
}

static int ascending(const void *a, const void *b)
{
    const int64_t p = ((const tsr_label *)a)->value, q = ((const tsr_label *)b)->value;
    return (p > q) - (p < q);
}
static int ascending_unsigned(const void *a, const void *b)
{
    const uint64_t p = (uint64_t)((const tsr_label *)a)->value, q = (uint64_t)((const tsr_label *)b)->value;
    return (p > q) - (p < q);
}

/* All slices into one list. */
static tsr_status join(const struct counting *c, const slice_labels *slices, tsr_label_table *all, tsr_label **labels)
{
    const tsr_volume *v = c->volume;
    const double voxel = fabs(tsr_geometry_determinant(&v->geometry));
    int32_t room = 0;
    for (int64_t z = 0; z < v->size.z; z++) {
        const slice_labels *s = &slices[z];
        if (s->not_whole >= 0) TSR_TRY(tsr_labels_not_whole(v, s->not_whole, "the volume"));
        for (int32_t e = 0; e < s->table.count && !s->failed; e++) {
            const int32_t before = all->count, entry = tsr_label_entry(all, s->found[e].value);
            if (entry < 0) TSR_FAIL(TSR_ERROR_MEMORY, "labels: out of host memory");
            if (entry >= room) {
                room = room ? 2 * room : 64;
                tsr_label *grown = (tsr_label *)realloc(*labels, (size_t)room * sizeof *grown);
                if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "labels: out of host memory");
                *labels = grown;
            }
            if (entry == before) (*labels)[entry] = s->found[e];
            else widen(&(*labels)[entry], &s->found[e]);
        }
        if (s->failed || all->count > c->most)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the volume is no label map: more than %d different values", (int)c->most);
    }
    for (int32_t e = 0; e < all->count; e++) (*labels)[e].volume = (double)(*labels)[e].voxels * voxel;
    if (all->count) qsort(*labels, (size_t)all->count, sizeof **labels, v->dtype == TSR_U64 ? ascending_unsigned : ascending);
    return TSR_OK;
}

tsr_status tsr_labels_count(tsr_context *context, const tsr_volume *volume, int32_t most, tsr_label **labels, int32_t *count)
{
    TSR_RETURNS(labels);
    TSR_NEEDS(context, volume, count);
    *count = 0;
    TSR_TRY(tsr_labels_require_cpu(context, "labels"));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (most < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "labels: at most %d, expected 0 or more", (int)most);
    struct counting c = { volume, most ? most : 65536, NULL };
    const size_t bytes = (size_t)volume->size.z * sizeof *c.slices;
    tsr_label_table all = { 0 };
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&c.slices));
    for (int64_t z = 0; z < volume->size.z; z++) c.slices[z] = (slice_labels){ .not_whole = -1 };
    tsr_parallel(context->threads, volume->size.z, 1, count_slices, &c);
    const tsr_status status = join(&c, c.slices, &all, labels);
    if (status == TSR_OK) *count = all.count;
    else tsr_labels_destroy(labels);
    for (int64_t z = 0; z < volume->size.z; z++) {
        tsr_label_table_free(&c.slices[z].table);
        free(c.slices[z].found);
    }
    tsr_label_table_free(&all);
    tsr_host_release(NULL, c.slices, bytes);
    return status;
}

void tsr_labels_destroy(tsr_label **labels)
{
    if (!labels) return;
    free(*labels);
    *labels = NULL;
}

/* ---- few values ---------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_volume_few_values(const tsr_volume *volume, int32_t most, double *values, int32_t *count)
{
    TSR_NEEDS(volume, values);
    *count = 0;
    if (volume->context && volume->context->device.kind != TSR_DEVICE_CPU) TSR_FAIL(TSR_ERROR_ARGUMENT, "the volume is not in host memory");
    if (most < 1 || most > 256) TSR_FAIL(TSR_ERROR_ARGUMENT, "at most %d values asked for, expected 1 to 256", (int)most);
    const int64_t voxels = tsr_volume_count(volume);
    const char *bytes = (const char *)volume->data;
    const size_t size = tsr_dtype_size(volume->dtype);
    double last = (double)NAN;
    for (int64_t i = 0; i < voxels; i++) {
        enum { RUN = 256 }; /* masks are long runs: as many voxels like the one before are passed over at once */
        while (i > 0 && i + RUN <= voxels && !memcmp(bytes + (size_t)i * size, bytes + (size_t)(i - 1) * size, RUN * size)) i += RUN;
        if (i == voxels) break;
        const double v = tsr_voxel_load(volume->data, volume->dtype, i);
        if (v == last || v != v) continue;
        last = v;
        int32_t at = 0;
        while (at < *count && values[at] < v) at++;
        if (at < *count && values[at] == v) continue;
        if (*count == most) {
            *count = most + 1;
            return TSR_OK;
        }
        for (int32_t k = *count; k > at; k--) values[k] = values[k - 1];
        values[at] = v;
        (*count)++;
    }
    for (int32_t k = 0; k < *count; k++) values[k] = values[k] * volume->slope + volume->intercept;
    for (int32_t k = 0; volume->slope < 0 && k < *count / 2; k++) {
        const double other = values[k];
        values[k] = values[*count - 1 - k];
        values[*count - 1 - k] = other;
    }
    return TSR_OK;
}

void tsr_label_text(tsr_dtype dtype, int64_t value, char text[TSR_LABEL_TEXT])
{
    if (!text) return;
    if (dtype == TSR_U64) snprintf(text, TSR_LABEL_TEXT, "%llu", (unsigned long long)value);
    else snprintf(text, TSR_LABEL_TEXT, "%lld", (long long)value);
}
