import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

/// Projects of Haptics Studio.
@Suite struct StudioProjectTests {
  private static func haptic(_ length: Double) -> String {
    #"""
    {"version": {"major": 1, "minor": 0, "patch": 0}, "signals": {"continuous": {"envelopes": {
      "amplitude": [{"time": 0, "amplitude": 0.25}, {"time": \#(length), "amplitude": 0}]}}}}
    """#
  }

  private static let project = #"""
    {"version": {"major": 2, "minor": 0, "patch": 0}, "metadata": {"name": "Steps"},
     "state": {"clipId": "b"}, "clips": [
      {"clipId": "a", "name": "snow", "audioAsset": {"path": "snow.wav"}, "haptic": \#(haptic(0.5))},
      {"clipId": "b", "name": "no haptics"},
      {"clipId": "c", "name": "dirt", "notes": "Soft.", "haptic": \#(haptic(0.25))}]}
    """#

  private func file(_ text: String, part: SourceFile.Part? = nil) -> SourceFile {
    SourceFile(Array(text.utf8), name: "x.hasp", part: part)
  }

  private func readResult(_ text: String, part: SourceFile.Part? = nil) -> ReadResult {
    FormatRegistry.standard.examine(file(text, part: part))
  }

  @Test func projectIsRecognized() throws {
    #expect(try FormatRegistry.standard.format(of: file(Self.project)).id == "hasp")
  }

  @Test func clipsFollowEachOther() throws {
    let result = readResult(Self.project)
    #expect(result.findings == [])
    let composition = try result.get()
    #expect(composition.title == "Steps" && composition.notes == "Soft.")
    #expect(composition.layers.map(\.name) == ["snow", "snow", "dirt"])
    #expect(composition.layers.map { $0.pattern.events.map(\.time) } == [[0], [0], [1]])
    #expect(composition.layers.map { $0.pattern.curves.map(\.time) } == [[0], [], [1]])
    #expect(result.soundReferences.map(\.path) == ["snow.wav"])
    #expect(
      result.sourceMap.location(of: .event(EventReference(layerIndex: 2, eventIndex: 0))).path
        == "clips[2].haptic.signals.continuous.envelopes.amplitude")
  }

  @Test func partIsOneClip() throws {
    let result = readResult(Self.project, part: SourceFile.Part(index: 2, name: "dirt"))
    let composition = try result.get()
    let clip = try HapticFormat.hapticClip.examine(
      SourceFile(Array(Self.haptic(0.25).utf8), name: "dirt.haptic")
    ).get()
    #expect(composition.layers.map(\.pattern) == clip.layers.map(\.pattern))
    #expect(composition.title == "dirt")
    #expect(readResult(Self.project, part: .init(index: 9, name: "")).errorCount == 1)
  }

  /// The sound of a clip is a loss in a haptic clip, and the haptics keep every value.
  @Test func clipIsWrittenValueByValue() throws {
    let composition = try readResult(Self.project, part: .init(index: 0, name: "snow")).get()
    let written = try #require(try HapticFormat.hapticClip.write(composition))
    #expect(written.losses.map(\.message) == ["audio events cannot be written"])
    let reread = try HapticFormat.hapticClip.examine(
      SourceFile(written.files[0].bytes, name: "snow.haptic")
    ).get()
    #expect(reread.layers.map(\.pattern) == [composition.layers[0].pattern])
  }

  @Test(arguments: ["/a.wav", "../a.wav", "a/../../b.wav", #"C:\\a.wav"#])
  func soundOutsideTheFolderIsALoss(path: String) {
    let text = Self.project.replacing("snow.wav", with: path)
    let result = readResult(text)
    #expect(result.soundReferences == [])
    #expect(
      result.losses.map(\.message) == ["the sound file is outside the folder of the project"])
  }

  @Test func errorsHaveLocations() {
    let projectWithEmptyEnvelope = Self.project.replacing(
      #"[{"time": 0, "amplitude": 0.25}, {"time": 0.25, "amplitude": 0}]"#, with: "[]")
    #expect(
      readResult(projectWithEmptyEnvelope).findings.map(\.description) == [
        """
        x.hasp:7:16: error: the amplitude envelope has no points; at least two are required \
        (clips[2].haptic.signals.continuous.envelopes.amplitude)
        """
      ])
    #expect(
      readResult(#"{"state": {}, "clips": [{"clipId": "a"}]}"#).findings.map(\.description) == [
        "x.hasp:1:24: error: the project has no clips with haptics (clips)"
      ])
    #expect(
      readResult(#"{"state": {"clipId": 1}, "clips": 1}"#).findings.map(\.description) == [
        "x.hasp:1:1: error: a project must have the key \"clips\" with an array"
      ])
  }

  @Test func damagedProjectsAreReadOrRefused() {
    var generator = SplitMixGenerator(state: 3)
    for _ in 0..<300 {
      var bytes = Array(Self.project.utf8)
      for _ in 0...generator.next() % 3 {
        let index = Int(generator.next() % UInt64(bytes.count))
        bytes[index] = Array("0123456789e-+.,:[]{}\"\\ x".utf8)[Int(generator.next() % 24)]
      }
      let result = HapticFormat.studioProject.examine(SourceFile(bytes, name: "x.hasp"))
      let hasErrors = result.findings.contains { $0.severity == .error }
      #expect((result.composition == nil) == hasErrors)
      #expect(result.findings.allSatisfy { !$0.description.contains("\n") })
    }
  }
}
