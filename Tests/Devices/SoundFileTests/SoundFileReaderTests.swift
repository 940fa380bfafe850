import Glibc
import TestSupport
import Testing

@testable import SoundFile

@Suite struct SoundFileReaderTests {
  @Test func blocksContainTheWholeSound() throws {
    let samples = sine(hertz: 100, rate: 8_000, count: 2_000)
    let file = try UnnamedFile.holding(samples, .wav, .float, rate: 8_000, channelCount: 2)
    lseek(file.descriptor, 0, SEEK_SET)
    var reader = try SoundFileReader(readingDescriptor: file.descriptor, path: "scratch")
    #expect(reader.channelCount == 2)
    #expect(reader.rate == 8_000)
    #expect(reader.frameCount == 1_000)
    #expect(reader.container == "WAV (Microsoft)")
    #expect(reader.encoding == "32 bit float")
    var readSamples: [Float] = []
    var block = [Float](repeating: 0, count: 301)
    var frameCounts: [Int] = []
    while frameCounts.last != 0 {
      var span = block.mutableSpan
      let count = try reader.read(into: &span)
      frameCounts.append(count)
      readSamples += block[..<(2 * count)]
    }
    #expect(frameCounts == [150, 150, 150, 150, 150, 150, 100, 0])
    #expect(readSamples == samples)
  }

  @Test func truncatedFileIsDamaged() throws {
    let noise = (0..<96_000).map { Float(($0 * 7_919) % 4_096) / 4_096 - 0.5 }
    let file = try UnnamedFile.holding(noise, .flac, .s16)
    #expect(ftruncate(file.descriptor, 20_000) == 0)
    let error = #expect(throws: SoundFileError.self) { try file.sound() }
    #expect(error?.kind == .damaged)
    #expect(error?.description.hasPrefix("is damaged (libsndfile: ") == true)
  }
}
