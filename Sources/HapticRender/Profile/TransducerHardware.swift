/// What a maker publishes about a transducer, and which of it is estimated.
public struct TransducerHardware: Equatable, Sendable {
  /// The maker and model.
  public var product: String
  /// The published band in hertz.
  public var band: ClosedRange<Double>?
  /// Resonance in hertz.
  public var resonance: Double?
  /// Quality factor at resonance.
  public var quality: Double?
  /// Nominal impedance in ohms.
  public var impedance: Double?
  /// Continuous power in watts.
  public var power: Double?
  /// Greatest short-term power in watts.
  public var peakPower: Double?
  /// The greatest acceleration in g at resonance and continuous power.
  public var acceleration: Double?
  /// The greatest movement to one side in millimetres.
  public var excursion: Double?
  /// The acceleration at frequencies, by rising frequency; empty where only the resonance is known.
  public var response: [ResponsePoint]
  /// How it warms, where that is known.
  public var thermal: ThermalParameters?
  /// How the figures were measured, where they were.
  public var measured: TransducerMeasurement?
  /// The names of figures that are estimates, not the maker's.
  public var estimated: [String]

  /// Makes a data sheet; figures that are not known stay absent.
  public init(
    product: String, band: ClosedRange<Double>? = nil, resonance: Double? = nil,
    quality: Double? = nil, impedance: Double? = nil, power: Double? = nil,
    peakPower: Double? = nil, acceleration: Double? = nil, excursion: Double? = nil,
    response: [ResponsePoint] = [], thermal: ThermalParameters? = nil,
    measured: TransducerMeasurement? = nil,
    estimated: [String] = []
  ) {
    self.product = product
    self.band = band
    self.resonance = resonance
    self.quality = quality
    self.impedance = impedance
    self.power = power
    self.peakPower = peakPower
    self.acceleration = acceleration
    self.excursion = excursion
    self.response = response
    self.thermal = thermal
    self.measured = measured
    self.estimated = estimated
  }
}
