/* Volumes of several frames, layers or channels, and slices one after another: files with numbers, films, files with an axis for frames. */
#include "convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "frame-%03d.nii.gz": where the digits go, or 0 for a plain name. */
int convert_is_numbered(const char *path)
{
    const char *percent = strchr(path, '%'), *end = percent ? percent + 1 + strspn(percent + 1, "0123456789") : NULL;
    return percent && *end == 'd' && end - percent <= 3 && !strchr(end, '%');
}
static void number_path(const char *pattern, int64_t number, char *path, size_t room)
{
    const char *percent = strchr(pattern, '%'), *end = strchr(percent, 'd');
    const int zeros = percent[1] == '0', width = (int)strtol(percent + 1, NULL, 10);
    snprintf(path, room, zeros ? "%.*s%0*lld%s" : "%.*s%*lld%s", (int)(percent - pattern), pattern, width, (long long)number, end + 1);
}

/* "A-B", from 0, both of them included; A- to the end. */
static int check_frames(convert *c, int64_t count)
{
    char *end;
    if (!c->frames_text) return CLI_OK;
    errno = 0;
    c->frames[0] = strtoll(c->frames_text, &end, 10);
    const int open = *end == '-' && !end[1];
    c->frames[1] = open ? count - 1 : *end == '-' ? strtoll(end + 1, &end, 10) : c->frames[0];
    if (end == c->frames_text || (*end && !open) || errno || c->frames[0] < 0 || c->frames[1] < c->frames[0] || c->frames[1] >= count)
        return cli_usage(c->cli, "--frames: '%s' given, expected A-B within 0-%lld, which %s has", c->frames_text, (long long)count - 1,
                         c->cli->input[0]);
    return CLI_OK;
}

/* One picture of a film: a frame or, of a `whole` without frames, a slice. */
static int append_picture(convert *c, int64_t number, const tsr_volume *whole, cli_film *film, cli_frames *frames)
{
    int code = CLI_OK;
    if (whole) {
        const tsr_size3 n = tsr_volume_size(whole);
        const size_t bytes = (size_t)(n.x * n.y) * tsr_dtype_size(tsr_volume_dtype(whole));
        double slope, intercept;
        tsr_volume_scaling(whole, &slope, &intercept);
        tsr_status status = tsr_volume_create(NULL, tsr_volume_dtype(whole), (tsr_size3){ n.x, n.y, 1 }, tsr_volume_geometry(whole), &c->volume);
        if (status == TSR_OK) status = tsr_volume_set_scaling(c->volume, slope, intercept);
        if (status != TSR_OK) return cli_status(c->cli, status, c->cli->input[0]);
        memcpy(tsr_volume_data(c->volume), (const char *)tsr_volume_data_const(whole) + (size_t)number * bytes, bytes);
    } else {
        c->read.frame = number;
        c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    }
    if (!c->volume) return code;
    code = convert_steps(c);
    tsr_image_destroy(&frames->image);
    if (!code && tsr_image_from_volume(c->volume, &frames->image) != TSR_OK)
        code = cli_error(c->cli, CLI_FAILED,
                         "%s: a picture of a film is one slice, or 3 or 4 channels, of u8: --slice and --window LOWER:UPPER --dtype u8 make it: %s",
                         c->cli->input[0], tsr_error_message());
    tsr_volume_destroy(&c->volume);
    return code ? code : cli_film_append(c->cli, film, &frames->image, frames);
}

int convert_to_film(convert *c)
{
    cli_film film = { .path = NULL };
    cli_frames frames = CLI_FRAMES(c->cli);
    int64_t count;
    int code = cli_film_check(c->cli, &film, c->output, 0);
    if (code) return code;
    const int chosen = c->read.frame_given;
    c->read.frame_given = 1;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count, NULL, NULL);
    tsr_volume *whole = NULL;
    if ((count <= 1 || chosen) && tsr_volume_channels(c->volume) < 2 && !c->slice.text) {
        whole = c->volume;
        c->volume = NULL;
        count = tsr_volume_size(whole).z;
    }
    tsr_volume_destroy(&c->volume);
    code = check_frames(c, count);
    const int64_t from = c->frames[0], to = c->frames_text ? c->frames[1] + 1 : count;
    for (int64_t i = from; i < to && !code; i++) code = append_picture(c, i, whole, &film, &frames);
    code = cli_film_finish(c->cli, &film, code);
    tsr_image_destroy(&frames.image);
    if (!code) cli_note(c->cli, "%lld pictures, one a %s", (long long)(to - from), whole ? "slice" : "frame");
    tsr_volume_destroy(&whole);
    return code;
}

int convert_to_files(convert *c)
{
    static const char *const names[] = { "frame", "layer", "channel" };
    const char *const pattern = c->output;
    tsr_read_options *const o = &c->read;
    int64_t *const index[3] = { &o->frame, &o->layer, &o->channel }, count[3];
    int *const given[3] = { &o->frame_given, &o->layer_given, &o->channel_given }, chosen[3] = { *given[0], *given[1], *given[2] };
    int code = CLI_OK, along = -1;
    char path[4096];
    for (int k = 0; k < 3; k++) *given[k] = chosen[k] ? 1 : 2;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], o, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count[0], &count[1], &count[2]);
    const tsr_size3 size = tsr_volume_size(c->volume);
    const tsr_size3 corner = o->box_given ? o->box[0] : (tsr_size3){ 0, 0, 0 };
    tsr_volume_destroy(&c->volume);
    for (int k = 0; k < 3; k++) {
        if (chosen[k] || count[k] == 1) continue;
        if (along >= 0)
            return cli_usage(c->cli, "%s holds several %ss and %ss: --%s or --%s says which to keep", c->cli->input[0], names[along], names[k],
                             names[along], names[k]);
        along = k;
    }
    const int slices = along < 0 && !chosen[0] && c->frames_text && !c->slice.text;
    const int64_t files = slices ? size.z : along < 0 ? 1 : count[along];
    if (c->frames_text && along > 0) return cli_usage(c->cli, "--frames: %s holds %ss, no frames", c->cli->input[0], names[along]);
    code = check_frames(c, files);
    if (code) return code;
    const int64_t from = c->frames[0], to = c->frames_text ? c->frames[1] + 1 : files;
    for (int64_t i = from; i < to && !code; i++) { /* before any is written */
        number_path(pattern, i, path, sizeof path);
        code = cli_check_write(c->cli, path, cli_names_tiles(path, c->write.format) ? TSR_FILE_TILES : TSR_FILE_VOLUME, c->write.format);
    }
    for (int64_t i = from; i < to && !code; i++) {
        number_path(pattern, i, path, sizeof path);
        c->output = path;
        if (along >= 0) *index[along] = i, *given[along] = 1;
        if (slices) {
            o->box_given = 1;
            o->box[0] = (tsr_size3){ corner.x, corner.y, corner.z + i };
            o->box[1] = (tsr_size3){ corner.x + size.x, corner.y + size.y, corner.z + i + 1 };
        }
        c->volume = cli_read_volume(c->cli, c->cli->input[0], o, &code);
        if (c->volume) code = convert_dense(c);
        tsr_volume_destroy(&c->volume);
    }
    c->output = pattern;
    if (!code)
        cli_note(c->cli, "%lld %s, one a %s", (long long)(to - from), to - from == 1 ? "file" : "files",
                 slices      ? "slice"
                 : along < 0 ? "volume"
                             : names[along]);
    return code;
}

int convert_to_stack(convert *c)
{
    int64_t count = 0;
    int code = CLI_OK;
    c->read.frame_given = 1;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count, NULL, NULL);
    tsr_volume_destroy(&c->volume);
    code = check_frames(c, count);
    if (code) return code;
    const int64_t n = c->frames[1] - c->frames[0] + 1;
    tsr_volume **frames = (tsr_volume **)calloc((size_t)n, sizeof *frames);
    if (!frames) code = cli_error(c->cli, CLI_FAILED, "out of memory for %lld frames", (long long)n);
    for (int64_t k = 0; k < n && !code; k++) {
        c->read.frame = c->frames[0] + k;
        c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
        if (!code) code = convert_steps(c);
        frames[k] = c->volume;
        c->volume = NULL;
    }
    if (!code) {
        const tsr_status status = tsr_volume_write_frames((const tsr_volume *const *)frames, n, c->output, &c->write);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    }
    if (!code) {
        c->volume = frames[0];
        convert_remark(c);
        c->volume = NULL;
        cli_note(c->cli, "%lld frame%s", (long long)n, n == 1 ? "" : "s");
    }
    for (int64_t k = 0; frames && k < n; k++) tsr_volume_destroy(&frames[k]);
    free(frames);
    return code;
}
