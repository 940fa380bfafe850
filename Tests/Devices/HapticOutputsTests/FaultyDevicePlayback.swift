import FaultyPCM
import HapticOutputs
import HapticPlayback
import SoundFile

/// Playback of numbered frames through a sink on a faulty device.
final class FaultyDevicePlayback {
  /// Consecutive played frames with consecutive numbers, or silence.
  struct FrameRun: Equatable {
    /// The time of the first frame, in frames.
    var startFrame: Int
    /// The number of the first frame; nil for silence.
    var firstFrameNumber: Int?
    /// The number of frames.
    var count: Int
  }

  let device = FaultyDevice()
  let time: DeviceTime
  let wake = WakeSignal.makeOrInert()
  private(set) var sink: ALSASink
  /// The played frames, in order.
  private(set) var playedRuns: [FrameRun] = []
  /// The events of the sink, in order.
  private(set) var notices: [SinkEvent] = []
  /// The number of the next frame.
  private(set) var nextFrameNumber = 0
  /// The number of skipped frames.
  private(set) var missedFrameCount = 0
  /// The number of waits for the sink.
  private(set) var waitCount = 0

  /// Opens a device, to which faults can be added.
  init(
    _ configure: (inout PCMRequest) -> Void = { _ in },
    capabilities: (inout FaultyDevice.Capabilities) -> Void = { _ in },
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }, hanging: Set<PCMCall> = []
  ) throws {
    capabilities(&device.capabilities)
    var request = PCMRequest(device: "faulty")
    configure(&request)
    time = DeviceTime(device)
    sink = try ALSASink(
      request, clock: time,
      interception: device.interception(results: results, hanging: hanging))
    device.listener = { [unowned self] time, samples, channelCount in
      recordPlayedFrames(time, samples, channelCount)
    }
  }

  /// Returns the sample for the number of a frame, which every encoding except 16-bit integers
  /// preserves.
  static func sample(_ number: Int) -> Float { Float(number % 4_000_000 + 1) / 8_388_607 }

  private func recordPlayedFrames(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let startFrame = Int((time / .seconds(1) * sink.format.rate).rounded())
    for frame in 0..<(samples.count / channelCount) {
      let encodedNumber = Int((samples[frame * channelCount] * 8_388_607).rounded())
      let frameNumber = encodedNumber == 0 ? nil : encodedNumber - 1
      if let lastRun = playedRuns.last, lastRun.startFrame + lastRun.count == startFrame + frame,
        lastRun.firstFrameNumber.map({ $0 + lastRun.count }) == frameNumber
      {
        playedRuns[playedRuns.count - 1].count += 1
      } else {
        playedRuns.append(
          FrameRun(startFrame: startFrame + frame, firstFrameNumber: frameNumber, count: 1))
      }
    }
  }

  /// Renders until a time. Returns false if time does not advance in more than `limit` waits.
  func run(until endTime: Duration, limit: Int = 1_000) -> Bool {
    var stalledWaitCount = 0
    var previousTime = time.now
    while time.now < endTime {
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
      stalledWaitCount = time.now == previousTime ? stalledWaitCount + 1 : 0
      previousTime = time.now
      if stalledWaitCount > limit { return false }
    }
    return true
  }
}
