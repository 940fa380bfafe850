#pragma once
#include <stdint.h>

/// What a program gives, so that waits and clocks of its tests follow the time of a virtual device.
///
/// A device is an opaque pointer; each function may be called on any thread.
typedef struct vt_hooks {
  /// The device whose work runs on this thread, not retained; null: real time.
  void *(*current)(void);
  void (*retain)(void *device);
  void (*release)(void *device);
  /// Nanoseconds on a clock of the device: CLOCK_REALTIME, CLOCK_MONOTONIC or CLOCK_BOOTTIME.
  int64_t (*clock)(void *device, int clock);
  /// Calls `fire` once after nanoseconds of the device's time, or `leave` with those that remain when it has ended.
  void (*schedule)(void *device, int64_t delay, void (*fire)(void *), void (*leave)(void *, int64_t), void *context);
  /// Calls a function as work of the device.
  void (*enter)(void *device, void (*body)(void *), void *context);
  /// Counts work of the device that was handed on, and that has been done.
  void (*pending)(void *device, int change);
  /// Notes a call that blocks its thread in real time, and for how many nanoseconds.
  void (*blocked)(void *device, const char *call, int64_t nanoseconds);
} vt_hooks;

/// Puts the hooks in place for good; returns whether the functions of this module stand before those of the system.
int vt_install(vt_hooks hooks);
