#include "formats/meshes/obj_materials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static uint8_t byte_of(double v) { return (uint8_t)(v >= 1 ? 255 : v > 0 ? v * 255 + 0.5 : 0); }

/* What is left of the line, without the blanks at its end. */
static tsr_word rest_of(const tsr_text *line)
{
    const char *at = line->at, *end = line->end;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    return (tsr_word){ at, (size_t)(end - at) };
}

static tsr_status parse(const tsr_input *input, const uint8_t *bytes, size_t size, tsr_obj_materials *m)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    tsr_obj_material *now = NULL;
    tsr_word word;
    int32_t room = 0;
    while (tsr_text_line(&text, &line)) {
        double v[3];
        if (!tsr_text_word(&line, &word)) continue;
        if (tsr_word_is(word, "newmtl")) {
            if (m->count == MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d materials", tsr_input_name(input), MOST);
            if (m->count == room) {
                room = room ? 2 * room : 16;
                tsr_obj_material *grown = (tsr_obj_material *)realloc(m->at, (size_t)room * sizeof *grown);
                if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for materials", tsr_input_name(input));
                m->at = grown;
            }
            now = &m->at[m->count++];
            *now = (tsr_obj_material){ rest_of(&line), { 204, 204, 204, 255 } };
        } else if (now && tsr_word_is(word, "Kd")) {
            int n = 0;
            while (n < 3 && tsr_text_double(&line, &v[n]) == TSR_TEXT_OK) n++;
            for (int k = 0; k < 3 && n == 3; k++) now->color[k] = byte_of(v[k]);
        } else if (now && (tsr_word_is(word, "d") || tsr_word_is(word, "Tr"))) {
            if (tsr_text_double(&line, &v[0]) == TSR_TEXT_OK) now->color[3] = byte_of(word.size == 1 ? v[0] : 1 - v[0]);
            if (!now->color[3]) now->color[3] = 1; /* 0 is none */
        } else if (now && tsr_word_is(word, "map_Kd")) m->textures++;
    }
    return TSR_OK;
}

tsr_status tsr_obj_materials_read(const tsr_input *input, tsr_word name, tsr_obj_materials *m)
{
    char path[1024];
    const uint8_t *bytes;
    size_t size;
    *m = (tsr_obj_materials){ 0 };
    if (!tsr_input_path(input) || !name.size) return TSR_OK;
    snprintf(path, sizeof path, "%.*s", (int)(name.size < 1000 ? name.size : 1000), name.text);
    if (tsr_input_open_beside(input, path, 0, &m->file) != TSR_OK) {
        tsr_remark("%s: the colours of its materials are left out: %.200s", tsr_input_name(input), tsr_error_message());
        m->file = NULL;
        return TSR_OK;
    }
    tsr_status status = tsr_input_all(m->file, &bytes, &size);
    if (status == TSR_OK) status = parse(input, bytes, size, m);
    if (status != TSR_OK) tsr_obj_materials_free(m);
    return status;
}

void tsr_obj_materials_free(tsr_obj_materials *m)
{
    tsr_input_close(&m->file);
    free(m->at);
    *m = (tsr_obj_materials){ 0 };
}

int32_t tsr_obj_material_find(const tsr_obj_materials *m, tsr_word name)
{
    for (int32_t k = 0; k < m->count; k++)
        if (m->at[k].name.size == name.size && !memcmp(m->at[k].name.text, name.text, name.size)) return k;
    return -1;
}
