#include "cebur128.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(int, ebur128_add_frames_float, (ebur128_state *st, const float *src, size_t frames), (st, src, frames)) \
  F(void, ebur128_destroy, (ebur128_state **st), (st)) \
  F(ebur128_state *, ebur128_init, (unsigned int channels, unsigned long samplerate, int mode), \
    (channels, samplerate, mode)) \
  F(int, ebur128_loudness_global, (ebur128_state *st, double *out), (st, out)) \
  F(int, ebur128_set_channel, (ebur128_state *st, unsigned int channel_number, int value), \
    (st, channel_number, value)) \
  F(int, ebur128_true_peak, (ebur128_state *st, unsigned int channel_number, double *out), \
    (st, channel_number, out))

TEMBLOR_LATE_LIBRARY("libebur128.so.1", RTLD_LAZY, FUNCTIONS)
