/* tests/fuzz/fuzz_format.h: the body shared by the targets of all formats: define FUZZ_FORMAT, include, and write fuzz_seeds(). */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/unstructured.h"
#include "formats/contents.h"
#include "formats/extras.h"
#include "formats/format.h"

enum { FUZZ_MEMORY = 64 << 20 };

static void fuzz_check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

/* What is read must be usable: every voxel and vertex is touched, so that a sanitizer sees memory that is not there. */
static volatile uint8_t fuzz_sink;
static void fuzz_touch(const void *bytes, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++) sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
    fuzz_sink = sum;
}

/* A list that was accepted can be described, taken apart and put into a dense volume. */
static tsr_status fuzz_tiles(const tsr_format *format, tsr_input *input)
{
    static tsr_context *context;
    tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = 1 };
    tsr_tiles_read_options options = { .struct_size = sizeof options, .memory_limit = FUZZ_MEMORY };
    tsr_tiles_extras *extras = NULL;
    tsr_tiles *tiles = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    if (!context) fuzz_check(tsr_context_create(&on_cpu, &context) == TSR_OK, "context\n");
    fuzz_check(tsr_extras_create(&extras) == TSR_OK, "extras\n");
    options.extras = &extras; /* so that channels are read */
    tsr_status status = format->read_tiles(input, &options, context, extras, &tiles);
    if (status == TSR_OK) {
        fuzz_check(tsr_tiles_describe(tiles, &info) == TSR_OK, "describe\n");
        float *values = (float *)malloc((size_t)(info.count * info.edge * info.edge * info.edge) * sizeof *values + 1);
        fuzz_check(values && tsr_tiles_download(tiles, NULL, values) == TSR_OK, "download\n");
        fuzz_touch(values, (size_t)(info.count * info.edge * info.edge * info.edge) * sizeof *values);
        free(values);
    } else {
        fuzz_check(!tiles, "a failed read left a tile list\n");
    }
    tsr_tiles_destroy(&tiles);
    tsr_tiles_extras_destroy(&extras);
    return status;
}

static tsr_status fuzz_volume(const tsr_format *format, tsr_input *input, const tsr_read_options *options)
{
    tsr_volume *volume = NULL;
    const tsr_status status = format->read_volume(input, options, &volume);
    if (status == TSR_OK) {
        fuzz_touch(tsr_volume_data(volume), (size_t)tsr_volume_count(volume) * tsr_dtype_size(tsr_volume_dtype(volume)));
        fuzz_check(tsr_geometry_check(tsr_volume_geometry(volume)) == TSR_OK, "a volume with bad geometry was accepted\n");
    } else {
        fuzz_check(!volume, "a failed read left a volume\n");
    }
    tsr_volume_destroy(&volume);
    return status;
}

static tsr_status fuzz_cloud(const tsr_format *format, tsr_input *input, const tsr_read_options *options)
{
    tsr_points *points = NULL;
    const char *name;
    int32_t components;
    const tsr_status status = format->read_points(input, options, &points);
    fuzz_check((status == TSR_OK) == (points != NULL), "a failed read left points\n");
    if (status == TSR_OK) {
        const float *p = tsr_points_positions(points);
        const size_t count = (size_t)tsr_points_count(points);
        for (size_t i = 0; i < 3 * count; i++) fuzz_check(p[i] - p[i] == 0.0f, "a point that is not finite was accepted\n");
        if (tsr_points_normals(points)) fuzz_touch(tsr_points_normals(points), count * 12);
        if (tsr_points_radii(points)) fuzz_touch(tsr_points_radii(points), count * 4);
        for (int32_t k = 0; tsr_points_attribute_at(points, k, &name, &components); k++)
            fuzz_touch(tsr_points_attribute(points, name, NULL), count * (size_t)components * 4);
    }
    tsr_points_destroy(&points);
    return status;
}

static tsr_status fuzz_grid(const tsr_format *format, tsr_input *input, const tsr_read_options *options)
{
    tsr_unstructured *grid = NULL;
    const tsr_status status = format->read_unstructured(input, options, NULL, &grid);
    fuzz_check((status == TSR_OK) == (grid != NULL), "a failed read left a grid\n");
    if (status == TSR_OK) {
        const tsr_unstructured_info info = *tsr_unstructured_describe(grid);
        for (int64_t k = 0; k < 4 * info.tetrahedra; k++) fuzz_check(grid->corners[k] < info.points, "a corner that is no point\n");
        for (int64_t k = 0; k < 6 * info.tetrahedra; k++) fuzz_check(grid->edges_of[k] < info.edges, "an edge that is none\n");
        fuzz_touch(grid->values, (size_t)info.points * sizeof *grid->values);
    }
    tsr_unstructured_destroy(&grid);
    return status;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    const tsr_format *format = tsr_format_find(FUZZ_FORMAT);
    tsr_read_options options = { .struct_size = sizeof options, .memory_limit = FUZZ_MEMORY, .local_origin = 1,
                                 .frame_given = 1, .layer_given = 1, .channel_given = 1, .frame = (int64_t)(size & 1) }; /* so that parts are read */
    tsr_input_options settings = { .memory_limit = FUZZ_MEMORY };
    tsr_input *input = NULL;
#if defined FUZZ_REPAIR /* the same bytes, with what only keeps a fuzzer out put right */
    uint8_t *repaired = FUZZ_REPAIR(bytes, size);
    bytes = repaired;
#elif defined FUZZ_UNROLL /* the bytes stand for a larger file */
    uint8_t *repaired = FUZZ_UNROLL(bytes, &size);
    bytes = repaired;
#endif
    tsr_status status = tsr_input_memory(bytes, size, "fuzz", &settings, &input);
    if (status == TSR_OK && format->kind == TSR_FILE_VOLUME) {
        status = fuzz_volume(format, input, &options);
    } else if (status == TSR_OK && format->kind == TSR_FILE_MESH) {
        tsr_mesh *mesh = NULL;
        status = format->read_mesh(input, &options, &mesh);
        if (status == TSR_OK) {
            tsr_mesh_measures measures = TSR_MESH_MEASURES;
            fuzz_touch(tsr_mesh_vertices(mesh), (size_t)tsr_mesh_vertex_count(mesh) * 12);
            fuzz_check(tsr_mesh_measure(mesh, &measures) == TSR_OK, "a mesh with bad indices was accepted\n");
            if (tsr_mesh_colors(mesh)) fuzz_touch(tsr_mesh_colors(mesh), (size_t)tsr_mesh_vertex_count(mesh) * 4);
            tsr_mesh_part part;
            int64_t triangles = 0;
            for (int32_t i = 0; tsr_mesh_part_at(mesh, i, &part); i++) {
                triangles += part.triangles;
                if (part.name) fuzz_touch(part.name, strlen(part.name));
            }
            fuzz_check(!triangles || triangles == tsr_mesh_triangle_count(mesh), "parts that are not the mesh\n");
            tsr_mesh *welded = NULL;
            fuzz_check(tsr_mesh_weld(mesh, &welded) == TSR_OK, "weld\n");
            tsr_mesh_destroy(&welded);
        } else {
            fuzz_check(!mesh, "a failed read left a mesh\n");
        }
        tsr_mesh_destroy(&mesh);
    } else if (status == TSR_OK && format->kind == TSR_FILE_TILES) {
        status = fuzz_tiles(format, input);
    } else if (status == TSR_OK && format->kind == TSR_FILE_POINTS) {
        status = fuzz_cloud(format, input, &options);
    } else if (status == TSR_OK && format->kind == TSR_FILE_UNSTRUCTURED) {
        status = fuzz_grid(format, input, &options);
    } else if (status == TSR_OK) {
        tsr_image image = { 0 };
        status = format->read_image(input, &options, &image);
        if (status == TSR_OK) fuzz_touch(image.pixels, (size_t)image.width * (size_t)image.height * (size_t)image.channels);
        tsr_image_destroy(&image);
        const tsr_status as_volume = fuzz_volume(format, input, &options);
        if (status == TSR_OK) status = as_volume;
    }
    if (format->read_points && format->kind != TSR_FILE_POINTS) { /* of other kinds that hold points, too */
        const tsr_status as_points = fuzz_cloud(format, input, &options);
        if (status != TSR_OK) status = as_points;
    }
    if (format->read_unstructured && format->kind != TSR_FILE_UNSTRUCTURED) { /* and cells */
        const tsr_status as_grid = fuzz_grid(format, input, &options);
        if (status != TSR_OK) status = as_grid;
    }
    if (format->list && format->kind == TSR_FILE_VOLUME) { /* what is inside, which may be more than what is read */
        tsr_contents *contents = NULL;
        fuzz_check(tsr_contents_create(&contents) == TSR_OK, "contents\n");
        if (format->list(input, &options, contents) == TSR_OK) fuzz_touch("", 1);
        tsr_contents_destroy(&contents);
    }
    fuzz_check(status == TSR_OK || *tsr_error_message(), "a failure without a message\n");
    tsr_input_close(&input);
#if defined FUZZ_REPAIR || defined FUZZ_UNROLL
    free(repaired);
#endif
    return status == TSR_OK;
}

/* A seed made by the library's own writer, through a temporary file. */
static inline void fuzz_seed_file(const char *path)
{
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    tsr_input_options settings = { .keep_gzip = 1 };
    fuzz_check(tsr_input_open(path, &settings, &input) == TSR_OK && tsr_input_all(input, &bytes, &size) == TSR_OK, "cannot read back a seed\n");
    fuzz_seed(bytes, size);
    tsr_input_close(&input);
    unlink(path);
}
