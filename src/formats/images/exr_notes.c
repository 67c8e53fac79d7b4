/* formats/images/exr_notes.c: metadata and the place of a picture as attributes of an EXR file. Texts keep their names behind "exr."; what has no name of OpenEXR's is an
 * attribute "tessera.KEY", the axes among them: "tessera.affine" is 12 numbers, "tessera.space" RAS or LPS. */
#ifdef TSR_HAVE_OPENEXR
#include "formats/images/exr_notes.h"

#include "formats/volume_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 255 };

static tsr_status take_text(tsr_volume *v, const char *name, const char *text)
{
    char key[NAME_MOST + 8];
    if (!strcmp(name, "tessera.space")) {
        v->geometry.space = !strcmp(text, "RAS") ? TSR_SPACE_RAS : !strcmp(text, "LPS") ? TSR_SPACE_LPS : TSR_SPACE_NONE;
        return TSR_OK;
    }
    if (!strcmp(name, "tessera.affine")) {
        double n[12];
        tsr_geometry g = v->geometry;
        if (!tsr_parse_numbers(text, n, 12)) return TSR_OK;
        memcpy(g.affine, n, sizeof g.affine);
        if (tsr_geometry_check(&g) == TSR_OK) memcpy(v->geometry.affine, g.affine, sizeof g.affine);
        return TSR_OK;
    }
    if (!strncmp(name, "tessera.", 8)) snprintf(key, sizeof key, "%s", name + 8);
    else snprintf(key, sizeof key, "exr.%s", name);
    if (!*key || !strcmp(key, "exr.channels") || !strcmp(key, "exr.name") || !strcmp(key, "exr.type")) return TSR_OK; /* told otherwise */
    TSR_TRY(tsr_volume_set_meta(v, key, text));
    return TSR_OK;
}

tsr_status tsr_exr_take_notes(exr_const_context_t context, int part, tsr_volume *v)
{
    int32_t count = 0;
    float aspect = 1;
    if (exr_get_pixel_aspect_ratio(context, part, &aspect) == EXR_ERR_SUCCESS && aspect > 1e-3f && aspect < 1e3f)
        v->geometry.affine[0][0] = (double)aspect;
    if (exr_get_attribute_count(context, part, &count) != EXR_ERR_SUCCESS) return TSR_OK;
    for (int32_t i = 0; i < count; i++) {
        const exr_attribute_t *a = NULL;
        if (exr_get_attribute_by_index(context, part, EXR_ATTR_LIST_FILE_ORDER, i, &a) != EXR_ERR_SUCCESS || !a || a->type != EXR_ATTR_STRING)
            continue;
        if (a->name && a->string && a->string->str && strlen(a->name) <= NAME_MOST) TSR_TRY(take_text(v, a->name, a->string->str));
    }
    return TSR_OK;
}

static int put_text(exr_context_t context, int part, const char *name, const char *text)
{
    return exr_attr_set_string(context, part, name, text) == EXR_ERR_SUCCESS;
}

int tsr_exr_put_notes(exr_context_t context, int part, const tsr_volume *v)
{
    static const double plain[3][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } };
    const char *key, *value;
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    char text[12 * 32] = "", number[32];
    int good = 1;
    if (memcmp(v->geometry.affine, plain, sizeof plain) != 0) {
        for (int i = 0; i < 12; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                     tsr_print_double(number, v->geometry.affine[i / 4][i % 4]));
        good = put_text(context, part, "tessera.affine", text) && exr_set_pixel_aspect_ratio(context, part, (float)(h.x / h.y)) == EXR_ERR_SUCCESS;
    }
    if (v->geometry.space != TSR_SPACE_NONE)
        good = good && put_text(context, part, "tessera.space", v->geometry.space == TSR_SPACE_RAS ? "RAS" : "LPS");
    for (int32_t i = 0; good && tsr_volume_meta_at(v, i, &key, &value); i++) {
        char name[NAME_MOST + 1];
        const char *usual = !strcmp(key, "exr.comments") || !strcmp(key, "exr.owner") || !strcmp(key, "exr.capDate") ? key + 4 : NULL;
        if (!strcmp(key, "exr.channels")) continue;
        if (snprintf(name, sizeof name, usual ? "%s" : "tessera.%s", usual ? usual : key) > NAME_MOST) {
            tsr_remark("the metadata '%.60s...' have a name too long for an EXR file and are left out", key);
            continue;
        }
        good = put_text(context, part, name, value);
    }
    return good;
}
#endif
