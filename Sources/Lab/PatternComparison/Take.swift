internal import CMath
public import HapticModel
public import HapticRender
public import SignalAnalysis
internal import SystemSupport

/// One of the things that are compared: a pattern as a profile renders it, or a recording.
public struct Take: Sendable {
  /// Where the samples come from.
  public enum Source: Equatable, Sendable {
    /// A composition of one or more layers, rendered.
    case pattern(HapticComposition)
    /// A sound file, whose events are not known.
    case sound
  }

  /// What messages call the take: a file's or a pattern's name.
  public var name: String
  /// Where the samples come from.
  public var source: Source
  /// What is heard.
  public var signal: Signal
  /// Seconds until a pattern is over and silent, or of a recording; the signal of a pattern has
  /// silence behind that.
  public var duration: Double
  /// What a pattern was rendered with; a sound is looked at as if it were made with it.
  public var profile: TransducerProfile
  /// The text of the pattern's file, for a reader; nil for sounds.
  public var sourceText: String?
  /// What the pattern's file says it feels like.
  public var feeling: String?

  /// Makes a take.
  public init(
    name: String, source: Source, signal: Signal, profile: TransducerProfile, text: String? = nil,
    feeling: String? = nil
  ) {
    self.name = name
    self.source = source
    self.signal = signal
    duration = signal.duration
    self.profile = profile
    self.sourceText = text
    self.feeling = feeling
  }

  /// What the takes of a row are called: A, B, C … Z, then A2 and so on.
  public static func letter(at index: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index % 26)))
    return index < 26 ? letter : letter + "\(index / 26 + 1)"
  }

  /// The composition, where it is one.
  public var composition: HapticComposition? {
    if case .pattern(let composition) = source { return composition }
    return nil
  }
}

/// What is measured of one take, to compare with another's.
public struct TakeMeasurements: Equatable, Sendable {
  /// One figure; what silence, or a sound too short or too quiet, does not have is nil.
  public struct Measurement: Equatable, Sendable {
    /// What tables call it.
    public let name: String
    /// Its key in JSON.
    public let key: String
    /// `s`, `Hz`, a unit of level, or nothing for a count.
    public let unit: String
    /// The decimal places that tables show.
    public let decimalPlaces: Int
    /// How much it is, in `unit`.
    public let value: Double?

    /// The value without its unit, or a dash.
    package var formattedValue: String {
      value.map { NumberFormatting.fixed($0, places: decimalPlaces) } ?? "–"
    }

    /// How much more it is than another, or `=`; empty where either has no value.
    package func formattedChange(from other: Measurement) -> String {
      guard let value, let before = other.value else { return "" }
      let text = NumberFormatting.fixed(value - before, places: decimalPlaces)
      if !text.contains(where: { ("1"..."9").contains($0) }) { return "=" }
      return value > before ? "+" + text : text
    }
  }

  /// The figures in the order of tables, of every take the same.
  public let measurements: [Measurement]
  /// How many channels there are.
  public let channelCount: Int

  /// Measures a take.
  public init(_ take: Take) {
    let signal = take.signal
    channelCount = signal.channels.count
    let mono = Signal(signal.mono, rate: signal.rate)
    let levels = try? Levels(of: signal)
    func known(_ decibels: Double?) -> Double? {
      decibels.flatMap { $0.isFinite && $0 > Decibels.silence ? $0 : nil }
    }
    let peak = known(levels?.samplePeakDecibels)
    let spectrum = peak.map { _ in Spectrum(of: mono) }
    let rows: [(String, String, String, Int, Double?)] = [
      ("length", "duration", "s", 3, signal.duration), ("peak", "peakDecibels", "dBFS", 1, peak),
      // The root mean square; that of a full-scale square wave is 0.
      ("RMS", "rmsDecibels", "dBFS", 1, known(levels?.rmsDecibels)),
      ("loudness", "loudnessLUFS", "LUFS", 1, known(levels?.integratedLoudness)),
      // The level that a body feels.
      (
        "weighted level", "weightedDecibels", "dB", 1,
        spectrum.flatMap { known(WeightedEnergy(of: $0).decibels) }
      ),
      ("dominant frequency", "strongestHertz", "Hz", 0, spectrum.flatMap(Self.peakCenter)),
      // That of the power below 1 kHz.
      ("spectral centroid", "spectrumHertz", "Hz", 0, spectrum.flatMap(FrequencyPair.centroid)),
      ("onsets", "onsets", "", 0, Double(Onsets(in: mono).count)),
    ]
    measurements = rows.map { name, key, unit, places, value in
      Measurement(
        name: name, key: key, unit: unit, decimalPlaces: places,
        value: value.flatMap { $0.isFinite ? $0 : nil })
    }
  }

  /// The value with a key.
  package subscript(key: String) -> Double? { measurements.first { $0.key == key }?.value }

  /// The middle of the highest peak down to half its power, which stays where the peak is broad.
  private static func peakCenter(of spectrum: Spectrum) -> Double? {
    let powers = spectrum.powers
    guard let top = powers.indices.max(by: { powers[$0] < powers[$1] }) else { return nil }
    let half = powers[top] / 2
    var first = top
    var last = top
    while first > 0, powers[first - 1] >= half {
      first -= 1
    }
    while last < powers.count - 1, powers[last + 1] >= half {
      last += 1
    }
    let sum = powers[first...last].reduce(0, +)
    let moment = (first...last).reduce(0) { $0 + spectrum.frequencies[$1] * powers[$1] }
    return sum > 0 ? moment / sum : nil
  }
}

/// By what takes are made equally strong before they are judged by ear.
public enum LevelMatch: String, CaseIterable, Sendable {
  /// Not at all.
  case none
  /// By loudness in LUFS: what is heard.
  case loudness
  /// By weighted energy: what is felt. Users call it `felt`.
  case weighted = "felt"

  /// A factor for each signal, after which all are as strong as the weakest.
  ///
  /// No factor is above 1, so nothing is raised past a ceiling that it kept. A silent signal keeps
  /// 1 and does not count as the weakest. Where a signal that is not silent has no loudness, which
  /// needs more than −70 LUFS, all are matched by weighted energy instead, since levels must be of
  /// one kind.
  public func gains(for signals: [Signal]) -> [Double] {
    let loudness = self == .loudness ? signals.map(Self.loudness) : []
    let isComplete =
      self == .loudness && zip(signals, loudness).allSatisfy { $1 != nil || Self.isSilent($0) }
    let levels = self == .none ? [] : isComplete ? loudness : signals.map(Self.weightedLevel)
    guard let weakest = levels.compactMap(\.self).min() else { return signals.map { _ in 1 } }
    return levels.map { level in level.map { min(1, Decibels.factor(weakest - $0)) } ?? 1 }
  }

  /// A factor for each take, as for its signal.
  public func gains(for takes: [Take]) -> [Double] { gains(for: takes.map(\.signal)) }

  static func loudness(of signal: Signal) -> Double? {
    (try? Levels(of: signal))?.integratedLoudness
  }

  /// The level a hand feels over all channels, in decibels; nil for silence.
  ///
  /// The energy of the whole, not its mean, so that silence behind a sound makes it no weaker.
  static func weightedLevel(of signal: Signal) -> Double? {
    let energy = WeightedEnergy(of: signal).energy
    return energy > 1e-20 ? 10 * log10(energy) : nil
  }

  static func isSilent(_ signal: Signal) -> Bool {
    signal.channels.allSatisfy { channel in channel.allSatisfy { $0 == 0 || !$0.isFinite } }
  }
}
