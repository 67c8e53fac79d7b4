/* device/recording.h: is work being recorded (device/kernel.h, tsr_graph_begin)? A graph is not launched into another. */
#ifndef TSR_DEVICE_RECORDING_H
#define TSR_DEVICE_RECORDING_H

#include "device/backend.h"

int tsr_queue_recording(const tsr_queue *queue);

#endif
