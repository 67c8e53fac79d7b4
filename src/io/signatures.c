/* io/signatures.c: what people also have: formats that are not read here, known by their content, and what to do with them. One row a format. */
#define _GNU_SOURCE /* memmem, scandir */
#include "io/signatures.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/little_endian.h"

typedef struct signature {
    int at; /* where the magic lies */
    int bytes;
    const char *magic, *within; /* `within`: text that the first 4096 bytes hold, too; may be NULL */
    const char *name, *advice;
} signature;

#define A_FILM "expected a file with the ending of a film, such as .avi, .mp4 or .mkv; from a pipe Y4M: ffmpeg -i FILE -f yuv4mpegpipe -"
#define TO_NIFTI "expected NIfTI, NRRD or MetaImage, which "
static const signature table[] = {
    { 0, 4, "CDF\x01", NULL, "a NetCDF file (also MINC 1)", "expected NRRD or NumPy: xarray and numpy.save, or mnc2nii for MINC" },
    { 0, 4, "CDF\x02", NULL, "a NetCDF file", "expected NRRD or NumPy: xarray and numpy.save" },
    { 0, 5, "<?xml", "<VTKFile", "a VTK XML file",
      "expected .vti for images, .vtu or .vtp for points and surfaces, legacy VTK, PLY or STL for grids and meshes: ParaView writes them" },
    { 0, 8, "<VTKFile", NULL, "a VTK XML file",
      "expected .vti for images, .vtu or .vtp for points and surfaces, legacy VTK, PLY or STL for grids and meshes: ParaView writes them" },
    { 0, 5, "<?xml", "<GIFTI", "a GIFTI surface", "expected PLY, OBJ, OFF or STL: mris_convert or nibabel and trimesh write them" },
    { 0, 5, "<?xml", "<COLLADA", "a COLLADA scene", "expected PLY, OBJ, OFF or STL, which Blender or Assimp write" },
    { 0, 5, "<?xml", "<X3D", "an X3D scene", "expected PLY, OBJ, OFF or STL, which MeshLab or Blender write" },
    { 0, 3, "\xff\xff\xfe", NULL, "a FreeSurfer surface", "expected PLY, OBJ, OFF or STL: mris_convert --to-scanner writes STL" },
    { 0, 18, "Kaydara FBX Binary", NULL, "an FBX scene", "expected PLY, OBJ, OFF or STL, which Blender writes" },
    { 0, 7, "BLENDER", NULL, "a Blender file", "expected PLY, OBJ, OFF or STL, which Blender exports" },
    { 0, 8, "PXR-USDC", NULL, "a USD scene", "expected PLY, OBJ, OFF or STL, which Blender writes" },
    { 0, 5, "#usda", NULL, "a USD scene", "expected PLY, OBJ, OFF or STL, which Blender writes" },
    { 0, 5, "Ogawa", NULL, "an Alembic scene", "expected PLY, OBJ, OFF or STL, which Blender writes" },
    { 0, 12, "ISO-10303-21", NULL, "a STEP model", "expected STL, which FreeCAD or Gmsh make of it" },
    { 0, 8, "\0\0\0\x0cjP  ", NULL, "a JPEG 2000 image", "expected PNG, which opj_decompress makes of it" },
    { 0, 4, "\xff\x4f\xff\x51", NULL, "a JPEG 2000 codestream", "expected PNG, which opj_decompress makes of it" },
    { 0, 6, "GIF87a", NULL, "a GIF image", "expected PNG, or a film: ffmpeg and ImageMagick make them" },
    { 0, 6, "GIF89a", NULL, "a GIF image", "expected PNG, or a film: ffmpeg and ImageMagick make them" },
    { 4, 8, "ftypavif", NULL, "an AVIF image", "expected PNG, which avifdec or ImageMagick make of it" },
    { 4, 8, "ftypheic", NULL, "a HEIC image", "expected PNG, which heif-convert or ImageMagick make of it" },
    { 0, 4, "8BPS", NULL, "a Photoshop image", "expected PNG, which ImageMagick makes of it" },
    { 0, 7, "MATRIX7", NULL, "an ECAT 7 file", TO_NIFTI "nibabel makes of it" },
    { 0, 28, "# === DATA DESCRIPTION FILE ", NULL, "the header of a Philips PAR/REC pair", TO_NIFTI "dcm2niix or nibabel make of it" },
    { 0, 5, "\ntype", "-attribute", "the header of an AFNI pair (HEAD and BRIK)", TO_NIFTI "3dAFNItoNIFTI or nibabel make of it" },
    { 0, 4, "type", "-attribute\nname", "the header of an AFNI pair (HEAD and BRIK)", TO_NIFTI "3dAFNItoNIFTI or nibabel make of it" },
    { 0, 12, "mrtrix image", NULL, "an MRtrix image", TO_NIFTI "mrconvert makes of it" },
    { 0, 13, "mrtrix tracks", NULL, "a file of tracks (MRtrix)", "expected points or lines as VTK, PLY or OBJ: tckconvert writes them" },
    { 0, 6, "TRACK\0", NULL, "a file of tracks (TrackVis)", "expected points or lines as VTK, PLY or OBJ: nibabel and DIPY read them" },
    { 0, 11, "$MeshFormat", NULL, "a Gmsh mesh", "expected .vtu or legacy VTK for grids, STL or PLY for surfaces: gmsh and meshio write them" },
    { 0, 5, "#!TDV", NULL, "a Tecplot file", "expected .vtu or legacy VTK: ParaView and meshio write them" },
    { 0, 10, "ZISRAWFILE", NULL, "a Zeiss CZI image", "expected NRRD or NumPy, which ImageJ (Bio-Formats) or czifile make of it" },
    { 0, 4, "\xda\xce\xbe\x0a", NULL, "a Nikon ND2 image", "expected NRRD or NumPy, which ImageJ (Bio-Formats) or nd2 make of it" },
    { 0, 5, "%PDF-", NULL, "a PDF document", "expected a picture, which pdftoppm -png makes of its pages" },
    { 0, 4, "PK\x03\x04", NULL, "a zip archive", "expected one of the files in it: unzip it" },
    { 257, 5, "ustar", NULL, "a tar archive", "expected one of the files in it: tar -xf unpacks it" },
    { 0, 6, "7z\xbc\xaf\x27\x1c", NULL, "a 7z archive", "expected one of the files in it: 7z x unpacks it" },
    { 0, 4, "Rar!", NULL, "a RAR archive", "expected one of the files in it: unrar x unpacks it" },
    { 4, 6, "1AY&SY", "BZh", "a file packed by bzip2", "expected it unpacked (bunzip2) or packed by gzip" },
    { 0, 6,
      "\xfd"
      "7zXZ\0",
      NULL, "a file packed by xz", "expected it unpacked (unxz) or packed by gzip" },
    { 0, 4, "\x28\xb5\x2f\xfd", NULL, "a file packed by zstd", "expected it unpacked (unzstd) or packed by gzip" },
    { 8, 4, "AVI ", "RIFF", "an AVI film", A_FILM },
    { 4, 4, "ftyp", NULL, "an MP4 or QuickTime file", A_FILM },
    { 0, 4, "\x1a\x45\xdf\xa3", NULL, "a Matroska or WebM film", A_FILM },
    { 0, 4, "OggS", NULL, "an Ogg film", A_FILM },
    { 0, 4, "FLV\x01", NULL, "a Flash film", A_FILM },
    { 0, 4, "\0\0\x01\xba", NULL, "an MPEG film", A_FILM },
    { 0, 8, "TSRMIPY1", NULL, "a pyramid for maximum intensity projection", "expected a volume, mesh or image: tessera mip reads it" },
    { 0, 8, "\x89TDF\r\n\x1a\n", NULL, "a depth film", "expected a volume, mesh or image: tessera depthfilm reads it" },
    { 0, 8, "\x89MVV\r\n\x1a\n", NULL, "a stream of multi-view textures", "expected a volume, mesh or image: tessera mvv reads it" },
    { 0, 15, "SQLite format 3", NULL, "an SQLite database", "expected a volume, mesh, image or points" },
    { 0, 4, "PAR1", NULL, "a Parquet table", "expected a volume, mesh, image or points" },
    { 0, 23, "version https://git-lfs.", NULL, "a pointer of Git LFS, not the file itself", "expected the file: git lfs pull fetches it" },
    { 0, 9, "<!DOCTYPE", "html", "a web page", "expected a file of data: was it a download that failed?" },
    { 0, 5, "<html", NULL, "a web page", "expected a file of data: was it a download that failed?" },
};

int tsr_signature_is_dicom(const uint8_t *head, size_t bytes)
{
    if (bytes >= 132 && !memcmp(head + 128, "DICM", 4)) return 2;
    if (bytes < 64) return 0;
    if (!head[0] && head[1] == 8 && !head[2]) /* a bare data set of the retired big-endian syntax, which is always explicit */
        return !memcmp(head + 4, "UL\0\4", 4) || !memcmp(head + 4, "CS", 2) || !memcmp(head + 4, "UI", 2);
    if ((head[0] != 8 && head[0] != 2) || head[1] || head[3]) return 0;
    if (!memcmp(head + 4, "UL\4\0", 4) || !memcmp(head + 4, "CS", 2) || !memcmp(head + 4, "UI", 2)) return 1;
    if (!head[2] && !memcmp(head + 4, "\4\0\0\0", 4)) return 1; /* implicit: the length of the group */
    const size_t next = 8u + head[4];                           /* or one of the first elements there are, and one of the group behind it */
    return head[0] == 8 && (head[2] == 5 || head[2] == 8 || head[2] == 0x16 || head[2] == 0x18) && !head[5] && !head[6] && !head[7] &&
           !(head[4] & 1) && next + 4 <= bytes && head[next] == 8 && !head[next + 1] && !head[next + 3] && head[next + 2] > head[2];
}

int tsr_signature_find(const uint8_t *head, size_t bytes, const char **name, const char **advice)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const signature *s = &table[i];
        if (bytes < (size_t)s->at + (size_t)s->bytes || memcmp(head + s->at, s->magic, (size_t)s->bytes)) continue;
        if (s->within && !memmem(head, bytes < 4096 ? bytes : 4096, s->within, strlen(s->within))) continue;
        *name = s->name;
        *advice = s->advice;
        return 1;
    }
    return 0;
}

/* A plain file that says of itself that it is DICOM. */
static int is_dicom_file(const char *path)
{
    uint8_t head[132];
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode)) return 0;
    FILE *opened = fopen(path, "rb");
    const size_t got = opened ? fread(head, 1, sizeof head, opened) : 0;
    if (opened) fclose(opened);
    return tsr_signature_is_dicom(head, got) == 2;
}

/* The first DICOM file of the folder, in the order of names, or of the folders in it. */
static int find_dicom(const char *path, char *found, size_t room, int depth, int *left)
{
    enum { DEPTH_MOST = 8 };
    struct dirent **entry = NULL;
    const int count = scandir(path, &entry, NULL, alphasort);
    const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
    int there = 0;
    for (int folders = 0; folders < 2; folders++)
        for (int i = 0; i < count && !there && *left > 0; i++) {
            const char *name = entry[i]->d_name;
            char inner[4096];
            if (name[0] == '.' || !strcmp(name, "DICOMDIR") || (folders && entry[i]->d_type != DT_DIR)) continue;
            if (snprintf(inner, sizeof inner, "%s%s%s", path, slash, name) >= (int)sizeof inner) continue;
            (*left)--;
            if (folders) there = depth < DEPTH_MOST && find_dicom(inner, found, room, depth + 1, left);
            else if (is_dicom_file(inner)) there = snprintf(found, room, "%s", inner) < (int)room;
        }
    for (int i = 0; i < count; i++) free(entry[i]);
    free(entry);
    return there;
}

int tsr_signature_folder_header(const char *path, char *header, size_t room)
{
    static const char *const files[] = { "zarr.json", ".zarray", ".zgroup", ".zattrs" };
    const size_t n = strlen(path);
    int left = 2000; /* files that are looked at */
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (snprintf(header, room, "%s%s%s", path, n && path[n - 1] == '/' ? "" : "/", files[k]) < (int)room && !access(header, R_OK)) return 1;
    return find_dicom(path, header, room, 0, &left);
}
