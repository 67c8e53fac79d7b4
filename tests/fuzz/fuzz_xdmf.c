#define FUZZ_FORMAT "xdmf"
#include "fuzz/fuzz_format.h"

/* Arrays that stand in the text: other files are not read from memory. */
void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "<?xml version=\"1.0\"?><Xdmf Version=\"3.0\"><Domain><Grid Name=\"g\" GridType=\"Uniform\"><Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"2 1 3\"/>"
        "<Geometry GeometryType=\"ORIGIN_DXDYDZ\"><DataItem Dimensions=\"3\" Format=\"XML\">1 2 3</DataItem><DataItem Dimensions=\"3\">1 .5 2</DataItem></Geometry>"
        "<Attribute Name=\"p\" AttributeType=\"Scalar\" Center=\"Node\"><DataItem Dimensions=\"2 1 3\" NumberType=\"Float\" Precision=\"4\" Format=\"XML\">1 2 3 4e5 "
        "-6 7</DataItem></Attribute></Grid></Domain></Xdmf>",
        "<Xdmf><Domain><Grid><Attribute Name='q' Center='Cell'><DataItem Dimensions='2 3' NumberType='UInt' Precision='2' Endian='Big' Format='XML'>\n1 2 3\n4 5 6"
        "</DataItem></Attribute></Grid></Domain></Xdmf>",
    };
    for (int k = 0; k < 2; k++) fuzz_seed(seeds[k], strlen(seeds[k]));
}
