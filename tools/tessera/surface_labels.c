/* tools/tessera/surface_labels.c: tessera surface --labels: a surface for each label, in files of their own or in one with parts. */
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "lists.h"

struct job {
    const cli_surface_labels *call;
    tsr_context *context;
    tsr_volume *volume; /* on the context's device */
    tsr_vec3 origin;    /* its place, where it lies far off */
    tsr_dtype dtype;
    tsr_label *labels;
    int32_t count;
    tsr_label_names *names;
    tsr_mesh **mesh;
};

/* "%d" or "%s" in a name of files; NULL: one file. */
static const char *place_of(const char *output)
{
    const char *d = strstr(output, "%d"), *s = strstr(output, "%s");
    return d && s ? NULL : d ? d : s;
}

static int path_of(const struct job *j, int32_t k, char path[4096])
{
    const char *output = j->call->output, *place = place_of(output), *name = tsr_label_name(j->names, j->labels[k].value);
    char word[256];
    if (place[1] == 'd' || !name) tsr_label_text(j->dtype, j->labels[k].value, word);
    else snprintf(word, sizeof word, "%s", name);
    for (char *c = word; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20) *c = '_';
    const int length = snprintf(path, 4096, "%.*s%s%s", (int)(place - output), output, word, place + 2);
    return length > 0 && length < 4096;
}

/* Before long work: all files can be written, and no two labels have one. */
static int check_paths(const struct job *j)
{
    const cli_surface_labels *c = j->call;
    char path[4096], other[4096];
    int code = CLI_OK;
    for (int32_t k = 0; k < j->count && !code; k++) {
        if (!path_of(j, k, path)) return cli_usage(c->cli, "--output: '%s' is too long", c->output);
        for (int32_t i = 0; i < k; i++)
            if (path_of(j, i, other) && !strcmp(path, other))
                return cli_usage(c->cli, "--output: two labels of the file '%s', expected %%d in its name", path);
        code = cli_check_write(c->cli, path, TSR_FILE_MESH, c->write->format);
    }
    return code;
}

tsr_status cli_weld(tsr_mesh **mesh)
{
    tsr_mesh *welded;
    const tsr_status status = tsr_mesh_weld(*mesh, &welded);
    if (status != TSR_OK) return status;
    tsr_mesh_destroy(mesh);
    *mesh = welded;
    return TSR_OK;
}

/* Each to the host. */
static tsr_status extract(struct job *j)
{
    const cli_surface_labels *c = j->call;
    const tsr_progress progress = cli_progress(c->cli);
    for (int32_t k = 0; k < j->count; k++) {
        tsr_mesh *made = NULL, *soup = NULL;
        if (progress.report(progress.user, (double)k / j->count, "surfaces")) return TSR_ERROR_CANCELLED;
        tsr_status status = tsr_surface_extract_label(j->context, j->volume, &j->labels[k], c->options, &made, NULL);
        if (status == TSR_OK && c->unindexed) status = tsr_surface_unindex(j->context, made, &soup);
        if (soup) {
            tsr_mesh_destroy(&made);
            made = soup;
        }
        if (status == TSR_OK) status = cli_bring_mesh(&made);
        if (status == TSR_OK) j->mesh[k] = made;
        else tsr_mesh_destroy(&made);
        if (status == TSR_OK && c->weld) status = cli_weld(&j->mesh[k]);
        if (status == TSR_OK) tsr_mesh_set_origin(j->mesh[k], j->origin);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

static int show(const struct job *j)
{
    const cli_surface_labels *c = j->call;
    const int json = c->cli->globals.json;
    if (json) json_open(NULL, '[');
    else printf("%-12s %10s %10s %14s %14s  %s\n", "label", "vertices", "triangles", "area", "volume", "name");
    for (int32_t k = 0; k < j->count; k++) {
        const char *name = tsr_label_name(j->names, j->labels[k].value);
        char text[TSR_LABEL_TEXT];
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        const tsr_status status = tsr_mesh_measure(j->mesh[k], &m);
        if (status != TSR_OK) return cli_status(c->cli, status, c->cli->input[0]);
        tsr_label_text(j->dtype, j->labels[k].value, text);
        if (!json) {
            printf("%-12s %10lld %10lld %14.9g %14.9g  %s\n", text, (long long)m.vertices, (long long)m.triangles, m.area, m.volume,
                   name ? name : "");
            continue;
        }
        json_open(NULL, '{');
        json_label("label", j->dtype, j->labels[k].value);
        if (name) json_text("name", name);
        json_int("vertices", m.vertices);
        json_int("triangles", m.triangles);
        json_real("area", m.area);
        json_real("volume", m.volume);
        json_int("euler", m.euler);
        json_int("components", m.components);
        json_int("boundary_edges", m.boundary_edges);
        json_close('}');
    }
    if (json) json_close(']');
    return CLI_OK;
}

/* One file with all. */
static int write_joined(const struct job *j)
{
    const cli_surface_labels *c = j->call;
    tsr_mesh *joined = NULL;
    tsr_mesh_part *parts = calloc((size_t)j->count, sizeof *parts);
    if (!parts) return cli_error(c->cli, CLI_FAILED, "out of memory");
    for (int32_t k = 0; k < j->count; k++) parts[k] = (tsr_mesh_part){ j->labels[k].value, tsr_label_name(j->names, j->labels[k].value), 0 };
    tsr_status status = tsr_mesh_join(j->mesh, parts, j->count, &joined);
    free(parts);
    if (status == TSR_OK) status = tsr_mesh_write(joined, c->output, c->write);
    if (status == TSR_OK) cli_remark_mesh(c->cli, joined, c->output, c->write);
    tsr_mesh_destroy(&joined);
    return status == TSR_OK ? CLI_OK : cli_status(c->cli, status, c->output);
}

static int write_all(const struct job *j)
{
    const cli_surface_labels *c = j->call;
    char path[4096];
    int code = CLI_OK;
    if (!place_of(c->output)) code = write_joined(j);
    for (int32_t k = 0; place_of(c->output) && k < j->count && !code; k++) {
        path_of(j, k, path);
        const tsr_status status = tsr_mesh_write(j->mesh[k], path, c->write);
        if (status != TSR_OK) code = cli_status(c->cli, status, path);
    }
    if (!code && strcmp(c->output, "-") != 0) code = show(j);
    return code;
}

int cli_extract_labels(const cli_surface_labels *c)
{
    struct job j = { .call = c };
    tsr_context *cpu = NULL;
    int code = cli_context(c->cli, &j.context);
    if (!code) code = cli_cpu_context(c->cli, &cpu);
    if (!code) j.volume = cli_read_volume(c->cli, c->cli->input[0], c->read, &code);
    if (j.volume) cli_note_unit(c->cli, c->cli->input[0], j.volume, "a mesh");
    if (!code) {
        j.origin = cli_take_origin(j.volume);
        j.dtype = tsr_volume_dtype(j.volume);
        code = cli_label_names(c->cli, c->names_file, j.volume, &j.names);
    }
    tsr_status status = code ? TSR_OK : tsr_labels_count(cpu, j.volume, 0, &j.labels, &j.count);
    if (!code && status == TSR_OK) code = cli_pick_labels(c->cli, "labels", c->labels, c->cli->input[0], j.dtype, j.names, j.labels, &j.count);
    if (!code && status == TSR_OK && place_of(c->output)) code = check_paths(&j);
    if (!code && status == TSR_OK) {
        j.mesh = calloc((size_t)j.count, sizeof *j.mesh);
        if (!j.mesh) code = cli_error(c->cli, CLI_FAILED, "out of memory");
    }
    if (!code && status == TSR_OK) status = cli_move_volume(j.context, &j.volume);
    if (!code && status == TSR_OK) status = extract(&j);
    if (!code && status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[0]);
    if (!code) code = write_all(&j);
    for (int32_t k = 0; j.mesh && k < j.count; k++) tsr_mesh_destroy(&j.mesh[k]);
    free(j.mesh);
    tsr_labels_destroy(&j.labels);
    tsr_label_names_destroy(&j.names);
    tsr_volume_destroy(&j.volume);
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&j.context);
    return code;
}
