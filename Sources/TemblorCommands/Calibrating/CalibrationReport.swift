internal import CommandLineKit
internal import Glibc
import HapticPlayback
import HapticRender
import Reading
import SignalPlots
import SoundFile
import SystemSupport
import TransducerCalibration

/// What was measured, as text, as JSON and as a picture.
struct CalibrationReport {
  private let calibration: Calibration
  private let old: TransducerProfile
  private let new: TransducerProfile
  private let latency: Double?
  private let take: CalibrationTake

  /// Takes what is reported.
  init(
    _ calibration: Calibration, from old: TransducerProfile, to new: TransducerProfile, latency: Double?,
    take: CalibrationTake
  ) {
    self.calibration = calibration
    self.old = old
    self.new = new
    self.latency = latency
    self.take = take
  }

  /// A table from old to new, and sentences on what it is worth.
  var text: String {
    var rows = [("", "\(old.name)", "measured")]
    let (before, after) = (old.hardware, new.hardware)
    rows.append(
      (
        "resonance", former("resonance", before?.resonance, "Hz"),
        figure(after?.resonance, "Hz") + interval(calibration.resonanceInterval)
      ))
    rows.append(
      (
        "quality", former("qualityFactor", before?.qualityFactor, ""),
        figure(after?.qualityFactor, "") + interval(calibration.qualityInterval)
      ))
    rows.append(("band, -10 dB", band(old.hardware?.band), band(calibration.curve.band) + openEnds))
    if let most = after?.acceleration {
      rows.append(("acceleration", former("acceleration", before?.acceleration, "g"), figure(most, "g")))
    }
    rows.append(("latency", milliseconds(old.amplifier.latency), milliseconds(latency)))
    rows.append(("polarity", "", calibration.isInverted ? "inverted" : "normal"))
    rows.append(("sensor", "", calibration.sensor.rawValue))
    var text = ColumnText.lines(rows.map { [$0.0, $0.1, $0.2] }).map { $0 + "\n" }.joined()
    text += "\n\(calibration.verdict)\n"
    for reservation in calibration.warnings { text += reservation + "\n" }
    if latency != nil {
      text +=
        take.reference != nil
        ? "The latency is from the reference channel to the movement.\n"
        : "The latency excludes the delays reported by the devices, which can be off by one period.\n"
    }
    return text
  }

  /// One object with all figures.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { entry in
      entry.formatVersion()
      entry.member("recording", take.name)
      entry.member("profile", new.name)
      entry.member("resonance", calibration.resonance)
      entry.member("quality", calibration.qualityFactor)
      entry.member("resonanceInterval", calibration.resonanceInterval)
      entry.member("qualityInterval", calibration.qualityInterval)
      entry.object("band", layout: .line) { band in
        band.member("low", calibration.curve.band.lowerBound)
        band.member("high", calibration.curve.band.upperBound)
      }
      entry.member("gain", calibration.gain)
      entry.member("inverted", calibration.isInverted)
      entry.member("sensor", calibration.sensor.rawValue)
      entry.member("offset", calibration.offset)
      if let latency { entry.member("latency", latency) }
      if let corner = calibration.inputCorner { entry.member("inputCorner", corner) }
      if let corner = calibration.coilCorner { entry.member("coilCorner", corner) }
      if let most = new.hardware?.acceleration { entry.member("acceleration", most) }
      entry.member("residual", calibration.residual)
      entry.member("noise", calibration.noise)
      entry.member("signalToNoise", calibration.signalToNoise)
      entry.member("clockErrorPartsPerMillion", calibration.clockError)
      entry.member("poor", calibration.isPoor)
      entry.array("response") { list in
        for point in calibration.curve.response {
          list.object(layout: .line) { entry in
            entry.member("hertz", point.hertz)
            entry.member("decibels", point.decibels)
          }
        }
      }
    }
    return json.finish()
  }

  /// The response with its fit.
  var plot: ResponsePlot {
    let residual = NumberFormatting.rounded(calibration.residual, places: 1)
    return ResponsePlot(
      title: "\(new.name): acceleration, measured and fitted",
      subtitle: "\(NumberFormatting.rounded(calibration.resonance, places: 2)) Hz, quality "
        + "\(NumberFormatting.rounded(calibration.qualityFactor, places: 2)), residual "
        + "\(residual.hasPrefix("-") ? "−" + residual.dropFirst() : residual) dB",
      points: calibration.curve.points.map {
        ResponsePlot.Point(hertz: $0.hertz, measured: $0.measured, fitted: $0.fitted, residual: $0.residual)
      }, band: calibration.curve.band)
  }

  private var openEnds: String {
    let isOpen = calibration.curve.isOpen
    switch (isOpen.below, isOpen.above) {
    case (false, false): return ""
    case (true, false): return " or lower"
    case (false, true): return " or higher"
    case (true, true): return " or wider"
    }
  }

  private func former(_ name: String, _ value: Double?, _ unit: String) -> String {
    guard let value else { return "unknown" }
    let isEstimated = old.hardware?.estimated.contains(name) ?? false
    return with(unit, value, places: 3) + (isEstimated ? " (estimate)" : "")
  }

  /// Half of a 95 % interval.
  private func interval(_ share: Double) -> String { " ± \(NumberFormatting.rounded(share * 100, places: 2)) %" }

  private func figure(_ value: Double?, _ unit: String) -> String {
    value.map { with(unit, $0, places: 3) } ?? "unknown"
  }

  private func with(_ unit: String, _ value: Double, places: Int) -> String {
    NumberFormatting.rounded(value, places: places) + (unit.isEmpty ? "" : " " + unit)
  }

  private func band(_ band: ClosedRange<Double>?) -> String {
    guard let band else { return "unknown" }
    return NumberFormatting.rounded(band.lowerBound, places: 1) + " to "
      + NumberFormatting.rounded(band.upperBound, places: 1) + " Hz"
  }

  private func milliseconds(_ seconds: Double?) -> String {
    seconds.map { NumberFormatting.rounded($0 * 1_000, places: 3) + " ms" } ?? "unknown"
  }
}

/// What a transducer is measured from: channels of a file, or of what was recorded just now.
struct CalibrationTake {
  /// What messages call it.
  let name: String
  /// The sensor's channel.
  let sensor: CalibrationRecording
  /// The channel that recorded the signal itself, where there is one.
  let reference: CalibrationRecording?
  /// The second of the recording at which the signal's first sample left the device, by its clock.
  let origin: Double?

  /// Reads or records what a command line names.
  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws {
    let path = arguments.value("RECORDING")
    let capture = arguments.value("--capture")
    guard (path == nil) != (capture == nil) else {
      throw UsageError(path == nil ? .missingValue : .remove, "use either RECORDING or '--capture'")
    }
    let channel = try arguments.int("--channel", in: OutputRouting.channelCounts)
    let reference = try arguments.int("--reference", in: OutputRouting.channelCounts)
    if let channel, channel == reference {
      throw UsageError(.invalidValue, "'--reference' and '--channel' must differ")
    }
    let sound: Sound
    if let path {
      for option in ["--device", "--play-channel", "--capture-channels"] where arguments.value(option) != nil {
        throw UsageError(.remove, "'\(option)' requires '--capture'")
      }
      name = path
      sound = try Self.read(path)
      origin = nil
    } else {
      let least = max(channel ?? 1, reference ?? 1)
      let count = try arguments.int("--capture-channels", in: OutputRouting.channelCounts) ?? least
      guard count >= least else {
        throw UsageError(.invalidValue, "channel \(least) is used, but '--capture-channels' is \(count)")
      }
      try options.checkLimits()
      let player = try SweepPlayer(arguments, options: options, time: time)
      let taken = try player.record(from: capture ?? "", channelCount: count)
      name = capture ?? ""
      sound = taken.sound
      origin = taken.origin
    }
    sensor = try Self.channel(channel ?? (reference == 1 ? 2 : 1), of: sound, name: name)
    if let reference {
      self.reference = try Self.channel(reference, of: sound, name: name)
    } else {
      self.reference = nil
    }
  }

  private static func read(_ path: String) throws -> Sound {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    return try Sound(readingDescriptor: descriptor, path: path)
  }

  private static func channel(_ number: Int, of sound: Sound, name: String) throws -> CalibrationRecording {
    guard number <= sound.channelCount else {
      throw CalibrationRefusal(
        name: name,
        error: CalibrationError(
          kind: .unsuitableRecording,
          description: "has no channel \(number); it has only "
            + (sound.channelCount == 1 ? "one" : "\(sound.channelCount)")))
    }
    let samples = stride(from: number - 1, to: sound.frameCount * sound.channelCount, by: sound.channelCount).map {
      sound.interleaved[$0]
    }
    return CalibrationRecording(samples: samples, rate: sound.rate)
  }
}

/// A recording that cannot tell.
struct CalibrationRefusal: Error, Equatable, CustomStringConvertible {
  /// What the user knows the recording by.
  let name: String
  /// Why it cannot.
  let error: CalibrationError

  var description: String { "\(name): \(error.description)" }
}
