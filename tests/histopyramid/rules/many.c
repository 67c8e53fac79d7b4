/* As many copies of every voxel as the caller says. */
#include "tessera/map.h"

typedef struct many {
    int copies;
} many;

TSR_CLASSIFIER(many, 255) { return data->copies; }
