#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct palette {
    cli_call *cli;
    tsr_colours_options options;
    tsr_size3 bits;
    const char *output, *list;
    double seconds, rms;
};

/* The picture in the colours of its palette, alpha kept. */
static tsr_status recolour(struct palette *p, tsr_context *context, const tsr_colours *palette, const tsr_image *from, tsr_image *to)
{
    const size_t pixels = (size_t)from->width * (size_t)from->height;
    const tsr_colours_entry *entry = tsr_colours_entries(palette);
    const int32_t channels = from->channels == 4 ? 4 : 3;
    double sum = 0;
    uint16_t *index = (uint16_t *)malloc(pixels * sizeof *index);
    if (!index) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_colours_map(palette, context, from, index);
    if (status == TSR_OK) status = tsr_image_create(from->width, from->height, channels, to);
    for (size_t i = 0; i < pixels && status == TSR_OK; i++) {
        const uint8_t *colour = entry[index[i]].colour, *in = from->pixels + i * (size_t)from->channels;
        uint8_t *out = to->pixels + i * (size_t)channels;
        for (int k = 0; k < 3; k++) {
            const double d = (double)colour[k] - (double)in[from->channels >= 3 ? k : 0];
            out[k] = colour[k];
            sum += d * d;
        }
        if (channels == 4) out[3] = in[3];
    }
    p->rms = sqrt(sum / (3 * (double)pixels));
    free(index);
    return status;
}

static int write_list(const struct palette *p, const tsr_colours *palette)
{
    const tsr_colours_entry *entry = tsr_colours_entries(palette);
    const size_t room = 64 + (size_t)tsr_colours_count(palette) * 80;
    char *text = (char *)malloc(room);
    if (!text) return cli_error(p->cli, CLI_FAILED, "%s: no memory for the list", p->list);
    size_t at = (size_t)snprintf(text, room, "red,green,blue,pixels,level\n");
    for (int32_t i = 0; i < tsr_colours_count(palette); i++)
        at += (size_t)snprintf(text + at, room - at, "%d,%d,%d,%lld,%d\n", entry[i].colour[0], entry[i].colour[1], entry[i].colour[2],
                               (long long)entry[i].pixels, entry[i].level);
    const int code = cli_write_text(p->cli, p->list, text);
    free(text);
    return code;
}

static void show(const struct palette *p, const tsr_colours *palette)
{
    if (p->cli->globals.json) {
        json_open(NULL, '{');
        json_int("colours", tsr_colours_count(palette));
        json_int("colours_before", tsr_colours_found(palette));
        json_real("rms", p->rms);
        json_real("seconds", p->seconds);
        json_close('}');
        return;
    }
    printf("%d colours of %lld, root mean square error %.3f of 255, %.3f s\n", tsr_colours_count(palette), (long long)tsr_colours_found(palette),
           p->rms, p->seconds);
}

static int work(struct palette *p)
{
    tsr_context *context = NULL;
    tsr_colours *palette = NULL;
    tsr_image image = { 0 }, result = { 0 };
    const char *path = p->cli->input[0];
    const tsr_write_options write = p->output ? cli_image_options(p->cli, p->output) : cli_write_options(p->cli);
    int code = cli_context(p->cli, &context);
    if (code) return code;
    tsr_status status = tsr_image_read(path, NULL, &image);
    const double start = cli_seconds();
    if (status == TSR_OK) status = tsr_colours_create(context, &image, &p->options, &palette);
    p->seconds = cli_seconds() - start;
    if (status == TSR_OK) status = recolour(p, context, palette, &image, &result);
    if (status != TSR_OK) code = cli_status(p->cli, status, path);
    if (!code && p->output) {
        status = tsr_image_write(&result, p->output, &write);
        if (status != TSR_OK) code = cli_status(p->cli, status, p->output);
    }
    if (!code && p->list) code = write_list(p, palette);
    if (!code && !(p->output && !strcmp(p->output, "-")) && !(p->list && !strcmp(p->list, "-"))) show(p, palette);
    tsr_colours_destroy(&palette);
    tsr_image_destroy(&image);
    tsr_image_destroy(&result);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct palette p = { .cli = cli, .options = TSR_COLOURS_OPTIONS };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(p.output),
        { .name = "colours",
          .type = CLI_INT,
          .value = &p.options.colours,
          .argument = "N",
          .help = "at most (default 256)",
          .lower = 1,
          .upper = 65536 },
        { .name = "bits",
          .type = CLI_SIZE3,
          .value = &p.bits,
          .argument = "R,G,B",
          .help = "bits of red, green and blue that tell colours apart (default 8)",
          .lower = 1,
          .upper = 8 },
        { .name = "list", .type = CLI_TEXT, .value = &p.list, .argument = "FILE.csv", .help = "the colours and the pixels of each" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    p.options.bits[0] = (int32_t)p.bits.x;
    p.options.bits[1] = (int32_t)p.bits.y;
    p.options.bits[2] = (int32_t)p.bits.z;
    if (!p.output && !p.list) return cli_usage(cli, "--output or --list: missing, expected where the result goes");
    code = p.output ? cli_check_write(cli, p.output, TSR_FILE_IMAGE, NULL) : CLI_OK;
    if (!code && p.list) code = cli_check_output(cli, p.list);
    return code ? code : work(&p);
}

const cli_verb verb_palette = { "palette", "[options] IMAGE -o IMAGE", "Choose few colours for a picture by an octree of its colours",
                                "  tessera make torus -o torus.nii.gz\n"
                                "  tessera surface torus.nii.gz -o torus.ply\n"
                                "  tessera render torus.ply -o torus.png\n"
                                "  tessera palette torus.png --colours 16 -o few.png --list colours.csv\n",
                                run };
