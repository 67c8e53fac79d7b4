/* viewer/shows/rig_file.h: files of rigs, as the modes `cameras` and `views` read them: the text alone. A rig that names other files gets none of them by this. */
#ifndef TESSERA_VIEWER_RIG_FILE_H
#define TESSERA_VIEWER_RIG_FILE_H

#include "session.h"

#define VIEWER_RIG_EXPECTS "a rig (transforms.json, .par, bundle.out, .yml, .xml, .geocast, .tum, .kitti)"
const char *viewer_rig_format(const char *name); /* by its ending, as tsr_rig_read_text has it; NULL: no rig */
/* A rig with a camera at least. 0, or -1 with a message. RETURNS NEW. */
int viewer_rig_read(viewer_session *session, const char *name, tsr_rig **rig, char *error, size_t error_bytes);

#endif
