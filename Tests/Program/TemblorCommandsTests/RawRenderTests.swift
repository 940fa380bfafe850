import CommandLineKit
import Foundation
import SoundFile
import TestSupport
import Testing

@testable import TemblorCommands

/// `render --raw` writes the signal of the model or, for MPEG haptics, the signal of the file.
@Suite struct RawRenderTests {
  private let testFolder: TemporaryFolder

  init() throws { testFolder = try TemporaryFolder() }

  /// Returns the samples of a file rendered at 8 kHz, and the messages.
  private func render(_ file: String, _ options: String...) throws -> (
    samples: [Float], error: String
  ) {
    let sound = testFolder("sound.wav")
    let arguments = [
      "render", file, "--sample-format", "float", "--rate", "8000", "-q", "-o", sound,
    ]
    let result = TemblorProgram.run(arguments + options)
    #expect(result.status == .success, "\(file): \(result.error)")
    return (
      try Sound(contentsOf: sound).interleaved,
      TemblorProgram.run(arguments.filter { $0 != "-q" } + options).error
    )
  }

  @Test func optionsThatChangeTheSignalAreRefused() {
    for option in ["--normalize", "--acceleration"] {
      let result = TemblorProgram.run([
        "render", "light", "--raw", option, "-o", testFolder("x.wav"),
      ])
      #expect(result.status == .usageError && result.output.isEmpty)
      #expect(
        result.error
          == "temblor: '--raw' and '\(option)' cannot be used together\n"
          + "See 'temblor render --help'.\n"
      )
    }
    #expect(!FileManager.default.fileExists(atPath: testFolder("x.wav")))
  }

  @Test func eventsAreNeitherLimitedNorRamped() throws {
    let hum = """
      {"Event": {"EventType": "HapticContinuous", "Time": 0, "EventDuration":\
       0.1, "EventParameters":
      [{"ParameterID": "HapticIntensity", "ParameterValue": 1}, {"ParameterID": "HapticSharpn\
      ess", "ParameterValue": 1}]}}
      """
    try testFolder.write("{\"Version\": 1.0, \"Pattern\": [\(hum), \(hum)]}", to: "hums.ahap")
    let raw = try render(testFolder("hums.ahap"), "--profile", "mpeg", "--raw").samples
    let limited = try render(testFolder("hums.ahap"), "--profile", "mpeg").samples
    for frame in 0..<800 {
      #expect(
        abs(Double(raw[frame]) - 1.2276 * sin(2 * .pi * 300 * Double(frame) / 8_000)) < 1e-4,
        "\(frame)")
    }
    #expect(raw[800...].allSatisfy { $0 == 0 } && limited.allSatisfy { abs($0) < 0.9 })
  }

  /// The amplitude of 1 and the frequency of 50 Hz are both outside the range of the profile.
  @Test func mpegFileIsRenderedAsItsOwnSignal() throws {
    let keyframes = [0, 2_000].map {
      "{\"relative_position\": \($0), \"amplitude_modulation\": 1.0, \"frequency_modulation\": 50}"
    }
    try testFolder.write(
      """
      {"version": "2023", "profile": "Main", "level": 1, "date": "2026-11-21", "description"\
      : "", "timescale": 1000,
      "avatars": [], "syncs": [], "perceptions": [{"id": 0, "avatar_id": 0, "description": "",
      "perception_modality": "Vibrotactile", "effect_library": [], "channels": [{"id": 0, "descript\
      ion": "c",
      "gain": 1, "mixing_coefficient": 1, "bands": [{"band_type": "VectorialW\
      ave", "lower_frequency_limit": 0,
      "upper_frequency_limit": 1000, "effects": [{"effect_type": "Basis", "position":\
       100, "base_signal": "Sine",
      "phase": 0, "keyframes": [\(keyframes.joined(separator: ", "))]}]}]}]}]}
      """, to: "wave.hjif")
    let raw = try render(testFolder("wave.hjif"), "--profile", "mpeg", "--raw", "--tail", "0")
    #expect(raw.samples.count == 16_800 && raw.samples[..<800].allSatisfy { $0 == 0 })
    for (frame, sample) in raw.samples[800...].enumerated() {
      #expect(abs(Double(sample) - sin(2 * .pi * 50 * Double(frame) / 8_000)) < 1e-6, "\(frame)")
    }
    #expect(!raw.error.contains("warning"), "\(raw.error)")
    let messages = try render(testFolder("wave.hjif"), "--profile", "mpeg").error
    let location = "(perceptions[0].channels[0].bands[0].effects[0])"
    let text =
      "amplitudes above the amplitude of intensity 1 are clamped by up to 0.386 of full scale"
    #expect(messages.contains(": warning: \(text) \(location)\n"), "\(messages)")
    // Frequencies reach the profile unchanged.
    #expect(!messages.contains("frequencies"), "\(messages)")
  }

  @Test func unknownParametersAreIgnoredWithAWarning() throws {
    func tap(_ parameters: String) -> String {
      """
      {"Version": 1.0, "Pattern": [{"Event": {"EventType": "HapticTransient", "Time\
      ": 0, "EventParameters": [\(parameters)
      {"ParameterID": "HapticIntensity", "ParameterValue": 1}]}}]}
      """
    }
    let unknown = ["HapticReleaseTime", "HapticAttackTime", "A", "B", "C"]
    let unknownParameters = unknown.map { "{\"ParameterID\": \"\($0)\", \"ParameterValue\": 0.2}," }
      .joined(
        separator: "\n")
    try testFolder.write(tap(unknownParameters), to: "near.ahap")
    try testFolder.write(tap(""), to: "plain.ahap")
    let withUnknown = try render(testFolder("near.ahap"))
    let withoutUnknown = try render(testFolder("plain.ahap"))
    #expect(withUnknown.samples == withoutUnknown.samples)
    #expect(
      withUnknown.error.contains(
        ": warning: unknown event parameter \"HapticReleaseTime\" is ignored "
          + "(Pattern[0].Event.EventParameters[0].ParameterID); did you mean \"ReleaseTime\"?\n"))
    #expect(
      withUnknown.error.contains(": warning: and 2 more, lines 4–5\n")
        && !withoutUnknown.error.contains("warning"))
    let strict = TemblorProgram.run([
      "convert", "--strict", testFolder("near.ahap"), "-o", testFolder("near.haptic"),
    ])
    #expect(
      strict.status == .invalidInput && strict.error.contains("\"HapticAttackTime\" is ignored"))
  }

  /// The files of a corpus equal the renderings of the reference software in the same folder,
  /// except for two files that the reference software renders incorrectly.
  @Test func filesEqualTheRenderingsOfTheReferenceSoftware() throws {
    guard FormatsCorpus.folder != nil else { return }
    // A curve that does not start at 0, and a wave that continues after its last frequency.
    let exceptions = ["authored-curve-late.hjif", "authored-wave-sparse-keys.hjif"]
    var equalCount = 0
    for folder in ["hjif", "hmpg"] {
      for name in try FormatsCorpus.names(in: folder, suffix: ".rm8000.wav") {
        let file = String(name.dropLast(".rm8000.wav".count))
        let referencePath = FormatsCorpus.path(of: "\(folder)/\(name)")
        let reference = try Sound(contentsOf: referencePath).interleaved
        let rendered = try render(
          FormatsCorpus.path(of: "\(folder)/\(file)"),
          "--profile", "mpeg", "--raw", "--tail", "0"
        ).samples
        #expect(rendered.count == reference.count, "\(file)")
        let maximumDifference =
          zip(rendered, reference).map { abs(min(max($0, -1), 1) - $1) * 32_768 }.max() ?? 9
        #expect(
          (maximumDifference <= 1) != exceptions.contains(file), "\(file): \(maximumDifference)")
        equalCount += maximumDifference <= 1 ? 1 : 0
      }
    }
    #expect(equalCount == 39)
  }
}
