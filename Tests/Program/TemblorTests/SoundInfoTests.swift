import Glibc
import SoundFile
import TestSupport
import Testing

/// `temblor info` of sound files.
@Suite struct SoundInfoTests {
  let folder = WorkingFolder()

  private func write(
    _ samples: [Float], to name: String, channelCount: Int = 1,
    samples format: SampleFormat = .float
  )
    throws
  {
    let descriptor = unsafe open(folder.path + "/" + name, O_RDWR | O_CREAT, 0o600)
    defer { close(descriptor) }
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: name,
      format: SoundFileFormat(container: .wav, sampleFormat: format),
      rate: 48_000,
      channelCount: channelCount, frameCount: Int64(samples.count / channelCount))
    try writer.write(samples.span)
    try writer.close()
  }

  private static let tone = (0..<48_000).map {
    Float(0.5 * sin(2 * .pi * 100 * Double($0) / 48_000))
  }

  @Test func measurementsAsText() throws {
    try write(Self.tone, to: "a.wav")
    #expect(
      try folder.temblor("info", "a.wav")
        == .init(
          0,
          output: """
            a.wav
              length     1 s, 48000 frames at 48000 Hz
              contents   1 channel, 32 bit float in WAV (Microsoft)
              level      peak -6 dBFS, true peak -6 dBTP, RMS -9 dBFS, crest 3 dB, DC 0
              loudness   -10.9 LUFS
              weighted   -9 dB for a hand that holds a device
              spectrum   centered at 99.9 Hz; 100 % from 80 to 250 Hz
              onsets     1, at 0 s

            """))
  }

  @Test func channelsHaveTheirOwnMeasurements() throws {
    try write(Self.tone.flatMap { [$0, 0] }, to: "a.wav", channelCount: 2)
    let lines = try folder.temblor("info", "a.wav").output.split(separator: "\n")
    #expect(
      lines.suffix(2) == [
        "  channel 1  peak -6 dBFS, true peak -6 dBTP, RMS -9 dBFS, crest 3 dB, DC 0, felt -9 dB",
        "  channel 2  silent",
      ])
  }

  @Test func weightingIsChosen() throws {
    try write(Self.tone, to: "a.wav")
    let run = try folder.temblor("info", "a.wav", "--weighting", "whole-body")
    #expect(
      run.output.contains("weighted   -29.8 dB for a whole body on a vibrating seat or floor\n"))
    let json = try folder.temblor("info", "--json", "a.wav", "--weighting", "hand-arm").output
    #expect(json.contains("\"weighting\": \"hand-arm\""))
    #expect(json.contains("\"sound\": \"a.wav\""))
  }

  @Test func soundsAndPatternsCanBeMixed() throws {
    try write(Self.tone, to: "a.wav")
    let run = try folder.temblor("info", "light", "a.wav")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("light\n"))
    #expect(run.output.contains("\na.wav\n"))
  }

  @Test func silenceIsReported() throws {
    try write([Float](repeating: 0, count: 480), to: "a.wav", samples: .s16)
    #expect(
      try folder.temblor("info", "a.wav")
        == .init(
          0,
          output: """
            a.wav
              length     0.01 s, 480 frames at 48000 Hz
              contents   1 channel, Signed 16 bit PCM in WAV (Microsoft)
              level      silent
              onsets     none

            """))
  }

  @Test func nonFiniteSamplesAreReported() throws {
    try write([Float](repeating: .nan, count: 480), to: "all.wav")
    let invalidRun = try folder.temblor("info", "all.wav")
    #expect(invalidRun.status == 2)
    #expect(invalidRun.output.contains("  level      silent\n"))
    #expect(
      invalidRun.error
        == "all.wav: all 480 samples are NaN or infinite; they are treated as silence\n")
    var samples = Self.tone
    samples[7] = .infinity
    try write(samples, to: "some.wav")
    let run = try folder.temblor("info", "--json", "some.wav")
    #expect(run.status == 2)
    #expect(run.output.contains("\"nonFiniteSamples\": 1"))
    #expect(
      run.error == "some.wav: 1 of 48000 samples are NaN or infinite; they are treated as silence\n"
    )
  }

  @Test func filesWithoutSoundAreRefused() throws {
    try write([], to: "none.wav")
    try folder.write("hello", to: "text.wav")
    #expect(
      try folder.temblor("info", "none.wav") == .init(2, error: "none.wav: contains no audio\n"))
    let text = try folder.temblor("info", "text.wav")
    #expect(text.status == 2 && text.output == "")
    #expect(text.error.hasPrefix("text.wav: is not a readable sound file (libsndfile: "))
    #expect(
      try folder.temblor("info", "gone.wav")
        == .init(1, error: "gone.wav: \(ExpectedMessage.unknownPattern)\n"))
  }
}
