/* From a head MRI to a brain mask and a surface, with every error checked: brain HEAD.nii.gz MASK.nii.gz SURFACE.ply */
#include <stdio.h>

#include <tessera/tessera.h>

#define TRY(call)                                                                              \
    do {                                                                                       \
        if ((call) != TSR_OK) {                                                                \
            fprintf(stderr, "%s\n", tsr_error_message());                                      \
            goto done;                                                                         \
        }                                                                                      \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_volume *file = NULL, *image = NULL, *mask = NULL, *host_mask = NULL;
    tsr_segmentation *segmentation = NULL;
    tsr_mesh *mesh = NULL, *host_mesh = NULL;
    int code = 1;
    if (argc != 4) {
        fprintf(stderr, "usage: %s HEAD.nii.gz MASK.nii.gz SURFACE.ply\n", argv[0]);
        return 2;
    }
    TRY(tsr_context_create(NULL, &context));         /* a GPU if one works, else the CPU */
    TRY(tsr_volume_read(argv[1], NULL, &file));      /* host memory */
    TRY(tsr_volume_copy(file, context, &image));     /* the device of the context */

    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    options.target = 92;                             /* grey values of brain: 92 +- 34 */
    options.epsilon = 34;
    options.alpha = 0.45;
    options.smoothing = 1;                           /* mm */
    options.max_steps = 900;
    TRY(tsr_segmentation_create(context, image, &options, &segmentation));
    const tsr_vec3 seeds[] = { { 56, 145, 85 }, { 124, 145, 85 }, { 56, 85, 90 }, { 124, 85, 90 } }; /* voxel indices */
    for (int i = 0; i < 4; i++) TRY(tsr_segmentation_sphere(segmentation, seeds[i], 30, 0));
    tsr_segment_report report;
    TRY(tsr_segmentation_run(segmentation, NULL, &report));
    printf("%lld steps, %.0f ml\n", (long long)report.steps, report.volume * 1e-3);

    TRY(tsr_segmentation_mask(segmentation, &mask));
    TRY(tsr_volume_copy(mask, NULL, &host_mask));
    TRY(tsr_volume_write(host_mask, argv[2], NULL));
    TRY(tsr_surface_extract_tiles(context, tsr_segmentation_tiles(segmentation), NULL, &mesh, NULL));
    TRY(tsr_mesh_copy(mesh, NULL, &host_mesh));
    TRY(tsr_mesh_write(host_mesh, argv[3], NULL));
    code = 0;
done:
    tsr_mesh_destroy(&host_mesh);
    tsr_mesh_destroy(&mesh);
    tsr_segmentation_destroy(&segmentation);
    tsr_volume_destroy(&host_mask);
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&image);
    tsr_volume_destroy(&file);
    tsr_context_destroy(&context);
    return code;
}
