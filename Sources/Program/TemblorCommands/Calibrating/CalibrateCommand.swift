import CommandLineKit
import HapticPlayback
import HapticRender
import SignalPlots
import SystemSupport
import TransducerCalibration

enum CalibrateCommand {
  private static let sensorOption = Option(
    "--sensor", value: "KIND", help: "Quantity that the sensor measures.",
    defaultValueText: "the quantity that fits best"
  ).choice(of: TransducerMeasurement.SensorQuantity.self)

  static let definition = Command(
    "calibrate", abstract: "Measure a transducer with a sensor, with a resistor, or by hand.",
    discussion: """
      The command fits a resonance to a recording of the signal that 'temblor sweep' generates. \
      Use the same signal options for both commands. With --output, 'temblor calibrate' writes a \
      copy of the profile with the measured values. The command rejects an unsuitable recording, \
      and states the reason.

      METHODS
        --quick      Measure how much the resonance and the Q factor differ from the
                     values in the profile. The recording must contain the 5 s signal
                     of 'temblor sweep --quick'. The exit status is 3 if a difference
                     exceeds the uncertainty of the profile, and 0 otherwise. No
                     profile is written.
        --impedance  Measure with a resistor instead of a sensor. The resistor is in
                     series with the transducer. The line input records the voltage
                     across the resistor on --sensor-channel, and the output voltage
                     of the amplifier on --reference-channel.
                     Before you connect the resistor, read about the wiring in the
                     article TransducerCalibration: incorrect wiring short-circuits
                     the output of a bridged amplifier.
        --by-hand    Measure without a sensor. Six tones rise or fall slowly through
                     the resonance of the profile. Press the space bar when a tone
                     feels strongest. The Q factor of the profile is unchanged.
        --capture    Play and record the sweep at the same time.

      LATENCY
      Temblor cannot measure latency from the sensor channel alone. If a second channel contains \
      the signal itself (--reference-channel), Temblor measures latency with sub-frame accuracy. \
      With --capture but without --reference-channel, Temblor calculates latency from the clocks \
      of the devices, and the result is only as accurate as the delays that the devices report.
      """,
    arguments: [
      Argument(
        "RECORDING",
        help: """
          Recording of the complete signal, at any sample rate, or - for standard input.
          """,
        completion: .file(withExtension: "wav", "flac", "aiff", "caf"), isOptional: true)
    ],
    options: [
      SweepOptions.profileOption, SweepOptions.quickOption, ManualCalibrationCommand.byHandOption,
      Option(
        "-o", "--output", value: "FILE", help: "Write the calibrated profile to this file.",
        completion: .file(withExtension: "json"), writes: ["json"]),
      Option(
        "--plot", value: "FILE",
        help: "Plot the measurement, fit, and residual as png, svg, or pdf.",
        completion: .file(withExtension: "svg", "png", "pdf"), writes: ["png", "svg", "pdf"]),
      SharedOptions.jsonOption,
    ],
    optionGroups: [
      OptionGroup(
        "Recording",
        Option(
          "--sensor-channel", value: "N", help: "Channel of the sensor in the recording.",
          defaultValueText: "1, or 2 if --reference-channel is 1"),
        Option(
          "--reference-channel", value: "N",
          help: "Channel of the recording that contains the signal itself."), sensorOption,
        Option(
          "--impedance", value: "OHMS",
          help:
            """
            Measure impedance with a series resistor of this value, 0.001 to 100 ohms. The \
            recording contains the voltage across the resistor.
            """
        ),
        Option(
          "--full-scale", value: "G",
          help: """
            Acceleration at digital full scale, 0.001 to 10000 g.
            """),
        Option(
          "--accept-poor",
          help: """
            Accept a fit that is uncertain, depends on the level, or has a residual of up to 10 %.
            """),
        Option("--date", value: "TEXT", help: "Date of the measurement.", defaultValueText: "today")
      ),
      SweepOptions.optionGroup,
      OptionGroup(
        "Capture", Option("-c", "--capture", value: "NAME", help: "ALSA input device."),
        Option(
          "--capture-channels", value: "N", help: "Number of channels to record, 1 to 64.",
          defaultValueText: "the number of channels in use"), SweepCommand.hapticChannelsOption),
      DeviceOptions.optionGroup,
    ],
    examples: [
      .init(
        "temblor calibrate take.wav --profile dayton-bst-1 -o mine.json --plot fit.svg",
        "Calibrate a profile with a recording."),
      .init(
        "temblor calibrate --by-hand --profile dayton-bst-1 --device plughw:1 -o mine.json",
        "Find the resonance by touch: press the space bar when a tone feels strongest."),
      .init(
        """
        temblor calibrate take.wav --impedance 0.47 --sensor-channel 1 --reference-channel 2 \
        --profile puck -o mine.json
        """,
        "Measure with a resistor instead of a sensor."),
      .init(
        "temblor calibrate --quick take.wav --profile mine.json",
        "Check whether a profile is still accurate, with a 5 s signal."),
      .init(
        """
        temblor calibrate --profile puck --device plughw:1 --capture plughw:1 --sensor-channel 1 \
        --reference-channel 2 -o mine.json
        """,
        "Play, record, and measure, including latency."),
    ]
  ) { arguments, terminal in try run(arguments, terminal, on: SystemEnvironment()) }

  /// The range of plausible latencies, in seconds. Sound servers and networks add up to 3 s.
  private static let plausibleLatencySecondsRange = 0.0...3.1

  /// Returns the latency of the signal path, in seconds, or nil without a reference.
  ///
  /// - Parameters:
  ///   - calibration: The calibration.
  ///   - signal: The measurement signal.
  ///   - input: The recording with its reference.
  /// - Throws: `unsuitableRecording` for an implausible latency.
  private static func measureLatencySeconds(
    of calibration: Calibration, signal: SweepSignal, in input: CalibrationInput
  ) throws(CalibrationError) -> Double? {
    let playbackStartSeconds: Double
    if let referenceRecording = input.referenceRecording {
      playbackStartSeconds = try ReferenceDelay(measuring: referenceRecording, of: signal)
        .signalStartSeconds
    } else if let statedStartSeconds = input.playbackStartSeconds {
      playbackStartSeconds = statedStartSeconds
    } else {
      return nil
    }
    let latencySeconds = calibration.signalStartSeconds - playbackStartSeconds
    guard plausibleLatencySecondsRange.contains(latencySeconds) else {
      let milliseconds = (abs(latencySeconds) * 1_000).text(places: 2)
      throw CalibrationError(
        .unsuitableRecording,
        """
        the movement starts \(milliseconds) ms \(latencySeconds < 0 ? "before" : "after") \
        the signal; check '--sensor-channel' and '--reference-channel'
        """)
    }
    return latencySeconds
  }

  /// Runs the command. Only calibration by hand plays through the environment's outputs.
  ///
  /// - Parameters:
  ///   - arguments: The parsed arguments.
  ///   - terminal: The terminal for output.
  ///   - environment: The playback environment.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    for option in ["--output", "--plot"] {
      try OutputPaths.requireFile(arguments.value(option), option: option)
    }
    let options = try SweepOptions(arguments)
    if let outputPath = arguments.value("--output"), let profilePath = options.profilePath {
      try InputOverwriteCheck(reading: [profilePath]).checkOutputPath(
        outputPath, option: "--output")
    }
    let dateText = arguments.value("--date") ?? CalibrationAge.todayText()
    if arguments.hasFlag("--by-hand") {
      return try ManualCalibrationCommand.run(
        arguments, terminal, options, date: dateText, on: environment)
    }
    if let resistorOhms = try arguments.number("--impedance", in: 0.001...100) {
      return try measureImpedance(
        resistor: resistorOhms, arguments: arguments, terminal: terminal, options: options,
        date: dateText,
        time: environment.time)
    }
    if options.isQuick {
      try SharedOptions.refuseOptions(
        ["--output", "--plot", "--full-scale", "--date"], with: "--quick", in: arguments)
    }
    let sensors =
      try arguments[sensorOption].map { [$0] } ?? TransducerMeasurement.SensorQuantity.allCases
    let fullScaleValue = try arguments.number("--full-scale", in: 0.001...10_000)
    let calibrationInput = try CalibrationInput(arguments, options: options, time: environment.time)
    let calibration: Calibration
    let latencySeconds: Double?
    do {
      calibration = try Calibration(
        measuring: calibrationInput.sensorRecording, of: options.sweepSignal, sensors: sensors,
        acceptsPoorFit: arguments.hasFlag("--accept-poor"))
      latencySeconds = try Self.measureLatencySeconds(
        of: calibration, signal: options.sweepSignal, in: calibrationInput)
    } catch {
      throw CalibrationFailure(name: calibrationInput.inputName, error: error)
    }
    let oldProfile = options.profile
    if options.isQuick, let drift = CalibrationDrift(calibration, from: oldProfile) {
      let report = DriftReport(
        drift: drift, warnings: calibration.warningSentences, profileName: oldProfile.name,
        recordingName: calibrationInput.inputName)
      try terminal.output.write(arguments, json: report.jsonFields, text: report.reportText)
      return drift.isWithinUncertainty ? .success : .exceedsTolerance
    }
    let newProfile = calibration.applied(
      to: oldProfile,
      in: Calibration.Conditions(
        dateText: dateText, latency: latencySeconds, fullScale: fullScaleValue))
    let profileChange = ProfileChange(oldProfile, newProfile, arguments)
    let report = CalibrationReport(
      calibration: calibration, profileChange: profileChange, latencySeconds: latencySeconds,
      input: calibrationInput)
    if let plotPath = arguments.value("--plot"), let format = PlotFormat(ofName: plotPath) {
      try AtomicFileWriter.write(report.responsePlot.draw(as: format), to: plotPath)
    }
    try profileChange.writeReport(
      heading: "measured", entries: report.reportEntries, sentences: report.reportSentences,
      arguments: arguments, terminal: terminal)
    return .success
  }

  private static func measureImpedance(
    resistor: Double, arguments: ParsedArguments, terminal: Terminal, options: SweepOptions,
    date: String, time: any TimeSource
  ) throws -> ExitStatus {
    try SharedOptions.refuseOptions(
      ["--quick", "--plot", "--sensor", "--full-scale", "--accept-poor"], with: "--impedance",
      in: arguments)
    let calibrationInput = try CalibrationInput(arguments, options: options, time: time)
    let oldProfile = options.profile
    let measurement: ImpedanceMeasurement
    do throws(CalibrationError) {
      measurement = try ImpedanceMeasurement(
        measuring: calibrationInput.sensorRecording, reference: calibrationInput.referenceRecording,
        of: options.sweepSignal, resistor: resistor,
        nominal: oldProfile.hardware?.impedanceOhms)
    } catch {
      throw CalibrationFailure(name: calibrationInput.inputName, error: error)
    }
    let profileChange = ProfileChange(
      oldProfile, measurement.applied(to: oldProfile, date: date), arguments)
    func valueRow(_ name: String, _ value: Double, _ unit: String) -> [String] {
      [name, "", value.text(places: 2) + unit]
    }
    let warnings = measurement.resistanceWarning.map { [$0] } ?? []
    try profileChange.writeReport(
      heading: "measured",
      entries: [
        .init("recording", calibrationInput.inputName),
        .init(
          "resonance", measurement.resonanceHertz,
          tableRow: profileChange.tableRow(
            "resonance", \.resonanceHertz, " Hz",
            interval: measurement.resonanceIntervalHalfWidthFraction)),
        .init("resonanceInterval", measurement.resonanceIntervalHalfWidthFraction),
        .init(
          "qualityFactor", measurement.qualityFactor,
          tableRow: profileChange.tableRow(
            "quality", \.qualityFactor, "",
            interval: measurement.qualityIntervalHalfWidthFraction)),
        .init("qualityFactorInterval", measurement.qualityIntervalHalfWidthFraction),
        .init(
          "mechanicalQualityFactor", measurement.mechanicalQualityFactor,
          tableRow: valueRow("- mechanical", measurement.mechanicalQualityFactor, "")),
        .init(
          "electricalQualityFactor", measurement.electricalQualityFactor,
          tableRow: valueRow("- electrical", measurement.electricalQualityFactor, "")),
        .init(
          "coilResistance", measurement.coilOhms,
          tableRow: valueRow(
            "resistance", measurement.coilOhms,
            calibrationInput.referenceRecording == nil ? " ohm (estimate)" : " ohm")),
        .init(
          "inductance", measurement.coilHenries,
          tableRow: valueRow("inductance", measurement.coilHenries * 1_000, " mH")),
        .init("residual", measurement.fitResidualDecibels),
        .init("warnings", warnings),
      ],
      sentences: [
        "The Q factor excludes the resistor, and assumes an amplifier with zero output resistance."
      ] + warnings,
      arguments: arguments, terminal: terminal)
    return .success
  }
}
