import Glibc
import HapticRender
import Testing

@testable import HapticPlayback

/// Resource limits, each in a process of its own.
@Suite struct ResourceTests {
  @Test func playbackIsRefusedWithoutFileDescriptors() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var descriptors: [Int32] = []
      while case let descriptor = unsafe open("/dev/null", O_RDONLY), descriptor >= 0 {
        descriptors.append(descriptor)
      }
      // A wake signal needs two descriptors. Every iteration frees one more descriptor, so that the
      // failure occurs at a later step.
      for _ in 0..<6 {
        let sink = NullSink(
          SinkFormat(rate: 48_000, channelCount: 1, periodSize: 64, bufferSize: 256))
        let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
        do throws(PlaybackError) {
          _ = try LivePlayback(engine, sink: sink)
          exit(1)
        } catch {
          guard error.kind == .noResources, error.description.contains("ulimit -n") else { exit(2) }
        }
        close(descriptors.removeLast())
      }
      exit(0)
    }
  }

  /// Unused reserved memory of a library is neither loaded nor locked.
  @Test func reservedMemoryStaysUnused() async {
    await #expect(processExitsWith: .success) {
      let byteCount = 64 << 20
      let mapping = unsafe mmap(
        nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      RealTimePriority.request { _ in }
      var pageResidency = [UInt8](repeating: 1, count: byteCount / 4_096)
      guard unsafe mincore(mapping, byteCount, &pageResidency) == 0 else { exit(2) }
      exit(pageResidency.contains { $0 & 1 != 0 } ? 1 : 0)
    }
  }
}
