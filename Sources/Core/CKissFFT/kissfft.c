#include "ckissfft.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(int, kiss_fft_next_fast_size, (int n), (n)) \
  F(void, kiss_fftr, (kiss_fftr_cfg cfg, const float *timedata, kiss_fft_cpx *freqdata), (cfg, timedata, freqdata)) \
  F(kiss_fftr_cfg, kiss_fftr_alloc, (int nfft, int inverse_fft, void *mem, size_t *lenmem), \
    (nfft, inverse_fft, mem, lenmem)) \
  F(void, kiss_fftri, (kiss_fftr_cfg cfg, const kiss_fft_cpx *freqdata, float *timedata), (cfg, freqdata, timedata))

TEMBLOR_LATE_LIBRARY("libkissfft-float.so.131", RTLD_LAZY, FUNCTIONS)
