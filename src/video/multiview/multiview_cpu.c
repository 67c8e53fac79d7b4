/* video/multiview/multiview_cpu.c: see multiview_ops.h. */
#include "video/multiview/multiview_ops.h"

extern const tsr_multiview_ops tsr_multiview_cpu;
const tsr_multiview_ops tsr_multiview_cpu = { 0 };
