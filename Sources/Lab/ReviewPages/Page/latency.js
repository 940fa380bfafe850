// The delay between the clock of an audio context and the loudspeaker.

/**
 * The minimum time of an audio context's clock at which the delay is read, in seconds.
 * Before that time, the stream may be starting, and a read waits for it.
 */
const minimumLatencyTime = 0.2;
/** The interval between reads of the delay in seconds. A read waits for the audio thread. */
const latencyInterval = 1;
/**
 * A Boolean value that indicates whether a read may never return. In Firefox on PulseAudio, it does
 * not while the stream is starting, and the clock already advances then.
 */
const isLatencyUnsafe = /Linux.*Firefox\//.test(navigator.userAgent);
/** The last delay of each audio context in seconds, and the time of its read. */
const latencies = new WeakMap();

/**
 * Returns the output latency of an audio context in seconds, or 0 if it is unknown.
 * Without it, the play head is ahead of the sound by a few hundredths of a second.
 */
function outputLatency(context) {
  const { currentTime } = context;
  const isStarting = context.state !== "running" || currentTime < minimumLatencyTime;
  if (isLatencyUnsafe || isStarting) return 0;
  const last = latencies.get(context);
  if (last && currentTime - last.time < latencyInterval) return last.seconds;
  const seconds = context.outputLatency || 0;
  latencies.set(context, { seconds, time: currentTime });
  return seconds;
}

/** Returns the time of an audio context's clock that is audible now, in seconds. */
const audibleTime = (context) => context.currentTime - outputLatency(context);

/** The time without sound after which a page reports that there is none, in milliseconds. */
const silenceTimeout = 1000;
/** The message of a page whose browser has no sound output, or waits for it. */
const silenceWords = "No sound yet: this browser waits for a sound output. Check the speakers and "
  + "the sound settings of this computer.";
