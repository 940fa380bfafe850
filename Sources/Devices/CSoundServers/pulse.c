#include "csoundservers.h"
#include "late.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

/* The part of libpulse's interface that is used here. It is stable: libpulse.so.0 has kept it since version 0.9.15. */

typedef struct pa_mainloop pa_mainloop;
typedef struct pa_mainloop_api pa_mainloop_api;
typedef struct pa_context pa_context;
typedef struct pa_operation pa_operation;
typedef struct pa_stream pa_stream;

typedef struct {
  int format;
  uint32_t rate;
  uint8_t channels;
} sample_spec;

typedef struct {
  uint8_t channels;
  int map[32];
} channel_map;

typedef struct {
  uint8_t channels;
  uint32_t values[32];
} channel_volumes;

/* The beginning of pa_sink_info. */
typedef struct {
  const char *name;
  uint32_t index;
  const char *description;
  sample_spec sample_spec;
  channel_map channel_map;
  uint32_t owner_module;
  channel_volumes volume;
  int mute;
  uint32_t monitor_source;
  const char *monitor_source_name;
} sink_info;

/* The beginning of pa_server_info. */
typedef struct {
  const char *user_name;
  const char *host_name;
  const char *server_version;
  const char *server_name;
  sample_spec sample_spec;
  const char *default_sink_name;
  const char *default_source_name;
} server_info;

typedef void (*server_info_callback)(pa_context *context, const server_info *info, void *data);
typedef void (*sink_info_callback)(pa_context *context, const sink_info *info, int end, void *data);

enum { CONTEXT_READY = 4, CONTEXT_FAILED = 5, CONTEXT_TERMINATED = 6 };
enum { CONTEXT_NOAUTOSPAWN = 0x0001 };
enum { OPERATION_RUNNING = 0 };
enum { STREAM_DONT_MOVE = 0x0200 };

pa_mainloop *pa_mainloop_new(void);
void pa_mainloop_free(pa_mainloop *loop);
pa_mainloop_api *pa_mainloop_get_api(pa_mainloop *loop);
int pa_mainloop_prepare(pa_mainloop *loop, int timeout);
int pa_mainloop_poll(pa_mainloop *loop);
int pa_mainloop_dispatch(pa_mainloop *loop);
pa_context *pa_context_new(pa_mainloop_api *api, const char *name);
void pa_context_unref(pa_context *context);
int pa_context_connect(pa_context *context, const char *server, int flags, const void *spawn_api);
void pa_context_disconnect(pa_context *context);
int pa_context_get_state(const pa_context *context);
pa_operation *pa_context_get_server_info(pa_context *context, server_info_callback callback, void *data);
pa_operation *pa_context_get_sink_info_list(pa_context *context, sink_info_callback callback, void *data);
int pa_operation_get_state(const pa_operation *operation);
void pa_operation_unref(pa_operation *operation);

#define FUNCTIONS(F) \
  F(pa_mainloop *, pa_mainloop_new, (void), ()) \
  F(pa_mainloop_api *, pa_mainloop_get_api, (pa_mainloop *loop), (loop)) \
  F(int, pa_mainloop_prepare, (pa_mainloop *loop, int timeout), (loop, timeout)) \
  F(int, pa_mainloop_poll, (pa_mainloop *loop), (loop)) \
  F(int, pa_mainloop_dispatch, (pa_mainloop *loop), (loop)) \
  F(int, pa_context_connect, (pa_context *context, const char *server, int flags, const void *spawn_api), \
    (context, server, flags, spawn_api)) \
  F(int, pa_context_get_state, (const pa_context *context), (context)) \
  F(pa_operation *, pa_context_get_server_info, (pa_context *context, server_info_callback callback, void *data), \
    (context, callback, data)) \
  F(pa_operation *, pa_context_get_sink_info_list, (pa_context *context, sink_info_callback callback, void *data), \
    (context, callback, data)) \
  F(int, pa_operation_get_state, (const pa_operation *operation), (operation)) \
  F(void, pa_mainloop_free, (pa_mainloop *loop), (loop)) \
  F(void, pa_context_unref, (pa_context *context), (context)) \
  F(void, pa_context_disconnect, (pa_context *context), (context)) \
  F(void, pa_operation_unref, (pa_operation *operation), (operation))

static const char library[] = "libpulse.so.0";

TEMBLOR_LATE_LIBRARY(library, RTLD_LAZY, FUNCTIONS)

typedef struct {
  temblor_server_visitor visit_server;
  temblor_sink_visitor visit_sink;
  void *context;
  _Bool has_server;
  _Bool has_sinks;
} query;

static void receive_server(pa_context *context, const server_info *info, void *data) {
  (void)context;
  query *query = data;
  if (!info) return;
  query->visit_server(query->context, info->server_name, info->default_sink_name, info->default_source_name);
  query->has_server = 1;
}

static void receive_sink(pa_context *context, const sink_info *info, int end, void *data) {
  (void)context;
  query *query = data;
  if (end == 0 && info) query->visit_sink(query->context, info->name, info->description, info->monitor_source_name);
  if (end > 0) query->has_sinks = 1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs the loop once; answers false if the deadline has passed or the loop has failed. */
static _Bool iterate(pa_mainloop *loop, double deadline) {
  double remaining = deadline - now();
  if (remaining <= 0) return 0;
  if (pa_mainloop_prepare(loop, (int)(1e6 * remaining)) < 0) return 0;
  if (pa_mainloop_poll(loop) < 0) return 0;
  return pa_mainloop_dispatch(loop) >= 0;
}

static enum temblor_server_answer ask(pa_mainloop *loop, pa_context *context, query *query, double deadline) {
  int state;
  while ((state = pa_context_get_state(context)) != CONTEXT_READY) {
    if (state == CONTEXT_FAILED || state == CONTEXT_TERMINATED) return TEMBLOR_SERVER_ABSENT;
    if (!iterate(loop, deadline)) return TEMBLOR_SERVER_SILENT;
  }
  pa_operation *operations[] = {
      pa_context_get_server_info(context, receive_server, query),
      pa_context_get_sink_info_list(context, receive_sink, query),
  };
  for (int index = 0; index < 2; index++) {
    if (!operations[index]) continue;
    while (pa_operation_get_state(operations[index]) == OPERATION_RUNNING && iterate(loop, deadline)) {
    }
    pa_operation_unref(operations[index]);
  }
  return query->has_server && query->has_sinks ? TEMBLOR_SERVER_ANSWERED : TEMBLOR_SERVER_SILENT;
}

enum temblor_server_answer temblor_pulse_sinks(
    _Bool may_start_server, double seconds, temblor_server_visitor visit_server, temblor_sink_visitor visit_sink,
    void *data) {
  if (!temblor_has_library(library)) return TEMBLOR_SERVER_LIBRARY_MISSING;
  pa_mainloop *loop = pa_mainloop_new();
  if (!loop) return TEMBLOR_SERVER_ABSENT;
  enum temblor_server_answer answer = TEMBLOR_SERVER_ABSENT;
  pa_context *context = pa_context_new(pa_mainloop_get_api(loop), "Temblor");
  if (context) {
    query query = {.visit_server = visit_server, .visit_sink = visit_sink, .context = data};
    if (pa_context_connect(context, NULL, may_start_server ? 0 : CONTEXT_NOAUTOSPAWN, NULL) >= 0)
      answer = ask(loop, context, &query, now() + seconds);
    pa_context_disconnect(context);
    pa_context_unref(context);
  }
  pa_mainloop_free(loop);
  return answer;
}

/* MARK: - Functions in the place of the library's

   ALSA's plug-in for PulseAudio calls these functions if the program exports them, since the dynamic linker resolves
   the plug-in's calls in the program before it searches libpulse.

   A PulseAudio server moves a stream whose sink disappears to another sink, unless the stream asks not to be moved, and
   the plug-in has no option for it. The functions that connect streams add the flag to each stream that names its sink
   or source. The function that makes a context replaces the name of the plug-in in the desktop's mixer. */

typedef pa_context *context_function(pa_mainloop_api *api, const char *name);
typedef int playback_function(
    pa_stream *stream, const char *device, const void *attributes, int flags, const void *volume, pa_stream *sync);
typedef int record_function(pa_stream *stream, const char *device, const void *attributes, int flags);

playback_function pa_stream_connect_playback;
record_function pa_stream_connect_record;

static atomic_uint pinned_stream_count;

/* False in a process whose streams are not Temblor's to change. */
static atomic_bool is_active;

/* The library's own function. */
static void *original(const char *name) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return handle ? dlsym(handle, name) : NULL;
}

static int pinned(const char *device, int flags) {
  if (!device || !device[0] || !atomic_load(&is_active)) return flags;
  atomic_fetch_add_explicit(&pinned_stream_count, 1, memory_order_relaxed);
  return flags | STREAM_DONT_MOVE;
}

__attribute__((visibility("default"), used)) pa_context *pa_context_new(pa_mainloop_api *api, const char *name) {
  static const char plug_in[] = "ALSA plug-in";
  context_function *make = (context_function *)original("pa_context_new");
  if (!make) return NULL;
  _Bool is_plug_in = name && !strncmp(name, plug_in, sizeof plug_in - 1);
  return make(api, is_plug_in && atomic_load(&is_active) ? "Temblor" : name);
}

__attribute__((visibility("default"), used)) int pa_stream_connect_playback(
    pa_stream *stream, const char *device, const void *attributes, int flags, const void *volume, pa_stream *sync) {
  playback_function *connect = (playback_function *)original("pa_stream_connect_playback");
  if (!connect) return -1;
  return connect(stream, device, attributes, pinned(device, flags), volume, sync);
}

__attribute__((visibility("default"), used)) int pa_stream_connect_record(
    pa_stream *stream, const char *device, const void *attributes, int flags) {
  record_function *connect = (record_function *)original("pa_stream_connect_record");
  if (!connect) return -1;
  return connect(stream, device, attributes, pinned(device, flags));
}

void temblor_pin_pulse_streams(void) { atomic_store(&is_active, 1); }

_Bool temblor_pins_pulse_streams(void) {
  return dlsym(RTLD_DEFAULT, "pa_stream_connect_playback") == (void *)pa_stream_connect_playback
      && dlsym(RTLD_DEFAULT, "pa_stream_connect_record") == (void *)pa_stream_connect_record;
}

unsigned temblor_pinned_pulse_stream_count(void) {
  return atomic_load_explicit(&pinned_stream_count, memory_order_relaxed);
}
