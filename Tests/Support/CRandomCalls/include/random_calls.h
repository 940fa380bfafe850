// Random calls of all functions of Library/temblor.h, with valid and invalid arguments.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Makes `count` random calls. Returns NULL, or the guarantee that a call violated.
const char *_Nullable random_calls(uint64_t seed, int64_t count);

/// Makes calls whose arguments are drawn from bytes, until all bytes are used. Returns NULL, or the guarantee that a
/// call violated.
const char *_Nullable random_calls_from(const uint8_t *_Nullable bytes, size_t count);
