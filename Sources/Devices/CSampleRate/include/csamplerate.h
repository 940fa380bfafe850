#include "packages.h"
#if !__has_include(<samplerate.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <samplerate.h>
