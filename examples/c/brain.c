/* From a head MRI to a mask and a surface of the brain: brain HEAD.nii.gz MASK.nii.gz SURFACE.ply */
#include <stdio.h>

#include <tessera/tessera.h>

/* Says what went wrong and ends the program, which frees everything: a longer one destroys its objects, as docs/guide/c-tutorial.md does. */
#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            return 1;                                     \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    const double seeds[][4] = { { 56, 145, 85, 30 }, { 124, 145, 85, 30 }, { 56, 85, 90, 32 }, { 124, 85, 90, 32 },
                                { 90, 115, 80, 30 }, { 65, 65, 38, 18 },   { 115, 65, 38, 18 } }; /* voxel indices, radius in mm */
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    tsr_context *context;
    tsr_volume *file, *image, *mask, *host_mask;
    tsr_segmentation *brain;
    tsr_mesh *mesh, *host_mesh;

    if (argc != 4) return fprintf(stderr, "usage: %s HEAD.nii.gz MASK.nii.gz SURFACE.ply\n", argv[0]), 2;
    TRY(tsr_context_create(NULL, &context));     /* a GPU if one works, else the CPU */
    TRY(tsr_volume_read(argv[1], NULL, &file));  /* in host memory */
    TRY(tsr_volume_copy(file, context, &image)); /* on the device of the context */

    options.target = 92; /* grow over grey values 92 +- 34 */
    options.epsilon = 34;
    options.alpha = 0.45;  /* 1: grey values alone; less: smoother, leaks less */
    options.smoothing = 1; /* mm, of the image */
    options.cfl = 0.9;     /* steps as long as they may be */
    options.max_steps = 900;
    options.volume_tolerance = 1e-4; /* or when the volume has settled */
    TRY(tsr_segmentation_create(context, image, &options, &brain));
    for (int i = 0; i < 7; i++) TRY(tsr_segmentation_sphere(brain, (tsr_vec3){ seeds[i][0], seeds[i][1], seeds[i][2] }, seeds[i][3], 0));
    TRY(tsr_segmentation_run(brain, NULL, &report));
    printf("%lld steps, %.0f ml\n", (long long)report.steps, report.volume * 1e-3);

    TRY(tsr_segmentation_mask(brain, &mask));
    TRY(tsr_volume_copy(mask, NULL, &host_mask));
    TRY(tsr_volume_write(host_mask, argv[2], NULL));
    TRY(tsr_surface_extract_tiles(context, tsr_segmentation_tiles(brain), NULL, &mesh, NULL));
    TRY(tsr_mesh_copy(mesh, NULL, &host_mesh));
    TRY(tsr_mesh_write(host_mesh, argv[3], NULL));
    return 0;
}
