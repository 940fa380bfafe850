import HapticModel
import HapticRender

/// Compiles a pattern, and renders all of it if it is short enough; otherwise, its first 20 ms and
/// a shortened version.
struct RenderTrial {
  /// The most voices of a plan that is rendered.
  private static let voiceLimit = 2_000
  /// The most frames that are rendered, each voice that sounds at once counted.
  private static let frameLimit: Int64 = 32_000
  /// Seconds rendered of a long plan, of the short version, and of the silence behind a whole plan.
  private static let span = 0.02

  let pattern: HapticPattern
  let profile: TransducerProfile
  var choices: Choices

  mutating func run() {
    let rate = choices.pick(8_000.0, 48_000, 192_000)
    guard let plan = compile(pattern, rate: rate), !render(plan) else { return }
    // The end of a long plan is too far away; this brings it near, with all that happens before it.
    if let short = compile(pattern.lasting(Self.span), rate: rate) { _ = render(short) }
  }

  /// Renders a plan, or its beginning; whether it was all of it.
  private mutating func render(_ plan: RenderPlan) -> Bool {
    require(
      plan.frameCount >= plan.loopFrameCount && plan.soundEndFrame >= 0,
      "a plan of \(plan.frameCount)")
    guard plan.plannedVoiceCount <= Self.voiceLimit else { return true }
    let span = FrameConversion.frame(seconds: Self.span, rate: plan.rate)
    let affordable = Self.frameLimit / Int64(max(4, plan.maximumVoiceCount))
    let whole = plan.frameCount + span
    let length = whole <= affordable ? whole : min(span, affordable)
    let settings = RenderSettings(
      channelCount: choices.pick(1, 2, 3), buses: choices.pick(.all, .all, .haptics, .audio),
      masterGain: choices.pick(1, 1, 30), passCount: choices.pick(1, 1, 1, 3),
      outputFrameCount: length, fadeOutFrameCount: choices.pick(0, length / 2))
    render(plan, settings)
    return length == whole
  }

  /// A plan, or nothing for what no plan can hold.
  private mutating func compile(_ pattern: HapticPattern, rate: Double) -> RenderPlan? {
    var samples: [String: AudioBuffer] = [:]
    for path in pattern.events.compactMap(\.waveform?.path) where samples[path] == nil {
      let count = choices.pick(0, 1, 7, 1_000)
      let sound = (0..<count * 2).map { Float($0 % 19) / 9 - 1 }
      samples[path] = AudioBuffer(interleaved: sound, channelCount: choices.pick(1, 2))
    }
    if !samples.isEmpty {
      let plan = compile(
        pattern, rate: rate, samples: [:], refusals: [.sampleMissing, .patternTooLong])
      require(plan == nil, "a plan without its samples")
    }
    return compile(pattern, rate: rate, samples: samples, refusals: [.patternTooLong])
  }

  private func compile(
    _ pattern: HapticPattern, rate: Double, samples: [String: AudioBuffer],
    refusals: Set<RenderError.Kind>
  ) -> RenderPlan? {
    do {
      return try RenderPlan(compiling: pattern, profile: profile, rate: rate, samples: samples)
    } catch {
      requireOneLine(error.description)
      require(refusals.contains(error.kind), "\(error)")
      return nil
    }
  }

  /// Renders twice, in blocks of different sizes, which must give the same sound.
  private mutating func render(_ plan: RenderPlan, _ settings: RenderSettings) {
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    var sound: [Float] = []
    var block = [Float](repeating: .nan, count: 1_031 * settings.channelCount)
    while true {
      let size = choices.pick(1, 7, 63, 64, 257, 1_031) * settings.channelCount
      var span = block.mutableSpan
      var part = span._mutatingExtracting(first: size)
      let count = rendering.read(into: &part) * settings.channelCount
      if count == 0 { break }
      sound += block[..<count]
    }
    let frameCount = Int(settings.outputFrameCount ?? 0)
    require(sound.count == frameCount * settings.channelCount, "\(sound.count) samples")
    require(rendering.statistics.nonFiniteSampleCount == 0, "a sample was no finite number")
    requireBelowCeiling(sound)
    if settings.fadeOutFrameCount > 0, let last = sound.last {
      require(last == 0, "ends at \(last)")
    }

    var renderer = Renderer(plan: plan, settings: settings)
    var whole = [Float](
      repeating: .nan, count: (renderer.latencyFrameCount + frameCount) * settings.channelCount)
    var span = whole.mutableSpan
    renderer.render(into: &span)
    let other = whole[(renderer.latencyFrameCount * settings.channelCount)...]
    require(
      other.elementsEqual(sound),
      "the sound depends on the blocks it is rendered in, from sample "
        + "\(zip(other, sound).prefix { $0 == $1 }.count) on: \(settings), \(plan.rate) Hz")
  }
}

extension HapticPattern {
  /// The pattern with all times in proportion, so that it lasts as many seconds at most.
  fileprivate func lasting(_ seconds: Double) -> HapticPattern {
    let factor = min(1, seconds / durationSeconds)
    var pattern = self
    for index in events.indices {
      pattern.events[index].time *= factor
      pattern.events[index].duration = events[index].duration.map { $0 * factor }
    }
    for index in parameters.indices {
      pattern.parameters[index].time *= factor
    }
    for index in curves.indices {
      pattern.curves[index].time *= factor
      for point in curves[index].controlPoints.indices {
        pattern.curves[index].controlPoints[point].time *= factor
      }
    }
    return pattern
  }
}
