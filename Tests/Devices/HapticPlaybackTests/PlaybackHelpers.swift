import HapticModel
import HapticPlayback
import HapticRender

/// Returns a pattern with one continuous event.
func hum(_ seconds: Double, intensity: Float = 1, sharpness: Float = 0.5) -> HapticPattern {
  HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: seconds,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  ])
}

/// Returns a pattern with transients at the given times, in seconds.
func taps(_ times: [Double]) -> HapticPattern {
  HapticPattern(
    events: times.map {
      HapticEvent(
        kind: .hapticTransient, time: $0, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
    })
}

/// Returns the offline rendering of a pattern, after leading silence.
func offline(
  _ pattern: HapticPattern, frameCount: Int, silentFrameCount: Int = 0, passCount: Int? = 1,
  rate: Double = 48_000
)
  throws -> [Float]
{
  try offline(
    HapticComposition(pattern), frameCount: frameCount, silentFrameCount: silentFrameCount,
    passCount: passCount,
    rate: rate)
}

/// Returns the offline rendering of a composition, after leading silence.
func offline(
  _ composition: HapticComposition, frameCount: Int, silentFrameCount: Int = 0, passCount: Int? = 1,
  rate: Double = 48_000
) throws -> [Float] {
  let plan = try RenderPlan(compiling: composition, rate: rate)
  var renderer = Renderer(plan: plan, settings: RenderSettings(passCount: passCount))
  var samples = [Float](repeating: 0, count: frameCount)
  do {
    var span = samples.mutableSpan
    renderer.render(into: &span)
  }
  return Array((Array(repeating: 0, count: silentFrameCount) + samples).prefix(frameCount))
}

/// The look-ahead of the limiter at 48 kHz, in frames, by which the output is delayed.
let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)

/// Returns the maximum difference of two signals, and its frame, which is -1 for equal signals.
func maximumDifference(
  _ samples: [Float], _ reference: [Float]
) -> (magnitude: Float, frame: Int) {
  var magnitude: Float = 0
  var frame = -1
  for index in 0..<min(samples.count, reference.count)
  where abs(samples[index] - reference[index]) > magnitude {
    magnitude = abs(samples[index] - reference[index])
    frame = index
  }
  return (magnitude, frame)
}

/// Returns the maximum change of the slope of a signal between frames, which is audible as a click.
func maximumSlopeChange(_ samples: [Float]) -> Float {
  var maximum: Float = 0
  for index in samples.indices.dropFirst(2) {
    maximum = max(maximum, abs(samples[index] - 2 * samples[index - 1] + samples[index - 2]))
  }
  return maximum
}

/// A sink with scripted readiness, which keeps all samples.
///
/// After the end of the script, it is always ready for a period.
final class ScriptedSink: AudioSink {
  let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 64, bufferSize: 256)
  var scriptedReadiness: [SinkReadiness]
  var notices: [SinkEvent] = []
  /// A Boolean value that indicates whether the sink announces its notices.
  var announcesNotices = false
  /// The played samples, with silence for missed time.
  private(set) var samples: [Float] = []
  private(set) var isFinished = false

  init(_ script: [SinkReadiness] = []) { scriptedReadiness = script }

  var delayFrames: Int { 64 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness =
      scriptedReadiness.isEmpty ? .ready(frameCount: 64) : scriptedReadiness.removeFirst()
    if case .missed(let frameCount) = readiness {
      samples += Array(repeating: 0, count: frameCount)
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    for index in frames.indices {
      samples.append(frames[index])
    }
  }

  func finish(draining: Bool) { isFinished = true }

  var hasPendingEvents: Bool { announcesNotices && !notices.isEmpty }

  func drainEvents() -> [SinkEvent] {
    let drainedEvents = notices
    notices.removeAll()
    return drainedEvents
  }
}

extension PatternPlayer {
  /// Waits until the player has ended more than `count` times, or until no sink drives its engine.
  func ended(after count: Int) async {
    await withCheckedContinuation { continuation in
      addEndWaiter(makeEndWaiterID(), afterEndCount: count) { continuation.resume() }
    }
  }
}
