/* tessera/wavelet_domain.h: one wavelet transform over several devices, or over the processes of a job: the array is cut into parts along its outermost
 * axis, and before each level neighbours exchange the samples (on the way back: coefficients) that the steps of the filter reach. The bits are those of
 * one device, for integers and floats, whatever the number of parts. Class exact. Source: docs/theory/wavelets.md 8.
 *
 * Part k owns whole blocks of 2^levels samples of the outermost axis (the last one what is left), so that each level's coefficients lie with their
 * samples; parts may be empty. Its samples are packed, and so are its coefficients, in layout mallat of its own extents: number i of a band of
 * level l along the axis is number (begin >> l) + i of that band of the whole. */
#ifndef TESSERA_WAVELET_DOMAIN_H
#define TESSERA_WAVELET_DOMAIN_H

#include "tessera/device.h"
#include "tessera/wavelet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_wavelet_domain tsr_wavelet_domain;

/* `contexts`: `count` >= 1 of this process, one part each, not necessarily on different devices; KEEPS them, they must outlive the domain. Several
 * contexts of one process work at the same time where they are asynchronous (GPUs). `communicator`: COPIES; NULL: this process alone. Every rank has the
 * same `count`; parts are numbered rank * count + number of the context. `options` as of tsr_wavelet_plan_create, but: layout mallat, no strides, no
 * batch, not in place. 1 to 3 dimensions; the axis of the cut is the last one longer than 1, never x.
 * Memory: about three times the largest part, on its device. RETURNS NEW. */
TSR_API tsr_status tsr_wavelet_domain_create(tsr_context *const *contexts, int32_t count, const tsr_communicator *communicator, tsr_dtype dtype,
                                             int32_t dimensions, const int64_t *size, const tsr_wavelet_options *options,
                                             tsr_wavelet_domain **domain) TSR_CHECKED;
TSR_API void tsr_wavelet_domain_destroy(tsr_wavelet_domain **domain);

typedef struct tsr_wavelet_part {
    int32_t axis;            /* of the cut */
    int64_t begin, end;      /* of the axis */
    int64_t elements;        /* of its array; 0: an empty part */
    int64_t halo;            /* samples exchanged with each neighbour before each level */
    int64_t exchanged_bytes; /* that all levels of a transform receive */
} tsr_wavelet_part;
/* Any part of the whole, 0 <= part < ranks * count. */
TSR_API tsr_status tsr_wavelet_domain_part(const tsr_wavelet_domain *domain, int32_t part, tsr_wavelet_part *about) TSR_CHECKED;

/* Collective over the ranks. One array per context of this process, on its device (NULL where the part is empty). BORROWS. Complete on return.
 * TSR_ERROR_CAPACITY as tsr_wavelet_forward (see tsr_file_dwt about seams); a failure of one rank is one of all, an array that is NULL included; none waits
 * for another that failed. */
TSR_API tsr_status tsr_wavelet_domain_forward(tsr_wavelet_domain *domain, const void *const *samples, void *const *coefficients) TSR_CHECKED;
TSR_API tsr_status tsr_wavelet_domain_inverse(tsr_wavelet_domain *domain, const void *const *coefficients, void *const *samples) TSR_CHECKED;

/* The coefficients of one part, in host memory, to their places among those of the whole (layout mallat, packed, host memory; all of it or a mapped
 * file), or from there: `store` 1 or 0. */
TSR_API tsr_status tsr_wavelet_domain_place(const tsr_wavelet_domain *domain, int32_t part, void *coefficients, void *whole, int store) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
