#include "tessera/fusion.h"
