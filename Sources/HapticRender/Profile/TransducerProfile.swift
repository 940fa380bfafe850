package import HapticModel

/// How a pattern becomes a waveform for one kind of transducer.
///
/// Everything physical that Core Haptics leaves open is here as data: frequency, level, waveform.
public struct TransducerProfile: Equatable, Sendable {
  /// One sine of a continuous event.
  public struct Partial: Equatable, Sendable {
    /// Its frequency as a multiple of the law's.
    public var ratio: Double
    /// Its amplitude as a multiple of the event's.
    public var gain: Double

    /// Makes a partial; the default is the event's own sine.
    public init(ratio: Double = 1, gain: Double = 1) {
      self.ratio = ratio
      self.gain = gain
    }
  }

  /// A point of the threshold curve that `IntensityMapping.sensation` follows.
  public struct Threshold: Equatable, Sendable {
    /// Frequency in hertz.
    public var hertz: Double
    /// The weakest acceleration felt there, in decibels relative to 1 g.
    public var decibels: Double

    /// Makes a point.
    public init(hertz: Double, decibels: Double) {
      self.hertz = hertz
      self.decibels = decibels
    }
  }

  /// The name people type.
  public var name: String
  /// One sentence: what it is for.
  public var summary: String
  /// How sharpness becomes the frequency of continuous events.
  public var frequency: FrequencyMapping
  /// How intensity becomes amplitude.
  public var intensity: IntensityMapping
  /// The amplitude of one continuous haptic event at full intensity, 0…1.
  public var level: Double
  /// The sines a continuous event is made of.
  public var partials: [Partial]
  /// The bursts of transients.
  public var transient: TransientShape
  /// What continuous events are multiplied by while a transient sounds.
  public var duck: Double
  /// The threshold curve of `IntensityMapping.sensation`, by rising frequency; else empty.
  public var thresholds: [Threshold]
  /// What is known of the hardware; without it the signal is for review, and nothing is fitted to it.
  public var hardware: TransducerHardware?
  /// How the signal is fitted to the hardware.
  public var drive: DriveSettings
  /// What drives the hardware.
  public var amplifier: AmplifierParameters
  /// Where the figures were read.
  public var sources: [String]

  /// The amplitude of a full-strength event in our own profiles: two of them fit below the ceiling.
  public static let defaultLevel = 0.44

  /// Makes a profile; what is left out follows from the frequency law.
  public init(
    name: String, summary: String, frequency: FrequencyMapping, intensity: IntensityMapping = .power(exponent: 1),
    level: Double = defaultLevel, partials: [Partial] = [Partial()], transient: TransientShape? = nil, duck: Double = 1,
    thresholds: [Threshold] = [], hardware: TransducerHardware? = nil, drive: DriveSettings = DriveSettings(),
    amplifier: AmplifierParameters = AmplifierParameters(), sources: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.frequency = frequency
    self.intensity = intensity
    self.level = level
    self.partials = partials
    self.transient = transient ?? TransientShape(frequency: frequency, level: level)
    self.duck = duck
    self.thresholds = thresholds
    self.hardware = hardware
    self.drive = drive
    self.amplifier = amplifier
    self.sources = sources
  }

  /// What sharpness and intensity become for the haptic events of a kind.
  package func scale(of kind: HapticEvent.Kind) -> (frequency: FrequencyMapping, level: Double) {
    kind.isTransient ? (transient.frequency, transient.level) : (frequency, level)
  }

  /// The default: the scale on which Core Haptics' default sharpness, 0.422601, is exactly 125 Hz, and
  /// the square law that two exporters proven on devices invert.
  public static let phone = TransducerProfile(
    name: "phone", summary: "Wide-band phone actuator, for previewing patterns.",
    frequency: FrequencyMapping(low: 80, high: 230), intensity: .power(exponent: 2))
}
