import Reading
import HapticModel
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Files of Lofelt's data model 0.2, read like the vendor's upgrade tool.
@Suite struct VoicesTests {
  private func file(_ envelopes: String, _ transients: String, duration: Double = 0) -> SourceFile {
    SourceFile(
      Array(
        """
        {"metadata": {"editor": "me", "duration": \(duration)}, "voices": {
          "envelopes": [\(envelopes)], "transients": [\(transients)]}}
        """.utf8), name: "a.vij")
  }

  private static let levels = #"[{"time": 0, "amplitude": 0.25}, {"time": 0.5, "amplitude": 0.75}]"#

  private func clip(_ file: SourceFile) throws -> HapticClip {
    try #require(HapticClip(exactly: FormatRegistry.standard.read(file), mapping: .root))
  }

  @Test func lastValueHoldsUntilTheDurationAndTransientsBecomePoints() throws {
    let clip = try clip(
      file(
        Self.levels + #", [{"time": 0, "amplitude": 0.5}]"#,
        #"[{"time": 0.25, "amplitude": 1}, {"time": 0.5, "amplitude": 0.5}], "#
          + #"[{"time": 0.25, "amplitude": 0.125}, {"time": 0.5, "amplitude": 0}]"#, duration: 2))
    #expect(
      clip.amplitudePoints == [
        .init(timeSeconds: 0, amplitude: 0.25),
        .init(
          timeSeconds: 0.25, amplitude: 0.5,
          emphasis: .init(amplitude: 1, normalizedFrequency: 0.125)),
        .init(
          timeSeconds: 0.5, amplitude: 0.75,
          emphasis: .init(amplitude: 0.75, normalizedFrequency: 0)),
        .init(timeSeconds: 2, amplitude: 0.75),
      ])
    #expect(
      clip.frequencyPoints == [
        .init(timeSeconds: 0, normalizedFrequency: 0.5),
        .init(timeSeconds: 2, normalizedFrequency: 0.5),
      ])
  }

  @Test func oneEnvelopeHasNoFrequency() throws {
    #expect(try clip(file(Self.levels, "", duration: 1)).frequencyPoints == nil)
  }

  @Test func invalidFilesAreRefusedWithALocation() {
    func error(_ file: SourceFile) -> String? {
      FormatRegistry.standard.examine(file).findings.first { $0.severity == .error }.map {
        "\($0.rule.text)\($0.location.position): \($0.message)"
      }
    }
    #expect(error(file("", "")) == "vij/structure:2:16: the amplitude envelope is missing")
    #expect(error(file("[]", ""))?.hasPrefix("vij/structure:2:16") == true)
    #expect(
      error(file(Self.levels, "[]", duration: 1))
        == "vij/transient-pairs:2:100: transients must be two lists: amplitudes and frequencies")
    #expect(
      error(file(Self.levels, #"[{"time": 0, "amplitude": 1}], []"#, duration: 1))?.contains(
        "1 amplitudes of transients do not match 0 frequencies") == true)
    #expect(
      error(
        file(
          Self.levels, #"[{"time": 0, "amplitude": 1}], [{"time": 0.1, "amplitude": 1}]"#,
          duration: 1))?
        .contains("is at 0.1 s, but its amplitude is at 0.0 s") == true)
    #expect(
      error(file(Self.levels, "", duration: 0.25))?.hasPrefix("vij/out-of-range:2:50") == true)
    #expect(
      error(SourceFile(Array(#"{"voices": 1}"#.utf8), name: "a"))?.hasPrefix("vij/structure:1:12")
        == true)
  }
}
