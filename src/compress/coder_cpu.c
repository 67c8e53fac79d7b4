/* compress/coder_cpu.c: on the CPU the host decodes bricks as it reads them: see compress/decompress.c. */
#include "compress/coder_ops.h"

const tsr_coder_ops tsr_coder_cpu = { NULL };
