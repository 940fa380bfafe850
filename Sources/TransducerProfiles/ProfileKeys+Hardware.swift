import HapticRender

extension ProfileKeys {
  /// The figures of a data sheet, or measured ones.
  private static let figures = [
    ProfileKey(
      "band",
      .object(span(ProfileLimits.publishedHertz, low: "Its lower end.", high: "Its upper end.")),
      "The published band in hertz."),
    ProfileKey("resonance", .number(ProfileLimits.publishedHertz), "Resonance in hertz."),
    ProfileKey("quality", .number(ProfileLimits.quality), "Quality factor at resonance."),
    ProfileKey("impedance", .number(ProfileLimits.impedance), "Nominal impedance in ohms."),
    ProfileKey("power", .number(ProfileLimits.power), "Continuous power in watts."),
    ProfileKey(
      "peakPower", .number(ProfileLimits.power),
      "Greatest short-term power in watts, not below power."),
    ProfileKey(
      "acceleration", .number(ProfileLimits.acceleration),
      "Greatest acceleration in g, at resonance and continuous power."),
    ProfileKey(
      "excursion", .number(ProfileLimits.excursion),
      "Maximum one-way excursion in millimetres. Default: the excursion at peak power in the band."),
    ProfileKey(
      "response", .list(.object(point), count: ProfileLimits.pointCount),
      "Measured acceleration, sorted by hertz; takes precedence over the resonance."),
    ProfileKey("thermal", .object(thermal), "Thermal time constants."),
  ]

  /// The names of those figures.
  static let figureNames = figures.map(\.name)

  /// The keys of `hardware`.
  static let hardware = ProfileFields(
    [ProfileKey("product", .text, isRequired: true, "Manufacturer and model.")] + figures + [
      ProfileKey("measured", .object(measured), "How the values were measured."),
      ProfileKey(
        "estimated", .list(.word(figureNames)),
        "Keys above whose values are estimates, not from the manufacturer."),
    ], orders: [.init(low: "power", high: "peakPower")])

  private static let point = ProfileFields([
    ProfileKey(
      "hertz", .number(ProfileLimits.publishedHertz), isRequired: true, "Frequency in hertz."),
    ProfileKey(
      "decibels", .number(ProfileLimits.response), isRequired: true,
      "The acceleration there, in decibels relative to any one level."),
  ])

  private static let thermal = ProfileFields(
    [
      ProfileKey(
        "coil", .number(ProfileLimits.coil), usual: usualThermal.coil,
        "Thermal time constant of the coil in seconds."),
      ProfileKey(
        "magnet", .number(ProfileLimits.magnet), usual: usualThermal.magnet,
        "Thermal time constant of magnet and case in seconds."),
      ProfileKey(
        "share", .number(ProfileLimits.share), usual: usualThermal.coilFraction,
        "Fraction of the final temperature rise due to the coil."),
    ], orders: [.init(low: "coil", high: "magnet")])

  private static let measured = ProfileFields([
    ProfileKey("date", .text, isRequired: true, "The day."),
    ProfileKey(
      "residual", .number(ProfileLimits.residual), isRequired: true,
      "Residual of the fit in decibels relative to the recording's power."),
    ProfileKey(
      "sensor", .word(TransducerMeasurement.Sensor.allCases.map(\.rawValue)), isRequired: true,
      "Quantity that the sensor measures."),
  ])

  /// The keys of `drive`.
  static let drive = ProfileFields([
    ProfileKey(
      "place", .boolean,
      "Whether frequencies are mapped into the band the hardware reproduces. Default: true."),
    ProfileKey(
      "reach", .number(ProfileLimits.reach), usual: usualDrive.reach,
      "Usable range in decibels below the most sensitive frequency."),
    ProfileKey(
      "equalise", .boolean,
      "Whether a filter equalises the resonance. Default: true if resonance and quality are "
        + "known."),
    ProfileKey(
      "boost", .number(ProfileLimits.boost), usual: usualDrive.boost,
      "Maximum boost of that filter in decibels."),
    ProfileKey(
      "damping", .number(ProfileLimits.damping), usual: usualDrive.damping,
      "Factor by which that filter increases the damping."),
    ProfileKey(
      "sensation", .boolean,
      "Whether equal intensity feels equally strong at every sharpness. Default: true if the response or a threshold curve is known."
    ),
    ProfileKey(
      "highPass", .number(ProfileLimits.hertz),
      "High-pass corner frequency in hertz. Default: half the lowest frequency."),
  ])

  /// The keys of `amplifier`.
  static let amplifier = ProfileFields([
    ProfileKey(
      "power", .number(ProfileLimits.power),
      "Power of a full-scale sine in watts. Default: the hardware's peak power, or twice its power."
    ),
    ProfileKey(
      "latency", .number(ProfileLimits.latency), "Latency from sample to movement in seconds."),
  ])

  private static let usualThermal = ThermalParameters()
  private static let usualDrive = DriveSettings()
}
