/* video/dirac/dirac_stream.h: bytes come in pieces, data units go out whole. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_STREAM_H
#define TSR_VIDEO_DIRAC_DIRAC_STREAM_H

#include "video/dirac/syntax.h"

typedef struct tsr_dirac_stream {
    uint8_t *bytes;         /* followed by TSR_BITS_SLACK more */
    int64_t size, capacity; /* in memory */
    int64_t at;             /* of the next unit, in `bytes` */
    int64_t base;           /* place of bytes[0] in the stream */
    int64_t searched;       /* a prefix begins at none of bytes [at, searched) */
    int64_t unit_limit;     /* a longer unit is taken for damage */
    int ended;
} tsr_dirac_stream;

typedef struct tsr_dirac_data {
    tsr_dirac_unit unit;
    const uint8_t *payload; /* behind the 13 bytes; valid until the next push */
    int64_t size, offset;   /* of the payload; of the unit in the stream */
    int64_t skipped;        /* bytes before it that belong to no unit */
    int lost;               /* 1: its length contradicts what follows, or the stream ends within it */
} tsr_dirac_data;

tsr_status tsr_dirac_stream_push(tsr_dirac_stream *stream, const void *bytes, size_t size);
/* *more 0: more bytes are needed, or none are left. */
void tsr_dirac_stream_next(tsr_dirac_stream *stream, tsr_dirac_data *data, int *more);
/* The unit just given comes again. */
static inline void tsr_dirac_stream_back(tsr_dirac_stream *stream, const tsr_dirac_data *data) { stream->at = data->offset - stream->base; }
void tsr_dirac_stream_free(tsr_dirac_stream *stream);

#endif
