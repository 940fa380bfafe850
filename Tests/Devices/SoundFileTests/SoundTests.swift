import Glibc
import TestSupport
import Testing

@testable import SoundFile

@Suite struct SoundTests {
  private func readError(_ bytes: [UInt8], byteCount: Int? = nil) throws -> SoundFileError? {
    let file = try UnnamedFile(bytes)
    if let byteCount {
      ftruncate(file.descriptor, byteCount)
    }
    return #expect(throws: SoundFileError.self) { try file.sound() }
  }

  @Test(arguments: ["", "text", "RIFF\0\0\0\0WAVE"]) func textsAreRefused(text: String) throws {
    let error = try readError(Array(text.utf8))
    #expect(error?.kind == .notSound)
    #expect(error?.description.hasPrefix("is not a readable sound file (libsndfile: ") == true)
  }

  /// A sparse file whose header specifies too many samples is refused before it is read.
  @Test func longSoundIsRefusedByItsHeader() throws {
    func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let byteCount = 4_000_000_000
    let header =
      Array("RIFF".utf8) + littleEndian(byteCount - 8, 4) + Array("WAVEfmt ".utf8)
      + littleEndian(16, 4)
      + littleEndian(1, 2) + littleEndian(1, 2)
      + littleEndian(48_000, 4) + littleEndian(96_000, 4) + littleEndian(2, 2) + littleEndian(16, 2)
      + Array("data".utf8)
      + littleEndian(byteCount - 44, 4)
    let error = try readError(header, byteCount: byteCount)
    #expect(error?.kind == .tooLong)
    #expect(
      error?.description
        == "is too long: more than 72000000 samples (12.5 minutes of stereo at 48 kHz)")
  }

  @Test(arguments: [8_000.0, 44_100, 96_000]) func resamplingKeepsFrequencyAndDuration(rate: Double)
    throws
  {
    let sound = Sound(
      interleaved: sine(hertz: 440, rate: 48_000, count: 48_000).flatMap { [$0, 0] },
      channelCount: 2, rate: 48_000)
    let resampled = try sound.resampled(to: rate, path: "a")
    #expect(resampled.rate == rate)
    #expect(resampled.channelCount == 2)
    #expect(abs(resampled.frameCount - Int(rate)) <= 1)
    let leftChannel = stride(from: 0, to: resampled.interleaved.count, by: 2).map {
      resampled.interleaved[$0]
    }
    #expect(abs(frequency(of: leftChannel, rate: rate) - 440) < 0.5)
    // Except near the ends, the level is unchanged, and the silent channel stays silent.
    #expect(abs((leftChannel.dropFirst(1_000).dropLast(1_000).max() ?? 0) - 0.9) < 0.01)
    let rightIndices = stride(from: 1, to: resampled.interleaved.count, by: 2)
    #expect(rightIndices.allSatisfy { resampled.interleaved[$0] == 0 })
  }

  @Test func resamplingToTheSameRateChangesNothing() throws {
    let sound = Sound(interleaved: [0.1, 0.2], channelCount: 1, rate: 48_000)
    #expect(try sound.resampled(to: 48_000, path: "a") == sound)
    let silence = Sound(interleaved: [], channelCount: 1, rate: 48_000)
    #expect(try silence.resampled(to: 96_000, path: "a") == silence)
  }

  @Test func ratioBeyondTheConverterIsRefused() {
    let sound = Sound(interleaved: [0.1, 0.2], channelCount: 1, rate: 100)
    let error = #expect(throws: SoundFileError.self) { try sound.resampled(to: 48_000, path: "a") }
    #expect(error?.description == "cannot be resampled from 100.0 Hz to 48000.0 Hz")
  }

  @Test func readingKeepsTheDescriptorOpen() throws {
    let file = try UnnamedFile.holding([0.5], .wav, .float)
    #expect(try file.sound() == file.sound())
  }
}
