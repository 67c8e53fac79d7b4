/* The bench's kernel in the emulator's module, where test_dirac_regions.c finds it. */
#include "../../bench/predict_gather_cuda.cu"
