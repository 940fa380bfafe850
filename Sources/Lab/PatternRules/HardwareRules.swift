public import HapticModel
public import HapticRender
public import Reading
internal import SystemSupport

extension PatternRules {
  /// What the hardware of a profile can do; checked where a profile is named.
  public static let hardwareRules: [Rule] = [
    .transducerBand, .transducerExcursion, .transducerPower, .transducerCeiling,
  ]

  /// Checks what a composition asks of the hardware of a profile, before it is played there.
  ///
  /// The plan is rendered twice, which takes a few milliseconds a second of the pattern.
  ///
  /// - Parameters:
  ///   - composition: What was compiled.
  ///   - profile: The profile it was compiled for; without hardware only the ceiling is checked.
  ///   - plan: The plan, with the samples of its sound files.
  ///   - places: Where a part stands.
  public static func hardwareFindings(
    in composition: HapticComposition, profile: TransducerProfile, plan: RenderPlan,
    location places: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    let load = HardwareLoad(plan, profile: profile)
    func finding(
      _ rule: Rule, at event: EventReference?, severity: Severity? = nil, _ message: String,
      hint: String? = nil
    ) -> Finding {
      let element = event.map { CompositionElement.event($0) } ?? .composition
      return Finding(rule, severity: severity, location: places(element), message, suggestion: hint)
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
  /// The lowest and highest frequency of haptic events under the sharpness controls of their
  /// layers; nil where there are none.
  public func frequencyRange(of composition: HapticComposition) -> ClosedRange<Double>? {
    var low = Double.infinity
    var high = 0.0
    // Beyond this only the values at onsets count: no pattern that a person or tool has made comes
    // near.
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
  /// The least and the greatest value in a range of times. The budget is how many segments may
  /// still be looked at.
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
  /// `20–80`, or `175` for one frequency, to a tenth.
  fileprivate var rangeText: String {
    let low = NumberFormatting.rounded(lowerBound, places: 1)
    let high = NumberFormatting.rounded(upperBound, places: 1)
    return lowerBound == upperBound ? low : "\(low)–\(high)"
  }

  fileprivate var hertzText: String { rangeText + " Hz" }

  /// Whether one end of a band becomes another frequency to the skin.
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

/// What a plan asks of the hardware of its profile, found by rendering it without a device.
struct HardwareLoad {
  /// Something that happens from a frame on, and how much the drive is taken back for it.
  struct ProtectionEvent: Equatable {
    var frame: Int64
    var decibels: Double
  }

  /// The greatest movement that is asked for as a share of its limit, and where; nothing without a
  /// limit.
  private(set) var peakExcursion: (share: Double, frame: Int64)?
  /// The mean power of a pass of a loop as a share of the continuous power; nothing where that is
  /// not known.
  private(set) var meanPowerRatio: Double?
  private(set) var excursionProtection: ProtectionEvent?
  private(set) var powerProtection: ProtectionEvent?
  /// The first frame that is turned down to the ceiling, and how many are.
  private(set) var ceilingLimiting: (frame: Int64, count: Int64)?

  private let limits: TransducerLimits?

  /// Frames between two looks at what has happened: 1.3 ms.
  private static let blockLength = 64

  /// Renders a plan twice: held back as it is when it is played, and as the pattern asks for it.
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
    // A sine has half the power of its peak.
    meanPowerRatio = 2 * power * squares / Double(plan.loopLength)
  }

  /// Seconds of a loop after which it is held back to the power that it can have for ever, or
  /// nothing where it never is.
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
      // The limiter's delay included: what acts on an event acts before it is heard.
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

  /// Renders one channel for a profile's hardware, and hands over a few frames at a time.
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
  /// The same drive for hardware that bears anything.
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
  /// What keeps a composition from being compiled, whatever its format.
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
  /// A sound file that cannot be read.
  public static let soundMissing = error(
    "sound-missing", "playback", "The sound files of a pattern must be readable and in its folder.")
  static let frameRate = error(
    "frame-rate", "playback", "The sample rate must be from 8 to 192 kHz.")

  /// The rule behind a refusal to compile.
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
  /// A refusal to compile, at the place of the event that is refused.
  public init(_ error: RenderError, location places: (CompositionElement) -> FileLocation) {
    let element = error.event.map { CompositionElement.event($0) } ?? .composition
    self.init(Finding(Rule(of: error.kind), location: places(element), error.description))
  }
}
