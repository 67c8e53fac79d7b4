/* video/dirac/predict_regions.h: a component parted into regions, as [Laan11] has it, for overlapped block motion compensation on a device
 * (docs/theory/dirac.md, motion). Along an axis a sample lies in one block or in the overlap of two, so that a component falls into four kinds of
 * regions: of one block, of two beside each other, of two above each other, and of four.
 *
 * Per axis, blocks S apart that are L long overlap by L - S = 2 o samples, o on both sides of k S for k = 1, 2, ...; between overlaps are interiors of
 * 2 S - L samples, of which the first is o longer and the last goes on to the end: the outer halves of the grid's first and last block overlap nothing. */
#ifndef TSR_VIDEO_DIRAC_PREDICT_REGIONS_H
#define TSR_VIDEO_DIRAC_PREDICT_REGIONS_H

#include "video/dirac/predict_run.h"

enum {
    TSR_DIRAC_REGION_INTERIOR,
    TSR_DIRAC_REGION_OVERLAP,
    TSR_DIRAC_REGION_KINDS = 4
}; /* along an axis; kind of a region: that along x + 2 times that along y */

/* One axis of a component: its interiors and its overlaps, each numbered from 0. */
typedef struct tsr_dirac_axis {
    tsr_dirac_extent e;
    int32_t size;      /* samples */
    int32_t bands[2];  /* interiors, some of which may be empty, and overlaps */
    int32_t places[2]; /* samples in them */
} tsr_dirac_axis;

TSR_HD tsr_dirac_axis tsr_dirac_axis_of(const tsr_dirac_predict_job *j, int32_t axis)
{
    tsr_dirac_axis a;
    a.e = tsr_dirac_extent_of(j, axis);
    a.size = axis ? j->height : j->width;
    const int32_t reach = 2 * a.e.offset, borders = tsr_mini(a.e.count - 1, (a.size - 1 + a.e.offset) / a.e.separation);
    a.bands[TSR_DIRAC_REGION_INTERIOR] = borders + 1;
    a.bands[TSR_DIRAC_REGION_OVERLAP] = reach ? borders : 0;
    a.places[TSR_DIRAC_REGION_OVERLAP] =
        a.bands[TSR_DIRAC_REGION_OVERLAP] ? tsr_mini(borders * reach, borders * (reach - a.e.separation) - a.e.offset + a.size) : 0;
    a.places[TSR_DIRAC_REGION_INTERIOR] = a.size - a.places[TSR_DIRAC_REGION_OVERLAP];
    return a;
}

/* Where band `i` of a kind begins, and ends; its block, or the first of two, has the number i. */
TSR_HD void tsr_dirac_axis_band(const tsr_dirac_axis *a, int32_t kind, int32_t i, int32_t *begin, int32_t *end)
{
    const int32_t border = (i + 1) * a->e.separation;
    *begin = kind == TSR_DIRAC_REGION_OVERLAP ? border - a->e.offset : i ? border - a->e.separation + a->e.offset : 0;
    *end = kind == TSR_DIRAC_REGION_OVERLAP               ? tsr_mini(border + a->e.offset, a->size)
           : i + 1 == a->bands[TSR_DIRAC_REGION_INTERIOR] ? a->size
                                                          : border - a->e.offset;
}

/* Where place `p` of a kind lies, and its block, or the first of two. */
TSR_HD int32_t tsr_dirac_axis_place(const tsr_dirac_axis *a, int32_t kind, int32_t p, int32_t *block)
{
    const int32_t separation = a->e.separation, offset = a->e.offset, last = a->bands[TSR_DIRAC_REGION_INTERIOR] - 1;
    if (kind == TSR_DIRAC_REGION_OVERLAP) {
        *block = p / (2 * offset);
        return p + (*block + 1) * (separation - 2 * offset) + offset;
    }
    const int32_t length = separation - 2 * offset, behind = p - offset; /* places of the first interior's usual length */
    *block = behind < 0 ? 0 : length ? tsr_mini(behind / length, last) : last;
    return p + *block * 2 * offset;
}

/* The weight (of 8) of the first of two blocks at place k of their overlap; the second has the rest. */
TSR_HD int32_t tsr_dirac_axis_weight(const tsr_dirac_axis *a, int32_t k, int32_t block)
{
    return tsr_dirac_weight(a->e.separation + k, a->e.length, a->e.separation, block, a->e.count);
}

/* ---- blocks of threads ----------------------------------------------------------------------------------------------------------------------- */

enum { TSR_DIRAC_REGION_ACROSS = 128, TSR_DIRAC_REGION_ROWS = 4 }; /* threads, a column each; rows that a thread has at once */

typedef struct tsr_dirac_regions {
    tsr_dirac_axis x, y;
    int32_t tiles[2];                       /* blocks of threads along the places of a kind along x */
    int32_t blocks[TSR_DIRAC_REGION_KINDS]; /* of a kind of regions: a row of tiles a band */
} tsr_dirac_regions;

TSR_HD tsr_dirac_regions tsr_dirac_regions_of(const tsr_dirac_predict_job *j)
{
    tsr_dirac_regions r;
    r.x = tsr_dirac_axis_of(j, 0);
    r.y = tsr_dirac_axis_of(j, 1);
    for (int32_t k = 0; k < 2; k++) r.tiles[k] = (r.x.places[k] + TSR_DIRAC_REGION_ACROSS - 1) / TSR_DIRAC_REGION_ACROSS;
    for (int32_t k = 0; k < TSR_DIRAC_REGION_KINDS; k++) r.blocks[k] = r.tiles[k & 1] * r.y.bands[k >> 1];
    return r;
}

/* All blocks of threads. */
TSR_HD uint32_t tsr_dirac_region_blocks(const tsr_dirac_regions *r)
{
    int32_t all = 0;
    for (int32_t k = 0; k < TSR_DIRAC_REGION_KINDS; k++) all += r->blocks[k];
    return (uint32_t)all;
}

#endif
