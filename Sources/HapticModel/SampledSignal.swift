/// Samples for the haptic bus: what no event can describe, such as a curve that is itself the motion.
///
/// They are played as they are, at their own speed; of all controls only intensity acts on them.
public struct SampledSignal: Equatable, Sendable {
  /// Seconds from the start of the composition.
  public var time: Double
  /// Samples per second.
  public var rate: Double
  /// The samples; ±1 is the amplitude of a continuous event of intensity 1.
  public var samples: [Float]

  /// Makes a signal; nothing is checked.
  public init(time: Double, rate: Double, samples: [Float]) {
    self.time = time
    self.rate = rate
    self.samples = samples
  }

  /// Seconds that the samples last.
  public var duration: Double { rate > 0 ? Double(samples.count) / rate : 0 }
}

extension HapticComposition.Layer {
  /// Seconds until the pattern's duration and the last signal are over.
  public var duration: Double { signals.reduce(pattern.duration) { max($0, $1.time + $1.duration) } }

  /// Whether nothing in the layer can sound.
  public var isEmpty: Bool { pattern.events.isEmpty && signals.isEmpty }

  /// Moves all events, controls and signals by seconds.
  public mutating func delay(by seconds: Double) {
    for index in pattern.events.indices { pattern.events[index].time += seconds }
    for index in pattern.parameters.indices { pattern.parameters[index].time += seconds }
    for index in pattern.curves.indices { pattern.curves[index].time += seconds }
    for index in signals.indices { signals[index].time += seconds }
  }
}

extension SampledSignal {
  /// The rates that can be rendered, in hertz.
  public static let rates: ClosedRange<Double> = 100...192_000
  /// The most seconds of signals that one layer can render together: half an hour.
  public static let longestTotal = 1_800.0
}
