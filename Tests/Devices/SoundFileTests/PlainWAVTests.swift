import Foundation
import TestSupport
import Testing

@testable import SoundFile

/// WAV files that are written without libsndfile, read with libsndfile.
struct PlainWAVTests {
  @Test(arguments: SampleFormat.allCases) func samplesEqualThoseOfLibsndfile(format: SampleFormat)
    throws
  {
    let folder = try TemporaryFolder()
    let samples = (0..<4_410).map { Float(sin(Double($0) * 0.05)) * ($0 % 2 == 0 ? 0.9 : -0.3) }
    let plainPath = folder("plain.wav")
    let libsndfilePath = folder("libsndfile.wav")
    let descriptor = unsafe open(plainPath, O_RDWR | O_CREAT, 0o644)
    defer { close(descriptor) }
    var plainWriter = PlainWAV(
      descriptor, path: plainPath, sampleFormat: format, sampleRateHertz: 44_100, channelCount: 2)
    try plainWriter.write(samples.span.extracting(first: 1_000))
    try plainWriter.write(samples.span.extracting(droppingFirst: 1_000))
    try plainWriter.finishHeader()
    var libsndfileWriter = try SoundFileWriter(
      path: libsndfilePath, format: SoundFileFormat(container: .wav, sampleFormat: format),
      rate: 44_100,
      channelCount: 2)
    try libsndfileWriter.write(samples.span)
    try libsndfileWriter.close()
    let plainSound = try Sound(contentsOf: plainPath)
    let libsndfileSound = try Sound(contentsOf: libsndfilePath)
    #expect(plainSound.interleaved == libsndfileSound.interleaved)
    #expect(
      plainSound.rate == 44_100 && plainSound.channelCount == 2 && plainSound.frameCount == 2_205)
  }

  @Test("A writer that is released before it is closed completes its file")
  func aReleasedWriterCompletesItsFile() throws {
    let folder = try TemporaryFolder()
    let descriptor = unsafe open(folder("released.wav"), O_RDWR | O_CREAT, 0o644)
    defer { close(descriptor) }
    do {
      var writer = try SoundFileWriter(
        descriptor: descriptor, path: "released.wav",
        format: SoundFileFormat(container: .wav, sampleFormat: .s16), rate: 48_000, channelCount: 1,
        frameCount: 0, usesLibrary: false)
      try writer.write([0.25, 0.5, -0.5].span)
    }
    #expect(try Sound(contentsOf: folder("released.wav")).interleaved == [0.25, 0.5, -0.5])
  }

  @Test("A writer whose close failed does not write to a later file with the same descriptor")
  func aFailedCloseIsNotRepeated() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "full.wav")
    try folder.write("other", to: "other")
    let descriptor = unsafe open(folder("full.wav"), O_RDONLY)
    let otherDescriptor = unsafe open(folder("other"), O_RDWR)
    defer {
      close(descriptor)
      close(otherDescriptor)
    }
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: "full.wav",
      format: SoundFileFormat(container: .wav, sampleFormat: .s16), rate: 48_000, channelCount: 1,
      frameCount: 0, usesLibrary: false)
    #expect(throws: SoundFileError.self) { try writer.close() }
    try #require(dup2(otherDescriptor, descriptor) == descriptor)
    try writer.close()
    #expect(folder.bytes("other") == Array("other".utf8))
  }
}
