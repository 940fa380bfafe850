#include "late.h"
#include "pipewire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
  F(struct pw_stream *, pw_stream_new, (struct pw_core *core, const char *name, struct pw_properties *properties), \
    (core, name, properties)) \
  F(void, pw_stream_destroy, (struct pw_stream *stream), (stream)) \
  F(void, pw_stream_add_listener, \
    (struct pw_stream *stream, hook *listener, const stream_events *events, void *data), \
    (stream, listener, events, data)) \
  F(int, pw_stream_connect, \
    (struct pw_stream *stream, int direction, uint32_t target, int flags, const void **params, uint32_t param_count), \
    (stream, direction, target, flags, params, param_count)) \
  F(uint32_t, pw_stream_get_node_id, (struct pw_stream *stream), (stream)) \
  F(stream_buffer *, pw_stream_dequeue_buffer, (struct pw_stream *stream), (stream)) \
  F(int, pw_stream_queue_buffer, (struct pw_stream *stream, stream_buffer *buffer), (stream, buffer)) \
  F(int, pw_stream_get_time_n, (struct pw_stream *stream, stream_time *time, size_t size), (stream, time, size)) \
  F(int, pw_stream_set_active, (struct pw_stream *stream, _Bool is_active), (stream, is_active))

/* All functions are looked up at once, for the real-time thread. */
TEMBLOR_LATE_LIBRARY(temblor_pipewire_library, RTLD_NOW, FUNCTIONS)

_Bool temblor_has_pipewire_streams(void) {
  void *library = dlopen(temblor_pipewire_library, RTLD_LAZY | RTLD_LOCAL);
  return library && dlsym(library, "pw_stream_get_time_n");
}

/* MARK: - Real-time thread */

static void process(void *data) {
  temblor_pipewire *connection = data;
  stream_buffer *buffer;
  while ((buffer = pw_stream_dequeue_buffer(connection->stream))) {
    buffer_data *first = &buffer->buffer->datas[0];
    uint32_t frame_size = connection->channel_count * sizeof(float);
    uint32_t frame_count = first->maximum_size / frame_size;
    float *samples = first->data;
    if (connection->is_capture) {
      uint32_t offset = first->chunk->offset < first->maximum_size ? first->chunk->offset : first->maximum_size;
      uint32_t size = first->maximum_size - offset;
      if (first->chunk->size < size) size = first->chunk->size;
      frame_count = size / frame_size;
      samples = (float *)((char *)first->data + offset);
    } else if (buffer->requested && buffer->requested < frame_count) {
      frame_count = (uint32_t)buffer->requested;
    }

    stream_time time = {0};
    pw_stream_get_time_n(connection->stream, &time, sizeof time);
    temblor_pipewire_cycle cycle = {.ticks = time.ticks, .nanoseconds = time.now};
    if (time.rate_denominator) {
      cycle.tick_seconds = (double)time.rate_numerator / time.rate_denominator;
      double seconds = (double)time.delay * cycle.tick_seconds + (double)time.buffered / connection->rate;
      cycle.delay_nanoseconds = (int64_t)(1e9 * seconds);
    }
    if (samples && frame_count)
      connection->events.process(connection->events.context, samples, frame_count, &cycle);

    if (!connection->is_capture) {
      first->chunk->offset = 0;
      first->chunk->stride = (int32_t)frame_size;
      first->chunk->size = samples ? frame_count * frame_size : 0;
    }
    pw_stream_queue_buffer(connection->stream, buffer);
    if (!connection->is_capture) break;
  }
}

/* MARK: - Stream */

static void receive_state(void *data, int previous, int state, const char *error) {
  (void)error;
  enum { FAILED = -1, UNCONNECTED = 0, CONNECTING = 1 };
  temblor_pipewire *connection = data;
  const temblor_pipewire_events *events = &connection->events;
  enum temblor_pipewire_stream_state result = TEMBLOR_PIPEWIRE_STREAM_READY;
  if (state == FAILED || (state == UNCONNECTED && previous != UNCONNECTED)) {
    result = TEMBLOR_PIPEWIRE_STREAM_FAILED;
  } else if (state <= CONNECTING) {
    result = TEMBLOR_PIPEWIRE_STREAM_CONNECTING;
  }
  uint32_t node = connection->stream ? pw_stream_get_node_id(connection->stream) : UINT32_MAX;
  events->change_stream(events->context, result, node);
  temblor_pipewire_watch_links(connection);
}

/* Returns the number of the channel at the start of a text in PipeWire's enumeration; 0 is an unknown channel. */
static uint32_t channel_number(const char *text, size_t length) {
  enum { MONO = 2, AUXILIARY = 0x1000 };
  static const char *const names[] = {
      "MONO", "FL",  "FR",  "FC",  "LFE", "SL",  "SR",  "FLC", "FRC",  "RC",  "RL",  "RR",  "TC",   "TFL",  "TFC", "TFR",
      "TRL",  "TRC", "TRR", "RLC", "RRC", "FLW", "FRW", "LFE2", "FLH", "FCH", "FRH", "TFLC", "TFRC", "TSL", "TSR",
      "LLFE", "RLFE", "BC", "BLC", "BRC"};
  for (uint32_t index = 0; index < sizeof names / sizeof *names; index++) {
    if (strlen(names[index]) == length && !strncmp(text, names[index], length)) return MONO + index;
  }
  return strncmp(text, "AUX", 3) ? 0 : AUXILIARY + (uint32_t)strtoul(text + 3, NULL, 10);
}

enum { MAXIMUM_CHANNEL_COUNT = 64, POD_WORDS = 64 + MAXIMUM_CHANNEL_COUNT };

/* Writes the format of a stream in PipeWire's form of values, POD: an object with a size, a type, and properties, each
   of which has a key, flags, a size, a type, and a value that is padded to 8 bytes. */
static void write_format(uint32_t *pod, const temblor_pipewire_request *request) {
  enum { ID = 3, INTEGER = 4, ARRAY = 13, OBJECT = 15, FORMAT = 0x40003, AVAILABLE_FORMATS = 3 };
  enum { FLOAT_LITTLE_ENDIAN = 283, FLOAT_BIG_ENDIAN = 284 };
  const uint16_t one = 1;
  uint32_t encoding = *(const uint8_t *)&one ? FLOAT_LITTLE_ENDIAN : FLOAT_BIG_ENDIAN;
  const uint32_t properties[][3] = {
      /* media type: audio; subtype: raw */
      {1, ID, 1},
      {2, ID, 1},
      {0x10001, ID, encoding},
      {0x10003, INTEGER, request->rate},
      {0x10004, INTEGER, request->channel_count},
  };
  uint32_t *next = pod;
  *next++ = 0;
  *next++ = OBJECT;
  *next++ = FORMAT;
  *next++ = AVAILABLE_FORMATS;
  for (size_t index = 0; index < sizeof properties / sizeof *properties; index++) {
    *next++ = properties[index][0];
    *next++ = 0;
    *next++ = sizeof(uint32_t);
    *next++ = properties[index][1];
    *next++ = properties[index][2];
    *next++ = 0;
  }
  *next++ = 0x10005;
  *next++ = 0;
  *next++ = (2 + request->channel_count) * sizeof(uint32_t);
  *next++ = ARRAY;
  *next++ = sizeof(uint32_t);
  *next++ = ID;
  const char *channel = request->channels;
  for (uint32_t index = 0; index < request->channel_count; index++) {
    size_t length = strcspn(channel, " ");
    *next++ = channel_number(channel, length);
    channel += length + strspn(channel + length, " ");
  }
  if (request->channel_count % 2) *next++ = 0;
  pod[0] = (uint32_t)((char *)next - (char *)(pod + 2));
}

/* Two properties keep a stream on its target in different versions of the session manager: node.dont-reconnect before
   WirePlumber 0.5, node.dont-fallback from 0.5 on. */
static const char *const pairs[][2] = {
    {"media.type", "Audio"},
    {"media.role", "Production"},
    {"media.name", "Haptics"},
    {"application.name", "Temblor"},
    {"application.icon-name", "audio-card"},
    {"node.name", "temblor"},
    {"node.description", "Temblor"},
    {"node.dont-reconnect", "true"},
    {"node.dont-fallback", "true"},
    {"node.dont-move", "true"},
    {"state.restore-target", "false"},
    /* Channels are transducers: the server must not mix them. */
    {"stream.dont-remix", "true"},
};

static struct pw_properties *make_properties(const temblor_pipewire_request *request) {
  struct pw_properties *properties = pw_properties_new_string("");
  if (!properties) return NULL;
  for (size_t index = 0; index < sizeof pairs / sizeof *pairs; index++)
    pw_properties_set(properties, pairs[index][0], pairs[index][1]);
  pw_properties_set(properties, "media.category", request->is_capture ? "Capture" : "Playback");
  pw_properties_set(properties, "target.object", request->target);
  if (request->records_sink) pw_properties_set(properties, "stream.capture.sink", "true");
  char text[32];
  snprintf(text, sizeof text, "%u/%u", request->cycle_size, request->rate);
  pw_properties_set(properties, "node.latency", text);
  snprintf(text, sizeof text, "1/%u", request->rate);
  pw_properties_set(properties, "node.rate", text);
  return properties;
}

_Bool temblor_pipewire_open_stream(temblor_pipewire *connection, const temblor_pipewire_request *request) {
  static const stream_events events = {.state_changed = receive_state, .process = process};
  enum { INPUT = 0, OUTPUT = 1, AUTOCONNECT = 1, MAPS_BUFFERS = 4, PROCESSES_IN_REAL_TIME = 16 };
  if (!request->channel_count || request->channel_count > MAXIMUM_CHANNEL_COUNT) return 0;
  int result = -1;
  pw_thread_loop_lock(connection->loop);
  if (connection->core && !connection->stream) {
    connection->is_capture = request->is_capture;
    connection->channel_count = request->channel_count;
    connection->rate = request->rate;
    connection->stream = pw_stream_new(connection->core, "temblor", make_properties(request));
    if (connection->stream) {
      pw_stream_add_listener(connection->stream, &connection->stream_hook, &events, connection);
      _Alignas(8) uint32_t pod[POD_WORDS];
      write_format(pod, request);
      const void *params[] = {pod};
      result = pw_stream_connect(
          connection->stream, request->is_capture ? INPUT : OUTPUT, (uint32_t)ANY_ID,
          AUTOCONNECT | MAPS_BUFFERS | PROCESSES_IN_REAL_TIME, params, 1);
      if (result < 0) temblor_pipewire_destroy_stream(connection);
    }
  }
  pw_thread_loop_unlock(connection->loop);
  return result >= 0;
}

void temblor_pipewire_destroy_stream(temblor_pipewire *connection) {
  if (!connection->stream) return;
  remove_hook(&connection->stream_hook);
  pw_stream_destroy(connection->stream);
  connection->stream = NULL;
}

void temblor_pipewire_close_stream(temblor_pipewire *connection) {
  pw_thread_loop_lock(connection->loop);
  temblor_pipewire_destroy_stream(connection);
  pw_thread_loop_unlock(connection->loop);
}

void temblor_pipewire_set_active(temblor_pipewire *connection, _Bool is_active) {
  pw_thread_loop_lock(connection->loop);
  if (connection->stream) pw_stream_set_active(connection->stream, is_active);
  pw_thread_loop_unlock(connection->loop);
}
