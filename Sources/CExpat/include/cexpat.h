#include "packages.h"
#if !__has_include(<expat.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <expat.h>
