/// The part of libFuzzer that a program with its own `main` calls; FuzzerInterface.h has no C form of it.

#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer as its command line asks; does not return where an input fails.
int LLVMFuzzerRunDriver(
  int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
