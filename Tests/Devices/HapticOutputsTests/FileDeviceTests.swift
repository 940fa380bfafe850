import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

/// The plug-in of ALSA that writes to a file what it is sent.
@Suite struct FileDeviceTests {
  private let clock = ManualTimeSource()
  private let wake = WakeSignal.makeOrInert()

  /// What 2 000 stereo frames become.
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
    var rest = samples[...]
    while !rest.isEmpty {
      guard case .ready(let count) = sink.wait(wake) else { break }
      let part = Array(rest.prefix(2 * count))
      rest = rest.dropFirst(2 * count)
      sink.write(part.span)
    }
    sink.finish(draining: true)
    #expect(sink.drainEvents() == [])
    sink.close()
    return try #require(Self.bytes(of: path))
  }

  private static func bytes(of path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(file, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes[..<count])
  }

  @Test(arguments: SampleEncoding.allCases, PCMAccess.allCases) func getsTheVeryBytesOfTheEncoder(
    encoding: SampleEncoding, access: PCMAccess
  ) throws {
    let samples = (0..<4_000).map { Float($0) / 4_000 - 0.5 }
    var expected = [UInt8](repeating: 0, count: samples.count * encoding.bytesPerSample)
    var span = expected.mutableSpan
    var raw = unsafe span.mutableBytes
    var encoder = SampleEncoder(encoding)
    encoder.encode(samples.span, into: &raw)
    for period in [64, 240] {
      #expect(try play(samples, encoding, access, period: period) == expected)
    }
  }
}
