/* tessera/compress.h: volumes and images in files of their own, .tsc (docs/formats/tsc.md): lossless, with a guaranteed largest error, by PSNR or by rate.
 *
 * A volume is cut into bricks, each of which is coded for itself: any box can be read without the rest, bricks are coded and decoded by all threads,
 * and each piece has a checksum. Files of the coders `planes`, `fast` and `rans` can be read at half, a quarter, ... of the resolution; those of `planes` can also
 * be cut anywhere: what is left of the file gives the best picture that these bytes hold.
 *
 * Class exact: a file decodes to the same bits on every machine, and is the same for every number of threads. Source: lifting wavelets and
 * embedded coding (docs/theory/compression.md 3), passes and truncation points as in JPEG 2000's block coder; docs/guide/compression.md. */
#ifndef TESSERA_COMPRESS_H
#define TESSERA_COMPRESS_H

#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_compress_coder {
    TSR_COMPRESS_AUTO = 0, /* PREDICT for lossless and max_error, PLANES for psnr and rate */
    TSR_COMPRESS_PREDICT,  /* smallest and slowest: every voxel predicted from those before it by least squares. One resolution */
    TSR_COMPRESS_PLANES,   /* wavelets, bit plane by bit plane: several resolutions, cut anywhere */
    TSR_COMPRESS_FAST,     /* wavelets, packed blocks: several resolutions, decodes tens to hundreds of times faster */
    TSR_COMPRESS_RANS,     /* wavelets, 32 interleaved coders by what lies around: between PLANES and FAST in size, decoded by CPUs and GPUs */
    TSR_COMPRESS_CODERS
} tsr_compress_coder;

typedef enum tsr_compress_order {
    TSR_COMPRESS_QUALITY = 0, /* a cut file has all resolutions, less exactly */
    TSR_COMPRESS_RESOLUTION,  /* a cut file has the lower resolutions, exactly */
    TSR_COMPRESS_ORDERS
} tsr_compress_order;

typedef struct tsr_compress_options {
    size_t struct_size;
    tsr_compress_coder coder;
    double max_error; /* of any voxel, in real units (slope applied); > 0. At most one of these three; none: lossless */
    double psnr;      /* dB, of the range of the voxels: 20 log10((max - min) / root mean squared error); reached by measurement over
                        the finite voxels, or an error, with the fewest bytes to within some thousandths. PLANES only */
    double rate; /* bits per voxel, the whole file, header and all; > 0: the largest file that is no larger, to about the size of a pass of a brick. A
                        higher rate is never worse. PLANES only. With psnr and rate, integers of at most 16 bits are written without loss where their root
                        mean squared error would be below 1 and the file is no larger so: tsr_compress_info.lossless says it */
    tsr_size3 brick; /* extents, 1 to 256 along each axis; 0 = 40 (PREDICT), 64 (PLANES), 128 x 64 x 32 (FAST), 32 (RANS; at most 32768 voxels), and
                        longer along the other axes of volumes that are thin along one, until a brick has some 64000 voxels (RANS 32768).
                        Wavelets: multiples of 2^levels, unless the volume is no larger along the axis */
    int32_t levels;  /* of the wavelets, 1 to 6; 0 = 4 (PLANES), 3 (FAST, RANS) */
    int32_t layers;  /* of quality (PLANES), 1 to 32; 0 = 8. Each has about half the bytes of the next */
    tsr_compress_order order;
    int32_t threads; /* 0 = all */
    int overwrite;
    tsr_progress progress;
    int64_t
        memory_limit; /* compressed bytes that wait in memory for their place in the file; more wait in a nameless file beside it. 0: all in memory.
                             With a volume that is mapped from its file (.npy, .nii, .mhd, .nhdr, raw) both may be larger than memory */
    int regular_only; /* as in tsr_write_options */
} tsr_compress_options;
#define TSR_COMPRESS_OPTIONS TSR_SIZED(tsr_compress_options)

/* What a file holds, and what became of it. */
typedef struct tsr_compress_info {
    size_t struct_size;
    int image; /* 1: an image, its channels are slices */
    tsr_dtype dtype;
    tsr_size3 size, brick, bricks;
    tsr_compress_coder coder;
    tsr_compress_order order;
    int32_t levels, layers;
    int lossless;
    double max_error;                /* guaranteed, real units; 0: lossless; infinite: none */
    double psnr;                     /* after writing: measured, infinite if nothing was lost; NaN otherwise */
    int64_t file_bytes, whole_bytes; /* bytes there are, and of the complete file */
    int64_t pieces, pieces_whole;    /* pieces of bricks, and how many of them are there and undamaged (after reading: of those asked for) */
} tsr_compress_info;
#define TSR_COMPRESS_INFO TSR_SIZED(tsr_compress_info)

/* Writes a host volume of any type, beside the target and renamed. BORROWS. `options` and `info` may be NULL. Geometry, slope, intercept and
 * metadata are kept. Voxels that are not finite come back bit for bit in every mode, as do those that max_error cannot reach by arithmetic.
 * Errors: TSR_ERROR_ARGUMENT naming the field, also where 64-bit integers would need more than 2^31 steps of max_error, or psnr is more than float32
 * gives; TSR_ERROR_UNSUPPORTED for f64, or 64-bit integers whose range exceeds 32 bits, without loss, and for psnr and rate of a range near the ends
 * of float32. Nothing is written then.
 * Linear time; memory for the volume and the file, or memory_limit, about 1 kB per brick and resolution, and the bricks in work. */
TSR_API tsr_status tsr_volume_compress(const tsr_volume *volume, const char *path, const tsr_compress_options *options,
                                       tsr_compress_info *info) TSR_CHECKED;
/* The same for an image; its channels are slices, bricks of their own but for PREDICT. */
TSR_API tsr_status tsr_image_compress(const tsr_image *image, const char *path, const tsr_compress_options *options,
                                      tsr_compress_info *info) TSR_CHECKED;

typedef struct tsr_decompress_options {
    size_t struct_size;
    tsr_size3 box[2];     /* first voxel and one past the last, of the full resolution; both 0 = all. Geometry follows */
    int32_t reduce;       /* the volume at 1 / 2^reduce of its resolution; at most the file's levels */
    int32_t layers;       /* layers of quality to use; 0 = all */
    int partial;          /* take what is there of a file that was cut or damaged: missing pieces are 0 bits, missing bricks 0. Else an error */
    int64_t memory_limit; /* as in tsr_read_options; tsr_file_decompress: what it may use */
    int32_t threads;      /* 0 = all */
    tsr_progress progress;
} tsr_decompress_options;
#define TSR_DECOMPRESS_OPTIONS TSR_SIZED(tsr_decompress_options)

/* RETURNS NEW host volume (of an image: its channels as slices). Only the bricks that meet the box are decoded. `options` and `info` may be NULL.
 * Errors: TSR_ERROR_FORMAT names the field or the brick that is damaged or missing. */
TSR_API tsr_status tsr_volume_decompress(const char *path, const tsr_decompress_options *options, tsr_volume **volume,
                                         tsr_compress_info *info) TSR_CHECKED;
/* A .tsc file in the memory of a device: read once, decoded there as often as wanted. Not for several threads at once. */
typedef struct tsr_compressed tsr_compressed;
/* RETURNS NEW. The pieces of the file go to the context's device; the context must outlive it. Devices other than the CPU decode files of the coder rans,
 * of others TSR_ERROR_UNSUPPORTED. Of `options` (may be NULL) memory_limit and progress count. */
TSR_API tsr_status tsr_compressed_create(tsr_context *context, const char *path, const tsr_decompress_options *options,
                                       tsr_compressed **compressed) TSR_CHECKED;
/* RETURNS NEW volume of the context, the same bits as tsr_volume_decompress gives; checksums are verified on the device. Room for the coefficients of at most
 * 4096 bricks is taken on the device meanwhile (5 bytes for each of their voxels); progress is reported, and cancelling looked at, after so many.
 * Errors as of tsr_volume_decompress, and TSR_ERROR_UNSUPPORTED where a brick at the resolution asked for, as coefficients of 2 bytes, or 4 where the file has
 * such, is larger than the shared memory that the GPU gives a block (compute capability 8.6 and 8.9: 99 KiB, of 32^3 only those of 2 bytes). */
TSR_API tsr_status tsr_compressed_decode(const tsr_compressed *compressed, const tsr_decompress_options *options, tsr_volume **volume,
                                         tsr_compress_info *info) TSR_CHECKED;
TSR_API void tsr_compressed_destroy(tsr_compressed **compressed);
/* From file to file, for volumes larger than memory that cannot be mapped, for they are packed or turned: their voxels wait in a nameless file beside the output, and
 * read->memory_limit (0: 256 MiB) and options->memory_limit bound what is unpacked and what is packed at once. The file is that of tsr_volume_compress. TSR_ERROR_UNSUPPORTED as
 * tsr_volume_transfer; `read`, `options` and `info` may be NULL. */
TSR_API tsr_status tsr_file_compress(const char *path, const tsr_read_options *read, const char *output, const tsr_compress_options *options,
                                     tsr_compress_info *info) TSR_CHECKED;
/* From file to file, for volumes larger than memory: options->memory_limit bytes (0 = physical memory) hold the bricks in work and what they become; the
 * voxels wait in a nameless file beside the output. The output's format is any for volumes; `write` and `info` may be NULL. The same voxels
 * as tsr_volume_decompress. TSR_ERROR_MEMORY says what a limit too small for a row of bricks would have to be. */
TSR_API tsr_status tsr_file_decompress(const char *path, const char *output, const tsr_decompress_options *options, const tsr_write_options *write,
                                       tsr_compress_info *info) TSR_CHECKED;
/* The file's header and which pieces are there; nothing is decoded. */
TSR_API tsr_status tsr_compress_describe(const char *path, tsr_compress_info *info) TSR_CHECKED;

/* Picture of slice z (0 <= z < nz) as it comes: decoded from the first layer, the first two, ... all of them, from left to right, 1 channel, grey from the
 * least to the greatest voxel of the last. Files of the coder planes; at most 8 of their layers are shown. The caller calls tsr_image_destroy. */
TSR_API tsr_status tsr_compress_strip(const char *path, int64_t z, tsr_image *image) TSR_CHECKED;

/* "predict", "planes", "fast"; NULL for an invalid value. */
TSR_API const char *tsr_compress_coder_name(tsr_compress_coder coder);

#ifdef __cplusplus
}
#endif
#endif
