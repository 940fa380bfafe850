// The delay between the clock of an audio context and the loudspeaker.

/**
 * The minimum time of the clock at which the delay is read, in seconds. Firefox on PulseAudio never
 * returns from a read while the stream is starting.
 */
const minimumLatencyTime = 0.2;
/** The interval between reads of the delay, in seconds. A read waits for the audio thread. */
const latencyInterval = 1;
/** The last delay of each context, and the time of its read. */
const latencies = new WeakMap();

/** Returns the output latency of an audio context in seconds, or 0 until its clock advances. */
function outputLatency(context) {
  const { currentTime } = context;
  if (context.state !== "running" || currentTime < minimumLatencyTime) return 0;
  const last = latencies.get(context);
  if (last && currentTime - last.time < latencyInterval) return last.seconds;
  const seconds = context.outputLatency || 0;
  latencies.set(context, { seconds, time: currentTime });
  return seconds;
}

/** The time without sound after which a page reports it, in milliseconds. */
const silenceTimeout = 1000;
/** The message for a browser that has no sound output, or waits for it. */
const silenceWords = "No sound yet: this browser waits for a sound output. Check the speakers and "
  + "the sound settings of this computer.";
