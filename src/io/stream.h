/* io/stream.h: where the bytes of a file come from and go to. Readers never open, map, decompress or allocate by themselves.
 *
 * Input is a file, standard input or a block of memory (fuzzing). A gzip wrapper round the whole is taken off unseen. A reader looks at
 * the head, works out where the data lie, and asks for them; every request is checked against the bytes that are there and against
 * the memory limit before memory is taken.
 *
 * Output goes to a new file in the target's folder, which has its name when it is complete: a failure leaves the target as it was. Errors stick: after the first
 * one every write does nothing and returns it again, so a writer may check only tsr_output_commit. */
#ifndef TSR_IO_STREAM_H
#define TSR_IO_STREAM_H

#include "core/core.h"
#include "tessera/io.h"

typedef struct tsr_input tsr_input;

typedef struct tsr_input_options {
    int64_t memory_limit;         /* 0 = physical memory for what is allocated, none for what is mapped */
    const tsr_progress *progress; /* KEEPS; may be NULL */
    int keep_gzip;                /* do not take off a gzip wrapper */
    int regular_only;             /* refuse pipes and devices: for files that a header names */
    int map_beyond_limit;         /* the limit is for what is allocated alone */
    int same_folder;              /* refuse links, pipes, devices, and data files of other folders */
    int allow_paths;              /* a header may name data files anywhere, not beside it or below alone */
    int keep_fans;                /* meshes: polygons become fans round their first corner, whatever their shape: the same in all files of a sequence */
    struct tsr_voxel_place *place; /* not NULL: readers of volumes say here where the voxels lie and leave them there (formats/pieces.h) */
} tsr_input_options;

/* Path "-" is standard input. `options` may be NULL. */
tsr_status tsr_input_open(const char *path, const tsr_input_options *options, tsr_input **input);
/* KEEPS `bytes`. `name` stands in error messages. Such an input has no folder: detached data are refused. */
tsr_status tsr_input_memory(const void *bytes, size_t size, const char *name, const tsr_input_options *options, tsr_input **input);
void tsr_input_close(tsr_input **input);

const char *tsr_input_name(const tsr_input *input); /* for messages: the path, or "standard input" */
const char *tsr_input_path(const tsr_input *input); /* NULL for standard input and memory */
const tsr_input_options *tsr_input_settings(const tsr_input *input); /* to open files that this one names */
int64_t tsr_input_size(const tsr_input *input); /* bytes of content, -1 while unknown (pipes, gzip) */

/* The first bytes of the content: `want` of them, fewer if the content ends before. RETURNS VIEW, valid until the next call on the input. */
tsr_status tsr_input_head(tsr_input *input, size_t want, const uint8_t **bytes, size_t *size);
/* The whole content. RETURNS VIEW, valid until the input is closed. What text formats use. */
tsr_status tsr_input_all(tsr_input *input, const uint8_t **bytes, size_t *size);

/* Fails with TSR_ERROR_FORMAT unless the content can hold [offset, offset + bytes), with TSR_ERROR_MEMORY if `bytes` is over the limit.
 * For a pipe or gzip, where the size is not known, only the largest possible size is checked. `what` names the data ("voxels"). */
tsr_status tsr_input_check(tsr_input *input, int64_t offset, int64_t bytes, const char *what);
/* Copies content [offset, offset + bytes) to `to`, element by element in native byte order (`swap` != 0 reverses each element's bytes). */
tsr_status tsr_input_read(tsr_input *input, int64_t offset, int64_t bytes, size_t element, int swap, void *to, const char *what);
/* Inflates the content from `offset` (`packed` bytes of it; -1 = to the end) and copies `bytes` bytes of the result after the first `skip`. */
typedef enum tsr_wrapper { TSR_WRAPPER_GZIP, TSR_WRAPPER_ZLIB } tsr_wrapper;
tsr_status tsr_input_inflate(tsr_input *input, int64_t offset, int64_t packed, tsr_wrapper wrapper, int64_t skip, int64_t bytes, size_t element,
                             int swap, void *to, const char *what);
/* The same to a function, a part after the other, and in memory for a part alone. The content may be a gzip file as it is: offset 0, TSR_WRAPPER_GZIP. */
typedef tsr_status (*tsr_input_sink)(void *user, const void *bytes, size_t size);
tsr_status tsr_input_inflate_to(tsr_input *input, int64_t offset, int64_t packed, tsr_wrapper wrapper, int64_t skip, int64_t bytes,
                                tsr_input_sink sink, void *user, const char *what);
int tsr_input_is_gzip(const tsr_input *input);
/* The system may take back the memory of what was read of a mapped file. */
void tsr_input_forget(tsr_input *input);

/* Memory with its release function, as tsr_volume_wrap adopts it. */
typedef struct tsr_block {
    void *data;
    void (*release)(void *user, void *data);
    void *user;
} tsr_block;
/* Fresh memory, uninitialised, 64-byte aligned, counted against the input's limit. */
tsr_status tsr_input_allocate(tsr_input *input, int64_t bytes, const char *what, tsr_block *block);
/* As tsr_input_read, into memory of its own: a copy-on-write mapping of the file where that is possible (a large plain file in native
 * byte order and aligned to the element), one buffer otherwise, which a gzip file is decoded into directly. */
tsr_status tsr_input_take(tsr_input *input, int64_t offset, int64_t bytes, size_t element, int swap, const char *what, tsr_block *block);
void tsr_block_release(tsr_block *block);
/* `bytes` from `data` on of a block will not be read soon. Where it is a mapped file (`release` is the block's) their memory may be taken back; what was
 * written there stays. */
void tsr_block_rest(void (*release)(void *user, void *data), const void *data, size_t bytes);

/* Opens a file that the header `input` names: relative names are relative to the header's folder. */
tsr_status tsr_input_open_beside(const tsr_input *input, const char *name, int keep_gzip, tsr_input **beside);

/* Path "-" is standard output; an existing pipe or device is written in place. An existing file is an error unless options->overwrite.
 * The content is wrapped as gzip if the path ends in ".gz", at the level options->compression asks for. BORROWS options. */
tsr_status tsr_output_open(const char *path, const tsr_write_options *options, tsr_output **output);
/* The same under a name of its own from the beginning: for a program that writes it for us. */
tsr_status tsr_output_open_named(const char *path, const tsr_write_options *options, tsr_output **output);
tsr_status tsr_output_write(tsr_output *output, const void *bytes, size_t size);
/* To a pipe or a device: what was written so far goes on its way, for who reads along. A file gets it when there is enough. */
tsr_status tsr_output_pass(tsr_output *output);
tsr_status tsr_output_printf(tsr_output *output, const char *format, ...) TSR_PRINTF(2, 3);
/* Writes `count` elements of `element` bytes, reversing the bytes of each if `swap`. */
tsr_status tsr_output_elements(tsr_output *output, const void *elements, int64_t count, size_t element, int swap);
/* From here on bytes are deflated (level 1..9, 0 = the default) until tsr_output_deflate_end, which returns the packed size. */
tsr_status tsr_output_deflate_begin(tsr_output *output, tsr_wrapper wrapper, int level);
tsr_status tsr_output_deflate_end(tsr_output *output, int64_t *packed);
/* Overwrites bytes already written; only where tsr_output_can_patch (a plain file without gzip). */
int tsr_output_can_patch(const tsr_output *output);
int64_t tsr_output_position(const tsr_output *output);
/* The name beside the target, which ends in the target's extension. NULL when it has none, or is written in place. RETURNS VIEW. */
const char *tsr_output_temporary(const tsr_output *output);
tsr_status tsr_output_patch(tsr_output *output, int64_t offset, const void *bytes, size_t size);
/* Completes the file and gives it its name. Frees the output and sets it to NULL in every case. */
tsr_status tsr_output_commit(tsr_output **output);
/* The same for two files that belong together: both or none. `second` names `first`, so it appears last. */
tsr_status tsr_output_commit_pair(tsr_output **first, tsr_output **second);
/* Removes what was written. NULL is fine. */
void tsr_output_abort(tsr_output **output);
/* Commits if status is TSR_OK, else aborts and returns `status`: the last line of every writer. */
tsr_status tsr_output_finish(tsr_output **output, tsr_status status);

int tsr_host_big_endian(void);
void tsr_swap_elements(void *elements, int64_t count, size_t element);              /* in place; element 1, 2, 4 or 8 */
int tsr_path_has_extension(const char *path, const char *extension);                /* ".nii.gz"; without regard to case */
tsr_status tsr_path_replace(const char *path, const char *extension, const char *by, char **result); /* new string; the extension must be there */
const char *tsr_path_file(const char *path);                                        /* the part after the last '/' */

#endif
