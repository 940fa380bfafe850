// hypot as glibc had it before 2.35, so that the library can be loaded where glibc is 2.34; the results are the same.
#ifdef __x86_64__
__asm__(".symver hypot_older, hypot@GLIBC_2.2.5");
__asm__(".symver hypotf_older, hypotf@GLIBC_2.2.5");
double hypot_older(double x, double y);
float hypotf_older(float x, float y);
double hypot(double x, double y) { return hypot_older(x, y); }
float hypotf(float x, float y) { return hypotf_older(x, y); }
#endif
