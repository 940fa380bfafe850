public import HapticFormats
public import Reading
public import HapticModel

/// The durations of `navigator.vibrate` of web pages: on and off in turn, in milliseconds.
///
/// Nothing in such a text says what it is, so it is never recognised: the format has to be named.
public struct VibrateFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `vibrate`.
  public var id: String { "vibrate" }
  /// The name of its function.
  public var title: String { "Web Vibration API" }
  /// `vibrate.json`.
  public var endings: [String] { ["vibrate.json"] }
  /// The rules of the function, and the limits of Chromium.
  public var rules: [Rule] { AndroidRules.vibrate }

  /// The most durations, and the longest in milliseconds.
  ///
  /// Source: Chromium's web tests of the Vibration API.
  private static let limits = (count: 99, duration: 10_000)

  /// Never: an array of numbers may be anything.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition { .no }

  /// Reads an array, or numbers with commas.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let isArray = file.bytes.first { !XMLTree.isSpace($0) } == UInt8(ascii: "[")
    let json: JSONDocument
    do {
      let text = isArray ? file.bytes : [UInt8(ascii: "[")] + file.bytes + [UInt8(ascii: "]")]
      json = try JSONDocument(text: text, name: file.name)
    } catch { return Examination(InputError(error, rule: .vibrateSyntax)) }
    var log = FindingLog()
    var steps: [VibrationEffect.Step] = []
    var excess: JSONValue?
    for value in json.root.elements {
      if let number = value.number, number >= 0 {
        let duration = Int(min(number, FrameConversion.longest * 1000))
        if duration > Self.limits.duration || steps.count == Self.limits.count { excess = excess ?? value }
        steps.append(.init(duration: duration, amplitude: steps.count % 2 == 0 ? VibrationEffect.fullAmplitude : 0))
      } else {
        log.add(.vibrateValue, at: value, "a duration must be a number of at least 0")
      }
    }
    if let excess {
      log.add(
        .vibrateCount, at: excess, "Chromium plays \(Self.limits.count) durations of at most \(Self.limits.duration) ms"
      )
    }
    let made = log.errorCount == 0 ? VibrationComposition(.waveform(steps, repeatIndex: nil), options: options) : nil
    return Examination(
      composition: made?.composition, findings: log.findings(in: json, for: options), errorCount: log.errorCount,
      losses: options.wantsFindings ? made?.losses.finish() ?? [] : [], places: WholeDocument(json: json))
  }

  /// Writes when a composition vibrates, whatever its level is.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(.vibrateValue)
    var losses = LossLog()
    let played = composition.unrolled(passes: options.loops, losses: &losses)
    let steps = VibrationSteps(played, options: options, isContinuous: false)
    for loss in steps.losses.finish() { losses.add(loss.kind, loss.element, loss.message, size: loss.size) }
    if steps.steps.contains(where: { 1..<VibrationEffect.fullAmplitude ~= $0.amplitude ?? 0 }) {
      losses.add(.dropped, .composition, "levels cannot be written: all vibration is of one")
    }
    losses.dropWords(of: composition)
    var durations: [Int] = []
    for step in steps.steps {
      let isOn = step.amplitude != 0
      if durations.isEmpty, !isOn { durations.append(0) }
      if (durations.count % 2 == 1) == isOn, !durations.isEmpty {
        durations[durations.count - 1] += step.duration
      } else {
        durations.append(step.duration)
      }
    }
    if durations.count % 2 == 0 { durations = durations.dropLast() }
    if durations.count > Self.limits.count || durations.contains(where: { $0 > Self.limits.duration }) {
      losses.add(
        .approximated, .composition,
        "Chromium plays \(Self.limits.count) durations of at most \(Self.limits.duration) ms")
    }
    var writer = JSONWriter(layout: .line)
    writer.array { array in for duration in durations { array.element(duration) } }
    return Writing([Writing.File(writer.finish())], losses: losses.finish())
  }
}
