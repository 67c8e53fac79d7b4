/* tessera/io.h: files. Volumes: NIfTI-1/2 (.nii, .nii.gz, .hdr + .img), NRRD (.nrrd, .nhdr), MetaImage (.mha, .mhd), INRIMAGE (.inr), raw.
 * Meshes: PLY, OBJ, STL, OFF. Unstructured grids: VTK (tessera/unstructured.h). Points: XYZ, PTS, PCD, and the vertices of meshes. Images: PNG; written also
 * JPEG. Tile lists: tessera/tile_file.h. The format is
 * recognised by content when reading and by the extension when writing. By libraries that a build may leave out: TIFF (.tif, .tiff, .ome.tif), HDF5 (.h5, .hdf5),
 * Zarr (.zarr, .ome.zarr: folders; .zip). DICOM is read: files and folders of them (docs/formats/dicom.md).
 * Writers write beside the target and rename: a failure leaves no half-written file; a file that is replaced leaves its mode and, where the system
 * allows it, its owner to the new one. Every size in a header is checked against
 * the file and the memory budget before memory is taken. Objects are read to and written from host memory.
 *
 * World axes: NIfTI is RAS, MetaImage is LPS, NRRD says which, INRIMAGE and raw have none; writers convert RAS and LPS to what their format
 * means, and readers tag what they read. NIfTI: sform if its code is positive, else qform, else voxel sizes only (TSR_SPACE_NONE); both forms
 * and their codes come back on writing as long as the geometry is unchanged. Stored exactly: any affine in NRRD and NIfTI-2, float32 in
 * NIfTI-1, spacing times direction (within 2 ulp) in MetaImage, spacing and offset only in INRIMAGE (others are refused), nothing in raw.
 * Lengths are in the unit that the file says (tsr_volume_unit); NIfTI and NRRD carry it, for the other formats they become millimetres.
 * Header fields without a meaning here become metadata "nifti.descrip", "nrrd.content", "metaimage.Modality" ...; NRRD (as key/value pairs)
 * and MetaImage carry all metadata of a volume, the other formats their own. NIfTI extensions are skipped.
 * PNG: a volume whose third axis counts channels (tsr_volume_channels), u8, or u16 for files of 16 bits; 1, 2 and 4 bits are stretched to 8, palettes become
 * RGB, transparent colours alpha; rows as they lie in the file. Gamma, sRGB, chromaticities, size of a pixel, texts and the EXIF orientation become metadata
 * "png.gamma" ... and come back on writing; a colour profile is named in "png.profile" and not kept. Written is one slice, or 1 to 4 channels of an image,
 * u8 with 8 bits and all else with 16: TSR_ERROR_ARGUMENT, naming the first, for a real value that is not a whole number from 0 to 65535. JPEG: u8 alone.
 * Also images: PGM, PPM, PAM, BMP, WebP, JPEG XL, OpenEXR and Radiance (float32, channels along the third axis); meshes: glTF and GLB, 3MF, VTP; points: LAS, LAZ, E57;
 * volumes: NPZ, VTI.
 * FreeSurfer (.mgz, .mgh; RAS), Analyze 7.5 (read; x is taken to run from right to left), MRC maps (angstroms, no frame), GIPL and VFF (read; no frame) keep what
 * docs/guide/file-formats.md says. Where a format has not all element types the smallest that holds every value is written, or TSR_ERROR_UNSUPPORTED.
 * Volumes have three axes and one value per voxel. Of files with more (frames of NIfTI and MetaImage, layers and components of NRRD, RGB, VDIM of INRIMAGE, a
 * fourth axis of NumPy: the first is of frames if one is chosen, else the last of channels) the options choose one; without the choice they are
 * TSR_ERROR_UNSUPPORTED. */
#ifndef TESSERA_IO_H
#define TESSERA_IO_H

#include "tessera/image.h"
#include "tessera/mesh.h"
#include "tessera/points.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NIfTI files may place their voxels twice. */
typedef enum tsr_form { TSR_FORM_SFORM = 0, TSR_FORM_QFORM } tsr_form;

typedef struct tsr_read_options {
    size_t struct_size;
    const char *format;      /* force a format: "nifti", "nrrd", "metaimage", "inrimage", "raw", "png", "ply", "stl", "obj", "off", "xyz", "pts", "pcd" ...; NULL = recognise */
    int64_t memory_limit;    /* refuse files whose data need more bytes; 0 = physical memory, mapped files apart */
    tsr_size3 raw_shape;     /* raw only: extents */
    tsr_dtype raw_dtype;     /* raw only */
    tsr_vec3 raw_spacing;    /* raw only; zero = 1 */
    int64_t raw_offset;      /* raw only: bytes to skip */
    int raw_big_endian;      /* raw only */
    tsr_progress progress;
    int map_beyond_limit;    /* memory_limit is for what is allocated: voxels that can be mapped from a plain file may be larger */
    int same_folder;         /* for headers that strangers wrote: the file and the data files that it names are plain files, no links, of one folder */
    int32_t *image_bits;     /* tsr_image_read: set to the bits of a channel in the file, 1 to 8 or 16; NULL: not wanted */
    int64_t frame, layer, channel;                  /* of files with more than one, which to read, from 0 ... */
    int frame_given, layer_given, channel_given;    /* ... if != 0 */
    tsr_form prefer;         /* NIfTI: the form that places the voxels, if the file has it */
    int local_origin;        /* meshes, points: where float32 would round the file's coordinates by more than 10^-5 of the extent, they count from an
                              * origin of their own (tsr_mesh_origin); 0: from that of the world, rounded */
    int allow_paths;         /* a header may name data files anywhere; 0: beside it or in folders below, by names without ".." or from the root */
    const char *dataset;     /* HDF5, Zarr, NPZ ...: the path of the array in the file, such as "/entry/data"; NULL: the only one of 3 axes or more */
    int64_t series, level;   /* TIFF, Zarr, DICOM: of several images of different shapes, which; of a pyramid, which level: 0, the finest, unless given ... */
    int series_given, level_given;                  /* ... if != 0; series_given 2: `series` only where the file is no whole: DICOM segmentations are labels */
    tsr_size3 box[2];        /* volumes: the voxels from the first corner to before the second, if ... */
    int box_given;           /* ... != 0; chunks of Zarr and HDF5 outside of it are not read */
    int32_t camera_size[2];  /* pictures of a camera: its width and height. A JPEG that has them as it is stored, but not when turned as its EXIF
                              * orientation asks, is not turned: COLMAP counts pixels so; 0: not known */
} tsr_read_options;
#define TSR_READ_OPTIONS TSR_SIZED(tsr_read_options)

typedef struct tsr_write_options {
    size_t struct_size;
    const char *format;      /* force a format; NULL = by extension */
    int overwrite;           /* 0: an existing file is an error */
    int compression;         /* 0 = the format's default, -1 = none, 1..9 = zlib level */
    int ascii;               /* text variant where the format has one (PLY, STL) */
    int big_endian;          /* where the format has a choice (PLY, NRRD, MetaImage, NIfTI) */
    int detached;            /* NRRD .nhdr + .raw, MetaImage .mhd + .raw, NIfTI .hdr + .img are chosen by extension; here for format given by name */
    tsr_progress progress;
    int regular_only;        /* the target is new or a plain file: a link, which would be followed, or a pipe or device is refused */
    int stored_values;       /* volumes with slope and intercept, in a format without a place that others know for them: write the stored values (NRRD and
                                MetaImage keep slope and intercept for tessera beside them, others refuse). 0: the real values are written, whole numbers as
                                integers, of the same type if it holds them */
    int32_t levels;          /* Zarr: how many levels the pyramid has, each half as fine as the one before (the mean of 2 x 2 x 2 voxels); 0 or 1: no pyramid */
} tsr_write_options;
#define TSR_WRITE_OPTIONS TSR_SIZED(tsr_write_options)

/* `options` may be NULL. RETURNS NEW host volume. Path "-" is standard input. Voxels stay in the file's element type with native byte order.
 * Uncompressed voxels of a large file (1 MiB and more) in native byte order are mapped copy-on-write: reading costs no memory until a voxel is
 * changed, the file is never changed, and it must not be truncated by others while the volume lives (replacing it by rename is fine).
 * Errors: TSR_ERROR_IO (cannot open or read), _FORMAT (damaged, truncated, contradictory: file and field are named), _UNSUPPORTED, _MEMORY. */
TSR_API tsr_status tsr_volume_read(const char *path, const tsr_read_options *options, tsr_volume **volume) TSR_CHECKED;
/* How many frames, layers and channels the file had that the volume was read from (1 where it had no such axis); each may be NULL. */
TSR_API void tsr_volume_parts(const tsr_volume *volume, int64_t *frames, int64_t *layers, int64_t *channels);
/* Of a volume read from a NIfTI file: the affine matrices of its forms, and their codes. 0 unless it has both. */
TSR_API int tsr_nifti_forms(const tsr_volume *volume, double sform[3][4], double qform[3][4], int codes[2]);
/* BORROWS a host volume. Path "-" is standard output (format must be given). By default .nii.gz and .inr.gz are packed, the voxels of NRRD and
 * MetaImage files are not unless `compression` is 1..9. The packed bytes do not depend on the number of threads. Formats "nifti" and "nifti2"
 * by name choose the version; by extension a volume read from NIfTI-2, or with an extent over 32767, is written as NIfTI-2. */
TSR_API tsr_status tsr_volume_write(const tsr_volume *volume, const char *path, const tsr_write_options *options) TSR_CHECKED;

/* Writes `count` host volumes (BORROWS them) of one size, type, scaling and grid as the frames of one file: NIfTI and NRRD (a fourth axis), TIFF (an ImageJ hyperstack, or
 * OME-XML) and Zarr (axis t). Metadata are those of the first; "nifti.pixdim4" is the time from frame to frame. TSR_ERROR_ARGUMENT, naming the frame, where
 * one differs, TSR_ERROR_UNSUPPORTED for other formats and for colours. Read back with options.frame. */
TSR_API tsr_status tsr_volume_write_frames(const tsr_volume *const *frames, int64_t count, const char *path, const tsr_write_options *options) TSR_CHECKED;

/* `options` may be NULL. RETURNS NEW host mesh. Polygons are cut into triangles that cover them, concave ones too and those that are not quite
 * plane (in the plane that fits them; a face that crosses itself or has no area becomes a fan round its first corner, and tsr_mesh_odd_faces counts it);
 * what is not position, vertex normal, vertex colour, part or polygon is skipped. PLY: ascii and both binaries, any order and type of properties,
 * triangle strips, `label` of faces. OBJ: normals are kept
 * if each vertex has one, colours (r g b behind x y z) if all vertices have them; two or more groups or objects are parts. STL: corners with equal
 * coordinates become one vertex. OFF: text, with the prefixes ST, C and N. The frame of the coordinates is taken from a comment (STL: the header) that holds
 * SPACE=RAS or SPACE=LPS. TSR_ERROR_FORMAT for a position that is not finite or an index out of range; normals that are not finite become 0. */
TSR_API tsr_status tsr_mesh_read(const char *path, const tsr_read_options *options, tsr_mesh **mesh) TSR_CHECKED;
/* BORROWS a host mesh. Text keeps float32 to the last bit (9 digits). Positions about an origin are written in float64: 15 digits, PLY as double; binary STL
 * rounds them to float32. STL has no normals of vertices and repeats the corners. What has no place: tsr_file_keeps_mesh. */
TSR_API tsr_status tsr_mesh_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options) TSR_CHECKED;

/* What of a mesh the format that name or extension gives has a place for, as a sum of these: colours of vertices, parts, and coordinates in float64 (an
 * origin far off). TSR_ERROR_ARGUMENT as tsr_file_check_output; touches no file. */
typedef enum tsr_mesh_extras { TSR_MESH_COLORS = 1, TSR_MESH_PARTS = 2, TSR_MESH_ORIGIN = 4 } tsr_mesh_extras;
TSR_API tsr_status tsr_file_keeps_mesh(const char *path, const tsr_write_options *options, int *extras) TSR_CHECKED;

/* `options` may be NULL. RETURNS NEW host points. XYZ: lines of x y z, separated by white space, commas or semicolons, '#' and '//' begin a comment, the
 * first line may name the columns; columns 4 to 6 are normals if each of them is a unit vector (or 0). PTS: the number of points, then lines of x y z
 * and anything more; blocks may follow one another. PCD: ascii, binary and binary_compressed; points that are not a number are left out. PLY, OBJ, OFF,
 * STL: the vertices. TSR_ERROR_FORMAT names the line or the point. */
TSR_API tsr_status tsr_points_read(const char *path, const tsr_read_options *options, tsr_points **points) TSR_CHECKED;
/* BORROWS host points. XYZ (with normals if there are any), PTS, PCD; PLY, OBJ and OFF as meshes without triangles. Radii are not written. */
TSR_API tsr_status tsr_points_write(const tsr_points *points, const char *path, const tsr_write_options *options) TSR_CHECKED;

/* A text as it is, zero-terminated: lists, logs, scripts. "-" is standard output; a name that ends in .gz packs it. Of the options (may be NULL) overwrite,
 * compression, regular_only and progress count. */
TSR_API tsr_status tsr_text_write(const char *text, const char *path, const tsr_write_options *options) TSR_CHECKED;

/* An image (tessera/image.h). Reading RETURNS NEW pixels. */
TSR_API tsr_status tsr_image_write(const tsr_image *image, const char *path, const tsr_write_options *options) TSR_CHECKED;
TSR_API tsr_status tsr_image_read(const char *path, const tsr_read_options *options, tsr_image *image) TSR_CHECKED;
/* A picture as linear light, for what surrounds a scene: Radiance and EXR as they are, of images of 8 and 16 bits without the curve of sRGB; grey three
 * times, further channels left out. At least 2 x 2 pixels, finite and not below 0. RETURNS NEW host f32, width x height x 3 (channels). */
TSR_API tsr_status tsr_panorama_read(const char *path, const tsr_read_options *options, tsr_volume **map) TSR_CHECKED;

/* A JPEG file in memory (baseline, JFIF): what a browser shows while something moves. Grey images and RGB; the alpha of RGBA is left out. `quality` 1 to
 * 100; `subsampled` != 0: colour at half the resolution, smaller and faster. *bytes (RETURNS NEW, tsr_free()) and *size; both zero after a failure.
 * TSR_ERROR_ARGUMENT for extents over 65535 or another quality, TSR_ERROR_UNSUPPORTED in a build without libjpeg. */
TSR_API tsr_status tsr_image_pack_jpeg(const tsr_image *image, int32_t quality, int subsampled, uint8_t **bytes, size_t *size) TSR_CHECKED;

/* From file to file, a slab at a time, in about as much memory as options.memory_limit of `from` says (0: 256 MiB; at least a slice, or what the file packs
 * together): for volumes larger than memory. Voxels, geometry, unit, scaling and metadata are those of tsr_volume_read and tsr_volume_write; stored values
 * stay stored values. TSR_ERROR_UNSUPPORTED for standard input and what cannot be read in pieces (text). */
TSR_API tsr_status tsr_volume_transfer(const char *from, const tsr_read_options *read, const char *to, const tsr_write_options *write) TSR_CHECKED;

/* What a file of several volumes holds: the arrays of HDF5 and Zarr ("dataset"), images of TIFF files ("series") and the levels of a pyramid ("level"), in the
 * words of the options that choose them. RETURNS NEW; a file that holds one volume alone has no entries. */
typedef struct tsr_contents tsr_contents;
typedef struct tsr_contents_entry {
    const char *kind, *name, *type; /* "dataset", "series", "level"; the option's value; the elements as the file calls them. RETURNS VIEWS */
    int32_t axes;
    int64_t size[8]; /* the slowest first, as the file counts them */
} tsr_contents_entry;
TSR_API tsr_status tsr_file_contents(const char *path, const tsr_read_options *options, tsr_contents **contents) TSR_CHECKED;
TSR_API int tsr_contents_at(const tsr_contents *contents, int32_t index, tsr_contents_entry *entry); /* 0: there is no such entry */
TSR_API void tsr_contents_destroy(tsr_contents **contents);

/* Name of the format of a file ("nifti", "ply", ...) and whether it holds a volume, mesh, image, tile list (tessera/tile_file.h), points or
 * film (tessera/video.h; Y4M only): by
 * content or, where no format claims the content, by extension (reading then says what is wrong with it). TSR_ERROR_UNSUPPORTED, saying what it is and
 * what to do, for a content that is known but not read here (FreeSurfer surfaces, archives ...), TSR_ERROR_IO for a folder that holds neither Zarr nor DICOM. TSR_FILE_UNKNOWN and NULL if neither
 * says anything. */
typedef enum tsr_file_kind { TSR_FILE_UNKNOWN = 0, TSR_FILE_VOLUME, TSR_FILE_MESH, TSR_FILE_IMAGE, TSR_FILE_TILES, TSR_FILE_POINTS, TSR_FILE_VIDEO,
               TSR_FILE_UNSTRUCTURED /* tessera/unstructured.h */ } tsr_file_kind;
TSR_API tsr_status tsr_file_recognise(const char *path, tsr_file_kind *kind, const char **format) TSR_CHECKED;
/* What a format named in options holds; TSR_ERROR_ARGUMENT, with the list of all, for a name that is none. */
TSR_API tsr_status tsr_file_format_kind(const char *format, tsr_file_kind *kind) TSR_CHECKED;
/* Before long work: could a volume, mesh or image be written to `path` with these options? Checks the options and that name or extension
 * give a format of this kind; touches no file. */
TSR_API tsr_status tsr_file_check_output(const char *path, tsr_file_kind kind, const tsr_write_options *options) TSR_CHECKED;
/* Does the volume format that name or extension give carry a unit of length of so many millimetres (tsr_volume_unit)? Others get millimetres. */
TSR_API tsr_status tsr_file_keeps_unit(const char *path, const tsr_write_options *options, double unit, int *keeps) TSR_CHECKED;
/* Does the volume format that name or extension give keep all metadata (tsr_volume_set_meta)? What must know how it was made, such as the
 * coefficients of a transform, needs one that does. TSR_ERROR_ARGUMENT as tsr_file_check_output; touches no file. */
TSR_API tsr_status tsr_file_keeps_metadata(const char *path, const tsr_write_options *options, int *keeps) TSR_CHECKED;

/* A file that code of the caller's writes (another library's writer), with the manners of all outputs: it has its name when it is complete, and not before.
 * tsr_file_place is what this process opens for writing (RETURNS VIEW), as often as it likes; the writer checks its own writing. The name's extension
 * means nothing here. Of the options (may be NULL) overwrite and regular_only count. TSR_ERROR_UNSUPPORTED for "-", pipes and devices. */
typedef struct tsr_output tsr_output;
TSR_API tsr_status tsr_file_begin(const char *path, const tsr_write_options *options, tsr_output **file) TSR_CHECKED;
TSR_API const char *tsr_file_place(const tsr_output *file);
/* Both free the file and set it to NULL. tsr_file_discard: NULL is fine. */
TSR_API tsr_status tsr_file_finish(tsr_output **file) TSR_CHECKED;
TSR_API void tsr_file_discard(tsr_output **file);

/* Removes the unfinished files that this process is writing beside their targets (64 at most), where the system gave them names at all, and ends the
 * processes that write them. For the handler of a signal that then ends the
 * process, and only there: nothing can be written to them any more. Async-signal-safe. */
TSR_API void tsr_output_unlink_all(void);

#ifdef __cplusplus
}
#endif
#endif
