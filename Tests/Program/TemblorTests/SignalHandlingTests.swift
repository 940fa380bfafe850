import Glibc
import Testing

@Suite struct InterruptionTests {
  let place = Workplace()

  private static let long = [
    "render", "pulse", "--loop", "0", "--duration", "80000", "-o", "a.wav",
  ]

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func anInterruptedFileLeavesTheOldOne(signal: Int32)
    throws
  {
    try place.write("old", to: "a.wav")
    var running: Running?
    #expect(try place.appears { running = try place.start(Self.long) })
    let process = try #require(running)
    kill(process.process, signal)
    #expect(
      try place.finish(process) == .init(1, error: "a.wav: interrupted; nothing was written\n"))
    #expect(place.names() == ["a.wav"])
    #expect(place.text("a.wav") == "old")
  }

  @Test(arguments: [SIGKILL]) func aKilledProgramLeavesTheOldFileAndNothingElse(signal: Int32)
    throws
  {
    try place.write("old", to: "a.wav")
    var running: Running?
    #expect(try place.appears { running = try place.start(Self.long) })
    let process = try #require(running)
    kill(process.process, signal)
    #expect(try place.finish(process) == .init(-signal))
    #expect(place.names().filter { !$0.hasPrefix("core") } == ["a.wav"])
    #expect(place.text("a.wav") == "old")
  }

  /// `nohup` starts programs with SIGHUP ignored.
  @Test func anIgnoredSignalStaysIgnored() throws {
    let run = try place.bash(
      """
      trap '' HUP
      $TEMBLOR render pulse -q --loop 0 --duration 1200 -o a.wav &
      for ((i = 0; i < 10000; i++)); do ls -l /proc/$!/fd | grep -q '#' && break; done
      kill -HUP $!
      wait $!
      """)
    #expect(run == .init(0))
    #expect(place.names() == ["a.wav"])
  }

  /// The first pattern's text is written before the second is waited for.
  @Test func waitingForInputEndsAtOnce() throws {
    let run = try place.bash(
      """
      mkfifo in
      exec 3<> in
      $TEMBLOR format light - < in > out &
      until test -s out; do :; done
      kill -TERM $!
      wait $!
      """)
    #expect(run.status == 128 + SIGTERM)
    #expect(run.output == "")
  }
}
