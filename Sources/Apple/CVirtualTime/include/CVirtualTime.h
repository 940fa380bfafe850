#pragma once
#include <stdint.h>

/// The functions that a program provides, so that waits and clocks of its tests follow the time of
/// a virtual device.
///
/// A device is an opaque pointer. Each function may be called on any thread.
typedef struct vt_hooks {
  /// Returns the device whose work runs on this thread, not retained, or null in real time.
  void *(*current)(void);
  void (*retain)(void *device);
  void (*release)(void *device);
  /// Returns the nanoseconds on a clock of the device: CLOCK_REALTIME, CLOCK_MONOTONIC, or
  /// CLOCK_BOOTTIME.
  int64_t (*clock)(void *device, int clock);
  /// Calls `fire` once after nanoseconds of the device's time, or `leave` with the remaining
  /// nanoseconds if the device ends first.
  void (*schedule)(void *device, int64_t delay, void (*fire)(void *), void (*leave)(void *, int64_t), void *context);
  /// Calls a function as work of the device.
  void (*enter)(void *device, void (*body)(void *), void *context);
  /// Counts dispatched work of the device (1), or finished work (-1).
  void (*pending)(void *device, int change);
  /// Records a call that blocks its thread in real time for a number of nanoseconds.
  void (*blocked)(void *device, const char *call, int64_t nanoseconds);
  /// Records a call that blocks its thread until another thread ends it (1), or its end (-1).
  void (*waiting)(void *device, const char *call, int change);
  /// Adds a function to those that other threads await on the main queue. A call of the device
  /// that occupies the main queue runs it.
  void (*add_awaited)(void *device, void (*body)(void *), void *context);
  /// Runs the next of these functions, if there is one.
  void (*run_awaited)(void *device);
} vt_hooks;

/// Installs the hooks permanently. Returns 1 if the functions of this module precede those of the
/// system.
int vt_install(vt_hooks hooks);
