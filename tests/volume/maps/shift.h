#include <stdint.h>

typedef struct shift {
    int64_t step[3];
    double weight;
} shift;
