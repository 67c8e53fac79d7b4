/* Numbers of the patches' map (examples/map/patches.c). */
enum { PATCH_MOST = 16 }; /* the finest level: edges of a patch in as many parts */
typedef struct patches {
    int across, along; /* patches of the torus each way; each has PATCH_MOST places each way */
} patches;
