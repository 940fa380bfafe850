import FaultyPCM
import Glibc
import HapticModel
import HapticRender
import Synchronization
import Testing

@testable import HapticOutputs
@testable import HapticPlayback

/// A device that is absent at the start is polled like a device that is lost later.
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
    let firstSound = Mutex<Duration?>(nil)
    device.listener = { startTime, samples, _ in
      for index in samples.indices where samples[index] != 0 {
        firstSound.withLock { $0 = $0 ?? startTime }
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
    let firstSoundTime = try #require(firstSound.withLock { $0 })
    #expect(
      firstSoundTime >= .seconds(seconds)
        && firstSoundTime <= .milliseconds(1_000 * seconds + 1_500))
    let reconnection = try #require(notices.last)
    #expect(reconnection.kind == .reconnected)
    // The time until the first sound is missed, to within a buffer.
    let expectedMissedFrames = firstSoundTime / .seconds(1) * 48_000
    #expect(abs(Double(reconnection.missedFrameCount) - expectedMissedFrames) <= 960)
  }

  @Test func deviceWithAnotherFormatEndsTheSink() throws {
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
    // The sink has closed the device, which can be opened again.
    let sink = try ALSASink(
      PCMRequest(device: "faulty"), clock: time, interception: device.interception())
    #expect(sink.format.channelCount == 8)
  }

  @Test func playbackOnAnAbsentDeviceEndsOnRequest() throws {
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
