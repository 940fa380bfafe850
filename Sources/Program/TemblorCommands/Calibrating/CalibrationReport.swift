import CommandLineKit
import Glibc
import HapticPlayback
import HapticRender
import PatternComparison
import PatternWorkflows
import SignalPlots
import SoundFile
import SystemSupport
import TransducerCalibration
import TransducerProfiles

/// An entry of a calibration report, which becomes a row of the table, a property of the JSON
/// object, or both.
struct ReportEntry {
  var jsonKey: String
  var jsonValue: JSONElement?
  var tableRow: [String]?

  init(_ key: String, _ value: (any JSONRepresentable)?, tableRow: [String]? = nil) {
    self.jsonKey = key
    self.jsonValue = value?.json
    self.tableRow = tableRow
  }

  /// Returns a JSON object with the properties of the entries.
  static func jsonObject(of entries: [ReportEntry]) -> JSONObject {
    entries.reduce([:]) { $0 + [$1.jsonKey: $1.jsonValue] }
  }
}

/// The profile before and after a measurement changes it.
struct ProfileChange {
  let originalProfile: TransducerProfile
  let changedProfile: TransducerProfile
  private let outputPath: String?

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - old: The profile before the measurement.
  ///   - new: The measured profile, which is named after its output file if there is one.
  ///   - arguments: The parsed arguments.
  init(_ old: TransducerProfile, _ new: TransducerProfile, _ arguments: ParsedArguments) {
    var new = new
    outputPath = arguments.value("--output")
    let stem = outputPath.map(FileSystem.fileStem(of:)) ?? ""
    if ProfileName.isValid(stem) {
      new.name = stem
    }
    self.originalProfile = old
    self.changedProfile = new
  }

  /// Returns a table row for a hardware property, with its name and its values before and after the
  /// measurement.
  func tableRow(
    _ name: String, _ key: KeyPath<TransducerHardware, Double?>, _ unit: String,
    interval: Double? = nil
  ) -> [String] {
    let keys: [KeyPath<TransducerHardware, Double?>: String] = [
      \.resonanceHertz: "resonance", \.qualityFactor: "qualityFactor",
      \.accelerationInG: "acceleration",
    ]
    func cell(_ hardware: TransducerHardware?) -> String {
      guard let hardware, let value = hardware[keyPath: key] else { return "unknown" }
      let isEstimate = hardware.estimatedFigureNames.contains(keys[key] ?? "")
      return value.text(places: 3) + unit + (isEstimate ? " (estimate)" : "")
    }
    let tolerance = interval.map { " ± \(Self.percentage(ofInterval: $0)) %" } ?? ""
    return [name, cell(originalProfile.hardware), cell(changedProfile.hardware) + tolerance]
  }

  /// Returns a confidence interval as a percentage. An interval is never reported as 0.
  ///
  /// - Parameter interval: The half width of the interval, as a fraction.
  static func percentage(ofInterval interval: Double) -> String {
    interval < minimumReportedIntervalFraction
      ? "< \((minimumReportedIntervalFraction * 100).text(places: 1))"
      : (interval * 100).text(places: 2)
  }

  /// The minimum half width of a confidence interval that is reported as a number, as a fraction of
  /// the value.
  private static let minimumReportedIntervalFraction = 0.001

  /// Writes the changed profile if the options request it, and reports the measured values.
  ///
  /// - Parameters:
  ///   - heading: The heading of the column with measured values.
  ///   - entries: The values.
  ///   - sentences: The sentences below the table.
  ///   - arguments: The parsed arguments.
  ///   - terminal: The terminal for output.
  func writeReport(
    heading: String, entries: [ReportEntry], sentences: [String], arguments: ParsedArguments,
    terminal: Terminal
  ) throws {
    if let outputPath {
      try AtomicFileWriter.write(ProfileFile.write(changedProfile), to: outputPath)
    }
    if arguments.hasFlag("--json") {
      return try terminal.output.writeJSON(
        ["profile": changedProfile.name] + ReportEntry.jsonObject(of: entries))
    }
    let written =
      outputPath.map { "\($0.printable): written" }
      ?? "No profile was written; to write a profile, use '--output FILE'."
    let table = TextTable.lines(
      ofRows: [["", originalProfile.name, heading]] + entries.compactMap(\.tableRow))
    let lines = table + [""] + sentences + [written]
    try terminal.output.write(lines.map { $0 + "\n" }.joined())
  }
}

/// The report of a calibration, with values, sentences, and a plot.
struct CalibrationReport {
  let calibration: Calibration
  let profileChange: ProfileChange
  let latencySeconds: Double?
  let input: CalibrationInput

  /// The entries in the order of the table, each with a name, the value in the original profile,
  /// and the measured value.
  var reportEntries: [ReportEntry] {
    let measured = calibration
    let curve = calibration.responseCurve
    let before = profileChange.originalProfile.hardware
    let after = profileChange.changedProfile.hardware
    func band(_ band: ClosedRange<Double>) -> String {
      "\(band.lowerBound.text(places: 1)) to \(band.upperBound.text(places: 1)) Hz"
    }
    let ends = [" or lower", " or higher", " or wider"]
    let open = (curve.mayExtendBelow ? 1 : 0) + (curve.mayExtendAbove ? 2 : 0)
    let milliseconds = [profileChange.originalProfile.amplifier.latencySeconds, latencySeconds].map
    {
      $0.map { ($0 * 1_000).text(places: 3) + " ms" } ?? "unknown"
    }
    return [
      .init("recording", input.inputName),
      .init(
        "resonance", measured.resonanceHertz,
        tableRow: profileChange.tableRow(
          "resonance", \.resonanceHertz, " Hz", interval: measured.resonanceHalfWidthFraction)
      ),
      .init("resonanceInterval", measured.resonanceHalfWidthFraction),
      .init(
        "qualityFactor", measured.qualityFactor,
        tableRow: profileChange.tableRow(
          "quality", \.qualityFactor, "", interval: measured.qualityHalfWidthFraction)
      ),
      .init("qualityFactorInterval", measured.qualityHalfWidthFraction),
      .init(
        "band",
        JSONElement.inlineObject([
          "low": curve.bandHertz.lowerBound, "high": curve.bandHertz.upperBound,
        ]),
        tableRow: [
          "band, -10 dB", before?.bandHertz.map(band) ?? "unknown",
          band(curve.bandHertz) + (open > 0 ? ends[open - 1] : ""),
        ]),
      .init(
        "acceleration", after?.accelerationInG,
        tableRow: after?.accelerationInG.map { _ in
          profileChange.tableRow("acceleration", \.accelerationInG, " g")
        }
      ),
      .init("latency", latencySeconds, tableRow: ["latency"] + milliseconds),
      .init(
        "inverted", measured.isInverted,
        tableRow: ["polarity", "", measured.isInverted ? "inverted" : "normal"]),
      .init(
        "sensor", measured.sensorQuantity.rawValue,
        tableRow: ["sensor", "", measured.sensorQuantity.rawValue]),
      .init("gain", measured.fullScaleSineAmplitude), .init("offset", measured.signalStartSeconds),
      .init("inputCorner", measured.inputCornerHertz),
      .init("coilCorner", measured.coilCornerHertz), .init("residual", measured.residualDecibels),
      .init("noise", measured.noiseResidualDecibels),
      .init("signalToNoise", measured.signalToNoiseDecibels),
      .init("clockErrorPartsPerMillion", measured.clockErrorPartsPerMillion),
      .init("poor", measured.hasPoorFit),
      .init(
        "response",
        curve.profileResponsePoints.map {
          JSONElement.inlineObject(["hertz": $0.hertz, "decibels": $0.accelerationDecibels])
        }),
    ]
  }

  var reportSentences: [String] {
    let origin =
      input.referenceRecording != nil
      ? "The latency is measured from the reference channel to the movement."
      : "The latency excludes the delays reported by the devices, which can be off by one period."
    return [calibration.verdictSentence] + calibration.warningSentences
      + (latencySeconds == nil ? [] : [origin])
  }

  var responsePlot: ResponsePlot {
    let residual = calibration.residualDecibels.text(places: 1)
    return ResponsePlot(
      title: "\(profileChange.changedProfile.name): acceleration, measured and fitted",
      subtitle:
        """
        \(calibration.resonanceHertz.text(places: 2)) Hz, Q factor \
        \(calibration.qualityFactor.text(places: 2)), residual \
        \(residual.hasPrefix("-") ? "−" + residual.dropFirst() : residual) dB
        """,
      responsePoints: calibration.responseCurve.points.map {
        ResponsePlot.Point(
          hertz: $0.hertz, measured: $0.measuredDecibels, fitted: $0.fittedDecibels,
          residual: $0.residualDecibels)
      }, markedBandHertz: calibration.responseCurve.bandHertz)
  }
}

/// The report of a quick check, which shows how far a transducer has drifted from its profile.
struct DriftReport {
  let drift: CalibrationDrift
  let warnings: [String]
  let profileName: String
  let recordingName: String

  private var reportEntries: [ReportEntry] {
    let tolerance = drift.resonanceComparison.allowedMeasuredToStatedRatio.upperBound - 1
    let factor = drift.qualityFactorComparison.allowedMeasuredToStatedRatio.upperBound
    return [
      .init("recording", recordingName), .init("profile", profileName),
      reportEntry(
        "resonance", drift.resonanceComparison, unit: " Hz",
        allowed: "±\((tolerance * 100).text(places: 1)) %"),
      reportEntry(
        "qualityFactor", as: "quality", drift.qualityFactorComparison, unit: "",
        allowed: "within a factor of \(factor.text(places: 2))"),
      .init("within", drift.isWithinUncertainty), .init("warnings", warnings),
    ]
  }

  private func reportEntry(
    _ key: String, as label: String? = nil, _ comparison: CalibrationDrift.Comparison, unit: String,
    allowed: String
  ) -> ReportEntry {
    let change = (comparison.relativeChange * 100).text(places: 1)
    let measured = comparison.measuredValue.text(places: 2) + unit
    let interval = ProfileChange.percentage(ofInterval: comparison.intervalHalfWidthFraction)
    return ReportEntry(
      key,
      JSONElement.inlineObject([
        "stated": comparison.statedValue, "measured": comparison.measuredValue,
        "interval": comparison.intervalHalfWidthFraction,
        "change": comparison.relativeChange,
        "lowest": comparison.allowedMeasuredToStatedRatio.lowerBound,
        "highest": comparison.allowedMeasuredToStatedRatio.upperBound,
        "within": comparison.isWithinUncertainty,
      ]),
      tableRow: [
        label ?? key, comparison.statedValue.text(places: 2) + unit,
        "\(measured) ± \(interval) %",
        (change.hasPrefix("-") ? "" : "+") + change + " %", allowed,
      ])
  }

  var reportText: String {
    let table = TextTable.lines(
      ofRows: [["", profileName, "measured", "change", "profile value"]]
        + reportEntries.compactMap(\.tableRow))
    return (table + ["", verdictText] + warnings).map { $0 + "\n" }.joined()
  }

  private var verdictText: String {
    if drift.isWithinUncertainty { return "Both values are within the uncertainty of the profile." }
    let subject: String
    if drift.resonanceComparison.isWithinUncertainty {
      subject = "The Q factor is"
    } else if drift.qualityFactorComparison.isWithinUncertainty {
      subject = "The resonance is"
    } else {
      subject = "Both values are"
    }
    return subject + " outside the uncertainty of the profile; calibrate again without '--quick'."
  }

  var jsonFields: JSONObject { ReportEntry.jsonObject(of: reportEntries) }
}

/// The input of a measurement, recorded in channels of a file or by a capture.
struct CalibrationInput {
  let inputName: String
  let sensorRecording: CalibrationRecording
  /// The reference recording of the measurement signal itself, if there is one.
  let referenceRecording: CalibrationRecording?
  /// The position in the capture at which the device played the first sample of the signal, in
  /// seconds on the capture's clock; nil if it is unknown.
  let playbackStartSeconds: Double?

  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws {
    let path = arguments.value("RECORDING")
    let capture = arguments.value("--capture")
    guard (path == nil) != (capture == nil) else {
      throw UsageError("specify either RECORDING or '--capture'")
    }
    let channel = try arguments.integer("--sensor-channel", in: OutputRouting.channelCounts)
    let reference = try arguments.integer("--reference-channel", in: OutputRouting.channelCounts)
    if let channel, channel == reference {
      throw UsageError("'--reference-channel' and '--sensor-channel' must differ")
    }
    let name = FileSystem.displayName(of: path ?? capture ?? "")
    self.inputName = name
    let sound: Sound
    if let path {
      for option in ["--device", "--haptics", "--capture-channels"]
      where arguments.value(option) != nil && arguments.originsByOption[option] == nil {
        throw UsageError("'\(option)' requires '--capture'")
      }
      let descriptor = try FileSystem.openForReading(path)
      defer { close(descriptor) }
      sound = try SoundFileError.namingFileKind(of: path) { () throws(SoundFileError) in
        try Sound(readingDescriptor: descriptor, path: name)
      }
      playbackStartSeconds = nil
    } else {
      let minimum = max(channel ?? 1, reference ?? 1)
      let count =
        try arguments.integer("--capture-channels", in: OutputRouting.channelCounts) ?? minimum
      guard count >= minimum else {
        throw UsageError("channel \(minimum) is in use, but '--capture-channels' is \(count)")
      }
      try options.checkLimits()
      let player = try SweepPlayer(arguments, options: options, time: time)
      (sound, playbackStartSeconds) = try player.playAndRecord(from: name, channelCount: count)
    }
    sensorRecording = try Self.extractChannel(
      channel ?? (reference == 1 ? 2 : 1), of: sound, name: name)
    self.referenceRecording = try reference.map {
      try Self.extractChannel($0, of: sound, name: name)
    }
  }

  private static func extractChannel(
    _ number: Int, of sound: Sound, name: String
  ) throws -> CalibrationRecording {
    guard number <= sound.channelCount else {
      throw CalibrationFailure(
        name: name,
        error: CalibrationError(
          .unsuitableRecording,
          """
          has \(sound.channelCount.countText("channel")), but channel \(number) is selected
          """))
    }
    let samples = stride(
      from: number - 1, to: sound.frameCount * sound.channelCount, by: sound.channelCount
    ).map {
      sound.interleaved[$0]
    }
    return CalibrationRecording(samples: samples, sampleRate: sound.rate)
  }
}

/// A calibration error with the name of the recording.
struct CalibrationFailure: Error, Equatable, CustomStringConvertible {
  let name: String
  let error: CalibrationError

  var description: String { "\(name): \(error.description)" }
}

/// Determines the age of a profile's measurement, and suggests a check after several months.
enum CalibrationAge {
  /// The maximum age of a measurement, in days, before a check is suggested. Glue, springs, and
  /// mountings creep over months.
  static let maximumAgeDays = 180

  /// Returns the local date in the format of ISO 8601.
  static func todayText() -> String { CalendarTime.now.formatted("%Y-%m-%d", isLocal: true) }

  /// Returns a suggestion to check a profile with an old measurement, or nil. A date that is not in
  /// the format of ISO 8601 counts as recent.
  static func reminder(for profile: TransducerProfile, today: String = todayText()) -> String? {
    guard let date = profile.hardware?.measurement?.date, let measured = dayNumber(date),
      let now = dayNumber(today),
      now - measured > maximumAgeDays
    else { return nil }
    return
      """
      \(profile.name.printable): measured \(date.printable), \((now - measured) / 30) months \
      ago; \(quickCheckAdvice)
      """
  }

  /// The advice for a profile whose measured resonance may have drifted.
  static let quickCheckAdvice = "run 'temblor calibrate --quick' to check it in 5 s"

  /// Returns the number of days from a fixed day to a date `YYYY-MM-DD` in the Gregorian calendar,
  /// or nil.
  /// Years start in March, so that a leap day is the last day of a year.
  private static func dayNumber(_ date: String) -> Int? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
      0...9_999 ~= year, 1...12 ~= month, 1...31 ~= day
    else { return nil }
    let years = month > 2 ? year : year - 1
    let leapDays = years / 4 - years / 100 + years / 400
    let daysBeforeMonth = (153 * ((month + 9) % 12) + 2) / 5
    return 365 * years + leapDays + daysBeforeMonth + day
  }
}
