/* Cells of a Taylor-Green vortex: the numbers of the term. */
typedef struct taylor_green {
    float edge, speed; /* of a cell, of the flow at its border */
} taylor_green;
