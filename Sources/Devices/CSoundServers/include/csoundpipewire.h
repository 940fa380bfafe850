/* A connection to a PipeWire server with at most one stream. The library is loaded at the first call; its headers are
   not needed to build. Events are called on the connection's thread, process on the server's real-time thread. The
   functions may be called on any thread, except in an event. */

#ifndef TEMBLOR_SOUND_PIPEWIRE_H
#define TEMBLOR_SOUND_PIPEWIRE_H

#include <stdint.h>

typedef struct temblor_pipewire temblor_pipewire;

enum temblor_pipewire_kind {
  TEMBLOR_PIPEWIRE_NODE,
  TEMBLOR_PIPEWIRE_PORT,
  TEMBLOR_PIPEWIRE_LINK,
};

/* An object of the server; strings last until the function returns, and are null if the server does not state them. */
typedef struct {
  enum temblor_pipewire_kind kind;
  uint32_t id;
  /* Of a node. */
  const char *name;
  const char *description;
  const char *media_class;
  /* Of a port: its node, its position among the ports of the node, and its channel, such as FL. */
  uint32_t node;
  uint32_t position;
  const char *channel;
  _Bool is_input;
  _Bool is_monitor;
  /* Of a link. */
  uint32_t output_node;
  uint32_t output_port;
  uint32_t input_node;
  uint32_t input_port;
} temblor_pipewire_object;

enum temblor_pipewire_stream_state {
  TEMBLOR_PIPEWIRE_STREAM_FAILED,
  TEMBLOR_PIPEWIRE_STREAM_CONNECTING,
  TEMBLOR_PIPEWIRE_STREAM_READY,
};

/* The time of a cycle of the server's graph. */
typedef struct {
  /* The position of the server's clock at the start of the cycle. */
  uint64_t ticks;
  /* The duration of a tick in seconds; 0 while the stream has no clock. */
  double tick_seconds;
  /* The start of the cycle on the monotonic clock. */
  int64_t nanoseconds;
  /* The time from the start of the cycle until its first frame is heard, or since it was recorded. */
  int64_t delay_nanoseconds;
} temblor_pipewire_cycle;

typedef struct {
  void *context;
  void (*add_object)(void *context, const temblor_pipewire_object *object);
  void (*remove_object)(void *context, uint32_t id);
  void (*change_link)(void *context, uint32_t id, _Bool is_active);
  void (*change_stream)(void *context, enum temblor_pipewire_stream_state state, uint32_t node);
  /* The default rate of the graph in hertz. */
  void (*set_rate)(void *context, uint32_t rate);
  /* All objects that existed at the start are known. */
  void (*complete)(void *context);
  void (*lose_server)(void *context);
  /* Writes or reads the interleaved frames of a cycle. */
  void (*process)(void *context, float *samples, uint32_t frame_count, const temblor_pipewire_cycle *cycle);
} temblor_pipewire_events;

typedef struct {
  const char *target;
  /* A Boolean value that indicates whether the stream records. */
  _Bool is_capture;
  /* A Boolean value that indicates whether a recording stream records the monitor of a sink. */
  _Bool records_sink;
  uint32_t rate;
  /* The requested number of frames of a cycle. */
  uint32_t cycle_size;
  uint32_t channel_count;
  /* The channels of the target, separated by spaces, such as "FL FR". */
  const char *channels;
} temblor_pipewire_request;

/* A Boolean value that indicates whether the library is installed. */
_Bool temblor_has_pipewire(void);

/* A Boolean value that indicates whether the library supports streams with exact times. */
_Bool temblor_has_pipewire_streams(void);

/* Creates a connection, which is not connected; null without resources. A null remote is the server of the
   environment. */
temblor_pipewire *temblor_pipewire_new(const char *remote, const temblor_pipewire_events *events);

/* Ends the connection and its thread; no event follows. */
void temblor_pipewire_free(temblor_pipewire *connection);

/* Connects to the server. Returns false if it does not run. */
_Bool temblor_pipewire_connect(temblor_pipewire *connection);

/* Ends the stream and disconnects from the server. */
void temblor_pipewire_disconnect(temblor_pipewire *connection);

/* Opens a stream that the session manager links to a target, and to no other node. */
_Bool temblor_pipewire_open_stream(temblor_pipewire *connection, const temblor_pipewire_request *request);

/* Ends the stream; no call of process follows. */
void temblor_pipewire_close_stream(temblor_pipewire *connection);

/* Pauses or resumes the stream. */
void temblor_pipewire_set_active(temblor_pipewire *connection, _Bool is_active);

#endif
