import CommandLineKit
import HapticPlayback
import HapticRender
import PlaybackSessions
import SystemSupport

/// The command `latency`, which measures output latency.
enum LatencyCommand {
  private static let tapCountOption = Option(
    "--count", value: "N", help: "Number of taps, 1 to 100000."
  )
  .int(in: 1...100_000, default: 200)
  private static let seedOption = Option("--seed", value: "N", help: "Seed for the random times.")
    .int(in: 0...Int.max, default: 1)

  static let definition = Command(
    "latency", abstract: "Measure output latency.",
    discussion: """
      The command plays taps at random times and measures the time until the first frame of each \
      tap is written to the device. The taps are silent unless --audible is given. The result \
      includes the delay that the device reports, and the 2 ms look-ahead of the limiter. The \
      result excludes the latency of the amplifier and the transducer.
      """,
    options: [
      tapCountOption, seedOption, audibleOption, LiveOptions.jsonOption, LiveOptions.quietOption,
    ],
    optionGroups: LiveOptions.optionGroups,
    examples: [
      .init("temblor latency", "Measure the default device with its default buffer of 20 ms."),
      .init(
        "temblor latency --device hw:0 --period-size 64",
        "Measure a sound card directly, with a small buffer."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let audibleOption = Option("--audible", help: "Make the taps audible.").flag()

  struct Options {
    let liveOptions: LiveOptions
    let tapCount: Int
    let seed: Int
    let isAudible: Bool

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      try liveOptions.checkOutputs(reading: [])
      tapCount = try arguments[LatencyCommand.tapCountOption]
      seed = try arguments[LatencyCommand.seedOption]
      isAudible = try arguments[audibleOption]
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    let environment = SystemEnvironment()
    let session = options.liveOptions.makeSession(
      in: environment, terminal, wantsBlockTimings: true)
    let (outcome, probe) = try options.liveOptions.play(in: session, isListened: false) { engine in
      if !options.isAudible {
        engine.isMuted = true
      }
      return try LatencyProbe(
        options.tapCount, seed: UInt64(options.seed), on: engine, time: environment.time)
    }
    let measurements = probe.measurements
    if !options.liveOptions.printsJSON {
      try terminal.output.write(reportText(measurements, outcome, for: terminal.output))
    }
    let distributionFields: JSONObject = latencyDistributionRows(measurements).reduce([:]) {
      $0 + [$1.key: $1.values.jsonFields]
    }
    return try options.liveOptions.reportOutcome(
      outcome, ["taps": measurements.count, "seconds": distributionFields], terminal)
  }

  private static func latencyDistributionRows(_ all: [LatencyProbe.Measurement]) -> [(
    name: String, key: String, values: ValueDistribution
  )] {
    [
      ("call to device", "handing", ValueDistribution(all.map(\.callToDeviceSeconds))),
      ("device", "device", ValueDistribution(all.map(\.deviceDelaySeconds))),
      ("limiter", "limiter", ValueDistribution(all.map(\.limiterDelaySeconds))),
      ("total", "total", ValueDistribution(all.map(\.totalLatencySeconds))),
    ]
  }

  /// Returns the report of the measured latencies: a table in milliseconds, a histogram if the
  /// output is a terminal, and a summary.
  static func reportText(
    _ all: [LatencyProbe.Measurement], _ outcome: LiveOutcome, for output: Output
  )
    -> String
  {
    guard let device = outcome.device, !all.isEmpty else { return "no taps measured\n" }
    let latencyRows = latencyDistributionRows(all)
    var latencyText = "\(all.count.countText("tap")) on \(device.description)\n\n"
    latencyText +=
      rightPadded("milliseconds", toWidth: 16)
      + ValueDistribution.quantileColumns.map { rightAlignedCell($0.name) }.joined()
    for row in latencyRows {
      latencyText +=
        "\n" + rightPadded(row.name, toWidth: 16)
        + row.values.quantiles.map { rightAlignedCell(millisecondText($0)) }.joined()
    }
    latencyText += "\n\n"
    let totalLatencies = latencyRows[latencyRows.count - 1].values
    if output.isTerminal {
      latencyText += histogramText(totalLatencies) + "\n"
    }
    let renderLoad = outcome.renderLoadStatistics
    latencyText += "Render load: mean \(percentText(renderLoad.meanLoadFraction)), "
    latencyText +=
      "peak \(percentText(renderLoad.peakLoadFraction)); "
      + "\(outcome.sinkEvents.underrunCount.countText("underrun")).\n"
    latencyText += "Median latency \(millisecondText(totalLatencies.quantile(0.5))) ms, "
    latencyText += "99th percentile \(millisecondText(totalLatencies.quantile(0.99))) ms, "
    latencyText += "without amplifier and transducer.\n"
    return latencyText
  }

  private static func histogramText(_ values: ValueDistribution) -> String {
    let histogramRows = values.histogram(rowCount: 8).rows
    let maximumRowCount = histogramRows.map(\.count).max() ?? 1
    return histogramRows.map { row in
      let length = (row.count * 40 + maximumRowCount - 1) / max(1, maximumRowCount)
      return rightAlignedCell(millisecondText(row.start)) + " "
        + String(repeating: "█", count: length)
        + (row.count > 0 ? " \(row.count)" : "") + "\n"
    }.joined()
  }

  private static func millisecondText(_ seconds: Double) -> String {
    NumberFormatting.fixedText(seconds * 1_000, places: 2)
  }

  private static func percentText(_ fraction: Double) -> String {
    "\((fraction * 100).text(places: 1)) %"
  }

  private static func rightPadded(_ text: String, toWidth width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func rightAlignedCell(_ text: String) -> String {
    String(repeating: " ", count: max(0, 9 - text.count)) + text
  }
}

/// A measurement of latency that plays taps at random times.
final class LatencyProbe: PlaybackActivity {
  struct Measurement: Equatable, Sendable {
    /// The time from the call until the first frame of the tap is handed to the device, in seconds.
    var callToDeviceSeconds: Double
    /// The duration of the sound that the device still plays before the first frame of the tap, in
    /// seconds.
    var deviceDelaySeconds: Double
    var limiterDelaySeconds: Double

    var totalLatencySeconds: Double {
      callToDeviceSeconds + deviceDelaySeconds + limiterDelaySeconds
    }
  }

  /// The range of pauses between taps, in seconds.
  /// A pause is many times the length of a period, and not a multiple of it.
  static let pauseSecondsRange = 0.02...0.05
  /// The time after which a tap is lost because the device was disconnected.
  private static let lostTapTimeout = Duration.seconds(2)

  private(set) var measurements: [Measurement] = []
  private let tapCount: Int
  private let engine: PlaybackEngine
  private let player: PatternPlayer
  private let time: any TimeSource
  private var randomGenerator: SplitMix64
  private var nextTapTime = Duration.zero
  private var lastTapStartFrame: Int64?
  private var pendingTapTime: Duration?
  private var blockTimings: [BlockTiming] = []

  init(_ count: Int, seed: UInt64, on engine: PlaybackEngine, time: any TimeSource) throws {
    self.tapCount = count
    self.engine = engine
    self.time = time
    randomGenerator = SplitMix64(seed: seed)
    player = try engine.player(
      for: TapCommand.tapPattern(count: 1, interval: 1, intensity: 0.5, sharpness: 0.5))
  }

  var playbackProgress: (position: Double, duration: Double?) { (engine.positionSeconds, nil) }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    if measurements.count >= tapCount { return .finished }
    if let pendingTapTime {
      if now - pendingTapTime > Self.lostTapTimeout {
        self.pendingTapTime = nil
      }
      return .wait(.milliseconds(1))
    }
    if nextTapTime == .zero {
      scheduleTap(after: now)
    }
    guard now >= nextTapTime else { return .wait(nextTapTime - now) }
    // The clock is read immediately before the call.
    pendingTapTime = time.now
    try player.start()
    scheduleTap(after: now)
    return .wait(.milliseconds(1))
  }

  func recordBlockTimings(_ timings: [BlockTiming]) {
    blockTimings += timings
    guard let pendingTapTime, let startFrame = player.startFrame, startFrame != lastTapStartFrame
    else {
      if self.pendingTapTime == nil {
        blockTimings.removeAll()
      }
      return
    }
    guard
      let blockTiming = blockTimings.first(where: {
        $0.position + Int64($0.frameCount) > startFrame
      })
    else {
      return
    }
    lastTapStartFrame = startFrame
    self.pendingTapTime = nil
    blockTimings.removeAll()
    let framesAfterStart = blockTiming.frameCount - Int(startFrame - blockTiming.position)
    measurements.append(
      Measurement(
        callToDeviceSeconds: max(0, (blockTiming.writeEnd - pendingTapTime).inSeconds),
        deviceDelaySeconds: Double(max(0, blockTiming.delayFrameCount - framesAfterStart))
          / engine.rate,
        limiterDelaySeconds: Renderer.lookaheadSeconds))
  }

  private func scheduleTap(after now: Duration) {
    nextTapTime =
      now
      + .roundedToNanoseconds(
        seconds: Double.random(in: Self.pauseSecondsRange, using: &randomGenerator))
  }
}
