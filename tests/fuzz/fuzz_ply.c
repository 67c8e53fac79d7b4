#define FUZZ_FORMAT "ply"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("ply", 1, 0);
    fuzz_mesh_seeds("ply", 0, 0);
    fuzz_mesh_seeds("ply", 0, 1);
    fuzz_text_seed("ply\r\nformat ascii 1.0\r\ncomment SPACE=RAS\r\nelement camera 1\r\nproperty list uint8 double view\r\nelement vertex 4\r\n"
                   "property uchar red\r\nproperty double z\r\nproperty double y\r\nproperty short x\r\nelement face 2\r\nproperty uchar flag\r\n"
                   "property list int16 uint16 vertex_index\r\nproperty list uchar float texcoord\r\nend_header\r\n"
                   "3 1 2 3\r\n9 0 0 0\r\n9 0 0 1\r\n9 0 1 1\r\n9 0 1 0\r\n1 4 0 1 2 3 2 .5 .5\r\n0 3 0 1 2 0\r\n");
    fuzz_text_seed(
        "ply\nformat ascii 1.0\ncomment label 3 a b\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
        "property list uchar int vertex_indices\nproperty int label\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2 3\n8 0 1 2 3 -1 0 1 3\n");
    static const unsigned char packed[] = "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty list ushort uchar vertex_indices\n"
                                          "element vertex 3\nproperty short x\nproperty char y\nproperty double z\nend_header\n"
                                          "\0\3\0\1\2"
                                          "\0\1\0\0\0\0\0\0\0\0\0"
                                          "\0\0\1\0\0\0\0\0\0\0\0"
                                          "\0\0\0\x3f\xf0\0\0\0\0\0\0";
    fuzz_seed(packed, sizeof packed - 1);
}
