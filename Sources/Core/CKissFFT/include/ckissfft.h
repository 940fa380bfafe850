#include "packages.h"
#if !__has_include(<kissfft/kiss_fftr.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <kissfft/kiss_fftr.h>
