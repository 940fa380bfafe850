internal import HapticFormats
internal import Reading

/// The rules of Android's vibration files.
enum AndroidRules {
  /// The rules of vibration XML, in the order in which they are listed.
  static let xml: [Rule] = [
    .androidSyntax, .androidRoot, .androidElement, .androidAttribute, .androidMissingAttribute, .androidValue,
    .androidEmpty, .androidNoLength, .androidEnvelopeEnd, .androidVendorEffect, .androidChoice,
  ]

  /// The rules of timing and amplitude arrays, in the order in which they are listed.
  static let arrays: [Rule] = [
    .arraysSyntax, .arraysStructure, .arraysCount, .arraysValue, .arraysRepeat, .arraysNoLength,
  ]

  /// The rules of the arrays of web pages, in the order in which they are listed.
  static let vibrate: [Rule] = [.vibrateSyntax, .vibrateValue, .vibrateCount]
}

extension Rule {
  static let androidSyntax = Rule(
    "android/syntax", group: "syntax", .error,
    "The text must be XML in UTF-8 without a document type declaration and without text.")
  static let androidRoot = Rule(
    "android/root", group: "grammar", .error, "The root must be vibration-effect, vibration or vibration-select.")
  static let androidElement = Rule(
    "android/element", group: "grammar", .error, "An element must be one that Android accepts in its position.")
  static let androidAttribute = Rule(
    "android/attribute", group: "grammar", .error, "An element must have no attributes but its own.")
  static let androidMissingAttribute = Rule(
    "android/missing-attribute", group: "grammar", .error, "An element must have its required attributes.")
  static let androidValue = Rule(
    "android/value", group: "range", .error, "An attribute must have a value within its range.")
  static let androidEmpty = Rule("android/empty", group: "grammar", .error, "An effect must have entries or points.")
  static let androidNoLength = Rule(
    "android/no-length", group: "range", .error, "The durations of a waveform must not all be 0.")
  static let androidEnvelopeEnd = Rule(
    "android/envelope-end", group: "range", .error, "A basic envelope must end with intensity 0.")
  static let androidVendorEffect = Rule(
    "android/vendor-effect", group: "grammar", .error,
    "A vendor effect cannot be read: only its vendor knows what it holds.")
  static let androidChoice = Rule(
    "android/choice", group: "compatibility", .note,
    "A vibration-select is played by its first effect that the device supports; the first is read.")

  static let arraysSyntax = Rule("android-arrays/syntax", group: "syntax", .error, "The text must be JSON in UTF-8.")
  static let arraysStructure = Rule(
    "android-arrays/structure", group: "grammar", .error,
    "The file must be an object with an array timings, and amplitudes where they are not on and off.")
  static let arraysCount = Rule(
    "android-arrays/count", group: "grammar", .error, "There must be as many amplitudes as timings.")
  static let arraysValue = Rule(
    "android-arrays/value", group: "range", .error,
    "Timings must be whole milliseconds of at least 0, amplitudes 0 to 255, or -1 for the device's.")
  static let arraysRepeat = Rule(
    "android-arrays/repeat", group: "range", .error, "The repeat index must be that of a timing, or -1 for none.")
  static let arraysNoLength = Rule("android-arrays/no-length", group: "range", .error, "The timings must not all be 0.")

  static let vibrateSyntax = Rule(
    "vibrate/syntax", group: "syntax", .error, "The text must be a JSON array of numbers, or numbers with commas.")
  static let vibrateValue = Rule("vibrate/value", group: "range", .error, "Durations must be numbers of at least 0.")
  static let vibrateCount = Rule(
    "vibrate/count", group: "compatibility", .warning,
    "There should be at most 99 durations of at most 10000 ms; Chromium shortens others.")
}
