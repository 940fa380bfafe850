import HapticFormats
import VendorFormats
import Reading
import Glibc
import HapticRender
import PatternRules
import PatternWorkflows
import ShippedFiles
import SoundFile
import SystemSupport
import Testing

@testable import TemblorCommands

/// The renders in `Samples/` are those of the shipped patterns.
@Suite struct SamplesTests {
  /// Two steps of 16 bits: one for rounding with dither, one for another machine's arithmetic.
  static let tolerance: Float = 2 / 32_768

  static let folder = "\(#filePath)".split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }

  @Test(arguments: ShippedPatterns.names) func sampleIsTheRenderOfItsPattern(name: String) throws {
    let path = "\(Self.folder)/Samples/\(name).wav"
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    let sample = try Sound(readingDescriptor: descriptor, path: path)
    #expect(sample.rate == 48_000)
    #expect(sample.channelCount == 1)

    let job = RenderJob(profile: .phone)
    let input = PatternInput(origin: .shipped(name), outputStem: name)
    let plan = try job.loadPlan(input).plan
    var renderer = OfflineRenderer(plan: plan, settings: job.renderSettings(for: plan))
    let rendered = renderer.samples()
    #expect(rendered.count == sample.frameCount)
    let maximumDifference = zip(rendered, sample.interleaved).map { abs($0 - $1) }.max() ?? 1
    #expect(maximumDifference <= Self.tolerance)
    // Silence would be within the tolerance of silence.
    #expect((rendered.map(abs).max() ?? 0) > 0.02)
  }

  @Test func everySampleHasItsPattern() throws {
    let names = try FileSystem.visibleNames(in: "\(Self.folder)/Samples")
    #expect(
      Set(names) == Set(ShippedPatterns.names.map { "\($0).wav" } + ["index.html", "studio.html"]))
  }

  @Test func everyFileOfThePatternsFolderIsShipped() throws {
    let files = try FileSystem.visibleNames(in: "\(Self.folder)/Patterns").filter {
      $0.hasSuffix(".ahap")
    }
    #expect(Set(files) == Set(ShippedPatterns.names.map { "\($0).ahap" }))
  }

  @Test(arguments: ShippedPatterns.names) func shippedPatternIsCanonicalAndWithoutWarning(
    name: String
  ) throws {
    let text = ShippedPatterns.text(named: name) ?? []
    let document = try AHAPDocument(text: text, name: name)
    #expect(document.canonicalText() == text)
    let examination = document.examine()
    let composition = try #require(examination.composition)
    let findings = examination.findings(
      adding: PatternRules.findings(in: composition, location: examination.sourceMap.location(of:)),
      rules: FormatRegistry.standard.rules + PatternRules.compositionRules)
    let problems = findings.filter { $0.severity != .note }
    #expect(problems.map(\.description) == [])
    #expect(try !(document.read().metadata["Description"] ?? "").isEmpty)
  }
}
