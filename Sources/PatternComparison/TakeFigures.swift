internal import SignalAnalysis

/// What is measured of one take, to stand beside another's.
public struct TakeFigures: Equatable, Sendable {
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
  /// The frequency with the most power, in hertz; nothing for silence.
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
    let mono = signal.mono
    let levels = try? signal.levels()
    func known(_ decibels: Double?) -> Double? {
      decibels.flatMap { $0.isFinite && $0 > Decibels.silence ? $0 : nil }
    }
    peak = known(levels?.samplePeakDecibels)
    rms = known(levels?.rmsDecibels)
    loudness = known(levels?.integratedLoudness)
    felt = known(FeltEnergy(of: mono, rate: signal.rate).decibels)
    onsetCount = Onsets.find(in: mono, rate: signal.rate).count
    guard peak != nil else { return }
    centroid = Tones.middle(mono, rate: signal.rate)
    let spectrum = Spectrum(of: mono, rate: signal.rate)
    let strongest = spectrum.powers.indices.max { spectrum.powers[$0] < spectrum.powers[$1] }
    dominant = strongest.map { spectrum.frequencies[$0] }
  }
}
