public import Reading
public import HapticModel

/// Checks of a composition, whatever format it was read from and where it was made.
///
/// A composition is checked as it is felt: transients of all layers together, each with the controls of its own layer.
public enum PatternRules {
  private typealias Check = @Sendable (HapticComposition, inout CompositionLog) -> Void

  /// What is checked of a composition by itself: what programs and devices differ in, what has no effect or another one
  /// than its text shows, and what feels good.
  private static let checks: [(rules: [Rule], run: Check)] = [
    ([.noEvents, .curveOverlap, .severalPlaces], checkPortability),
    ([.silent, .noEffect, .duplicateEvent], checkEffects),
    (
      [.transientGap, .transientCount, .transientSpacing, .heavyOveruse, .harsh, .sustained, .patternLength],
      checkDesign
    ),
  ]

  /// What a composition is checked for by itself, in the order in which the rules are listed.
  public static let composition = checks.flatMap { $0.rules }

  /// Checks a composition against the rules of ``composition``.
  ///
  /// Takes time in proportion to the events, and to the parts of control curves that they reach, of
  /// which at most four million are looked at.
  ///
  /// - Parameters:
  ///   - composition: What is checked.
  ///   - places: Where a part stands; `Examination.places` has it for what was read, and
  ///     `SourcePlaces.model` for what was made in code.
  /// - Returns: The findings by rule; at most 1,000 of a rule, and one that counts the rest.
  public static func findings(in composition: HapticComposition, places: (CompositionElement) -> SourcePlace)
    -> [Finding]
  {
    var log = CompositionLog()
    for check in checks { check.run(composition, &log) }
    return log.findings(places)
  }
}

/// Findings about parts of a composition, in the order in which they are made.
struct CompositionLog {
  private var log = FindingLog()
  private var elements: [CompositionElement] = []

  mutating func add(_ rule: Rule, at element: CompositionElement, _ message: @autoclosure () -> String) {
    log.add(rule, value: elements.count, offset: elements.count, message())
    elements.append(element)
  }

  func findings(_ places: (CompositionElement) -> SourcePlace) -> [Finding] {
    log.findings { index, _ in places(elements[index]) }
  }
}

extension Double {
  /// A time for a message, to the millisecond.
  var secondsText: String { "\((self * 1000).rounded() / 1000) s" }
}
