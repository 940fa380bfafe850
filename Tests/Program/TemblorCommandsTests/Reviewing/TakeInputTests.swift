import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import SoundFile
import TestSupport
import Testing

@testable import CommandLineKit
@testable import PatternWorkflows
@testable import SystemSupport
@testable import TemblorCommands

struct TakeInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func patternsAndSoundFilesAreDistinguishedByContent() throws {
    let job = RenderJob(profile: .phone)
    let (patterns, _) = TakeInput.resolve(["heartbeat"])
    #expect(patterns.map(\.name) == ["heartbeat"])
    let patternTake = try #require(patterns.first).loadTake(job)
    #expect(patternTake.composition?.layers[0].pattern.events.isEmpty == false)
    #expect(patternTake.sourceText?.contains("HapticTransient") == true)
    #expect(patternTake.signal.rate == 48_000)

    // The content determines the kind of a file, and its name does not.
    let bytes: [UInt8] =
      Array("RIFF".utf8) + [44, 0, 0, 0] + Array("WAVEfmt ".utf8) + [
        16, 0, 0, 0, 1, 0, 2, 0, 0x40, 0x1F, 0, 0, 0, 0x7D, 0, 0, 4, 0, 16, 0,
      ] + Array("data".utf8) + [8, 0, 0, 0] + [0, 0x40, 0, 0xC0, 0, 0, 0, 0]
    try folder.write(bytes, to: "sound.ahap")
    let (sounds, _) = TakeInput.resolve([folder("sound.ahap")])
    #expect(sounds == [.sound(path: folder("sound.ahap"))])
    let soundTake = try #require(sounds.first).loadTake(job)
    #expect(soundTake.signal.channels == [[0.5, 0], [-0.5, 0]])
    #expect(soundTake.signal.rate == 8_000)
    #expect(soundTake.composition == nil)
  }

  /// Returns a WAV file with one channel of 32-bit floating-point samples.
  private func wave(_ samples: [Float]) -> [UInt8] {
    func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> ($0 * 8) & 0xFF) } }
    let data = samples.flatMap { bytes($0.bitPattern) }
    return Array("RIFF".utf8) + bytes(UInt32(36 + data.count)) + Array("WAVEfmt ".utf8) + bytes(16)
      + [3, 0, 1, 0]
      + bytes(8_000) + bytes(32_000) + [4, 0, 32, 0] + Array("data".utf8)
      + bytes(UInt32(data.count)) + data
  }

  @Test func emptyOrNonFiniteSoundIsRefused() throws {
    try folder.write(wave([]), to: "empty.wav")
    try folder.write(wave([0, .nan, 1, .infinity]), to: "bad.wav")
    for (name, reason) in [
      ("empty.wav", "contains no audio"), ("bad.wav", "2 of 4 samples are NaN or infinite"),
    ] {
      let input = try #require(TakeInput.resolve([folder(name)]).inputs.first)
      let error = try #require(
        #expect(throws: SoundFileError.self) { try input.loadTake(RenderJob(profile: .phone)) })
      #expect(error.description == reason)
      #expect(ErrorReporting.exitStatus(of: error) == .invalidInput)
    }
  }

  @Test func unknownNameIsReportedAsAPattern() {
    let (inputs, problems) = TakeInput.resolve(["hartbeat"])
    #expect(inputs.isEmpty)
    #expect(
      problems.map(\.description) == [
        "hartbeat: file not found, and no shipped pattern has this name; did you mean 'heartbeat'?"
      ])
  }
}
