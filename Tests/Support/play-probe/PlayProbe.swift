import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import PlayRig

/// Plays scripts on a device of ALSA and reports what happens, for tests that listen on the other
/// side.
///
/// `play-probe DEVICE RATE CHANNELS PERIOD BUFFER [realtime]` opens the device and plays silence.
/// The lines of a script on its standard input, closed by `go`, are played a little later; other
/// lines are ignored. It ends with the script, or when its input is closed. Each line it prints
/// begins with a word:
///
/// - `granted` what the device gave, `began FRAME` where the script's frame 0 is, `over` the end;
/// - `notice SECONDS FRAME KIND MISSED TEXT` what happened at the sink, by the machine's steady
///   clock;
/// - `clock FRAME SECONDS` when a frame is heard, twice a second;
/// - `judged …` figures of all blocks.
@main struct PlayProbe {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      printLine("failed \(error)")
      exit(1)
    }
  }

  /// Seconds before its frame at which a step is sent, and the first of them at least.
  private static let scheduleLeadSeconds = 0.25

  private static func run(_ words: [String]) throws {
    guard words.count >= 5, let rate = Int(words[1]), let channels = Int(words[2]),
      let period = Int(words[3]),
      let buffer = Int(words[4])
    else {
      printLine("failed usage: play-probe DEVICE RATE CHANNELS PERIOD BUFFER [realtime]")
      exit(64)
    }
    let time = ObservedTime()
    let sink = try ALSASink(
      PCMRequest(
        device: words[0], rate: rate, channels: .exactly(channels), periodSize: period,
        bufferSize: buffer),
      clock: time)
    let grant = sink.configuration
    printLine(
      "granted rate \(grant.rate) channels \(grant.channelCount) encoding \(grant.encoding) "
        + "period \(grant.periodSize) buffer \(grant.bufferSize) paced \(grant.isFasterThanRealTime)"
    )
    let engine = PlaybackEngine(rate: Double(rate), routing: OutputRouting(channelCount: channels))
    let playback = try LivePlayback(
      engine, sink: sink, time: time, wantsRealTime: words.dropFirst(5).contains("realtime")
    ) { event in
      guard case .sinkEvent(let notice) = event else { return printLine("ended") }
      printLine(
        "notice \(seconds(SystemTimeSource().now)) \(engine.position) \(notice.kind) "
          + "\(notice.missedFrameCount) \(notice.text)")
    }
    var judge = BlockTimingSummary(rate: Double(rate), periodSize: grant.periodSize)
    try play(engine, playback, time: time, judge: &judge)
    playback.stopPlayback()
    judge.add(playback.drainBlockTimings(), traces: time.takeTraces())
    printLine("judged \(judge)")
    printLine("over")
  }

  /// Reads scripts and plays them, until the last is over.
  private static func play(
    _ engine: PlaybackEngine, _ playback: LivePlayback, time: ObservedTime,
    judge: inout BlockTimingSummary
  ) throws {
    var input = InputLines()
    var lines: [String] = []
    var script: PlaybackScript?
    var players: ScriptPlayers?
    var steps: [PlaybackScript.Step] = []
    var base: Int64 = 0
    var told = SystemTimeSource().now
    while !playback.hasEnded {
      for line in input.next(within: .milliseconds(20)) {
        guard line == "go" else {
          lines.append(line)
          continue
        }
        let read = try PlaybackScript(lines.joined(separator: "\n"))
        players = try ScriptPlayers(read, on: engine)
        script = read
        steps = read.steps.sorted { $0.frame < $1.frame }
        base = engine.position + Int64(2 * scheduleLeadSeconds * engine.rate)
        printLine("began \(base)")
      }
      if input.isClosed { return }
      let near = engine.position - base + Int64(scheduleLeadSeconds * engine.rate)
      while let step = steps.first, step.frame <= near {
        try players?.send(step, base: base)
        steps.removeFirst()
      }
      let records = playback.drainBlockTimings()
      judge.add(records, traces: time.takeTraces())
      let now = SystemTimeSource().now
      if let last = records.last, now - told > .milliseconds(500) {
        told = now
        let heard =
          seconds(last.writeEnd) + Double(last.delayFrameCount - last.frameCount) / engine.rate
        printLine("clock \(last.position) \(heard)")
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

/// The lines of the standard input, as they come.
struct InputLines {
  /// Whether nothing more will come.
  private(set) var isClosed = false
  private var unfinishedLine: [UInt8] = []

  /// Waits at most a time, and takes the lines that are whole.
  mutating func next(within limit: Duration) -> [String] {
    var watched = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(limit / .milliseconds(1))
    guard unsafe poll(&watched, 1, milliseconds) == 1 else { return [] }
    var piece = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(STDIN_FILENO, &piece, piece.count)
    if count <= 0 {
      isClosed = true
    }
    unfinishedLine += piece.prefix(max(0, count))
    guard let end = unfinishedLine.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    let lines = unfinishedLine[..<end].split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    unfinishedLine.removeSubrange(...end)
    return lines
  }
}
