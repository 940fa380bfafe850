/* Functions of a shared library that is loaded at the first call of one of them, so that a program that calls none
   starts without it. All functions of a library are looked up at once: whoever has called one can call the others from
   the render thread. Where the library is missing, the process says so and ends with status 1; linked the usual way
   it would not have started. */

#ifndef TEMBLOR_LATE_H
#define TEMBLOR_LATE_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* Loads a library and looks its functions up; any thread may call, one at a time does the work. */
void temblor_load_library(
    const char *file, int binding, const char *const *names, void **functions, size_t count, atomic_bool *is_loaded);

/* Whether a library can be loaded, for callers that can do without. */
_Bool temblor_has_library(const char *file);

#define TEMBLOR_LATE_POINTER(result, name, parameters, arguments) __typeof__(name) *name;
#define TEMBLOR_LATE_NAME(result, name, parameters, arguments) #name,
#define TEMBLOR_LATE_FUNCTION(result, name, parameters, arguments) \
  result name parameters { return temblor_late()->name arguments; }

/* Defines the functions that LIST names, a macro that applies its argument to the result, the name, the parameters
   and the arguments of each; a definition that differs from the library's header does not compile. RTLD_NOW is for
   libraries that the render thread calls, RTLD_LAZY, which loads sooner, for others. */
#define TEMBLOR_LATE_LIBRARY(file, binding, LIST) \
  struct temblor_late { LIST(TEMBLOR_LATE_POINTER) }; \
  static struct temblor_late *temblor_late(void) { \
    static const char *const names[] = {LIST(TEMBLOR_LATE_NAME)}; \
    static struct temblor_late functions; \
    static atomic_bool is_loaded; \
    if (!atomic_load_explicit(&is_loaded, memory_order_acquire)) \
      temblor_load_library( \
          file, binding, names, (void **)&functions, sizeof names / sizeof *names, &is_loaded); \
    return &functions; \
  } \
  LIST(TEMBLOR_LATE_FUNCTION)

#endif
