/* video/multiview/mvv_read.h: reading from any input. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_READ_H
#define TSR_VIDEO_MULTIVIEW_MVV_READ_H

#include "io/stream.h"
#include "tessera/multiview.h"

/* As tsr_multiview_read. BORROWS the input. */
tsr_status tsr_multiview_read_input(tsr_context *context, tsr_input *input, const tsr_multiview_read_options *options, tsr_multiview **multiview);

#endif
