import Glibc
import HapticPlayback
import SoundFile
import Testing

@testable import HapticOutputs

@Suite struct CaptureTests {
  private func refusal(_ make: () throws -> Void) -> ALSAError? {
    do {
      try make()
      return nil
    } catch { return error as? ALSAError }
  }

  @Test func aDeviceWithoutAPaceIsReadAsTimeGoesBy() throws {
    let time = VirtualTimeSource()
    let capture = try ALSACapture("null", rate: 48_000, channelCount: 2, timekeeper: time)
    var samples: [Float] = []
    try capture.read(into: &samples)
    #expect(samples == [])
    try capture.start()
    var none: [PollDescriptor] = []
    time.wait(for: &none, timeout: .milliseconds(125))
    try capture.read(into: &samples)
    #expect(samples == [Float](repeating: 0, count: 12_000))
    #expect(capture.frameCount == 6_000)
    #expect(capture.firstFrameTime() == .zero)
  }

  @Test func lostFramesEndARecording() throws {
    let time = VirtualTimeSource()
    let overrun = PCMInterception(result: { $0 == .read ? Int(-EPIPE) : nil })
    let capture = try ALSACapture("null", rate: 8_000, channelCount: 1, timekeeper: time, interception: overrun)
    try capture.start()
    var none: [PollDescriptor] = []
    time.wait(for: &none, timeout: .seconds(1))
    var samples: [Float] = []
    #expect(
      refusal { try capture.read(into: &samples) }
        == ALSAError(
          kind: .overrun, device: "null",
          description: "overrun: the recording has a gap; close other programs and record again"))
  }

  @Test(arguments: [
    (
      EBUSY, ALSAError.Kind.deviceBusy,
      "device busy: another program records from it; close that program or choose another device"
    ), (EACCES, .permissionDenied, "permission denied; this user must be in the group 'audio' to record from it"),
    (ENOENT, .noSuchDevice, "no such device; run 'aplay -L' to list devices"),
  ]) func whatStandsInTheWayIsTold(code: Int32, kind: ALSAError.Kind, text: String) {
    let blocked = PCMInterception(open: { _ in .refused(code) })
    #expect(
      refusal {
        _ = try ALSACapture(
          "hw:9", rate: 8_000, channelCount: 1, timekeeper: VirtualTimeSource(), interception: blocked)
      } == ALSAError(kind: kind, device: "hw:9", description: text))
  }

  @Test func samplesOfAnyKindAreBroughtToOne() {
    func decoded(_ encoding: SampleEncoding, _ bytes: [UInt8]) -> [Float] {
      var samples: [Float] = []
      SampleDecoder(encoding).decode(bytes.span, into: &samples)
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
