import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

/// The plug-in of ALSA that writes all frames to a file.
@Suite struct FileDeviceTests {
  private let clock = VirtualTimeSource()
  private let wake = WakeSignal.makeOrInert()

  /// Plays stereo samples, and returns the bytes of the file.
  private func play(
    _ samples: [Float], _ encoding: SampleEncoding, _ access: PCMAccess, period: Int
  ) throws -> [UInt8] {
    let path = "/tmp/temblor-\(getpid())-\(UInt64.random(in: 0 ... .max)).raw"
    defer { unsafe unlink(path) }
    var request = PCMRequest(device: "file:'\(path)',raw")
    request.encoding = encoding
    request.access = access
    request.channels = .exactly(2)
    request.periodSize = period
    request.bufferSize = 4 * period
    let sink = try ALSASink(request, clock: clock)
    #expect(sink.configuration.isFasterThanRealTime)
    #expect(sink.format.periodSize == period)
    var remainingSamples = samples[...]
    while !remainingSamples.isEmpty {
      guard case .ready(let count) = sink.wait(wake) else { break }
      let block = Array(remainingSamples.prefix(2 * count))
      remainingSamples = remainingSamples.dropFirst(2 * count)
      sink.write(block.span)
    }
    sink.finish(draining: true)
    #expect(sink.drainEvents() == [])
    sink.close()
    return try #require(Self.bytes(of: path))
  }

  private static func bytes(of path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes[..<count])
  }

  @Test(arguments: SampleEncoding.allCases, PCMAccess.allCases)
  func fileContainsTheBytesOfTheEncoder(
    encoding: SampleEncoding, access: PCMAccess
  ) throws {
    let samples = (0..<4_000).map { Float($0) / 4_000 - 0.5 }
    var expected = [UInt8](repeating: 0, count: samples.count * encoding.bytesPerSample)
    var span = expected.mutableSpan
    var rawSpan = unsafe span.mutableBytes
    var encoder = SampleEncoder(encoding)
    encoder.encode(samples.span, into: &rawSpan)
    for period in [64, 240] {
      #expect(try play(samples, encoding, access, period: period) == expected)
    }
  }
}
