#include "pipewire.h"
#include "late.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
  F(void, pw_init, (int *argc, char ***argv), (argc, argv)) \
  F(const char *, pw_get_library_version, (void), ()) \
  F(struct pw_thread_loop *, pw_thread_loop_new, (const char *name, const dictionary *properties), \
    (name, properties)) \
  F(void, pw_thread_loop_destroy, (struct pw_thread_loop *loop), (loop)) \
  F(struct pw_loop *, pw_thread_loop_get_loop, (struct pw_thread_loop *loop), (loop)) \
  F(int, pw_thread_loop_start, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_stop, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_lock, (struct pw_thread_loop *loop), (loop)) \
  F(void, pw_thread_loop_unlock, (struct pw_thread_loop *loop), (loop)) \
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

const char temblor_pipewire_library[] = "libpipewire-0.3.so.0";

TEMBLOR_LATE_LIBRARY(temblor_pipewire_library, RTLD_LAZY, FUNCTIONS)

_Bool temblor_has_pipewire(void) { return temblor_has_library(temblor_pipewire_library); }

/* MARK: - Objects */

static const char *value(const dictionary *properties, const char *key) {
  for (uint32_t index = 0; properties && index < properties->count; index++) {
    if (!strcmp(properties->items[index].key, key)) return properties->items[index].value;
  }
  return NULL;
}

static uint32_t number(const dictionary *properties, const char *key) {
  const char *text = value(properties, key);
  return text ? (uint32_t)strtoul(text, NULL, 10) : UINT32_MAX;
}

static _Bool is_equal(const char *text, const char *other) { return text && !strcmp(text, other); }

static void receive_link_info(void *data, const link_info *info) {
  link *link = data;
  const temblor_pipewire_events *events = &link->owner->events;
  events->change_link(events->context, link->id, info->state == LINK_STATE_ACTIVE);
}

void temblor_pipewire_watch_links(temblor_pipewire *connection) {
  static const link_events events = {.info = receive_link_info};
  if (!connection->stream || !connection->registry) return;
  uint32_t own = pw_stream_get_node_id(connection->stream);
  if (own == UINT32_MAX) return;
  const interface *registry = interface_of(connection->registry);
  const registry_methods *methods = registry->callbacks.functions;
  for (link *link = connection->links; link; link = link->next) {
    if (link->proxy || (link->output_node != own && link->input_node != own)) continue;
    link->proxy = methods->bind(registry->callbacks.data, link->id, "PipeWire:Interface:Link", LINK_VERSION, 0);
    if (!link->proxy) continue;
    const interface *proxy = interface_of(link->proxy);
    const link_methods *link_functions = proxy->callbacks.functions;
    link_functions->add_listener(proxy->callbacks.data, &link->hook, &events, link);
  }
}

static void free_link(link *link) {
  if (link->proxy) {
    remove_hook(&link->hook);
    pw_proxy_destroy(link->proxy);
  }
  free(link);
}

static void receive_global(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version, const dictionary *properties) {
  (void)permissions, (void)version;
  temblor_pipewire *connection = data;
  temblor_pipewire_object object = {.id = id};
  if (is_equal(type, "PipeWire:Interface:Node")) {
    object.kind = TEMBLOR_PIPEWIRE_NODE;
    object.name = value(properties, "node.name");
    object.description = value(properties, "node.description");
    object.media_class = value(properties, "media.class");
  } else if (is_equal(type, "PipeWire:Interface:Port")) {
    object.kind = TEMBLOR_PIPEWIRE_PORT;
    object.node = number(properties, "node.id");
    object.position = number(properties, "port.id");
    object.channel = value(properties, "audio.channel");
    object.is_input = is_equal(value(properties, "port.direction"), "in");
    object.is_monitor = is_equal(value(properties, "port.monitor"), "true");
  } else if (is_equal(type, "PipeWire:Interface:Link")) {
    link *new = calloc(1, sizeof *new);
    if (!new) abort();
    object.kind = TEMBLOR_PIPEWIRE_LINK;
    object.output_node = number(properties, "link.output.node");
    object.output_port = number(properties, "link.output.port");
    object.input_node = number(properties, "link.input.node");
    object.input_port = number(properties, "link.input.port");
    new->next = connection->links;
    new->id = id;
    new->output_node = object.output_node;
    new->input_node = object.input_node;
    new->owner = connection;
    connection->links = new;
  } else {
    return;
  }
  /* The object comes first: the state of a link follows it. */
  connection->events.add_object(connection->events.context, &object);
  if (object.kind == TEMBLOR_PIPEWIRE_LINK) temblor_pipewire_watch_links(connection);
}

static void receive_global_remove(void *data, uint32_t id) {
  temblor_pipewire *connection = data;
  for (link **next = &connection->links; *next; next = &(*next)->next) {
    link *removed = *next;
    if (removed->id != id) continue;
    *next = removed->next;
    free_link(removed);
    break;
  }
  connection->events.remove_object(connection->events.context, id);
}

/* MARK: - Server */

static void receive_info(void *data, const core_info *info) {
  temblor_pipewire *connection = data;
  uint32_t rate = number(info->properties, "default.clock.rate");
  if (rate != UINT32_MAX) connection->events.set_rate(connection->events.context, rate);
}

static void receive_done(void *data, uint32_t id, int sequence) {
  temblor_pipewire *connection = data;
  if (id != CORE_ID || sequence != connection->sequence) return;
  connection->events.complete(connection->events.context);
}

static void receive_error(void *data, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence, (void)message;
  temblor_pipewire *connection = data;
  if (id == CORE_ID && result == -EPIPE) connection->events.lose_server(connection->events.context);
}

temblor_pipewire *temblor_pipewire_new(const char *remote, const temblor_pipewire_events *events) {
  if (!temblor_has_pipewire()) return NULL;
  temblor_pipewire *connection = calloc(1, sizeof *connection);
  if (!connection) return NULL;
  connection->events = *events;
  connection->remote = remote ? strdup(remote) : NULL;
  pw_init(NULL, NULL);
  connection->loop = pw_thread_loop_new("temblor-pipewire", NULL);
  if (connection->loop) {
    struct pw_properties *properties = pw_properties_new_string("");
    /* Before version 1, only this configuration gives the thread of the streams a real-time priority. */
    if (properties && pw_get_library_version()[0] == '0')
      pw_properties_set(properties, "config.name", "client-rt.conf");
    connection->context = pw_context_new(pw_thread_loop_get_loop(connection->loop), properties, 0);
  }
  connection->is_running = connection->context && pw_thread_loop_start(connection->loop) == 0;
  if (connection->is_running) return connection;
  temblor_pipewire_free(connection);
  return NULL;
}

void temblor_pipewire_free(temblor_pipewire *connection) {
  if (!connection) return;
  if (connection->is_running) {
    temblor_pipewire_disconnect(connection);
    pw_thread_loop_stop(connection->loop);
  }
  if (connection->context) pw_context_destroy(connection->context);
  if (connection->loop) pw_thread_loop_destroy(connection->loop);
  free(connection->remote);
  free(connection);
}

/* The loop is locked. */
static void disconnect(temblor_pipewire *connection) {
  temblor_pipewire_destroy_stream(connection);
  while (connection->links) {
    link *removed = connection->links;
    connection->links = removed->next;
    free_link(removed);
  }
  if (connection->registry) {
    remove_hook(&connection->registry_hook);
    pw_proxy_destroy((struct pw_proxy *)connection->registry);
    connection->registry = NULL;
  }
  if (!connection->core) return;
  remove_hook(&connection->core_hook);
  pw_core_disconnect(connection->core);
  connection->core = NULL;
}

_Bool temblor_pipewire_connect(temblor_pipewire *connection) {
  static const core_events core_events = {.info = receive_info, .done = receive_done, .error = receive_error};
  static const registry_events registry_events = {.global = receive_global, .global_remove = receive_global_remove};
  pw_thread_loop_lock(connection->loop);
  struct pw_properties *properties = pw_properties_new_string("");
  if (properties && connection->remote) pw_properties_set(properties, "remote.name", connection->remote);
  connection->core = pw_context_connect(connection->context, properties, 0);
  if (connection->core) {
    const interface *core = interface_of(connection->core);
    const core_methods *methods = core->callbacks.functions;
    methods->add_listener(core->callbacks.data, &connection->core_hook, &core_events, connection);
    connection->registry = methods->get_registry(core->callbacks.data, REGISTRY_VERSION, 0);
    if (connection->registry) {
      const interface *registry = interface_of(connection->registry);
      const registry_methods *registry_functions = registry->callbacks.functions;
      registry_functions->add_listener(
          registry->callbacks.data, &connection->registry_hook, &registry_events, connection);
      connection->sequence = methods->sync(core->callbacks.data, CORE_ID, 0);
    } else {
      disconnect(connection);
    }
  }
  _Bool is_connected = connection->core != NULL;
  pw_thread_loop_unlock(connection->loop);
  return is_connected;
}

void temblor_pipewire_disconnect(temblor_pipewire *connection) {
  pw_thread_loop_lock(connection->loop);
  disconnect(connection);
  pw_thread_loop_unlock(connection->loop);
}
