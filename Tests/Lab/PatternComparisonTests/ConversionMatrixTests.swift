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
  private static let formats = FormatRegistry.standard.formats.filter(\.isWritable)
  private static let tolerance = Tolerance(decibels: 1, seconds: 0.01, percent: 5)

  @Test("A conversion that sounds alike has no difference, and one beyond 1 dB has a listed loss")
  func conversionsAreComparedTruly() throws {
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
        let isEqual = comparison.isEqual(within: Self.tolerance)
        #expect(
          isEqual || !converted.losses.isEmpty,
          "\(name) as \(format.id): \(comparison.sentences)")
        if SoundAgreement(reference, candidate).isComplete {
          alikeCount += 1
          // A vibration masks the transient that a clip raises to it.
          let isRaised = converted.losses.contains {
            $0.hasPrefix("the amplitude of a transient is raised by ")
          }
          let differences = comparison.differences.filter { difference in
            difference.isNoticeable && !(isRaised && difference.kind == .level)
          }
          let name = "\(name) as \(format.id)"
          #expect(differences.isEmpty, "\(name): \(differences.map(\.sentence))")
          #expect(isEqual || isRaised, "\(name): \(comparison.sentences)")
        }
        let hasUnits = comparison.spelling.contains { $0.contains(" dB") || $0.contains(" Hz") }
        #expect(!hasUnits, "\(comparison.spelling)")
      }
    }
    #expect(pairCount >= 37 * 10 && alikeCount >= 120, "\(pairCount) pairs, \(alikeCount) alike")
  }
}
