/* mip/mip_isa.h: loops over coefficients and pixels, built once per SIMD variant. */
#ifndef TSR_MIP_MIP_ISA_H
#define TSR_MIP_MIP_ISA_H

#include "device/isa.h"
#include "mip/mip_pixels.h"

/* Tables of a frame: u + 2^32 v of the places within a brick, each without its least value; see mip_isa.c. */
typedef struct tsr_mip_tables {
    int64_t xy[1024], z[32], low; /* low: what the tables lack together */
} tsr_mip_tables;

/* Draws the selected coefficients of an octree brick into pixels of 16 bits; `scratch` points to pixel (0, 0), `stride` pixels a row. */
TSR_ISA_DECLARE(void, tsr_mip_brick, const tsr_mip_job *job, const tsr_mip_tables *tables, tsr_detail_order order, uint16_t *scratch, int64_t stride)
/* image[i] = max(image[i], scratch[i]), n pixels */
TSR_ISA_DECLARE(void, tsr_mip_merge, uint32_t *image, const uint16_t *scratch, int64_t n)

#endif
