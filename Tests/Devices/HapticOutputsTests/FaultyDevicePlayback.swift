import FaultyPCM
import HapticOutputs
import HapticPlayback
import SoundFile
import Synchronization

/// A sink on a device that fails, fed with frames that tell their own number.
final class FaultyDevicePlayback {
  /// Frames heard one after the other, each the next of the one before, or silence.
  struct FrameRun: Equatable {
    /// The frame of time at which it begins.
    var startFrame: Int
    /// The number of its first frame; nothing for silence.
    var firstFrameNumber: Int?
    /// Its length.
    var count: Int
  }

  let device = FaultyDevice()
  let time: DeviceTime
  let wake = WakeSignal.makeOrInert()
  private(set) var sink: ALSASink
  /// What was heard, in order.
  private(set) var playedRuns: [FrameRun] = []
  /// What the sink told, in order.
  private(set) var notices: [SinkEvent] = []
  /// The number of the next frame.
  private(set) var nextFrameNumber = 0
  /// Frames that were passed over.
  private(set) var missedFrameCount = 0
  /// How often the sink was waited for.
  private(set) var waitCount = 0

  /// Opens a device; planning makes it fail.
  init(
    _ change: (inout PCMRequest) -> Void = { _ in },
    capabilities: (inout FaultyDevice.Capabilities) -> Void = { _ in },
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }, hanging: Set<PCMCall> = []
  ) throws {
    capabilities(&device.capabilities)
    var request = PCMRequest(device: "faulty")
    change(&request)
    time = DeviceTime(device)
    sink = try ALSASink(
      request, clock: time,
      interception: device.interception(results: results, hanging: hanging))
    device.listener = { [unowned self] time, samples, channelCount in
      recordPlayedFrames(time, samples, channelCount)
    }
  }

  /// A frame's number as a sample that every encoding but the shortest keeps.
  static func sample(_ number: Int) -> Float { Float(number % 4_000_000 + 1) / 8_388_607 }

  private func recordPlayedFrames(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let start = Int((time / .seconds(1) * sink.format.rate).rounded())
    for frame in 0..<(samples.count / channelCount) {
      let value = Int((samples[frame * channelCount] * 8_388_607).rounded())
      let number = value == 0 ? nil : value - 1
      if let last = playedRuns.last, last.startFrame + last.count == start + frame,
        last.firstFrameNumber.map({ $0 + last.count }) == number
      {
        playedRuns[playedRuns.count - 1].count += 1
      } else {
        playedRuns.append(FrameRun(startFrame: start + frame, firstFrameNumber: number, count: 1))
      }
    }
  }

  /// Renders until a moment; `limit` waits that bring no time forward are a hang.
  func run(until end: Duration, limit: Int = 1_000) -> Bool {
    var still = 0
    var last = time.now
    while time.now < end {
      let readiness = sink.wait(wake)
      waitCount += 1
      switch readiness {
      case .ready(let count):
        var samples: [Float] = []
        samples.reserveCapacity(count * sink.format.channelCount)
        for number in nextFrameNumber..<(nextFrameNumber + count) {
          for _ in 0..<sink.format.channelCount {
            samples.append(Self.sample(number))
          }
        }
        nextFrameNumber += count
        sink.write(samples.span)
      case .missed(let count), .late(let count):
        nextFrameNumber += count
        missedFrameCount += count
      case .interrupted:
        break
      case .ended:
        return true
      }
      notices += sink.drainEvents()
      still = time.now == last ? still + 1 : 0
      last = time.now
      if still > limit { return false }
    }
    return true
  }
}

/// A clock that only waiting moves.
final class ManualTimeSource: TimeSource {
  private let time = Mutex(Duration.zero)
  private let waitCounter = Atomic(0)

  var now: Duration { time.withLock { $0 } }
  /// How often somebody waited.
  var waitCount: Int { waitCounter.load(ordering: .relaxed) }

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    waitCounter.add(1, ordering: .relaxed)
    SystemTimeSource().wait(for: &descriptors, timeout: .zero)
    guard descriptors.allSatisfy({ $0.receivedEvents == 0 }), let timeout else { return }
    advance(by: timeout)
  }

  /// Lets time go by.
  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let value: Atomic<Int>

  init(_ start: Int = 0) { value = Atomic(start) }

  /// The number so far.
  var count: Int { value.load(ordering: .relaxed) }

  /// Counts one more: the new number.
  func increment() -> Int { value.add(1, ordering: .relaxed).newValue }
}
