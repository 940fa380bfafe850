#include "CFaultyPCM.h"

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct cfp_device {
  snd_pcm_ioplug_t io;
  cfp_capabilities capabilities;
  cfp_listener listener;
  cfp_call_handler callHandler;
  void *context;
  enum cfp_state state;
  bool canResume, isStalled, reportsFalseReadiness;
  int pipe[2];
  bool isSignalled;
  unsigned frameSize, availMin;
  unsigned char *ring;
  float *playedSamples;
  int64_t now;
  /* Accepted and played frames since the last preparation. */
  int64_t accepted, played;
  /* Frames that were played before `startTime`, at which the device started or continued. */
  int64_t startTime, playedBeforeStart;
  int64_t acceptedInTotal, playedInTotal;
  long extraDelay;
  /* The number of next frames that are dropped when they are accepted. */
  long droppedFrames;
  /* The number of frames by which the next transfer overstates its result. */
  long overstatedFrames;
  unsigned transferLimit, limitedTransfers;
  int transferError, startError, preparationError;
  unsigned failingTransfers, failingStarts, failingPreparations;
  enum cfp_pointer pointer;
  unsigned step, seed;
};

enum { blockLength = 256 };

/* Returns the duration of frames, in nanoseconds, rounded up. */
static int64_t nanoseconds_of_frames(const cfp_device *device, int64_t frames) {
  __int128 rate = (__int128)device->io.rate * (1000000 + device->capabilities.clockDriftPPM);
  return (int64_t)(((__int128)frames * 1000000000000000 + rate - 1) / rate);
}

static int64_t frames_in_nanoseconds(const cfp_device *device, int64_t time) {
  __int128 rate = (__int128)device->io.rate * (1000000 + device->capabilities.clockDriftPPM);
  return (int64_t)((__int128)time * rate / 1000000000000000);
}

static long available(const cfp_device *device) {
  return (long)device->io.buffer_size - (long)(device->accepted - device->played);
}

/* Makes the pipe readable while the device has an event to report. */
static void update_readiness(cfp_device *device) {
  bool isReadable;
  switch (device->state) {
  case CFP_READY:
  case CFP_RUNNING:
    isReadable = device->reportsFalseReadiness || available(device) >= (long)device->availMin;
    break;
  case CFP_CLOSED:
    isReadable = false;
    break;
  default:
    isReadable = true;
  }
  char byte = 0;
  if (isReadable && !device->isSignalled) (void)!write(device->pipe[1], &byte, 1);
  if (!isReadable && device->isSignalled) (void)!read(device->pipe[0], &byte, 1);
  device->isSignalled = isReadable;
}

static void set_state(cfp_device *device, enum cfp_state state) {
  device->state = state;
  switch (state) {
  case CFP_XRUN: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_XRUN); break;
  case CFP_SUSPENDED: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_SUSPENDED); break;
  case CFP_DISCONNECTED: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_DISCONNECTED); break;
  case CFP_UNCONFIGURED: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_OPEN); break;
  case CFP_RUNNING: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_RUNNING); break;
  default: break;
  }
  update_readiness(device);
}

static float sample(const cfp_device *device, const unsigned char *bytes) {
  int32_t number = 0;
  int16_t smallNumber;
  float value;
  switch (device->io.format) {
  case SND_PCM_FORMAT_FLOAT_LE: memcpy(&value, bytes, 4); return value;
  case SND_PCM_FORMAT_S32_LE: memcpy(&number, bytes, 4); return (float)(number / 2147483647.0);
  case SND_PCM_FORMAT_S24_LE: memcpy(&number, bytes, 4); return (float)(number / 8388607.0);
  case SND_PCM_FORMAT_S24_3LE:
    memcpy((char *)&number + 1, bytes, 3);
    return (float)((number >> 8) / 8388607.0);
  default: memcpy(&smallNumber, bytes, 2); return (float)(smallNumber / 32767.0);
  }
}

/* Plays a number of queued frames. */
static void play(cfp_device *device, int64_t count) {
  unsigned channels = device->io.channels, size = device->frameSize / channels;
  while (count > 0) {
    unsigned blockFrames = count < blockLength ? (unsigned)count : blockLength;
    for (unsigned frame = 0; frame < blockFrames; frame++) {
      size_t ringIndex = (size_t)((device->played + frame) % (int64_t)device->io.buffer_size);
      for (unsigned channel = 0; channel < channels; channel++)
        device->playedSamples[frame * channels + channel] =
            sample(device, device->ring + ringIndex * device->frameSize + channel * size);
    }
    int64_t time = device->startTime +
        nanoseconds_of_frames(device, device->played - device->playedBeforeStart);
    if (device->listener)
      device->listener(device->context, time, device->playedSamples, blockFrames, channels);
    device->played += blockFrames;
    device->playedInTotal += blockFrames;
    count -= blockFrames;
  }
}

/* Reports the start of a call, and returns its device. */
static cfp_device *begin_call(snd_pcm_ioplug_t *io, enum cfp_call call) {
  cfp_device *device = io->private_data;
  if (device->callHandler) device->callHandler(device->context, call);
  return device;
}

static int on_start(snd_pcm_ioplug_t *io) {
  cfp_device *device = begin_call(io, CFP_CALL_START);
  if (device->state == CFP_DISCONNECTED) return -ENODEV;
  if (device->failingStarts > 0 && device->failingStarts--) return device->startError;
  device->startTime = device->now;
  device->playedBeforeStart = device->played;
  device->state = CFP_RUNNING;
  update_readiness(device);
  return 0;
}

static int on_stop(snd_pcm_ioplug_t *io) {
  cfp_device *device = begin_call(io, CFP_CALL_STOP);
  if (device->state != CFP_DISCONNECTED && device->state != CFP_CLOSED) device->state = CFP_READY;
  return 0;
}

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io) {
  cfp_device *device = begin_call(io, CFP_CALL_POINTER);
  if (device->state == CFP_XRUN) return -EPIPE;
  int64_t reported = device->played, queued = device->accepted - device->played;
  switch (device->pointer) {
  case CFP_TRUE: break;
  case CFP_RANDOM:
    device->seed = device->seed * 1664525 + 1013904223;
    reported += (int64_t)(device->seed >> 8) % (queued + 1);
    break;
  case CFP_FULL: reported += queued; break;
  case CFP_STEPS: reported -= reported % device->step; break;
  case CFP_BACK: reported += (int64_t)io->buffer_size - device->step; break;
  }
  return (snd_pcm_sframes_t)(reported % (int64_t)io->buffer_size);
}

static snd_pcm_sframes_t on_transfer(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    snd_pcm_uframes_t count) {
  cfp_device *device = begin_call(io, CFP_CALL_TRANSFER);
  if (device->state == CFP_DISCONNECTED) return -ENODEV;
  if (device->failingTransfers > 0 && device->failingTransfers--) return device->transferError;
  if (device->limitedTransfers > 0 && device->limitedTransfers-- && count > device->transferLimit)
    count = device->transferLimit;
  const unsigned char *source =
      (const unsigned char *)areas[0].addr + (areas[0].first + offset * areas[0].step) / 8;
  for (snd_pcm_uframes_t frame = 0; frame < count; frame++) {
    size_t ringIndex = (size_t)((device->accepted + (int64_t)frame) % (int64_t)io->buffer_size);
    memcpy(
        device->ring + ringIndex * device->frameSize, source + frame * device->frameSize,
        device->frameSize);
  }
  device->accepted += (int64_t)count;
  device->acceptedInTotal += (int64_t)count;
  if (device->droppedFrames > 0 && device->state == CFP_RUNNING) {
    cfp_skip(device, device->droppedFrames);
    device->droppedFrames -= (long)count;
  }
  update_readiness(device);
  long overstatedFrames = device->overstatedFrames;
  device->overstatedFrames = 0;
  return (snd_pcm_sframes_t)count + overstatedFrames;
}

static int on_close(snd_pcm_ioplug_t *io) {
  cfp_device *device = io->private_data;
  free(device->ring);
  free(device->playedSamples);
  device->ring = NULL;
  device->playedSamples = NULL;
  device->state = CFP_CLOSED;
  update_readiness(device);
  return 0;
}

static int on_parameters(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *parameters) {
  cfp_device *device = io->private_data;
  (void)parameters;
  device->frameSize = (unsigned)snd_pcm_format_physical_width(io->format) / 8 * io->channels;
  device->availMin = (unsigned)io->period_size;
  free(device->ring);
  free(device->playedSamples);
  device->ring = calloc(io->buffer_size, device->frameSize);
  device->playedSamples = calloc(blockLength * io->channels, sizeof(float));
  return device->ring && device->playedSamples ? 0 : -ENOMEM;
}

static int on_software_parameters(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *parameters) {
  cfp_device *device = io->private_data;
  snd_pcm_uframes_t minimum;
  int error = snd_pcm_sw_params_get_avail_min(parameters, &minimum);
  if (error < 0) return error;
  device->availMin = (unsigned)minimum;
  return 0;
}

static int on_prepare(snd_pcm_ioplug_t *io) {
  cfp_device *device = begin_call(io, CFP_CALL_PREPARE);
  if (device->state == CFP_DISCONNECTED) return -ENODEV;
  if (device->failingPreparations > 0 && device->failingPreparations--)
    return device->preparationError;
  device->accepted = device->played = device->playedBeforeStart = 0;
  device->state = CFP_READY;
  update_readiness(device);
  return 0;
}

/* The library ignores the result: a device that cannot resume stays suspended. */
static int on_resume(snd_pcm_ioplug_t *io) {
  cfp_device *device = begin_call(io, CFP_CALL_RESUME);
  if (device->state != CFP_SUSPENDED || !device->canResume) return -ENOSYS;
  device->startTime = device->now;
  device->playedBeforeStart = device->played;
  set_state(device, CFP_RUNNING);
  return 0;
}

static int on_poll_events(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *events) {
  cfp_device *device = io->private_data;
  *events = 0;
  if (count > 0 && (descriptors[0].revents & POLLIN)) {
    bool isUsable = device->state == CFP_READY || device->state == CFP_RUNNING;
    *events = isUsable ? POLLOUT : POLLOUT | POLLERR;
  }
  return 0;
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *frames) {
  cfp_device *device = begin_call(io, CFP_CALL_DELAY);
  if (device->state == CFP_DISCONNECTED) return -ENODEV;
  if (device->state == CFP_XRUN) return -EPIPE;
  *frames = (snd_pcm_sframes_t)(device->accepted - device->played) + device->extraDelay;
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .close = on_close,
    .hw_params = on_parameters,
    .sw_params = on_software_parameters,
    .prepare = on_prepare,
    .resume = on_resume,
    .poll_revents = on_poll_events,
    .delay = on_delay,
};

cfp_device *cfp_create(cfp_listener listener, cfp_call_handler callHandler, void *context) {
  cfp_device *device = calloc(1, sizeof *device);
  if (!device || pipe(device->pipe) < 0) abort();
  for (int end = 0; end < 2; end++) {
    fcntl(device->pipe[end], F_SETFD, FD_CLOEXEC);
    fcntl(device->pipe[end], F_SETFL, O_NONBLOCK);
  }
  device->listener = listener;
  device->callHandler = callHandler;
  device->context = context;
  return device;
}

void cfp_destroy(cfp_device *device) {
  close(device->pipe[0]);
  close(device->pipe[1]);
  free(device);
}

void cfp_set_capabilities(cfp_device *device, cfp_capabilities capabilities) {
  device->capabilities = capabilities;
}

static int declare(cfp_device *device) {
  const cfp_capabilities *capabilities = &device->capabilities;
  snd_pcm_ioplug_t *io = &device->io;
  unsigned accesses[2], encodings[5], accessCount = 0, encodingCount = 0;
  if (capabilities->hasReadWrite) accesses[accessCount++] = SND_PCM_ACCESS_RW_INTERLEAVED;
  if (capabilities->hasMemoryMap) accesses[accessCount++] = SND_PCM_ACCESS_MMAP_INTERLEAVED;
  if (capabilities->encodings & CFP_FLOAT) encodings[encodingCount++] = SND_PCM_FORMAT_FLOAT_LE;
  if (capabilities->encodings & CFP_S32) encodings[encodingCount++] = SND_PCM_FORMAT_S32_LE;
  if (capabilities->encodings & CFP_S24) encodings[encodingCount++] = SND_PCM_FORMAT_S24_LE;
  if (capabilities->encodings & CFP_S24_3) encodings[encodingCount++] = SND_PCM_FORMAT_S24_3LE;
  if (capabilities->encodings & CFP_S16) encodings[encodingCount++] = SND_PCM_FORMAT_S16_LE;
  unsigned maximumChannelCount = 1;
  for (unsigned index = 0; index < capabilities->channelCountCount; index++)
    if (capabilities->channelCounts[index] > maximumChannelCount)
      maximumChannelCount = capabilities->channelCounts[index];
  int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, accessCount, accesses);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, encodingCount, encodings);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(
      io, SND_PCM_IOPLUG_HW_CHANNELS, capabilities->channelCountCount, capabilities->channelCounts);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(
      io, SND_PCM_IOPLUG_HW_RATE, capabilities->rateCount, capabilities->rates);
  if (error < 0) return error;
  /* The interface counts periods in bytes, so the limits use the smallest and the largest frame. */
  error = snd_pcm_ioplug_set_param_minmax(
      io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, capabilities->minimumPeriodSize * 2,
      capabilities->maximumPeriodSize * 4 * maximumChannelCount);
  if (error < 0) return error;
  return snd_pcm_ioplug_set_param_minmax(
      io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, capabilities->minimumPeriodSize * 4,
      capabilities->maximumBufferSize * 4 * maximumChannelCount);
}

int cfp_open(cfp_device *device, void **pcm) {
  if (device->state != CFP_CLOSED) return -EBUSY;
  device->io = (snd_pcm_ioplug_t){
      .version = SND_PCM_IOPLUG_VERSION,
      .name = device->capabilities.isServerStream ? "Faulty PulseAudio PCM"
                                               : "Device that fails when told to",
      .poll_fd = device->pipe[0],
      .poll_events = POLLIN,
      .callback = &callbacks,
      .private_data = device,
  };
  int error =
      snd_pcm_ioplug_create(&device->io, "faulty", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK);
  if (error < 0) return error;
  device->accepted = device->played = device->playedBeforeStart = 0;
  device->isStalled = device->reportsFalseReadiness = false;
  device->state = CFP_READY;
  error = declare(device);
  if (error < 0) {
    snd_pcm_close(device->io.pcm);
    return error;
  }
  *pcm = device->io.pcm;
  return 0;
}

int64_t cfp_get_accepted_frames(const cfp_device *device) { return device->acceptedInTotal; }
int64_t cfp_get_played_frames(const cfp_device *device) { return device->playedInTotal; }

void cfp_advance(cfp_device *device, int64_t time) {
  if (device->state == CFP_RUNNING && !device->isStalled) {
    int64_t dueFrame =
        device->playedBeforeStart + frames_in_nanoseconds(device, time - device->startTime);
    bool isUnderrun = dueFrame >= device->accepted;
    play(device, (isUnderrun ? device->accepted : dueFrame) - device->played);
    if (isUnderrun) set_state(device, CFP_XRUN);
  }
  device->now = time;
  update_readiness(device);
}

int64_t cfp_next_event(const cfp_device *device) {
  if (device->state != CFP_RUNNING || device->isStalled) return INT64_MAX;
  int64_t queued = device->accepted - device->played;
  int64_t missing = (int64_t)device->availMin - available(device);
  int64_t frames = missing > 0 && missing < queued ? missing : queued;
  return device->startTime +
      nanoseconds_of_frames(device, device->played + frames - device->playedBeforeStart);
}

void cfp_underrun(cfp_device *device) {
  if (device->state == CFP_RUNNING) set_state(device, CFP_XRUN);
}

void cfp_suspend(cfp_device *device, bool canResume) {
  if (device->state != CFP_RUNNING) return;
  device->canResume = canResume;
  set_state(device, CFP_SUSPENDED);
}

void cfp_disconnect(cfp_device *device) {
  if (device->state != CFP_CLOSED) set_state(device, CFP_DISCONNECTED);
}

void cfp_stall(cfp_device *device, bool isStalled) {
  if (device->isStalled && !isStalled) {
    device->startTime = device->now;
    device->playedBeforeStart = device->played;
  }
  device->isStalled = isStalled;
  update_readiness(device);
}

void cfp_limit_transfers(cfp_device *device, unsigned frameCount, unsigned transferCount) {
  device->transferLimit = frameCount;
  device->limitedTransfers = transferCount;
}

void cfp_fail_transfers(cfp_device *device, int error, unsigned count) {
  device->transferError = error;
  device->failingTransfers = count;
}

void cfp_fail_starts(cfp_device *device, int error, unsigned count) {
  device->startError = error;
  device->failingStarts = count;
}

void cfp_fail_preparations(cfp_device *device, int error, unsigned count) {
  device->preparationError = error;
  device->failingPreparations = count;
}

void cfp_add_delay(cfp_device *device, long frameCount) { device->extraDelay = frameCount; }

void cfp_skip(cfp_device *device, long frameCount) {
  if (device->state != CFP_RUNNING) return;
  int64_t queued = device->accepted - device->played;
  device->played += frameCount < queued ? frameCount : queued;
  device->startTime = device->now;
  device->playedBeforeStart = device->played;
  update_readiness(device);
}

void cfp_drop_frames(cfp_device *device, long frameCount) { device->droppedFrames = frameCount; }

void cfp_overstate_transfer(cfp_device *device, long frameCount) {
  device->overstatedFrames = frameCount;
}

void cfp_lose_configuration(cfp_device *device) {
  if (device->state == CFP_RUNNING) set_state(device, CFP_UNCONFIGURED);
}

void cfp_report_false_readiness(cfp_device *device, bool isReady) {
  device->reportsFalseReadiness = isReady;
  update_readiness(device);
}

void cfp_misreport_pointer(cfp_device *device, enum cfp_pointer pointer, unsigned step) {
  device->pointer = pointer;
  device->step = step;
}
