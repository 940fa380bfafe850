/* Sound servers as their own client libraries know them: the sinks that exist now. The libraries are loaded at the
   first question; their headers are not needed to build. A question blocks for at most a few seconds and may be asked
   on any thread. */

#ifndef TEMBLOR_SOUND_SERVERS_H
#define TEMBLOR_SOUND_SERVERS_H

enum temblor_server_answer {
  TEMBLOR_SERVER_ANSWERED,
  /* The client library is not installed. */
  TEMBLOR_SERVER_LIBRARY_MISSING,
  /* The server does not run, or refuses clients. */
  TEMBLOR_SERVER_ABSENT,
  /* The server accepted the client and did not answer in time. */
  TEMBLOR_SERVER_SILENT,
};

/* Receives a sink; strings last until the function returns. The monitor is the name of the source that records the
   sink; it is null if the server does not name it. */
typedef void (*temblor_sink_visitor)(void *context, const char *name, const char *description, const char *monitor);

/* Receives the names of a PulseAudio server; strings last until the function returns. */
typedef void (*temblor_server_visitor)(
    void *context, const char *server, const char *default_sink, const char *default_source);

/* Visits the sinks of the PulseAudio server of the environment, after its names. */
enum temblor_server_answer temblor_pulse_sinks(
    _Bool may_start_server, double seconds, temblor_server_visitor visit_server, temblor_sink_visitor visit_sink,
    void *context);

/* Keeps streams of PulseAudio that name their sink or source there from now on, where the dynamic linker permits it. */
void temblor_pin_pulse_streams(void);

/* A Boolean value that indicates whether the dynamic linker permits it: true if it finds the functions of this module
   before those of libpulse, since the program exports them. */
_Bool temblor_pins_pulse_streams(void);

/* The number of streams that were pinned so far. */
unsigned temblor_pinned_pulse_stream_count(void);

#endif
