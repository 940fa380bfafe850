#include "calsa.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(int, snd_card_next, (int *card), (card)) \
  F(int, snd_ctl_close, (snd_ctl_t *ctl), (ctl)) \
  F(int, snd_ctl_open, (snd_ctl_t **ctl, const char *name, int mode), (ctl, name, mode)) \
  F(int, snd_ctl_pcm_info, (snd_ctl_t *ctl, snd_pcm_info_t *info), (ctl, info)) \
  F(int, snd_ctl_pcm_next_device, (snd_ctl_t *ctl, int *device), (ctl, device)) \
  F(int, snd_device_name_free_hint, (void **hints), (hints)) \
  F(char *, snd_device_name_get_hint, (const void *hint, const char *id), (hint, id)) \
  F(int, snd_device_name_hint, (int card, const char *iface, void ***hints), (card, iface, hints)) \
  F(int, snd_lib_error_set_handler, (snd_lib_error_handler_t handler), (handler)) \
  F(int, snd_output_buffer_open, (snd_output_t **outputp), (outputp)) \
  F(size_t, snd_output_buffer_string, (snd_output_t *output, char **buf), (output, buf)) \
  F(int, snd_output_close, (snd_output_t *output), (output)) \
  F(snd_pcm_sframes_t, snd_pcm_avail, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_close, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_delay, (snd_pcm_t *pcm, snd_pcm_sframes_t *delayp), (pcm, delayp)) \
  F(int, snd_pcm_drop, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_dump, (snd_pcm_t *pcm, snd_output_t *out), (pcm, out)) \
  F(int, snd_pcm_format_physical_width, (snd_pcm_format_t format), (format)) \
  F(int, snd_pcm_hw_free, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_hw_params, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params), (pcm, params)) \
  F(int, snd_pcm_hw_params_any, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params), (pcm, params)) \
  F(void, snd_pcm_hw_params_free, (snd_pcm_hw_params_t *obj), (obj)) \
  F(int, snd_pcm_hw_params_get_buffer_size, (const snd_pcm_hw_params_t *params, snd_pcm_uframes_t *val), \
    (params, val)) \
  F(int, snd_pcm_hw_params_get_channels_max, (const snd_pcm_hw_params_t *params, unsigned int *val), (params, val)) \
  F(int, snd_pcm_hw_params_get_channels_min, (const snd_pcm_hw_params_t *params, unsigned int *val), (params, val)) \
  F(int, snd_pcm_hw_params_get_period_size, \
    (const snd_pcm_hw_params_t *params, snd_pcm_uframes_t *frames, int *dir), (params, frames, dir)) \
  F(int, snd_pcm_hw_params_get_period_size_max, \
    (const snd_pcm_hw_params_t *params, snd_pcm_uframes_t *frames, int *dir), (params, frames, dir)) \
  F(int, snd_pcm_hw_params_get_period_size_min, \
    (const snd_pcm_hw_params_t *params, snd_pcm_uframes_t *frames, int *dir), (params, frames, dir)) \
  F(int, snd_pcm_hw_params_get_rate_max, (const snd_pcm_hw_params_t *params, unsigned int *val, int *dir), \
    (params, val, dir)) \
  F(int, snd_pcm_hw_params_get_rate_min, (const snd_pcm_hw_params_t *params, unsigned int *val, int *dir), \
    (params, val, dir)) \
  F(int, snd_pcm_hw_params_malloc, (snd_pcm_hw_params_t **ptr), (ptr)) \
  F(int, snd_pcm_hw_params_set_access, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_access_t _access), \
    (pcm, params, _access)) \
  F(int, snd_pcm_hw_params_set_buffer_size_near, \
    (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_uframes_t *val), (pcm, params, val)) \
  F(int, snd_pcm_hw_params_set_channels, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int val), \
    (pcm, params, val)) \
  F(int, snd_pcm_hw_params_set_format, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_format_t val), \
    (pcm, params, val)) \
  F(int, snd_pcm_hw_params_set_period_size_near, \
    (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_uframes_t *val, int *dir), (pcm, params, val, dir)) \
  F(int, snd_pcm_hw_params_set_periods_integer, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params), (pcm, params)) \
  F(int, snd_pcm_hw_params_set_rate, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int val, int dir), \
    (pcm, params, val, dir)) \
  F(int, snd_pcm_hw_params_set_rate_near, \
    (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int *val, int *dir), (pcm, params, val, dir)) \
  F(int, snd_pcm_hw_params_set_rate_resample, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int val), \
    (pcm, params, val)) \
  F(int, snd_pcm_hw_params_test_access, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_access_t _access), \
    (pcm, params, _access)) \
  F(int, snd_pcm_hw_params_test_channels, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int val), \
    (pcm, params, val)) \
  F(int, snd_pcm_hw_params_test_format, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, snd_pcm_format_t val), \
    (pcm, params, val)) \
  F(int, snd_pcm_hw_params_test_rate, (snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned int val, int dir), \
    (pcm, params, val, dir)) \
  F(void, snd_pcm_info_free, (snd_pcm_info_t *obj), (obj)) \
  F(const char *, snd_pcm_info_get_name, (const snd_pcm_info_t *obj), (obj)) \
  F(int, snd_pcm_info_malloc, (snd_pcm_info_t **ptr), (ptr)) \
  F(void, snd_pcm_info_set_device, (snd_pcm_info_t *obj, unsigned int val), (obj, val)) \
  F(void, snd_pcm_info_set_stream, (snd_pcm_info_t *obj, snd_pcm_stream_t val), (obj, val)) \
  F(int, snd_pcm_mmap_begin, \
    (snd_pcm_t *pcm, const snd_pcm_channel_area_t **areas, snd_pcm_uframes_t *offset, snd_pcm_uframes_t *frames), \
    (pcm, areas, offset, frames)) \
  F(snd_pcm_sframes_t, snd_pcm_mmap_commit, (snd_pcm_t *pcm, snd_pcm_uframes_t offset, snd_pcm_uframes_t frames), \
    (pcm, offset, frames)) \
  F(int, snd_pcm_open, (snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode), \
    (pcm, name, stream, mode)) \
  F(int, snd_pcm_poll_descriptors, (snd_pcm_t *pcm, struct pollfd *pfds, unsigned int space), (pcm, pfds, space)) \
  F(int, snd_pcm_poll_descriptors_count, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_poll_descriptors_revents, \
    (snd_pcm_t *pcm, struct pollfd *pfds, unsigned int nfds, unsigned short *revents), (pcm, pfds, nfds, revents)) \
  F(int, snd_pcm_prepare, (snd_pcm_t *pcm), (pcm)) \
  F(snd_pcm_sframes_t, snd_pcm_readi, (snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size), (pcm, buffer, size)) \
  F(int, snd_pcm_resume, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_start, (snd_pcm_t *pcm), (pcm)) \
  F(snd_pcm_state_t, snd_pcm_state, (snd_pcm_t *pcm), (pcm)) \
  F(int, snd_pcm_sw_params, (snd_pcm_t *pcm, snd_pcm_sw_params_t *params), (pcm, params)) \
  F(int, snd_pcm_sw_params_current, (snd_pcm_t *pcm, snd_pcm_sw_params_t *params), (pcm, params)) \
  F(void, snd_pcm_sw_params_free, (snd_pcm_sw_params_t *obj), (obj)) \
  F(int, snd_pcm_sw_params_get_avail_min, (const snd_pcm_sw_params_t *params, snd_pcm_uframes_t *val), \
    (params, val)) \
  F(int, snd_pcm_sw_params_get_boundary, (const snd_pcm_sw_params_t *params, snd_pcm_uframes_t *val), (params, val)) \
  F(int, snd_pcm_sw_params_malloc, (snd_pcm_sw_params_t **ptr), (ptr)) \
  F(int, snd_pcm_sw_params_set_avail_min, (snd_pcm_t *pcm, snd_pcm_sw_params_t *params, snd_pcm_uframes_t val), \
    (pcm, params, val)) \
  F(int, snd_pcm_sw_params_set_silence_size, \
    (snd_pcm_t *pcm, snd_pcm_sw_params_t *params, snd_pcm_uframes_t val), (pcm, params, val)) \
  F(int, snd_pcm_sw_params_set_silence_threshold, \
    (snd_pcm_t *pcm, snd_pcm_sw_params_t *params, snd_pcm_uframes_t val), (pcm, params, val)) \
  F(int, snd_pcm_sw_params_set_start_threshold, \
    (snd_pcm_t *pcm, snd_pcm_sw_params_t *params, snd_pcm_uframes_t val), (pcm, params, val)) \
  F(int, snd_pcm_sw_params_set_stop_threshold, \
    (snd_pcm_t *pcm, snd_pcm_sw_params_t *params, snd_pcm_uframes_t val), (pcm, params, val)) \
  F(snd_pcm_type_t, snd_pcm_type, (snd_pcm_t *pcm), (pcm)) \
  F(snd_pcm_sframes_t, snd_pcm_writei, (snd_pcm_t *pcm, const void *buffer, snd_pcm_uframes_t size), \
    (pcm, buffer, size))

TEMBLOR_LATE_LIBRARY("libasound.so.2", RTLD_NOW, FUNCTIONS)

_Bool temblor_has_asound(void) { return temblor_has_library("libasound.so.2"); }
