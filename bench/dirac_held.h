/* bench/dirac_held.h: bytes that a decoder of Dirac streams holds; for the bench and for the suite test_dirac_memory. */
#ifndef TSR_BENCH_DIRAC_HELD_H
#define TSR_BENCH_DIRAC_HELD_H

#include <malloc.h>

#include "video/dirac/decoder.h"

/* Pictures' bytes that a decoder may hold beyond its references. */
enum { DIRAC_HELD_MOST = 12 };

/* Bytes that are held now: on the CPU all of them, on a device those of its memory, too. */
static inline int64_t dirac_bytes_now(tsr_context *on)
{
    const struct mallinfo2 m = mallinfo2();
    const int64_t host = (int64_t)(m.uordblks + m.hblkhd);
    return on->device.kind == TSR_DEVICE_CPU ? host : host + tsr_context_memory(on)->current_bytes;
}

static inline int64_t dirac_reference_bytes(const tsr_dirac_decoder *d)
{
    int64_t all = 0;
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) all += 4 * d->reference[k].elements * d->reference[k].bytes;
    return all;
}

/* The most that is held between frames of a stream, beyond what was before, the caller's frame and what references take; and these then. */
static inline tsr_status dirac_held(tsr_context *on, const void *stream, size_t size, int64_t *most, int64_t *references)
{
    enum { LITTLE = 1 << 14 };
    const int64_t before = dirac_bytes_now(on);
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    int more = 0;
    *most = *references = 0;
    tsr_status status = tsr_dirac_decoder_create(on, NULL, &decoder);
    for (size_t at = 0; at < size && status == TSR_OK; at += LITTLE) {
        status = tsr_dirac_decoder_push(decoder, (const char *)stream + at, size - at < LITTLE ? size - at : LITTLE);
        if (status == TSR_OK && at + LITTLE >= size) status = tsr_dirac_decoder_end(decoder);
        for (more = status == TSR_OK; more;) {
            status = tsr_dirac_decoder_next(decoder, &frame, NULL, &more);
            const int64_t own = dirac_bytes_now(on) - before - dirac_reference_bytes(decoder) - frame.bytes; /* that one is the caller's */
            if (own <= *most) continue;
            *most = own;
            *references = dirac_reference_bytes(decoder);
        }
    }
    tsr_dirac_decoder_destroy(&decoder);
    tsr_video_frame_destroy(&frame);
    return status;
}

#endif
