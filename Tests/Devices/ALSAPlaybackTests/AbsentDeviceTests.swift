import FaultyPCM
import Glibc
import HapticModel
import HapticRender
import Synchronization
import Testing

@testable import HapticOutputs
@testable import HapticPlayback

/// A device that is absent at the start is awaited like one that is lost later.
@Suite struct AbsentDeviceTests {
  private let device = FaultyDevice()

  private func makeLoop(_ request: PCMRequest, on time: DeviceTime) -> RenderLoop {
    let sink = ALSASink(
      waitingFor: request, clock: time, interception: device.interception())
    let engine = PlaybackEngine(
      rate: sink.format.rate, routing: OutputRouting(channelCount: sink.format.channelCount))
    return RenderLoop(engine: engine, sink: sink, time: time)
  }

  @Test(arguments: [1, 6, 60, 3_600]) func soundStartsSoonAfterTheDeviceAppears(seconds: Int)
    throws
  {
    let time = DeviceTime(device)
    device.scheduleFault(.disconnect(duration: .seconds(seconds), code: ENODEV), at: .zero)
    time.advance(by: .zero)
    let loop = makeLoop(PCMRequest(device: "faulty"), on: time)
    let first = Mutex<Duration?>(nil)
    device.listener = { moment, samples, _ in
      for index in samples.indices where samples[index] != 0 {
        first.withLock { $0 = $0 ?? moment }
      }
    }
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: Double(seconds) + 60,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    try loop.engine.player(for: HapticPattern(events: [event])).start()
    var notices: [SinkEvent] = []
    while time.now < .seconds(seconds + 3) {
      try #require(loop.runIteration())
      notices += loop.drainEvents()
    }
    let heard = try #require(first.withLock { $0 })
    #expect(heard >= .seconds(seconds) && heard <= .milliseconds(1_000 * seconds + 1_500))
    let back = try #require(notices.last)
    #expect(back.kind == .reconnected)
    // The time until then was missed, to a buffer.
    let missed = heard / .seconds(1) * 48_000
    #expect(abs(Double(back.missedFrameCount) - missed) <= 960)
  }

  @Test func aDeviceOfAnotherFormatEndsTheSinkSoThatItCanBeOpenedAgain() throws {
    let time = DeviceTime(device)
    device.capabilities.channelCounts = [8]
    device.scheduleFault(.disconnect(duration: .seconds(2), code: ENODEV), at: .zero)
    time.advance(by: .zero)
    let loop = makeLoop(PCMRequest(device: "faulty"), on: time)
    while loop.runIteration() {
      try #require(time.now < .seconds(4))
    }
    #expect(time.now >= .seconds(2))
    #expect(loop.drainEvents().contains { $0.text.contains("8 channels at 48000 Hz") })
    // The device is free.
    let sink = try ALSASink(
      PCMRequest(device: "faulty"), clock: time, interception: device.interception())
    #expect(sink.format.channelCount == 8)
  }

  @Test func anAbsentDeviceEndsOnRequest() throws {
    let time = DeviceTime(device)
    device.scheduleFault(.disconnect(duration: .seconds(99), code: ENODEV), at: .zero)
    time.advance(by: .zero)
    let loop = makeLoop(PCMRequest(device: "faulty"), on: time)
    while time.now < .seconds(1) {
      try #require(loop.runIteration())
    }
    loop.stop()
    while loop.runIteration() {
      try #require(time.now < .milliseconds(1_600))
    }
    #expect(loop.drainEvents().last?.kind == .failed)
  }
}
