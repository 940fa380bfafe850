import Glibc
import HapticPlayback
import SoundFile
import Testing

@testable import HapticOutputs

@Suite struct CaptureTests {
  private func outputError(_ body: () throws -> Void) -> OutputError? {
    do {
      try body()
      return nil
    } catch {
      return error as? OutputError
    }
  }

  /// Returns the error of a capture device whose opening fails with an error number.
  private func openingError(of device: String, code: Int32) -> OutputError? {
    let interception = PCMInterception(open: { _ in .refused(code) })
    return outputError {
      _ = try ALSACapture(
        device, rate: 8_000, channelCount: 1, clock: VirtualTimeSource(),
        interception: interception)
    }
  }

  @Test func nullDeviceIsReadInVirtualTime() throws {
    let time = VirtualTimeSource()
    let capture = try ALSACapture("null", rate: 48_000, channelCount: 2, clock: time)
    var samples: [Float] = []
    try capture.read(into: &samples)
    #expect(samples == [])
    try capture.start()
    var noDescriptors: [PollDescriptor] = []
    time.wait(for: &noDescriptors, timeout: .milliseconds(125))
    try capture.read(into: &samples)
    #expect(samples == [Float](repeating: 0, count: 12_000))
    #expect(capture.frameCount == 6_000)
    #expect(capture.firstFrameTime() == .zero)
  }

  @Test func lostFramesEndARecording() throws {
    let time = VirtualTimeSource()
    let interception = PCMInterception(result: { $0 == .read ? Int(-EPIPE) : nil })
    let capture = try ALSACapture(
      "null", rate: 8_000, channelCount: 1, clock: time, interception: interception)
    try capture.start()
    var noDescriptors: [PollDescriptor] = []
    time.wait(for: &noDescriptors, timeout: .seconds(1))
    var samples: [Float] = []
    #expect(
      outputError { try capture.read(into: &samples) }
        == OutputError(
          .overrun, output: "null",
          "overrun: the recording has a gap; close other programs and record again"))
  }

  @Test(arguments: [
    (
      EBUSY, OutputError.Kind.busy,
      """
      device busy: another program is recording from it; close that program or choose another device
      """
    ),
    (
      EACCES, .permissionDenied,
      "permission denied; add your user to the group 'audio' to record from this device"
    ),
    (ENOENT, .notFound, "no such device; run 'arecord -L' to list devices"),
  ]) func openingErrorsHaveAKindAndAMessage(code: Int32, kind: OutputError.Kind, text: String) {
    #expect(openingError(of: "hw:9", code: code) == OutputError(kind, output: "hw:9", text))
  }

  /// The null device can also play, so it represents a device that cannot record.
  @Test func outputDevicesAreRefused() {
    #expect(
      openingError(of: "null", code: ENOENT)
        == OutputError(
          .notCapture, output: "null",
          "output only; choose a capture device, which 'arecord -L' lists"))
  }

  @Test func missingJACKServerIsReported() {
    #expect(
      openingError(of: "jack", code: ENOENT)
        == OutputError(
          .serverUnavailable, output: "jack", "the sound server does not respond; start it"))
  }

  @Test func samplesOfEveryEncodingAreDecoded() {
    func decoded(_ encoding: SampleEncoding, _ bytes: [UInt8]) -> [Float] {
      var samples: [Float] = []
      SampleDecoder(encoding: encoding).decode(bytes.span, into: &samples)
      return samples
    }
    #expect(decoded(.s16, [0x00, 0x40, 0x00, 0x80, 0x01]) == [0.5, -1])
    #expect(decoded(.s24Packed, [0x00, 0x00, 0x40, 0x00, 0x00, 0x80]) == [0.5, -1])
    #expect(decoded(.s24, [0x00, 0x00, 0x40, 0x7F, 0x00, 0x00, 0x80, 0xFF]) == [0.5, -1])
    #expect(decoded(.s32, [0x00, 0x00, 0x00, 0x40]) == [0.5])
    #expect(decoded(.float, [0x00, 0x00, 0x80, 0x3F]) == [1])
    #expect(decoded(.s16, []) == [])
  }
}

/// A recording device that is reopened automatically.
@Suite struct LiveCaptureTests {
  private func advance(_ time: VirtualTimeSource, _ seconds: Double) {
    time.advance(by: .seconds(seconds))
  }

  @Test func lostDeviceIsReopenedTwiceASecond() throws {
    let time = VirtualTimeSource()
    let openCount = Locked(0)
    let isDisconnected = Locked(false)
    let interception = PCMInterception(
      open: { _ in
        openCount.withLock { $0 += 1 }
        return isDisconnected.withLock { $0 } ? .refused(ENODEV) : .notIntercepted
      }, result: { $0 == .read && isDisconnected.withLock { $0 } ? Int(-ENODEV) : nil })
    let capture = try LiveCapture(
      "null", rates: [48_000], periodSeconds: 0.005, clock: time, interception: interception)
    #expect(capture.channelCount == 2)
    var samples: [Float] = []
    advance(time, 0.1)
    #expect(capture.read(into: &samples) == nil)
    #expect(samples.count == 9_600)
    isDisconnected.withLock { $0 = true }
    advance(time, 0.1)
    guard case .interrupted = capture.read(into: &samples) else {
      Issue.record("the loss was not told")
      return
    }
    for _ in 0..<20 {
      advance(time, 0.1)
      #expect(capture.read(into: &samples) == nil)
    }
    #expect((3...5).contains(openCount.withLock { $0 } - 1))
    isDisconnected.withLock { $0 = false }
    advance(time, 0.5)
    #expect(capture.read(into: &samples) == .resumed(.seconds(2.5)))
    samples = []
    advance(time, 0.1)
    #expect(capture.read(into: &samples) == nil)
    #expect(samples.count == 9_600)
  }

  @Test func lostFramesAreReportedOnceAndTheDeviceContinues() throws {
    let time = VirtualTimeSource()
    let isLate = Locked(true)
    let interception = PCMInterception(result: {
      $0 == .read && isLate.withLock { $0 } ? Int(-EPIPE) : nil
    })
    let capture = try LiveCapture(
      "null", rates: [48_000], periodSeconds: 0.005, clock: time, interception: interception)
    var samples: [Float] = []
    advance(time, 0.1)
    #expect(capture.read(into: &samples) == .interrupted("overrun: frames of the source were lost"))
    isLate.withLock { $0 = false }
    #expect(capture.read(into: &samples) == .resumed(.zero))
  }

  @Test func missingDeviceIsRefused() throws {
    #expect(throws: OutputError.self) {
      _ = try LiveCapture(
        "no-such-device", rates: [48_000], periodSeconds: 0.005, clock: VirtualTimeSource())
    }
  }
}
