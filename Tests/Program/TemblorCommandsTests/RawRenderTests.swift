import CommandLineKit
import Foundation
import SoundFile
import TestSupport
import Testing

@testable import TemblorCommands

/// `render --raw`: the model's signal, and of MPEG haptics the file's own.
@Suite struct RawRenderTests {
  private let testFolder: TemporaryFolder

  init() throws { testFolder = try TemporaryFolder() }

  private func run(_ words: [String]) -> (
    status: CommandLineKit.ExitStatus, output: String, error: String
  ) {
    let recorded = RecordedTerminal()
    let status = TemblorProgram.makeProgram().run(words, on: recorded.terminal)
    return (status, recorded.output, recorded.error)
  }

  /// The samples of a file rendered at 8 kHz, and what was said.
  private func render(_ file: String, _ options: String...) throws -> (
    samples: [Float], error: String
  ) {
    let sound = testFolder("sound.wav")
    let words = ["render", file, "--sample-format", "float", "--rate", "8000", "-q", "-o", sound]
    let done = run(words + options)
    #expect(done.status == .success, "\(file): \(done.error)")
    return (
      try Sound(contentsOf: sound).interleaved, run(words.filter { $0 != "-q" } + options).error
    )
  }

  @Test func whatWouldChangeTheSignalIsRefused() {
    for other in ["--normalize", "--acceleration"] {
      let refused = run(["render", "light", "--raw", other, "-o", testFolder("x.wav")])
      #expect(refused.status == .usageError && refused.output.isEmpty)
      #expect(
        refused.error
          == "temblor: '--raw' and '\(other)' cannot be used together\nSee 'temblor render --help'.\n"
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
    let usual = try render(testFolder("hums.ahap"), "--profile", "mpeg").samples
    for frame in 0..<800 {
      #expect(
        abs(Double(raw[frame]) - 1.2276 * sin(2 * .pi * 300 * Double(frame) / 8_000)) < 1e-4,
        "\(frame)")
    }
    #expect(raw[800...].allSatisfy { $0 == 0 } && usual.allSatisfy { abs($0) < 0.9 })
  }

  /// An amplitude of 1 and 50 Hz are both beyond what the profile has.
  @Test func aFileOfMPEGHapticsIsItsOwnSignal() throws {
    let keys = [0, 2_000].map {
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
      "phase": 0, "keyframes": [\(keys.joined(separator: ", "))]}]}]}]}]}
      """, to: "wave.hjif")
    let raw = try render(testFolder("wave.hjif"), "--profile", "mpeg", "--raw", "--tail", "0")
    #expect(raw.samples.count == 16_800 && raw.samples[..<800].allSatisfy { $0 == 0 })
    for (frame, sample) in raw.samples[800...].enumerated() {
      #expect(abs(Double(sample) - sin(2 * .pi * 50 * Double(frame) / 8_000)) < 1e-6, "\(frame)")
    }
    #expect(!raw.error.contains("warning"), "\(raw.error)")
    let said = try render(testFolder("wave.hjif"), "--profile", "mpeg").error
    let location = "(perceptions[0].channels[0].bands[0].effects[0])"
    let text =
      "amplitudes above the amplitude of intensity 1 are clamped by up to 0.386 of full scale"
    #expect(said.contains(": warning: \(text) \(location)\n"), "\(said)")
    // Frequencies reach the profile as they are.
    #expect(!said.contains("frequencies"), "\(said)")
  }

  @Test func unknownParametersAreIgnoredWithAWarning() throws {
    func tap(_ more: String) -> String {
      """
      {"Version": 1.0, "Pattern": [{"Event": {"EventType": "HapticTransient", "Time\
      ": 0, "EventParameters": [\(more)
      {"ParameterID": "HapticIntensity", "ParameterValue": 1}]}}]}
      """
    }
    let unknown = ["HapticReleaseTime", "HapticAttackTime", "A", "B", "C"]
    let more = unknown.map { "{\"ParameterID\": \"\($0)\", \"ParameterValue\": 0.2}," }.joined(
      separator: "\n")
    try testFolder.write(tap(more), to: "near.ahap")
    try testFolder.write(tap(""), to: "plain.ahap")
    let near = try render(testFolder("near.ahap"))
    let plain = try render(testFolder("plain.ahap"))
    #expect(near.samples == plain.samples)
    #expect(
      near.error.contains(
        ": warning: unknown event parameter \"HapticReleaseTime\" is ignored "
          + "(Pattern[0].Event.EventParameters[0].ParameterID); did you mean \"ReleaseTime\"?\n"))
    #expect(
      near.error.contains(": warning: and 2 more, lines 4–5\n") && !plain.error.contains("warning"))
    let strict = run([
      "convert", "--strict", testFolder("near.ahap"), "-o", testFolder("near.haptic"),
    ])
    #expect(
      strict.status == .invalidInput && strict.error.contains("\"HapticAttackTime\" is ignored"))
  }

  /// The renderings of the reference software beside files of a corpus, but for these two faults of
  /// it.
  @Test func filesAreTheRenderingsOfTheReference() throws {
    guard let corpus = ProcessInfo.processInfo.environment["TEMBLOR_TEST_FORMATS"] else { return }
    /// A curve that does not begin at 0, and a wave that goes on behind its last frequency.
    let others = ["authored-curve-late.hjif", "authored-wave-sparse-keys.hjif"]
    var equal = 0
    for folder in ["hjif", "hmpg"] {
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(corpus)/\(folder)")
        .sorted()
      {
        guard name.hasSuffix(".rm8000.wav") else { continue }
        let file = String(name.dropLast(".rm8000.wav".count))
        let theirs = try Sound(contentsOf: "\(corpus)/\(folder)/\(name)").interleaved
        let ours = try render(
          "\(corpus)/\(folder)/\(file)", "--profile", "mpeg", "--raw", "--tail", "0"
        ).samples
        #expect(ours.count == theirs.count, "\(file)")
        let departure = zip(ours, theirs).map { abs(min(max($0, -1), 1) - $1) * 32_768 }.max() ?? 9
        #expect((departure <= 1) != others.contains(file), "\(file): \(departure)")
        equal += departure <= 1 ? 1 : 0
      }
    }
    #expect(equal == 39)
  }
}
