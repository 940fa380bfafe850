public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The format of the durations that web pages pass to `navigator.vibrate`: alternately on and
  /// off, in milliseconds, as an array or as comma-separated numbers. When written, the vibrator is
  /// on at any level above 0.
  ///
  /// The content does not distinguish this format from ``waitFirst``, so the file name must.
  public static let vibrate = durationArray(
    "vibrate", title: "Web Vibration API", beginsWithPause: false, maximum: .chromium,
    rules: [.vibrateInvalidSyntax, .vibrateInvalidDuration, .vibrateExceedsChromiumLimits]
  ).addingDistinguishingClause("the first number is a vibration, as on web pages")

  /// The format of alternating off and on durations, in milliseconds.
  ///
  /// Apps pass them to `vibrate(long[], int)` in Android, or as the argument `pattern` in Flutter
  /// and React Native.
  ///
  /// Source: the documentation of `android.os.Vibrator`, of the Flutter package `vibration`, and of
  /// React Native's `Vibration` on Android.
  public static let waitFirst = durationArray(
    "wait-first", title: "Durations that begin with a pause", beginsWithPause: true,
    rules: [.vibrateInvalidSyntax, .vibrateInvalidDuration]
  ).addingDistinguishingClause(
    "the first number is a pause, as in Android, Flutter, and React Native")

  private static func durationArray(
    _ id: String, title: String, beginsWithPause: Bool, maximum: DurationLimits? = nil,
    rules: [Rule]
  ) -> HapticFormat {
    HapticFormat(
      id, title: title, fileExtensions: ["\(id).json"], rules: rules,
      valueResolution: FormatResolution(timeStepSeconds: 0.001, samplingIntervalSeconds: 0.01),
      recognize: { DurationArray.matches($0) ? .possible : .unrecognized },
      read: { (file, options) throws(InputError) in
        let array = try DurationArray(file, beginsWithPause: beginsWithPause, maximum: maximum)
        return ReadResult(
          of: .waveform(array.steps, repeatIndex: nil), array.jsonDocument, array.log, options)
      },
      write: { (composition, options) throws(InputError) in
        try composition.checkFinite(.vibrateInvalidDuration)
        var losses = LossLog()
        let played = composition.unrolled(passCount: options.loopPassCount, losses: &losses)
        let steps = VibrationSteps(played, options: options, isContinuous: false, losses: losses)
        losses = steps.losses
        if steps.steps.contains(where: {
          1..<VibrationEffect.maximumAmplitudeCode ~= $0.amplitudeCode ?? 0
        }
        ) {
          losses.add(.dropped, .composition, "this format has a single vibration level")
        }
        losses.addTextLosses(of: composition)
        let durations = DurationArray.durations(of: steps, beginsWithPause: beginsWithPause)
        if let maximum, maximum.isExceeded(by: durations) {
          losses.add(.approximated, .composition, maximum.violationMessage)
        }
        var writer = JSONWriter(layout: .singleLine)
        writer.writeArray { array in
          for duration in durations {
            array.writeElement(duration)
          }
        }
        return WrittenFiles(
          [WrittenFiles.File(writer.finishedText())], losses: losses.lossesWithOmittedCounts())
      })
  }
}

/// The limits of a platform that plays lists of durations.
private struct DurationLimits: Sendable {
  /// The maximum number of durations in a list.
  var maximumDurationCount: Int
  /// The maximum length of one duration, in milliseconds.
  var maximumDurationMilliseconds: Int
  /// The message about a list of durations that exceeds the limits.
  var violationMessage: String

  /// The limits of Chromium for `navigator.vibrate`. Source: Chromium's web tests of the Vibration
  /// API.
  static let chromium = DurationLimits(
    maximumDurationCount: 99, maximumDurationMilliseconds: 10_000,
    violationMessage: "Chromium plays at most 99 durations of at most 10000 ms")

  /// Returns true if a list of durations exceeds the limits.
  func isExceeded(by durations: [Int]) -> Bool {
    durations.count > maximumDurationCount
      || durations.contains { $0 > maximumDurationMilliseconds }
  }
}

/// A list of durations that alternate between vibration and pause.
private struct DurationArray {
  let jsonDocument: JSONDocument
  private(set) var log = FindingLog()
  private(set) var steps: [VibrationEffect.Step] = []

  /// The number of bytes at the start of a text for recognizing the format.
  private static let formatDetectionByteCount = 1 << 12

  /// Returns true if a text consists of numbers in an array or separated by commas.
  ///
  /// A text without an array must have several numbers.
  static func matches(_ text: Span<UInt8>) -> Bool {
    var hasDigit = false
    var hasSeparator = false
    let firstTextByteIndex = ByteOrderMark.utf8Length(in: text)
    for index
      in firstTextByteIndex..<max(firstTextByteIndex, min(text.count, formatDetectionByteCount))
    {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasDigit = true
      case UInt8(ascii: "["), UInt8(ascii: ","):
        hasSeparator = true
      case UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        continue
      default:
        guard XMLTree.isWhitespace(byte) else { return false }
      }
    }
    return hasDigit && hasSeparator
  }

  /// Parses a list of durations with or without brackets, and reports invalid durations.
  init(_ file: SourceFile, beginsWithPause: Bool, maximum: DurationLimits?) throws(InputError) {
    let listBytes = file.bytes.dropFirst(ByteOrderMark.utf8Length(in: file.bytes.span))
    let hasBracket = listBytes.first { !XMLTree.isWhitespace($0) } == UInt8(ascii: "[")
    let bracketedListBytes =
      hasBracket ? Array(listBytes) : [UInt8(ascii: "[")] + listBytes + [UInt8(ascii: "]")]
    do throws(JSONError) {
      jsonDocument = try JSONDocument(text: bracketedListBytes, name: file.name)
    } catch {
      throw InputError(error, rule: .vibrateInvalidSyntax)
    }
    var firstExcessiveValue: JSONValue?
    for value in jsonDocument.root.elements {
      guard let number = value.number, number >= 0 else {
        log.add(.vibrateInvalidDuration, at: value, "a duration must be a number of at least 0")
        continue
      }
      let duration = FrameConversion.clampedInteger(
        min(number, FrameConversion.maximumSeconds * 1000).rounded(.down))
      if let maximum,
        duration > maximum.maximumDurationMilliseconds
          || steps.count == maximum.maximumDurationCount
      {
        firstExcessiveValue = firstExcessiveValue ?? value
      }
      let isOn = (steps.count % 2 == 0) != beginsWithPause
      steps.append(
        .init(
          durationMilliseconds: duration,
          amplitudeCode: isOn ? VibrationEffect.maximumAmplitudeCode : 0))
    }
    if let firstExcessiveValue, let maximum {
      log.add(.vibrateExceedsChromiumLimits, at: firstExcessiveValue, maximum.violationMessage)
    }
  }

  /// Returns the alternating durations of vibration and pause in a series of levels.
  ///
  /// There is no pause at the end.
  static func durations(of levels: VibrationSteps, beginsWithPause: Bool) -> [Int] {
    var durations: [Int] = []
    for step in levels.steps {
      let isOn = step.amplitudeCode != 0
      if durations.isEmpty, isOn == beginsWithPause {
        durations.append(0)
      }
      let nextIsOn = (durations.count % 2 == 0) != beginsWithPause
      if isOn == nextIsOn {
        durations.append(step.durationMilliseconds)
      } else {
        durations[durations.count - 1] += step.durationMilliseconds
      }
    }
    let isLastDurationOn = (durations.count % 2 == 1) != beginsWithPause
    if !isLastDurationOn {
      durations = durations.dropLast()
    }
    return durations.isEmpty ? [0] : durations
  }
}

/// The rules for files with lists of durations.
extension Rule {
  static let vibrateInvalidSyntax = error(
    "syntax", "syntax", "The text must be a JSON array of numbers, or numbers separated by commas.")
  static let vibrateInvalidDuration = error(
    "value", "range", "Durations must be numbers of at least 0.")
  static let vibrateExceedsChromiumLimits = warning(
    "count", "compatibility",
    "There should be at most 99 durations of at most 10000 ms. Chromium shortens other patterns.")
}
