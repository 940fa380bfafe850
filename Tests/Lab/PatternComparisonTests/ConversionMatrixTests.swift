import ComparisonFixtures
import HapticFormats
import HapticModel
import HapticRender
import PatternComparison
import ShippedFiles
import Testing
import VendorFormats

/// Shipped patterns, and their conversions to every format that can be written.
struct ConversionMatrixTests {
  /// The beginnings of losses whose effect is within the tolerance.
  private static let harmlessLossPrefixes = [
    "times are rounded to ticks", "frequencies are rounded to whole hertz", "the title cannot",
    "the notes cannot",
  ]

  /// Returns whether a loss can explain a difference beyond the tolerance.
  private static func includesPerceptibleLoss(_ losses: [String]) -> Bool {
    losses.contains { loss in !harmlessLossPrefixes.contains { loss.hasPrefix($0) } }
  }

  @Test(
    "A pattern converted and converted back is equal within the tolerance, or has a listed loss")
  func roundTripsAreEqualOrHaveLosses() throws {
    var pairCount = 0
    for name in ShippedPatterns.names {
      let composition = HapticComposition(try shipped(name))
      let reference = try formattedTake(composition, in: .ahap)
      for format in Self.formats {
        guard let converted = ConvertedPattern(composition, to: format) else { continue }
        let restored = try #require(ConvertedPattern(converted.composition, to: .ahap))
        let comparison = Comparison(reference, try restored.take())
        pairCount += 1
        #expect(
          comparison.isEqual(within: Self.tolerance)
            || Self.includesPerceptibleLoss(converted.losses + restored.losses),
          "\(name) by \(format.id): \(comparison.sentences)")
      }
    }
    #expect(pairCount >= 37 * 10)
  }

  private static let ramps = [
    HapticPattern(events: [
      hum(0, 1, intensity: 0.8, [.attackTime: 0.6]),
      hum(2, 1, intensity: 0.8, [.attackTime: 0.6, .decayTime: 0.3, .sustained: 0]),
    ]),
    HapticPattern(
      events: [
        hum(0, 3, intensity: 0.5, sharpness: 0), hum(0, 3, intensity: 0.5, sharpness: 0.075),
      ],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [
            .init(time: 0, value: 1), .init(time: 0.5, value: 1), .init(time: 3, value: 0),
          ])
      ]),
  ]

  @Test("A ramp that a format writes in another way is a listed loss", arguments: ramps.indices)
  func rampsAreListed(_ index: Int) throws {
    let composition = HapticComposition(Self.ramps[index])
    let reference = try formattedTake(composition, in: .ahap)
    for format in Self.formats {
      guard let converted = ConvertedPattern(composition, to: format) else { continue }
      let comparison = Comparison(reference, try converted.take())
      #expect(
        comparison.isEqual(within: Self.tolerance)
          || Self.includesPerceptibleLoss(converted.losses),
        "\(format.id): \(comparison.sentences), \(converted.losses)")
    }
  }

  private static let formats = FormatRegistry.standard.formats.filter(\.isWritable)
  private static let tolerance = Tolerance(decibels: 1, seconds: 0.01, percent: 5)

  @Test("A conversion that sounds alike has no difference, and any other has a listed loss")
  func conversionsAreComparedCorrectly() throws {
    var pairCount = 0
    var alikeCount = 0
    for name in ShippedPatterns.names {
      let composition = HapticComposition(try shipped(name))
      let reference = try formattedTake(composition, in: .ahap)
      let measurements = TakeMeasurements(reference)
      for format in Self.formats {
        guard let converted = ConvertedPattern(composition, to: format) else { continue }
        let candidate = try converted.take()
        let comparison = Comparison(
          reference, candidate, referenceMeasurements: measurements)
        pairCount += 1
        if checkAgainstSound(comparison, converted, name: "\(name) as \(format.id)") {
          alikeCount += 1
        }
      }
    }
    #expect(pairCount >= 37 * 10 && alikeCount >= 120, "\(pairCount) pairs, \(alikeCount) alike")
  }

  @Test("Conversions between each pair of formats are compared correctly")
  func formatPairsAreComparedCorrectly() throws {
    let names = ShippedPatterns.names
    let indices = Self.formats.indices
    let formatPairs = indices.flatMap { sourceIndex in indices.map { (sourceIndex, $0) } }
    var comparedCount = 0
    for (pairIndex, (sourceIndex, targetIndex)) in formatPairs.enumerated() {
      let source = Self.formats[sourceIndex]
      let target = Self.formats[targetIndex]
      // Each pair has two of the patterns, so that all patterns occur.
      for nameOffset in [0, 17] {
        let name = names[(pairIndex + nameOffset) % names.count]
        let pattern = HapticComposition(try shipped(name))
        guard let original = ConvertedPattern(pattern, to: source),
          let converted = ConvertedPattern(original.composition, to: target)
        else { continue }
        let comparison = Comparison(try original.take(), try converted.take())
        checkAgainstSound(
          comparison, converted, name: "\(name), \(source.id) to \(target.id)")
        comparedCount += 1
      }
    }
    #expect(comparedCount == 2 * Self.formats.count * Self.formats.count)
  }

  /// Expects a listed loss for a difference beyond the tolerance, and no noticeable difference of
  /// takes that sound alike.
  ///
  /// - Returns: True if the takes sound alike.
  @discardableResult private func checkAgainstSound(
    _ comparison: Comparison, _ converted: ConvertedPattern, name: String
  ) -> Bool {
    let isEqual = comparison.isEqual(within: Self.tolerance)
    #expect(
      isEqual || Self.includesPerceptibleLoss(converted.losses), "\(name): \(comparison.sentences)")
    let hasUnits = comparison.notationDifferences.contains {
      $0.contains(" dB") || $0.contains(" Hz")
    }
    #expect(!hasUnits, "\(comparison.notationDifferences)")
    guard SoundAgreement(comparison.reference, comparison.candidate).isComplete else {
      return false
    }
    // A vibration masks the transient that a clip raises to it.
    let isTransientRaised = converted.losses.contains {
      $0.hasPrefix("the amplitude of a transient is raised by ")
    }
    let differences = comparison.differences.filter { difference in
      difference.isNoticeable && !(isTransientRaised && difference.kind == .level)
    }
    #expect(differences.isEmpty, "\(name): \(differences.map(\.sentence))")
    #expect(isEqual || isTransientRaised, "\(name): \(comparison.sentences)")
    return true
  }
}
