/* What emu.cpp needs of a module and the test has not: the tables of the subjects (empty) and the attachment to a library. */
#include "device/module.h"

#define TSR_SUBJECT(name) extern const char tsr_##name##_cuda[8]; const char tsr_##name##_cuda[8] = "";
#include "device/subjects.h"

void tsr_module_attach(const tsr_module_host *host) { (void)host; }
