// dispatch_async, dispatch_after, and timer sources: dispatched work keeps its device.
#if defined(__gnu_linux__)
#define _GNU_SOURCE
#include "shared.h"
#include <pthread.h>

void *_Block_copy(const void *);
void _Block_release(const void *);
void dispatch_retain(void *);
void dispatch_release(void *);
void dispatch_async_f(void *queue, void *context, void (*work)(void *));
uint64_t dispatch_time(uint64_t when, int64_t delta);
struct block { void *isa; int flags, reserved; void (*invoke)(void *); };

typedef struct item { void *device, *queue, *context; void (*work)(void *); } item;

static item *make(void *device, void *queue, void *context, void (*work)(void *)) {
  item *made = malloc(sizeof *made);
  *made = (item){device, queue, context, work};
  vt.retain(device);
  dispatch_retain(queue);
  return made;
}

static void drop(item *it) {
  dispatch_release(it->queue);
  vt.release(it->device);
  free(it);
}

static void call_block(void *block) { ((struct block *)block)->invoke(block); _Block_release(block); }

/// Runs on the queue, as work of the device.
static void perform(void *context) {
  item *it = context;
  vt.enter(it->device, it->work, it->context);
  vt.pending(it->device, -1);
  drop(it);
}

void vt_async(void *queue, void *context, void (*work)(void *)) {
  NEXT(dispatch_async_f);
  next(queue, context, work);
}

/// Runs in `advance(by:)`, and dispatches the work to its queue.
static void fire(void *context) {
  item *it = context;
  vt.pending(it->device, 1);
  vt_async(it->queue, it, perform);
}

/// Receives the jobs of the main actor, among others.
void dispatch_async_f(void *queue, void *context, void (*work)(void *)) {
  void *device = vt_here();
  if (!device) return vt_async(queue, context, work);
  fire(make(device, queue, context, work));
}

static void finish(void *context) {
  item *it = context;
  it->work(it->context);
  drop(it);
}

void dispatch_after_f(uint64_t when, void *queue, void *context, void (*work)(void *));

/// Runs if the device has ended: the remaining time is awaited in real time.
static void leave(void *context, int64_t rest) {
  item *it = context;
  dispatch_after_f(dispatch_time(0, rest), it->queue, it, finish);
}

void dispatch_async(void *queue, void *block) {
  NEXT(dispatch_async);
  if (vt_async_main(queue, block, __builtin_return_address(0))) return;
  void *device = vt_here();
  if (!device) return next(queue, block);
  fire(make(device, queue, _Block_copy(block), call_block));
}

void dispatch_after(uint64_t when, void *queue, void *block) {
  NEXT(dispatch_after);
  void *device = vt_here();
  if (!device || when == ~0ull) return next(when, queue, block);
  vt.schedule(device, vt_delay(device, when), fire, leave, make(device, queue, _Block_copy(block), call_block));
}

void dispatch_after_f(uint64_t when, void *queue, void *context, void (*work)(void *)) {
  NEXT(dispatch_after_f);
  void *device = vt_here();
  if (!device || when == ~0ull) return next(when, queue, context, work);
  vt.schedule(device, vt_delay(device, when), fire, leave, make(device, queue, context, work));
}

// Timer sources are only armed to fire immediately, so libdispatch still handles suspension and
// cancellation. libdispatch fires them on a thread of its own. A firing is pending work until its
// handler is called, or until the source is suspended, set again, or canceled; the call is pending
// work until its end.
typedef struct timer {
  struct timer *next;
  void *source;
  /// The device that receives the calls of the handler, or null without a handler of a device.
  void *device;
  /// Counts the settings, so that an obsolete setting can be detected.
  unsigned generation;
  unsigned suspensions;
  /// Whether a device created the source, so that its suspensions are known.
  int is_tracked;
  int is_inactive, is_fired, is_pending;
} timer;
typedef struct arming { void *device, *source; uint64_t interval; unsigned generation; } arming;
static timer *timers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*set_timer)(void *, uint64_t, uint64_t, uint64_t);
long dispatch_source_testcancel(void *source);

/// Returns the record of a source, or null. The lock is held.
static timer *timer_of(void *source) {
  timer *it = timers;
  while (it && it->source != source) it = it->next;
  return it;
}

/// Returns the record of a source, which is added if there is none. The lock is held.
static timer *timer_adding(void *source) {
  timer *it = timer_of(source);
  if (it) return it;
  it = calloc(1, sizeof *it);
  it->source = source;
  it->next = timers;
  return timers = it;
}

/// Begins or ends the pending call of a handler, by the state of its source. The lock is held.
static void update_pending(timer *it) {
  int is_pending = it->device && it->is_fired && !it->is_inactive && !it->suspensions;
  if (is_pending == it->is_pending) return;
  it->is_pending = is_pending;
  vt.pending(it->device, is_pending ? 1 : -1);
}

static void set_fired(void *source, int is_fired) {
  pthread_mutex_lock(&lock);
  timer *it = timer_of(source);
  if (it) {
    it->is_fired = is_fired;
    update_pending(it);
  }
  pthread_mutex_unlock(&lock);
}

/// Returns the number of settings of a source. A change of 0 only reads it; a new setting replaces
/// a firing whose handler has not been called.
static unsigned setting(void *source, unsigned change) {
  pthread_mutex_lock(&lock);
  timer *it = change ? timer_adding(source) : timer_of(source);
  if (it && change) {
    it->generation += change;
    it->is_fired = 0;
    update_pending(it);
  }
  unsigned generation = it ? it->generation : 0;
  pthread_mutex_unlock(&lock);
  return generation;
}

void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
  NEXT(dispatch_source_create);
  extern const char _dispatch_source_type_timer[];
  void *source = next(type, handle, mask, queue);
  if (!source || type != _dispatch_source_type_timer || !vt_here()) return source;
  pthread_mutex_lock(&lock);
  timer *it = timer_adding(source);
  // The address may be that of a source that has been released.
  *it = (timer){.next = it->next, .source = source, .is_tracked = 1, .is_inactive = 1};
  pthread_mutex_unlock(&lock);
  return source;
}

/// Records that a source was activated, or that the count of its suspensions changed.
static void record_suspension(void *object, int change) {
  pthread_mutex_lock(&lock);
  timer *it = timer_of(object);
  if (it) {
    if (change <= 0 && it->is_inactive) it->is_inactive = 0;
    else it->suspensions += change;
    update_pending(it);
  }
  pthread_mutex_unlock(&lock);
}

void dispatch_activate(void *object) {
  NEXT(dispatch_activate);
  record_suspension(object, 0);
  next(object);
}

void dispatch_resume(void *object) {
  NEXT(dispatch_resume);
  record_suspension(object, -1);
  next(object);
}

void dispatch_suspend(void *object) {
  NEXT(dispatch_suspend);
  record_suspension(object, 1);
  next(object);
}

void dispatch_source_cancel(void *source) {
  NEXT(dispatch_source_cancel);
  next(source);
  set_fired(source, 0);
}

static void disarm(arming *it) {
  dispatch_release(it->source);
  vt.release(it->device);
  free(it);
}

static void leave_source(void *context, int64_t rest) {
  arming *it = context;
  if (setting(it->source, 0) == it->generation && !dispatch_source_testcancel(it->source))
    set_timer(it->source, dispatch_time(0, rest), it->interval, 0);
  disarm(it);
}

static void due(void *context) {
  arming *it = context;
  if (setting(it->source, 0) != it->generation || dispatch_source_testcancel(it->source)) return disarm(it);
  set_fired(it->source, 1);
  // A cancellation on another thread may have preceded the firing.
  if (dispatch_source_testcancel(it->source)) set_fired(it->source, 0);
  set_timer(it->source, 0, ~0ull, 0);
  if (it->interval == ~0ull) return disarm(it);
  vt.schedule(it->device, (int64_t)it->interval, due, leave_source, it);
}

void dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway) {
  NEXT(dispatch_source_set_timer);
  set_timer = next;
  // A run loop of Foundation limits its time, which is that of the machine.
  if (vt_is_in_foundation((uintptr_t)__builtin_return_address(0))) return next(source, start, interval, leeway);
  void *device = vt_here();
  unsigned generation = setting(source, 1);
  if (!device || start == ~0ull) return next(source, start, interval, leeway);
  next(source, ~0ull, ~0ull, 0);
  arming *armed = malloc(sizeof *armed);
  *armed = (arming){device, source, interval, generation};
  vt.retain(device);
  dispatch_retain(source);
  vt.schedule(device, vt_delay(device, start), due, leave_source, armed);
}

// Handlers of a source belong to the device in which they were set.
void *dispatch_get_context(void *);
void dispatch_set_context(void *, void *);
void dispatch_set_finalizer_f(void *, void (*)(void *));
void dispatch_source_set_event_handler_f(void *source, void (*handler)(void *));

typedef struct handler { void *device, *source, *block; } handler;

static void invoke(void *block) { ((struct block *)block)->invoke(block); }

static void handle(void *context) {
  handler *it = context;
  // The call is pending work of its own: the handler may set its source again.
  vt.pending(it->device, 1);
  set_fired(it->source, 0);
  vt.enter(it->device, invoke, it->block);
  vt.pending(it->device, -1);
}

static void finalize(void *context) {
  handler *it = context;
  pthread_mutex_lock(&lock);
  timer **next = &timers;
  while (*next && (*next)->source != it->source) next = &(*next)->next;
  timer *record = *next;
  if (record) {
    record->is_fired = 0;
    update_pending(record);
    *next = record->next;
    free(record);
  }
  pthread_mutex_unlock(&lock);
  _Block_release(it->block);
  vt.release(it->device);
  free(it);
}

void dispatch_source_set_event_handler(void *source, void *block) {
  NEXT(dispatch_source_set_event_handler);
  void *device = vt_here();
  if (!device || !block || dispatch_get_context(source)) return next(source, block);
  handler *it = malloc(sizeof *it);
  *it = (handler){device, source, _Block_copy(block)};
  vt.retain(device);
  pthread_mutex_lock(&lock);
  timer *record = timer_of(source);
  if (record && record->is_tracked) record->device = device;
  pthread_mutex_unlock(&lock);
  dispatch_set_context(source, it);
  dispatch_set_finalizer_f(source, finalize);
  dispatch_source_set_event_handler_f(source, handle);
}
#endif
