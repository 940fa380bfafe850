import Glibc

/// A figure of a report: its row of the table, its member of the object, or both.
struct ReportEntry {
  var key: String
  var value: JSONElement?
  var row: [String]?

  init(_ key: String, _ value: (any JSONRepresentable)?, row: [String]? = nil) {
    self.key = key
    self.value = value?.json
    self.row = row
  }

  static func jsonObject(of figures: [ReportEntry]) -> JSONObject {
    figures.reduce([:]) { $0 + [$1.key: $1.value] }
  }
}

/// A profile and what a measurement makes of it.
struct ProfileChange {
  let old: TransducerProfile
  let new: TransducerProfile
  private let outputPath: String?

  /// - Parameter new: Takes the name of the file that it is written to, where one is asked for.
  init(_ old: TransducerProfile, _ new: TransducerProfile, _ arguments: ParsedArguments) {
    var new = new
    outputPath = arguments.value("--output")
    let stem = outputPath.map(FileSystem.stem(of:)) ?? ""
    if ProfileName.isValid(stem) {
      new.name = stem
    }
    self.old = old
    self.new = new
  }

  /// A row of the table: a name, what the profile said, what it says.
  func row(
    _ name: String, _ key: KeyPath<TransducerHardware, Double?>, _ unit: String,
    interval: Double? = nil
  )
    -> [String]
  {
    let keys: [KeyPath<TransducerHardware, Double?>: String] = [
      \.resonance: "resonance", \.qualityFactor: "qualityFactor", \.acceleration: "acceleration",
    ]
    func cell(_ hardware: TransducerHardware?) -> String {
      guard let hardware, let value = hardware[keyPath: key] else { return "unknown" }
      let isEstimate = hardware.estimated.contains(keys[key] ?? "")
      return value.text(places: 3) + unit + (isEstimate ? " (estimate)" : "")
    }
    return [
      name, cell(old.hardware),
      cell(new.hardware) + (interval.map { " ± \(($0 * 100).text(places: 2)) %" } ?? ""),
    ]
  }

  /// Writes the profile where that is asked for, and shows the figures, a table with a heading and
  /// sentences below it.
  func writeReport(
    heading: String, entries figures: [ReportEntry], sentences: [String],
    arguments: ParsedArguments,
    terminal: Terminal
  ) throws {
    if let outputPath {
      try AtomicFileWriter.write(ProfileFile.write(new), to: outputPath)
    }
    if arguments.flag("--json") {
      return try terminal.output.write(
        json: ["profile": new.name] + ReportEntry.jsonObject(of: figures))
    }
    let written =
      outputPath.map { "\($0.printable): written" }
      ?? "No profile was written; use '--output FILE' to write one."
    let lines =
      TextTable.lines([["", old.name, heading]] + figures.compactMap(\.row)) + [""] + sentences + [
        written
      ]
    try terminal.output.write(lines.map { $0 + "\n" }.joined())
  }
}

/// What was measured, as figures, as sentences and as a picture.
struct CalibrationReport {
  let calibration: Calibration
  let change: ProfileChange
  let latency: Double?
  let input: CalibrationInput

  /// All figures in the order of the table: a name, what the profile said, what was measured.
  var entries: [ReportEntry] {
    let measured = calibration
    let curve = calibration.curve
    let before = change.old.hardware
    let after = change.new.hardware
    func band(_ band: ClosedRange<Double>) -> String {
      "\(band.lowerBound.text(places: 1)) to \(band.upperBound.text(places: 1)) Hz"
    }
    let ends = [" or lower", " or higher", " or wider"]
    let open = (curve.mayExtendBelow ? 1 : 0) + (curve.mayExtendAbove ? 2 : 0)
    let milliseconds = [change.old.amplifier.latency, latency].map {
      $0.map { ($0 * 1_000).text(places: 3) + " ms" } ?? "unknown"
    }
    return [
      .init("recording", input.name),
      .init(
        "resonance", measured.resonance,
        row: change.row("resonance", \.resonance, " Hz", interval: measured.resonanceInterval)),
      .init("resonanceInterval", measured.resonanceInterval),
      .init(
        "qualityFactor", measured.qualityFactor,
        row: change.row("quality", \.qualityFactor, "", interval: measured.qualityInterval)),
      .init("qualityFactorInterval", measured.qualityInterval),
      .init(
        "band",
        JSONElement.inlineObject(["low": curve.band.lowerBound, "high": curve.band.upperBound]),
        row: [
          "band, -10 dB", before?.band.map(band) ?? "unknown",
          band(curve.band) + (open > 0 ? ends[open - 1] : ""),
        ]),
      .init(
        "acceleration", after?.acceleration,
        row: after?.acceleration.map { _ in change.row("acceleration", \.acceleration, " g") }),
      .init("latency", latency, row: ["latency"] + milliseconds),
      .init(
        "inverted", measured.isInverted,
        row: ["polarity", "", measured.isInverted ? "inverted" : "normal"]),
      .init("sensor", measured.sensor.rawValue, row: ["sensor", "", measured.sensor.rawValue]),
      .init("gain", measured.gain), .init("offset", measured.offset),
      .init("inputCorner", measured.inputCorner),
      .init("coilCorner", measured.coilCorner), .init("residual", measured.residual),
      .init("noise", measured.noise),
      .init("signalToNoise", measured.signalToNoise),
      .init("clockErrorPartsPerMillion", measured.clockErrorPartsPerMillion),
      .init("poor", measured.isPoorFit),
      .init(
        "response",
        curve.response.map {
          JSONElement.inlineObject(["hertz": $0.hertz, "decibels": $0.decibels])
        }),
    ]
  }

  var sentences: [String] {
    let origin =
      input.reference != nil
      ? "The latency is from the reference channel to the movement."
      : "The latency excludes the delays reported by the devices, which can be off by one period."
    return [calibration.verdict] + calibration.warnings + (latency == nil ? [] : [origin])
  }

  var plot: ResponsePlot {
    let residual = calibration.residual.text(places: 1)
    return ResponsePlot(
      title: "\(change.new.name): acceleration, measured and fitted",
      subtitle:
        """
        \(calibration.resonance.text(places: 2)) Hz, quality \(calibration.qualityFactor.text(places: 2)), \
        residual 
        """
          + "\(residual.hasPrefix("-") ? "−" + residual.dropFirst() : residual) dB",
      points: calibration.curve.points.map {
        ResponsePlot.Point(
          hertz: $0.hertz, measured: $0.measured, fitted: $0.fitted, residual: $0.residual)
      }, band: calibration.curve.band)
  }
}

/// How far a transducer has moved from its profile, as text and as JSON.
struct DriftReport {
  let drift: CalibrationDrift
  let warnings: [String]
  let profileName: String
  let recordingName: String

  private var entries: [ReportEntry] {
    let doubt = drift.resonance.allowedRatio.upperBound - 1
    let factor = drift.qualityFactor.allowedRatio.upperBound
    return [
      .init("recording", recordingName), .init("profile", profileName),
      entry(
        "resonance", drift.resonance, unit: " Hz", allowed: "±\((doubt * 100).text(places: 1)) %"),
      entry(
        "qualityFactor", as: "quality", drift.qualityFactor, unit: "",
        allowed: "within a factor of \(factor.text(places: 2))"),
      .init("within", drift.isWithinUncertainty), .init("warnings", warnings),
    ]
  }

  private func entry(
    _ key: String, as label: String? = nil, _ figure: CalibrationDrift.Comparison, unit: String,
    allowed: String
  ) -> ReportEntry {
    let change = (figure.relativeChange * 100).text(places: 1)
    return ReportEntry(
      key,
      JSONElement.inlineObject([
        "stated": figure.stated, "measured": figure.measured, "interval": figure.interval,
        "change": figure.relativeChange,
        "lowest": figure.allowedRatio.lowerBound, "highest": figure.allowedRatio.upperBound,
        "within": figure.isWithinUncertainty,
      ]),
      row: [
        label ?? key, figure.stated.text(places: 2) + unit,
        "\(figure.measured.text(places: 2))\(unit) ± \((figure.interval * 100).text(places: 2)) %",
        (change.hasPrefix("-") ? "" : "+") + change + " %", allowed,
      ])
  }

  var text: String {
    let table = TextTable.lines(
      [["", profileName, "measured", "change", "profile states"]] + entries.compactMap(\.row))
    return (table + ["", verdict] + warnings).map { $0 + "\n" }.joined()
  }

  private var verdict: String {
    if drift.isWithinUncertainty { return "Both are within what the profile states." }
    let moved =
      drift.resonance.isWithinUncertainty
      ? "The quality is" : drift.qualityFactor.isWithinUncertainty ? "The resonance is" : "Both are"
    return moved + " beyond what the profile states; calibrate again without '--quick'."
  }

  var fields: JSONObject { ReportEntry.jsonObject(of: entries) }
}

/// What a transducer is measured from: channels of a file, or of what was recorded just now.
struct CalibrationInput {
  let name: String
  let sensor: CalibrationRecording
  /// The channel that recorded the signal itself, where there is one.
  let reference: CalibrationRecording?
  /// The second of the recording at which the signal's first sample left the device, by its clock.
  let origin: Double?

  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws {
    let path = arguments.value("RECORDING")
    let capture = arguments.value("--capture")
    guard (path == nil) != (capture == nil) else {
      throw UsageError("use either RECORDING or '--capture'")
    }
    let channel = try arguments.int("--channel", in: OutputRouting.channelCounts)
    let reference = try arguments.int("--reference", in: OutputRouting.channelCounts)
    if let channel, channel == reference {
      throw UsageError("'--reference' and '--channel' must differ")
    }
    let name = path ?? capture ?? ""
    self.name = name
    let sound: Sound
    if let path {
      for option in ["--device", "--play-channel", "--capture-channels"]
      where arguments.value(option) != nil && arguments.origins[option] == nil {
        throw UsageError("'\(option)' requires '--capture'")
      }
      let descriptor = try FileSystem.open(path)
      defer { close(descriptor) }
      sound = try Sound(readingDescriptor: descriptor, path: path)
      origin = nil
    } else {
      let least = max(channel ?? 1, reference ?? 1)
      let count = try arguments.int("--capture-channels", in: OutputRouting.channelCounts) ?? least
      guard count >= least else {
        throw UsageError("channel \(least) is used, but '--capture-channels' is \(count)")
      }
      try options.checkLimits()
      let player = try SweepPlayer(arguments, options: options, time: time)
      (sound, origin) = try player.record(from: name, channelCount: count)
    }
    sensor = try Self.channel(channel ?? (reference == 1 ? 2 : 1), of: sound, name: name)
    self.reference = try reference.map { try Self.channel($0, of: sound, name: name) }
  }

  private static func channel(_ number: Int, of sound: Sound, name: String) throws
    -> CalibrationRecording
  {
    guard number <= sound.channelCount else {
      throw CalibrationFailure(
        name: name,
        error: CalibrationError(
          .unsuitableRecording,
          "has no channel \(number); it has only "
            + (sound.channelCount == 1 ? "one" : "\(sound.channelCount)")))
    }
    let samples = stride(
      from: number - 1, to: sound.frameCount * sound.channelCount, by: sound.channelCount
    ).map {
      sound.interleaved[$0]
    }
    return CalibrationRecording(samples: samples, rate: sound.rate)
  }
}

struct CalibrationFailure: Error, Equatable, CustomStringConvertible {
  let name: String
  let error: CalibrationError

  var description: String { "\(name): \(error.description)" }
}

enum CalibrationAge {
  /// Days after which a check is offered: glue, springs and mounting creep over months.
  static let maximumDays = 180

  /// The day as ISO 8601 has it, where the user is.
  static func today() -> String { CalendarTime.now.formatted("%Y-%m-%d", isLocal: true) }

  /// Offers the quick check of a profile whose measurement is old; a date that is not of ISO 8601
  /// is taken for recent.
  static func reminder(for profile: TransducerProfile, today: String = today()) -> String? {
    guard let date = profile.hardware?.measured?.date, let measured = dayNumber(date),
      let now = dayNumber(today),
      now - measured > maximumDays
    else { return nil }
    return
      """
      \(profile.name.printable): measured \(date.printable), \((now - measured) / 30) months \
      ago; \(advice)
      """
  }

  /// What to do where a measured resonance may have moved.
  static let advice = "'temblor calibrate --quick' checks it in 5 s"

  /// Days of a date `YYYY-MM-DD` since some fixed day, by the Gregorian calendar with years from
  /// March on.
  private static func dayNumber(_ date: String) -> Int? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
      0...9_999 ~= year,
      1...12 ~= month, 1...31 ~= day
    else { return nil }
    let years = month > 2 ? year : year - 1
    return 365 * years + years / 4 - years / 100 + years / 400 + (153 * ((month + 9) % 12) + 2) / 5
      + day
  }
}
