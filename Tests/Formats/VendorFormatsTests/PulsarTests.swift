import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

/// Patterns of the library Pulsar.
@Suite struct PulsarTests {
  private func readResult(_ text: String) -> ReadResult {
    FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: "x"))
  }

  private static let pattern = #"""
    {"continuousPattern": {
      "amplitude": [{"time": 0, "value": 0.5}, {"time": 200, "value": 0}],
      "frequency": [{"time": 0, "value": 0.25}, {"time": 300, "value": 0.75}]},
     "discretePattern": [{"time": 75, "amplitude": 0.75, "frequency": 0.5}],
     "name": "Wave", "description": "A wave.", "tags": ["Soft"], "duration": 300}
    """#

  @Test func amplitudeIsIntensityAndFrequencyIsSharpness() throws {
    let result = readResult(Self.pattern)
    #expect(result.findings == [] && result.losses == [])
    let composition = try result.get()
    #expect(composition.title == "Wave" && composition.notes == "A wave.")
    let continuousPattern = composition.layers[0].pattern
    #expect(continuousPattern.events.map(\.duration) == [0.3])
    #expect(
      continuousPattern.curves.map { $0.controlPoints.map(\.time) } == [[0, 0.2], [0, 0.3]])
    #expect(
      continuousPattern.curves.map { $0.controlPoints.map(\.value) } == [[0.5, 0], [0.25, 0.75]])
    #expect(
      composition.layers[1].pattern.events == [
        HapticEvent(
          kind: .hapticTransient, time: 0.075,
          parameters: [.hapticIntensity: 0.75, .hapticSharpness: 0.5])
      ])
    #expect(
      result.sourceMap.location(of: .event(EventReference(layerIndex: 1, eventIndex: 0))).path
        == "discretePattern[0]")
  }

  @Test func writtenPatternReturns() throws {
    let composition = try readResult(Self.pattern).get()
    let written = try #require(try HapticFormat.pulsar.write(composition))
    #expect(written.losses == [])
    let reread = try readResult(String(decoding: written.files[0].bytes, as: UTF8.self)).get()
    #expect(reread.title == "Wave")
    #expect(reread.layers[1] == composition.layers[1])
    #expect(reread.layers[0].pattern.events == composition.layers[0].pattern.events)
  }

  /// The library plays the continuous pattern only if it has points of both kinds.
  @Test func incompleteContinuousPatternIsALoss() throws {
    let result = readResult(
      #"""
      {"continuousPattern": {"amplitude": [{"time": 0, "value": 1}], "frequency": []},
       "discretePattern": []}
      """#)
    #expect(try result.get().layers.allSatisfy(\.isEmpty))
    #expect(
      result.losses.map(\.message) == [
        "the continuous pattern does not play without points of both amplitude and frequency"
      ])
  }

  @Test func invalidValuesAreLocated() {
    #expect(
      readResult(#"{"discretePattern": [{"time": -1, "amplitude": 1, "frequency": 2}]}"#).findings
        .map(\.description) == [
          "x:1:1: error: the file must have the key \"continuousPattern\"",
          "x:1:31: error: time is -1, outside 0 to 86400000 (discretePattern[0].time)",
          "x:1:64: error: frequency is 2, outside 0 to 1 (discretePattern[0].frequency)",
        ])
    let seconds = Self.pattern.replacing("200", with: "0.2").replacing("300", with: "0.65")
      .replacing("\"time\": 75", with: "\"time\": 0.1")
    #expect(
      readResult(seconds).findings.map(\.description) == [
        """
        x:1:1: warning: the last time is 0.65 ms; times are in milliseconds; if seconds were \
        intended, multiply all times by 1000
        """
      ])
  }
}
