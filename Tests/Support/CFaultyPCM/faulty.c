#include "CFaultyPCM.h"

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct cfp_device {
  snd_pcm_ioplug_t io;
  cfp_abilities abilities;
  cfp_listener listener;
  cfp_visitor visitor;
  void *context;
  enum cfp_state state;
  bool canResume, isStalled, criesWolf;
  int pipe[2];
  bool isSignalled;
  unsigned frameSize, availMin;
  unsigned char *ring;
  float *heardFrames;
  int64_t now;
  /* Since the last preparation: frames taken and played. */
  int64_t taken, played;
  /* Frames played before `begun`, the moment the device began or went on. */
  int64_t begun, playedBefore;
  int64_t takenInAll, heardInAll;
  long extraDelay;
  /* Frames that are taken and dropped at once. */
  long swallowed;
  /* Frames by which the next transfer claims too many. */
  long surplus;
  unsigned transferLimit, limitedTransfers;
  int transferError, startError, preparationError;
  unsigned failingTransfers, failingStarts, failingPreparations;
  enum cfp_pointer pointer;
  unsigned step, seed;
};

enum { blockLength = 256 };

/* Nanoseconds that frames last, rounded up, so that they are over by then. */
static int64_t time_of(const cfp_device *device, int64_t frames) {
  __int128 rate = (__int128)device->io.rate * (1000000 + device->abilities.drift);
  return (int64_t)(((__int128)frames * 1000000000000000 + rate - 1) / rate);
}

static int64_t frames_in(const cfp_device *device, int64_t time) {
  __int128 rate = (__int128)device->io.rate * (1000000 + device->abilities.drift);
  return (int64_t)((__int128)time * rate / 1000000000000000);
}

static long available(const cfp_device *device) {
  return (long)device->io.buffer_size - (long)(device->taken - device->played);
}

/* The pipe is readable while the device wants to be looked at. */
static void signal(cfp_device *device) {
  bool wanted;
  switch (device->state) {
  case CFP_READY:
  case CFP_RUNNING:
    wanted = device->criesWolf || available(device) >= (long)device->availMin;
    break;
  case CFP_CLOSED:
    wanted = false;
    break;
  default:
    wanted = true;
  }
  char byte = 0;
  if (wanted && !device->isSignalled) (void)!write(device->pipe[1], &byte, 1);
  if (!wanted && device->isSignalled) (void)!read(device->pipe[0], &byte, 1);
  device->isSignalled = wanted;
}

static void enter(cfp_device *device, enum cfp_state state) {
  device->state = state;
  switch (state) {
  case CFP_DRY: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_XRUN); break;
  case CFP_SUSPENDED: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_SUSPENDED); break;
  case CFP_GONE: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_DISCONNECTED); break;
  case CFP_UNSET: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_OPEN); break;
  case CFP_RUNNING: snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_RUNNING); break;
  default: break;
  }
  signal(device);
}

static float sample(const cfp_device *device, const unsigned char *bytes) {
  int32_t number = 0;
  int16_t small;
  float value;
  switch (device->io.format) {
  case SND_PCM_FORMAT_FLOAT_LE: memcpy(&value, bytes, 4); return value;
  case SND_PCM_FORMAT_S32_LE: memcpy(&number, bytes, 4); return (float)(number / 2147483647.0);
  case SND_PCM_FORMAT_S24_LE: memcpy(&number, bytes, 4); return (float)(number / 8388607.0);
  case SND_PCM_FORMAT_S24_3LE:
    memcpy((char *)&number + 1, bytes, 3);
    return (float)((number >> 8) / 8388607.0);
  default: memcpy(&small, bytes, 2); return (float)(small / 32767.0);
  }
}

/* Lets frames be heard, from the first that was not. */
static void play(cfp_device *device, int64_t count) {
  unsigned channels = device->io.channels, size = device->frameSize / channels;
  while (count > 0) {
    unsigned part = count < blockLength ? (unsigned)count : blockLength;
    for (unsigned frame = 0; frame < part; frame++) {
      size_t place = (size_t)((device->played + frame) % (int64_t)device->io.buffer_size);
      for (unsigned channel = 0; channel < channels; channel++)
        device->heardFrames[frame * channels + channel] =
            sample(device, device->ring + place * device->frameSize + channel * size);
    }
    int64_t time = device->begun + time_of(device, device->played - device->playedBefore);
    if (device->listener)
      device->listener(device->context, time, device->heardFrames, part, channels);
    device->played += part;
    device->heardInAll += part;
    count -= part;
  }
}

/* The device, of which the library begins a call. */
static cfp_device *visit(snd_pcm_ioplug_t *io, enum cfp_call call) {
  cfp_device *device = io->private_data;
  if (device->visitor) device->visitor(device->context, call);
  return device;
}

static int on_start(snd_pcm_ioplug_t *io) {
  cfp_device *device = visit(io, CFP_CALL_START);
  if (device->state == CFP_GONE) return -ENODEV;
  if (device->failingStarts > 0 && device->failingStarts--) return device->startError;
  device->begun = device->now;
  device->playedBefore = device->played;
  device->state = CFP_RUNNING;
  signal(device);
  return 0;
}

static int on_stop(snd_pcm_ioplug_t *io) {
  cfp_device *device = visit(io, CFP_CALL_STOP);
  if (device->state != CFP_GONE && device->state != CFP_CLOSED) device->state = CFP_READY;
  return 0;
}

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io) {
  cfp_device *device = visit(io, CFP_CALL_POINTER);
  if (device->state == CFP_DRY) return -EPIPE;
  int64_t told = device->played, queued = device->taken - device->played;
  switch (device->pointer) {
  case CFP_TRUE: break;
  case CFP_RANDOM:
    device->seed = device->seed * 1664525 + 1013904223;
    told += (int64_t)(device->seed >> 8) % (queued + 1);
    break;
  case CFP_FULL: told += queued; break;
  case CFP_STEPS: told -= told % device->step; break;
  case CFP_BACK: told += (int64_t)io->buffer_size - device->step; break;
  }
  return (snd_pcm_sframes_t)(told % (int64_t)io->buffer_size);
}

static snd_pcm_sframes_t on_transfer(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    snd_pcm_uframes_t count) {
  cfp_device *device = visit(io, CFP_CALL_TRANSFER);
  if (device->state == CFP_GONE) return -ENODEV;
  if (device->failingTransfers > 0 && device->failingTransfers--) return device->transferError;
  if (device->limitedTransfers > 0 && device->limitedTransfers-- && count > device->transferLimit)
    count = device->transferLimit;
  const unsigned char *source =
      (const unsigned char *)areas[0].addr + (areas[0].first + offset * areas[0].step) / 8;
  for (snd_pcm_uframes_t frame = 0; frame < count; frame++) {
    size_t place = (size_t)((device->taken + (int64_t)frame) % (int64_t)io->buffer_size);
    memcpy(
        device->ring + place * device->frameSize, source + frame * device->frameSize,
        device->frameSize);
  }
  device->taken += (int64_t)count;
  device->takenInAll += (int64_t)count;
  if (device->swallowed > 0 && device->state == CFP_RUNNING) {
    cfp_skip(device, device->swallowed);
    device->swallowed -= (long)count;
  }
  signal(device);
  long surplus = device->surplus;
  device->surplus = 0;
  return (snd_pcm_sframes_t)count + surplus;
}

static int on_close(snd_pcm_ioplug_t *io) {
  cfp_device *device = io->private_data;
  free(device->ring);
  free(device->heardFrames);
  device->ring = NULL;
  device->heardFrames = NULL;
  device->state = CFP_CLOSED;
  signal(device);
  return 0;
}

static int on_parameters(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *parameters) {
  cfp_device *device = io->private_data;
  (void)parameters;
  device->frameSize = (unsigned)snd_pcm_format_physical_width(io->format) / 8 * io->channels;
  device->availMin = (unsigned)io->period_size;
  free(device->ring);
  free(device->heardFrames);
  device->ring = calloc(io->buffer_size, device->frameSize);
  device->heardFrames = calloc(blockLength * io->channels, sizeof(float));
  return device->ring && device->heardFrames ? 0 : -ENOMEM;
}

static int on_software_parameters(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *parameters) {
  cfp_device *device = io->private_data;
  snd_pcm_uframes_t least;
  int error = snd_pcm_sw_params_get_avail_min(parameters, &least);
  if (error < 0) return error;
  device->availMin = (unsigned)least;
  return 0;
}

static int on_prepare(snd_pcm_ioplug_t *io) {
  cfp_device *device = visit(io, CFP_CALL_PREPARE);
  if (device->state == CFP_GONE) return -ENODEV;
  if (device->failingPreparations > 0 && device->failingPreparations--)
    return device->preparationError;
  device->taken = device->played = device->playedBefore = 0;
  device->state = CFP_READY;
  signal(device);
  return 0;
}

/* The library takes no notice of the result: a device that cannot resume stays suspended. */
static int on_resume(snd_pcm_ioplug_t *io) {
  cfp_device *device = visit(io, CFP_CALL_RESUME);
  if (device->state != CFP_SUSPENDED || !device->canResume) return -ENOSYS;
  device->begun = device->now;
  device->playedBefore = device->played;
  enter(device, CFP_RUNNING);
  return 0;
}

static int on_received(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *events) {
  cfp_device *device = io->private_data;
  *events = 0;
  if (count > 0 && (descriptors[0].revents & POLLIN)) {
    bool isWell = device->state == CFP_READY || device->state == CFP_RUNNING;
    *events = isWell ? POLLOUT : POLLOUT | POLLERR;
  }
  return 0;
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *frames) {
  cfp_device *device = visit(io, CFP_CALL_DELAY);
  if (device->state == CFP_GONE) return -ENODEV;
  if (device->state == CFP_DRY) return -EPIPE;
  *frames = (snd_pcm_sframes_t)(device->taken - device->played) + device->extraDelay;
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
    .poll_revents = on_received,
    .delay = on_delay,
};

cfp_device *cfp_create(cfp_listener listener, cfp_visitor visitor, void *context) {
  cfp_device *device = calloc(1, sizeof *device);
  if (!device || pipe(device->pipe) < 0) abort();
  for (int end = 0; end < 2; end++) {
    fcntl(device->pipe[end], F_SETFD, FD_CLOEXEC);
    fcntl(device->pipe[end], F_SETFL, O_NONBLOCK);
  }
  device->listener = listener;
  device->visitor = visitor;
  device->context = context;
  return device;
}

void cfp_destroy(cfp_device *device) {
  close(device->pipe[0]);
  close(device->pipe[1]);
  free(device);
}

void cfp_set_abilities(cfp_device *device, cfp_abilities abilities) {
  device->abilities = abilities;
}

static int declare(cfp_device *device) {
  const cfp_abilities *can = &device->abilities;
  snd_pcm_ioplug_t *io = &device->io;
  unsigned accesses[2], encodings[5], accessCount = 0, encodingCount = 0;
  if (can->hasReadWrite) accesses[accessCount++] = SND_PCM_ACCESS_RW_INTERLEAVED;
  if (can->hasMemoryMap) accesses[accessCount++] = SND_PCM_ACCESS_MMAP_INTERLEAVED;
  if (can->encodings & CFP_FLOAT) encodings[encodingCount++] = SND_PCM_FORMAT_FLOAT_LE;
  if (can->encodings & CFP_S32) encodings[encodingCount++] = SND_PCM_FORMAT_S32_LE;
  if (can->encodings & CFP_S24) encodings[encodingCount++] = SND_PCM_FORMAT_S24_LE;
  if (can->encodings & CFP_S24_3) encodings[encodingCount++] = SND_PCM_FORMAT_S24_3LE;
  if (can->encodings & CFP_S16) encodings[encodingCount++] = SND_PCM_FORMAT_S16_LE;
  unsigned mostChannels = 1;
  for (unsigned index = 0; index < can->channelCountCount; index++)
    if (can->channelCounts[index] > mostChannels) mostChannels = can->channelCounts[index];
  int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, accessCount, accesses);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, encodingCount, encodings);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(
      io, SND_PCM_IOPLUG_HW_CHANNELS, can->channelCountCount, can->channelCounts);
  if (error < 0) return error;
  error = snd_pcm_ioplug_set_param_list(
      io, SND_PCM_IOPLUG_HW_RATE, can->rateCount, can->rates);
  if (error < 0) return error;
  /* The interface counts periods in bytes; frames are held to by the greatest and smallest frame. */
  error = snd_pcm_ioplug_set_param_minmax(
      io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, can->leastPeriodLength * 2,
      can->greatestPeriodLength * 4 * mostChannels);
  if (error < 0) return error;
  return snd_pcm_ioplug_set_param_minmax(
      io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, can->leastPeriodLength * 4,
      can->greatestBufferLength * 4 * mostChannels);
}

int cfp_open(cfp_device *device, void **pcm) {
  if (device->state != CFP_CLOSED) return -EBUSY;
  device->io = (snd_pcm_ioplug_t){
      .version = SND_PCM_IOPLUG_VERSION,
      .name = device->abilities.isServerStream ? "Faulty PulseAudio PCM"
                                               : "Device that fails when told to",
      .poll_fd = device->pipe[0],
      .poll_events = POLLIN,
      .callback = &callbacks,
      .private_data = device,
  };
  int error =
      snd_pcm_ioplug_create(&device->io, "faulty", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK);
  if (error < 0) return error;
  device->taken = device->played = device->playedBefore = 0;
  device->isStalled = device->criesWolf = false;
  device->state = CFP_READY;
  error = declare(device);
  if (error < 0) {
    snd_pcm_close(device->io.pcm);
    return error;
  }
  *pcm = device->io.pcm;
  return 0;
}

int64_t cfp_get_taken(const cfp_device *device) { return device->takenInAll; }
int64_t cfp_get_heard(const cfp_device *device) { return device->heardInAll; }

void cfp_advance(cfp_device *device, int64_t time) {
  if (device->state == CFP_RUNNING && !device->isStalled) {
    int64_t due = device->playedBefore + frames_in(device, time - device->begun);
    bool isDry = due >= device->taken;
    play(device, (isDry ? device->taken : due) - device->played);
    if (isDry) enter(device, CFP_DRY);
  }
  device->now = time;
  signal(device);
}

int64_t cfp_next_event(const cfp_device *device) {
  if (device->state != CFP_RUNNING || device->isStalled) return INT64_MAX;
  int64_t queued = device->taken - device->played;
  int64_t wanted = (int64_t)device->availMin - available(device);
  int64_t frames = wanted > 0 && wanted < queued ? wanted : queued;
  return device->begun + time_of(device, device->played + frames - device->playedBefore);
}

void cfp_run_dry(cfp_device *device) {
  if (device->state == CFP_RUNNING) enter(device, CFP_DRY);
}

void cfp_suspend(cfp_device *device, bool canResume) {
  if (device->state != CFP_RUNNING) return;
  device->canResume = canResume;
  enter(device, CFP_SUSPENDED);
}

void cfp_disconnect(cfp_device *device) {
  if (device->state != CFP_CLOSED) enter(device, CFP_GONE);
}

void cfp_stall(cfp_device *device, bool isStalled) {
  if (device->isStalled && !isStalled) {
    device->begun = device->now;
    device->playedBefore = device->played;
  }
  device->isStalled = isStalled;
  signal(device);
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
  int64_t queued = device->taken - device->played;
  device->played += frameCount < queued ? frameCount : queued;
  device->begun = device->now;
  device->playedBefore = device->played;
  signal(device);
}

void cfp_swallow(cfp_device *device, long frameCount) { device->swallowed = frameCount; }

void cfp_exceed(cfp_device *device, long frameCount) { device->surplus = frameCount; }

void cfp_unset(cfp_device *device) {
  if (device->state == CFP_RUNNING) enter(device, CFP_UNSET);
}

void cfp_cry_wolf(cfp_device *device, bool isReady) {
  device->criesWolf = isReady;
  signal(device);
}

void cfp_lie(cfp_device *device, enum cfp_pointer pointer, unsigned step) {
  device->pointer = pointer;
  device->step = step;
}
