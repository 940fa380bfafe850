#include "csamplerate.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(int, src_simple, (SRC_DATA *data, int converter_type, int channels), (data, converter_type, channels)) \
  F(const char *, src_strerror, (int error), (error))

TEMBLOR_LATE_LIBRARY("libsamplerate.so.0", RTLD_LAZY, FUNCTIONS)
