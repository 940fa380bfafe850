#include "csoundservers.h"
#include "late.h"

#include <stdint.h>
#include <string.h>

/* The part of libpipewire's interface that is used here. It is stable: libpipewire-0.3.so.0 has kept it since version
   0.3.0. Methods of objects are tables of functions, which the library's headers call by inline functions. */

struct pw_loop;
struct pw_thread_loop;
struct pw_context;
struct pw_core;
struct pw_properties;
struct pw_proxy;
struct pw_registry;

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
    void *next;
    void *previous;
  } link;
  callbacks callbacks;
  void (*removed)(struct hook *hook);
  void *private_data;
} hook;

typedef struct {
  uint32_t version;
  void (*info)(void *data, const void *info);
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
} registry_methods;

enum { CORE_ID = 0, REGISTRY_VERSION = 3 };

void pw_init(int *argc, char ***argv);
struct pw_thread_loop *pw_thread_loop_new(const char *name, const dictionary *properties);
void pw_thread_loop_destroy(struct pw_thread_loop *loop);
struct pw_loop *pw_thread_loop_get_loop(struct pw_thread_loop *loop);
int pw_thread_loop_start(struct pw_thread_loop *loop);
void pw_thread_loop_stop(struct pw_thread_loop *loop);
void pw_thread_loop_lock(struct pw_thread_loop *loop);
void pw_thread_loop_unlock(struct pw_thread_loop *loop);
void pw_thread_loop_signal(struct pw_thread_loop *loop, _Bool waits_for_accept);
int pw_thread_loop_timed_wait(struct pw_thread_loop *loop, int seconds);
struct pw_context *pw_context_new(struct pw_loop *loop, struct pw_properties *properties, size_t user_data_size);
void pw_context_destroy(struct pw_context *context);
struct pw_core *pw_context_connect(
    struct pw_context *context, struct pw_properties *properties, size_t user_data_size);
int pw_core_disconnect(struct pw_core *core);
struct pw_properties *pw_properties_new_string(const char *text);
int pw_properties_set(struct pw_properties *properties, const char *key, const char *value);
void pw_proxy_destroy(struct pw_proxy *proxy);

#define FUNCTIONS(F) \
  F(void, pw_init, (int *argc, char ***argv), (argc, argv)) \
  F(struct pw_thread_loop *, pw_thread_loop_new, (const char *name, const dictionary *properties), \
    (name, properties)) \
  F(void, pw_thread_loop_destroy, (struct pw_thread_loop *loop), (loop)) \
  F(struct pw_loop *, pw_thread_loop_get_loop, (struct pw_thread_loop *loop), (loop)) \
  F(int, pw_thread_loop_start, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_stop, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_lock, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_unlock, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_signal, (struct pw_thread_loop *loop, _Bool waits_for_accept), (loop, waits_for_accept)) \
  F(int, pw_thread_loop_timed_wait, (struct pw_thread_loop *loop, int seconds), (loop, seconds)) \
  F(struct pw_context *, pw_context_new, \
    (struct pw_loop *loop, struct pw_properties *properties, size_t user_data_size), \
    (loop, properties, user_data_size)) \
  F(void, pw_context_destroy, (struct pw_context *context), (context)) \
  F(struct pw_core *, pw_context_connect, \
    (struct pw_context *context, struct pw_properties *properties, size_t user_data_size), \
    (context, properties, user_data_size)) \
  F(int, pw_core_disconnect, (struct pw_core *core), (core)) \
  F(struct pw_properties *, pw_properties_new_string, (const char *text), (text)) \
  F(int, pw_properties_set, (struct pw_properties *properties, const char *key, const char *value), \
    (properties, key, value)) \
  F(void, pw_proxy_destroy, (struct pw_proxy *proxy), (proxy))

static const char library[] = "libpipewire-0.3.so.0";

TEMBLOR_LATE_LIBRARY(library, RTLD_LAZY, FUNCTIONS)

typedef struct {
  temblor_sink_visitor visit;
  void *context;
  struct pw_thread_loop *loop;
  int sequence;
  _Bool is_done;
  _Bool has_failed;
  /* Listeners belong to the connection until it is closed. */
  hook core_hook;
  hook registry_hook;
} query;

static void receive_done(void *data, uint32_t id, int sequence) {
  query *query = data;
  if (id != CORE_ID || sequence != query->sequence) return;
  query->is_done = 1;
  pw_thread_loop_signal(query->loop, 0);
}

static void receive_error(void *data, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence, (void)result, (void)message;
  query *query = data;
  if (id != CORE_ID) return;
  query->has_failed = 1;
  pw_thread_loop_signal(query->loop, 0);
}

static const char *value(const dictionary *properties, const char *key) {
  for (uint32_t index = 0; properties && index < properties->count; index++) {
    if (!strcmp(properties->items[index].key, key)) return properties->items[index].value;
  }
  return NULL;
}

static void receive_global(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version, const dictionary *properties) {
  (void)id, (void)permissions, (void)version;
  query *query = data;
  const char *class = value(properties, "media.class");
  const char *name = value(properties, "node.name");
  if (strcmp(type, "PipeWire:Interface:Node") || !class || !name) return;
  if (strcmp(class, "Audio/Sink") && strcmp(class, "Audio/Duplex")) return;
  const char *description = value(properties, "node.description");
  query->visit(query->context, name, description ? description : name, NULL);
}

/* Asks for all objects and waits until the server has named them; the loop is locked. */
static enum temblor_server_answer ask(struct pw_core *core, query *query, int seconds) {
  static const core_events core_events = {.done = receive_done, .error = receive_error};
  static const registry_events registry_events = {.global = receive_global};
  const interface *core_interface = (const interface *)core;
  const core_methods *methods = core_interface->callbacks.functions;
  void *object = core_interface->callbacks.data;
  methods->add_listener(object, &query->core_hook, &core_events, query);
  struct pw_registry *registry = methods->get_registry(object, REGISTRY_VERSION, 0);
  if (!registry) return TEMBLOR_SERVER_ABSENT;
  const interface *registry_interface = (const interface *)registry;
  const registry_methods *registry_methods = registry_interface->callbacks.functions;
  registry_methods->add_listener(registry_interface->callbacks.data, &query->registry_hook, &registry_events, query);
  query->sequence = methods->sync(object, CORE_ID, 0);
  while (!query->is_done && !query->has_failed) {
    if (pw_thread_loop_timed_wait(query->loop, seconds) != 0) break;
  }
  pw_proxy_destroy((struct pw_proxy *)registry);
  if (query->is_done) return TEMBLOR_SERVER_ANSWERED;
  return query->has_failed ? TEMBLOR_SERVER_ABSENT : TEMBLOR_SERVER_SILENT;
}

enum temblor_server_answer temblor_pipewire_sinks(
    const char *remote, int seconds, temblor_sink_visitor visit_sink, void *data) {
  if (!temblor_has_library(library)) return TEMBLOR_SERVER_LIBRARY_MISSING;
  pw_init(NULL, NULL);
  struct pw_thread_loop *loop = pw_thread_loop_new("temblor-sinks", NULL);
  if (!loop) return TEMBLOR_SERVER_ABSENT;
  enum temblor_server_answer answer = TEMBLOR_SERVER_ABSENT;
  struct pw_context *context = pw_context_new(pw_thread_loop_get_loop(loop), NULL, 0);
  if (context && pw_thread_loop_start(loop) == 0) {
    pw_thread_loop_lock(loop);
    struct pw_properties *properties = pw_properties_new_string("");
    if (properties && remote) pw_properties_set(properties, "remote.name", remote);
    struct pw_core *core = pw_context_connect(context, properties, 0);
    if (core) {
      query query = {.visit = visit_sink, .context = data, .loop = loop};
      answer = ask(core, &query, seconds);
      pw_core_disconnect(core);
    }
    pw_thread_loop_unlock(loop);
    pw_thread_loop_stop(loop);
  }
  if (context) pw_context_destroy(context);
  pw_thread_loop_destroy(loop);
  return answer;
}
