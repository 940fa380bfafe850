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
      "Greatest movement to one side in millimetres. Usual: what peak power makes in the band."),
    ProfileKey(
      "response", .list(.object(point), count: ProfileLimits.pointCount),
      "Measured acceleration, by rising hertz; it goes before the resonance."),
    ProfileKey("thermal", .object(thermal), "How it warms."),
  ]

  /// The names of those figures.
  static let figureNames = figures.map(\.name)

  /// The keys of `hardware`.
  static let hardware = ProfileFields(
    [ProfileKey("product", .text, isRequired: true, "The maker and model.")] + figures + [
      ProfileKey("measured", .object(measured), "How figures were measured, where they were."),
      ProfileKey(
        "estimated", .list(.word(figureNames)),
        "The figures above that are estimates, not the maker's."),
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
        "Seconds in which the coil warms by 63 % of its share."),
      ProfileKey(
        "magnet", .number(ProfileLimits.magnet), usual: usualThermal.magnet,
        "Seconds in which the magnet and the case do."),
      ProfileKey(
        "share", .number(ProfileLimits.share), usual: usualThermal.coilShare,
        "The coil's share of the final rise."),
    ], orders: [.init(low: "coil", high: "magnet")])

  private static let measured = ProfileFields([
    ProfileKey("date", .text, isRequired: true, "The day."),
    ProfileKey(
      "residual", .number(ProfileLimits.residual), isRequired: true,
      "What the fit leaves unexplained, in decibels of the recording's power."),
    ProfileKey(
      "sensor", .word(Measurement.Sensor.allCases.map(\.rawValue)), isRequired: true,
      "What the recording is in proportion to."),
  ])

  /// The keys of `drive`.
  static let drive = ProfileFields([
    ProfileKey(
      "place", .boolean,
      "Whether frequencies are narrowed to what the hardware makes felt. Usual: true."),
    ProfileKey(
      "reach", .number(ProfileLimits.reach), usual: usualDrive.reach,
      "Decibels below the best frequency that are still used."),
    ProfileKey(
      "equalise", .boolean,
      "Whether the resonance is undone by a filter. Usual: true where resonance and quality are "
        + "known."),
    ProfileKey(
      "boost", .number(ProfileLimits.boost), usual: usualDrive.boost,
      "The most decibels by which that filter raises the drive."),
    ProfileKey(
      "damping", .number(ProfileLimits.damping), usual: usualDrive.damping,
      "How many times as damped the hardware appears behind that filter."),
    ProfileKey(
      "sensation", .boolean,
      "Whether equal intensity is felt equally at each sharpness. Usual: true where the response "
        + "or a threshold curve is known."),
    ProfileKey(
      "highPass", .number(ProfileLimits.hertz),
      "Hertz below which nothing is driven. Usual: half the lowest frequency."),
  ])

  /// The keys of `amplifier`.
  static let amplifier = ProfileFields([
    ProfileKey(
      "power", .number(ProfileLimits.power),
      "Watts that a full-scale sine delivers. Usual: the hardware's peak power, or twice its power."
    ),
    ProfileKey(
      "latency", .number(ProfileLimits.latency), "Seconds from a sample to its movement."),
  ])

  private static let usualThermal = ThermalFigures()
  private static let usualDrive = DriveLaw()
}
