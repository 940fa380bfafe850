// Foundation's main thread in a test program, and blocks that a thread awaits on the main queue.
#if defined(__gnu_linux__)
#define _GNU_SOURCE
#include "shared.h"
#include <execinfo.h>

extern char _dispatch_main_q[];
void dispatch_queue_set_specific(void *queue, const void *key, void *context, void (*destructor)(void *));
void *dispatch_get_specific(const void *key);
void *dispatch_semaphore_create(long value);
long dispatch_semaphore_signal(void *semaphore);
void dispatch_release(void *);
void dispatch_async_f(void *queue, void *context, void (*work)(void *));
void *_Block_copy(const void *);
void _Block_release(const void *);
struct block { void *isa; int flags, reserved; void (*invoke)(void *); };

static const char main_queue_key;

__attribute__((constructor)) static void mark_main_queue(void) {
  dispatch_queue_set_specific(_dispatch_main_q, &main_queue_key, (void *)&main_queue_key, 0);
}

int vt_on_main_queue(void) { return dispatch_get_specific(&main_queue_key) != 0; }

/// Returns true on the main queue, whichever thread serves it. In a program of Swift Testing, the
/// first thread only waits, and worker threads serve the main queue. If Foundation does not
/// recognize them, an observer on `OperationQueue.main` waits for the thread that it blocks.
unsigned char _CFIsMainThread(void) {
  NEXT(_CFIsMainThread);
  return next() || vt_on_main_queue();
}

static void run(void *block) {
  ((struct block *)block)->invoke(block);
  _Block_release(block);
}

/// Returns whether a call comes from Foundation, whose operations other threads may await.
static int asks_operation_queue(void) {
  void *frames[8];
  int count = backtrace(frames, 8);
  for (int i = 0; i < count && i < 7; i++)
    if (vt_is_in_foundation((uintptr_t)frames[i])) return 1;
  return 0;
}

/// Runs the next block that other threads of the device await, if no call has run it already.
static void run_next(void *device) { vt.run_awaited(device); }

/// Adds a block to those that a call of the device runs if it occupies the main queue. Otherwise
/// the main queue runs it in its turn.
static void add(void *device, void (*body)(void *), void *context) {
  vt.add_awaited(device, body, context);
  dispatch_async_f(_dispatch_main_q, device, run_next);
}

int vt_async_main(void *queue, void *block, const void *caller) {
  if (queue != _dispatch_main_q || vt_on_main_queue()) return 0;
  void *device = vt_device(caller);
  if (!device || !asks_operation_queue()) return 0;
  add(device, run, _Block_copy(block));
  return 1;
}

typedef struct awaited { void *block, *semaphore; } awaited;

static void run_awaited(void *context) {
  awaited *it = context;
  ((struct block *)it->block)->invoke(it->block);
  dispatch_semaphore_signal(it->semaphore);
}

void dispatch_sync(void *queue, void *block) {
  NEXT(dispatch_sync);
  void *device = queue == _dispatch_main_q && !vt_on_main_queue() ? vt_here() : 0;
  if (!device) return next(queue, block);
  awaited it = {block, dispatch_semaphore_create(0)};
  vt.retain(device);
  vt.waiting(device, "DispatchQueue.main.sync", 1);
  add(device, run_awaited, &it);
  vt_wait(it.semaphore);
  vt.waiting(device, "DispatchQueue.main.sync", -1);
  vt.release(device);
  dispatch_release(it.semaphore);
}
#endif
