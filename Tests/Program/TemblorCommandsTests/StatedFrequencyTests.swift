import HapticFormats
import HapticPlayback
import PatternComparison
import PatternWorkflows
import SignalAnalysis
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Files that state frequencies in hertz, on a bass shaker.
@Suite struct StatedFrequencyTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a vibration of 0.9 s and returns its path.
  private func vibration(hertz: Int) throws -> String {
    try folder.write(
      """
      <vibration-effect><waveform-envelope-effect>
      <control-point amplitude="0.8" frequencyHz="\(hertz)" durationMs="900"/>
      <control-point amplitude="0" frequencyHz="\(hertz)" durationMs="20"/>
      </waveform-envelope-effect></vibration-effect>
      """, to: "\(hertz).xml")
    return folder("\(hertz).xml")
  }

  /// Renders a file and returns the frequency of its samples from 0.3 to 0.8 s.
  private func rendered(_ path: String, _ arguments: String...) throws -> Double {
    let run = TemblorProgram.run(
      ["render", path, "--profile", "dayton-bst-1", "-o", folder("a.wav"), "--quiet"] + arguments)
    try #require(run.status == .success, "\(run.error)")
    return try frequency(ofFile: folder("a.wav"))
  }

  /// Returns the frequency of a sound file from 0.3 to 0.8 s.
  private func frequency(ofFile path: String) throws -> Double {
    let sound = try TakeInput.loadSound(path, job: RenderJob()).signal
    let samples = sound.channels[0]
    var crossings: [Double] = []
    for index in Int(0.3 * sound.rate)..<Int(0.8 * sound.rate)
    where samples[index] < 0 && samples[index + 1] >= 0 {
      let start = Double(samples[index])
      crossings.append(Double(index) - start / (Double(samples[index + 1]) - start))
    }
    let firstCrossing = try #require(crossings.first)
    let lastCrossing = try #require(crossings.last)
    return Double(crossings.count - 1) * sound.rate / (lastCrossing - firstCrossing)
  }

  @Test("A study maps hertz to the band of the profile with --pitch sharpness")
  func studiesMapHertz() throws {
    _ = try vibration(hertz: 75)
    try folder.write("id,file\nlow,75.xml\n", to: "stimuli.csv")
    var frequencies: [Double] = []
    for pitch in ["hertz", "sharpness"] {
      let run = TemblorProgram.run(
        "study", folder("stimuli.csv"), "--profile", "dayton-bst-1", "--pitch", pitch, "--render",
        folder(pitch), "--no-config")
      try #require(run.status == .success, "\(run.error)")
      frequencies.append(try frequency(ofFile: folder("\(pitch)/low.wav")))
    }
    #expect(abs(frequencies[0] - 75) < 0.375)
    #expect(frequencies[1] < 25)
  }

  @Test("A shaker plays the frequencies of its band within 0.5 %", arguments: [30, 45, 60, 75])
  func frequenciesInBand(hertz: Int) throws {
    let playedHertz = try rendered(try vibration(hertz: hertz))
    #expect(abs(playedHertz / Double(hertz) - 1) < 0.005, "\(playedHertz)")
  }

  @Test("As sharpness, frequencies are mapped to the band of the profile")
  func pitchAsSharpness() throws {
    let playedHertz = try rendered(try vibration(hertz: 45), "--pitch", "sharpness")
    #expect(abs(playedHertz / 20 - 1) < 0.005, "\(playedHertz)")
  }

  @Test("The command server plays frequencies as --pitch says", arguments: ["hertz", "sharpness"])
  func pitchOfTheCommandServer(name: String) throws {
    let pitch = try #require(ReadingOptions.FrequencyHandling(rawValue: name))
    var reading = ReadingOptions()
    reading.frequencyHandling = pitch
    let fixture = ListenFixture(reading: reading)
    let reply = fixture.ask("play \(try vibration(hertz: 45))")
    try #require(reply.hasPrefix("ok"), "\(reply)")
    fixture.run(1)
    let samples = fixture.playback.samples()
    let crossings = (14_400..<38_400).filter { samples[$0] < 0 && samples[$0 + 1] >= 0 }
    let firstCrossing = try #require(crossings.first)
    let lastCrossing = try #require(crossings.last)
    let playedHertz = Double(crossings.count - 1) * 48_000 / Double(lastCrossing - firstCrossing)
    let expected = pitch == .hertz ? 45.0 : 80
    #expect(abs(playedHertz / expected - 1) < 0.005, "\(playedHertz)")
    let help = TemblorProgram.run("listen", "--help")
    #expect(help.output.contains("--pitch"))
  }

  @Test("Rendering, playing, and checking name frequencies that are moved, in one line")
  func movedFrequencies() throws {
    let path = try vibration(hertz: 300)
    let message =
      "300 Hz is partly outside the band of dayton-bst-1, 10–80 Hz: frequencies are shifted by up "
      + "to 220 Hz"
    let render = TemblorProgram.run(
      "render", path, "--profile", "dayton-bst-1", "-o", folder("a.wav"))
    #expect(render.error.split(separator: "\n").count { $0.contains(message) } == 1, "\(render)")
    let check = TemblorProgram.run("check", path, "--profile", "dayton-bst-1")
    #expect(check.output.split(separator: "\n").count { $0.contains(message) } == 1, "\(check)")
    let inBand = TemblorProgram.run("check", try vibration(hertz: 75), "--profile", "dayton-bst-1")
    #expect(!inBand.output.contains("transducer-band"), "\(inBand)")
  }
}
