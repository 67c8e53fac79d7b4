#include "labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_label_names(const cli_call *cli, const char *file, const tsr_volume *volume, tsr_label_names **names)
{
    *names = NULL;
    tsr_status status;
    if (file) {
        char *text = cli_read_text(cli, file);
        if (!text) return CLI_FAILED;
        status = tsr_label_names_parse(text, file, names);
        free(text);
    } else {
        status = tsr_label_names_of_volume(volume, names);
    }
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, file);
}

/* A number, or a name. */
static int value_of(const char *word, tsr_dtype dtype, const tsr_label_names *names, int64_t *value)
{
    char *end;
    errno = 0;
    *value = dtype == TSR_U64 && *word != '-' ? (int64_t)strtoull(word, &end, 10) : (int64_t)strtoll(word, &end, 10);
    if (*word && !*end && !errno) return 1;
    return tsr_label_find(names, word, value);
}

int cli_pick_labels(const cli_call *cli, const char *option, const char *text, const char *file, tsr_dtype dtype, const tsr_label_names *names,
                    tsr_label *labels, int32_t *count)
{
    if (!*count) return cli_error(cli, CLI_FAILED, "%s: holds no labels: all voxels are 0", file);
    if (!strcmp(text, "all")) return CLI_OK;
    char *wanted = calloc((size_t)*count, 1), word[256];
    if (!wanted) return cli_error(cli, CLI_FAILED, "out of memory");
    int code = CLI_OK;
    for (const char *at = text; !code; at += strcspn(at, ",") + 1) {
        const size_t length = strcspn(at, ",");
        int64_t value = 0;
        int32_t k = 0;
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (!length || !value_of(word, dtype, names, &value))
            code = cli_usage(cli, "--%s: '%s' given, expected all, or labels%s with commas between", option, length ? word : text,
                             tsr_label_names_count(names) ? " or their names" : "");
        while (!code && k < *count && labels[k].value != value) k++;
        if (!code && k == *count) code = cli_error(cli, CLI_FAILED, "--%s: %s holds no label '%s': see tessera info --labels", option, file, word);
        if (!code) wanted[k] = 1;
        if (!at[length]) break;
    }
    int32_t kept = 0;
    for (int32_t k = 0; k < *count && !code; k++)
        if (wanted[k]) labels[kept++] = labels[k];
    if (!code) *count = kept;
    free(wanted);
    return code;
}

int cli_is_label_map(const tsr_volume *volume)
{
    double values[64], slope, intercept;
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    tsr_volume_scaling(volume, &slope, &intercept);
    if (dtype == TSR_F32 || dtype == TSR_F64 || slope != 1 || intercept != 0) return 0;
    const int32_t count = cli_few_values(volume, 64, values);
    return count > 2 && count <= 64 && values[0] == 0;
}

void cli_note_labels(const cli_call *cli, const char *path, const tsr_volume *volume, const char *what)
{
    if (tsr_volume_holds_labels(volume) || cli_is_label_map(volume)) cli_note(cli, "%s: a label map: %s", path, what);
}

void cli_note_unit(const cli_call *cli, const char *path, const tsr_volume *volume, const char *what)
{
    const double unit = tsr_volume_unit(volume);
    if (unit != 0 && unit != 1) cli_note(cli, "%s: lengths are in %s, which %s does not say", path, tsr_volume_unit_name(volume), what);
}

void json_label(const char *key, tsr_dtype dtype, int64_t value)
{
    char text[TSR_LABEL_TEXT];
    tsr_label_text(dtype, value, text);
    if (dtype == TSR_U64 && value < 0) json_text(key, text);
    else json_int(key, value);
}
