/* HDF5: the format, the library's way to the bytes of an input, and attributes. */
#define _POSIX_C_SOURCE 200809L
#include "formats/volumes/hdf5/hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The signature stands at the beginning, or behind a block of 512, 1024, 2048 ... bytes of another format's (MATLAB). */
static int recognise(const tsr_signature *s)
{
    for (size_t at = 0; at + 8 <= s->head_bytes; at = at ? 2 * at : 512)
        if (!memcmp(s->head + at, "\x89HDF\r\n\x1a\n", 8)) return TSR_SURELY_MINE;
    return TSR_NOT_MINE;
}

#ifdef TSR_HAVE_HDF5

#include <pthread.h>

/* A thread that has the gate goes through it again: a writer whose voxels come from another file. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int depth;
static char noted[200]; /* the reason of a failure, within the gate */

void tsr_hdf5_lock(void)
{
    if (!depth++) pthread_mutex_lock(&gate);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    noted[0] = 0;
}
void tsr_hdf5_unlock(void)
{
    if (!--depth) pthread_mutex_unlock(&gate);
}

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *user)
{
    char *text = (char *)user;
    if (!*text && error->desc && *error->desc) snprintf(text, 200, "%s", error->desc + strspn(error->desc, "\n "));
    text[strcspn(text, "\n")] = 0;
    return n > 20;
}

herr_t tsr_hdf5_note(herr_t failed)
{
    if (failed < 0 && !*noted) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, noted);
    return failed;
}

const char *tsr_hdf5_reason(char text[200])
{
    tsr_hdf5_note(-1);
    snprintf(text, 200, "%s", *noted ? noted : "no reason given");
    noted[0] = 0;
    H5Eclear2(H5E_DEFAULT);
    return text;
}

/* ---- a driver over memory ---------------------------------------------------------------------------------------------------------------------- */

typedef struct bytes_of {
    const uint8_t *bytes;
    size_t size;
    char name[64]; /* what the library must ask for: links to other files ask for others */
} bytes_of;

typedef struct memory_file {
    H5FD_t public; /* first: the library's own */
    bytes_of of;
    haddr_t end;
} memory_file;

static void *copy_of(const void *from)
{
    void *copy = malloc(sizeof(bytes_of));
    if (copy) memcpy(copy, from, sizeof(bytes_of));
    return copy;
}
static herr_t free_of(void *of) { return free(of), 0; }
static void *get_of(H5FD_t *file) { return copy_of(&((memory_file *)file)->of); }

static H5FD_t *open_memory(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const bytes_of *of = (const bytes_of *)H5Pget_driver_info(access);
    (void)most;
    if (!of || flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT) || strcmp(name, of->name)) return NULL;
    memory_file *file = (memory_file *)calloc(1, sizeof *file);
    if (file) file->of = *of;
    return (H5FD_t *)file;
}
static herr_t close_memory(H5FD_t *file) { return free(file), 0; }
static int compare_memory(const H5FD_t *a, const H5FD_t *b)
{
    const uint8_t *x = ((const memory_file *)a)->of.bytes, *y = ((const memory_file *)b)->of.bytes;
    return x < y ? -1 : x > y;
}
static herr_t query_memory(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
    return 0;
}
static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type) { return (void)type, ((const memory_file *)file)->end; }
static herr_t set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end) { return (void)type, ((memory_file *)file)->end = end, 0; }
static haddr_t get_size(const H5FD_t *file, H5FD_mem_t type) { return (void)type, ((const memory_file *)file)->of.size; }
static herr_t read_memory(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *to)
{
    const bytes_of *of = &((const memory_file *)file)->of;
    (void)type, (void)transfer;
    if (at > of->size) return -1;
    const size_t n = size < of->size - at ? size : of->size - (size_t)at;
    memcpy(to, of->bytes + at, n);
    memset((uint8_t *)to + n, 0, size - n); /* as other drivers do behind the end */
    return 0;
}
static herr_t write_memory(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *from)
{
    (void)file, (void)type, (void)transfer, (void)at, (void)size, (void)from;
    return -1;
}

static const H5FD_class_t memory_driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511,
#endif
    .name = "tessera",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(bytes_of),
    .fapl_get = get_of,
    .fapl_copy = copy_of,
    .fapl_free = free_of,
    .open = open_memory,
    .close = close_memory,
    .cmp = compare_memory,
    .query = query_memory,
    .get_eoa = get_end,
    .set_eoa = set_end,
    .get_eof = get_size,
    .read = read_memory,
    .write = write_memory,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t tsr_hdf5_open(tsr_input *input)
{
    bytes_of of = { 0 };
    if (tsr_input_all(input, &of.bytes, &of.size) != TSR_OK) return -1;
    tsr_hdf5_filters();
    snprintf(of.name, sizeof of.name, "bytes at %p", (const void *)of.bytes);
    static hid_t driver = -1; /* once: the library forgets to free it after a file that cannot be opened */
    if (driver < 0 || H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&memory_driver);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (driver >= 0 && access >= 0 && H5Pset_driver(access, driver, &of) >= 0)
        tsr_hdf5_note((file = H5Fopen(of.name, H5F_ACC_RDONLY, access)) < 0 ? -1 : 0);
    if (access >= 0) H5Pclose(access);
    return file;
}

/* ---- attributes -------------------------------------------------------------------------------------------------------------------------------- */

int tsr_hdf5_numbers(hid_t object, const char *name, double *numbers, int most)
{
    int count = 0;
    if (H5Aexists(object, name) <= 0) return 0;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (n > 0 && n <= most && (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Aread(attribute, H5T_NATIVE_DOUBLE, numbers) >= 0) count = (int)n;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return count;
}

/* One text of fixed length, or an array of single characters (Imaris), or of any length. */
int tsr_hdf5_text(hid_t object, const char *name, char *text, size_t room)
{
    int found = 0;
    text[0] = 0;
    if (H5Aexists(object, name) <= 0) return 0;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && n > 0) {
        if (H5Tis_variable_str(type) > 0 && n == 1) {
            char *value = NULL;
            const hid_t memory = H5Tcopy(type);
            if (memory >= 0 && H5Aread(attribute, memory, &value) >= 0 && value) {
                snprintf(text, room, "%s", value);
                found = 1;
            }
            if (value) H5free_memory(value);
            if (memory >= 0) H5Tclose(memory);
        } else if (H5Tis_variable_str(type) == 0) {
            const size_t size = H5Tget_size(type) * (size_t)n;
            char *value = size && size <= 1 << 20 ? (char *)calloc(1, size + 1) : NULL;
            if (value && H5Aread(attribute, type, value) >= 0) {
                snprintf(text, room, "%s", value);
                found = 1;
            }
            free(value);
        }
    }
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return found;
}

#else

static tsr_status left_out(const char *name)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is an HDF5 file, which this build neither reads nor writes: it has no HDF5; package libhdf5-dev", name);
}

tsr_status tsr_hdf5_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options;
    *volume = NULL;
    return left_out(tsr_input_name(input));
}

tsr_status tsr_hdf5_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    (void)options, (void)contents;
    return left_out(tsr_input_name(input));
}

tsr_status tsr_hdf5_write(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    (void)volume, (void)options;
    return left_out(path);
}

#endif

const tsr_format tsr_format_hdf5 = { .name = "hdf5",
                                     .kind = TSR_FILE_VOLUME,
                                     .extensions = { ".h5", ".hdf5", ".hdf", ".ims", ".nxs" },
                                     .recognise = recognise,
                                     .keeps_metadata = 1,
                                     .units = TSR_UNITS_ANY,
                                     .boxes = 1,
                                     .datasets = 1,
                                     .levels = 1,
                                     .read_volume = tsr_hdf5_read,
                                     .write_volume = tsr_hdf5_write,
                                     .list = tsr_hdf5_list };
