/* edit/edit.h: the inside of an editor: objects, patches, the journal. */
#ifndef TSR_EDIT_EDIT_H
#define TSR_EDIT_EDIT_H

#include "algebra/csg.h"
#include "solver/list_distance.h"
#include "tessera/edit.h"

enum { TSR_EDIT_NAME = 64, TSR_EDIT_PIECES = 64 };

/* ---- patches: the state of some tiles, stored or not (patch.c) ----------------------------------------------------------------------------- */

typedef struct tsr_patch {
    tsr_context *context;
    int64_t count;
    uint64_t *keys;     /* host, sorted */
    float *pages;       /* device, [count][edge^3]; an absent tile is its constant */
    uint32_t *words;    /* device, [count] border words */
    int32_t background; /* of the list, should it be empty */
    size_t bytes;       /* of the device memory, which starts at pages */
} tsr_patch;

/* The state of the tiles with these sorted keys. COPIES keys. */
tsr_status tsr_patch_take(const tsr_tiles *tiles, const uint64_t *keys, int64_t count, tsr_patch *patch);
/* The state in `before` of every tile that is not the same in `after`. */
tsr_status tsr_patch_difference(const tsr_tiles *before, const tsr_tiles *after, tsr_patch *patch);
/* Writes the patch into the list: its tiles become stored where needed, values and borders are taken over, activity is recomputed there and in the
 * ring around, the list is managed. Cost of the pages, and a look at the activity words of the list. On failure the list is unchanged. */
tsr_status tsr_patch_apply(const tsr_patch *patch, tsr_tiles *tiles);
/* Both patches in one: they have no tile in common and belong to the same state of the list. */
tsr_status tsr_patch_join(const tsr_tiles *tiles, const tsr_patch *a, const tsr_patch *b, tsr_patch *joined);
void tsr_patch_drop(tsr_patch *patch);

/* ---- the document --------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_edit_object {
    char name[TSR_EDIT_NAME];
    tsr_tiles *tiles;           /* NULL: the slot is empty (undone or removed) */
    tsr_surface_region changed; /* since the surface was asked for, in tiles; a new list: all of it */
    int all_changed;
} tsr_edit_object;

/* What undoing one thing takes: pages of a list, or a whole list that comes back (or goes, tiles NULL). */
typedef struct tsr_edit_change {
    int64_t step;
    int32_t slot;
    int32_t whole;
    tsr_tiles *tiles;
    tsr_patch patch;
} tsr_edit_change;

typedef struct tsr_edit_stack {
    tsr_edit_change *change;
    int64_t count, room;
} tsr_edit_stack;

struct tsr_editor {
    tsr_context *context;
    tsr_editor_options options;
    tsr_tiles *model; /* empty: spacing, band and edge of the document */
    tsr_edit_object *object;
    int32_t objects, room;
    tsr_edit_stack undo, redo;
    int64_t step, last_tiles;
    double list_seconds; /* of the step: for patches to get into their list and its management */
};

/* Slot of an object, or an error that names those there are. */
tsr_status tsr_edit_find(const tsr_editor *editor, const char *name, int32_t *slot);
/* A free slot for a new name. */
tsr_status tsr_edit_new(tsr_editor *editor, const char *name, int32_t *slot);
/* Begins a step of the history; the changes that follow belong to it. */
void tsr_edit_begin(tsr_editor *editor);
/* The list of a slot becomes *made (ADOPTS, also on failure); the journal keeps the difference. *made NULL: the slot empties. */
tsr_status tsr_edit_replace(tsr_editor *editor, int32_t slot, tsr_tiles **made);
/* The list of a slot takes a patch; the journal keeps what was there. */
tsr_status tsr_edit_patch(tsr_editor *editor, int32_t slot, const tsr_patch *patch);
/* Ends a step of patches: one that reached nothing is a step of the history all the same, which undo takes back and not the one before it. */
tsr_status tsr_edit_finish(tsr_editor *editor, int32_t slot);
/* A copy with exactly the tiles it needs. RETURNS NEW. */
tsr_status tsr_edit_copy_list(const tsr_tiles *tiles, tsr_tiles **copy);
/* *work (ADOPTED, a list that belongs to no slot) becomes the list of a slot, as a step. */
tsr_status tsr_edit_settle(tsr_editor *editor, int32_t slot, tsr_tiles **work);
/* TSR_ERROR_STATE if the name is taken: asked before work is done for it. */
tsr_status tsr_edit_check_new(const tsr_editor *editor, const char *name);
/* *made becomes object `name`, or the list of a slot, in a step of its own. ADOPT it, also on failure. */
tsr_status tsr_edit_add(tsr_editor *editor, const char *name, tsr_tiles **made);
tsr_status tsr_edit_put(tsr_editor *editor, int32_t slot, tsr_tiles **made);
/* The object becomes what lies in the selection. */
tsr_status tsr_edit_keep_in(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at);
/* The component of a list around a point, and all others (NULL if there are none), as keep leaves them. `who` begins the message. RETURN NEW. */
tsr_status tsr_edit_component(const tsr_tiles *tiles, const char *who, tsr_vec3 at, tsr_tiles **component, tsr_tiles **others);
/* What operators that move the surface have in common: the scheme, and the check of a length or time (0 or more). */
void tsr_edit_flow_options(const tsr_editor *editor, tsr_levelset_options *options);
/* Of speeds up to `fastest` (world units per unit of time) that differ from place to place: what they compress or stretch is reshaped as fast. */
double tsr_edit_reshape_weight(const tsr_tiles *tiles, double fastest);
tsr_status tsr_edit_check_length(const char *what, double value);
/* Undoes the changes of the step that was begun, after a failure. */
void tsr_edit_abandon(tsr_editor *editor);

#endif
