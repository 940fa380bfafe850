// Calls of all functions of Library/temblor.h with arguments that are drawn, valid and invalid.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Makes `count` calls whose arguments follow from a seed. Returns NULL, or the promise that a call broke.
const char *_Nullable random_calls(uint64_t seed, int64_t count);

/// Makes the calls whose arguments are drawn from bytes, until no byte is left. Returns NULL, or the promise that a call
/// broke.
const char *_Nullable random_calls_from(const uint8_t *_Nullable bytes, size_t count);
