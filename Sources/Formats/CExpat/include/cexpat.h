#include "packages.h"
#if !__has_include(<expat.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <expat.h>

/* Whether the library is there; without it, a call of it ends the process. */
_Bool temblor_has_expat(void);
