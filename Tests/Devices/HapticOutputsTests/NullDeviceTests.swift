import FaultyPCM
import HapticOutputs
import HapticPlayback
import PlayRig
import SoundFile
import Testing

@Suite struct NullDeviceTests {
  private let clock = WaitCountingTimeSource()
  private let wake = WakeSignal.makeOrInert()

  private func sink(_ configure: (inout PCMRequest) -> Void = { _ in }) throws -> ALSASink {
    var request = PCMRequest(device: "null")
    configure(&request)
    return try ALSASink(request, clock: clock)
  }

  @Test(arguments: [8_000, 11_025, 44_100, 48_000, 96_000, 192_000])
  func periodsHaveTheSameDurationAtEveryRate(rate: Int) throws {
    let request = OutputRequest(rate: rate)
    #expect(request.periodSize == rate / 200 && request.bufferSize == rate / 50)
    // The same applies if the device has another rate than the requested one.
    let playback = try FaultyDevicePlayback(
      { $0.allowsOtherRate = true }, capabilities: { $0.rates = [rate] })
    let grantedConfiguration = playback.sink.configuration
    #expect(grantedConfiguration.rate == rate)
    #expect(abs(grantedConfiguration.periodSize - rate / 200) <= 1)
    #expect(abs(grantedConfiguration.bufferSize - rate / 50) <= 8)
  }

  @Test(arguments: PCMAccess.allCases, SampleEncoding.allCases) func requestsAreGranted(
    access: PCMAccess, encoding: SampleEncoding
  ) throws {
    let sink = try sink {
      $0.access = access
      $0.encoding = encoding
      $0.channels = .exactly(3)
    }
    #expect(
      sink.format == SinkFormat(rate: 48_000, channelCount: 3, periodSize: 240, bufferSize: 960))
    #expect(sink.configuration.access == access)
    #expect(sink.configuration.encoding == encoding)
    #expect(sink.configuration.isFasterThanRealTime)
    #expect(!sink.configuration.isHardware)
  }

  @Test func playbackIsInRealTime() throws {
    let sink = try sink()
    var writtenFrameCount = 0
    while clock.now < .seconds(10) {
      guard case .ready(let count) = sink.wait(wake) else { continue }
      #expect(count % 240 == 0)
      sink.write(([Float](repeating: 0, count: count * 2)).span)
      writtenFrameCount += count
      let queuedFrameCount = writtenFrameCount - Int(clock.now / .microseconds(1)) * 48 / 1_000
      #expect((720...960).contains(queuedFrameCount))
      #expect(sink.delayFrames == queuedFrameCount)
    }
    #expect(writtenFrameCount == 480_000 + 960)
    #expect(clock.waitCount == 2_000)
    #expect(sink.drainEvents() == [])
  }

  @Test func lateFramesAreSkipped() throws {
    let sink = try sink()
    #expect(sink.wait(wake) == .ready(frameCount: 960))
    sink.write(([Float](repeating: 0, count: 1_920)).span)
    clock.advance(by: .milliseconds(50))
    #expect(sink.wait(wake) == .missed(frameCount: 1_440))
    #expect(sink.wait(wake) == .ready(frameCount: 960))
    #expect(
      sink.drainEvents() == [
        SinkEvent(.underrun, cause: .lateDelivery, missedFrameCount: 1_440, text: "buffer underrun")
      ])
  }

  @Test func signalEndsTheWait() throws {
    let sink = try sink()
    #expect(sink.wait(wake) == .ready(frameCount: 960))
    sink.write(([Float](repeating: 0, count: 1_920)).span)
    wake.raise()
    #expect(sink.wait(wake) == .interrupted)
    #expect(sink.wait(wake) == .ready(frameCount: 240))
    #expect(clock.now == .milliseconds(5))
  }

  @Test func drainingLastsAsLongAsTheQueuedSound() throws {
    let sink = try sink()
    _ = sink.wait(wake)
    sink.write(([Float](repeating: 0, count: 480)).span)
    sink.finish(draining: true)
    #expect(clock.now == .milliseconds(5))
    #expect(sink.wait(wake) == .ended)
    #expect(sink.delayFrames == 0)
  }
}
