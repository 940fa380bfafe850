/// What Swift's generated code needs of a WebAssembly system beyond wasi-libc.
#include <stddef.h>
#include <stdint.h>

/// The product of two 128-bit integers, which compilers expect of their runtime library.
__int128 __multi3(__int128 a, __int128 b) {
  uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
  uint64_t low = (a0 & 0xffffffff) * (b0 & 0xffffffff);
  uint64_t middle = (a0 >> 32) * (b0 & 0xffffffff) + (low >> 32);
  uint64_t other = (a0 & 0xffffffff) * (b0 >> 32) + (middle & 0xffffffff);
  uint64_t high = (a0 >> 32) * (b0 >> 32) + (middle >> 32) + (other >> 32) + a1 * b0 + a0 * b1;
  return (__int128)((unsigned __int128)high << 64 | other << 32 | (low & 0xffffffff));
}

/// Seeds of hash tables: constant, so that runs are equal.
void arc4random_buf(void *bytes, size_t count) {
  for (size_t index = 0; index < count; index++) ((uint8_t *)bytes)[index] = (uint8_t)index;
}

/// Numbers whose digits need more than the reader's own exact way.
double strtod(const char *text, char **end);

const char *_swift_stdlib_strtod_clocale(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end == text ? 0 : end;
}
