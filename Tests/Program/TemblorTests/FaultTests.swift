import Glibc
import SoundFile
import Testing

/// The program on a device of which one call goes wrong.
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
    _ words: [String], _ fault: String, length: Int? = nil, input: String? = nil,
    then: String? = nil
  ) throws -> RunningProgram {
    let environment = try #require(FaultPlugIn.shared).environment(
      fault, sign: markerFolder.path + "/met", length: length, then: then)
    return try RunningProgram(
      WorkingFolder.program, words, in: folder.path, input: input, environment: environment)
  }

  /// Starts a verb, and interrupts it when the fault is met.
  private func interrupt(
    _ words: [String], _ fault: String, signal: Int32 = SIGINT, input: String? = nil
  ) throws
    -> WorkingFolder.Result
  {
    let running = try start(words, fault, input: input)
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
  func theFirstSignalEndsEveryVerbWithItsRecording(fault: String, verb: [String]) throws {
    try writePattern()
    let result = try interrupt(verb + ["--device", "fault", "--record", "heard.wav"], fault)
    #expect(result.status == -SIGINT)
    // An opening that hangs has no rate, so that there is nothing to record.
    let recorded = fault == "hangopen" ? [] : ["heard.wav"]
    #expect(folder.fileNames() == ["a.ahap"] + recorded)
    guard fault != "hangopen" else { return }
    // The fault comes a time after the start, in which a busy machine may play little: a buffer at
    // least.
    let sound = try Sound(reading: folder, "heard.wav")
    #expect(sound.truncation == nil && sound.interleaved.count >= 2 * 960)
  }

  @Test(arguments: [SIGTERM, SIGHUP], ["hangwrite", "hangpointer"]) func everySignalEnds(
    signal: Int32, fault: String
  )
    throws
  {
    let words = ["play", "pulse", "--loop", "0", "--device", "fault"]
    #expect(try interrupt(words, fault, signal: signal).status == -signal)
  }

  /// A call that returns after the program went on without it, and a device that then cannot be
  /// closed.
  @Test(arguments: ["hangback", "hangunplug", "sleepoften"], ["hangdrop", "hangclose"])
  func oneSignalEndsTwoFaults(fault: String, then: String) throws {
    for (verb, signal) in [(Self.verbs[0], SIGINT), (["listen", "--socket", "s"], SIGTERM)] {
      let running = try start(verb + ["--device", "fault"], fault, then: then)
      #expect(markerFolder.fileAppears("met", from: running))
      kill(running.process, signal)
      // A second signal or the time limit would be another status.
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

  /// Without a socket, an absent device is an error at once.
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
    // On a busy machine underruns are reported before it.
    let messages = result.error.split(separator: "\n")
    #expect(messages.contains { $0.hasPrefix("the device does not respond") }, "\(messages)")
    #expect(folder.fileNames() == ["heard.wav"])
  }

  @Test func quitEndsAListenerOnADeviceThatHangs() throws {
    let running = try start(
      ["listen", "--device", "fault"], "hangwrite", input: "hum 1 0.5 9\n")
    #expect(markerFolder.fileAppears("met", from: running))
    let result = try finish(running)
    // The end of its input is the end, once the hum is over by the clock, which goes on.
    #expect(result.status == 1)
    #expect(result.output.contains("event unresponsive "))
    let start = try #require(result.output.number(after: "ok name=hum-1 time="))
    let end = try #require(result.output.number(after: "event finished name=hum-1 time="))
    #expect(abs(end - start - 9) < 0.001, "\(result.output)")
  }

  @Test(arguments: ["gone", "other-rate"]) func whatIsNotHeardToTheEndIsAFailure(fault: String)
    throws
  {
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], fault)
    let result = try finish(running)
    #expect(result.status == 1)
    #expect(result.output.contains(#""heardToTheEnd": false"#))
    #expect(result.error.contains("fault: the device did not return before playback ended; "))
    // 4 seconds, of which 0.3 were heard.
    let missed = try #require(Self.missed(in: result.output))
    #expect(missed > 150_000)
  }

  @Test(arguments: ["gone", "other-rate"]) func twoSecondsAwayAreTwoSecondsOfLoss(fault: String)
    throws
  {
    // The device must be open again before the end, also on a machine that looks for it late.
    try writePattern(seconds: 20)
    let begin = ContinuousClock.now
    let running = try start(
      ["play", "a.ahap", "--device", "fault", "--json"], fault, length: 2_000)
    let result = try finish(running)
    #expect(result.status == 0)
    #expect(result.output.contains(#""heardToTheEnd": true"#))
    let missed = try #require(Self.missed(in: result.output))
    // Looked for every quarter of a second; on a busy machine later.
    #expect(missed > 95_000 && missed < Self.frames(since: begin))
  }

  /// Half a second away, whatever plays; the device is looked for every quarter of a second.
  @Test(arguments: ["gone", "other-rate"], verbs) func everyVerbCountsWhatAnAbsenceCost(
    fault: String, verb: [String]
  )
    throws
  {
    try writePattern()
    let running = try start(verb + ["--device", "fault"], fault, length: 500)
    #expect(markerFolder.fileAppears("met.over", from: running))
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

  /// A pointer that leaps ahead, or back by what is left of the buffer, is one loss, told once.
  @Test(arguments: verbs) func everyVerbCountsALeap(verb: [String]) throws {
    try writePattern()
    let running = try start(verb + ["--device", "fault"], "skip", length: 100)
    #expect(markerFolder.fileAppears("met.over", from: running))
    kill(running.process, SIGINT)
    let result = try finish(running)
    #expect(result.status == -SIGINT)
    #expect(result.error.contains(" ms of audio lost"), "\(result.error)")
  }

  /// Whatever the device does, no more than the time is lost; what never sounded was not heard.
  @Test(arguments: ["hangwrite", "hangpointer", "sleepoften", "frozen", "eagainstart", "gone"])
  func aLossNeverExceedsTheTime(fault: String) throws {
    let begin = ContinuousClock.now
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], fault)
    let result = try finish(running)
    let missed = try #require(Self.number("missedFrames", in: result.output), "\(result.error)")
    let time = Self.frames(since: begin)
    #expect(missed > 48_000 && missed <= time, "\(missed) of \(time)")
    let isHeard = result.output.contains(#""heardToTheEnd": true"#)
    #expect(result.status == (isHeard ? 0 : 1))
    #expect(!isHeard || fault == "sleepoften")
  }

  @Test func aStormIsAFewLines() throws {
    let running = try start(
      ["play", "earthquake-simulation", "--device", "fault", "--json"], "storm")
    let result = try finish(running)
    #expect(result.error.split(separator: "\n").count <= 20)
  }

  @Test func devicesAreListedWhereOneHangs() throws {
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
