import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

@Suite struct RefusalTests {
  private func refusal(
    _ change: (inout PCMRequest) -> Void,
    abilities: (inout FaultyDevice.Capabilities) -> Void = { _ in },
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }
  ) -> OutputError? {
    do {
      _ = try Playback(change, abilities: abilities, results: results)
      return nil
    } catch {
      return error as? OutputError
    }
  }

  @Test func ratesThatWorkAreTold() {
    #expect(
      refusal {
        $0.rate = 44_100
      } abilities: {
        $0.rates = [48_000, 96_000, 192_000]
      }
        == OutputError(
          .unsupportedFormat, output: "faulty",
          "does not support 44100 Hz; supported: 48000, 96000 and 192000 Hz"))
  }

  @Test func anotherRateIsTakenWhereAllowed() throws {
    let playback = try Playback {
      $0.rate = 44_100
      $0.allowsOtherRate = true
    } abilities: {
      $0.rates = [48_000, 96_000]
    }
    #expect(playback.sink.format.rate == 48_000)
    #expect(playback.run(until: .milliseconds(100)))
    let heard = try #require(playback.heard.first)
    #expect(playback.heard.count == 1 && heard.start == 0 && heard.first == 0)
    #expect((4_800...5_280).contains(heard.count))
  }

  @Test func channelsThatWorkAreTold() {
    #expect(
      refusal {
        $0.channels = .exactly(3)
      } abilities: {
        $0.channelCounts = [2, 4, 8]
      }?.description == "does not support 3 channels; supported: 2, 4 and 8 channels")
  }

  @Test(arguments: [(1, 2), (2, 2), (3, 4), (8, 8), (9, 8)]) func enoughChannelsAreTaken(
    wanted: Int, granted: Int
  )
    throws
  {
    let playback = try Playback {
      $0.channels = .atLeast(wanted)
    } abilities: {
      $0.channelCounts = [2, 4, 8]
    }
    #expect(playback.sink.format.channelCount == granted)
  }

  @Test func encodingsThatWorkAreTold() {
    #expect(
      refusal {
        $0.encoding = .float
      } abilities: {
        $0.encodings = [.s16, .s32]
      }?.description == "does not support float samples; supported: s32, s16")
    #expect(
      refusal { _ in
      } abilities: {
        $0.encodings = []
      } != nil)
  }

  @Test(arguments: SampleEncoding.allCases) func whatTheDeviceHasIsTaken(encoding: SampleEncoding)
    throws
  {
    let playback = try Playback(abilities: { $0.encodings = [encoding, .s16] })
    #expect(playback.sink.configuration.encoding == encoding)
  }

  @Test func accessIsTheOneThatWorks() throws {
    let mapped = try Playback(abilities: { $0.hasReadWrite = false })
    #expect(mapped.sink.configuration.access == .memoryMapped)
    let copied = try Playback(abilities: { $0.hasMemoryMap = false })
    #expect(copied.sink.configuration.access == .readWrite)
    #expect(
      refusal {
        $0.access = .memoryMapped
      } abilities: {
        $0.hasMemoryMap = false
      }?.kind == .unsupportedFormat)
  }

  @Test func lengthsAreTheNearestPossible() throws {
    let playback = try Playback {
      $0.periodSize = 16
      $0.bufferSize = 32
    } abilities: {
      $0.leastPeriodLength = 1_024
    }
    // A byte count bounds them, so the least depends on the size of a frame.
    let format = playback.sink.format
    #expect(format.periodSize > 16)
    #expect(format.bufferSize >= 2 * format.periodSize)
    #expect(playback.run(until: .milliseconds(500)))
    #expect(playback.heard.map(\.first) == [0])
  }

  @Test(arguments: [
    (EBUSY, OutputError.Kind.busy), (ENOENT, .notFound), (ENODEV, .notFound),
    (EACCES, .permissionDenied),
    (EPERM, .permissionDenied), (ECONNREFUSED, .serverUnavailable), (ENOMEM, .other),
  ]) func refusedOpeningHasAKind(code: Int32, kind: OutputError.Kind) {
    let interception = PCMInterception(open: { _ in .refused(code) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(
        PCMRequest(device: "no-such-device"), clock: ClockTime(), interception: interception)
    }
    #expect(error?.kind == kind)
    #expect(error?.output == "no-such-device")
  }

  @Test(arguments: ["no-such-device", "hw:31", "hw:Nowhere", "plughw:31,7"])
  func unknownDevicesAreAbsent(name: String) {
    let error = #expect(throws: OutputError.self) { try ALSASink(PCMRequest(device: name)) }
    #expect(error?.kind == .notFound)
  }

  /// The null device can be recorded from, so it stands for one that can do no more.
  @Test func recordersAreNoPlayers() {
    let interception = PCMInterception(open: { _ in .refused(ENOENT) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(PCMRequest(device: "null"), clock: ClockTime(), interception: interception)
    }
    #expect(
      error == OutputError(.notPlayback, output: "null", "input only; choose an output device"))
  }

  @Test func jackWithoutItsServerIsTold() {
    let interception = PCMInterception(open: { _ in .refused(ENOENT) })
    let error = #expect(throws: OutputError.self) {
      try ALSASink(PCMRequest(device: "jack"), clock: ClockTime(), interception: interception)
    }
    #expect(
      error
        == OutputError(
          .serverUnavailable, output: "jack", "the sound server does not respond; start it"))
  }

  @Test func anUnknownFailureNamesItsReason() {
    #expect(
      refusal({ _ in }, results: { $0 == .hardwareParameters ? -Int(EPROTO) : nil })
        == OutputError(
          .other, output: "faulty",
          "the device failed (protocol error); reconnect it, or choose another device"))
  }

  @Test func aLackOfMemorySaysWhatHelps() {
    #expect(
      refusal({ _ in }, results: { $0 == .hardwareParameters ? -Int(ENOMEM) : nil })
        == OutputError(
          .other, output: "faulty",
          "out of memory; use a smaller buffer or close other programs"))
  }
}
