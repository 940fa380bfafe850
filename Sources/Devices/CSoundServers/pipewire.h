/* The part of libpipewire's interface that is used here. It is stable: libpipewire-0.3.so.0 has kept it since version
   0.3.0. Methods of objects are tables of functions, which the library's headers call by inline functions. */

#ifndef TEMBLOR_PIPEWIRE_H
#define TEMBLOR_PIPEWIRE_H

#include "csoundpipewire.h"

#include <stddef.h>
#include <stdint.h>

struct pw_loop;
struct pw_thread_loop;
struct pw_context;
struct pw_core;
struct pw_properties;
struct pw_proxy;
struct pw_registry;
struct pw_stream;

typedef struct {
  const char *key;
  const char *value;
} dictionary_item;

typedef struct {
  uint32_t flags;
  uint32_t count;
  const dictionary_item *items;
} dictionary;

typedef struct {
  const void *functions;
  void *data;
} callbacks;

/* The beginning of every object with methods. */
typedef struct {
  const char *type;
  uint32_t version;
  callbacks callbacks;
} interface;

typedef struct hook {
  struct {
    struct hook *next;
    struct hook *previous;
  } link;
  callbacks callbacks;
  void (*removed)(struct hook *hook);
  void *private_data;
} hook;

typedef struct {
  uint32_t id;
  uint32_t cookie;
  const char *user_name;
  const char *host_name;
  const char *version;
  const char *name;
  uint64_t change_mask;
  const dictionary *properties;
} core_info;

typedef struct {
  uint32_t version;
  void (*info)(void *data, const core_info *info);
  void (*done)(void *data, uint32_t id, int sequence);
  void (*ping)(void *data, uint32_t id, int sequence);
  void (*error)(void *data, uint32_t id, int sequence, int result, const char *message);
  void (*remove_id)(void *data, uint32_t id);
  void (*bound_id)(void *data, uint32_t id, uint32_t global_id);
  void (*add_memory)(void *data, uint32_t id, uint32_t type, int descriptor, uint32_t flags);
  void (*remove_memory)(void *data, uint32_t id);
} core_events;

typedef struct {
  uint32_t version;
  int (*add_listener)(void *object, hook *listener, const core_events *events, void *data);
  int (*hello)(void *object, uint32_t version);
  int (*sync)(void *object, uint32_t id, int sequence);
  int (*pong)(void *object, uint32_t id, int sequence);
  int (*error)(void *object, uint32_t id, int sequence, int result, const char *message);
  struct pw_registry *(*get_registry)(void *object, uint32_t version, size_t user_data_size);
} core_methods;

typedef struct {
  uint32_t version;
  void (*global)(
      void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version, const dictionary *properties);
  void (*global_remove)(void *data, uint32_t id);
} registry_events;

typedef struct {
  uint32_t version;
  int (*add_listener)(void *object, hook *listener, const registry_events *events, void *data);
  void *(*bind)(void *object, uint32_t id, const char *type, uint32_t version, size_t user_data_size);
} registry_methods;

typedef struct {
  uint32_t id;
  uint32_t output_node;
  uint32_t output_port;
  uint32_t input_node;
  uint32_t input_port;
  uint64_t change_mask;
  int state;
} link_info;

typedef struct {
  uint32_t version;
  void (*info)(void *data, const link_info *info);
} link_events;

typedef struct {
  uint32_t version;
  int (*add_listener)(void *object, hook *listener, const link_events *events, void *data);
} link_methods;

typedef struct {
  uint32_t version;
  void (*destroy)(void *data);
  void (*state_changed)(void *data, int previous, int state, const char *error);
  void (*control_info)(void *data, uint32_t id, const void *control);
  void (*io_changed)(void *data, uint32_t id, void *area, uint32_t size);
  void (*param_changed)(void *data, uint32_t id, const void *param);
  void (*add_buffer)(void *data, void *buffer);
  void (*remove_buffer)(void *data, void *buffer);
  void (*process)(void *data);
  void (*drained)(void *data);
} stream_events;

typedef struct {
  uint32_t offset;
  uint32_t size;
  int32_t stride;
  int32_t flags;
} chunk;

typedef struct {
  uint32_t type;
  uint32_t flags;
  int64_t descriptor;
  uint32_t map_offset;
  uint32_t maximum_size;
  void *data;
  chunk *chunk;
} buffer_data;

typedef struct {
  uint32_t meta_count;
  uint32_t data_count;
  void *metas;
  buffer_data *datas;
} spa_buffer;

typedef struct {
  spa_buffer *buffer;
  void *user_data;
  uint64_t size;
  /* The number of frames that the server requests; 0 if it has no request. */
  uint64_t requested;
} stream_buffer;

typedef struct {
  int64_t now;
  uint32_t rate_numerator;
  uint32_t rate_denominator;
  uint64_t ticks;
  int64_t delay;
  uint64_t queued;
  uint64_t buffered;
  uint32_t queued_buffers;
  uint32_t available_buffers;
} stream_time;

enum {
  ANY_ID = -1,
  CORE_ID = 0,
  LINK_VERSION = 3,
  REGISTRY_VERSION = 3,
  LINK_STATE_ACTIVE = 4,
};

static inline const interface *interface_of(const void *object) { return object; }

/* Functions that all versions have. */
void pw_init(int *argc, char ***argv);
const char *pw_get_library_version(void);
struct pw_thread_loop *pw_thread_loop_new(const char *name, const dictionary *properties);
void pw_thread_loop_destroy(struct pw_thread_loop *loop);
struct pw_loop *pw_thread_loop_get_loop(struct pw_thread_loop *loop);
int pw_thread_loop_start(struct pw_thread_loop *loop);
void pw_thread_loop_stop(struct pw_thread_loop *loop);
void pw_thread_loop_lock(struct pw_thread_loop *loop);
void pw_thread_loop_unlock(struct pw_thread_loop *loop);
struct pw_context *pw_context_new(struct pw_loop *loop, struct pw_properties *properties, size_t user_data_size);
void pw_context_destroy(struct pw_context *context);
struct pw_core *pw_context_connect(
    struct pw_context *context, struct pw_properties *properties, size_t user_data_size);
int pw_core_disconnect(struct pw_core *core);
struct pw_properties *pw_properties_new_string(const char *text);
int pw_properties_set(struct pw_properties *properties, const char *key, const char *value);
void pw_proxy_destroy(struct pw_proxy *proxy);

/* Functions of streams, from version 0.3.50 on. */
struct pw_stream *pw_stream_new(struct pw_core *core, const char *name, struct pw_properties *properties);
void pw_stream_destroy(struct pw_stream *stream);
void pw_stream_add_listener(struct pw_stream *stream, hook *listener, const stream_events *events, void *data);
int pw_stream_connect(
    struct pw_stream *stream, int direction, uint32_t target, int flags, const void **params, uint32_t param_count);
uint32_t pw_stream_get_node_id(struct pw_stream *stream);
stream_buffer *pw_stream_dequeue_buffer(struct pw_stream *stream);
int pw_stream_queue_buffer(struct pw_stream *stream, stream_buffer *buffer);
int pw_stream_get_time_n(struct pw_stream *stream, stream_time *time, size_t size);
int pw_stream_set_active(struct pw_stream *stream, _Bool is_active);

extern const char temblor_pipewire_library[];

/* A link between two nodes; it is watched if one of them is the stream of the connection. */
typedef struct link {
  struct link *next;
  uint32_t id;
  uint32_t output_node;
  uint32_t input_node;
  struct temblor_pipewire *owner;
  struct pw_proxy *proxy;
  hook hook;
} link;

struct temblor_pipewire {
  temblor_pipewire_events events;
  char *remote;
  struct pw_thread_loop *loop;
  struct pw_context *context;
  _Bool is_running;

  struct pw_core *core;
  struct pw_registry *registry;
  hook core_hook;
  hook registry_hook;
  int sequence;
  link *links;

  struct pw_stream *stream;
  hook stream_hook;
  _Bool is_capture;
  uint32_t channel_count;
  uint32_t rate;
};

/* Watches the links of the stream that are not watched yet. The loop is locked. */
void temblor_pipewire_watch_links(temblor_pipewire *connection);

/* Destroys the stream. The loop is locked. */
void temblor_pipewire_destroy_stream(temblor_pipewire *connection);

/* Removes a listener, as an inline function of the library's headers does. */
static inline void remove_hook(hook *hook) {
  if (!hook->link.previous) return;
  hook->link.previous->link.next = hook->link.next;
  hook->link.next->link.previous = hook->link.previous;
  hook->link.previous = NULL;
  if (hook->removed) hook->removed(hook);
}

#endif
