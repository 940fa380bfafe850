/// How a transducer warms: a coil that follows quickly, and a magnet with its case that follows slowly.
///
/// The structure is that of published two-stage models: Chapman, "Thermal Simulation of Loudspeakers",
/// AES 104th convention, 1998; Klippel, "Nonlinear Modeling of the Heat Transfer in Loudspeakers", JAES 52,
/// 2004. The default figures are estimates of the usual order of magnitude.
public struct ThermalParameters: Equatable, Sendable {
  /// Seconds in which the coil warms by 63 % of its share.
  public var coil: Double
  /// Seconds in which the magnet and the case do.
  public var magnet: Double
  /// The coil's share of the final rise, 0–1.
  public var coilFraction: Double

  /// Makes figures.
  public init(coil: Double = 10, magnet: Double = 900, coilFraction: Double = 0.6) {
    self.coil = coil
    self.magnet = magnet
    self.coilFraction = coilFraction
  }
}
