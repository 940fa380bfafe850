internal import CMath
public import HapticFormats
public import HapticModel
public import HapticRender
public import SignalAnalysis
internal import SystemSupport

/// A pattern rendered for a profile, or a recording, that is compared with another take.
public struct Take: Sendable {
  /// The source of a take's samples.
  public enum Source: Equatable, Sendable {
    /// A rendered composition of one or more layers.
    case pattern(HapticComposition)
    /// A sound file with unknown events.
    case sound
  }

  /// The name of the take in messages, from a file or a pattern.
  public var name: String
  /// The source of the samples.
  public var source: Source
  /// The signal of the take.
  public var signal: Signal
  /// The duration of the take without trailing silence, in seconds.
  ///
  /// The signal of a pattern has trailing silence in addition. The duration of a recording is that
  /// of its signal.
  public var durationSeconds: Double
  /// The profile that renders the pattern.
  ///
  /// A sound is analyzed as if it were made for this profile.
  public var profile: TransducerProfile
  /// The contents of the pattern's file as readable text, or nil for a sound.
  public var sourceText: String?
  /// The description of the pattern's feeling, as stored in its file.
  public var feelingDescription: String?
  /// The format of the pattern's file, or nil if it is unknown or the take is a sound.
  public var format: Format?

  /// The format of a pattern's file.
  public struct Format: Equatable, Sendable {
    /// The name of the format in messages.
    public var title: String
    /// The rounding steps of values in the format.
    public var resolution: FormatResolution

    /// Creates a format.
    public init(title: String, resolution: FormatResolution = .exact) {
      self.title = title
      self.resolution = resolution
    }
  }

  /// Creates a take.
  ///
  /// - Parameters:
  ///   - name: The name in messages.
  ///   - source: The source of the samples.
  ///   - signal: The samples.
  ///   - profile: The profile.
  ///   - text: The text of the pattern's file.
  ///   - feeling: The description of the way the pattern feels.
  public init(
    name: String, source: Source, signal: Signal, profile: TransducerProfile, text: String? = nil,
    feeling: String? = nil
  ) {
    self.name = name
    self.source = source
    self.signal = signal
    durationSeconds = signal.durationSeconds
    self.profile = profile
    self.sourceText = text
    self.feelingDescription = feeling
  }

  /// Returns the letter of the take at an index: A, B, C … Z, then A2 and so on.
  public static func letter(at index: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index % 26)))
    return index < 26 ? letter : letter + "\(index / 26 + 1)"
  }

  /// The composition of the pattern, or nil for a sound.
  public var composition: HapticComposition? {
    if case .pattern(let composition) = source { return composition }
    return nil
  }
}

/// The measurements of a take's signal, such as its peak level and duration.
public struct TakeMeasurements: Equatable, Sendable {
  /// A named measurement of a take.
  ///
  /// The value is nil for silence, and for sounds that are too short or too quiet.
  public struct Measurement: Equatable, Sendable {
    /// The name of the measurement in tables.
    public let name: String
    /// The member key of the measurement in JSON output, such as `peakDecibels`.
    public let key: String
    /// The unit, such as `s`, `Hz`, or a unit of level; empty for a count.
    public let unit: String
    /// The number of decimal places in tables.
    public let decimalPlaces: Int
    /// The measured value, in the measurement's unit.
    public let value: Double?

    /// The value without its unit, or a dash.
    package var formattedValue: String {
      value.map { NumberFormatting.fixedText($0, places: decimalPlaces) } ?? "–"
    }

    /// Returns the difference from another measurement as text.
    ///
    /// The text is `=` if there is no difference, and empty if a value is missing.
    package func formattedChange(from reference: Measurement) -> String {
      guard let value, let referenceValue = reference.value else { return "" }
      let changeText = NumberFormatting.fixedText(value - referenceValue, places: decimalPlaces)
      let isZero = !changeText.contains { ("1"..."9").contains($0) }
      if isZero { return "=" }
      return value > referenceValue ? "+" + changeText : changeText
    }
  }

  /// The measurements, in the order of tables. Every take has the same measurements.
  public let measurements: [Measurement]
  /// The number of channels of the take's signal.
  public let channelCount: Int

  /// Measures the signal of a take.
  public init(_ take: Take) {
    let signal = take.signal
    channelCount = signal.channels.count
    let signalLevels = try? Levels(of: signal)
    func finiteDecibels(_ decibels: Double?) -> Double? {
      decibels.flatMap { $0.isFinite && $0 > Decibels.silenceDecibels ? $0 : nil }
    }
    let peakDecibels = finiteDecibels(signalLevels?.samplePeakDecibels)
    let spectrum = peakDecibels.map { _ in Spectrum(of: signal) }
    let measurementRows: [(String, String, String, Int, Double?)] = [
      ("length", "duration", "s", 3, signal.durationSeconds),
      ("peak", "peakDecibels", "dBFS", 1, peakDecibels),
      // The RMS level of a full-scale square wave is 0.
      ("RMS", "rmsDecibels", "dBFS", 1, finiteDecibels(signalLevels?.rmsDecibels)),
      ("loudness", "loudnessLUFS", "LUFS", 1, finiteDecibels(signalLevels?.integratedLoudnessLUFS)),
      // The level weighted by the hand's sensitivity.
      (
        "weighted level", "weightedDecibels", "dB", 1,
        spectrum.flatMap { finiteDecibels(WeightedEnergy(of: $0).weightedRMSDecibels) }
      ),
      (
        "dominant frequency", "strongestHertz", "Hz", 0, spectrum.flatMap(Self.spectralPeakCentroid)
      ),
      // The centroid of the power below 1 kHz.
      (
        "spectral centroid", "spectrumHertz", "Hz", 0,
        spectrum.flatMap(FrequencyPair.spectralCentroidHertz)
      ),
      ("onsets", "onsets", "", 0, Double(Onsets(in: signal).count)),
    ]
    measurements = measurementRows.map { name, key, unit, places, value in
      Measurement(
        name: name, key: key, unit: unit, decimalPlaces: places,
        value: value.flatMap { $0.isFinite ? $0 : nil })
    }
  }

  /// Returns the value of the measurement with a JSON key.
  package subscript(key: String) -> Double? {
    measurements.first { $0.key == key }?.value
  }

  /// Returns the centroid of the highest spectral peak, in hertz.
  ///
  /// The centroid is measured between the half-power points. For a broad peak, it is more stable
  /// than the frequency of the maximum.
  private static func spectralPeakCentroid(of spectrum: Spectrum) -> Double? {
    let binPowers = spectrum.binPowers
    guard let peakBinIndex = binPowers.indices.max(by: { binPowers[$0] < binPowers[$1] }) else {
      return nil
    }
    let halfPowerThreshold = binPowers[peakBinIndex] / 2
    var firstBinIndex = peakBinIndex
    var lastBinIndex = peakBinIndex
    while firstBinIndex > 0, binPowers[firstBinIndex - 1] >= halfPowerThreshold {
      firstBinIndex -= 1
    }
    while lastBinIndex < binPowers.count - 1, binPowers[lastBinIndex + 1] >= halfPowerThreshold {
      lastBinIndex += 1
    }
    let powerSum = binPowers[firstBinIndex...lastBinIndex].reduce(0, +)
    let frequencyMoment = (firstBinIndex...lastBinIndex).reduce(0) {
      $0 + spectrum.binHertz[$1] * binPowers[$1]
    }
    return powerSum > 0 ? frequencyMoment / powerSum : nil
  }
}

/// The measure for matching the levels of takes before listening.
public enum LevelMatch: String, CaseIterable, Sendable {
  /// Level matching is off.
  case none
  /// The perceived loudness, in LUFS.
  case loudness
  /// The energy weighted by the hand's sensitivity. Users know this case as `felt`.
  case weighted = "felt"

  /// Returns the gain for each signal that matches its level to the weakest signal.
  ///
  /// No gain exceeds 1, so signals don't exceed their ceilings. A silent signal has a gain of 1 and
  /// does not count as the weakest. If a signal has no loudness because it is below −70 LUFS, all
  /// signals are matched by weighted energy instead.
  public func gains(for signals: [Signal]) -> [Double] {
    let loudnessLevels = self == .loudness ? signals.map(Self.loudness) : []
    let isLoudnessComplete =
      self == .loudness
      && zip(signals, loudnessLevels).allSatisfy { $1 != nil || Self.isSilent($0) }
    let levelsDecibels: [Double?]
    if self == .none {
      levelsDecibels = []
    } else {
      levelsDecibels = isLoudnessComplete ? loudnessLevels : signals.map(Self.weightedLevel)
    }
    guard let minimumLevelDecibels = levelsDecibels.compactMap(\.self).min() else {
      return signals.map { _ in 1 }
    }
    return levelsDecibels.map { level in
      guard let level else { return 1 }
      return min(1, Decibels.amplitudeFactor(minimumLevelDecibels - level))
    }
  }

  /// Returns the gain for each take that matches its level to the weakest take.
  public func gains(for takes: [Take]) -> [Double] { gains(for: takes.map(\.signal)) }

  /// Returns the integrated loudness of a signal in LUFS, or nil if it is too low.
  static func loudness(of signal: Signal) -> Double? {
    (try? Levels(of: signal))?.integratedLoudnessLUFS
  }

  /// Returns the weighted energy level of all channels in decibels, or nil for silence.
  ///
  /// The level is that of the total energy, not of its mean, so trailing silence does not affect
  /// it.
  static func weightedLevel(of signal: Signal) -> Double? {
    let weightedEnergy = WeightedEnergy(of: signal).weightedEnergy
    return weightedEnergy > 1e-20 ? 10 * log10(weightedEnergy) : nil
  }

  static func isSilent(_ signal: Signal) -> Bool {
    signal.channels.joined().allSatisfy { $0 == 0 || !$0.isFinite }
  }
}
