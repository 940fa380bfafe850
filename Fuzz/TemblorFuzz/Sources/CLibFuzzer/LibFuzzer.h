/// The part of libFuzzer that a program with its own `main` calls; FuzzerInterface.h has no C form of it.

#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer as its command line asks; does not return where an input fails.
int LLVMFuzzerRunDriver(
  int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));

/// Changes an input as libFuzzer does where a program has no way of its own; returns its new length, up to a limit.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t limit);
