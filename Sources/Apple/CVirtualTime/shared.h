#pragma once
#include "CVirtualTime.h"
#include <dlfcn.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VT_SANITIZED 1
#endif
#endif

// The next implementation: libdispatch's, or the thread sanitizer's, which derives the
// happens-before relation from it.
#ifdef VT_SANITIZED
#define SANITIZED(name) \
  extern __typeof__(name) __interceptor_##name __attribute__((weak)); \
  if (!found) found = (void *)&__interceptor_##name
#else
#define SANITIZED(name)
#endif
#define NEXT(name) \
  static void *known_##name; \
  void *found = __atomic_load_n(&known_##name, __ATOMIC_RELAXED); \
  SANITIZED(name); \
  if (!found) found = dlsym(RTLD_NEXT, #name); \
  __atomic_store_n(&known_##name, found, __ATOMIC_RELAXED); \
  __typeof__(&name) next = (__typeof__(&name))found

extern vt_hooks vt;
/// Returns the device of this thread, or null in real time and for calls by XCTest or Swift Testing.
/// The caller is the return address of the function that replaces one of the system.
void *vt_device(const void *caller);
/// The device of this thread, in a function that replaces one of the system.
#define vt_here() vt_device(__builtin_return_address(0))
/// Returns the nanoseconds from the device's time to a deadline of libdispatch.
int64_t vt_delay(void *device, uint64_t when);
/// Calls the system's dispatch_async_f.
void vt_async(void *queue, void *context, void (*work)(void *));
/// Returns whether this thread runs on the main queue.
int vt_on_main_queue(void);
/// Dispatches a block to the main queue if Foundation dispatches it on another thread of a device,
/// which may await it. Returns 0 for all other blocks.
int vt_async_main(void *queue, void *block, const void *caller);
/// Returns whether an address is in libFoundation.
int vt_is_in_foundation(uintptr_t address);
/// Waits for a semaphore without a record.
void vt_wait(void *semaphore);
