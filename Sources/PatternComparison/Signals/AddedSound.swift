internal import CMath
import SignalAnalysis

/// Noise or a hum that lies under the whole of a signal.
struct AddedSound {
  /// Its mean square.
  var power: Double
  /// Its frequency, where it is a tone.
  var hertz: Double?

  /// Seconds of a piece that is silent or not.
  private static let piece = 0.02
  /// What is weaker is a residue of storing samples: −84 dBFS, a bit or two of 16.
  static let leastPower = 4e-9
  /// The share of the power around one frequency that makes a tone.
  private static let tonality = 0.6

  /// What the other has where the reference is silent, or nil where that is no more.
  ///
  /// The median of all pieces, so that a sound that comes and goes does not count.
  static func under(_ pair: SignalPair) -> AddedSound? {
    let threshold = SignalPair.silence(pair.reference)
    let length = max(1, Int(piece * pair.rate))
    var quiet: [Float] = []
    var powers: [Double] = []
    var own: [Double] = []
    for start in stride(from: 0, to: pair.reference.count - length + 1, by: length) {
      let part = start..<(start + length)
      guard SignalPair.peak(pair.reference[part]) < threshold else { continue }
      powers.append(SignalPair.power(pair.other[part]))
      own.append(SignalPair.power(pair.reference[part]))
      quiet += pair.other[part]
    }
    // Too little silence shows nothing of the background.
    guard powers.count >= 5 else { return nil }
    powers.sort()
    let power = powers[powers.count / 2]
    // What fades away in the silence is the end of a sound.
    guard power > leastPower, powers[powers.count / 10] > power / 16, power > 4 * own.sorted()[own.count / 2] else {
      return nil
    }
    return AddedSound(power: power, hertz: tone(in: quiet, rate: pair.rate))
  }

  /// What a residue is.
  init(residue: [Float], rate: Double) {
    power = SignalPair.power(residue)
    hertz = Self.tone(in: residue, rate: rate)
  }

  private init(power: Double, hertz: Double?) {
    self.power = power
    self.hertz = hertz
  }

  /// The frequency that most of the power lies around.
  private static func tone(in samples: [Float], rate: Double) -> Double? {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.25)
    guard let peak = spectrum.powers.indices.max(by: { spectrum.powers[$0] < spectrum.powers[$1] }) else { return nil }
    let near = max(0, peak - 3)...min(spectrum.powers.count - 1, peak + 3)
    let power = near.reduce(0) { $0 + spectrum.powers[$1] }
    guard power > tonality * spectrum.power, power > 0 else { return nil }
    return near.reduce(0) { $0 + spectrum.powers[$1] * spectrum.frequencies[$1] } / power
  }

  /// Its level: of a tone the amplitude, of noise the RMS value, in dBFS.
  var decibels: Double { Decibels.of(power: hertz == nil ? power : 2 * power) }

  /// `a 40 Hz hum at −40 dBFS`, `noise at −52 dBFS`.
  var words: String {
    let level = "\(SentenceFormatting.number(decibels, places: 0)) dBFS"
    guard let hertz else { return "noise at \(level)" }
    return "a \(SentenceFormatting.number(hertz, places: 0)) Hz hum at \(level)"
  }

  /// The magnitude that it hardly ever exceeds.
  var reach: Float { Float(4.5 * power.squareRoot()) }
}

/// Peaks of a signal that were cut off at one magnitude.
struct ClippedPeaks {
  /// The magnitude.
  var ceiling: Float
  /// How many samples lie there.
  var sampleCount: Int
  /// In how many places.
  var placeCount: Int
  /// The frames from the first to behind the last.
  var frames: Range<Int>

  /// The fewest samples of one cut peak.
  private static let shortest = 4
  /// Weaker signals have flat peaks because of their few steps.
  private static let leastCeiling: Float = 0.1
  /// How far below the ceiling, as a share, the sample before or behind a cut lies at least.
  private static let slope: Float = 0.001

  /// Looks for flat peaks at the greatest magnitude; nil where there is none.
  init?(_ samples: [Float]) {
    let peak = SignalPair.peak(samples)
    guard peak >= Self.leastCeiling else { return nil }
    let least = peak * (1 - 1e-4)
    ceiling = least
    sampleCount = 0
    placeCount = 0
    frames = 0..<0
    var start: Int?
    for index in 0...samples.count {
      let isHigh = index < samples.count && abs(samples[index]) >= least
      if isHigh, start == nil { start = index }
      if !isHigh, let from = start {
        let before = from > 0 ? abs(samples[from - 1]) : 0
        let behind = index < samples.count ? abs(samples[index]) : 0
        if index - from >= Self.shortest, min(before, behind) < peak * (1 - Self.slope) {
          sampleCount += index - from
          placeCount += 1
          frames = (placeCount == 1 ? from : frames.lowerBound)..<index
        }
        start = nil
      }
    }
    guard placeCount > 0 else { return nil }
  }
}
