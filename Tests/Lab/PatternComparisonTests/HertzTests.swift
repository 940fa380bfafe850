import ComparisonFixtures
import HapticFormats
import HapticModel
import PatternComparison
import Testing
import VendorFormats

/// Patterns of formats that state frequencies in hertz.
struct HertzTests {
  private func effect(hertz: Double) throws -> Take {
    let text = """
      <vibration-effect><waveform-envelope-effect>
      <control-point amplitude="0.8" frequencyHz="\(hertz)" durationMs="20"/>
      <control-point amplitude="0.8" frequencyHz="\(hertz)" durationMs="600"/>
      <control-point amplitude="0" frequencyHz="\(hertz)" durationMs="20"/>
      </waveform-envelope-effect></vibration-effect>
      """
    let format = HapticFormat.androidXML
    let result = format.examine(SourceFile(Array(text.utf8), name: "effect.xml"))
    return try formattedTake(try result.get(), in: format)
  }

  @Test("A frequency below the band of the profile differs from a lower one")
  func statedFrequenciesDiffer() throws {
    let comparison = Comparison(try effect(hertz: 40), try effect(hertz: 60))
    #expect(comparison.differences.map(\.kind) == [.frequency], "\(comparison.sentences)")
    #expect(abs((comparison.differences.first?.amount ?? 0) - 50) < 1.5)
  }

  @Test("An effect is equal to its conversion to a format that keeps hertz")
  func conversionKeepsHertz() throws {
    let reference = try effect(hertz: 60)
    let composition = try #require(reference.composition)
    let converted = try #require(ConvertedPattern(composition, to: .hjif))
    let comparison = Comparison(reference, try converted.take())
    #expect(comparison.differences.isEmpty, "\(comparison.sentences)")
  }
}
