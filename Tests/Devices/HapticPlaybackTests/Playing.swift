import HapticModel
import HapticPlayback
import HapticRender
import Synchronization

/// A pattern that hums all the time.
func hum(_ seconds: Double, intensity: Float = 1, sharpness: Float = 0.5) -> HapticPattern {
  HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: seconds,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  ])
}

/// A pattern of taps at some times.
func taps(_ times: [Double]) -> HapticPattern {
  HapticPattern(
    events: times.map {
      HapticEvent(
        kind: .hapticTransient, time: $0, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
    })
}

/// The samples of a plan as a file would have them, with some silence in front.
func offline(
  _ pattern: HapticPattern, frameCount: Int, silence: Int = 0, passCount: Int? = 1,
  rate: Double = 48_000
)
  throws -> [Float]
{
  try offline(
    HapticComposition(pattern), frameCount: frameCount, silence: silence, passCount: passCount,
    rate: rate)
}

/// The samples of a composition as a file would have them, with some silence in front.
func offline(
  _ composition: HapticComposition, frameCount: Int, silence: Int = 0, passCount: Int? = 1,
  rate: Double = 48_000
) throws -> [Float] {
  let plan = try RenderPlan(compiling: composition, rate: rate)
  var renderer = Renderer(plan: plan, settings: RenderSettings(passCount: passCount))
  var samples = [Float](repeating: 0, count: frameCount)
  do {
    var span = samples.mutableSpan
    renderer.render(into: &span)
  }
  return Array((Array(repeating: 0, count: silence) + samples).prefix(frameCount))
}

/// Frames of the limiter's look-ahead at 48 kHz, by which output lags.
let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)

/// The greatest difference of two signals, and where it is.
func maximumDifference(_ one: [Float], _ other: [Float]) -> (greatest: Float, frame: Int) {
  var greatest: Float = 0
  var frame = -1
  for index in 0..<min(one.count, other.count) where abs(one[index] - other[index]) > greatest {
    greatest = abs(one[index] - other[index])
    frame = index
  }
  return (greatest, frame)
}

/// The greatest step of a signal's slope from one frame to the next: what is heard as a click.
func maximumSlopeChange(_ samples: [Float]) -> Float {
  var greatest: Float = 0
  for index in samples.indices.dropFirst(2) {
    greatest = max(greatest, abs(samples[index] - 2 * samples[index - 1] + samples[index - 2]))
  }
  return greatest
}

/// A sink that answers as a script says, and then with space; keeps what it is given.
final class ScriptedSink: AudioSink {
  let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 64, bufferSize: 256)
  var scriptedReadiness: [SinkReadiness]
  var notices: [SinkEvent] = []
  /// A Boolean value that indicates whether the sink announces its notices.
  var announcesNotices = false
  /// What was heard: silence where time was missed.
  private(set) var samples: [Float] = []
  private(set) var isFinished = false

  init(_ script: [SinkReadiness] = []) { self.scriptedReadiness = script }

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
    let taken = notices
    notices.removeAll()
    return taken
  }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .acquiring) }

  func increase() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

extension PatternPlayer {
  /// Waits until the player has ended more often than a number of times, or nothing drives its
  /// engine.
  func ended(after count: Int) async {
    await withCheckedContinuation { continuation in
      addEndWaiter(makeEndWaiterID(), afterEndCount: count) { continuation.resume() }
    }
  }
}
