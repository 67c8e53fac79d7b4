/* tests/formats/scratch.h: a folder of its own for the files of one test program. */
#ifndef TSR_TESTS_IO_SCRATCH_H
#define TSR_TESTS_IO_SCRATCH_H

#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[64];

static int scratch_make(void **state)
{
    (void)state;
    snprintf(scratch_folder, sizeof scratch_folder, "/tmp/tessera-io-XXXXXX");
    return mkdtemp(scratch_folder) ? 0 : -1;
}
/* Number of files in the folder; removes them if asked. */
static inline int scratch_files(int remove_them)
{
    int count = 0;
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[512];
        if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.')) continue;
        snprintf(path, sizeof path, "%s/%s", scratch_folder, entry->d_name);
        if (remove_them && unlink(path)) rmdir(path);
        count++;
    }
    if (folder) closedir(folder);
    return count;
}
static int scratch_remove(void **state)
{
    (void)state;
    scratch_files(1);
    return rmdir(scratch_folder);
}
/* A path in the folder, in one of four buffers used in turn. */
static inline const char *scratch(const char *name)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}
static inline void scratch_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(scratch(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}
static inline void *scratch_read(const char *name, size_t *size)
{
    FILE *file = fopen(scratch(name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = (char *)malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

#endif
