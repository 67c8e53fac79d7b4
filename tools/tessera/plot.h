/* tools/tessera/plot.h: plots as SVG: rows of numbers by frame, as lines or as bars on top of each other. */
#ifndef TESSERA_PLOT_H
#define TESSERA_PLOT_H

#include "cli.h"

enum { PLOT_ROWS = 16 };

typedef struct plot {
    const char *title, *unit; /* of the values */
    int bars;                 /* 1: bars, row upon row; 0: lines; infinite values are left out */
    int from_zero;
    int count;
    const char *name[PLOT_ROWS];
    double *value[PLOT_ROWS]; /* owned */
    int64_t columns, room;
} plot;

/* Values of another column; 0: out of memory. */
int plot_add(plot *p, const double *values);
void plot_free(plot *p);
/* Several plots below each other. An error is said. */
int plot_write(const cli_call *cli, const char *path, const plot *plots, int count);

#endif
