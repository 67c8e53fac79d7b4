/* vision/rig/formats.h: the formats, in the order in which they are asked. Included with TSR_RIG_FORMAT(name) defined; see rig.h. */
TSR_RIG_FORMAT(transforms)
TSR_RIG_FORMAT(colmap)
TSR_RIG_FORMAT(colmap_text)
