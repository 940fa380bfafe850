#include "packages.h"
#if !__has_include(<sndfile.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <sndfile.h>
