#include "packages.h"
#if !__has_include(<alsa/asoundlib.h>)
TEMBLOR_PACKAGES_ARE_MISSING
#endif
#include <alsa/asoundlib.h>

/* Whether the library is there; without it, a call of it ends the process. */
_Bool temblor_has_asound(void);

/* Swift cannot make a function with a variable number of arguments, which this handler must be. */
static void temblor_alsa_ignore(
    const char *file, int line, const char *function, int code, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)code, (void)format;
}

/* Keeps the library from printing what it thinks of a call: its results say enough. */
static inline void temblor_alsa_be_silent(void) {
  snd_lib_error_set_handler(temblor_alsa_ignore);
}
