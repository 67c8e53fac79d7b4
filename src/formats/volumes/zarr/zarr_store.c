/* Keys of a Zarr hierarchy: files of a folder, which are opened as data files that a header names, or members of a zip archive (stored or deflated; zip64). */
#define _DEFAULT_SOURCE
#include "formats/volumes/zarr/zarr.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDERS_MOST = 4096, DEPTH_MOST = 8 };

/* ---- archives ---------------------------------------------------------------------------------------------------------------------------------- */

static int compare_words(tsr_word a, tsr_word b)
{
    const int order = memcmp(a.text, b.text, a.size < b.size ? a.size : b.size);
    return order ? order : a.size < b.size ? -1 : a.size > b.size;
}
static int by_name(const void *a, const void *b) { return compare_words(((const tsr_zarr_member *)a)->key, ((const tsr_zarr_member *)b)->key); }

/* One folder round all is taken off. */
static size_t outer_folder(const tsr_zip *zip)
{
    static const char *const roots[] = { "zarr.json", ".zgroup", ".zarray", ".zattrs" };
    size_t cut = 0;
    for (int64_t i = 0; i < zip->entries; i++) {
        const tsr_word name = zip->entry[i].name;
        const char *slash = (const char *)memchr(name.text, '/', name.size);
        const size_t at = slash ? (size_t)(slash - name.text) + 1 : 0;
        for (int k = 0; k < 4; k++) {
            if (tsr_word_is(name, roots[k])) return 0;
            if (at && !cut && tsr_word_is((tsr_word){ name.text + at, name.size - at }, roots[k])) cut = at;
        }
    }
    return cut;
}

static tsr_status list_members(tsr_zarr_store *s)
{
    const size_t cut = outer_folder(&s->zip);
    s->member = (tsr_zarr_member *)malloc(((size_t)s->zip.entries + 1) * sizeof *s->member);
    if (!s->member) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld members", tsr_input_name(s->input), (long long)s->zip.entries);
    for (int64_t i = 0; i < s->zip.entries; i++) {
        const tsr_word name = s->zip.entry[i].name;
        if (name.size > cut) s->member[s->members++] = (tsr_zarr_member){ { name.text + cut, name.size - cut }, &s->zip.entry[i] };
    }
    qsort(s->member, (size_t)s->members, sizeof *s->member, by_name);
    return TSR_OK;
}

static tsr_status get_member(const tsr_zarr_store *s, const char *key, int64_t most, tsr_zarr_value *v)
{
    const tsr_zarr_member wanted = { { key, strlen(key) }, NULL };
    const tsr_zarr_member *m = s->members ? (const tsr_zarr_member *)bsearch(&wanted, s->member, (size_t)s->members, sizeof *m, by_name) : NULL;
    if (!m) return TSR_OK;
    if (m->entry->size > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: '%.100s' has %lld bytes, expected at most %lld", tsr_input_name(s->input), key, (long long)m->entry->size,
                 (long long)most);
    TSR_TRY(tsr_zip_take(&s->zip, m->entry, &v->block));
    v->bytes = (const uint8_t *)v->block.data;
    v->size = (size_t)m->entry->size;
    if (!v->bytes) v->bytes = (const uint8_t *)"";
    return TSR_OK;
}

/* ---- both -------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_zarr_store_open(tsr_input *input, tsr_zarr_store *s)
{
    *s = (tsr_zarr_store){ .input = input };
    const uint8_t *head;
    size_t bytes;
    TSR_TRY(tsr_input_head(input, 4, &head, &bytes));
    if (bytes < 4 || memcmp(head, "PK\3\4", 4)) return TSR_OK;
    s->archive = 1;
    tsr_status status = tsr_zip_open(input, &s->zip);
    if (status == TSR_OK) status = list_members(s);
    if (status != TSR_OK) tsr_zarr_store_close(s);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_zarr_store_close(tsr_zarr_store *s)
{
    if (s->archive) tsr_zip_close(&s->zip);
    free(s->member);
    *s = (tsr_zarr_store){ 0 };
}

void tsr_zarr_value_free(tsr_zarr_value *v)
{
    tsr_input_close(&v->file);
    tsr_block_release(&v->block);
    *v = (tsr_zarr_value){ 0 };
}

/* The folder's own path, with the slash. */
static size_t folder_of(const tsr_zarr_store *s, const char **path)
{
    *path = tsr_input_path(s->input);
    return *path ? (size_t)(tsr_path_file(*path) - *path) : 0;
}

tsr_status tsr_zarr_get(const tsr_zarr_store *s, const char *key, int64_t most, tsr_zarr_value *v)
{
    const char *path;
    char there[PATH_MAX];
    *v = (tsr_zarr_value){ 0 };
    if (s->archive) return get_member(s, key, most, v);
    const size_t folder = folder_of(s, &path);
    if (!path) { /* memory or a pipe: one file of metadata alone, of version 3 if it says what kind of node it is */
        static const char mark[] = "\"node_type\"";
        const uint8_t *bytes;
        size_t size, at = 0;
        TSR_TRY(tsr_input_all(s->input, &bytes, &size));
        while (at + sizeof mark - 1 <= size && memcmp(bytes + at, mark, sizeof mark - 1)) at++;
        if (strcmp(key, at + sizeof mark - 1 <= size ? "zarr.json" : ".zarray")) return TSR_OK;
        v->bytes = bytes;
        v->size = size;
        return TSR_OK;
    }
    if (snprintf(there, sizeof there, "%.*s%s", (int)folder, path, key) >= (int)sizeof there || access(there, F_OK)) return TSR_OK;
    TSR_TRY(tsr_input_open_beside(s->input, key, 1, &v->file));
    tsr_status status = tsr_input_all(v->file, &v->bytes, &v->size);
    if (status == TSR_OK && (int64_t)v->size > most)
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: '%.100s' has %zu bytes, expected at most %lld", tsr_input_name(s->input), key, v->size,
                            (long long)most);
    if (status != TSR_OK) tsr_zarr_value_free(v);
    else if (!v->bytes) v->bytes = (const uint8_t *)""; /* it is there, and empty */
    return status;
}

static tsr_status walk_folder(const tsr_zarr_store *s, const char *root, const char *inner, int depth, int *left,
                              tsr_status (*seen)(void *, const char *), void *user)
{
    static const char *const files[] = { "zarr.json", ".zarray", ".zgroup" };
    char path[PATH_MAX], next[PATH_MAX / 2];
    int is_array = 0, is_node = 0;
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s%s%s%s", root, inner, *inner ? "/" : "", files[k]);
        if (access(path, F_OK)) continue;
        is_node = 1;
        is_array |= k == 1;
    }
    if (is_node) TSR_TRY(seen(user, inner));
    if (is_array || !is_node || depth == DEPTH_MOST) return TSR_OK;
    snprintf(path, sizeof path, "%s%s", root, inner);
    DIR *folder = opendir(*path ? path : ".");
    tsr_status status = TSR_OK;
    for (struct dirent *e; folder && status == TSR_OK && *left > 0 && (e = readdir(folder));) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)) continue;
        (*left)--;
        if (snprintf(next, sizeof next, "%s%s%s", inner, *inner ? "/" : "", e->d_name) < (int)sizeof next)
            status = walk_folder(s, root, next, depth + 1, left, seen, user);
    }
    if (folder) closedir(folder);
    return status;
}

tsr_status tsr_zarr_walk(const tsr_zarr_store *s, tsr_status (*seen)(void *user, const char *folder), void *user)
{
    static const char *const ends[] = { "zarr.json", ".zarray", ".zgroup" };
    const char *path;
    int left = FOLDERS_MOST;
    for (int64_t i = 0; i < s->members && left > 0; i++)
        for (int k = 0; k < 3; k++) {
            const tsr_word name = s->member[i].key;
            const size_t n = strlen(ends[k]);
            if (name.size < n || memcmp(name.text + name.size - n, ends[k], n) || (name.size > n && name.text[name.size - n - 1] != '/')) continue;
            char *folder = strndup(name.text, name.size > n ? name.size - n - 1 : 0);
            const tsr_status status = folder ? seen(user, folder) : TSR_ERROR_MEMORY;
            free(folder);
            TSR_TRY(status);
            left--;
        }
    const size_t length = folder_of(s, &path);
    if (s->archive || !path) return TSR_OK;
    char *root = strndup(path, length);
    const tsr_status status = root ? walk_folder(s, root, "", 0, &left, seen, user) : TSR_ERROR_MEMORY;
    free(root);
    return status;
}
