import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import PlayRig

/// Plays scripts on an ALSA device and reports events, for tests that record the output of the
/// device.
///
/// `play-probe DEVICE RATE CHANNELS PERIOD BUFFER [realtime]` opens the device and plays silence.
/// The program plays the lines of a script from standard input half a second after the line `go`.
/// It ends with the script, or when its input is closed. Each line of its output begins with a
/// word:
///
/// - `granted`: the configuration of the device.
/// - `began FRAME`: the frame of the engine at which the script starts.
/// - `notice SECONDS FRAME KIND MISSED TEXT`: an event of the sink, on the monotonic clock.
/// - `clock FRAME SECONDS`: the time at which a frame is heard, twice a second.
/// - `judged …`: the summary of all blocks.
/// - `over`: the end.
@main struct PlayProbe {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      printLine("failed \(error)")
      exit(1)
    }
  }

  /// The time by which a step is sent before its frame, in seconds.
  private static let scheduleLeadSeconds = 0.25

  private static func run(_ arguments: [String]) throws {
    guard arguments.count >= 5, let rate = Int(arguments[1]), let channels = Int(arguments[2]),
      let period = Int(arguments[3]),
      let buffer = Int(arguments[4])
    else {
      printLine("failed usage: play-probe DEVICE RATE CHANNELS PERIOD BUFFER [realtime]")
      exit(64)
    }
    let time = ObservedTime()
    let sink = try ALSASink(
      PCMRequest(
        device: arguments[0], rate: rate, channels: .exactly(channels), periodSize: period,
        bufferSize: buffer),
      clock: time)
    let configuration = sink.configuration
    printLine(
      "granted rate \(configuration.rate) channels \(configuration.channelCount) "
        + "encoding \(configuration.encoding) period \(configuration.periodSize) "
        + "buffer \(configuration.bufferSize) paced \(configuration.isFasterThanRealTime)"
    )
    let engine = PlaybackEngine(rate: Double(rate), routing: OutputRouting(channelCount: channels))
    let playback = try LivePlayback(
      engine, sink: sink, time: time, wantsRealTime: arguments.dropFirst(5).contains("realtime")
    ) { event in
      guard case .sinkEvent(let notice) = event else { return printLine("ended") }
      printLine(
        "notice \(seconds(SystemTimeSource().now)) \(engine.position) \(notice.kind) "
          + "\(notice.missedFrameCount) \(notice.text)")
    }
    var timingSummary = BlockTimingSummary(rate: Double(rate), periodSize: configuration.periodSize)
    try play(engine, playback, time: time, timingSummary: &timingSummary)
    playback.stopPlayback()
    timingSummary.add(playback.drainBlockTimings(), traces: time.takeTraces())
    printLine("judged \(timingSummary)")
    printLine("over")
  }

  /// Reads scripts and plays them, until the last script ends.
  private static func play(
    _ engine: PlaybackEngine, _ playback: LivePlayback, time: ObservedTime,
    timingSummary: inout BlockTimingSummary
  ) throws {
    var input = InputLines()
    var lines: [String] = []
    var script: PlaybackScript?
    var players: ScriptPlayers?
    var steps: [PlaybackScript.Step] = []
    var base: Int64 = 0
    var lastReportTime = SystemTimeSource().now
    while !playback.hasEnded {
      for line in input.next(within: .milliseconds(20)) {
        guard line == "go" else {
          lines.append(line)
          continue
        }
        let newScript = try PlaybackScript(lines.joined(separator: "\n"))
        players = try ScriptPlayers(newScript, on: engine)
        script = newScript
        steps = newScript.steps.sorted { $0.frame < $1.frame }
        base = engine.position + Int64(2 * scheduleLeadSeconds * engine.rate)
        printLine("began \(base)")
      }
      if input.isClosed { return }
      let scheduleLimit = engine.position - base + Int64(scheduleLeadSeconds * engine.rate)
      while let step = steps.first, step.frame <= scheduleLimit {
        try players?.send(step, base: base)
        steps.removeFirst()
      }
      let records = playback.drainBlockTimings()
      timingSummary.add(records, traces: time.takeTraces())
      let now = SystemTimeSource().now
      if let last = records.last, now - lastReportTime > .milliseconds(500) {
        lastReportTime = now
        let playbackSeconds =
          seconds(last.writeEnd) + Double(last.delayFrameCount - last.frameCount) / engine.rate
        printLine("clock \(last.position) \(playbackSeconds)")
      }
      if let script, engine.position >= base + script.endFrame { return }
    }
  }

  private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

  private static func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// The lines of standard input.
struct InputLines {
  /// True if the input has ended.
  private(set) var isClosed = false
  private var unfinishedLine: [UInt8] = []

  /// Waits for input, at most for a given time, and returns the complete lines.
  mutating func next(within limit: Duration) -> [String] {
    var pollDescriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(limit / .milliseconds(1))
    guard unsafe poll(&pollDescriptor, 1, milliseconds) == 1 else { return [] }
    var block = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(STDIN_FILENO, &block, block.count)
    if count <= 0 {
      isClosed = true
    }
    unfinishedLine += block.prefix(max(0, count))
    guard let end = unfinishedLine.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    let lines = unfinishedLine[..<end].split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    unfinishedLine.removeSubrange(...end)
    return lines
  }
}
