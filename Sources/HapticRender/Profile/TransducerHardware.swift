/// What a maker publishes about a transducer, and which of it is estimated.
public struct TransducerHardware: Equatable, Sendable {
  /// The maker and model.
  public var product: String
  /// The published band in hertz.
  public var band: ClosedRange<Double>?
  /// Resonance in hertz.
  public var resonance: Double?
  /// Quality factor at resonance.
  public var qualityFactor: Double?
  /// Nominal impedance in ohms.
  public var impedance: Double?
  /// Continuous power in watts.
  public var continuousPower: Double?
  /// Greatest short-term power in watts.
  public var peakPower: Double?
  /// The greatest acceleration in g at resonance and continuous power.
  public var acceleration: Double?
  /// The greatest movement to one side in millimetres.
  public var excursion: Double?
  /// Resonances besides that one, at most two: chairs and platforms have them.
  public var modes: [TransducerMode]
  /// The acceleration at frequencies, by rising frequency; empty where only the resonance is known.
  public var response: [ResponsePoint]
  /// How it warms, where that is known.
  public var thermal: ThermalParameters?
  /// How the figures were measured, where they were.
  public var measured: TransducerMeasurement?
  /// The names of figures that are estimates, not the maker's.
  public var estimated: [String]
  /// How far the true resonance and quality may be from these; absent: as `assumedUncertainty` says.
  public var uncertainty: TransducerUncertainty?

  /// Makes a data sheet; figures that are not known stay absent.
  public init(
    product: String, band: ClosedRange<Double>? = nil, resonance: Double? = nil, qualityFactor: Double? = nil,
    impedance: Double? = nil, continuousPower: Double? = nil, peakPower: Double? = nil, acceleration: Double? = nil,
    excursion: Double? = nil, response: [ResponsePoint] = [], thermal: ThermalParameters? = nil,
    measured: TransducerMeasurement? = nil, estimated: [String] = [], uncertainty: TransducerUncertainty? = nil,
    modes: [TransducerMode] = []
  ) {
    self.product = product
    self.band = band
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.impedance = impedance
    self.continuousPower = continuousPower
    self.peakPower = peakPower
    self.acceleration = acceleration
    self.excursion = excursion
    self.response = response
    self.thermal = thermal
    self.measured = measured
    self.estimated = estimated
    self.uncertainty = uncertainty
    self.modes = modes
  }
}

/// A resonance besides the main one, which adds to the acceleration.
public struct TransducerMode: Equatable, Sendable {
  /// Resonance in hertz.
  public var resonance: Double
  /// Quality factor at resonance.
  public var qualityFactor: Double
  /// The acceleration at its resonance relative to that of the main one at its own; below zero where it is inverted.
  public var gain: Double

  /// Makes a resonance.
  public init(resonance: Double, qualityFactor: Double, gain: Double) {
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.gain = gain
  }

  /// The most of a transducer.
  public static let maximumCount = 2

  /// The resonance by itself.
  var model: TransducerModel { TransducerModel(resonance: resonance, qualityFactor: qualityFactor) }
}

/// How far the true figures of a transducer may be from those that are stated.
///
/// Protection holds for every transducer within it, and the inverse filter is no deeper than what helps
/// all of them.
public struct TransducerUncertainty: Equatable, Sendable {
  /// The greatest deviation of the resonance, as a fraction of it, 0–0.5.
  public var resonance: Double
  /// The factor within which the quality lies, either way, 1–4.
  public var qualityFactor: Double

  /// Makes an uncertainty.
  public init(resonance: Double, qualityFactor: Double) {
    self.resonance = min(max(resonance, 0), 0.5)
    self.qualityFactor = min(max(qualityFactor, 1), 4)
  }

  /// Figures that are exactly right.
  public static let none = TransducerUncertainty(resonance: 0, qualityFactor: 1)
  /// Figures of a data sheet or an estimate: mounting alone moves a resonance by a tenth.
  public static let estimated = TransducerUncertainty(resonance: 0.15, qualityFactor: 1.5)
  /// Figures that were measured as mounted: what heat and mounting leave.
  public static let measured = TransducerUncertainty(resonance: 0.03, qualityFactor: 1.1)
}

/// A point of a measured response.
public struct ResponsePoint: Equatable, Sendable {
  /// Frequency in hertz.
  public var hertz: Double
  /// The acceleration there, in decibels relative to any one level.
  public var decibels: Double

  /// Makes a point.
  public init(hertz: Double, decibels: Double) {
    self.hertz = hertz
    self.decibels = decibels
  }
}

/// How a transducer warms: a coil that follows quickly, and a magnet with its case that follows slowly.
///
/// The structure is that of published two-stage models: Chapman, "Thermal Simulation of Loudspeakers",
/// AES 104th convention, 1998; Klippel, "Nonlinear Modeling of the Heat Transfer in Loudspeakers", JAES 52,
/// 2004. The default figures are estimates of the usual order of magnitude.
public struct ThermalParameters: Equatable, Sendable {
  /// Seconds in which the coil warms by 63 % of its fraction.
  public var coilTimeConstant: Double
  /// Seconds in which the magnet and the case do.
  public var magnetTimeConstant: Double
  /// The coil's fraction of the final rise, 0–1.
  public var coilFraction: Double

  /// Makes figures.
  public init(coilTimeConstant: Double = 10, magnetTimeConstant: Double = 900, coilFraction: Double = 0.6) {
    self.coilTimeConstant = coilTimeConstant
    self.magnetTimeConstant = magnetTimeConstant
    self.coilFraction = coilFraction
  }
}

/// How the figures of a transducer were measured.
public struct TransducerMeasurement: Equatable, Sendable {
  /// What a sensor's signal is in proportion to.
  public enum Sensor: String, CaseIterable, Sendable {
    case acceleration
    case velocity
    case displacement
  }

  /// The day, in the user's words.
  public var date: String
  /// What the fitted resonance leaves unexplained of the recording, in decibels of its power.
  public var residual: Double
  /// What the recording is in proportion to.
  public var sensor: Sensor

  /// Makes an entry.
  public init(date: String, residual: Double, sensor: Sensor) {
    self.date = date
    self.residual = residual
    self.sensor = sensor
  }
}

/// What stands between the output and the transducer, as the user knows it.
public struct AmplifierParameters: Equatable, Sendable {
  /// Watts into the transducer for a full-scale sine; absent: its peak power, or twice its power.
  public var power: Double?
  /// Seconds from a sample to its movement, as measured.
  public var latency: Double?

  /// Makes figures.
  public init(power: Double? = nil, latency: Double? = nil) {
    self.power = power
    self.latency = latency
  }
}
