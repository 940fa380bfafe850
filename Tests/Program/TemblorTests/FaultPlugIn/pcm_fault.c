/* An ALSA playback PCM in real time with one fault, for tests of the program.
 *
 * Environment variables:
 *   FAULT_SIGN  The path of a file that is created when the fault first occurs.
 *   FAULT       The name of the fault.
 *   FAULT_AT    The start of the fault, in milliseconds after the first start of the device.
 *   FAULT_FOR   The duration of the fault in milliseconds; a negative value means forever.
 *   FAULT_THEN  The name of another hang, which starts together with the fault.
 *
 * Hangs never end: hangopen, hangwrite, hangpointer, hangdelay, hangdrop, hangclose.
 *
 * Other faults:
 *   hangback    One transfer sleeps for 1.5 s, and then returns normally.
 *   absent      Opening fails until FAULT_FOR milliseconds after the first attempt.
 *   hangunplug  One transfer sleeps for 1.5 s, and then the device is gone for good.
 *   sleepoften  A transfer sleeps for 1.5 s every half second.
 *   eagainstart No transfer accepts a frame.
 *   gone        All calls fail, including opening.
 *   other-rate  All calls fail; afterwards, the device supports only 44,100 Hz.
 *   frozen      The device makes no progress.
 *   storm       The device is suspended at every query of the pointer.
 *   short       A transfer accepts one frame at a time.
 *   skip        The device skips 660 frames, as if the pointer jumped back by 300 of 960 frames.
 *   back        The pointer stops for 660 frames, as if it jumped ahead by 300 frames. */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct device {
  snd_pcm_ioplug_t io;
  long long taken, played, skipped, started;
  int isRunning;
};

/* The time at which the process first started a device. Faults are relative to it, also after the
 * device is opened again. */
static long long begun = -1;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

static int is_fault(const char *name) {
  const char *fault = getenv("FAULT");
  return fault && !strcmp(fault, name);
}

/* Reports to a test that the fault has occurred. */
static void sign(void) {
  static int isSigned;
  const char *path = getenv("FAULT_SIGN");
  if (isSigned || !path) return;
  isSigned = 1;
  close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Returns the milliseconds since the start of the fault; negative before it. */
static long long since_fault(void) {
  return begun < 0 ? -1 : (now() - begun) / 1000000 - number("FAULT_AT", 300);
}

/* Returns 1 while the fault is active. */
static int is_due(const char *name) {
  if (!is_fault(name)) return 0;
  long long since = since_fault();
  long length = number("FAULT_FOR", -1);
  if (since < 0 || (length >= 0 && since >= length)) return 0;
  sign();
  return 1;
}

/* Returns 1 once, at the first query after the start of a momentary fault. */
static int comes(const char *name) {
  static int hasCome;
  if (hasCome || !is_fault(name) || since_fault() < 0) return 0;
  sign();
  return hasCome = 1;
}

/* Hangs forever if the fault is this hang, or if this hang starts together with the fault. */
static void hang(const char *name) {
  const char *then = getenv("FAULT_THEN");
  int isThen = then && !strcmp(then, name) && since_fault() >= 0;
  if (is_due(name) || isThen)
    for (;;) pause();
}

static void advance(struct device *device) {
  if (!device->isRunning || is_due("frozen")) return;
  int leap = comes("skip") ? 660 : comes("back") ? -660 : 0;
  device->skipped += leap;
  long long frames =
      (now() - device->started) * (long long)device->io.rate / 1000000000LL + device->skipped;
  if (frames > device->taken) {
    device->played = device->taken;
    device->isRunning = 0;
    snd_pcm_ioplug_set_state(&device->io, SND_PCM_STATE_XRUN);
  } else if (frames > device->played) {
    device->played = frames;
  }
}

static int on_start(snd_pcm_ioplug_t *io) {
  struct device *device = io->private_data;
  if (begun < 0) begun = now();
  device->started = now();
  device->isRunning = 1;
  struct itimerspec period = {{0, 2000000}, {0, 2000000}};
  timerfd_settime(io->poll_fd, 0, &period, NULL);
  return 0;
}

static int on_stop(snd_pcm_ioplug_t *io) {
  hang("hangdrop");
  ((struct device *)io->private_data)->isRunning = 0;
  return 0;
}

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io) {
  struct device *device = io->private_data;
  hang("hangpointer");
  if (is_due("gone") || is_due("other-rate")) return -ENODEV;
  if (is_due("storm")) {
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_SUSPENDED);
    return -ESTRPIPE;
  }
  advance(device);
  return device->played % (long long)io->buffer_size;
}

static snd_pcm_sframes_t on_transfer(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    snd_pcm_uframes_t count) {
  struct device *device = io->private_data;
  hang("hangwrite");
  if (is_due("gone") || is_due("other-rate")) return -ENODEV;
  if (is_due("short") && count > 1) count = 1;
  if (is_fault("eagainstart")) return -EAGAIN;
  static long long rested;
  if (is_due("sleepoften") && now() - rested > 500000000LL) {
    struct timespec time = {1, 500000000};
    nanosleep(&time, NULL);
    rested = now();
  }
  if (comes("hangback") || comes("hangunplug")) {
    struct timespec time = {1, 500000000};
    nanosleep(&time, NULL);
    if (is_fault("hangunplug")) return -ENODEV;
  }
  device->taken += (long long)count;
  return (snd_pcm_sframes_t)count;
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *frames) {
  struct device *device = io->private_data;
  hang("hangdelay");
  if (is_due("gone") || is_due("other-rate")) return -ENODEV;
  advance(device);
  *frames = (snd_pcm_sframes_t)(device->taken - device->played);
  return 0;
}

static int on_prepare(snd_pcm_ioplug_t *io) {
  struct device *device = io->private_data;
  if (is_due("gone") || is_due("other-rate")) return -ENODEV;
  device->taken = device->played = device->skipped = 0;
  device->isRunning = 0;
  return 0;
}

static int on_resume(snd_pcm_ioplug_t *io) { return -ENOSYS; }

static int on_close(snd_pcm_ioplug_t *io) {
  hang("hangclose");
  close(io->poll_fd);
  free(io->private_data);
  return 0;
}

static int on_received(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *events) {
  unsigned long long ticks;
  if (count > 0 && descriptors[0].revents & POLLIN)
    (void)!read(io->poll_fd, &ticks, sizeof ticks);
  *events = is_due("frozen") ? 0 : POLLOUT;
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .close = on_close,
    .prepare = on_prepare,
    .resume = on_resume,
    .poll_revents = on_received,
    .delay = on_delay,
};

SND_PCM_PLUGIN_DEFINE_FUNC(fault) {
  if (is_fault("hangopen")) {
    sign();
    for (;;) pause();
  }
  if (is_due("gone")) return -ENODEV;
  static long long attempted;
  if (!attempted) attempted = now();
  if (is_fault("absent") && (now() - attempted) / 1000000 < number("FAULT_FOR", 0)) {
    sign();
    return -ENODEV;
  }
  struct device *device = calloc(1, sizeof *device);
  if (!device) return -ENOMEM;
  device->io = (snd_pcm_ioplug_t){
      .version = SND_PCM_IOPLUG_VERSION,
      .name = "A device of which one call goes wrong",
      .poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
      .poll_events = POLLIN,
      .callback = &callbacks,
      .private_data = device,
  };
  int error = snd_pcm_ioplug_create(&device->io, name, stream, mode);
  if (error < 0) return error;
  unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
  unsigned format[] = {SND_PCM_FORMAT_FLOAT_LE};
  unsigned rate = is_due("other-rate") ? 44100 : 48000;
  snd_pcm_ioplug_set_param_list(&device->io, SND_PCM_IOPLUG_HW_ACCESS, 2, access);
  snd_pcm_ioplug_set_param_list(&device->io, SND_PCM_IOPLUG_HW_FORMAT, 1, format);
  snd_pcm_ioplug_set_param_minmax(&device->io, SND_PCM_IOPLUG_HW_CHANNELS, 2, 2);
  snd_pcm_ioplug_set_param_minmax(&device->io, SND_PCM_IOPLUG_HW_RATE, rate, rate);
  snd_pcm_ioplug_set_param_minmax(&device->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 128, 1 << 17);
  snd_pcm_ioplug_set_param_minmax(&device->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 512, 1 << 19);
  *pcmp = device->io.pcm;
  return 0;
}
SND_PCM_PLUGIN_SYMBOL(fault);
