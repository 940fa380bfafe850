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
    let outputStem = outputPath.map(FileSystem.fileStem(of:)) ?? ""
    if ProfileName.isValid(outputStem) {
      new.name = outputStem
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
    let figureNamesByKeyPath: [KeyPath<TransducerHardware, Double?>: String] = [
      \.resonanceHertz: "resonance", \.qualityFactor: "qualityFactor",
      \.maximumAccelerationInG: "acceleration",
    ]
    func cellText(_ hardware: TransducerHardware?) -> String {
      guard let hardware, let value = hardware[keyPath: key] else { return "unknown" }
      let isEstimate = hardware.estimatedValueKeys.contains(figureNamesByKeyPath[key] ?? "")
      return value.text(places: 3) + unit + (isEstimate ? " (estimate)" : "")
    }
    let toleranceText = interval.map { " ± \(Self.percentText(ofIntervalHalfWidth: $0)) %" } ?? ""
    return [
      name, cellText(originalProfile.hardware), cellText(changedProfile.hardware) + toleranceText,
    ]
  }

  /// Returns a confidence interval as a percentage. An interval is never reported as 0.
  ///
  /// - Parameter interval: The half width of the interval, as a fraction.
  static func percentText(ofIntervalHalfWidth interval: Double) -> String {
    interval < minimumReportedHalfWidthFraction
      ? "< \((minimumReportedHalfWidthFraction * 100).text(places: 1))"
      : (interval * 100).text(places: 2)
  }

  /// The minimum half width of a confidence interval that is reported as a number, as a fraction of
  /// the value.
  private static let minimumReportedHalfWidthFraction = 0.001

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
    let outputSentence =
      outputPath.map { "\($0.printable): written" }
      ?? "No profile was written; to write a profile, use '--output FILE'."
    let tableLines = TextTable.lines(
      ofRows: [["", originalProfile.name, heading]] + entries.compactMap(\.tableRow))
    let reportLines = tableLines + [""] + sentences + [outputSentence]
    try terminal.output.write(reportLines.map { $0 + "\n" }.joined())
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
    let responseCurve = calibration.responseCurve
    let originalHardware = profileChange.originalProfile.hardware
    let changedHardware = profileChange.changedProfile.hardware
    func bandText(_ band: ClosedRange<Double>) -> String {
      "\(band.lowerBound.text(places: 1)) to \(band.upperBound.text(places: 1)) Hz"
    }
    let openEndTexts = [" or lower", " or higher", " or wider"]
    let openEndIndex =
      (responseCurve.bandMayExtendBelowMeasurement ? 1 : 0)
      + (responseCurve.bandMayExtendAboveMeasurement ? 2 : 0)
    let latencyTexts = [profileChange.originalProfile.amplifier.latencySeconds, latencySeconds].map
    {
      $0.map { ($0 * 1_000).text(places: 3) + " ms" } ?? "unknown"
    }
    return [
      .init("recording", input.inputName),
      .init(
        "resonance", measured.resonanceHertz,
        tableRow: profileChange.tableRow(
          "resonance", \.resonanceHertz, " Hz",
          interval: measured.resonanceIntervalHalfWidthFraction)
      ),
      .init("resonanceInterval", measured.resonanceIntervalHalfWidthFraction),
      .init(
        "qualityFactor", measured.qualityFactor,
        tableRow: profileChange.tableRow(
          "quality", \.qualityFactor, "", interval: measured.qualityIntervalHalfWidthFraction)
      ),
      .init("qualityFactorInterval", measured.qualityIntervalHalfWidthFraction),
      .init(
        "band",
        JSONElement.inlineObject([
          "low": responseCurve.bandHertz.lowerBound, "high": responseCurve.bandHertz.upperBound,
        ]),
        tableRow: [
          "band, -10 dB", originalHardware?.bandHertz.map(bandText) ?? "unknown",
          bandText(responseCurve.bandHertz)
            + (openEndIndex > 0 ? openEndTexts[openEndIndex - 1] : ""),
        ]),
      .init(
        "acceleration", changedHardware?.maximumAccelerationInG,
        tableRow: changedHardware?.maximumAccelerationInG.map { _ in
          profileChange.tableRow("acceleration", \.maximumAccelerationInG, " g")
        }
      ),
      .init("latency", latencySeconds, tableRow: ["latency"] + latencyTexts),
      .init(
        "inverted", measured.hasInvertedPolarity,
        tableRow: ["polarity", "", measured.hasInvertedPolarity ? "inverted" : "normal"]),
      .init(
        "sensor", measured.sensorQuantity.rawValue,
        tableRow: ["sensor", "", measured.sensorQuantity.rawValue]),
      .init("gain", measured.fullScaleSineAmplitude), .init("offset", measured.signalStartSeconds),
      .init("inputCorner", measured.recorderHighPassCornerHertz),
      .init("coilCorner", measured.coilCornerHertz),
      .init("residual", measured.fitResidualDecibels),
      .init("noise", measured.residualFromNoiseDecibels),
      .init("signalToNoise", measured.signalToNoiseDecibels),
      .init("clockErrorPartsPerMillion", measured.clockErrorPartsPerMillion),
      .init("poor", measured.hasPoorFit),
      .init(
        "response",
        responseCurve.profileResponsePoints.map {
          JSONElement.inlineObject(["hertz": $0.hertz, "decibels": $0.relativeAccelerationDecibels])
        }),
    ]
  }

  var reportSentences: [String] {
    let latencySentence =
      input.referenceRecording != nil
      ? "The latency is measured from the reference channel to the movement."
      : "The latency excludes the delays reported by the devices, which can be off by one period."
    return [calibration.verdictSentence] + calibration.warningSentences
      + (latencySeconds == nil ? [] : [latencySentence])
  }

  var responsePlot: ResponsePlot {
    let magnitudeText = abs(calibration.fitResidualDecibels).text(places: 1)
    let residualDecibelsText = (calibration.fitResidualDecibels < 0 ? "−" : "") + magnitudeText
    return ResponsePlot(
      title: "\(profileChange.changedProfile.name): acceleration, measured and fitted",
      subtitle:
        """
        \(calibration.resonanceHertz.text(places: 2)) Hz, Q factor \
        \(calibration.qualityFactor.text(places: 2)), residual \
        \(residualDecibelsText) dB
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
    let resonanceTolerance = drift.resonanceComparison.allowedMeasuredToStatedRatio.upperBound - 1
    let qualityFactorRatio = drift.qualityFactorComparison.allowedMeasuredToStatedRatio.upperBound
    return [
      .init("recording", recordingName), .init("profile", profileName),
      reportEntry(
        "resonance", drift.resonanceComparison, unit: " Hz",
        allowed: "±\((resonanceTolerance * 100).text(places: 1)) %"),
      reportEntry(
        "qualityFactor", as: "quality", drift.qualityFactorComparison, unit: "",
        allowed: "within a factor of \(qualityFactorRatio.text(places: 2))"),
      .init("within", drift.isWithinUncertainty), .init("warnings", warnings),
    ]
  }

  private func reportEntry(
    _ key: String, as label: String? = nil, _ comparison: CalibrationDrift.Comparison, unit: String,
    allowed: String
  ) -> ReportEntry {
    let changePercentText = (comparison.relativeChange * 100).text(places: 1)
    let measuredText = comparison.measuredValue.text(places: 2) + unit
    let intervalPercentText = ProfileChange.percentText(
      ofIntervalHalfWidth: comparison.intervalHalfWidthFraction)
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
        "\(measuredText) ± \(intervalPercentText) %",
        (changePercentText.hasPrefix("-") ? "" : "+") + changePercentText + " %", allowed,
      ])
  }

  var reportText: String {
    let tableLines = TextTable.lines(
      ofRows: [["", profileName, "measured", "change", "profile value"]]
        + reportEntries.compactMap(\.tableRow))
    return (tableLines + ["", verdictText] + warnings).map { $0 + "\n" }.joined()
  }

  private var verdictText: String {
    if drift.isWithinUncertainty { return "Both values are within the uncertainty of the profile." }
    let verdictSubject: String
    if drift.resonanceComparison.isWithinUncertainty {
      verdictSubject = "The Q factor is"
    } else if drift.qualityFactorComparison.isWithinUncertainty {
      verdictSubject = "The resonance is"
    } else {
      verdictSubject = "Both values are"
    }
    return verdictSubject
      + " outside the uncertainty of the profile; calibrate again without '--quick'."
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
    let recordingPath = arguments.value("RECORDING")
    let captureDevice = arguments.value("--capture")
    guard (recordingPath == nil) != (captureDevice == nil) else {
      throw UsageError("specify either RECORDING or '--capture'")
    }
    let sensorChannelNumber = try arguments.integer(
      "--sensor-channel", in: OutputRouting.channelCounts)
    let referenceChannelNumber = try arguments.integer(
      "--reference-channel", in: OutputRouting.channelCounts)
    if let sensorChannelNumber, sensorChannelNumber == referenceChannelNumber {
      throw UsageError("'--reference-channel' and '--sensor-channel' must differ")
    }
    let sourceName = FileSystem.displayName(of: recordingPath ?? captureDevice ?? "")
    self.inputName = sourceName
    let recordedSound: Sound
    if let recordingPath {
      for option in ["--device", "--haptics", "--capture-channels"]
      where arguments.value(option) != nil && arguments.defaultOriginsByOption[option] == nil {
        throw UsageError("'\(option)' requires '--capture'")
      }
      let descriptor = try FileSystem.openForReading(recordingPath)
      defer { close(descriptor) }
      recordedSound = try SoundFileError.namingFileKind(of: recordingPath) {
        () throws(SoundFileError) in
        try Sound(readingDescriptor: descriptor, path: sourceName)
      }
      playbackStartSeconds = nil
    } else {
      let minimum = max(sensorChannelNumber ?? 1, referenceChannelNumber ?? 1)
      let count =
        try arguments.integer("--capture-channels", in: OutputRouting.channelCounts) ?? minimum
      guard count >= minimum else {
        throw UsageError("channel \(minimum) is in use, but '--capture-channels' is \(count)")
      }
      try options.checkTransducerLimits()
      let player = try SweepPlayer(arguments, options: options, time: time)
      (recordedSound, playbackStartSeconds) = try player.playAndRecord(
        from: sourceName, channelCount: count)
    }
    sensorRecording = try Self.extractChannel(
      sensorChannelNumber ?? (referenceChannelNumber == 1 ? 2 : 1), of: recordedSound,
      name: sourceName)
    self.referenceRecording = try referenceChannelNumber.map {
      try Self.extractChannel($0, of: recordedSound, name: sourceName)
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
    let channelSamples = stride(
      from: number - 1, to: sound.frameCount * sound.channelCount, by: sound.channelCount
    ).map {
      sound.interleaved[$0]
    }
    return CalibrationRecording(samples: channelSamples, sampleRate: sound.rate)
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
    let dateParts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard dateParts.count == 3, let year = dateParts[0], let month = dateParts[1],
      let day = dateParts[2],
      0...9_999 ~= year, 1...12 ~= month, 1...31 ~= day
    else { return nil }
    let completeYearCount = month > 2 ? year : year - 1
    let leapDayCount = completeYearCount / 4 - completeYearCount / 100 + completeYearCount / 400
    let dayCountBeforeMonth = (153 * ((month + 9) % 12) + 2) / 5
    return 365 * completeYearCount + leapDayCount + dayCountBeforeMonth + day
  }
}
