import Glibc
import TestSupport

@testable import SoundFile

extension UnnamedFile {
  /// Returns the sound of the file, decoded from its beginning.
  func sound() throws -> Sound {
    lseek(descriptor, 0, SEEK_SET)
    return try Sound(readingDescriptor: descriptor, path: "scratch")
  }

  /// Returns a file that contains a sound.
  static func holding(
    _ samples: [Float], _ container: SoundFileFormat.Container, _ format: SampleFormat,
    rate: Int = 48_000,
    channelCount: Int = 1, tags: SoundFileTags = SoundFileTags()
  ) throws -> UnnamedFile {
    let file = try UnnamedFile()
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: "scratch",
      format: SoundFileFormat(container: container, sampleFormat: format),
      rate: rate, channelCount: channelCount, frameCount: Int64(samples.count / channelCount),
      tags: tags)
    let halfCount = samples.count / 2 / channelCount * channelCount
    try writer.write(samples.span.extracting(..<halfCount))
    try writer.write(samples.span.extracting(halfCount...))
    try writer.close()
    return file
  }
}

/// Returns a sine.
func sine(hertz: Double, rate: Double, count: Int, amplitude: Double = 0.9) -> [Float] {
  (0..<count).map { Float(amplitude * sin(2 * .pi * hertz * Double($0) / rate)) }
}

/// Returns the number of rising zero crossings per second.
func frequency(of samples: [Float], rate: Double) -> Double {
  let risingCrossings = samples.indices.dropFirst().filter {
    samples[$0 - 1] < 0 && samples[$0] >= 0
  }
  guard let first = risingCrossings.first, let last = risingCrossings.last, last > first else {
    return 0
  }
  return Double(risingCrossings.count - 1) * rate / Double(last - first)
}
