import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

/// Vibrations of the library web-haptics.
@Suite struct WebHapticsTests {
  private func readResult(_ text: String) -> ReadResult {
    FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: "x"))
  }

  private static let vibrations =
    #"[{"duration": 30, "intensity": 0.25}, {"delay": 60, "duration": 40, "intensity": 1}]"#

  @Test(arguments: [vibrations, "{\"pattern\": \(vibrations)}"])
  func vibrationsFollowEachOther(text: String) throws {
    let result = readResult(text)
    #expect(result.findings == [])
    let events = try result.get().layers[0].pattern.events
    #expect(events.map(\.time) == [0, 0.09])
    #expect(events.map(\.duration) == [0.03, 0.04])
    #expect(events.map { $0.parameters[.hapticIntensity] } == [0.5, 1])
    #expect(
      result.sourceMap.location(of: .event(EventReference(eventIndex: 1))).path.hasSuffix("[1]"))
  }

  @Test func vibrationWithoutIntensityHasHalfTheAmplitude() throws {
    let events = try readResult(#"[{"duration": 100}]"#).get().layers[0].pattern.events
    #expect(events.map { $0.parameters[.hapticIntensity] } == [Float(0.5.squareRoot())])
  }

  @Test func silentVibrationIsAPause() throws {
    let text = #"[{"duration": 100, "intensity": 0}, {"duration": 50}, {"duration": 0}]"#
    let events = try readResult(text).get().layers[0].pattern.events
    #expect(events.map(\.time) == [0.1])
  }

  @Test func writtenVibrationsReturn() throws {
    let composition = try readResult(
      #"[{"delay": 5, "duration": 2500, "intensity": 1}, {"delay": 60, "duration": 40}]"#
    ).get()
    let format = HapticFormat.webHaptics
    let written = try #require(try format.write(composition))
    let text = String(decoding: written.files[0].bytes, as: UTF8.self)
    #expect(text.contains(#"{ "delay": 5, "duration": 1000, "intensity": 1.0 }"#), "\(text)")
    let events = try readResult(text).get().layers[0].pattern.events
    #expect(events.map(\.time) == [0.005, 2.565])
    #expect(events.map(\.duration) == [2.5, 0.04])
  }

  @Test func invalidValuesAreLocated() {
    #expect(
      readResult(#"[{"duration": 1500, "intensity": 2}, {"delay": 3, "intensity": 1}]"#).findings
        .map(\.description) == [
          """
          x:1:15: warning: the library plays at most 1000 ms of a vibration ([0].duration); divide \
          it into several vibrations
          """,
          "x:1:34: warning: intensity is 2, outside 0 to 1; 1 is used ([0].intensity)",
          "x:1:38: error: a vibration must have the key \"duration\" ([1])",
        ])
    #expect(
      readResult(#"{"pattern": {"duration": 5}}"#).findings.map(\.description) == [
        """
        x:1:1: error: the file must be an array of vibrations, or an object with such an array as \
        "pattern"
        """
      ])
  }
}
