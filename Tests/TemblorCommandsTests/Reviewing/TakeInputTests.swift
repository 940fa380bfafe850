import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

@testable import TemblorCommands

struct TakeInputTests {
  private let place: Scratch

  init() throws { place = try Scratch() }

  @Test func patternsAndSoundFilesAreToldApartByWhatTheyHold() throws {
    let job = RenderJob(profile: .phone)
    let (patterns, _) = TakeInput.find(["heartbeat"])
    #expect(patterns.map(\.name) == ["heartbeat"])
    let drawn = try #require(patterns.first).take(job)
    #expect(drawn.pattern?.events.isEmpty == false)
    #expect(drawn.text?.contains("HapticTransient") == true)
    #expect(drawn.signal.rate == 48_000)

    // The name tells nothing; the bytes do.
    let bytes: [UInt8] =
      Array("RIFF".utf8) + [44, 0, 0, 0] + Array("WAVEfmt ".utf8)
      + [16, 0, 0, 0, 1, 0, 2, 0, 0x40, 0x1F, 0, 0, 0, 0x7D, 0, 0, 4, 0, 16, 0]
      + Array("data".utf8) + [8, 0, 0, 0] + [0, 0x40, 0, 0xC0, 0, 0, 0, 0]
    try place.write(bytes, to: "sound.ahap")
    let (sounds, _) = TakeInput.find([place("sound.ahap")])
    #expect(sounds == [.sound(path: place("sound.ahap"))])
    let read = try #require(sounds.first).take(job)
    #expect(read.signal.channels == [[0.5, 0], [-0.5, 0]])
    #expect(read.signal.rate == 8_000)
    #expect(read.pattern == nil)
  }

  @Test func aNameThatIsNothingIsToldAsAPattern() {
    let (inputs, problems) = TakeInput.find(["hartbeat"])
    #expect(inputs.isEmpty)
    #expect(
      problems.map(\.description) == [
        "hartbeat: no such file, and no shipped pattern has this name; did you mean 'heartbeat'?"
      ])
  }
}
