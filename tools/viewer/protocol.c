/* viewer/protocol.c: control messages by two tables, of fields and of types. */
#include "protocol.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const view_names[] = { "source", "speed", "volume", "second", "third", NULL };
static const char *const mode_names[] = { "surface", "combined", "volume", "inside", "mip", NULL };
static const char *const speed_names[] = { "data", "total", NULL };
static const char *const preset_names[] = { "grey", "mri-head", "mri-brain", "ct-bone", "ct-soft", NULL };
static const char *const what_names[] = { "mask", "mesh", "field", "picture", "session", "labels", "cameras", NULL };
static const char *const action_names[] = { "probe", "paint", "erase", "locate", "sculpt", NULL };
static const char *const tool_names[] = { "grow", "shrink", "smooth", "attract", "repel", NULL };
static const char *const task_names[] = { "cut", "delete", "keep", "copy", NULL };
static const char *const as_names[] = { "image", "mask", "labels", "overlay", NULL };
static const char *const over_names[] = { "none", "image", "speed", NULL };

const char *viewer_view_name(int view) { return view_names[view]; }
const char *viewer_mode_name(int mode) { return mode_names[mode]; }
const char *viewer_speed_name(int speed) { return speed_names[speed]; }
const char *viewer_preset_name(int preset) { return preset_names[preset]; }
int viewer_given(const viewer_command *command, viewer_field field) { return (int)(command->given >> field & 1); }

const char *viewer_over_name(int over) { return over_names[over]; }
const char *viewer_task_name(int task) { return task_names[task]; }

enum type { REAL, WHOLE, INT32, BOOL, WORD, NAME, REALS, POINTS, LASSO, LINE };
struct field {
    const char *name;
    enum type type;
    size_t at; /* offset in viewer_command */
    double lower, upper;
    const char *const *words; /* WORD */
    size_t count;             /* REALS */
};
#define AT(member) offsetof(viewer_command, member)
static const struct field fields[VIEWER_FIELDS] = {
    [VIEWER_INPUT] = { "input", WHOLE, AT(input), 0, 4294967295.0, NULL, 0 },
    [VIEWER_VIEW_NAME] = { "view", WORD, AT(view), 0, 0, view_names, 0 },
    [VIEWER_WIDTH] = { "width", INT32, AT(width), 16, VIEWER_LARGEST_VIEW, NULL, 0 },
    [VIEWER_HEIGHT] = { "height", INT32, AT(height), 16, VIEWER_LARGEST_VIEW, NULL, 0 },
    [VIEWER_AXIS] = { "axis", INT32, AT(axis), 0, 2, NULL, 0 },
    [VIEWER_POSITION] = { "position", REAL, AT(position), 0, 1e7, NULL, 0 },
    [VIEWER_ZOOM] = { "zoom", REAL, AT(zoom), 0.1, 100, NULL, 0 },
    [VIEWER_PAN] = { "pan", REALS, AT(pan), -1e7, 1e7, NULL, 2 },
    [VIEWER_AZIMUTH] = { "azimuth", REAL, AT(azimuth), -1e6, 1e6, NULL, 0 },
    [VIEWER_ELEVATION] = { "elevation", REAL, AT(elevation), -90, 90, NULL, 0 },
    [VIEWER_MODE] = { "mode", WORD, AT(mode), 0, 0, mode_names, 0 },
    [VIEWER_CLIP] = { "clip", BOOL, AT(clip), 0, 0, NULL, 0 },
    [VIEWER_CLIP_AZIMUTH] = { "clip_azimuth", REAL, AT(clip_azimuth), -1e6, 1e6, NULL, 0 },
    [VIEWER_CLIP_ELEVATION] = { "clip_elevation", REAL, AT(clip_elevation), -90, 90, NULL, 0 },
    [VIEWER_CLIP_OFFSET] = { "clip_offset", REAL, AT(clip_offset), -1, 1, NULL, 0 },
    [VIEWER_QUALITY] = { "quality", REAL, AT(quality), 0, 1, NULL, 0 },
    [VIEWER_LOW] = { "low", REAL, AT(low), -1e30, 1e30, NULL, 0 },
    [VIEWER_HIGH] = { "high", REAL, AT(high), -1e30, 1e30, NULL, 0 },
    [VIEWER_POINTS] = { "points", POINTS, AT(transfer), 0, 0, NULL, 0 },
    [VIEWER_PRESET] = { "preset", WORD, AT(preset), 0, 0, preset_names, 0 },
    [VIEWER_NAME] = { "name", NAME, AT(name), 0, 0, NULL, 0 },
    [VIEWER_VALUE] = { "value", REAL, AT(value), -1e30, 1e30, NULL, 0 },
    [VIEWER_AT] = { "at", REALS, AT(at), -1e7, 1e7, NULL, 3 },
    [VIEWER_FROM] = { "from", REALS, AT(from), -1e7, 1e7, NULL, 3 },
    [VIEWER_TO] = { "to", REALS, AT(to), -1e7, 1e7, NULL, 3 },
    [VIEWER_RADIUS] = { "radius", REAL, AT(radius), 0, 1e6, NULL, 0 },
    [VIEWER_BEGIN] = { "begin", BOOL, AT(begin), 0, 0, NULL, 0 },
    [VIEWER_COUNT] = { "count", WHOLE, AT(count), 1, 100000, NULL, 0 },
    [VIEWER_WHAT] = { "what", WORD, AT(what), 0, 0, what_names, 0 },
    [VIEWER_REPLACE] = { "replace", BOOL, AT(replace), 0, 0, NULL, 0 },
    [VIEWER_SEQUENCE] = { "sequence", WHOLE, AT(sequence), 0, 4294967295.0, NULL, 0 },
    [VIEWER_ID] = { "id", WHOLE, AT(id), 0, 4294967295.0, NULL, 0 },
    [VIEWER_X] = { "x", REAL, AT(x), 0, 1, NULL, 0 },
    [VIEWER_Y] = { "y", REAL, AT(y), 0, 1, NULL, 0 },
    [VIEWER_ACTION] = { "action", WORD, AT(action), 0, 0, action_names, 0 },
    [VIEWER_COLOURS] = { "colours", BOOL, AT(colours), 0, 0, NULL, 0 },
    [VIEWER_SPEED_SHOWN] = { "speed", WORD, AT(speed), 0, 0, speed_names, 0 },
    [VIEWER_VISIBLE] = { "visible", BOOL, AT(visible), 0, 0, NULL, 0 },
    [VIEWER_AS] = { "as", WORD, AT(as), 0, 0, as_names, 0 },
    [VIEWER_OPACITY] = { "opacity", REAL, AT(opacity), 0, 1, NULL, 0 },
    [VIEWER_COLOUR] = { "colour", REALS, AT(colour), 0, 1, NULL, 3 },
    [VIEWER_TOOL] = { "tool", WORD, AT(tool), 0, 0, tool_names, 0 },
    [VIEWER_STRENGTH] = { "strength", REAL, AT(strength), 0, 1, NULL, 0 },
    [VIEWER_DO] = { "do", WORD, AT(task), 0, 0, task_names, 0 },
    [VIEWER_LASSO] = { "corners", LASSO, AT(lasso), 0, 1, NULL, 0 },
    [VIEWER_LINE] = { "line", LINE, AT(line), 0, 0, NULL, 0 },
    [VIEWER_LABEL_OF] = { "label", INT32, AT(label), 1, VIEWER_LARGEST_LABEL, NULL, 0 },
    [VIEWER_ACTIVE] = { "active", BOOL, AT(active), 0, 0, NULL, 0 },
    [VIEWER_REMOVE] = { "remove", BOOL, AT(remove), 0, 0, NULL, 0 },
    [VIEWER_OVER] = { "over", WORD, AT(over), 0, 0, over_names, 0 },
    [VIEWER_SEE_THROUGH] = { "see_through", REAL, AT(see_through), 0, 1, NULL, 0 },
};

#define B(field) (UINT64_C(1) << VIEWER_##field)
static const uint64_t slice_fields = B(AXIS) | B(POSITION), volume_fields = B(AZIMUTH) | B(ELEVATION) | B(MODE) | B(CLIP) | B(CLIP_AZIMUTH) |
                                                                            B(CLIP_ELEVATION) | B(CLIP_OFFSET) | B(QUALITY) | B(SEE_THROUGH);
struct kind {
    const char *name;
    uint64_t needed, allowed; /* besides "input" */
};
static const struct kind kinds[VIEWER_KINDS] = {
    [VIEWER_VIEW] = { "view", B(VIEW_NAME),
                      B(WIDTH) | B(HEIGHT) | B(AXIS) | B(POSITION) | B(ZOOM) | B(PAN) | B(AZIMUTH) | B(ELEVATION) | B(MODE) | B(CLIP) |
                          B(CLIP_AZIMUTH) | B(CLIP_ELEVATION) | B(CLIP_OFFSET) | B(QUALITY) | B(SPEED_SHOWN) | B(VISIBLE) | B(SEE_THROUGH) },
    [VIEWER_WINDOW] = { "window", B(LOW) | B(HIGH), 0 },
    [VIEWER_TRANSFER] = { "transfer", 0, B(POINTS) | B(PRESET) },
    [VIEWER_SET] = { "set", B(NAME) | B(VALUE), 0 },
    [VIEWER_PROBE] = { "probe", B(AT), B(RADIUS) | B(BEGIN) | B(COLOURS) },
    [VIEWER_PROBE_UNDO] = { "probe-undo", 0, 0 },
    [VIEWER_PROBE_RESET] = { "probe-reset", 0, 0 },
    [VIEWER_PAINT] = { "paint", B(FROM) | B(RADIUS), B(TO) | B(BEGIN) },
    [VIEWER_ERASE] = { "erase", B(FROM) | B(RADIUS), B(TO) | B(BEGIN) },
    [VIEWER_PICK] = { "pick", B(X) | B(Y) | B(ACTION), B(RADIUS) | B(COLOURS) | B(BEGIN) | B(TOOL) | B(STRENGTH) },
    [VIEWER_START] = { "start", 0, 0 },
    [VIEWER_PAUSE] = { "pause", 0, 0 },
    [VIEWER_STEP] = { "step", B(COUNT), 0 },
    [VIEWER_RESET] = { "reset", 0, 0 },
    [VIEWER_UNDO] = { "undo", 0, 0 },
    [VIEWER_REDO] = { "redo", 0, 0 },
    [VIEWER_SAVE] = { "save", B(WHAT) | B(NAME), B(REPLACE) },
    [VIEWER_LOAD] = { "load", B(NAME), B(AS) },
    [VIEWER_FILES] = { "files", 0, 0 },
    [VIEWER_DRIVE] = { "drive", 0, 0 },
    [VIEWER_SHOWN] = { "shown", B(VIEW_NAME) | B(SEQUENCE), 0 },
    [VIEWER_PING] = { "ping", B(ID), 0 },
    [VIEWER_ASK] = { "value", B(AT) | B(ID), 0 },
    [VIEWER_MASK] = { "mask", B(OPACITY), B(COLOUR) },
    [VIEWER_STATISTICS] = { "statistics", 0, 0 },
    [VIEWER_ISOVALUE] = { "isovalue", B(VALUE), 0 },
    [VIEWER_SCULPT] = { "sculpt", B(FROM) | B(RADIUS) | B(TOOL), B(TO) | B(STRENGTH) | B(BEGIN) },
    [VIEWER_REGION] = { "region", B(DO), B(NAME) | B(LASSO) | B(RADIUS) | B(FROM) | B(TO) },
    [VIEWER_EDIT] = { "edit", B(LINE), 0 },
    [VIEWER_OBJECT] = { "object", B(NAME), B(VISIBLE) },
    [VIEWER_TABS] = { "tabs", 0, 0 },
    [VIEWER_OPEN] = { "open", B(NAME), 0 },
    [VIEWER_LABEL] = { "label", B(LABEL_OF), B(NAME) | B(COLOUR) | B(VISIBLE) | B(ACTIVE) | B(REMOVE) },
    [VIEWER_OVERLAY] = { "overlay", B(OVER), B(OPACITY) },
    [VIEWER_FOLLOW] = { "follow", 0, 0 },
};

const char *viewer_kind_name(viewer_kind kind) { return kinds[kind].name; }

struct parse {
    char *error;
    size_t bytes;
};
static int refuse(const struct parse *p, const char *field, const char *came, const char *expected)
{
    snprintf(p->error, p->bytes, "%s%s%.60s, expected %s", field, *field ? ": " : "", came, expected);
    return -1;
}

static int take_real(const struct parse *p, const struct field *f, const json_t *value, double *to)
{
    char expected[96];
    int whole = f->type == WHOLE || f->type == INT32;
    snprintf(expected, sizeof expected, "%s from %.10g to %.10g", whole ? "a whole number" : "a number", f->lower, f->upper);
    if (!json_is_number(value)) return refuse(p, f->name, "not a number", expected);
    double v = json_number_value(value);
    if (!(v >= f->lower && v <= f->upper) || (whole && v != floor(v))) return refuse(p, f->name, "out of range", expected);
    *to = v;
    return 0;
}

static int take_reals(const struct parse *p, const struct field *f, const json_t *value, double *to)
{
    char expected[48];
    snprintf(expected, sizeof expected, "an array of %zu numbers", f->count);
    if (!json_is_array(value) || json_array_size(value) != f->count) return refuse(p, f->name, "something else", expected);
    for (size_t i = 0; i < f->count; i++)
        if (take_real(p, f, json_array_get(value, i), &to[i])) return -1;
    return 0;
}

/* [[value, alpha, r, g, b], ...], values rising. */
static int take_points(const struct parse *p, const struct field *f, const json_t *value, tsr_transfer *to)
{
    static const char expected[] = "1 to 16 arrays of value (rising), alpha, r, g, b, the last four from 0 to 1";
    memset(to, 0, sizeof *to);
    size_t n = json_is_array(value) ? json_array_size(value) : 0;
    if (n < 1 || n > TSR_TRANSFER_POINTS) return refuse(p, f->name, "something else", expected);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(value, i);
        double v[5];
        if (!json_is_array(row) || json_array_size(row) != 5) return refuse(p, f->name, "a point of another form", expected);
        for (size_t k = 0; k < 5; k++) {
            const json_t *number = json_array_get(row, k);
            v[k] = json_is_number(number) ? json_number_value(number) : 1e300;
            if (k ? !(v[k] >= 0 && v[k] <= 1) : !(fabs(v[k]) < 1e30)) return refuse(p, f->name, "a number out of range", expected);
        }
        if (i && !((float)v[0] > to->point[i - 1].value)) return refuse(p, f->name, "values that do not rise", expected);
        to->point[i].value = (float)v[0];
        to->point[i].alpha = (float)v[1];
        to->point[i].color = (tsr_color){ (float)v[2], (float)v[3], (float)v[4] };
    }
    to->points = (int32_t)n;
    return 0;
}

/* [[x, y], ...] of the window, both from 0 to 1. */
static int take_lasso(const struct parse *p, const struct field *f, const json_t *value, viewer_command *c)
{
    static const char expected[] = "3 to 48 arrays of x, y, from 0 to 1";
    size_t n = json_is_array(value) ? json_array_size(value) : 0;
    if (n < 3 || n > VIEWER_CORNERS) return refuse(p, f->name, "something else", expected);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(value, i);
        if (!json_is_array(row) || json_array_size(row) != 2) return refuse(p, f->name, "a corner of another form", expected);
        for (size_t k = 0; k < 2; k++) {
            const json_t *number = json_array_get(row, k);
            const double v = json_is_number(number) ? json_number_value(number) : -1;
            if (!(v >= 0 && v <= 1)) return refuse(p, f->name, "a number out of range", expected);
            c->lasso[i][k] = v;
        }
    }
    c->corners = (int32_t)n;
    return 0;
}

/* One line of printable characters. */
static int take_line(const struct parse *p, const struct field *f, const json_t *value, char *to)
{
    static const char expected[] = "one line of 1 to 1023 printable ASCII characters";
    size_t n = json_is_string(value) ? json_string_length(value) : 0;
    if (n < 1 || n >= VIEWER_LINE_BYTES) return refuse(p, f->name, "something else", expected);
    for (size_t i = 0; i < n; i++)
        if (json_string_value(value)[i] < 0x20 || json_string_value(value)[i] > 0x7e) return refuse(p, f->name, "another character", expected);
    memcpy(to, json_string_value(value), n + 1);
    return 0;
}

static int take_word(const struct parse *p, const struct field *f, const json_t *value, int32_t *to)
{
    char expected[128] = "one of";
    for (int i = 0; f->words[i]; i++) {
        if (json_is_string(value) && !strcmp(json_string_value(value), f->words[i])) {
            *to = i;
            return 0;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, " %s", f->words[i]);
    }
    return refuse(p, f->name, "something else", expected);
}

static int take(const struct parse *p, const struct field *f, const json_t *value, viewer_command *c)
{
    void *to = (char *)c + f->at;
    double v = 0;
    switch (f->type) {
    case REAL:
    case WHOLE: return take_real(p, f, value, (double *)to);
    case INT32:
        if (take_real(p, f, value, &v)) return -1;
        *(int32_t *)to = (int32_t)v;
        return 0;
    case BOOL:
        if (!json_is_boolean(value)) return refuse(p, f->name, "something else", "true or false");
        *(int32_t *)to = json_is_true(value);
        return 0;
    case WORD: return take_word(p, f, value, (int32_t *)to);
    case NAME:
        if (!json_is_string(value) || json_string_length(value) < 1 || json_string_length(value) >= VIEWER_NAME_BYTES)
            return refuse(p, f->name, "something else", "a text of 1 to 127 bytes");
        memcpy(to, json_string_value(value), json_string_length(value) + 1);
        return 0;
    case REALS: return take_reals(p, f, value, (double *)to);
    case LASSO: return take_lasso(p, f, value, c);
    case LINE: return take_line(p, f, value, (char *)to);
    default: return take_points(p, f, value, (tsr_transfer *)to);
    }
}

/* It stands between quotes in files of labels. */
static int name_of_label(const char *name)
{
    const size_t n = strlen(name);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7f || *c == '"') return 0;
    return n >= 1 && n <= 63;
}

static int check_rules(const struct parse *p, const viewer_command *c)
{
    if (c->kind == VIEWER_VIEW && c->view == VIEWER_VOLUME && (c->given & slice_fields))
        return refuse(p, "view", "volume with axis or position", "a slice window for these");
    if (c->kind == VIEWER_VIEW && c->view != VIEWER_VOLUME && (c->given & volume_fields))
        return refuse(p, "view", "a slice window with fields of the 3-D window", "volume for these");
    if (c->kind == VIEWER_VIEW && c->view != VIEWER_SPEED && viewer_given(c, VIEWER_SPEED_SHOWN))
        return refuse(p, "view", "another window with the field speed", "speed for it");
    if (c->kind == VIEWER_WINDOW && !(c->low < c->high)) return refuse(p, "high", "not above low", "low < high");
    if (c->kind == VIEWER_TRANSFER && viewer_given(c, VIEWER_POINTS) == viewer_given(c, VIEWER_PRESET))
        return refuse(p, "points", "not one of points and preset", "one of them");
    const int brush = c->kind == VIEWER_PAINT || c->kind == VIEWER_ERASE || c->kind == VIEWER_SCULPT;
    const int lasso = viewer_given(c, VIEWER_LASSO), box = viewer_given(c, VIEWER_FROM) + viewer_given(c, VIEWER_TO);
    if (c->kind == VIEWER_REGION && (lasso ? box != 0 : box != 2)) return refuse(p, "corners", "not one of corners and from, to", "one of them");
    if (c->kind == VIEWER_REGION && viewer_given(c, VIEWER_RADIUS) && !(lasso && c->radius > 0))
        return refuse(p, "radius", "of no stroke", "a positive number, with corners");
    if (c->kind == VIEWER_REGION && viewer_given(c, VIEWER_NAME) && !viewer_object_is_plain(c->name))
        return refuse(p, "name", "no name of an object", "1 to 63 letters, digits, '-', '_' or '.'");
    if (c->kind == VIEWER_OBJECT && !viewer_object_is_plain(c->name))
        return refuse(p, "name", "no name of an object", "1 to 63 letters, digits, '-', '_' or '.'");
    if (c->kind == VIEWER_LABEL && viewer_given(c, VIEWER_NAME) && !name_of_label(c->name))
        return refuse(p, "name", "no name of a label", "1 to 63 bytes without quotes and control characters");
    if (brush && !(c->radius > 0)) return refuse(p, "radius", "0", "a positive number");
    if ((c->kind == VIEWER_SAVE || c->kind == VIEWER_LOAD || c->kind == VIEWER_OPEN) && !viewer_name_is_plain(c->name))
        return refuse(p, "name", "a name with a path or special characters", "a plain file name of the served folder");
    return 0;
}

static int parse_object(const struct parse *p, json_t *object, viewer_command *c)
{
    const json_t *type = json_object_get(object, "type");
    if (!json_is_string(type)) return refuse(p, "type", "missing", "the type of the message");
    int kind = 0;
    while (kind < VIEWER_KINDS && strcmp(json_string_value(type), kinds[kind].name)) kind++;
    if (kind == VIEWER_KINDS) return refuse(p, "type", "unknown", "a type of docs/formats/workbench-protocol.md");
    c->kind = (viewer_kind)kind;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!strcmp(key, "type")) continue;
        int i = 0;
        while (i < VIEWER_FIELDS && strcmp(key, fields[i].name)) i++;
        uint64_t bit = i < VIEWER_FIELDS ? UINT64_C(1) << i : 0;
        if (!(bit & (kinds[kind].needed | kinds[kind].allowed | B(INPUT)))) {
            snprintf(p->error, p->bytes, "a message of type %s has no field of this name (%d bytes long)", kinds[kind].name, (int)strlen(key));
            return -1;
        }
        if (take(p, &fields[i], value, c)) return -1;
        c->given |= bit;
    }
    for (int i = 0; i < VIEWER_FIELDS; i++)
        if ((kinds[kind].needed & ~c->given) >> i & 1) return refuse(p, fields[i].name, "missing", "this field");
    return check_rules(p, c);
}

int viewer_parse(const char *text, size_t bytes, viewer_command *command, char *error, size_t error_bytes)
{
    struct parse p = { error, error_bytes };
    json_error_t where;
    memset(command, 0, sizeof *command);
    *error = 0;
    if (bytes > VIEWER_MESSAGE_BYTES) return refuse(&p, "", "a message over 65536 bytes", "a shorter one");
    json_t *object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
    if (!object) return refuse(&p, "", "not JSON", "one JSON object without repeated fields");
    int result = json_is_object(object) ? parse_object(&p, object, command) : refuse(&p, "", "no object", "one JSON object");
    json_decref(object);
    return result;
}

int viewer_name_is_plain(const char *name)
{
    size_t n = strlen(name);
    if (n < 1 || n >= VIEWER_NAME_BYTES || *name == '.' || *name == '-') return 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7f || *c == '/' || *c == '\\') return 0;
    return 1;
}

int viewer_object_is_plain(const char *name)
{
    const size_t n = strlen(name);
    return n >= 1 && n <= 63 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------------------- */

static uint8_t *put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> 8 * i);
    return to + 4;
}
static uint8_t *put_float(uint8_t *to, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return put32(to, bits);
}

void viewer_frame_pack(const viewer_frame *f, uint8_t bytes[VIEWER_FRAME_HEADER])
{
    uint64_t steps = (uint64_t)f->steps;
    memset(bytes, 0, VIEWER_FRAME_HEADER);
    memcpy(bytes, "TSRF", 4);
    bytes[4] = VIEWER_PROTOCOL;
    bytes[5] = f->view;
    bytes[6] = f->draft;
    uint8_t *to = bytes + 8;
    to = put32(to, f->sequence);
    to = put32(to, f->width);
    to = put32(to, f->height);
    to = put32(to, f->view_input);
    to = put32(to, f->edit_input);
    to = put32(to, (uint32_t)steps);
    to = put32(to, (uint32_t)(steps >> 32));
    for (int i = 0; i < 3; i++) to = put_float(to, f->origin[i]);
    for (int i = 0; i < 3; i++) to = put_float(to, f->right[i]);
    for (int i = 0; i < 3; i++) to = put_float(to, f->down[i]);
    to = put_float(to, f->pixel);
    to = put_float(to, f->milliseconds);
    put_float(to, f->zoom);
}
