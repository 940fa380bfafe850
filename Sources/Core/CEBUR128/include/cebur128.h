#include "packages.h"
#if !__has_include(<ebur128.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <ebur128.h>
