/* volume/labels.h: one voxel of a label map. */
#ifndef TSR_VOLUME_LABELS_H
#define TSR_VOLUME_LABELS_H

#include "volume/volume.h"
#include "tessera/labels.h"

static inline int tsr_label_scaled(const tsr_volume *v) { return v->slope != 1 || v->intercept != 0; }

/* The label of a voxel; 0 in *whole if the value is not whole. NaN is background. */
static inline int64_t tsr_label_at(const tsr_volume *v, int64_t i, int scaled, int *whole)
{
    if (!scaled && v->dtype == TSR_U8) return ((const uint8_t *)v->data)[i];
    if (!scaled && v->dtype == TSR_U16) return ((const uint16_t *)v->data)[i];
    if (!scaled && v->dtype == TSR_I16) return ((const int16_t *)v->data)[i];
    if (!scaled && (v->dtype == TSR_I64 || v->dtype == TSR_U64)) return ((const int64_t *)v->data)[i];
    const double d = tsr_voxel_load(v->data, v->dtype, i) * v->slope + v->intercept;
    if (d != d) return 0;
    if (!(d >= -0x1p53 && d <= 0x1p53) || d != (double)(int64_t)d) {
        *whole = 0;
        return 0;
    }
    return (int64_t)d;
}

/* TSR_ERROR_ARGUMENT unless the context is a CPU. */
tsr_status tsr_labels_require_cpu(const tsr_context *context, const char *what);
/* Names a voxel whose value is not whole. */
tsr_status tsr_labels_not_whole(const tsr_volume *volume, int64_t voxel, const char *name);

/* A table from labels to entries 0, 1, ...: open addressing, no entry is ever taken out. Zero it to begin. */
typedef struct tsr_label_table {
    int64_t *values; /* of the entries */
    int32_t *slots;  /* entry + 1, 0 = empty; a power of two, at least twice the entries */
    int32_t count, room;
} tsr_label_table;
/* The entry of a label, the next one if it is new; negative without memory. */
int32_t tsr_label_entry(tsr_label_table *table, int64_t value);
void tsr_label_table_free(tsr_label_table *table);
int tsr_label_before(tsr_dtype dtype, int64_t a, int64_t b); /* a < b, as numbers of this type */

#endif
