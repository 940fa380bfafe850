#include "csndfile.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(int, sf_close, (SNDFILE *sndfile), (sndfile)) \
  F(int, sf_command, (SNDFILE *sndfile, int command, void *data, int datasize), (sndfile, command, data, datasize)) \
  F(int, sf_error, (SNDFILE *sndfile), (sndfile)) \
  F(const char *, sf_error_number, (int errnum), (errnum)) \
  F(int, sf_format_check, (const SF_INFO *info), (info)) \
  F(SNDFILE *, sf_open_fd, (int fd, int mode, SF_INFO *sfinfo, int close_desc), (fd, mode, sfinfo, close_desc)) \
  F(sf_count_t, sf_readf_float, (SNDFILE *sndfile, float *ptr, sf_count_t frames), (sndfile, ptr, frames)) \
  F(int, sf_set_string, (SNDFILE *sndfile, int str_type, const char *str), (sndfile, str_type, str)) \
  F(const char *, sf_strerror, (SNDFILE *sndfile), (sndfile)) \
  F(sf_count_t, sf_writef_float, (SNDFILE *sndfile, const float *ptr, sf_count_t frames), (sndfile, ptr, frames)) \
  F(sf_count_t, sf_writef_int, (SNDFILE *sndfile, const int *ptr, sf_count_t frames), (sndfile, ptr, frames)) \
  F(sf_count_t, sf_writef_short, (SNDFILE *sndfile, const short *ptr, sf_count_t frames), (sndfile, ptr, frames))

TEMBLOR_LATE_LIBRARY("libsndfile.so.1", RTLD_LAZY, FUNCTIONS)

_Bool temblor_has_sndfile(void) { return temblor_has_library("libsndfile.so.1"); }
