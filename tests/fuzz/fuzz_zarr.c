/* The metadata of an array, whose chunks are missing; and archives, in which they are there. */
#define FUZZ_FORMAT "zarr"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "zarr.zip", NULL, 0, -1, 0 }, { "zarr.zip", NULL, 1, 6, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
    static const char two[] =
        "{\"zarr_format\": 2, \"shape\": [3, 4, 5], \"chunks\": [2, 2, 2], \"dtype\": \"<f4\", \"compressor\": {\"id\": \"zlib\", \"level\": 1},"
        " \"fill_value\": \"NaN\", \"order\": \"F\", \"filters\": [{\"id\": \"shuffle\", \"elementsize\": 4}], \"dimension_separator\": \"/\"}";
    fuzz_seed(two, sizeof two - 1);
    static const char three[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2, 3, 4, 5], \"data_type\": \"float16\", \"chunk_grid\": {\"name\": \"regular\","
        " \"configuration\": {\"chunk_shape\": [2, 2, 4, 4]}}, \"chunk_key_encoding\": {\"name\": \"default\"}, \"fill_value\": \"0x7c00\", "
        "\"codecs\":"
        " [{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1, 2, 2], \"index_location\": \"end\", \"codecs\": [{\"name\":"
        " \"transpose\", \"configuration\": {\"order\": [3, 0, 2, 1]}}, {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}, \"zstd\"],"
        " \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"crc32c\"}]}}], \"dimension_names\":"
        " [\"t\", \"z\", \"y\", \"x\"], \"attributes\": {\"tessera\": {\"tessera.affine\": \"1 0 0 0 0 1 0 0 0 0 1 0\"}, \"n\": 2.5}}";
    fuzz_seed(three, sizeof three - 1);
}
