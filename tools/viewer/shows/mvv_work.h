/* viewer/shows/mvv_work.h: what takes long of the mode mvv, in a thread beside: a file is read, some steps are coded or cut. */
#ifndef TESSERA_VIEWER_MVV_WORK_H
#define TESSERA_VIEWER_MVV_WORK_H

#include "show.h"

/* What a window of steps is made with. */
struct mvv_made {
    int codec;   /* 0: as in the file, 1: spiht4d, 2: diff2d, from the textures of the file */
    double bits; /* a texel of Y at most; 0: all */
    int64_t first;
    int32_t steps; /* 0: all of the file */
};

typedef struct mvv_task {
    const char *path; /* BORROWS until the end */
    int64_t memory_limit;
    struct mvv_made how;
    tsr_multiview *plain; /* ADOPTS: the textures of these steps; NULL: the file is read as it is */
    double ratio;         /* of steps that are cut */
} mvv_task;

typedef struct mvv_result {
    tsr_multiview *made; /* RETURNS NEW, of the context of mvv_work_begin */
    struct mvv_made how;
    double psnr, ratio; /* luma against `plain` */
    char error[512];
} mvv_result;

typedef struct mvv_work mvv_work;

/* The context, and that of `plain`, are the thread's until mvv_work_take or _end; if it is the show's own, the work is done before this returns. */
tsr_status mvv_work_begin(viewer_show *show, tsr_context *context, const mvv_task *task, mvv_work **work);
int mvv_work_done(mvv_work *work);
double mvv_work_share(mvv_work *work); /* how far it is, 0 to 1 */
void mvv_work_wait(mvv_work *work);
tsr_status mvv_work_take(mvv_work **work, mvv_result *result); /* of one that is done */
void mvv_work_end(mvv_work **work);                            /* gives up, waits for the thread. NULL is fine */

#endif
