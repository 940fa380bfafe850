import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

@Suite struct RefusalTests {
  private func openError(
    _ configure: (inout PCMRequest) -> Void,
    capabilities: (inout FaultyDevice.Capabilities) -> Void = { _ in },
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }
  ) -> OutputError? {
    do {
      _ = try FaultyDevicePlayback(configure, capabilities: capabilities, results: results)
      return nil
    } catch {
      return error as? OutputError
    }
  }

  @Test func supportedRatesAreNamed() {
    #expect(
      openError {
        $0.rate = 44_100
      } capabilities: {
        $0.rates = [48_000, 96_000, 192_000]
      }
        == OutputError(
          .unsupportedFormat, output: "faulty",
          "does not support 44100 Hz; supported: 48000, 96000 and 192000 Hz"))
  }

  @Test func otherRateIsUsedIfAllowed() throws {
    let playback = try FaultyDevicePlayback {
      $0.rate = 44_100
      $0.allowsOtherRate = true
    } capabilities: {
      $0.rates = [48_000, 96_000]
    }
    #expect(playback.sink.format.rate == 48_000)
    #expect(playback.run(until: .milliseconds(100)))
    let soundRun = try #require(playback.playedRuns.first)
    #expect(
      playback.playedRuns.count == 1 && soundRun.startFrame == 0 && soundRun.firstFrameNumber == 0)
    #expect((4_800...5_280).contains(soundRun.count))
  }

  @Test func supportedChannelCountsAreNamed() {
    #expect(
      openError {
        $0.channels = .exactly(3)
      } capabilities: {
        $0.channelCounts = [2, 4, 8]
      }?.description == "does not support 3 channels; supported: 2, 4 and 8 channels")
  }

  @Test(arguments: [(1, 2), (2, 2), (3, 4), (8, 8), (9, 8)])
  func smallestSufficientChannelCountIsUsed(
    requestedCount: Int, grantedCount: Int
  )
    throws
  {
    let playback = try FaultyDevicePlayback {
      $0.channels = .atLeast(requestedCount)
    } capabilities: {
      $0.channelCounts = [2, 4, 8]
    }
    #expect(playback.sink.format.channelCount == grantedCount)
  }

  @Test func supportedEncodingsAreNamed() {
    #expect(
      openError {
        $0.encoding = .float
      } capabilities: {
        $0.encodings = [.s16, .s32]
      }?.description == "does not support float samples; supported: s32, s16")
    #expect(
      openError { _ in
      } capabilities: {
        $0.encodings = []
      } != nil)
  }

  @Test(arguments: SampleEncoding.allCases) func encodingOfTheDeviceIsUsed(encoding: SampleEncoding)
    throws
  {
    let playback = try FaultyDevicePlayback(capabilities: { $0.encodings = [encoding, .s16] })
    #expect(playback.sink.configuration.encoding == encoding)
  }

  @Test func supportedAccessIsUsed() throws {
    let memoryMappedPlayback = try FaultyDevicePlayback(capabilities: { $0.hasReadWrite = false })
    #expect(memoryMappedPlayback.sink.configuration.access == .memoryMapped)
    let readWritePlayback = try FaultyDevicePlayback(capabilities: { $0.hasMemoryMap = false })
    #expect(readWritePlayback.sink.configuration.access == .readWrite)
    #expect(
      openError {
        $0.access = .memoryMapped
      } capabilities: {
        $0.hasMemoryMap = false
      }?.kind == .unsupportedFormat)
  }

  @Test func nearestPossibleSizesAreUsed() throws {
    let playback = try FaultyDevicePlayback {
      $0.periodSize = 16
      $0.bufferSize = 32
    } capabilities: {
      $0.minimumPeriodSize = 1_024
    }
    // The minimum is a number of bytes, so it depends on the size of a frame.
    let format = playback.sink.format
    #expect(format.periodSize > 16)
    #expect(format.bufferSize >= 2 * format.periodSize)
    #expect(playback.run(until: .milliseconds(500)))
    #expect(playback.playedRuns.map(\.firstFrameNumber) == [0])
  }

  @Test(arguments: [
    (EBUSY, OutputError.Kind.busy), (ENOENT, .notFound), (ENODEV, .notFound),
    (EACCES, .permissionDenied),
    (EPERM, .permissionDenied), (ECONNREFUSED, .serverUnavailable), (ENOMEM, .other),
  ]) func refusedOpeningHasAKind(code: Int32, kind: OutputError.Kind) {
    let interception = PCMInterception(open: { _ in .refused(code) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(
        PCMRequest(device: "no-such-device"), clock: VirtualTimeSource(), interception: interception
      )
    }
    #expect(error?.kind == kind)
    #expect(error?.output == "no-such-device")
  }

  @Test(arguments: ["no-such-device", "hw:31", "hw:Nowhere", "plughw:31,7"])
  func unknownDevicesAreAbsent(name: String) {
    let error = #expect(throws: OutputError.self) { try ALSASink(PCMRequest(device: name)) }
    #expect(error?.kind == .notFound)
  }

  /// The null device supports recording, so it represents a device that cannot play.
  @Test func recordingDevicesAreRefused() {
    let interception = PCMInterception(open: { _ in .refused(ENOENT) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(
        PCMRequest(device: "null"), clock: VirtualTimeSource(), interception: interception)
    }
    #expect(
      error == OutputError(.notPlayback, output: "null", "input only; choose an output device"))
  }

  @Test func missingJACKServerIsReported() {
    let interception = PCMInterception(open: { _ in .refused(ENOENT) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(
        PCMRequest(device: "jack"), clock: VirtualTimeSource(), interception: interception)
    }
    #expect(
      error
        == OutputError(
          .serverUnavailable, output: "jack", "the sound server does not respond; start it"))
  }

  @Test func unknownFailureHasItsReason() {
    #expect(
      openError({ _ in }, results: { $0 == .hardwareParameters ? -Int(EPROTO) : nil })
        == OutputError(
          .other, output: "faulty",
          "the device failed (protocol error); reconnect it, or choose another device"))
  }

  @Test func memoryShortageHasARemedy() {
    #expect(
      openError({ _ in }, results: { $0 == .hardwareParameters ? -Int(ENOMEM) : nil })
        == OutputError(
          .other, output: "faulty",
          "out of memory; use a smaller buffer or close other programs"))
  }
}
