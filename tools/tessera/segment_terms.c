#define _POSIX_C_SOURCE 200809L /* strdup, strtok_r */
#include "segment_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED "expected constant,value=V or volume,file=F or interval,value=V,lower=L,upper=U[,file=F] or edge,sigma=S or " \
                 "vector,value=V,files=F+F,mean=M+M,covariance=C+C+C+C, each with weight=W"

void segment_volumes_destroy(segment_volumes *volumes)
{
    while (volumes->count) tsr_volume_destroy(&volumes->volume[--volumes->count]);
}

static int load(const cli_call *cli, tsr_context *context, const tsr_read_options *read, const char *path, segment_volumes *volumes,
                const tsr_volume **result)
{
    int code = CLI_OK;
    tsr_volume *volume = cli_read_volume(cli, path, read, &code);
    if (!volume) return code;
    tsr_status status = cli_move_volume(context, &volume);
    if (status != TSR_OK) {
        code = cli_status(cli, status, path);
        tsr_volume_destroy(&volume);
        return code;
    }
    volumes->volume[volumes->count++] = volume;
    *result = volume;
    return CLI_OK;
}

/* "1+2.5+3" into value[]; the number of values, or -1. */
static int real_list(const char *text, double *value, int most)
{
    for (int n = 0; n < most;) {
        char *end;
        value[n++] = strtod(text, &end);
        if (end == text || !isfinite(value[n - 1])) return -1;
        if (!*end) return n;
        if (*end != '+') return -1;
        text = end + 1;
    }
    return -1;
}

/* Files of a vector term, "a.nii+b.nii". */
static int load_channels(const cli_call *cli, tsr_context *context, const tsr_read_options *read, char *text, segment_volumes *volumes,
                         tsr_term *term)
{
    char *state = NULL;
    for (char *path = strtok_r(text, "+", &state); path; path = strtok_r(NULL, "+", &state)) {
        if (term->channels == TSR_TERM_CHANNELS) return cli_usage(cli, "--term vector: more than %d files", TSR_TERM_CHANNELS);
        int code = load(cli, context, read, path, volumes, &term->channel[term->channels]);
        if (code) return code;
        term->channels++;
    }
    return CLI_OK;
}

static int set(const cli_call *cli, tsr_context *context, const tsr_read_options *read, const char *name, char *value, segment_volumes *volumes,
               tsr_term *term, double covariance[16], int *covariances)
{
    if (!strcmp(name, "file")) return load(cli, context, read, value, volumes, &term->volume);
    if (!strcmp(name, "files")) return load_channels(cli, context, read, value, volumes, term);
    if (!strcmp(name, "mean") && real_list(value, term->mean, TSR_TERM_CHANNELS) > 0) return CLI_OK;
    if (!strcmp(name, "covariance") && (*covariances = real_list(value, covariance, 16)) > 0) return CLI_OK;
    const struct { const char *name; double *value; } reals[] = { { "weight", &term->weight }, { "value", &term->value }, { "lower", &term->lower },
                                                                  { "upper", &term->upper }, { "sigma", &term->sigma } };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (!strcmp(name, reals[i].name) && real_list(value, reals[i].value, 1) == 1) return CLI_OK;
    return cli_usage(cli, "--term: '%s=%s' given, " EXPECTED, name, value);
}

int segment_term(const cli_call *cli, tsr_context *context, const tsr_read_options *read, const char *text, tsr_segment_options *options,
                 segment_volumes *volumes)
{
    static const char *const kinds[] = { "constant", "volume", "interval", "edge", "vector" };
    if (options->term_count == TSR_TERMS) return cli_usage(cli, "--term: given more than %d times", TSR_TERMS);
    tsr_term *term = &options->terms[options->term_count];
    *term = (tsr_term){ .weight = 1 };
    char *copy = strdup(text), *state = NULL;
    if (!copy) return cli_error(cli, CLI_FAILED, "out of memory");
    char *word = strtok_r(copy, ",", &state);
    int kind = 0, code = CLI_OK, covariances = 0;
    while (kind < 5 && word && strcmp(word, kinds[kind])) kind++;
    if (!word || kind == 5) code = cli_usage(cli, "--term: '%s' given, " EXPECTED, text);
    term->kind = (tsr_term_kind)kind;
    double covariance[16];
    while (!code && (word = strtok_r(NULL, ",", &state))) {
        char *equals = strchr(word, '=');
        if (!equals) {
            code = cli_usage(cli, "--term: '%s' given, " EXPECTED, word);
            break;
        }
        *equals = 0;
        code = set(cli, context, read, word, equals + 1, volumes, term, covariance, &covariances);
    }
    if (!code && term->kind == TSR_TERM_VECTOR) {
        if (covariances != term->channels * term->channels)
            code = cli_usage(cli, "--term vector: %d files and %d numbers in covariance, expected %d", term->channels, covariances,
                             term->channels * term->channels);
        for (int i = 0; !code && i < covariances; i++) term->covariance[i / term->channels][i % term->channels] = covariance[i];
    }
    free(copy);
    if (!code) options->term_count++;
    return code;
}
