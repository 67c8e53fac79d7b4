/* tessera/records.h: the surface of a tile list as compact records, 15 bytes for each cell that it cuts; triangles exist only while they are drawn.
 *
 * A record is the position of a cell (3 x 16 bits), its case (which of the 8 corners are inside, 8 bits) and the values at its corners less the
 * isovalue, 8 bits each: code = clamp(floor(128 v / band), -128, 127) + 128, which stands for (code + 1/2) / 128 - 1 bands. One scale for the whole
 * list, so that cells agree on the vertices they share; the sign is kept whatever rounding does (an inside corner has a code below 128), so
 * the triangles are those of tsr_surface_extract_tiles without decided faces, and along the normal a vertex moves by at most band / 256 in a distance
 * field. |v| beyond the band is clamped: for an isovalue other than 0 vertices stay true where the field is a distance. NaN counts as outside.
 * Triangles would take up to 180 bytes a cell.
 *
 * Holes remedied: a list whose band is narrower than a voxel's diagonal, or that was assembled without management, can lack the tile in which
 * a cut cell begins. Such a cell is recorded by the first of its corners' tiles that is stored (corners in memory order), with +-band for the
 * corners that are not: each cut cell with a stored corner is recorded once.
 *
 * Order: tile by tile in the order of the list, cells of a tile in memory order, those of missing tiles before it included. Class: exact.
 * Source: docs/theory/rendering.md 8. */
#ifndef TESSERA_RECORDS_H
#define TESSERA_RECORDS_H

#include "tessera/render.h"
#include "tessera/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_records tsr_records;
enum { TSR_RECORD_BYTES = 15 };

/* Extracts the records of the surface of value `isovalue` (|isovalue| < band) on the list's device, which must be the context's. Counts first, so
 * that the arrays have their exact size: the call waits for the queue. Device memory beside the records: 12 bytes a tile, released on return.
 * TSR_ERROR_UNSUPPORTED: a list of 16-bit codes, a surface that reaches over more than 65536 voxels along an axis, or 2^29 cells or more;
 * TSR_ERROR_MEMORY says how many records there are. RETURNS NEW; the context must outlive it, the list need not. */
TSR_API tsr_status tsr_records_extract(tsr_context *context, const tsr_tiles *tiles, double isovalue, tsr_records **records) TSR_CHECKED;
TSR_API void tsr_records_destroy(tsr_records **records);

TSR_API int64_t tsr_records_count(const tsr_records *records);
TSR_API double tsr_records_isovalue(const tsr_records *records);              /* as given to tsr_records_extract */
TSR_API const tsr_geometry *tsr_records_geometry(const tsr_records *records); /* RETURNS VIEW: of the list */

/* For tests and files; each may be NULL. positions: voxel of the list (x, y, z) at the cell's lowest corner; cases: bit 4 z + 2 y + x of a corner is
 * set where it is inside; values: codes of the corners in the same order. Waits for the queue. */
TSR_API tsr_status tsr_records_download(const tsr_records *records, int64_t (*positions)[3], uint8_t *cases, uint8_t (*values)[8]) TSR_CHECKED;

/* The triangles of the records, each with three vertices of its own, in the order of the records, for files and meshes' tools. Vertices that cells
 * share are equal bit for bit. `ambiguity`: which corners of an ambiguous face are separated; TSR_ERROR_UNSUPPORTED for TSR_SURFACE_DECIDE and for
 * more than 2^32 - 1 vertices. RETURNS NEW mesh on the records' device, in world coordinates, without normals. */
TSR_API tsr_status tsr_records_mesh(const tsr_records *records, tsr_surface_ambiguity ambiguity, tsr_mesh **mesh) TSR_CHECKED;

/* Draws the surface straight from the records: each is expanded into its triangles, whose nearest hit along each ray is kept as one 64-bit number per
 * ray and layer (8 bytes, the only memory beside records and picture), then shaded. The rays, hits and light are those of tsr_render. Normals: of the
 * trilinear interpolant of the corner values at the hit, or of the triangles (options->flat). Ambiguous faces separate the inside corners.
 * `cull` != 0 leaves out triangles that show their back before they reach a pixel: the same picture of a closed, opaque surface seen from outside.
 * Of the options only background, transparent, surface_color, surface_opacity, surface_layers (each goes once more over the records), specular,
 * supersampling, flat, pass and progress apply, and a mode of AUTO or SURFACE; TSR_ERROR_UNSUPPORTED if clip, ambient_occlusion above 0 or a transfer
 * function is set (NULL: defaults, without ambient occlusion): these need the field, see tsr_scene_set_surface_records. Same context as the picture.
 * Asynchronous on a GPU if there is no progress to report. A cell that reaches behind the eye's plane is tested against every ray: slow for an eye
 * within the surface, correct all the same. Class: tolerant between cpu and cuda, cpu and emu the same bits. */
TSR_API tsr_status tsr_records_draw(const tsr_records *records, const tsr_camera *camera, const tsr_render_options *options, int cull,
                                    tsr_picture *picture) TSR_CHECKED;

/* ---- records that follow a list ------------------------------------------------------------------------------------------------------------------ */

/* The records of a list that changes in places, a model under a brush: kept from call to call, tile by tile in a pool, made anew only where the list
 * changed. KEEPS the context. One thread at a time. RETURNS NEW. Source: docs/theory/editing.md 10. */
typedef struct tsr_records_tracker tsr_records_tracker;
TSR_API tsr_status tsr_records_tracker_create(tsr_context *context, double isovalue, tsr_records_tracker **tracker) TSR_CHECKED;
TSR_API void tsr_records_tracker_destroy(tsr_records_tracker **tracker);

typedef struct tsr_records_update_report {
    size_t struct_size;
    int64_t tiles, changed, renewed; /* stored; found to be new or different; whose records were made anew: these and those beside them */
    int64_t records;                 /* of the surface: without gaps */
    int64_t bytes;                   /* device memory: 15 a place of the pool (a tile has up to 15 to spare, a quarter more for growth), 31 a tile of
                                      * the room of the list */
} tsr_records_update_report;
#define TSR_RECORDS_UPDATE_REPORT TSR_SIZED(tsr_records_update_report)

/* The records of the list as it is now. *records is a VIEW that belongs to the tracker, valid until its next call; it may be drawn, downloaded, made a mesh
 * and set in a scene as any other. They are those that tsr_records_extract would make, bit for bit, but in another order (that of the pool, the same on
 * every backend and thread count); tsr_records_download leaves gaps out. When half the pool is gaps it is laid anew.
 *
 * `region` as for tsr_surface_update (tsr_editor_changes gives it): NULL: changed tiles are found by a sum over the values of each, one reading of the list;
 * else the cost is that of the tiles in it and one look at the keys of the list (12 bytes a tile). Waits for the queue four times. Errors as
 * tsr_records_extract; after a failure *records is NULL and the next update makes everything anew. `report` may be NULL. */
TSR_API tsr_status tsr_records_update(tsr_records_tracker *tracker, const tsr_tiles *tiles, const tsr_surface_region *region,
                                      const tsr_records **records, tsr_records_update_report *report) TSR_CHECKED;

/* The picture that tsr_records_draw makes of the records of the last update, bit for bit. If the tracker drew this picture last, with the same camera and
 * options (pass 0), and nobody drew into it since, only the box of pixels that changed tiles cover or covered is drawn: their hits and colours anew from
 * the tiles that meet the box. *pixels (may be NULL): how many. Keeps 8 bytes a ray and layer between calls. All else as tsr_records_draw. */
TSR_API tsr_status tsr_records_redraw(tsr_records_tracker *tracker, const tsr_camera *camera, const tsr_render_options *options, int cull,
                                      tsr_picture *picture, int64_t *pixels) TSR_CHECKED;

/* From now on tsr_render meets the surface of the scene's tile list in these records of it, instead of searching for it in the list, for all options:
 * volumes in front, between and behind its layers, clipping planes (cuts are closed from the field), ambient occlusion, regions and transfer
 * functions of the level, which look at the list's values less the records' isovalue. Slices and surfaces drawn as media (surface_transfer) come from
 * the field as before. `cull` as for tsr_records_draw. KEEPS the records, until the scene's surface is set or cleared; TSR_ERROR_STATE if the surface
 * is no tile list, TSR_ERROR_ARGUMENT if they are not of its geometry or context. After the list has changed extract records anew. Class: as
 * tsr_records_draw. */
TSR_API tsr_status tsr_scene_set_surface_records(tsr_scene *scene, const tsr_records *records, int cull) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
