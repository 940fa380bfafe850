#include "late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

_Bool temblor_has_library(const char *file) { return dlopen(file, RTLD_LAZY | RTLD_LOCAL) != NULL; }

void temblor_load_library(
    const char *file, int binding, const char *const *names, void **functions, size_t count, atomic_bool *is_loaded) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  if (!atomic_load_explicit(is_loaded, memory_order_relaxed)) {
    void *library = dlopen(file, binding | RTLD_LOCAL);
    size_t found = 0;
    while (library && found < count && (functions[found] = dlsym(library, names[found]))) found++;
    if (found < count) {
      fprintf(stderr, "cannot load a library: %s\n", dlerror());
      _exit(1);
    }
    atomic_store_explicit(is_loaded, 1, memory_order_release);
  }
  pthread_mutex_unlock(&mutex);
}
