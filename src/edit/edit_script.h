/* edit/edit_script.h: the run of an editing script: what its commands share. */
#ifndef TSR_EDIT_EDIT_SCRIPT_H
#define TSR_EDIT_EDIT_SCRIPT_H

#include "edit/edit.h"
#include "core/script_line.h"

enum { TSR_EDIT_SELECTIONS = 64 };

/* A selection by name; its points are its own. */
typedef struct tsr_edit_selection {
    char name[TSR_EDIT_NAME];
    tsr_selection selection;
    double (*points)[3];
} tsr_edit_selection;

typedef struct tsr_edit_run {
    tsr_editor *editor;
    tsr_edit_script script;
    const tsr_script_line *line;
    const double *n; /* the numbers after the names */
    int numbers;
    char *const *word;
    tsr_attraction pull; /* what words after the numbers of an attraction say: tolerance, power, epsilon */
    tsr_edit_selection selection[TSR_EDIT_SELECTIONS]; /* by name, of the script so far */
    int selections;
} tsr_edit_run;

/* Commands that take a selection: they look at their words themselves (edit_script_regions.c). */
tsr_status tsr_edit_run_select(tsr_edit_run *r);
tsr_status tsr_edit_run_disconnect(tsr_edit_run *r);
tsr_status tsr_edit_run_cut(tsr_edit_run *r);
tsr_status tsr_edit_run_copy(tsr_edit_run *r);
tsr_status tsr_edit_run_delete(tsr_edit_run *r);
tsr_status tsr_edit_run_keep(tsr_edit_run *r);
tsr_status tsr_edit_run_expect(tsr_edit_run *r);
void tsr_edit_run_drop_selections(tsr_edit_run *r);

#endif
