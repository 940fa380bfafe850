import Foundation
import HapticModel
import HapticRender
import PatternComparison
import PatternWorkflows
import SignalAnalysis
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Sound files with vibration, such as those of consoles, as patterns.
@Suite struct HapticSoundTests {
  private let testFolder: TemporaryFolder
  private static let rate = 8_000

  /// Writes a file with sound on channels 1 and 2, 60 Hz on channel 3, and 160 Hz on channel 4.
  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(
      Self.wave([
        { 0.3 * sin(2 * .pi * 440 * $0) }, { 0.3 * sin(2 * .pi * 660 * $0) },
        { 0.2..<0.6 ~= $0 ? 0.5 * sin(2 * .pi * 60 * $0) : 0 },
        { 0.7..<1 ~= $0 ? 0.5 * sin(2 * .pi * 160 * $0) : 0 },
      ]), to: "pad.wav")
    let tone: (Double) -> Double = { 0.5 * sin(2 * .pi * 100 * $0) }
    try testFolder.write(Self.wave([tone, tone]), to: "equal.wav")
  }

  /// Returns a WAV file of one second with 16 bits per sample.
  private static func wave(_ channels: [(Double) -> Double]) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: Int, count: Int) {
      for byte in 0..<count {
        bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte)))
      }
    }
    let frameSize = channels.count * 2
    let dataSize = rate * frameSize
    bytes += Array("RIFF".utf8)
    append(dataSize + 36, count: 4)
    bytes += Array("WAVEfmt ".utf8)
    append(16, count: 4)
    append(1, count: 2)
    append(channels.count, count: 2)
    append(rate, count: 4)
    append(rate * frameSize, count: 4)
    append(frameSize, count: 2)
    append(16, count: 2)
    bytes += Array("data".utf8)
    append(dataSize, count: 4)
    for frame in 0..<rate {
      for channel in channels {
        append(Int(32_767 * channel(Double(frame) / Double(rate))), count: 2)
      }
    }
    return bytes
  }

  private func load(_ name: String, channels: [Int]? = nil) throws -> HapticComposition {
    var input = PatternInput(origin: .file(testFolder(name)), outputStem: "x")
    input.soundChannels = channels
    return try LoadedPattern(input).composition
  }

  @Test("Channels that differ are signals at body locations")
  func channelsThatDiffer() throws {
    let composition = try load("pad.wav", channels: [2, 3])
    #expect(composition.bodyLocations.map(\.displayName) == ["channel 3", "channel 4"])
    #expect(composition.layers.map(\.signals.count) == [1, 1])
    let signal = composition.layers[0].signals[0]
    #expect(signal.sampleRate == 8_000 && signal.samples.count == 8_000)
    #expect(signal.samples[..<1_600].allSatisfy { $0 == 0 })
    #expect(try load("pad.wav").bodyLocationCount == 4)
    #expect(try load("pad.wav", channels: [3]).bodyLocationCount == 0)
  }

  @Test("Channels that do not differ are one signal")
  func channelsThatAreEqual() throws {
    let composition = try load("equal.wav")
    #expect(composition.layers.count == 1 && composition.bodyLocations.isEmpty)
    #expect(composition.layers[0].signals.map(\.durationSeconds) == [1])
  }

  @Test("Render plays chosen channels, each on the output channel of its body location")
  func rendering() throws {
    let run = testFolder.runTemblor(
      "render", testFolder("pad.wav"), "--input-channels", "3,4", "--channels", "2", "-o",
      testFolder("felt.wav"))
    #expect(run.status == .success, "\(run.error)")
    let info = testFolder.runTemblor("info", testFolder("felt.wav"), "--json")
    #expect(info.status == .success)
    let signal = try TakeInput.loadSound(testFolder("felt.wav"), job: RenderJob(profile: .phone))
      .signal
    let middleFrame = Int(0.65 * signal.rate)
    func peak(_ channel: Int, _ range: Range<Int>) -> Float {
      signal.channels[channel][range].map { abs($0) }.max() ?? 0
    }
    let endFrame = Int(0.99 * signal.rate)
    #expect(peak(0, 0..<middleFrame) > 0.1 && peak(0, middleFrame..<endFrame) < 0.01)
    #expect(peak(1, 0..<middleFrame) < 0.01 && peak(1, middleFrame..<endFrame) > 0.1)
  }

  @Test("The profile protects the transducer from the samples")
  func protection() {
    let run = testFolder.runTemblor(
      "info", testFolder("equal.wav"), "--input-channels", "1", "--profile", "dayton-bst-1")
    #expect(run.status == .success)
    #expect(run.output.contains("contents   1 sampled signal"), "\(run.output)")
    let rendered = testFolder.runTemblor(
      "render", testFolder("equal.wav"), "--profile", "dayton-bst-1", "-o", testFolder("shaker.wav")
    )
    #expect(rendered.error.contains("excursion"), "\(rendered.error)")
  }

  @Test("Commands that measure sounds accept chosen channels as patterns")
  func measuring() {
    let info = testFolder.runTemblor("info", testFolder("pad.wav"), "--input-channels", "3,4")
    #expect(info.output.contains("places     channel 3, channel 4"), "\(info.output)")
    let plot = testFolder.runTemblor(
      "plot", testFolder("pad.wav"), "--input-channels", "3", "--width", "60")
    #expect(plot.status == .success && plot.output.contains("profile phone"), "\(plot.output)")
    let comparison = testFolder.runTemblor(
      "compare", testFolder("pad.wav"), testFolder("equal.wav"), "--input-channels", "1")
    #expect(
      comparison.status == .success
        && comparison.output.contains("pad.wav (pattern, profile phone)"), "\(comparison.output)")
  }

  @Test("Missing and invalid channels are errors")
  func invalidChannels() {
    let missing = testFolder.runTemblor(
      "render", testFolder("pad.wav"), "--input-channels", "3,5", "-o", testFolder("x.wav"))
    #expect(missing.status == .failure)
    #expect(missing.error == "pad.wav: has 4 channels, but '--input-channels' is 3,5\n")
    for text in ["0", "3,3", "", "a", "1,"] {
      let run = testFolder.runTemblor(
        "render", testFolder("pad.wav"), "--input-channels", text, "-o", testFolder("x.wav"))
      #expect(run.status == .usageError, "\(text): \(run.error)")
    }
  }

  @Test("A sound file is not overwritten by its own rendering")
  func overwriting() {
    let run = testFolder.runTemblor(
      "render", testFolder("equal.wav"), "-o", testFolder("equal.wav"))
    #expect(run.status != .success)
    #expect(run.error.contains("equal.wav"), "\(run.error)")
  }
}
