/* Moves a ball by the term of term.c: uses_term MODULE. */
#include <math.h>
#include <stdio.h>
#include <tessera/tessera.h>

int main(int argc, char **argv)
{
    const float speed = 3;
    const tsr_shape ball = { .kind = TSR_SHAPE_SPHERE, .radius = 6 };
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset_user user;
    tsr_context *context = NULL;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    where.device = "cpu";
    tsr_status status = argc == 2 ? tsr_context_create(&where, &context) : TSR_ERROR_ARGUMENT;
    if (status == TSR_OK) status = tsr_term_load(context, argv[1], sizeof speed, &user);
    if (status == TSR_OK) status = tsr_tiles_shape(context, NULL, NULL, &ball, &tiles);
    user.data = &speed;
    options.terms[0].kind = TSR_LEVELSET_USER;
    options.terms[0].value = 1;
    options.terms[0].user = &user;
    options.term_count = 1;
    if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
    if (status == TSR_OK) status = tsr_levelset_advance(solver, 2, NULL, NULL);
    if (status == TSR_OK) status = tsr_tiles_measure(tiles, &m);
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    if (status != TSR_OK) fprintf(stderr, "uses_term: %s\n", tsr_error_message());
    return status != TSR_OK || fabs(m.centroid.x - 6) > 0.05;
}
