/* video/multiview/mvv_spiht.h: set partitioning in the trees of mvv_tree.h, bit plane by bit plane. docs/theory/multiview.md 3.4,
 * docs/formats/mvv.md.
 *
 * A stream is a byte, the number of bit planes (0: all is zero, nothing follows), then bits. Syntax serial: as published [Said96]. Syntax planes:
 * the same
 * bits, but each plane begins with a byte, and each pass and generation of sets puts first all significances of sets, then all of children, then all
 * signs;
 * a directory of where planes begin goes before them. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_SPIHT_H
#define TSR_VIDEO_MULTIVIEW_MVV_SPIHT_H

#include "core/core.h"
#include "tessera/multiview.h"
#include "video/multiview/mvv_bits.h"
#include "video/multiview/mvv_planes.h"

/* Numbers of coefficients. */
typedef struct tsr_mvv_list {
    uint32_t *item;
    int64_t count, room;
} tsr_mvv_list;
int tsr_mvv_list_reserve(tsr_mvv_list *l, int64_t room); /* 0 without memory */
static inline int tsr_mvv_list_add(tsr_mvv_list *l, uint32_t item)
{
    if (l->count == l->room && !tsr_mvv_list_reserve(l, l->count + 1)) return 0;
    l->item[l->count++] = item;
    return 1;
}

void tsr_mvv_sets_make(const tsr_mvv_shape *shape, const int32_t *value, tsr_mvv_sets *sets);

/* Lists and rows of bits, used again from stream to stream; zero at first. */
typedef struct tsr_mvv_coder {
    tsr_mvv_list pixels, sets, found; /* insignificant coefficients, insignificant sets, significant coefficients */
    tsr_mvv_list value;               /* decoder, of `found`: magnitude with the half of what is not known; sign in bit 31 */
    tsr_mvv_bits out, set, child, sign;
    int threads;                /* encoder: that work on one stream together; 0 and 1: one */
    struct tsr_mvv_coder *part; /* of each of them */
    int parts;
} tsr_mvv_coder;
void tsr_mvv_coder_free(tsr_mvv_coder *c);

/* At most `budget` bytes. *bytes is a view of the coder's. |value| < 2^28. */
tsr_status tsr_mvv_spiht_encode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const int32_t *value, const tsr_mvv_sets *sets,
                                tsr_multiview_syntax syntax, int64_t budget, uint8_t **bytes, int64_t *size);
/* Fills c->found and c->value from any bytes. TSR_ERROR_FORMAT: more planes than `most_planes`, a directory that is not in order. */
tsr_status tsr_mvv_spiht_decode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const uint8_t *bytes, int64_t size, tsr_multiview_syntax syntax,
                                int32_t most_planes);
/* The errors of streams that are damaged, for every backend. */
tsr_status tsr_mvv_check_planes(int32_t planes, int32_t most_planes);
tsr_status tsr_mvv_bad_directory(int32_t number);

#endif
