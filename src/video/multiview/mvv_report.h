/* video/multiview/mvv_report.h: what a file takes, from its chunks. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_REPORT_H
#define TSR_VIDEO_MULTIVIEW_MVV_REPORT_H

#include "video/multiview/mvv_codec.h"

/* While the file is written: every chunk but the directory is there. */
void tsr_mvv_report_fill(const tsr_mvv_writing *w, const tsr_chunk_writer *writer, size_t model_size, tsr_multiview_report *report);

#endif
