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
}
