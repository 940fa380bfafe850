#include "CRealtimeGuard.h"

__attribute__((weak)) void __rtsan_realtime_enter(void);
__attribute__((weak)) void __rtsan_realtime_exit(void);

bool crt_guard_is_present(void) { return __rtsan_realtime_enter != 0; }

void crt_guard_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

void crt_guard_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}
