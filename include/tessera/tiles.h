/* tessera/tiles.h: the sorted tile list: a sparse grid that stores only the tiles (4^3 or 8^3 voxels) a clamped field varies in.
 *
 * The field is a signed distance clamped to [-band, +band], negative inside, in world units. A tile without any voxel strictly
 * between -band and +band is not stored: it is one of two constants, OUTSIDE (+band) or INSIDE (-band). The list is sorted by tile
 * coordinate, z most significant, x least. Two indices can serve the same pool of tiles: SORTED (unbounded, memory proportional to
 * the stored tiles, look-up by binary search) and PAGED (a table over a fixed domain, look-up in one read).
 * Source: Sorted Tile List [Laan11 6.4], [Jalba13 3.3]; streaming narrow band [Lefohn04 III]; docs/theory/tiles.md.
 * Exact class: the list, its flags and every stored value are the same bits on every backend and thread count. */
#ifndef TESSERA_TILES_H
#define TESSERA_TILES_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_tiles tsr_tiles;

typedef enum tsr_tiles_index { TSR_TILES_SORTED = 0, TSR_TILES_PAGED } tsr_tiles_index;

/* How phi is kept. I16: 16-bit fixed point (docs/theory/tiles.md 6), half the memory and half the traffic of the fields. A value moves by at most
 * band / 65534, and up to 4 % of that in roundings to float32, each time it is stored; +-band stay exact, and so does all else about the list. A
 * surface that moves less than that in a step does not move. Lists of 16 bits can be loaded, stored, downloaded, copied, compacted, resampled and moved by tsr_levelset; everything else
 * asks for F32 (TSR_ERROR_UNSUPPORTED says so). */
typedef enum tsr_storage { TSR_STORAGE_F32 = 0, TSR_STORAGE_I16 } tsr_storage;

typedef struct tsr_tiles_options {
    size_t struct_size;
    int32_t edge; /* voxels per tile edge: 4 or 8; 0 = 8 (docs/guide/tiles.md has the measurement) */
    tsr_tiles_index index;
    tsr_size3 domain;     /* extents in voxels; beyond it the field is replicated and no tile is created. Zero = unbounded (SORTED only) */
    double band;          /* half width in world units; 0 = 2.5 voxels, see band.h */
    int64_t capacity;     /* tiles to reserve; 0 = small, grows when needed. Growth copies device memory; never loses tiles */
    int64_t memory_limit; /* bytes of device memory the list may take; beyond it TSR_ERROR_CAPACITY and the last valid state. 0 = none */
    tsr_storage storage;
    int32_t key_bits; /* of the keys of the list: 64, 32, or 0 = 64 (tsr_tiles_set_key_bits) */
} tsr_tiles_options;
#define TSR_TILES_OPTIONS TSR_SIZED(tsr_tiles_options)

/* An empty list (everything outside). COPIES geometry (NULL = unit spacing). The context must outlive it. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_create(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options,
                                    tsr_tiles **tiles) TSR_CHECKED;
TSR_API void tsr_tiles_destroy(tsr_tiles **tiles);

/* Replaces the content by a dense float32 field on the same device and domain, clamped to the band. Every voxel must be finite (the message names
 * the first that is not). A list without a domain takes what lies beyond the field as outside, on all sides alike. Cost: one pass over the field,
 * then proportional to the stored tiles. On failure the list is as it was or, where the new content had begun, empty. A list of storage I16 is
 * widened to F32 meanwhile: three times its memory of the fields for a moment, twice in between, which the memory_limit must allow (else
 * TSR_ERROR_CAPACITY); where the memory to narrow it again is missing (TSR_ERROR_MEMORY), it holds the content, the new one if that came, in storage
 * F32 (tsr_tiles_describe, tsr_tiles_set_storage). */
TSR_API tsr_status tsr_tiles_load(tsr_tiles *tiles, const tsr_volume *field) TSR_CHECKED;

/* Keeps the field in another way from now on: rounds it (F32 to I16) or widens it, which changes no value. Needs memory for both at a time;
 * on failure (TSR_ERROR_CAPACITY, TSR_ERROR_MEMORY) the list is as it was. A solver on the list goes on after it. Linear in the capacity. */
TSR_API tsr_status tsr_tiles_set_storage(tsr_tiles *tiles, tsr_storage storage) TSR_CHECKED;

/* Writes the field into a dense float32 volume (absent tiles as +-band), or into a u8 volume as mask: 1 inside (field < 0), 0 outside.
 * `volume` lies on the same device; its index space is the list's own. */
TSR_API tsr_status tsr_tiles_store(const tsr_tiles *tiles, tsr_volume *volume) TSR_CHECKED;

/* Keeps the coordinates of the tiles in 32 or 64 bits (0 = 64) from now on. 64 bits: tiles -1 048 575 to 1 048 574 of every axis. 32 bits, 10 an axis: a
 * box of 1024^3 tiles, 8192^3 voxels with edge 8, for 12 bytes a tile less on the CPU and 16 on a GPU. The box of a list with a domain begins at 0; that
 * of one without lies round its tiles, as much room on either side, when it is loaded, assembled or made from a shape or a file, when this function is
 * called (again) with 32, and of an empty list round tile 0. Lists made of others (tessera/csg.h, resampling) take after the first of them where the
 * box holds the result, else they have 64 bits. Everything else about a list is the same bits with both. A surface that comes to the end of the box
 * ends a run with TSR_ERROR_CAPACITY, as at the end of the 64-bit coordinates.
 * TSR_ERROR_CAPACITY also if the tiles do not fit a box, or the memory for both forms is missing: the list is as it was. A solver on the list goes on
 * after it. Linear in the tiles. Source: docs/theory/tiles.md 1. */
TSR_API tsr_status tsr_tiles_set_key_bits(tsr_tiles *tiles, int32_t bits) TSR_CHECKED;

typedef struct tsr_tiles_info {
    size_t struct_size;
    int64_t count, capacity; /* tiles stored, tiles there is room for */
    int32_t edge;
    double band;           /* world units */
    int64_t device_bytes;  /* device memory held */
    int64_t active_voxels; /* strictly between -band and +band */
    int64_t inside_voxels; /* field < 0, absent inside tiles included (a bounded domain only; unbounded: enclosed ones) */
    tsr_storage storage;
    int32_t key_bits; /* 32 or 64 */
} tsr_tiles_info;
#define TSR_TILES_INFO TSR_SIZED(tsr_tiles_info)
TSR_API tsr_status tsr_tiles_describe(const tsr_tiles *tiles, tsr_tiles_info *info) TSR_CHECKED; /* waits for the queue */

TSR_API const tsr_geometry *tsr_tiles_geometry(const tsr_tiles *tiles); /* RETURNS VIEW */
TSR_API tsr_device tsr_tiles_device(const tsr_tiles *tiles);
TSR_API tsr_size3 tsr_tiles_domain(const tsr_tiles *tiles);                                                    /* zero = unbounded */
TSR_API tsr_status tsr_tiles_copy(const tsr_tiles *tiles, tsr_context *context, tsr_tiles **copy) TSR_CHECKED; /* RETURNS NEW, also a snapshot */

/* Rewrites the tiles in the order of the list, so that neighbours lie beside each other in memory again after many creations and removals, and makes
 * room for `capacity` tiles (0 = those there are and the usual spare, less than before where the list has shrunk; never fewer than there are).
 * The same list, field and activity, bit for bit. Takes memory for both while it works (TSR_ERROR_CAPACITY: the list is as it was). A solver
 * on the list goes on after it. Linear in the tiles. Source: docs/theory/tiles.md 1. */
TSR_API tsr_status tsr_tiles_compact(tsr_tiles *tiles, int64_t capacity) TSR_CHECKED;

/* Downloads the list: keys[count] sorted tile coordinates (x, y, z of the tile's first voxel divided by the edge) and values
 * [count][edge][edge][edge] (z, y, x). Either may be NULL. For tests, files and debugging. */
TSR_API tsr_status tsr_tiles_download(const tsr_tiles *tiles, int32_t (*coordinates)[3], float *values) TSR_CHECKED;

/* Box of the stored tiles in voxels, half-open and cut at the domain; an empty list gives lower = upper = 0. Waits for the queue. */
TSR_API tsr_status tsr_tiles_bounds(const tsr_tiles *tiles, int64_t lower[3], int64_t upper[3]) TSR_CHECKED;
/* As tsr_tiles_store, for the box of the volume's extents that begins at voxel `first` of the list, which may be negative; a list with a domain
 * allows boxes inside it only. The volume's geometry is left as it is. */
TSR_API tsr_status tsr_tiles_store_box(const tsr_tiles *tiles, const int64_t first[3], tsr_volume *volume) TSR_CHECKED;

typedef struct tsr_tiles_sample_options {
    size_t struct_size;
    int nearest; /* 0: trilinear between the 8 voxels around; else the nearest voxel (half-way: the larger index) */
    int world;   /* positions are world coordinates, turned into indices in float64; 0: voxel indices */
} tsr_tiles_sample_options;
#define TSR_TILES_SAMPLE_OPTIONS TSR_SIZED(tsr_tiles_sample_options)

/* values[i] = the field at positions[i] (x, y, z), anywhere: in space without tiles +-band, beyond a domain the value at its border. A position that
 * is not finite gives NaN. Arrays of `count` are memory of the list's device, BORROWED until the queue is synchronised; `options` may be NULL.
 * Class exact. On the CPU many samples first build an index of the list (a few bytes a voxel of surface, one pass), so that each costs two
 * dependent reads; elsewhere, and for few samples, each searches the list. */
TSR_API tsr_status tsr_tiles_sample(const tsr_tiles *tiles, const float (*positions)[3], float *values, int64_t count,
                                    const tsr_tiles_sample_options *options) TSR_CHECKED;

/* A list from its parts, the inverse of tsr_tiles_download: tiles in strictly increasing order (z most significant, x least). Values are clamped to the
 * band. `inside` says for each tile which absent neighbours are INSIDE (bit 9 (dz+1) + 3 (dy+1) + (dx+1)); NULL: each takes the sign of the
 * nearest voxel of the tile. Afterwards the list is managed once (tiles the band faces are created, those nobody needs removed); keep != 0
 * leaves exactly the tiles given. Arrays are BORROWED host memory. `geometry`, `options` as in tsr_tiles_create (capacity is ignored).
 * TSR_ERROR_ARGUMENT: order, coordinates beyond domain or limits, a value that is not finite, a sign of a stored neighbour. RETURNS NEW. */
typedef struct tsr_tiles_contents {
    size_t struct_size;
    int64_t count;
    const int32_t (*coordinates)[3]; /* [count] */
    const float *values;             /* [count][edge][edge][edge], z y x */
    const uint32_t *inside;          /* [count] or NULL */
    int background_inside;           /* what an empty list means */
    int keep;
} tsr_tiles_contents;
#define TSR_TILES_CONTENTS TSR_SIZED(tsr_tiles_contents)
TSR_API tsr_status tsr_tiles_assemble(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options,
                                      const tsr_tiles_contents *contents, tsr_tiles **tiles) TSR_CHECKED;

/* ---- the width of bands -------------------------------------------------------------------------------------------------------------- */

/* The half width that a narrow band takes when nobody names one. */

/* Half width in world units: `voxels` of the smallest spacing, but at least two of the largest, so that a difference across the surface meets true
 * distances along every axis (a band below that clamps the neighbours along the coarse axis, and the surface moves), and at most 1000 of the
 * smallest, the limit of tile lists. Callable from any thread. Source: docs/theory/tiles.md 1 (band >= 1 voxel, 3 with wide schemes). */
TSR_API double tsr_band_default(tsr_vec3 spacing, double voxels);

/* The spacing that counts for a band over this domain (zero = unbounded): nothing varies along an axis of one voxel, so that it takes the smallest of the
 * others. Callable from any thread. */
TSR_API tsr_vec3 tsr_band_spacing(tsr_vec3 spacing, tsr_size3 domain);

/* ---- topology ------------------------------------------------------------------------------------------------------------------------ */

/* Which voxels are there, without values: one bit a voxel in sorted tiles of 8^3. What OpenVDB calls the topology of a grid:
 * the active set of a level set, its dilation, the region a brush touches. In host memory, where the threads of the context work, or in that of a device.
 * Source: dilation of a sorted list, docs/theory/tiles.md 5. Class: exact, the same on every device and for any number of threads. */

typedef struct tsr_topology tsr_topology;

/* The active voxels (strictly inside the band, in the domain) of a list on any device; waits for its queue. RETURNS NEW. */
TSR_API tsr_status tsr_topology_of_tiles(const tsr_tiles *tiles, tsr_topology **topology) TSR_CHECKED;
/* From parts: COPIES. Tiles in strictly increasing order (z most significant), mask[i][z] bit 8 y + x. Empty tiles are left out. RETURNS NEW. */
TSR_API tsr_status tsr_topology_create(int64_t count, const int32_t (*coordinates)[3], const uint64_t (*mask)[8], tsr_topology **topology) TSR_CHECKED;
/* In the memory of the context's device, or of the host (NULL, or a context of the CPU). KEEPS context. RETURNS NEW. */
TSR_API tsr_status tsr_topology_copy(const tsr_topology *topology, tsr_context *context, tsr_topology **copy) TSR_CHECKED;
TSR_API void tsr_topology_destroy(tsr_topology **topology);

typedef struct tsr_topology_info { size_t struct_size; int64_t tiles, voxels, bytes; } tsr_topology_info;
#define TSR_TOPOLOGY_INFO TSR_SIZED(tsr_topology_info)
TSR_API tsr_status tsr_topology_describe(const tsr_topology *topology, tsr_topology_info *info);
/* To host memory; both may be NULL; [tiles] each. Waits for the queue of a device. */
TSR_API tsr_status tsr_topology_download(const tsr_topology *topology, int32_t (*coordinates)[3], uint64_t (*mask)[8]) TSR_CHECKED;

/* All voxels within `steps` steps to a neighbour: faces = 6 neighbours a step, 18 with edges, 26 with corners. Linear in the tiles of the
 * result, on a device also in the box around its tiles (half a byte for each place; TSR_ERROR_CAPACITY beyond 1.7e10). A set in device memory gives one there, and
 * the call waits for the number of its tiles; its context must be `context`. TSR_ERROR_ARGUMENT: steps < 0, another number of neighbours, the limits of
 * the tile coordinates reached, another context. RETURNS NEW. */
TSR_API tsr_status tsr_topology_dilate(tsr_context *context, const tsr_topology *topology, int32_t steps, int32_t neighbours,
                                       tsr_topology **dilated) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
