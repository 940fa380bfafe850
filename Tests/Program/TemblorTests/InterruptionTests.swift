import Glibc
import SoundFile
import Testing

@Suite struct InterruptionTests {
  let folder = WorkingFolder()

  private static let longRunningCommands = [
    "render", "pulse", "--loop", "0", "--duration", "80000", "-o", "a.wav",
  ]

  /// Sends a signal to a rendering that has begun to write its file, and returns its result.
  private func resultOfRendering(endedBy signal: Int32) throws -> WorkingFolder.Result {
    var running: RunningProgram?
    #expect(try folder.fileAppears { running = try folder.start(Self.longRunningCommands) })
    let program = try #require(running)
    kill(program.process, signal)
    return try folder.finish(program)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func interruptedRenderingKeepsTheOldFile(
    signal: Int32
  )
    throws
  {
    try folder.write("old", to: "a.wav")
    #expect(
      try resultOfRendering(endedBy: signal)
        == .init(1, error: "a.wav: interrupted; nothing was written\n"))
    #expect(folder.fileNames() == ["a.wav"])
    #expect(folder.text("a.wav") == "old")
  }

  @Test(arguments: [SIGKILL]) func killedProgramKeepsTheOldFileAndLeavesNoOther(signal: Int32)
    throws
  {
    try folder.write("old", to: "a.wav")
    #expect(try resultOfRendering(endedBy: signal) == .init(-signal))
    #expect(folder.fileNames().filter { !$0.hasPrefix("core") } == ["a.wav"])
    #expect(folder.text("a.wav") == "old")
  }

  /// `timeout` signals a process and its group, so the same request comes twice.
  @Test(arguments: ["0", "0.001", "0.01", "0.1", "0.3"]) func twoSignalsKeepARecording(
    pause: String
  ) throws {
    for signal in ["INT", "TERM"] {
      let run = try folder.bash(
        """
        set -m
        $TEMBLOR play heartbeat --loop 0 -d null: --record \(signal).wav 2> /dev/null &
        while ! test -s \(signal).wav; do sleep 0.05; done
        kill -\(signal) $!
        sleep \(pause)
        kill -\(signal) $! 2> /dev/null
        wait $!
        """)
      #expect(run.status == 128 + (signal == "INT" ? SIGINT : SIGTERM))
      #expect(try Sound(reading: folder, signal + ".wav").truncation == nil)
    }
  }

  /// A recording has its name and a valid header while it grows, so that the recording of a killed
  /// program is readable.
  @Test(arguments: ["wav", "flac", "w64"]) func aKilledProgramKeepsItsRecording(ending: String)
    throws
  {
    let run = try folder.bash(
      """
      set -m
      $TEMBLOR play heartbeat --loop 0 -d null: --record heard.\(ending) --json > /dev/null 2>&1 &
      seconds() {
        $TEMBLOR info heard.\(ending) --json 2> /dev/null | grep -o -m 1 '"duration": [0-9]*'
      }
      until duration=$(seconds); test "${duration##* }" -ge 4 2> /dev/null; do sleep 0.05; done
      kill -KILL $!
      wait $!
      $TEMBLOR info heard.\(ending) --json
      """)
    let seconds = try #require(run.output.number(after: "\"duration\": "), "\(run)")
    #expect(seconds >= 4, "\(run.output)")
  }

  /// `nohup` starts programs with SIGHUP ignored.
  @Test func anIgnoredSignalStaysIgnored() throws {
    let run = try folder.bash(
      """
      trap '' HUP
      $TEMBLOR render pulse -q --loop 0 --duration 1200 -o a.wav &
      for ((i = 0; i < 10000; i++)); do ls -l /proc/$!/fd 2>&1 | grep -q '#' && break; done
      kill -HUP $!
      wait $!
      """)
    #expect(run == .init(0))
    #expect(folder.fileNames() == ["a.wav"])
  }

  /// The text of the first pattern is written before the program waits for the second pattern.
  @Test func waitingForInputEndsImmediately() throws {
    let run = try folder.bash(
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
