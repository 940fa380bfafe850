enum LatencyVerb {
  private static let count = Option("--count", value: "N", help: "Number of taps, 1 to 100000.")
    .int(in: 1...100_000, default: 200)
  private static let seed = Option("--seed", value: "N", help: "Seed of the random times.")
    .int(in: 0...Int.max, default: 1)

  static let description = CommandDescription(
    "latency", abstract: "Measure output latency.",
    discussion: """
      Triggers taps at random times, silent unless --audible is given, and measures the time unti\
      l the first frame of each is handed to the device. The delay reported by the device and the\
       2 ms look-ahead of the limiter are added. The latency of amplifier and transducer i\
      s not included.
      """,
    options: [
      count, seed, Option("--audible", help: "Make the taps audible."), LiveOptions.json,
      LiveOptions.quiet,
    ],
    groups: LiveOptions.groups,
    examples: [
      .init("temblor latency", "Measure the default device with its default buffer of 20 ms."),
      .init(
        "temblor latency --device hw:0 --period-size 64",
        "Measure a card directly, with a small buffer."),
    ]
  ) { arguments, terminal in
    let options = try LiveOptions(arguments)
    try options.checkOutputs(reading: [])
    let count = try arguments[count]
    let seed = try arguments[seed]
    let backend = SystemBackend()
    let session = options.session(on: backend, terminal, wantsRecords: true)
    let (outcome, probe) = try options.play(in: session, isListened: false) { engine in
      if !arguments.flag("--audible") {
        engine.isMuted = true
      }
      return try LatencyProbe(count, seed: UInt64(seed), on: engine, time: backend.time)
    }
    let measurements = probe.measurements
    if !options.asJSON {
      try terminal.output.write(text(measurements, outcome, for: terminal.output))
    }
    let seconds: JSONMembers = rows(measurements).reduce([:]) { $0 + [$1.key: $1.values.fields] }
    return try options.report(outcome, ["taps": measurements.count, "seconds": seconds], terminal)
  }

  private static func rows(_ all: [LatencyProbe.Measurement]) -> [(
    name: String, key: String, values: Distribution
  )] {
    [
      ("call to device", "handing", Distribution(all.map(\.handing))),
      ("device", "device", Distribution(all.map(\.device))),
      ("limiter", "limiter", Distribution(all.map(\.limiter))),
      ("total", "total", Distribution(all.map(\.total))),
    ]
  }

  /// A table in milliseconds, a histogram at a terminal, and the sum in words.
  static func text(_ all: [LatencyProbe.Measurement], _ outcome: LiveOutcome, for output: Output)
    -> String
  {
    guard let device = outcome.device, !all.isEmpty else { return "no taps measured\n" }
    let rows = rows(all)
    var text = "\(all.count.counted("tap")) on \(device.description)\n\n"
    text += padded("milliseconds", 16) + Distribution.columns.map { column($0.name) }.joined()
    for row in rows {
      text += "\n" + padded(row.name, 16) + row.values.quantiles.map { column(ms($0)) }.joined()
    }
    text += "\n\n"
    let total = rows[rows.count - 1].values
    if output.isTerminal {
      text += histogram(total) + "\n"
    }
    let blocks = outcome.blocks
    text += "Render load: mean \(percent(blocks.meanShare)), "
    text +=
      "peak \(percent(blocks.worstShare)); \(outcome.tally.underrunCount.counted("underrun")).\n"
    text += "Median latency \(ms(total.quantile(0.5))) ms, "
    text += "99th percentile \(ms(total.quantile(0.99))) ms, "
    text += "without amplifier and transducer.\n"
    return text
  }

  private static func histogram(_ values: Distribution) -> String {
    let rows = values.histogram(rowCount: 8).rows
    let most = rows.map(\.count).max() ?? 1
    return rows.map { row in
      let length = (row.count * 40 + most - 1) / max(1, most)
      return column(ms(row.start)) + " " + String(repeating: "█", count: length)
        + (row.count > 0 ? " \(row.count)" : "") + "\n"
    }.joined()
  }

  private static func ms(_ seconds: Double) -> String {
    NumberFormatting.fixed(seconds * 1_000, places: 2)
  }

  private static func percent(_ share: Double) -> String { "\((share * 100).text(1)) %" }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func column(_ text: String) -> String {
    String(repeating: " ", count: max(0, 9 - text.count)) + text
  }
}

final class LatencyProbe: SessionTask {
  struct Measurement: Equatable, Sendable {
    /// From the call until the first frame was handed to the device.
    var handing: Double
    /// What was still to be heard before it then.
    var device: Double
    var limiter: Double

    var total: Double { handing + device + limiter }
  }

  /// The pauses between two taps, in seconds: many times a period, and no multiple of one.
  static let pauses = 0.02...0.05
  /// Time after which a tap counts as lost, since the device was away.
  private static let patience = Duration.seconds(2)

  private(set) var measurements: [Measurement] = []
  private let count: Int
  private let engine: PlaybackEngine
  private let player: PatternPlayer
  private let time: any TimeSource
  private var chance: SplitMix64
  private var next = Duration.zero
  private var lastFrame: Int64?
  private var trigger: Duration?
  private var records: [BlockTiming] = []

  init(_ count: Int, seed: UInt64, on engine: PlaybackEngine, time: any TimeSource) throws {
    self.count = count
    self.engine = engine
    self.time = time
    chance = SplitMix64(seed: seed)
    player = try engine.player(for: TapVerb.taps(1, gap: 1, intensity: 0.5, sharpness: 0.5))
  }

  var place: (position: Double, duration: Double?) { (engine.seconds, nil) }

  func perform(at now: Duration) throws -> SessionStep {
    if measurements.count >= count { return .over }
    if let trigger {
      if now - trigger > Self.patience {
        self.trigger = nil
      }
      return .wait(.milliseconds(1))
    }
    if next == .zero {
      plan(after: now)
    }
    guard now >= next else { return .wait(next - now) }
    // The clock is read at the very call.
    trigger = time.now
    try player.start()
    plan(after: now)
    return .wait(.milliseconds(1))
  }

  func note(_ new: [BlockTiming]) {
    records += new
    guard let trigger, let frame = player.startFrame, frame != lastFrame else {
      if self.trigger == nil {
        records.removeAll()
      }
      return
    }
    guard let record = records.first(where: { $0.position + Int64($0.frameCount) > frame }) else {
      return
    }
    lastFrame = frame
    self.trigger = nil
    records.removeAll()
    let behind = record.frameCount - Int(frame - record.position)
    measurements.append(
      Measurement(
        handing: max(0, (record.handed - trigger).inSeconds),
        device: Double(max(0, record.delay - behind)) / engine.rate, limiter: Renderer.lookahead))
  }

  private func plan(after now: Duration) {
    next = now + .inSeconds(Double.random(in: Self.pauses, using: &chance))
  }
}
