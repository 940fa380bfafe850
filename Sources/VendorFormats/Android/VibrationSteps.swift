internal import HapticFormats
internal import HapticModel

/// Makes a composition into levels that step, as devices without envelopes play.
struct VibrationSteps {
  /// The levels.
  private(set) var steps: [VibrationEffect.Step] = []
  /// The number of the level from which on they repeat, or nil.
  private(set) var repeatIndex: Int?
  private(set) var losses: LossLog

  /// How Meta's waveforms for Android are rendered.
  ///
  /// Source: facebook/meta-haptics-sdk, 41c9dcb, `android_waveform.rs`: an emphasis is added to the
  /// envelope, which is ducked meanwhile, and lasts from 36.4 ms (dull) to 12.1 ms (sharp).
  private enum Meta {
    static let interval = 0.01
    /// The most samples; longer compositions are sampled less often.
    static let maximumCount = 500_000.0
    static let ducking = 0.5
    static let longest = 0.0364
    static let shortest = 0.0121
  }

  private struct Emphasis {
    var start: Double
    var end: Double
    var level: Double
  }

  private var emphases: [Emphasis] = []
  private var points: [EnvelopePoint] = []

  /// The levels of a composition.
  ///
  /// Levels that are constant between jumps are written as they are; others are sampled.
  ///
  /// - Parameter isContinuous: Whether no level is 0, as in the files of Haptics Studio: a motor that
  ///   stops takes time to start.
  init(_ composition: HapticComposition, options: WritingOptions, isContinuous: Bool) {
    losses = LossLog()
    losses.dropAudio(of: composition)
    let sampler = EnvelopeSampler(.amplitude, law: options.amplitude, tolerance: options.tolerance)
    let envelopes = sampler.envelopes(of: composition)
    let merged = MergedEnvelope(envelopes, sampler: sampler)
    points = merged.points
    for event in merged.overlapping.sorted() {
      losses.add(.approximated, .event(event), "events that sound together are merged into one envelope")
    }
    for event in merged.dropped { losses.add(.dropped, .event(event), "too many events sound at once") }
    for envelope in envelopes where envelope.kind == .hapticTransient {
      let point = envelope.points[0]
      let length = Meta.longest + (Meta.shortest - Meta.longest) * point.sharpness
      if let last = emphases.last, last.end > point.time { emphases[emphases.count - 1].end = point.time }
      emphases.append(Emphasis(start: point.time, end: point.time + length, level: point.level))
      losses.add(.approximated, .event(envelope.event), "a transient is written as a level of 12 to 36 ms")
    }
    noteSharpness(of: composition)
    sample(composition.loop, until: composition, options, isContinuous)
  }

  private mutating func noteSharpness(of composition: HapticComposition) {
    let hasSharpness = composition.layers.contains { layer in
      layer.pattern.events.contains { $0.kind.isHaptic && $0.parameters[.hapticSharpness] != nil }
    }
    if hasSharpness { losses.add(.dropped, .composition, "sharpness cannot be written") }
  }

  private mutating func sample(
    _ loop: HapticComposition.LoopPoints?, until composition: HapticComposition, _ options: WritingOptions,
    _ isContinuous: Bool
  ) {
    var end = max(points.last?.time ?? 0, emphases.last?.end ?? 0)
    var marks: [Double] = []
    if let loop {
      end = loop.end ?? composition.duration
      marks = [min(max(loop.start, 0), end)]
    }
    end = min(end, FrameConversion.longest)
    let isFlat = zip(points, points.dropFirst()).allSatisfy { $0.level == $1.level || $0.time == $1.time }
    var times: [Double]
    if isFlat, !isContinuous {
      times = [0] + points.map(\.time) + emphases.flatMap { [$0.start, $0.end] }
    } else {
      let interval = max(1 / min(max(options.rate ?? 1 / Meta.interval, 1), 1000), end / Meta.maximumCount)
      times = (0..<Int((end / interval).rounded(.up))).map { Double($0) * interval }
      losses.add(
        .approximated, .composition, "levels are sampled at intervals of so many milliseconds", size: interval * 1000)
    }
    times = (times.filter { $0 < end } + marks + [end]).sorted()
    var error = (time: 0.0, level: 0.0)
    var cursor = (point: 0, emphasis: 0)
    for (from, to) in zip(times, times.dropFirst()) {
      let begin = Int((from * 1000).rounded())
      let finish = Int((to * 1000).rounded())
      error.time = max(error.time, abs(from * 1000 - Double(begin)))
      guard finish > begin else { continue }
      let level = self.level(at: isFlat && !isContinuous ? (from + to) / 2 : from, &cursor)
      let exact = min(level, 1) * Double(VibrationEffect.fullAmplitude)
      // Truncated as Meta does, but not where rounding left a whole number just below itself.
      var amplitude = Int(isFlat && !isContinuous ? exact.rounded() : exact + 1e-4)
      if isContinuous || (amplitude == 0 && level > 0) { amplitude = max(amplitude, 1) }
      error.level = max(error.level, abs(exact - Double(amplitude)))
      let startsLoop = loop != nil && repeatIndex == nil && from >= marks[0]
      if startsLoop { repeatIndex = steps.count }
      if let last = steps.last, last.amplitude == amplitude, !startsLoop, !isContinuous {
        steps[steps.count - 1].duration += finish - begin
      } else {
        steps.append(.init(duration: finish - begin, amplitude: amplitude))
      }
    }
    if steps.isEmpty { steps = [.init(duration: 1, amplitude: 0)] }
    if loop != nil, repeatIndex == nil { repeatIndex = steps.count - 1 }
    if error.time > 1e-3 {
      losses.add(.approximated, .composition, "times are rounded to milliseconds", size: error.time)
    }
    if error.level > 1e-3 {
      losses.add(.approximated, .composition, "levels are rounded to 255ths of full amplitude", size: error.level)
    }
  }

  /// The amplitude at a time not before that of the last call.
  private func level(at time: Double, _ cursor: inout (point: Int, emphasis: Int)) -> Double {
    while cursor.point + 1 < points.count, points[cursor.point + 1].time <= time { cursor.point += 1 }
    var level = 0.0
    if !points.isEmpty, points[cursor.point].time <= time {
      if cursor.point + 1 < points.count {
        level = EnvelopePoint.between(points[cursor.point], points[cursor.point + 1], at: time).level
      }
    }
    while cursor.emphasis < emphases.count, emphases[cursor.emphasis].end <= time { cursor.emphasis += 1 }
    if cursor.emphasis < emphases.count, emphases[cursor.emphasis].start <= time {
      level = level * Meta.ducking + emphases[cursor.emphasis].level
    }
    return level
  }
}
