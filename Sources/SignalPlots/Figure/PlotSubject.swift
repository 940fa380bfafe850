public import HapticModel
public import HapticRender
public import SignalAnalysis

/// What a picture shows: a pattern, its sound, or a sound alone.
public struct PlotSubject: Sendable {
  /// The name in the title.
  public var name: String
  /// The pattern, all its layers, where there is one.
  public var composition: HapticComposition?
  /// The sound, where it is shown.
  public var signal: Signal?
  /// What it is rendered with; nil for a recording, whose band is not known.
  public var profile: TransducerProfile?
  /// The pattern's sound files, for their lengths.
  public var samples: [String: AudioBuffer]

  /// Names what is to be shown.
  public init(
    name: String, composition: HapticComposition? = nil, signal: Signal? = nil, profile: TransducerProfile? = nil,
    samples: [String: AudioBuffer] = [:]
  ) {
    self.name = name
    self.composition = composition
    self.signal = signal
    self.profile = profile
    self.samples = samples
  }
}

/// A way to look at a pattern or a sound; the raw value is what users call it.
public enum PlotPart: String, CaseIterable, Sendable {
  /// Intensity and sharpness of events with the curves over them; level and frequency of a recording.
  case score
  /// The sound's samples over time.
  case waveform
  /// The sound's frequencies over time.
  case spectrogram
}

extension HapticComposition {
  /// Whether its events say all of it: of sampled signals, only the sound does.
  package var isOfEvents: Bool { layers.allSatisfy(\.signals.isEmpty) }
}

/// A subject with what is evaluated and measured of it.
struct PlotTake: Sendable {
  /// The name.
  let name: String
  /// What it is rendered with, where that is known.
  let profile: TransducerProfile?
  /// The events of a pattern.
  let score: PatternScore?
  /// Level and frequency of what is more than events.
  private(set) var track: SignalTrack?
  /// The sound.
  let signal: Signal?
  /// Seconds until nothing sounds.
  let duration: Double

  /// The share of the peak that still counts as sound behind the last event.
  private static let leastTail: Float = 1e-3

  /// Evaluates a subject.
  init(_ subject: PlotSubject) throws(PlotError) {
    name = subject.name
    signal = subject.signal
    guard let composition = subject.composition else {
      (score, profile) = (nil, subject.profile)
      duration = subject.signal?.duration ?? 0
      return
    }
    let profile = subject.profile ?? .phone
    self.profile = profile
    let events = try PatternScore(of: composition, profile: profile, samples: subject.samples)
    score = composition.isOfEvents ? events : nil
    // The silence behind a rendering is not part of the pattern.
    duration = max(events.duration, subject.signal.map(Self.end) ?? 0)
  }

  /// Measures level and frequency.
  mutating func follow() { track = signal.map { SignalTrack(of: $0) } }

  /// The second behind which there is nothing but silence.
  private static func end(of signal: Signal) -> Double {
    let peak = signal.channels.reduce(Float(0)) { max($0, $1.reduce(0) { max($0, abs($1)) }) }
    guard peak > 0 else { return 0 }
    let last = signal.channels.reduce(-1) { last, samples in
      max(last, samples.lastIndex { abs($0) > leastTail * peak } ?? -1)
    }
    return Double(last + 1) / signal.rate
  }

  /// The part of its sound within a range of seconds, and the second at which that starts.
  func part(_ range: ClosedRange<Double>, margin: Double = 0) -> (signal: Signal, start: Double)? {
    guard let signal else { return nil }
    let from = Int(max(0, (range.lowerBound - margin) * signal.rate).rounded(.down))
    // The frame behind the end is where the line goes to.
    let end = min(Double(signal.frameCount), ((range.upperBound + margin) * signal.rate).rounded(.up) + 1)
    guard from < Int(end) else { return (Signal(channels: [[]], rate: signal.rate), 0) }
    if from == 0, Int(end) == signal.frameCount { return (signal, 0) }
    return (
      Signal(channels: signal.channels.map { Array($0[from..<Int(end)]) }, rate: signal.rate),
      Double(from) / signal.rate
    )
  }
}
