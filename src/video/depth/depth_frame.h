/* video/depth/depth_frame.h: one frame of a depth film to bytes and back. */
#ifndef TSR_VIDEO_DEPTH_DEPTH_FRAME_H
#define TSR_VIDEO_DEPTH_DEPTH_FRAME_H

#include "core/core.h"
#include "video/depth/depth_code.h"

enum { TSR_DEPTH_FRAME_HEADER = 16 };

/* Frequencies of the tokens of each context, which add up to TSR_DEPTH_SLOTS or, of a context that does not occur, to 0. `frame`: where they stand. */
typedef struct tsr_depth_tables {
    int64_t frame;
    uint16_t frequency[TSR_DEPTH_CONTEXTS][TSR_DEPTH_TOKENS];
} tsr_depth_tables;

/* Memory to code, or to decode, frames of one film in, one after the other. Sides at most 16384. */
typedef struct tsr_depth_coder tsr_depth_coder;
tsr_status tsr_depth_coder_create(int32_t width, int32_t height, uint32_t step, int encodes, tsr_depth_coder **coder);
void tsr_depth_coder_destroy(tsr_depth_coder **coder);

/* Frame `number` of the film, [height][width] values, 0 where there is none. The bytes are the coder's until the next call. Tables of an earlier frame are
 * used where own ones would not pay. */
void tsr_depth_frame_encode(tsr_depth_coder *coder, int64_t number, const uint16_t *values, const uint8_t **bytes, size_t *size);

/* The number of the frame whose tables these bytes use; `name` for messages. */
tsr_status tsr_depth_frame_tables(const char *name, int64_t number, const uint8_t *bytes, int64_t size, int64_t *tables);
/* `tables`: the bytes of the frame that has them. The coder keeps those that it used last. */
tsr_status tsr_depth_frame_decode(tsr_depth_coder *coder, const char *name, int64_t number, const uint8_t *bytes, int64_t size, const uint8_t *tables,
                                  int64_t tables_size, uint16_t *values);

#endif
