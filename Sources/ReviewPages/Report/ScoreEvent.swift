internal import HapticModel
internal import HapticRender
internal import SignalPlots

/// One event of a pattern with the values a reader is told.
struct ScoreEvent: Equatable {
  /// What an event is, which also names its two values.
  enum Kind: String {
    /// One short impulse.
    case transient
    /// A vibration.
    case continuous
    /// A tone for the ear.
    case tone
    /// A sound file.
    case file = "sound file"

    /// What its strength and its tone are called.
    var names: (strength: String, tone: String) {
      switch self {
      case .transient, .continuous: ("intensity", "sharpness")
      case .tone, .file: ("volume", "brightness")
      }
    }
  }

  /// What it is.
  var kind: Kind
  /// The second it begins.
  var time: Double
  /// Seconds until it falls silent; 0 for a transient.
  var duration: Double
  /// What it becomes under its controls and its envelope, by rising time.
  var points: [PatternScore.Point]
  /// How its sharpness becomes hertz; nothing for what is only heard.
  var frequency: FrequencyMapping?

  /// The most points that a page holds of one event.
  private static let mostPoints = 400

  /// An event as it is drawn.
  init(_ event: PatternScore.Event, profile: TransducerProfile) {
    switch event.kind {
    case .hapticTransient:
      kind = .transient
      frequency = profile.transient.frequency
    case .hapticContinuous:
      kind = .continuous
      frequency = profile.frequency
    case .audioContinuous: kind = .tone
    case .audioCustom: kind = .file
    }
    time = event.time
    duration = kind == .transient ? 0 : event.end - event.time
    let step = max(1, (event.points.count + Self.mostPoints - 1) / Self.mostPoints)
    points = event.points.enumerated().compactMap { index, point in
      index % step == 0 || index == event.points.count - 1 ? point : nil
    }
  }

  /// The greatest strength it reaches.
  var peak: Double { points.reduce(0) { max($0, $1.intensity) } }

  /// Its tone, sharpness or brightness, where it begins.
  var tone: Double { points.first?.sharpness ?? 0 }

  /// Its frequency where it begins.
  var hertz: Double? { frequency?.hertz(atSharpness: tone) }
}
