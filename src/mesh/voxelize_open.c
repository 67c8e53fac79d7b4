/* mesh/voxelize_open.c: meshes whose edges do not fit: which triangles are turned, what is left of a boundary, and how lists of open meshes are closed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles.h"
#include "mesh/voxelize_absent.h"
#include "mesh/voxelize_job.h"
#include "mesh/voxelize_orient.h"

/* The ladder of voxelize.h, of a mesh on the host whose edges do not fit: triangles are turned so that they do, else crossings are counted whatever way they
 * face, else there is a boundary, in j->boundary. */
static tsr_status sort_out(struct tsr_vox_job *j, tsr_vox_grid *host, uint32_t *id, uint8_t *turned, uint32_t *faced)
{
    tsr_vox_edges edges;
    int64_t count;
    int altered = 0;
    TSR_TRY(tsr_vox_weld(host, id));
    TSR_TRY(tsr_vox_orient(host, id, j->inverted, &edges, turned, &count));
    j->report.boundary_edges = edges.boundary;
    j->report.misoriented_edges = edges.misoriented;
    j->report.nonmanifold_edges = edges.nonmanifold;
    if (host->rule == TSR_VOX_RULE_SHELL || (j->inverted && !count)) return TSR_OK;
    memcpy(faced, host->corner, (size_t)host->triangles * 3 * sizeof *faced);
    for (int64_t t = 0; t < host->triangles; t++) {
        if (turned[t]) {
            faced[3 * t + 1] = host->corner[3 * t + 2];
            faced[3 * t + 2] = host->corner[3 * t + 1];
        }
        if (turned[t] == TSR_VOX_TWIN) faced[3 * t + 1] = faced[3 * t + 2] = faced[3 * t]; /* crosses nothing */
        altered |= turned[t];
    }
    host->faced = faced;
    TSR_TRY(tsr_vox_boundary_make(host, id, &j->boundary));
    j->report.boundary_loops = j->boundary.loops;
    j->report.turned_triangles = count;
    j->report.signs = j->boundary.edges == 0 ? TSR_VOXELIZE_SIGNS_TURNED : edges.odd == 0 ? TSR_VOXELIZE_SIGNS_CROSSINGS : TSR_VOXELIZE_SIGNS_WINDING;
    if (altered) TSR_TRY(tsr_vox_take_copy(j, faced, host->triangles * 3 * (int64_t)sizeof *faced, "triangles turned", (const void **)&j->g.faced));
    if (j->report.signs == TSR_VOXELIZE_SIGNS_CROSSINGS) j->g.rule = TSR_VOX_RULE_EVEN_ODD;
    j->g.slack = edges.boundary ? 1.0 / 128 : -1.0 / 128; /* sheets enclose nothing; walls within a body are in it */
    return TSR_OK;
}

/* The tree of the boundary where the backend can read it, and the tiles across its holes. */
static tsr_status open_holes(struct tsr_vox_job *j, tsr_vox_grid *host)
{
    host->edge = j->boundary.edge;
    host->node = j->boundary.node;
    host->slack = j->g.slack;
    int64_t most = j->options.memory_limit > 0 ? j->options.memory_limit >> (3 * host->log2_edge + 3) : (int64_t)1 << 28;
    TSR_TRY(tsr_vox_hole_tiles(host, &j->boundary, most, &j->holes, &j->hole_count));
    TSR_TRY(tsr_vox_take_copy(j, j->boundary.edge, j->boundary.edges * (int64_t)sizeof(tsr_vox_edge), "boundary edges", (const void **)&j->g.edge));
    TSR_TRY(tsr_vox_take_copy(j, j->boundary.node, j->boundary.nodes * (int64_t)sizeof(tsr_vox_node), "the tree of boundary edges",
                              (const void **)&j->g.node));
    j->g.nodes = j->boundary.nodes;
    return TSR_OK;
}

tsr_status tsr_vox_open_mesh(struct tsr_vox_job *j)
{
    tsr_vox_grid host = j->g;
    const tsr_backend *backend = j->context->backend;
    const size_t vertices = (size_t)host.vertices, triangles = (size_t)host.triangles;
    const size_t corners = triangles * 3 * sizeof(uint32_t), fixed = vertices * sizeof *host.fixed;
    const size_t own = vertices * sizeof(uint32_t) + corners + triangles, copied = j->context->device.kind == TSR_DEVICE_CPU ? 0 : fixed + corners;
    uint32_t *memory = NULL;
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, own + copied, (void **)&memory));
    uint32_t *id = memory, *faced = id + vertices;
    if (copied) {
        host.fixed = (int32_t(*)[3])(void *)(faced + 3 * triangles);
        uint32_t *corner = (uint32_t *)(void *)(host.fixed + vertices);
        host.corner = corner;
        TSR_TRY_GOTO(backend->download(j->context->queue, host.fixed, j->g.fixed, fixed), done);
        TSR_TRY_GOTO(backend->download(j->context->queue, corner, j->g.corner, corners), done);
    }
    TSR_TRY_GOTO(sort_out(j, &host, id, (uint8_t *)memory + own + copied - triangles, faced), done);
    if (j->report.signs == TSR_VOXELIZE_SIGNS_WINDING) TSR_TRY_GOTO(open_holes(j, &host), done);
done:
    tsr_host_release(NULL, memory, own + copied);
    return status;
}

/* ---- around an open mesh ------------------------------------------------------------------------------------------------------------------------- */

/* Copies of what is on the device, for the host. */
struct around {
    tsr_vox_around a;
    tsr_vox_grid g;
    uint64_t *key, (*face)[6];
    int32_t *entry, *exit;
    void *memory;
    size_t bytes;
};

static tsr_status look_around(const struct tsr_vox_job *j, const tsr_tiles *list, struct around *v)
{
    const tsr_backend *backend = j->context->backend;
    tsr_queue *queue = j->context->queue;
    const size_t tiles = (size_t)j->g.tiles, rows = tiles << (2 * j->g.log2_edge);
    v->g = j->g;
    v->g.edge = j->boundary.edge;
    v->g.node = j->boundary.node;
    v->a = (tsr_vox_around){ .g = &v->g, .threads = j->context->threads, .tiles = j->g.tiles };
    v->bytes = tiles * (sizeof *v->key + sizeof *v->face) + 2 * rows * sizeof *v->entry;
    TSR_TRY(tsr_host_allocate(NULL, v->bytes, &v->memory));
    v->key = (uint64_t *)v->memory;
    v->face = (uint64_t(*)[6])(void *)(v->key + tiles);
    v->entry = (int32_t *)(void *)(v->face + tiles);
    v->exit = v->entry + rows;
    TSR_TRY(tsr_tiles_get_keys(list, 0, j->g.tiles, v->key));
    TSR_TRY(backend->download(queue, v->face, j->g.face, tiles * sizeof *v->face));
    TSR_TRY(backend->download(queue, v->entry, j->g.before, rows * sizeof *v->entry));
    TSR_TRY(backend->download(queue, v->exit, j->g.exit, rows * sizeof *v->exit));
    v->a.key = v->key;
    v->a.face = (const uint64_t(*)[6])v->face;
    v->a.entry = v->entry;
    v->a.exit = v->exit;
    for (int k = 0; k < 3; k++) { /* as far again as the mesh is long: beyond, fixed positions would leave their range */
        int32_t longest = 1;
        for (int n = 0; n < 3; n++) longest = tsr_maxi(longest, j->upper[n] - j->lower[n] + 1);
        v->a.lower[k] = tsr_maxi(j->lower[k] - longest, -TSR_KEY_BIAS + 4);
        v->a.upper[k] = tsr_mini(j->upper[k] + longest, TSR_KEY_BIAS - 4);
    }
    return TSR_OK;
}

/* The next pass has the missing tiles, too. */
static tsr_status add_holes(struct tsr_vox_job *j, const uint64_t *missing, int64_t count)
{
    const int64_t all = j->hole_count + count;
    uint64_t *holes = (uint64_t *)realloc(j->holes, (size_t)all * sizeof *holes);
    if (!holes) TSR_FAIL(TSR_ERROR_MEMORY, "voxelize: out of memory for %lld tiles across holes", (long long)all);
    memcpy(holes + j->hole_count, missing, (size_t)count * sizeof *holes);
    j->holes = holes;
    j->hole_count = all;
    return TSR_OK;
}

/* Turns voxels of one side of a tile inside or outside; distances stay. */
static tsr_status force(const struct tsr_vox_job *j, const tsr_tiles *list, const tsr_vox_forced *f)
{
    const tsr_backend *backend = j->context->backend;
    tsr_queue *queue = j->context->queue;
    const int32_t log2_edge = j->g.log2_edge, edge = 1 << log2_edge, axis = f->side >> 1, far = (f->side & 1) * (edge - 1);
    const size_t voxels = (size_t)1 << (3 * log2_edge);
    float phi[512];
    float *const field[2] = { list->pool.phi[0] + (size_t)(TSR_TILE_FIRST + f->tile) * voxels,
                              list->pool.phi[1] + (size_t)(TSR_TILE_FIRST + f->tile) * voxels };
    TSR_TRY(backend->download(queue, phi, field[0], voxels * sizeof *phi));
    for (int32_t i = 0; i < (int32_t)voxels; i++)
        if ((i >> (axis * log2_edge) & (edge - 1)) == far) phi[i] = f->inside ? -fmaxf(fabsf(phi[i]), TSR_VOX_LEAST) : fabsf(phi[i]);
    for (int k = 0; k < 2; k++) TSR_TRY(backend->upload(queue, field[k], phi, voxels * sizeof *phi));
    TSR_TRY(tsr_context_synchronize(j->context));
    return TSR_OK;
}

/* Neighbours of all tiles, with the constants of the absent ones. */
static tsr_status put_neighbours(const struct tsr_vox_job *j, const tsr_tiles *list, const struct around *v, const uint32_t *constant, int64_t inside)
{
    const tsr_backend *backend = j->context->backend;
    const size_t bytes = (size_t)v->a.tiles * TSR_NEIGHBOUR_ROW * sizeof(uint32_t);
    uint32_t *rows = (uint32_t *)calloc((size_t)v->a.tiles + 1, TSR_NEIGHBOUR_ROW * sizeof *rows);
    tsr_tile_state state;
    tsr_status status;
    if (!rows) TSR_FAIL(TSR_ERROR_MEMORY, "voxelize: out of memory for the neighbours of %lld tiles", (long long)v->a.tiles);
    uint32_t *there = list->pool.neighbours + TSR_TILE_FIRST * TSR_NEIGHBOUR_ROW;
    TSR_TRY_GOTO(backend->download(j->context->queue, rows, there, bytes), done);
    for (int64_t t = 0; t < v->a.tiles; t++)
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
            if (rows[t * TSR_NEIGHBOUR_ROW + d] < TSR_TILE_FIRST)
                rows[t * TSR_NEIGHBOUR_ROW + d] = constant[t] >> d & 1u ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    TSR_TRY_GOTO(backend->upload(j->context->queue, there, rows, bytes), done);
    TSR_TRY_GOTO(tsr_tiles_read_state(list, &state), done);
    state.inside_absent = inside << (3 * j->g.log2_edge);
    TSR_TRY_GOTO(backend->upload(j->context->queue, list->pool.state, &state, sizeof state), done);
    TSR_TRY_GOTO(tsr_context_synchronize(j->context), done);
done:
    free(rows);
    return status;
}

tsr_status tsr_vox_close_list(struct tsr_vox_job *j, tsr_tiles *list, int last, int *again)
{
    struct around v = { .memory = NULL };
    uint64_t *missing = NULL;
    uint32_t *constant = NULL;
    tsr_vox_forced *forced = NULL;
    int64_t count = 0, inside = 0;
    tsr_status status = look_around(j, list, &v);
    const int64_t most = j->options.memory_limit > 0 ? j->options.memory_limit >> (3 * j->g.log2_edge + 3) : (int64_t)1 << 28;
    *again = 0;
    if (status == TSR_OK && !last) status = tsr_vox_missing(&v.a, most, &missing, &count);
    if (status == TSR_OK && count) {
        *again = 1;
        status = add_holes(j, missing, count);
    }
    if (status == TSR_OK && !*again) {
        constant = (uint32_t *)calloc((size_t)v.a.tiles + 1, sizeof *constant);
        if (!constant) status = TSR_FAILED(TSR_ERROR_MEMORY, "voxelize: out of memory for the signs of %lld tiles", (long long)v.a.tiles);
    }
    if (status == TSR_OK && constant) status = tsr_vox_absent_signs(&v.a, constant, &forced, &count, &inside);
    for (int64_t i = 0; constant && i < count && status == TSR_OK; i++) status = force(j, list, &forced[i]);
    if (status == TSR_OK && constant) status = put_neighbours(j, list, &v, constant, inside);
    free(missing);
    free(constant);
    free(forced);
    tsr_host_release(NULL, v.memory, v.bytes);
    return status;
}
