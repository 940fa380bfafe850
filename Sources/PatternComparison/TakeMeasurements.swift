internal import SignalAnalysis

/// What is measured of one take, to stand beside another's.
public struct TakeMeasurements: Equatable, Sendable {
  /// Seconds from the first to the last sample.
  public var duration: Double
  /// The greatest magnitude in dBFS; nothing for silence.
  public var peak: Double?
  /// The root mean square in dBFS, a full-scale square wave being 0; nothing for silence.
  public var rms: Double?
  /// Loudness in LUFS; nothing where it is too short or too quiet to have one.
  public var loudness: Double?
  /// The level a body feels, in dB; nothing for silence.
  public var felt: Double?
  /// The middle of the spectrum's power below 1 kHz, in hertz; nothing for silence.
  public var centroid: Double?
  /// The middle of the highest peak of power, in hertz; nothing for silence.
  public var dominant: Double?
  /// How many sounds begin.
  public var onsetCount: Int
  /// How many channels there are.
  public var channelCount: Int

  /// Measures a take.
  public init(_ take: Take) {
    let signal = take.signal
    duration = signal.duration
    channelCount = signal.channels.count
    let mono = Signal(signal.mono, rate: signal.rate)
    let levels = try? Levels(of: signal)
    func known(_ decibels: Double?) -> Double? {
      decibels.flatMap { $0.isFinite && $0 > Decibels.silence ? $0 : nil }
    }
    peak = known(levels?.samplePeakDecibels)
    rms = known(levels?.rmsDecibels)
    loudness = known(levels?.integratedLoudness)
    felt = known(WeightedEnergy(of: mono).decibels)
    onsetCount = Onsets(in: mono).count
    guard peak != nil else { return }
    centroid = Tones.middle(mono)
    let spectrum = Spectrum(of: mono)
    dominant = Self.middleOfPeak(spectrum)
  }

  /// The middle of the highest peak down to half its power, which stays where the peak is broad.
  private static func middleOfPeak(_ spectrum: Spectrum) -> Double? {
    let powers = spectrum.powers
    guard let top = powers.indices.max(by: { powers[$0] < powers[$1] }) else { return nil }
    let half = powers[top] / 2
    var (first, last) = (top, top)
    while first > 0, powers[first - 1] >= half { first -= 1 }
    while last < powers.count - 1, powers[last + 1] >= half { last += 1 }
    let sum = powers[first...last].reduce(0, +)
    let moment = (first...last).reduce(0) { $0 + spectrum.frequencies[$1] * powers[$1] }
    return sum > 0 ? moment / sum : nil
  }
}
