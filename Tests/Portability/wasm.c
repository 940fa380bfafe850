/// Functions that Swift's generated code requires in addition to wasi-libc.
#include <stddef.h>
#include <stdint.h>

/// The product of two 128-bit integers, which compilers expect of their runtime library.
__int128 __multi3(__int128 a, __int128 b) {
  uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
  uint64_t low = (a0 & 0xffffffff) * (b0 & 0xffffffff);
  uint64_t middle = (a0 >> 32) * (b0 & 0xffffffff) + (low >> 32);
  uint64_t crossSum = (a0 & 0xffffffff) * (b0 >> 32) + (middle & 0xffffffff);
  uint64_t high = (a0 >> 32) * (b0 >> 32) + (middle >> 32) + (crossSum >> 32) + a1 * b0 + a0 * b1;
  return (__int128)((unsigned __int128)high << 64 | crossSum << 32 | (low & 0xffffffff));
}

/// Seeds hash tables with constant bytes, so that all runs are equal.
void arc4random_buf(void *bytes, size_t count) {
  for (size_t index = 0; index < count; index++) ((uint8_t *)bytes)[index] = (uint8_t)index;
}

/// Parses numbers with more digits than the reader's own exact method supports.
double strtod(const char *text, char **end);

const char *_swift_stdlib_strtod_clocale(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end == text ? 0 : end;
}
