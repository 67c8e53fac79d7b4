/* tools/tessera/films.h: films in and out of verbs that work picture by picture. */
#ifndef TESSERA_CLI_FILMS_H
#define TESSERA_CLI_FILMS_H

#include "cli.h"

/* The inputs of a verb as one row of pictures: films are taken apart, pictures are what they are. */
typedef struct cli_frames {
    cli_call *cli;
    tsr_video_reader *reader; /* of the input at hand, NULL for a picture */
    int input;                /* index of the input at hand, -1 before the first */
    int64_t number;           /* of the frame within its film, from 0 */
    int64_t count;            /* pictures that came so far */
    int32_t rate[2];          /* of the first film; 25, 1 without */
    tsr_image image;          /* the picture at hand */
    char name[300];           /* "film.mp4:12", or the file of a picture: for results and messages */
} cli_frames;
#define CLI_FRAMES(call)                              \
    {                                                 \
        .cli = (call), .input = -1, .rate = { 25, 1 } \
    }

/* The next picture. *more is 0 at the end. Returns an exit code. */
int cli_frames_next(cli_frames *frames, int *more);
void cli_frames_destroy(cli_frames *frames);
/* Whether a picture is all there is: one input, and no film. */
int cli_frames_single(const cli_call *cli);

/* Where pictures go: a film, or one picture file. Begun by the first picture. */
typedef struct cli_film {
    const char *path; /* NULL = nowhere; "-" = standard output: a picture as PNG, a film as Y4M */
    int is_film;      /* as cli_film_check found */
    tsr_video_writer *writer;
} cli_film;
/* Sets film->path and checks it before any work: a film, or a picture where `single`. Returns an exit code. */
int cli_film_check(const cli_call *cli, cli_film *film, const char *path, int single);
/* Once the first picture is known, before there is work on it: a film of such pictures can be written, or the exit code. */
int cli_film_begin(const cli_call *cli, cli_film *film, int32_t width, int32_t height, int32_t channels, const cli_frames *frames);
int cli_film_append(const cli_call *cli, cli_film *film, const tsr_image *image, const cli_frames *frames);
/* Completes the film if `code` is CLI_OK, else removes it. Returns the exit code. */
int cli_film_finish(const cli_call *cli, cli_film *film, int code);
/* After the last picture: CLI_OK, or an error if none came, as from a film that ends after its header. */
int cli_frames_any(const cli_frames *frames);

/* tessera convert between films. */
int cli_film_convert(cli_call *cli, const char *output, const char *format);

#endif
