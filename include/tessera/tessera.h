/* tessera/tessera.h: everything. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/base.h"
#include "tessera/compare.h"
#include "tessera/csg.h"
#include "tessera/device.h"
#include "tessera/distance.h"
#include "tessera/edit.h"
#include "tessera/filter.h"
#include "tessera/io.h"
#include "tessera/levelset.h"
#include "tessera/mesh.h"
#include "tessera/morph.h"
#include "tessera/phantom.h"
#include "tessera/points.h"
#include "tessera/pyramid.h"
#include "tessera/region_file.h"
#include "tessera/region_tree.h"
#include "tessera/reconstruct.h"
#include "tessera/render.h"
#include "tessera/segment.h"
#include "tessera/surface.h"
#include "tessera/tile_file.h"
#include "tessera/tiles.h"
#include "tessera/topology.h"
#include "tessera/primitives.h"
#include "tessera/volume.h"
#include "tessera/voxelize.h"
#include "tessera/wavelet.h"

#endif
