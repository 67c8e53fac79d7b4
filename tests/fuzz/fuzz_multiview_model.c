/* Models of multi-view textures as bytes. Their stream is packed anew right before it is read where the input begins with a good header: a checksum would
 * keep everything else out. OBJ files with places in an atlas, too: inputs that begin with 'v'. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/stream.h"
#include "tessera/tessera.h"
#include "vision/textures/multiview_files.h"

enum { HEAD = 112 };

static void check(int good, const char *what)
{
    if (good) return;
    fputs(what, stderr);
    abort();
}

static int use_model(const uint8_t *bytes, size_t size)
{
    tsr_multiview_model *model = NULL;
    if (tsr_multiview_model_unpack(bytes, size, "fuzz", 16 << 20, &model) != TSR_OK) {
        check(!model, "a failed read left something\n");
        return 0;
    }
    const tsr_multiview_parts p = tsr_multiview_model_parts(model);
    for (int64_t i = 0; i < 3 * p.triangles; i++) check(p.triangle[i] < p.vertices && p.corner[i] < p.places, "an index out of range\n");
    for (int64_t i = 0; i < 3 * p.vertices * p.steps; i++) check(p.position[i] - p.position[i] == 0, "a position that is not finite\n");
    uint8_t *again = NULL;
    size_t length = 0;
    check(tsr_multiview_model_pack(model, &again, &length) == TSR_OK && length > HEAD, "it cannot be packed again\n");
    free(again);
    if (p.width <= 64 && p.height <= 64 && p.cameras <= 2 && p.picture[0] <= 64 && p.picture[1] <= 64 && p.picture[2 * p.cameras - 2] <= 64 &&
        p.picture[2 * p.cameras - 1] <= 64) { /* whatever the numbers are, masks can be made */
        tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = 1 };
        tsr_context *context;
        tsr_texturer *texturer = NULL;
        uint64_t visible[2 * 64];
        check(tsr_context_create(&on_cpu, &context) == TSR_OK, "context\n");
        if (tsr_texturer_create(context, model, &texturer) == TSR_OK)
            check(tsr_texturer_step(texturer, p.steps - 1, NULL, TSR_TEXTURE_BILINEAR, NULL, visible) == TSR_OK, "masks\n");
        tsr_texturer_destroy(&texturer);
        tsr_context_destroy(&context);
    }
    tsr_multiview_model_destroy(&model);
    return 1;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    if (size && (bytes[0] == 'v' || bytes[0] == '#')) {
        tsr_input_options settings = { .memory_limit = 16 << 20 };
        tsr_input *input = NULL;
        tsr_placed_mesh mesh;
        const int accepted = tsr_input_memory(bytes, size, "fuzz", &settings, &input) == TSR_OK && tsr_placed_mesh_read(input, &mesh) == TSR_OK;
        if (accepted) {
            for (int64_t i = 0; i < 3 * mesh.triangles; i++)
                check(mesh.triangle[i] < mesh.vertices && mesh.corner[i] < mesh.places, "an index out of range\n");
            tsr_placed_mesh_free(&mesh);
        }
        tsr_input_close(&input);
        return accepted;
    }
    if (size <= HEAD || size > 1 << 20) return use_model(bytes, size);
    uLongf room = compressBound((uLong)(size - HEAD));
    uint8_t *packed = (uint8_t *)malloc(HEAD + room);
    check(packed != NULL, "memory\n");
    memcpy(packed, bytes, HEAD);
    check(compress2(packed + HEAD, &room, bytes + HEAD, (uLong)(size - HEAD), 1) == Z_OK, "pack\n");
    const int accepted = use_model(packed, HEAD + room);
    free(packed);
    return accepted;
}

void fuzz_seeds(void)
{
    static const char obj[] =
        "# atlas\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 -1/-1\nf 1/1/1 2/2/2 3/3/3\n";
    const float position[] = { -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, -1, -1, 0.5f, 1, -1, 0.5f, 1, 1, 0.5f, -1, 1, 0.5f },
                uv[] = { 0, 0, 1, 0, 1, 1, 0, 1 };
    const uint32_t triangle[] = { 0, 1, 2, 0, 2, 3 };
    const int32_t picture[] = { 16, 16 };
    tsr_camera camera = { .fov = 40 };
    tsr_multiview_model *model;
    uint8_t *bytes = NULL;
    size_t size = 0;
    fuzz_seed((const uint8_t *)obj, sizeof obj - 1);
    check(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }) == TSR_OK, "camera\n");
    const tsr_multiview_parts p = { .struct_size = sizeof p,
                                    .width = 16,
                                    .height = 16,
                                    .cameras = 1,
                                    .steps = 2,
                                    .vertices = 4,
                                    .triangles = 2,
                                    .triangle = triangle,
                                    .place = uv,
                                    .position = position,
                                    .camera = &camera,
                                    .camera_steps = 1,
                                    .picture = picture };
    check(tsr_multiview_model_create(&p, &model) == TSR_OK && tsr_multiview_model_pack(model, &bytes, &size) == TSR_OK, "model\n");
    uint8_t plain[4096];
    uLongf length = sizeof plain - HEAD;
    memcpy(plain, bytes, HEAD);
    check(uncompress(plain + HEAD, &length, bytes + HEAD, (uLong)(size - HEAD)) == Z_OK, "unpack\n");
    fuzz_seed(plain, HEAD + length);
    free(bytes);
    tsr_multiview_model_destroy(&model);
}
