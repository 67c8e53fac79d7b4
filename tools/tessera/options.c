/* tools/tessera/options.c: one table drives parsing, checking and --help. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

static void globals_table(cli_globals *g, cli_option table[6])
{
    table[0] = (cli_option){ .name = "device",
                             .type = CLI_TEXT,
                             .value = &g->device,
                             .argument = "DEVICE",
                             .help = "auto, cpu, cuda, cuda:N or emu (default: environment TESSERA_DEVICE, else auto)" };
    table[1] = (cli_option){
        .name = "threads", .type = CLI_INT, .value = &g->threads, .argument = "N", .help = "CPU threads (default: all)", .lower = 0, .upper = 4096
    };
    table[2] = (cli_option){ .name = "quiet", .letter = 'q', .type = CLI_FLAG, .value = &g->quiet, .help = "no progress bar and no remarks" };
    table[3] = (cli_option){ .name = "json", .type = CLI_FLAG, .value = &g->json, .help = "results as JSON" };
    table[4] = (cli_option){ .name = "force", .letter = 'f', .type = CLI_FLAG, .value = &g->force, .help = "overwrite existing outputs" };
    table[5] = (cli_option){ 0 };
}

static const char *argument_of(const cli_option *o)
{
    if (o->argument) return o->argument;
    switch (o->type) {
    case CLI_SIZE2: return "W,H";
    case CLI_SIZE3:
    case CLI_VEC3: return "X,Y,Z";
    case CLI_BOX: return "X,Y,Z:X,Y,Z";
    case CLI_RANGE: return "LOWER:UPPER";
    case CLI_DTYPE: return "TYPE";
    case CLI_COLOR: return "#RRGGBB";
    default: return "VALUE";
    }
}

static const cli_option *find(const cli_option *table, const char *name, size_t length, char letter)
{
    for (const cli_option *o = table; o->name; o++)
        if (letter ? o->letter == letter : (strlen(o->name) == length && !strncmp(o->name, name, length))) return o;
    return NULL;
}

static void print_options(const cli_option *options)
{
    for (const cli_option *o = options; o->name; o++) {
        char left[80];
        if (find(options, o->name, strlen(o->name), 0) != o) continue; /* a verb's own option stands for a common one of its name */
        int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name) : snprintf(left, sizeof left, "      --%s", o->name);
        if (o->type != CLI_FLAG && n < (int)sizeof left) snprintf(left + n, sizeof left - (size_t)n, " %s", argument_of(o));
        printf("%-34s %s", left, o->help);
        for (const char *c = o->choices; c && *c;) { /* the words, unless the help text explains them */
            size_t length = strcspn(c, " ");
            printf("%s%.*s", c == o->choices ? ": " : " | ", (int)length, c);
            c += length + (c[length] == ' ');
        }
        printf("\n");
    }
}

static void print_help(const cli_call *cli, const cli_option *globals)
{
    printf("usage: tessera %s %s\n\n%s.\n", cli->verb->name, cli->verb->usage, cli->verb->purpose);
    if (cli->options->name) {
        printf("\noptions:\n");
        print_options(cli->options);
    }
    printf("\nglobal options:\n");
    print_options(globals);
    printf("  -h, --help                       this text\n\nexample:\n%s", cli->verb->example);
}

/* One number, and where it ends. */
static int read_real(const char *text, double *value, const char **end)
{
    char *stop;
    errno = 0;
    *value = strtod(text, &stop);
    *end = stop;
    return stop != text && isfinite(*value);
}

static int read_integer(const char *text, int64_t *value, const char **end)
{
    char *stop;
    errno = 0;
    long long v = strtoll(text, &stop, 10);
    *end = stop;
    *value = v;
    return stop != text && errno == 0;
}

/* Bytes: a whole number, or one with a unit, "4G", "1.5 GiB", "500MB". */
static int read_bytes(const char *text, int64_t *value, const char **end)
{
    static const char units[] = "KMGT";
    double real;
    if (read_integer(text, value, end) && !**end) return 1;
    if (!read_real(text, &real, end)) return 0;
    const char *at = *end + strspn(*end, " "), *unit = *at ? strchr(units, toupper((unsigned char)*at)) : NULL;
    if (!unit) return 0;
    const int decimal = !strcasecmp(at + 1, "B");
    if (at[1] && !decimal && strcasecmp(at + 1, "iB")) return 0;
    for (const char *u = units; u <= unit; u++) real *= decimal ? 1000 : 1024;
    if (!(fabs(real) < 9e18)) return 0;
    *value = (int64_t)real;
    *end = at + strlen(at);
    return 1;
}

static int bounded(const cli_option *o) { return o->lower < o->upper; }

static int outside(const cli_call *cli, const cli_option *o, const char *text)
{
    return cli_usage(cli, "--%s: '%s' given, expected a number from %.15g to %.15g", o->name, text, o->lower, o->upper);
}

int cli_take_number(const cli_call *cli, const cli_option *o, const char *text)
{
    const char *end = text;
    double real = 0;
    int64_t integer = 0;
    const int real_type = o->type == CLI_REAL, bytes = o->type == CLI_BYTES;
    const int ok = real_type ? read_real(text, &real, &end) : bytes ? read_bytes(text, &integer, &end) : read_integer(text, &integer, &end);
    if (!ok || *end)
        return cli_usage(cli, "--%s: '%s' given, expected %s", o->name, text,
                         real_type ? "a finite number"
                         : bytes   ? "bytes: a whole number, or one with K, M, G (1024 each) or KB, MB, GB behind it"
                                   : "a whole number");
    if (!real_type) real = (double)integer;
    if (bounded(o) && !(real >= o->lower && real <= o->upper)) return outside(cli, o, text);
    if (o->type == CLI_INT && (integer < INT32_MIN || integer > INT32_MAX)) return cli_usage(cli, "--%s: '%s' is too large", o->name, text);
    if (real_type) *(double *)o->value = real;
    else if (o->type == CLI_INT) *(int32_t *)o->value = (int32_t)integer;
    else *(int64_t *)o->value = integer;
    return -1;
}

/* "X,Y,Z", or one number for all three; ',' or 'x' between them. Of pictures "W,H", with which a third of 1 may stand. */
static int take_triple(const cli_call *cli, const cli_option *o, const char *text)
{
    double real[3] = { 0 };
    int64_t integer[3] = { 0 };
    const int flat = o->type == CLI_SIZE2;
    const char *at = text;
    int n = 0;
    while (n < 3) {
        int ok = o->type == CLI_VEC3 ? read_real(at, &real[n], &at) : read_integer(at, &integer[n], &at);
        if (!ok) break;
        if (o->type != CLI_VEC3) real[n] = (double)integer[n];
        if (bounded(o) && !(real[n] >= o->lower && real[n] <= o->upper)) return outside(cli, o, text);
        n++;
        if (!*at) break;
        if (*at != ',' && *at != 'x') break;
        at++;
    }
    int dangling = at > text && (at[-1] == ',' || at[-1] == 'x');
    if (flat && (*at || dangling || n < 1 || (n == 3 && integer[2] != 1)))
        return cli_usage(cli, "--%s: '%s' given, expected W,H or one number for both (whole numbers)", o->name, text);
    if (*at || (n != 1 && n != 3 && !flat) || dangling)
        return cli_usage(cli, "--%s: '%s' given, expected X,Y,Z or one number for all three%s", o->name, text,
                         o->type == CLI_SIZE3 ? " (whole numbers)" : "");
    for (int i = n; i < 3; i++) {
        real[i] = real[0];
        integer[i] = flat && i == 2 ? 1 : integer[0];
    }
    if (o->type == CLI_VEC3) *(tsr_vec3 *)o->value = (tsr_vec3){ real[0], real[1], real[2] };
    else *(tsr_size3 *)o->value = (tsr_size3){ integer[0], integer[1], integer[2] };
    return -1;
}

static int take_box(const cli_call *cli, const cli_option *o, const char *text)
{
    int64_t v[6];
    const char *at = text;
    int n = 0;
    for (; n < 6 && read_integer(at, &v[n], &at); n++) {
        if (*at != (n == 2 ? ':' : n == 5 ? 0 : ',')) break;
        at += n < 5;
    }
    if (n < 6) return cli_usage(cli, "--%s: '%s' given, expected X,Y,Z:X,Y,Z (first voxel and one past the last)", o->name, text);
    tsr_size3 *box = (tsr_size3 *)o->value;
    box[0] = (tsr_size3){ v[0], v[1], v[2] };
    box[1] = (tsr_size3){ v[3], v[4], v[5] };
    return -1;
}

int cli_take_range(const cli_call *cli, const cli_option *o, const char *text)
{
    double range[2] = { -INFINITY, INFINITY };
    const char *at = text;
    int ok = *at == ':' || read_real(at, &range[0], &at);
    ok = ok && *at++ == ':';
    if (ok && *at) ok = read_real(at, &range[1], &at) && !*at;
    if (!ok || range[0] > range[1] || !text[1])
        return cli_usage(cli, "--%s: '%s' given, expected LOWER:UPPER with LOWER <= UPPER, one of them may be missing", o->name, text);
    memcpy(o->value, range, sizeof range);
    return -1;
}

static int take_color(const cli_call *cli, const cli_option *o, const char *text)
{
    const char *digits = text + (*text == '#');
    if (strlen(digits) != 6 || strspn(digits, "0123456789abcdefABCDEF") != 6)
        return cli_usage(cli, "--%s: '%s' given, expected a colour as #rrggbb", o->name, text);
    unsigned long rgb = strtoul(digits, NULL, 16);
    for (int i = 0; i < 3; i++) ((float *)o->value)[i] = (float)(rgb >> (16 - 8 * i) & 255) / 255.0f;
    return -1;
}

static int take_choice(const cli_call *cli, const cli_option *o, const char *text)
{
    int index = 0;
    for (const char *c = o->choices; *c; index++) {
        size_t length = strcspn(c, " ");
        if (strlen(text) == length && !strncmp(c, text, length)) {
            *(int *)o->value = index;
            return -1;
        }
        c += length + (c[length] == ' ');
    }
    return cli_usage(cli, "--%s: '%s' given, expected one of: %s", o->name, text, o->choices);
}

static int take(const cli_call *cli, const cli_option *o, const char *text)
{
    if (o->given) *o->given = 1;
    switch (o->type) {
    case CLI_FLAG: *(int *)o->value = 1; return -1;
    case CLI_TEXT:
        if (!*text) return cli_usage(cli, "--%s: the value is empty, expected %s", o->name, argument_of(o));
        *(const char **)o->value = text;
        return -1;
    case CLI_COUNT:
    case CLI_BYTES:
    case CLI_INT:
    case CLI_REAL: return cli_take_number(cli, o, text);
    case CLI_SIZE2:
    case CLI_SIZE3:
    case CLI_VEC3: return take_triple(cli, o, text);
    case CLI_BOX: return take_box(cli, o, text);
    case CLI_RANGE: return cli_take_range(cli, o, text);
    case CLI_COLOR: return take_color(cli, o, text);
    case CLI_CHOICE: return take_choice(cli, o, text);
    case CLI_DTYPE:
        if (tsr_dtype_parse(text, (tsr_dtype *)o->value) == TSR_OK) return -1;
        return cli_usage(cli, "--%s: '%s' given, expected u8, i8, u16, i16, u32, i32, u64, i64, f32 or f64", o->name, text);
    case CLI_LIST: {
        cli_list *list = (cli_list *)o->value;
        if (list->count == (int)(sizeof list->item / sizeof *list->item))
            return cli_usage(cli, "--%s: given more than %d times", o->name, list->count);
        list->item[list->count++] = text;
        return -1;
    }
    case CLI_REALS: {
        cli_reals *reals = (cli_reals *)o->value;
        cli_option one = *o;
        if (reals->count == (int)(sizeof reals->item / sizeof *reals->item))
            return cli_usage(cli, "--%s: given more than %d times", o->name, reals->count);
        one.type = CLI_REAL;
        one.value = &reals->item[reals->count++];
        return cli_take_number(cli, &one, text);
    }
    }
    return CLI_FAILED;
}

/* A negative number is a value or an input, not an option; so is a lone "-". */
static int is_option(const char *text) { return text[0] == '-' && text[1] && !(text[1] >= '0' && text[1] <= '9') && text[1] != '.'; }

/* Inputs of some verbs are words, or are read as they come. */
static int keeps_pipes(const cli_call *cli)
{
    return strcmp(cli->verb->name, "make") && strcmp(cli->verb->name, "edit") && strcmp(cli->verb->name, "bench");
}

int cli_parse(cli_call *cli, const cli_option *options, int fewest, int most, int argc, char **argv)
{
    cli_option globals[6];
    globals_table(&cli->globals, globals);
    size_t count = 1;
    while (options[count - 1].name) count++;
    free(cli->kept);
    cli->kept = (cli_option *)malloc(count * sizeof *options);
    if (!cli->kept) return cli_error(cli, CLI_FAILED, "out of memory for the options");
    memcpy(cli->kept, options, count * sizeof *options);
    cli->options = cli->kept;
    cli->input = argv;
    cli->inputs = 0;
    int only_inputs = 0;
    for (int i = 1; i < argc; i++) {
        char *text = argv[i];
        if (only_inputs || !is_option(text)) {
            cli->input[cli->inputs++] = text;
            continue;
        }
        if (!strcmp(text, "--")) {
            only_inputs = 1;
            continue;
        }
        if (!strcmp(text, "--help") || !strcmp(text, "-h")) {
            print_help(cli, globals);
            return CLI_OK;
        }
        int is_long = text[1] == '-';
        const char *name = is_long ? text + 2 : text + 1;
        size_t length = is_long ? strcspn(name, "=") : 1;
        const cli_option *o = find(options, name, length, is_long ? 0 : *name);
        if (!o) o = find(globals, name, length, is_long ? 0 : *name);
        if (!o) return cli_usage(cli, "unknown option '%s': see tessera %s --help", text, cli->verb->name);
        const char *attached = name[length] ? name + length + is_long : NULL; /* --name=value or -nvalue */
        if (o->type == CLI_FLAG && attached) return cli_usage(cli, "'%s': --%s takes no value", text, o->name);
        if (o->type != CLI_FLAG && !attached) {
            if (i + 1 >= argc || (is_option(argv[i + 1]) && o->type != CLI_TEXT))
                return cli_usage(cli, "--%s: the value is missing, expected --%s %s", o->name, o->name, argument_of(o));
            attached = argv[++i];
        }
        int code = take(cli, o, attached ? attached : "");
        if (code >= 0) return code;
    }
    if (cli->inputs < fewest || cli->inputs > most)
        return cli_usage(cli, "%d input%s given, expected %s%d: usage: tessera %s %s", cli->inputs, cli->inputs == 1 ? "" : "s",
                         fewest == most         ? ""
                         : cli->inputs < fewest ? "at least "
                                                : "at most ",
                         cli->inputs < fewest ? fewest : most, cli->verb->name, cli->verb->usage);
    tsr_threads_set(cli->globals.threads);
    for (int i = 0; i < cli->inputs && keeps_pipes(cli); i++) {
        int code = CLI_OK;
        const size_t length = strlen(cli->input[i]);
        if (length > 4 && !strcmp(cli->input[i] + length - 4, ".y4m")) continue; /* a film, which may be live */
        const char *kept = cli_kept(cli, cli->input[i], &code);
        if (!kept) return code;
        cli->input[i] = (char *)(uintptr_t)kept;
    }
    return -1;
}
