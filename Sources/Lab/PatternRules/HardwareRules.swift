public import HapticModel
public import HapticRender
public import Reading
internal import SystemSupport

extension PatternRules {
  /// The rules about the hardware of a profile, checked only if a profile is selected.
  public static let hardwareRules: [Rule] = [
    .transducerBand, .transducerExcursion, .transducerPower, .transducerCeiling,
  ]

  /// Compares the demands of a composition with the hardware of a profile.
  ///
  /// The plan is rendered twice, which takes a few milliseconds per second of the pattern.
  ///
  /// - Parameters:
  ///   - composition: The composition that was compiled.
  ///   - profile: The profile that it was compiled for. Without hardware, only the ceiling is
  ///     checked.
  ///   - plan: The compiled plan, with the samples of its sound files.
  ///   - location: Returns the location of a part.
  /// - Returns: At most one finding for each rule of ``hardwareRules``.
  public static func hardwareFindings(
    in composition: HapticComposition, profile: TransducerProfile, plan: RenderPlan,
    location: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    let load = HardwareLoad(plan, profile: profile)
    func finding(
      _ rule: Rule, at event: EventReference?, severity: Severity? = nil, _ message: String,
      hint: String? = nil
    ) -> Finding {
      let element = event.map { CompositionElement.event($0) } ?? .composition
      return Finding(rule, severity: severity, location: location(element), message, suggestion: hint)
    }
    func event(before frame: Int64) -> EventReference? {
      let begun = composition.referencedEvents.filter {
        FrameConversion.frame(seconds: $0.event.time, rate: plan.rate) <= frame
      }
      return begun.max { ($0.event.time, $0.reference) < ($1.event.time, $1.reference) }?.reference
    }
    func seconds(_ frame: Int64) -> String {
      NumberFormatting.rounded(Double(frame) / plan.rate, places: 2) + " s"
    }
    func decibels(_ held: HardwareLoad.ProtectionEvent) -> String {
      NumberFormatting.rounded(held.decibels, places: 1) + " dB"
    }

    var findings: [Finding] = []
    let mapped = profile.bandMapped(rate: plan.rate)
    if let before = profile.frequencyRange(of: composition),
      let after = mapped.frequencyRange(of: composition),
      before.isNoticeablyDifferent(from: after)
    {
      let first = composition.referencedEvents.first { $0.event.kind.isHaptic }
      let published = profile.hardware?.band
      let isInside =
        published.map { $0.lowerBound <= before.lowerBound && before.upperBound <= $0.upperBound }
        ?? true
      let reason =
        isInside
        ? """
        \(profile.name) plays \(mapped.frequency.frequencyRange.rangeText) of \
        \(profile.frequency.frequencyRange.hertzText): 
        """
          + "\(before.hertzText) is moved to \(after.hertzText)"
        : """
        \(before.hertzText) reaches outside the band of \(profile.name), \
        \(published?.hertzText ?? ""): moved to 
        """
          + after.hertzText
      findings.append(finding(.transducerBand, at: first?.reference, reason))
    }
    if let held = load.excursionProtection, let (share, frame) = load.peakExcursion {
      let percent = NumberFormatting.rounded(share * 100, places: 0)
      findings.append(
        finding(
          .transducerExcursion, at: event(before: frame),
          """
          excursion of \(profile.name) would reach \(percent) % of its limit at \
          \(seconds(frame)) by its stated figures, and more within their uncertainty; gain is \
          reduced by up to 
          """
            + decibels(held), hint: "lower the intensity there"))
    }
    if let held = load.powerProtection {
      findings.append(
        finding(
          .transducerPower, at: event(before: held.frame),
          """
          \(profile.name) exceeds its thermal limit from \(seconds(held.frame)); gain is \
          reduced by up to 
          """
            + decibels(held), hint: "lower the intensity or add pauses"))
    } else if let time = load.secondsToThermalLimit {
      let text =
        time < 120
        ? NumberFormatting.rounded(time, places: 0) + " s"
        : NumberFormatting.rounded(time / 60, places: 0) + " min"
      findings.append(
        finding(
          .transducerPower, at: nil, severity: .note,
          "when looped, \(profile.name) reaches its thermal limit after \(text) and gain is reduced"
        ))
    }
    if let (frame, count) = load.ceilingLimiting {
      findings.append(
        finding(
          .transducerCeiling, at: event(before: frame),
          """
          the signal exceeds the output ceiling at \(seconds(frame)); the limiter acts for \
          \(seconds(count)) in total
          """
        )
      )
    }
    return findings
  }
}

extension TransducerProfile {
  /// Returns the range of frequencies of the haptic events, under the sharpness controls of their
  /// layers; nil without haptic events.
  public func frequencyRange(of composition: HapticComposition) -> ClosedRange<Double>? {
    var low = Double.infinity
    var high = 0.0
    // After this number of segments, only the values at onsets count. No pattern from a person or a
    // tool has as many.
    var budget = 4_000_000
    for layer in composition.layers {
      let control = ControlTimeline(of: .hapticSharpnessControl, in: layer.pattern)
      for event in layer.pattern.events {
        guard event.kind.isHaptic, let length = event.holdDuration else { continue }
        let law = frequencyAndLevel(of: event.kind).frequency
        let end = event.time + max(0, length)
        let offsets = control.valueRange(in: event.time...max(event.time, end), budget: &budget)
        for offset in [offsets.lowerBound, offsets.upperBound] {
          let sharpness = Double(event.value(of: .hapticSharpness)) + offset
          let hertz = law.hertz(atSharpness: min(max(sharpness, 0), 1))
          low = min(low, hertz)
          high = max(high, hertz)
        }
      }
    }
    return low <= high ? low...high : nil
  }
}

extension ControlTimeline {
  /// Returns the minimum and the maximum in a range of times.
  ///
  /// - Parameters:
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced.
  fileprivate func valueRange(in range: ClosedRange<Double>, budget: inout Int) -> ClosedRange<
    Double
  > {
    var low = value(at: range.lowerBound)
    var high = low
    forEachSegment(in: range, budget: &budget) { _, _, first, last in
      low = min(low, first, last)
      high = max(high, first, last)
    }
    return low...high
  }
}

extension HapticComposition {
  var referencedEvents: [(reference: EventReference, event: HapticEvent)] {
    layers.enumerated().flatMap { layer, content in
      content.pattern.events.enumerated().map { index, event in
        (EventReference(layer: layer, event: index), event)
      }
    }
  }
}

extension FrequencyMapping {
  fileprivate var frequencyRange: ClosedRange<Double> { low...max(low, high) }
}

extension ClosedRange<Double> {
  /// The range to one decimal place: `20–80`, or `175` for a single frequency.
  fileprivate var rangeText: String {
    let low = NumberFormatting.rounded(lowerBound, places: 1)
    let high = NumberFormatting.rounded(upperBound, places: 1)
    return lowerBound == upperBound ? low : "\(low)–\(high)"
  }

  fileprivate var hertzText: String { rangeText + " Hz" }

  /// Returns whether a bound differs from that of another range by at least the just noticeable
  /// difference of frequency.
  fileprivate func isNoticeablyDifferent(from other: ClosedRange<Double>) -> Bool {
    [(lowerBound, other.lowerBound), (upperBound, other.upperBound)].contains { before, after in
      100 * abs(after / before - 1) >= JustNoticeableDifference.frequencyPercent
    }
  }
}

extension Rule {
  static let transducerBand = note(
    "transducer-band", "transducer",
    """
    Frequencies should be within the band of the profile's hardware; others are moved into it \
    noticeably.
    """
  )
  static let transducerExcursion = warning(
    "transducer-excursion", "transducer",
    """
    A pattern should not exceed the excursion limit of the profile's hardware; beyond it, gain \
    is reduced.
    """
  )
  static let transducerPower = warning(
    "transducer-power", "transducer",
    """
    A pattern should not exceed the thermal limit of the profile's hardware; beyond it, gain is \
    reduced.
    """
  )
  static let transducerCeiling = note(
    "transducer-ceiling", "transducer",
    "The drive signal should stay below the output ceiling; beyond it, the limiter acts.")
}

/// The load of a plan on the hardware of its profile, determined by rendering it offline.
///
/// 1. The plan is rendered with the profile's limits, and the statistics of the protection stages
///    are compared block by block. This finds the first frame and the maximum of gain reduction.
/// 2. The plan is rendered without limits into a simulation of the transducer. This finds the
///    maximum excursion and the mean power that the pattern demands.
struct HardwareLoad {
  /// A gain reduction: its first frame, and its maximum in decibels.
  struct ProtectionEvent: Equatable {
    var frame: Int64
    var decibels: Double
  }

  /// The maximum excursion that the pattern demands, as a fraction of the limit, with its frame;
  /// nil without a limit.
  private(set) var peakExcursion: (share: Double, frame: Int64)?
  /// The mean power of one pass of a loop, relative to the continuous power; nil if it is unknown.
  private(set) var meanPowerRatio: Double?
  private(set) var excursionProtection: ProtectionEvent?
  private(set) var powerProtection: ProtectionEvent?
  /// The first frame with gain reduction by the limiter, and the number of such frames.
  private(set) var ceilingLimiting: (frame: Int64, count: Int64)?

  private let limits: TransducerLimits?

  /// The interval between two comparisons of the statistics: 64 frames, or 1.3 ms at 48 kHz.
  private static let blockLength = 64

  /// Renders a plan with the limits of a profile, and without them.
  init(_ plan: RenderPlan, profile: TransducerProfile) {
    let settings = profile.transducerSettings(rate: plan.rate)
    limits = settings?.limits
    findProtectionEvents(plan, profile: profile)
    guard let limits else { return }
    var simulation = settings?.model.map {
      TransducerSimulation($0, modes: profile.hardware?.modes ?? [], rate: plan.rate)
    }
    var squares = 0.0
    var frame: Int64 = 0
    Self.renderBlocks(of: plan, for: profile.withoutLimits) { block, _ in
      for index in block.indices {
        squares += Double(block[index]) * Double(block[index])
        frame += 1
        guard let limit = limits.excursion, simulation != nil else { continue }
        _ = simulation?.nextAcceleration(drive: block[index])
        let share = abs(simulation?.displacement ?? 0) / limit
        if share > peakExcursion?.share ?? 0 {
          peakExcursion = (share, frame)
        }
      }
    }
    guard let power = limits.power, plan.loopLength > 0 else { return }
    // The power of a sine is half that of its peak.
    meanPowerRatio = 2 * power * squares / Double(plan.loopLength)
  }

  /// The time after which the gain of a looped pattern is reduced to the continuous power, in
  /// seconds; nil if this never happens.
  ///
  /// The temperature rises towards the mean power with two time constants, of the coil and of the
  /// magnet. The time at which it reaches the target is found by bisection.
  var secondsToThermalLimit: Double? {
    let aim = TransducerLimits.targetTemperatureRise
    guard let thermal = limits?.thermal, let meanPowerRatio, meanPowerRatio > aim else {
      return nil
    }
    func temperatureRise(_ seconds: Double) -> Double {
      let coil =
        thermal.coilFraction
        * (1 - NumberFormatting.decay(timeConstants: seconds / thermal.coilTimeConstant))
      let magnet =
        (1 - thermal.coilFraction)
        * (1 - NumberFormatting.decay(timeConstants: seconds / thermal.magnetTimeConstant))
      return meanPowerRatio * (coil + magnet)
    }
    var low = 0.0
    var high = 1.0
    while temperatureRise(high) < aim, high < 1e7 {
      high *= 2
    }
    for _ in 0..<50 {
      let middle = (low + high) / 2
      if temperatureRise(middle) < aim {
        low = middle
      } else {
        high = middle
      }
    }
    return high
  }

  private mutating func findProtectionEvents(_ plan: RenderPlan, profile: TransducerProfile) {
    var before = RenderStatistics()
    Self.renderBlocks(of: plan, for: profile) { _, now in
      // The frame includes the delay of the limiter: protection reacts to an event before it is
      // heard.
      let frame = now.frameCount
      let held = -NumberFormatting.decibels(now.minimumProtectionGain)
      let isDeeper = now.minimumProtectionGain < before.minimumProtectionGain
      func note(_ intervention: inout ProtectionEvent?) {
        if intervention == nil {
          intervention = ProtectionEvent(frame: frame, decibels: held)
        }
        if isDeeper {
          intervention?.decibels = held
        }
      }
      if now.excursionLimitedFrameCount > before.excursionLimitedFrameCount {
        note(&excursionProtection)
      }
      if now.powerLimitedFrameCount > before.powerLimitedFrameCount {
        note(&powerProtection)
      }
      if now.limitedFrameCount > before.limitedFrameCount {
        ceilingLimiting = (ceilingLimiting?.frame ?? frame, now.limitedFrameCount)
      }
      before = now
    }
  }

  /// Renders one channel for the hardware of a profile, in blocks.
  ///
  /// - Parameters:
  ///   - plan: The plan to render.
  ///   - profile: The profile with the hardware.
  ///   - take: Receives the samples of each block and the statistics after it.
  private static func renderBlocks(
    of plan: RenderPlan, for profile: TransducerProfile,
    _ take: (ArraySlice<Float>, RenderStatistics) -> Void
  ) {
    let routing = OutputRouting().fitted(to: [profile])
    var rendering = OfflineRenderer(plan: plan, settings: RenderSettings(routing: routing))
    var block = [Float](repeating: 0, count: blockLength)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { return }
      take(block[..<count], rendering.statistics)
    }
  }
}

extension TransducerProfile {
  /// The profile with limits that no signal reaches.
  fileprivate var withoutLimits: TransducerProfile {
    var profile = self
    profile.hardware?.acceleration = 0.001
    profile.hardware?.excursion = 1_000_000
    profile.hardware?.continuousPower = 1_000_000
    profile.hardware?.peakPower = nil
    profile.amplifier.power = 0.000_001
    return profile
  }
}

extension PatternRules {
  /// The rules about errors that prevent a composition from being compiled, in any format.
  public static let compilationRules: [Rule] = [
    .eventTime, .patternTooLong, .soundMissing, .frameRate,
  ]
}

extension Rule {
  static let eventTime = error(
    "event-time", "playback",
    "Times and values must be finite; times and durations must not be negative.")
  static let patternTooLong = error(
    "pattern-too-long", "playback",
    "A pattern may last at most a day and have at most 65,535 layers.")
  /// The rule for a sound file that cannot be read.
  public static let soundMissing = error(
    "sound-missing", "playback", "The sound files of a pattern must be readable and in its folder.")
  static let frameRate = error(
    "frame-rate", "playback", "The sample rate must be from 8 to 192 kHz.")

  /// Returns the rule for an error of compilation.
  public init(of kind: RenderError.Kind) {
    self =
      switch kind {
      case .timeOutOfRange: .eventTime
      case .patternTooLong, .tooManyLayers: .patternTooLong
      case .sampleMissing: .soundMissing
      case .rateOutOfRange: .frameRate
      }
  }
}

extension InputError {
  /// Creates an error of compilation at the location of the event.
  public init(_ error: RenderError, location: (CompositionElement) -> FileLocation) {
    let element = error.event.map { CompositionElement.event($0) } ?? .composition
    self.init(Finding(Rule(of: error.kind), location: location(element), error.description))
  }
}
