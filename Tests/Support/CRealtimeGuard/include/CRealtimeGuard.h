// The realtime sanitizer's hooks, weak: ordinary builds link without the sanitizer.
#pragma once

#include <stdbool.h>

/// Whether the realtime sanitizer is linked in.
bool crt_guard_is_present(void);

/// From here on the sanitizer ends the program at any allocation, lock or system call of this thread.
void crt_guard_enter(void);

/// Ends what crt_guard_enter() began.
void crt_guard_exit(void);
