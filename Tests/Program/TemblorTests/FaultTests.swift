import Glibc
import SoundFile
import Testing

/// The program on a device with one fault.
@Suite(
  .enabled(if: FaultPlugIn.shared != nil, "no C compiler, or no headers of ALSA"),
  .timeLimit(.minutes(30)))
struct FaultTests {
  private let folder = WorkingFolder()
  private let markerFolder = WorkingFolder()
  private static let hangFaults = [
    "hangopen", "hangwrite", "hangpointer", "hangdelay", "hangdrop", "hangclose",
  ]
  private static let otherFaults = [
    "gone", "other-rate", "frozen", "storm", "short", "skip", "back",
  ]
  private static let verbs: [[String]] = [
    ["play", "earthquake-simulation", "--loop", "0"], ["watch", "a.ahap", "--loop", "0"],
    ["tap", "1", "0.5", "--count", "1000"], ["audition", "heartbeat", "pulse", "--gap", "600"],
    ["listen", "--socket", "s"],
  ]

  /// The time of the program's clock within which a run must end.
  private static let limit = Duration.seconds(40)

  /// Starts a verb.
  private func start(
    _ arguments: [String], _ fault: String, length: Int? = nil, input: String? = nil,
    then: String? = nil
  ) throws -> RunningProgram {
    let environment = try #require(FaultPlugIn.shared).environment(
      fault, sign: markerFolder.path + "/met", length: length, then: then)
    return try RunningProgram(
      WorkingFolder.program, arguments, in: folder.path, input: input, environment: environment)
  }

  /// Starts a verb, and interrupts it when the fault occurs.
  private func interrupt(
    _ arguments: [String], _ fault: String, signal: Int32 = SIGINT, input: String? = nil
  ) throws
    -> WorkingFolder.Result
  {
    let running = try start(arguments, fault, input: input)
    #expect(markerFolder.fileAppears("met", from: running))
    kill(running.process, signal)
    return try finish(running)
  }

  private func finish(_ running: RunningProgram) throws -> WorkingFolder.Result {
    try folder.finish(running, within: Self.limit)
  }

  private func writePattern(seconds: Int = 5) throws {
    try folder.write(
      #"{"Version": 1.0, "Pattern": [{"Event": {"Time": 0.0, "EventType": "HapticContinuous", "#
        + #""EventDuration": \#(seconds), "EventParameters": []}}]}"#, to: "a.ahap")
  }

  @Test(arguments: hangFaults.filter { $0 != "hangdrop" && $0 != "hangclose" } + otherFaults, verbs)
  func firstSignalEndsEveryVerbAndCompletesItsRecording(fault: String, verb: [String]) throws {
    try writePattern()
    let result = try interrupt(verb + ["--device", "fault", "--record", "heard.wav"], fault)
    #expect(result.status == -SIGINT)
    // A device that does not open has no rate, so there is nothing to record.
    let recorded = fault == "hangopen" ? [] : ["heard.wav"]
    #expect(folder.fileNames() == ["a.ahap"] + recorded)
    guard fault != "hangopen" else { return }
    // The fault occurs some time after the start. By then, a busy machine may have played little,
    // but at least one buffer.
    let sound = try Sound(reading: folder, "heard.wav")
    #expect(sound.truncation == nil && sound.interleaved.count >= 2 * 960)
  }

  @Test(arguments: [SIGTERM, SIGHUP], ["hangwrite", "hangpointer"]) func everySignalEndsTheProgram(
    signal: Int32, fault: String
  )
    throws
  {
    let arguments = ["play", "pulse", "--loop", "0", "--device", "fault"]
    #expect(try interrupt(arguments, fault, signal: signal).status == -signal)
  }

  /// A call returns after the program has continued without it, and then the device cannot be
  /// closed.
  @Test(arguments: ["hangback", "hangunplug", "sleepoften"], ["hangdrop", "hangclose"])
  func oneSignalEndsAProgramWithTwoFaults(fault: String, then: String) throws {
    for (verb, signal) in [(Self.verbs[0], SIGINT), (["listen", "--socket", "s"], SIGTERM)] {
      let running = try start(verb + ["--device", "fault"], fault, then: then)
      #expect(markerFolder.fileAppears("met", from: running))
      kill(running.process, signal)
      // A second signal or the time limit would cause another status.
      #expect(try finish(running).status == -signal)
      unsafe unlink(markerFolder.path + "/met")
    }
  }

  /// A service is ready without its device, and plays once the device is there.
  @Test func aServiceWaitsForItsDevice() throws {
    let running = try start(
      ["listen", "--socket", "s", "--device", "fault", "--until-idle", "1"], "absent",
      length: 1_500,
      input: "status\nhum 1 0.5 4\n")
    let result = try finish(running)
    #expect(result.status == 0)
    #expect(result.error.contains("; waiting for the device\n"))
    #expect(result.output.contains(" device=fault present=no "))
    #expect(result.output.contains("event reconnected time="))
    #expect(result.output.contains("event finished name=hum-1 "))
  }

  /// Without a socket, an absent device is an immediate error.
  @Test func aScriptDoesNotWaitForADevice() throws {
    let result = try finish(
      try start(["listen", "--device", "fault"], "absent", length: 60_000, input: "tap\n"))
    #expect(result.status == 1)
  }

  @Test(arguments: ["hangdrop", "hangclose"]) func aNormalEndDoesNotWaitForADeviceThatIsNotClosed(
    fault: String
  ) throws {
    let running = try start(
      ["play", "light", "heartbeat", "--device", "fault", "--record", "heard.wav", "--json"], fault)
    let result = try finish(running)
    // Everything was heard before the device failed to stop.
    #expect(result.status == 0)
    #expect(result.output.contains(#""heardToTheEnd": true"#))
    // On a busy machine, underruns are reported first.
    let messages = result.error.split(separator: "\n")
    #expect(messages.contains { $0.hasPrefix("the device does not respond") }, "\(messages)")
    #expect(folder.fileNames() == ["heard.wav"])
  }

  @Test func quitEndsAListenerOnADeviceThatHangs() throws {
    let running = try start(
      ["listen", "--device", "fault"], "hangwrite", input: "hum 1 0.5 9\n")
    #expect(markerFolder.fileAppears("met", from: running))
    let result = try finish(running)
    // The program ends when its input has ended and the hum is over by the clock, which continues.
    #expect(result.status == 1)
    #expect(result.output.contains("event unresponsive "))
    let startSeconds = try #require(result.output.number(after: "ok name=hum-1 time="))
    let endSeconds = try #require(result.output.number(after: "event finished name=hum-1 time="))
    #expect(abs(endSeconds - startSeconds - 9) < 0.001, "\(result.output)")
  }

  @Test(arguments: ["gone", "other-rate"]) func incompletePlaybackIsAFailure(fault: String)
    throws
  {
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], fault)
    let result = try finish(running)
    #expect(result.status == 1)
    #expect(result.output.contains(#""heardToTheEnd": false"#))
    #expect(result.error.contains("fault: the device did not return before playback ended; "))
    // Of 4 s, 0.3 s were heard.
    let missedFrameCount = try #require(Self.missed(in: result.output))
    #expect(missedFrameCount > 150_000)
  }

  @Test(arguments: ["gone", "other-rate"]) func absenceOfTwoSecondsIsALossOfTwoSeconds(
    fault: String
  )
    throws
  {
    // The device must be open again before the end, also on a machine that polls late.
    try writePattern(seconds: 20)
    let startInstant = ContinuousClock.now
    let running = try start(
      ["play", "a.ahap", "--device", "fault", "--json"], fault, length: 2_000)
    let result = try finish(running)
    #expect(result.status == 0)
    #expect(result.output.contains(#""heardToTheEnd": true"#))
    let missedFrameCount = try #require(Self.missed(in: result.output))
    // The program polls every 250 ms, or later on a busy machine.
    #expect(missedFrameCount > 95_000 && missedFrameCount < Self.frames(since: startInstant))
  }

  /// The device is absent for half a second, and the program polls for it every 250 ms.
  @Test(arguments: ["gone", "other-rate"], verbs) func everyVerbReportsTheLossOfAnAbsence(
    fault: String, verb: [String]
  )
    throws
  {
    try writePattern()
    let running = try start(verb + ["--device", "fault"], fault, length: 500)
    #expect(running.reports("fault: reconnected; "))
    kill(running.process, SIGINT)
    let result = try finish(running)
    #expect(result.status == -SIGINT)
    let seconds = try #require(
      result.error.number(after: "fault: reconnected; "), "\(result.error)")
    #expect(seconds > 0.49)
    if verb[0] == "listen" {
      #expect(result.output.contains("event disconnected time=0."))
      #expect(result.output.contains("event reconnected time="))
    }
  }

  /// A pointer that jumps ahead, or back by the content of the buffer, is one loss, reported once.
  @Test(arguments: verbs) func everyVerbReportsAJumpOfThePointer(verb: [String]) throws {
    try writePattern()
    let running = try start(verb + ["--device", "fault"], "skip", length: 100)
    // The program detects the jump when it reads the pointer again.
    #expect(running.reports(" ms of audio lost"))
    kill(running.process, SIGINT)
    let result = try finish(running)
    #expect(result.status == -SIGINT)
    #expect(result.error.contains(" ms of audio lost"), "\(result.error)")
  }

  /// The loss never exceeds the elapsed time, and playback without any sound is a failure.
  @Test(arguments: ["hangwrite", "hangpointer", "sleepoften", "frozen", "eagainstart", "gone"])
  func aLossNeverExceedsTheTime(fault: String) throws {
    let startInstant = ContinuousClock.now
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], fault)
    let result = try finish(running)
    let missedFrameCount = try #require(
      Self.number("missedFrames", in: result.output), "\(result.error)")
    let elapsedFrameCount = Self.frames(since: startInstant)
    #expect(
      missedFrameCount > 48_000 && missedFrameCount <= elapsedFrameCount,
      "\(missedFrameCount) of \(elapsedFrameCount)")
    let isHeard = result.output.contains(#""heardToTheEnd": true"#)
    #expect(result.status == (isHeard ? 0 : 1))
    #expect(!isHeard || fault == "sleepoften")
  }

  @Test func repeatedSuspensionsCauseFewMessages() throws {
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], "storm")
    let result = try finish(running)
    #expect(result.error.split(separator: "\n").count <= 20)
  }

  @Test func devicesAreListedWhileOneHangs() throws {
    let result = try finish(try start(["devices"], "hangopen"))
    #expect(result.status == 0)
    #expect(result.output.contains("fault"))
    #expect(result.output.contains("does not respond"))
  }

  private static func frames(since begin: ContinuousClock.Instant) -> Int {
    Int((ContinuousClock.now - begin) / .seconds(1) * 48_000)
  }

  private static func missed(in json: String) -> Int? { number("missedFrames", in: json) }

  private static func number(_ key: String, in json: String) -> Int? {
    guard let range = json.firstRange(of: "\"\(key)\": ") else { return nil }
    return Int(json[range.upperBound...].prefix { $0.isNumber })
  }
}
