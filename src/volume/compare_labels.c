/* volume/compare_labels.c: two label maps, label by label. Counts of each and of both at once come from one pass; the distances of a label are those of its
 * mask within the box of both. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "volume/compare.h"

/* Voxels of the same label in both, by the entry of the label in the list of the first volume. */
struct both {
    const tsr_volume *volume[2];
    const tsr_label *labels; /* of the first, ascending */
    int32_t count;
    tsr_dtype dtype;
    int64_t *sums; /* [slices][count] */
};

static int32_t find(const tsr_label *labels, int32_t count, tsr_dtype dtype, int64_t value)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (tsr_label_before(dtype, labels[middle].value, value)) low = middle + 1;
        else high = middle;
    }
    return low < count && labels[low].value == value ? low : -1;
}

static void count_both(void *user, int64_t begin, int64_t end, int worker)
{
    const struct both *b = (const struct both *)user;
    const int64_t plane = b->volume[0]->size.x * b->volume[0]->size.y;
    const int scaled[2] = { tsr_label_scaled(b->volume[0]), tsr_label_scaled(b->volume[1]) };
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        int64_t *sums = b->sums + z * b->count, last = 0;
        int32_t entry = -1;
        int whole = 1;
        for (int64_t i = z * plane; i < (z + 1) * plane; i++) {
            const int64_t p = tsr_label_at(b->volume[0], i, scaled[0], &whole);
            if (!p || p != tsr_label_at(b->volume[1], i, scaled[1], &whole)) continue;
            if (p != last || entry < 0) entry = find(b->labels, b->count, b->dtype, p);
            last = p;
            sums[entry]++;
        }
    }
}

static tsr_status sum_both(tsr_context *context, struct both *b, int64_t *total)
{
    const int64_t slices = b->volume[0]->size.z;
    const size_t bytes = (size_t)(slices * b->count) * sizeof *b->sums;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&b->sums));
    memset(b->sums, 0, bytes);
    tsr_parallel(context->threads, slices, 1, count_both, b);
    memset(total, 0, (size_t)b->count * sizeof *total);
    for (int64_t z = 0; z < slices; z++)
        for (int32_t e = 0; e < b->count; e++) total[e] += b->sums[z * b->count + e];
    tsr_host_release(NULL, b->sums, bytes);
    return TSR_OK;
}

static tsr_size3 smaller(tsr_size3 a, tsr_size3 b) { return (tsr_size3){ tsr_min64(a.x, b.x), tsr_min64(a.y, b.y), tsr_min64(a.z, b.z) }; }
static tsr_size3 larger(tsr_size3 a, tsr_size3 b) { return (tsr_size3){ tsr_max64(a.x, b.x), tsr_max64(a.y, b.y), tsr_max64(a.z, b.z) }; }

/* One label, of which one of the two lists may have no entry. */
static tsr_status compare_one(tsr_context *context, const tsr_volume *const volume[2], const tsr_label *a, const tsr_label *b, int64_t both,
                              const tsr_compare_options *options, tsr_label_comparison *to)
{
    const int64_t value = a ? a->value : b->value;
    const tsr_mask_rule rules[2] = { { volume[0], 1, tsr_label_scaled(volume[0]), value }, { volume[1], 1, tsr_label_scaled(volume[1]), value } };
    const tsr_size3 lower = a && b ? smaller(a->lower, b->lower) : a ? a->lower : b->lower;
    const tsr_size3 upper = a && b ? larger(a->upper, b->upper) : a ? a->upper : b->upper;
    *to = (tsr_label_comparison){ value,
                                  { .struct_size = sizeof to->mask,
                                    .voxels = tsr_volume_count(volume[0]),
                                    .inside = a ? a->voxels : 0,
                                    .inside_reference = b ? b->voxels : 0,
                                    .inside_both = both } };
    TSR_PROGRESS(&options->progress, -1, "comparing labels");
    TSR_TRY(tsr_compare_finish(context, rules, lower, upper, options->skip_distances, &to->mask));
    return TSR_OK;
}

static tsr_status merge(tsr_context *context, const struct both *b, const int64_t *total, const tsr_label *other, int32_t others,
                        const tsr_compare_options *options, tsr_label_comparison *to, int32_t *count)
{
    for (int32_t i = 0, k = 0; i < b->count || k < others; (*count)++) {
        const tsr_label *p = i < b->count ? &b->labels[i] : NULL, *q = k < others ? &other[k] : NULL;
        if (p && q && tsr_label_before(b->dtype, p->value, q->value)) q = NULL;
        else if (p && q && p->value != q->value) p = NULL;
        TSR_TRY(compare_one(context, b->volume, p, q, p ? total[i] : 0, options, &to[*count]));
        i += p != NULL;
        k += q != NULL;
    }
    return TSR_OK;
}

tsr_status tsr_compare_labels(tsr_context *context, const tsr_volume *volume, const tsr_volume *reference, const tsr_compare_options *options,
                              tsr_label_comparison **labels, int32_t *count)
{
    TSR_RETURNS(labels);
    TSR_NEEDS(context, volume, reference, count);
    tsr_compare_options own = TSR_COMPARE_OPTIONS;
    tsr_status status;
    tsr_label *list[2] = { NULL, NULL };
    int32_t counts[2] = { 0, 0 };
    int64_t *total = NULL;
    *count = 0;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_compare_check(context, volume, reference, &own));
    TSR_TRY(tsr_compare_check_distances(volume, &own));
    TSR_TRY(tsr_labels_count(context, volume, 0, &list[0], &counts[0]));
    TSR_TRY_GOTO(tsr_labels_count(context, reference, 0, &list[1], &counts[1]), done);
    const int32_t most = counts[0] + counts[1];
    const tsr_dtype order = volume->dtype == TSR_U64 && reference->dtype == TSR_U64 ? TSR_U64 : TSR_I64;
    for (int i = 0; i < 2; i++) /* an unsigned label beyond the signed ones has no place beside them */
        if (order == TSR_I64 && (i ? reference : volume)->dtype == TSR_U64 && counts[i] && list[i][counts[i] - 1].value < 0)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "compare: label %llu of u64 beside labels of %s, expected the same type",
                          (unsigned long long)list[i][counts[i] - 1].value, tsr_dtype_name((i ? volume : reference)->dtype));
    if (!most) goto done;
    *labels = (tsr_label_comparison *)calloc((size_t)most, sizeof **labels);
    total = (int64_t *)calloc((size_t)most, sizeof *total);
    if (!*labels || !total) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "compare: out of host memory");
    struct both b = { { volume, reference }, list[0], counts[0], order, NULL };
    if (counts[0]) TSR_TRY_GOTO(sum_both(context, &b, total), done);
    TSR_TRY_GOTO(merge(context, &b, total, list[1], counts[1], &own, *labels, count), done);
done:
    free(total);
    for (int i = 0; i < 2; i++) tsr_labels_destroy(&list[i]);
    if (status != TSR_OK) tsr_label_comparisons_destroy(labels), *count = 0;
    return status;
}

void tsr_label_comparisons_destroy(tsr_label_comparison **labels)
{
    if (!labels) return;
    free(*labels);
    *labels = NULL;
}
