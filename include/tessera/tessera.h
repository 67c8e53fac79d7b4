/* tessera/tessera.h: everything. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/base.h"
#include "tessera/device.h"
#include "tessera/io.h"
#include "tessera/mesh.h"
#include "tessera/primitives.h"
#include "tessera/volume.h"

#endif
