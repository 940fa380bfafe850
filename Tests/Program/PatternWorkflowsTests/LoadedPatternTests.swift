import Reading
import HapticFormats
import HapticModel
import HapticRender
import PatternWorkflows
import TestSupport
import Testing

@Suite struct LoadedPatternTests {
  /// A pattern of about 5 MB with a line for each of its transients.
  private static func text(lastTime: Double) -> String {
    var text = #"{"Version": 1, "Metadata": {"Project": "Hail"}, "Pattern": ["# + "\n"
    for index in 0..<30_000 {
      text += #"  {"Event": {"Time": \#(Double(index) / 100), "EventType": "HapticTransient", "#
      text += #""EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": "#
      text += "\(Double(index % 97) / 97)}, "
      text += #"{"ParameterID": "HapticSharpness", "ParameterValue": 0.5}]}},"# + "\n"
    }
    return text + #"  {"Event": {"Time": \#(lastTime), "EventType": "HapticTransient"}}"# + "\n]}\n"
  }

  private static func input(_ path: String) -> PatternInput {
    PatternInput(origin: .file(path), outputStem: "a")
  }

  @Test func largeFileIsReadCompletely() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.text(lastTime: 400), to: "a.ahap")
    let pattern = try LoadedPattern(Self.input(folder("a.ahap")))
    #expect(pattern.file.bytes.count > 4 << 20)
    #expect(pattern.composition.title == "Hail")
    #expect(pattern.composition.layers[0].pattern.events.count == 30_001)
  }

  @Test func compilationErrorsHaveLocations() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.text(lastTime: 90_000), to: "a.ahap")
    let pattern = try LoadedPattern(Self.input(folder("a.ahap")))
    let error = #expect(throws: InputError.self) {
      try pattern.compilePlans(for: [.phone], rate: 8_000)
    }
    #expect(
      error?.description == "\(folder("a.ahap")):30002:13: error: event 30001 ends at 90000.0 s; "
        + "patterns are limited to one day (86400 s) (Pattern[30000].Event)")
  }

  @Test func errorsOfALargeFileHaveLocations() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.text(lastTime: -1), to: "a.ahap")
    let error = #expect(throws: InputError.self) { try LoadedPattern(Self.input(folder("a.ahap"))) }
    #expect(
      error?.description
        == "\(folder("a.ahap")):30002:22: error: Time is -1.0; it must not be negative "
        + "(Pattern[30000].Event.Time)")
  }
}
