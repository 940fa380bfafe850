/// A playback PCM without hardware, in virtual time, which fails on request.
///
/// It is an external I/O plug-in of ALSA, which has a C interface. All functions belong to one
/// thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The capabilities that the device reports when it is opened. Each list has a count.
typedef struct {
  unsigned rates[8];
  unsigned rateCount;
  unsigned channelCounts[8];
  unsigned channelCountCount;
  /// Bits of cfp_encoding.
  unsigned encodings;
  bool hasReadWrite;
  bool hasMemoryMap;
  unsigned minimumPeriodSize, maximumPeriodSize;
  unsigned maximumBufferSize;
  /// The deviation of the device's clock in parts per million, positive if the clock is fast.
  int clockDriftPPM;
  /// True if the device has the name of a stream of a sound server.
  bool isServerStream;
} cfp_capabilities;

enum cfp_encoding { CFP_FLOAT = 1, CFP_S32 = 2, CFP_S24 = 4, CFP_S24_3 = 8, CFP_S16 = 16 };

/// The states of the device.
enum cfp_state {
  CFP_CLOSED, CFP_READY, CFP_RUNNING, CFP_XRUN, CFP_SUSPENDED, CFP_DISCONNECTED, CFP_UNCONFIGURED
};

/// Receives consecutive frames when they are played, and the time of the first in nanoseconds.
typedef void (*cfp_listener)(
    void *context, int64_t time, const float *samples, unsigned frameCount, unsigned channelCount);

/// The calls of the library.
enum cfp_call {
  CFP_CALL_START, CFP_CALL_STOP, CFP_CALL_POINTER, CFP_CALL_TRANSFER, CFP_CALL_PREPARE, CFP_CALL_RESUME, CFP_CALL_DELAY
};

/// Is called at the start of every call, and may advance the time.
typedef void (*cfp_call_handler)(void *context, enum cfp_call call);

typedef struct cfp_device cfp_device;

/// Creates a device at time 0 that is not open.
cfp_device *cfp_create(cfp_listener listener, cfp_call_handler callHandler, void *context);
/// Frees a closed device.
void cfp_destroy(cfp_device *device);

/// Sets the capabilities for the next time that the device is opened.
void cfp_set_capabilities(cfp_device *device, cfp_capabilities capabilities);
/// Opens the device as a PCM, a snd_pcm_t. Returns 0, or a negative error code.
int cfp_open(cfp_device *device, void **pcm);
/// Returns the total number of accepted frames, and of played frames.
int64_t cfp_get_accepted_frames(const cfp_device *device);
int64_t cfp_get_played_frames(const cfp_device *device);

/// Plays until a time, in nanoseconds, which never decreases.
void cfp_advance(cfp_device *device, int64_t time);
/// Returns the time of the next event, or INT64_MAX without one.
int64_t cfp_next_event(const cfp_device *device);

/// Underruns immediately, and drops the queued frames.
void cfp_underrun(cfp_device *device);
/// Suspends the device. A device that can resume continues with the queued frames; another device
/// must be prepared.
void cfp_suspend(cfp_device *device, bool canResume);
/// Disconnects the device: every call fails, and the queued frames are dropped.
void cfp_disconnect(cfp_device *device);
/// Stalls the device without an error, or continues.
void cfp_stall(cfp_device *device, bool isStalled);
/// Limits the number of frames of each of the next transfers.
void cfp_limit_transfers(cfp_device *device, unsigned frameCount, unsigned transferCount);
/// Makes the next transfers, starts, or preparations fail with a negative error code.
void cfp_fail_transfers(cfp_device *device, int error, unsigned count);
void cfp_fail_starts(cfp_device *device, int error, unsigned count);
void cfp_fail_preparations(cfp_device *device, int error, unsigned count);
/// Adds a number of frames to the reported delay.
void cfp_add_delay(cfp_device *device, long frameCount);
/// Skips queued frames.
void cfp_skip(cfp_device *device, long frameCount);
/// Drops the next frames when they are accepted.
void cfp_drop_frames(cfp_device *device, long frameCount);
/// Overstates the number of accepted frames in the next transfer.
void cfp_overstate_transfer(cfp_device *device, long frameCount);
/// Loses the configuration and the queued frames.
void cfp_lose_configuration(cfp_device *device);
/// Reports readiness at every wait, even if the device is not ready.
void cfp_report_false_readiness(cfp_device *device, bool isReady);

/// The reported position: the actual position, a random position between the played and the
/// accepted frames, the end of the accepted frames, the actual position rounded down to a multiple
/// of a number of frames, or a number of frames before the actual position.
enum cfp_pointer { CFP_TRUE, CFP_RANDOM, CFP_FULL, CFP_STEPS, CFP_BACK };
void cfp_misreport_pointer(cfp_device *device, enum cfp_pointer pointer, unsigned step);
