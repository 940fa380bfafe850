// Weak references to the hooks of the realtime sanitizer, so that other builds link without it.
#pragma once

#include <stdbool.h>

/// Returns whether the realtime sanitizer is linked.
bool crt_guard_is_present(void);

/// Begins a section in which the sanitizer ends the program at any allocation, lock, or system call
/// of this thread.
void crt_guard_enter(void);

/// Ends the section that crt_guard_enter() began.
void crt_guard_exit(void);
