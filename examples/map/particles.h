/* Numbers of the particles' map (examples/map/particles.c). */
typedef struct particles {
    float time, speed, gravity, floor; /* floor: the height at which they bounce */
    float right[3], up[3], ahead[3];   /* of the camera, unit vectors */
    float scale;                       /* pixels a unit */
    int width, height;
} particles;
