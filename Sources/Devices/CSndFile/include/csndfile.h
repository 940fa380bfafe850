#include "packages.h"
#if !__has_include(<sndfile.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <sndfile.h>

/* Whether the library is there; without it, a call of it ends the process. */
_Bool temblor_has_sndfile(void);
