import Foundation
import TestSupport
import Testing

@testable import SoundFile

/// The WAV that is written where libsndfile is not there, read by libsndfile.
struct PlainWAVTests {
  @Test(arguments: SampleFormat.allCases) func samplesAreThoseOfLibsndfile(format: SampleFormat)
    throws
  {
    let place = try TemporaryFolder()
    let samples = (0..<4_410).map { Float(sin(Double($0) * 0.05)) * ($0 % 2 == 0 ? 0.9 : -0.3) }
    let paths = (place("plain.wav"), place("usual.wav"))
    let descriptor = unsafe open(paths.0, O_RDWR | O_CREAT, 0o644)
    defer { close(descriptor) }
    var plain = PlainWAV(
      descriptor, path: paths.0, sampleFormat: format, sampleRateHertz: 44_100, channelCount: 2)
    try plain.write(samples.span.extracting(first: 1_000))
    try plain.write(samples.span.extracting(droppingFirst: 1_000))
    try plain.finishHeader()
    var usual = try SoundFileWriter(
      path: paths.1, format: SoundFileFormat(container: .wav, sampleFormat: format), rate: 44_100,
      channelCount: 2)
    try usual.write(samples.span)
    try usual.close()
    let one = try Sound(contentsOf: paths.0)
    let other = try Sound(contentsOf: paths.1)
    #expect(one.interleaved == other.interleaved)
    #expect(one.rate == 44_100 && one.channelCount == 2 && one.frameCount == 2_205)
  }
}
