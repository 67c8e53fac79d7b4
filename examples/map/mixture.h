/* Numbers of the mixture's map (examples/map/mixture.c). */
typedef struct mixture {
    float lower, upper;    /* of the transfer function: opaque between, most in the middle */
    float centre[3], size; /* of the ball, in voxels */
} mixture;
