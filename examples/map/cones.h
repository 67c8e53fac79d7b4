/* A picture under `reach` wide cones. */
typedef struct cones {
    int width, height, reach;
} cones;
