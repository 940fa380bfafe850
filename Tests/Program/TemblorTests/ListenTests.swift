import Glibc
import SoundFile
import TestSupport
import Testing

@Suite struct ListenTests {
  let folder = WorkingFolder()

  /// Returns the lines of an output without underruns, which a busy machine may cause.
  private func lines(_ output: String) -> [Substring] {
    output.split(separator: "\n").filter { !$0.hasPrefix("event underrun ") }
  }

  @Test func aScriptIsAnsweredLineByLineAndPlayedToItsEnd() throws {
    let run = try folder.temblor(
      "listen", "--device", "null", "--record", "heard.wav",
      input: """
        # A score
        @1 play double-tap at 0.5 as score loop
        @2 paly heartbeat
        @3 play nowhere.ahap
        @4 tap 0.5 at 0.4
        @5 list
        """)
    #expect(run.status == 0)
    let lines = lines(run.output)
    try #require(lines.count == 6)
    #expect(lines[0].hasPrefix("@1 ok name=score time=0.5 duration="))
    #expect(lines[1] == "@2 error unknown-keyword: unknown command 'paly'; did you mean 'play'?")
    #expect(
      lines[2] == "@3 error invalid-pattern: nowhere.ahap: \(ExpectedMessage.unknownPattern)")
    #expect(lines[3] == "@4 ok time=0.4")
    #expect(lines[4] == "@5 ok score")
    #expect(lines[5].hasPrefix("event finished name=score time=0."))
    let descriptor = unsafe open(folder.path + "/heard.wav", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let sound = try Sound(readingDescriptor: descriptor, path: "heard.wav")
    #expect(sound.rate == 48_000)
    #expect(sound.interleaved.contains { abs($0) > 0.1 })
  }

  @Test func invalidPatternIsReportedWithItsLocation() throws {
    try folder.write("{\"Version\": 1.0,\n \"Pattern\": [{\"Event\": {}}]}", to: "a.ahap")
    let run = try folder.temblor("listen", "--device", "null", input: "play a.ahap\n")
    #expect(run.status == 0)
    #expect(
      lines(run.output).first?.hasPrefix("error invalid-pattern: a.ahap:2:24: error: an event must")
        == true)
  }

  @Test func quitEndsImmediatelyAndInvalidLinesDoNot() throws {
    let run = try folder.temblor(
      "listen", "--device", "null", input: "play pulse loop as p\n\u{1}\nplay\n\"\n@x quit\nlist\n")
    #expect(run.status == 0)
    let lines = lines(run.output)
    #expect(lines.count == 5)
    #expect(lines.first?.hasPrefix("ok name=p time=") == true)
    #expect(
      lines.dropFirst().prefix(1) == [
        "error invalid-utf8: the line is not valid UTF-8 or contains control characters"
      ])
    #expect(lines.last == "@x ok")
  }

  @Test func clientsOfTheSocketAreAnsweredUntilASignal() throws {
    var started: RunningProgram?
    #expect(
      try folder.fileAppears {
        started = try folder.start(["listen", "--device", "null", "--socket", "s"], input: "")
      })
    let running = try #require(started)
    let client = try SocketClient(folder.path + "/s")
    let otherClient = try SocketClient(folder.path + "/s")
    client.send("@1 hum 1 0.5 0.1 as drone")
    #expect(client.line()?.hasPrefix("@1 ok name=drone time=") == true)
    #expect(client.line()?.hasPrefix("event finished name=drone time=") == true)
    #expect(otherClient.line()?.hasPrefix("event finished name=drone time=") == true)
    client.send("@2 nonsense")
    #expect(client.line() == "@2 error unknown-keyword: unknown command 'nonsense'")
    client.send("quit")
    #expect(client.line() == "ok")
    #expect(client.line() == nil)
    otherClient.send("play pulse loop")
    #expect(otherClient.line()?.hasPrefix("ok name=pulse time=") == true)
    kill(running.process, SIGTERM)
    #expect(otherClient.line() == nil)
    #expect(try folder.finish(running).status == -SIGTERM)
    #expect(folder.fileNames() == [])
  }

  @Test func aSocketThatCannotBeMadeIsAnError() throws {
    let run = try folder.temblor("listen", "--device", "null", "--socket", "no/s")
    #expect(run == .init(1, error: "temblor: no/s: cannot be created: No such file or directory\n"))
  }

  @Test func scriptsContinueWithoutADevice() throws {
    // Without a configuration ALSA knows no device at all.
    let run = try folder.bash(
      "ALSA_CONFIG_PATH=/dev/null $TEMBLOR listen <<< 'hum 1 0.5 0.1 at 0.3 as x'")
    #expect(run.status == 0)
    #expect(
      lines(run.output) == ["ok name=x time=0.3 duration=0.1", "event finished name=x time=0.401"])
    #expect(run.error.hasPrefix("default: "))
    #expect(run.error.hasSuffix("; continuing without sound\n"))
  }

  @Test func namedDeviceMustExist() throws {
    let run = try folder.temblor("listen", "--device", "nowhere", input: "tap\n")
    #expect(run.status == 1)
    #expect(run.output == "")
    #expect(run.error.hasPrefix("temblor: nowhere: "))
  }

  @Test func helpHasTheProtocol() throws {
    let run = try folder.temblor("help", "listen")
    #expect(run.status == 0)
    #expect(run.output.contains("  set PARAMETER VALUE [of NAME] [over SECONDS] [at TIME]\n"))
    #expect(run.output.contains("--socket PATH"))
  }
}
