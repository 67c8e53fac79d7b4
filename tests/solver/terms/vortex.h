typedef struct vortex {
    float centre[2], rate;
} vortex;
