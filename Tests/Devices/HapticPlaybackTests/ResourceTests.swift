import Glibc
import HapticRender
import Testing

@testable import HapticPlayback

/// A process that comes to its limits; each in a process of its own.
@Suite struct ResourceTests {
  @Test func withoutAFileDescriptorPlaybackIsRefused() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var descriptors: [Int32] = []
      while case let descriptor = unsafe open("/dev/null", O_RDONLY), descriptor >= 0 {
        descriptors.append(descriptor)
      }
      // A signal takes two; a pipe fewer each time is a failure at another place.
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

  /// Memory that a library has reserved and does not use is neither loaded nor locked.
  @Test func reservedMemoryStaysUnused() async {
    await #expect(processExitsWith: .success) {
      let length = 64 << 20
      let area = unsafe mmap(
        nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      RealTimePriority.request { _ in }
      var pages = [UInt8](repeating: 1, count: length / 4_096)
      guard unsafe mincore(area, length, &pages) == 0 else { exit(2) }
      exit(pages.contains { $0 & 1 != 0 } ? 1 : 0)
    }
  }
}
