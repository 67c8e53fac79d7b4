/* light/panorama.h: Radiance pictures in memory. */
#ifndef TSR_LIGHT_PANORAMA_H
#define TSR_LIGHT_PANORAMA_H

#include "core/core.h"
#include "tessera/light.h"

tsr_status tsr_panorama_parse(const uint8_t *bytes, size_t size, const char *name, tsr_volume **map);

#endif
