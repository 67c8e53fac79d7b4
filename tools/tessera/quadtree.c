#include <stdlib.h>
#include <string.h>

#include "regions.h"

struct quadtree {
    cli_call *cli;
    cli_regions regions;
    const char *output, *outline;
};

/* The colours of an image as volumes of 0 to 1; alpha is left out. */
static tsr_status channels_of(tsr_context *context, const tsr_image *image, int32_t count, tsr_volume **channel)
{
    const int64_t pixels = (int64_t)image->width * image->height;
    for (int32_t c = 0; c < count; c++) {
        tsr_volume *host = NULL;
        tsr_status status = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ image->width, image->height, 1 }, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_set_scaling(host, 1.0 / 255.0, 0);
        uint8_t *to = status == TSR_OK ? (uint8_t *)tsr_volume_data(host) : NULL;
        for (int64_t i = 0; i < pixels && to; i++) to[i] = image->pixels[i * image->channels + c];
        if (status == TSR_OK) status = tsr_volume_copy(host, context, &channel[c]);
        tsr_volume_destroy(&host);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

/* Every quad in its mean colour; pixels in none keep theirs. */
static void paint(tsr_image *image, const cli_tree *t, int32_t channels)
{
    const int64_t leaves = tsr_region_tree_describe(t->host).leaves;
    for (int64_t i = 0; i < leaves; i++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[i], 2);
        for (int32_t c = 0; c < channels; c++) {
            const uint8_t v = (uint8_t)(t->means[c][i] * 255.0f + 0.5f);
            for (int64_t p = 0; p < q.side * q.side; p++)
                image->pixels[((q.y + p / q.side) * image->width + q.x + p % q.side) * image->channels + c] = v;
        }
    }
}

/* The upper and left edges of quads, black and half transparent, so that small ones still show their colour. */
static void outline(tsr_image *image, const cli_tree *t, int32_t channels)
{
    const int64_t leaves = tsr_region_tree_describe(t->host).leaves;
    for (int64_t i = 0; i < leaves; i++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[i], 2);
        for (int64_t p = 0; p < 2 * q.side - 1 && q.side > 1; p++) {
            const int64_t x = p < q.side ? q.x + p : q.x, y = p < q.side ? q.y : q.y + p - q.side + 1;
            for (int32_t c = 0; c < channels; c++) image->pixels[(y * image->width + x) * image->channels + c] /= 3;
        }
    }
}

static int write_image(const struct quadtree *q, const tsr_image *image, const char *path)
{
    const tsr_write_options write = cli_image_options(q->cli, path);
    const tsr_status status = tsr_image_write(image, path, &write);
    return status == TSR_OK ? CLI_OK : cli_status(q->cli, status, path);
}

/* The tree of an image file; the image itself stays for the pixels in no quad. */
static int from_image(struct quadtree *q, tsr_context *context, tsr_image *image, cli_tree *tree, int32_t *channels, double *seconds)
{
    tsr_volume *channel[4] = { NULL };
    tsr_status status = tsr_image_read(q->cli->input[0], NULL, image);
    *channels = image->channels >= 3 && q->regions.options.rule != TSR_REGION_CLASSES ? 3 : 1;
    if (status == TSR_OK) status = channels_of(context, image, *channels, channel);
    const double start = cli_seconds();
    if (status == TSR_OK) status = cli_tree_make(context, (const tsr_volume *const *)channel, *channels, &q->regions.options, tree);
    *seconds = cli_seconds() - start;
    for (int c = 0; c < 4; c++) tsr_volume_destroy(&channel[c]);
    return status == TSR_OK ? CLI_OK : cli_status(q->cli, status, q->cli->input[0]);
}

/* The tree of a file; its image is black where no quad is. */
static int from_tree(struct quadtree *q, tsr_context *context, tsr_image *image, cli_tree *tree, int32_t *channels)
{
    const char *path = q->cli->input[0];
    int code = cli_tree_read(q->cli, path, context, 3, tree, channels);
    if (code) return code;
    const tsr_region_info info = tsr_region_tree_describe(tree->host);
    if (info.dimensions != 2) return cli_error(q->cli, CLI_FAILED, "%s: a tree of a volume, expected one of an image: use tessera octree", path);
    if (info.size.x > INT32_MAX / 4 || info.size.y > INT32_MAX / 4)
        return cli_error(q->cli, CLI_FAILED, "%s: %lld x %lld pixels, expected an image", path, (long long)info.size.x, (long long)info.size.y);
    if (*channels == 2) *channels = 1;
    const tsr_status status = tsr_image_create((int32_t)info.size.x, (int32_t)info.size.y, *channels, image);
    return status == TSR_OK ? CLI_OK : cli_status(q->cli, status, path);
}

static int work(struct quadtree *q)
{
    tsr_context *context = NULL;
    tsr_image image = { 0 };
    cli_tree tree = { 0 };
    double seconds = 0;
    int32_t channels = 0;
    int code = cli_context(q->cli, &context);
    if (!code)
        code = cli_tree_is_file(q->cli->input[0]) ? from_tree(q, context, &image, &tree, &channels)
                                                  : from_image(q, context, &image, &tree, &channels, &seconds);
    if (!code) code = cli_tree_write(q->cli, &q->regions, &tree, channels);
    if (!code) {
        paint(&image, &tree, channels);
        code = write_image(q, &image, q->output);
    }
    if (!code && q->outline) {
        outline(&image, &tree, image.channels >= 3 ? 3 : 1);
        code = write_image(q, &image, q->outline);
    }
    if (!code && strcmp(q->output, "-") && !cli_regions_on_stdout(&q->regions)) cli_tree_show(q->cli, &tree, seconds);
    cli_tree_destroy(&tree);
    tsr_image_destroy(&image);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct quadtree q = { .cli = cli, .regions = CLI_REGIONS };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(q.output),
        { .name = "outline", .type = CLI_TEXT, .value = &q.outline, .argument = "FILE.png", .help = "the same with the edges of the quads" },
        CLI_REGION_OPTIONS(q.regions),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, q.output, TSR_FILE_IMAGE, NULL);
    if (!code && q.outline) code = cli_check_write(cli, q.outline, TSR_FILE_IMAGE, NULL);
    if (!code) code = cli_regions_prepare(cli, &q.regions);
    return code ? code : work(&q);
}

const cli_verb verb_quadtree = { "quadtree", "[options] IMAGE|TREE.rgt -o IMAGE", "Simplify an image to the leaves of a region quadtree",
                                 "  tessera make torus -o torus.nii.gz\n"
                                 "  tessera render torus.nii.gz -o torus.png\n"
                                 "  tessera quadtree torus.png --threshold 0.01 -o quads.png --outline outline.png --tree quads.rgt.gz\n"
                                 "  tessera quadtree quads.rgt.gz -o again.png\n",
                                 run };
