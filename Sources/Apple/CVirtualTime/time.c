// The clocks of Date, ContinuousClock, and DispatchTime, for threads whose work belongs to a
// device.
#if defined(__gnu_linux__)
#define _GNU_SOURCE
#include "shared.h"
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

vt_hooks vt;

// The libraries of the system that call for others are before those that call for themselves.
enum { ESSENTIALS, CONCURRENCY, FOUNDATION, DISPATCH, SWIFT_DISPATCH, SWIFT_CORE, XCTEST, TESTING, LIBRARY_COUNT };
static struct { uintptr_t start, end; } library[LIBRARY_COUNT];
static __thread int inside;

static int look(struct dl_phdr_info *info, size_t size, void *unused) {
  static const char *names[] = {
    "/libFoundationEssentials.so", "/libswift_Concurrency.so", "/libFoundation.so", "/libdispatch.so", "/libswiftDispatch.so",
    "/libswiftCore.so", "/libXCTest.so", "/libTesting.so",
  };
  for (int i = 0; i < LIBRARY_COUNT; i++) {
    if (!strstr(info->dlpi_name, names[i])) continue;
    for (int h = 0; h < info->dlpi_phnum; h++) {
      if (info->dlpi_phdr[h].p_type != PT_LOAD || !(info->dlpi_phdr[h].p_flags & PF_X)) continue;
      library[i].start = info->dlpi_addr + info->dlpi_phdr[h].p_vaddr;
      library[i].end = library[i].start + info->dlpi_phdr[h].p_memsz;
    }
  }
  return 0;
}

static int is_in(uintptr_t address, int i) { return address >= library[i].start && address < library[i].end; }

int vt_is_in_foundation(uintptr_t address) { return is_in(address, FOUNDATION); }

/// Returns the library of an address, or LIBRARY_COUNT for the program and other libraries.
static int library_of(const void *address) {
  int i = 0;
  while (i < LIBRARY_COUNT && !is_in((uintptr_t)address, i)) i++;
  return i;
}

/// Returns whether XCTest or Swift Testing calls, directly or through libraries of the system. Their
/// time limits remain in real time: XCTest looks every 0.1 s whether a test has ended.
static int asks_testing(const void *caller) {
  int owner = library_of(caller);
  if (owner >= XCTEST) return owner < LIBRARY_COUNT;
  void *frames[24];
  int count = backtrace(frames, 24);
  int i = 0;
  while (i < count && frames[i] != caller) i++;
  for (; i < count; i++) {
    owner = library_of(frames[i]);
    if (owner >= XCTEST) return owner < LIBRARY_COUNT;
  }
  return 0;
}

/// Returns the address from which FoundationEssentials was called, given the frame of a function
/// that it calls. `backtrace` ends in this library, but its functions have frame pointers.
static const void *caller_of_essentials(void **frame) {
  for (int i = 0; i < 8 && is_in((uintptr_t)frame[1], ESSENTIALS); i++) frame = frame[0];
  return frame[1];
}

int vt_install(vt_hooks hooks) {
  void *frames[1];
  backtrace(frames, 1);  // loads what it needs, once
  dl_iterate_phdr(look, 0);
  Dl_info first, ours;
  void *found = dlsym(RTLD_DEFAULT, "dispatch_after");
  if (!found || !dladdr(found, &first) || !dladdr((void *)vt_install, &ours) || first.dli_fbase != ours.dli_fbase) return 0;
  if (!dlsym(RTLD_NEXT, "dispatch_after") || !library[CONCURRENCY].start) return 0;
  vt = hooks;
  return 1;
}

void *vt_device(const void *caller) {
  if (!vt.current || inside) return 0;
  inside = 1;
  void *device = vt.current();
  if (device && asks_testing(caller)) device = 0;
  inside = 0;
  return device;
}

static int64_t value(void *device, clockid_t clock) {
  inside = 1;
  int64_t now = vt.clock(device, clock);
  inside = 0;
  return now;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  NEXT(clock_gettime);
  if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) {
    const void *caller = __builtin_return_address(0);
    if (is_in((uintptr_t)caller, ESSENTIALS)) caller = caller_of_essentials(__builtin_frame_address(0));
    else if (!is_in((uintptr_t)caller, CONCURRENCY)) return next(clock, time);
    // Calls from libFoundation are excluded: it measures the time for which it has blocked a
    // thread.
    void *device = vt_device(caller);
    if (device) {
      int64_t ns = value(device, clock);
      *time = (struct timespec){ns / 1000000000, ns % 1000000000};
      return 0;
    }
  }
  return next(clock, time);
}

uint64_t dispatch_time(uint64_t when, int64_t delta) {
  NEXT(dispatch_time);
  void *device = when == 0 ? vt_here() : 0;
  return next(device ? (uint64_t)value(device, CLOCK_MONOTONIC) : when, delta);
}

uint64_t dispatch_walltime(const struct timespec *when, int64_t delta) {
  NEXT(dispatch_walltime);
  void *device = when ? 0 : vt_here();
  if (!device) return next(when, delta);
  int64_t ns = value(device, CLOCK_REALTIME);
  return next(&(struct timespec){ns / 1000000000, ns % 1000000000}, delta);
}

// The two highest bits identify the clock: 11 is the negated wall time, 10 the time since boot, and
// 0 the uptime.
int64_t vt_delay(void *device, uint64_t when) {
  if (when == 0) return 0;
  int64_t delay;
  if (when >> 62 == 3) delay = -(int64_t)when - value(device, CLOCK_REALTIME);
  else if (when >> 62 == 2) delay = (int64_t)(when & ~(3ull << 62)) - value(device, CLOCK_BOOTTIME);
  else delay = (int64_t)when - value(device, CLOCK_MONOTONIC);
  return delay < 0 ? 0 : delay;
}

/// Waits with a function of libdispatch until a deadline of equal length in real time, because
/// nothing could advance the device of a blocked thread. A wait that reaches its deadline is
/// reported, because the app has waited in real time.
static long wait_really(
    const char *call, long (*wait)(void *, uint64_t), void *object, uint64_t when, const void *caller) {
  NEXT(dispatch_time);
  void *device = when ? vt_device(caller) : 0;
  if (!device) return wait(object, when);
  vt.retain(device);
  vt.waiting(device, call, 1);
  int64_t delay = when == ~0ull ? 0 : vt_delay(device, when);
  long result = wait(object, when == ~0ull ? when : next(0, delay));
  vt.waiting(device, call, -1);
  if (result && delay) vt.blocked(device, call, delay);
  vt.release(device);
  return result;
}

long dispatch_semaphore_wait(void *semaphore, uint64_t when) {
  NEXT(dispatch_semaphore_wait);
  return wait_really("DispatchSemaphore.wait", next, semaphore, when, __builtin_return_address(0));
}

void vt_wait(void *semaphore) {
  NEXT(dispatch_semaphore_wait);
  next(semaphore, ~0ull);
}

long dispatch_group_wait(void *group, uint64_t when) {
  NEXT(dispatch_group_wait);
  return wait_really("DispatchGroup.wait", next, group, when, __builtin_return_address(0));
}

static void note_block(const char *call, int64_t ns, const void *caller) {
  void *device = vt_device(caller);
  if (!device) return;
  inside = 1;
  vt.blocked(device, call, ns);
  inside = 0;
}

int nanosleep(const struct timespec *time, struct timespec *rest) {
  NEXT(nanosleep);
  if (is_in((uintptr_t)__builtin_return_address(0), FOUNDATION) && time)
    note_block("Thread.sleep", time->tv_sec * 1000000000LL + time->tv_nsec, __builtin_return_address(0));
  return next(time, rest);
}

int usleep(useconds_t microseconds) {
  NEXT(usleep);
  note_block("usleep", microseconds * 1000LL, __builtin_return_address(0));
  return next(microseconds);
}
#else
#include "CVirtualTime.h"
int vt_install(vt_hooks hooks) { return 0; }
#endif
