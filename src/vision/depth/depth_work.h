/* vision/depth/depth_work.h: what the files of this folder share. */
#ifndef TSR_VISION_DEPTH_DEPTH_WORK_H
#define TSR_VISION_DEPTH_DEPTH_WORK_H

#include "volume/volume.h"
#include "tessera/plane_sweep.h"
#include "vision/depth/match_ops.h"

/* The penalty for a jump, less where the picture has an edge: p2 16 / (16 + difference), p1 at least. */
void tsr_match_penalties(int32_t p1, int32_t p2, uint8_t table[256]);
/* Checks p1, p2 and paths and fills in what is 0; `what` begins the messages. */
tsr_status tsr_match_settings(const char *what, int32_t *paths, int32_t *p1, int32_t *p2);

/* Device memory that is released at once. Zero-filled to begin with; room for so many blocks. */
enum { TSR_DEPTH_BLOCKS = 64 };
typedef struct tsr_depth_memory {
    tsr_context *context;
    int32_t count;
    void *block[TSR_DEPTH_BLOCKS];
    size_t bytes[TSR_DEPTH_BLOCKS];
} tsr_depth_memory;
tsr_status tsr_depth_take(tsr_depth_memory *memory, size_t bytes, void *pointer_to_pointer);
void tsr_depth_release(tsr_depth_memory *memory);
void tsr_depth_drop(tsr_depth_memory *memory, const void *block); /* one of them */

/* u8, [height][width][channels] of one image; its width in pixels. */
tsr_status tsr_depth_image(tsr_context *context, const tsr_volume *image, int32_t channels, const char *name, int32_t *width, int32_t *height);

#endif
