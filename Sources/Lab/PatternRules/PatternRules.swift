public import HapticModel
public import Reading

/// Checks of a composition, independent of its format and origin.
///
/// A composition is checked as it is felt: the transients of all layers together, each with the
/// controls of its own layer.
public enum PatternRules {
  private typealias CompositionCheck =
    @Sendable (HapticComposition, inout CompositionFindingLog) -> Void

  /// The checks with the rules that they apply.
  ///
  /// The rules concern differences between programs and devices, content without effect, and
  /// design.
  private static let ruleChecks: [(rules: [Rule], run: CompositionCheck)] = [
    ([.noEvents, .overlappingCurves, .severalBodyLocations], checkPortability),
    ([.silentPattern, .ineffectiveControl, .duplicateEvent], checkEffects),
    (
      [
        .shortTransientGap, .tooManyTransients, .irregularTransientSpacing, .tooManyHeavyTransients,
        .harshTransient, .overlongVibration,
        .overlongPattern,
      ],
      checkDesign
    ),
  ]

  /// The rules that can be checked with only a composition, in listing order.
  public static let compositionRules = ruleChecks.flatMap { $0.rules }

  /// The rules about Apple's haptic parameters and curves.
  ///
  /// They apply only to file formats with such parameters and curves.
  public static let appleRules: [Rule] = [.overlappingCurves, .ineffectiveControl, .unsetParameter]

  /// Checks a composition that was read from a file, with the rules for the file's format.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - hasAppleParameters: Whether its parameters and curves are those of the file; otherwise, no
  ///     rule of ``appleRules`` applies.
  ///   - location: Returns the location of a part.
  /// - Returns: The findings of ``compositionRules``, and of undocumented defaults.
  public static func findings(
    in composition: HapticComposition, hasAppleParameters: Bool,
    location: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    let allFindings =
      findings(in: composition, location: location)
      + unsetParameterFindings(in: composition, location: location)
    guard !hasAppleParameters else { return allFindings }
    let excludedRuleIDs = Set(appleRules.map { $0.id })
    return allFindings.filter { !excludedRuleIDs.contains($0.rule) }
  }

  /// Checks a composition against ``compositionRules``.
  ///
  /// - Parameters:
  ///   - composition: The composition to check.
  ///   - location: Returns the location of a part. Use `ReadResult.sourceMap` for a composition
  ///     that was read, and `SourceMap.inMemory(name:)` for one that was made in code.
  /// - Returns: The findings by rule: at most 1,000 of a rule, and one with the number of the
  ///   others.
  /// - Complexity: Proportional to the events and the segments of control curves that they span, of
  ///   which at most four million are visited.
  public static func findings(
    in composition: HapticComposition, location: (CompositionElement) -> FileLocation
  )
    -> [Finding]
  {
    var log = CompositionFindingLog()
    for check in ruleChecks {
      check.run(composition, &log)
    }
    return log.findings(location: location)
  }
}

/// A log of the findings about elements of a composition, in the order of their addition.
struct CompositionFindingLog {
  private var log = FindingLog()
  private var elements: [CompositionElement] = []

  mutating func add(
    _ rule: Rule, at element: CompositionElement, _ message: @autoclosure () -> String
  ) {
    log.add(rule, valueIndex: elements.count, offset: elements.count, message())
    elements.append(element)
  }

  func findings(location: (CompositionElement) -> FileLocation) -> [Finding] {
    log.findings { index, _ in location(elements[index]) }
  }
}

extension Double {
  /// The time as text for a message, rounded to the millisecond.
  var secondsText: String { "\((self * 1000).rounded() / 1000) s" }
}
