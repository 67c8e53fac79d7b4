/* mip/mip_pieces.h: a pyramid file by pieces: of all coefficients those of some bricks (lists: some of the only one's) are in memory. */
#ifndef TSR_MIP_MIP_PIECES_H
#define TSR_MIP_MIP_PIECES_H

#include "mip/mip_file.h"

/* Bricks, coefficients and runs of the file, [begin, end). */
typedef struct tsr_mip_piece {
    int64_t brick[2], coefficient[2], run[2];
} tsr_mip_piece;

typedef struct tsr_mip_pieces {
    tsr_input *input;
    tsr_mip_body body;
    int64_t bricks, runs, coefficients; /* of the file */
    tsr_detail_brick *table;            /* of the file, host */
    tsr_detail_run *list;               /* lists: all runs, host; else NULL */
    tsr_mip_piece *piece;
    int64_t count, room; /* pieces */
    tsr_mip *part;       /* bricks elsewhere than in the loaded piece are empty; its info and ranks are the whole file's */
    tsr_details host;    /* the loaded piece: runs, places, residuals */
    uint64_t *histogram; /* [level][residual] */
    size_t run_bytes, place_bytes, residual_bytes;
} tsr_mip_pieces;

/* Everything of the file is read once, checked and counted. `limit`: bytes of a piece, host and device together; a brick is the least. */
tsr_status tsr_mip_pieces_open(tsr_context *context, const char *path, int64_t limit, const tsr_progress *progress, tsr_mip_pieces *p);
void tsr_mip_pieces_close(tsr_mip_pieces *p);
/* Piece k on the device, checked again, nothing of it selected. */
tsr_status tsr_mip_pieces_load(tsr_mip_pieces *p, int64_t k);

#endif
