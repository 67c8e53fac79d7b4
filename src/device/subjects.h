/* device/subjects.h: the subjects that have a table of operations, one line each; included with TSR_SUBJECT defined, several times. */
TSR_SUBJECT(volume)
TSR_SUBJECT(distance)
TSR_SUBJECT(tiles)
TSR_SUBJECT(levelset)
TSR_SUBJECT(surface)
TSR_SUBJECT(pyramid)
TSR_SUBJECT(primitives)
TSR_SUBJECT(render)
