// Foundation's Timer. In tests, no run loop runs on the main thread, so that a timer would never
// fire.
#if defined(__gnu_linux__)
#define _GNU_SOURCE
#include "shared.h"
#include <pthread.h>
#include <time.h>

typedef void (*callback)(void *timer, void *info);
typedef struct { long version; void *info, *retain, *release, *describe; } context;
void *CFRunLoopTimerCreate(void *, double date, double interval, unsigned long, long, callback, context *);
void CFRunLoopTimerGetContext(void *timer, context *);
void CFRunLoopTimerInvalidate(void *timer);
unsigned char CFRunLoopTimerIsValid(void *timer);
void CFRunLoopAddTimer(void *loop, void *timer, const void *mode);
void CFRetain(void *);
void CFRelease(void *);
extern char _dispatch_main_q[];

/// The seconds from 1970 to 2001, the epoch of Core Foundation.
static const double epoch = 978307200.0;

typedef struct entry { struct entry *next; void *device, *timer; double date, interval; callback callback; } entry;
static entry *entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// Removes the entry of a timer from the list, and returns it, or null.
static entry *take(void *timer) {
  pthread_mutex_lock(&lock);
  entry **place = &entries;
  while (*place && (*place)->timer != timer) place = &(*place)->next;
  entry *it = *place;
  if (it) *place = it->next;
  pthread_mutex_unlock(&lock);
  return it;
}

void *CFRunLoopTimerCreate(void *a, double date, double interval, unsigned long f, long o, callback cb, context *c) {
  NEXT(CFRunLoopTimerCreate);
  void *timer = next(a, date, interval, f, o, cb, c);
  void *device = vt_here();
  if (!timer || !device) return timer;
  free(take(timer));
  entry *it = malloc(sizeof *it);
  pthread_mutex_lock(&lock);
  *it = (entry){entries, device, timer, date, interval, cb};
  entries = it;
  pthread_mutex_unlock(&lock);
  return timer;
}

static void end(entry *it) {
  if (CFRunLoopTimerIsValid(it->timer)) CFRunLoopTimerInvalidate(it->timer);
  CFRelease(it->timer);
  vt.release(it->device);
  free(it);
}

static void call(void *pointer) {
  entry *it = pointer;
  context c = {0};
  CFRunLoopTimerGetContext(it->timer, &c);
  it->callback(it->timer, c.info);
}

static void due(void *);
static void leave(void *it, int64_t rest) { end(it); }

static void perform(void *pointer) {
  entry *it = pointer;
  void *device = it->device;
  vt.retain(device);
  if (CFRunLoopTimerIsValid(it->timer)) vt.enter(device, call, it);
  if (it->interval > 0 && CFRunLoopTimerIsValid(it->timer))
    vt.schedule(device, (int64_t)(it->interval * 1e9 + 0.5), due, leave, it);
  else end(it);
  vt.pending(device, -1);
  vt.release(device);
}

static void due(void *pointer) {
  entry *it = pointer;
  vt.pending(it->device, 1);
  vt_async(_dispatch_main_q, it, perform);
}

void CFRunLoopAddTimer(void *loop, void *timer, const void *mode) {
  NEXT(CFRunLoopAddTimer);
  entry *it = timer ? take(timer) : 0;
  if (!it) return next(loop, timer, mode);
  if (vt_here() != it->device) {
    free(it);
    return next(loop, timer, mode);
  }
  CFRetain(timer);
  vt.retain(it->device);
  double delay = (it->date + epoch) * 1e9 - (double)vt.clock(it->device, CLOCK_REALTIME);
  // Dates are exact to a tenth of a microsecond. Rounding to a microsecond restores the intended
  // value.
  vt.schedule(it->device, delay > 0 ? (int64_t)(delay / 1000 + 0.5) * 1000 : 0, due, leave, it);
}
#endif
