internal import HapticFormats
internal import HapticModel

/// A sequence of steps with constant levels, for devices without envelopes.
///
/// The steps are converted from a composition.
struct VibrationSteps {
  private(set) var steps: [VibrationEffect.Step] = []
  /// The index of the first step of a repetition, or nil if the steps do not repeat.
  private(set) var repeatIndex: Int?
  private(set) var losses: LossLog
  private var quantizer = TimeAndLevelQuantizer()

  /// The constants of Meta's waveforms for Android. An emphasis ducks the envelope and is added to
  /// it, and lasts from 36.4 ms (dull) to 12.1 ms (sharp).
  ///
  /// Source: facebook/meta-haptics-sdk, 41c9dcb, `android_waveform.rs`.
  private enum MetaWaveform {
    static let stepSeconds = 0.01
    /// The maximum number of samples of the envelope. Longer compositions are sampled less often.
    static let maximumStepCount = 500_000.0
    static let duckingGain = 0.5
    static let dullTransientSeconds = 0.0364
    static let sharpTransientSeconds = 0.0121
  }

  /// A transient that is rendered as a constant level for a short time.
  private struct Emphasis {
    var startSeconds: Double
    var endSeconds: Double
    var amplitude: Double
  }

  private var emphases: [Emphasis] = []
  private var envelopePoints: [EnvelopePoint] = []

  /// Converts a composition into steps. Levels that are constant between jumps are written as they
  /// are; other levels are sampled.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - options: The writing options.
  ///   - isContinuous: A Boolean value that indicates whether no level is 0, as in files of Haptics
  ///     Studio: a motor that stops needs time to restart.
  ///   - losses: The losses so far.
  init(
    _ composition: HapticComposition, options: WritingOptions, isContinuous: Bool,
    losses initialLosses: LossLog = LossLog()
  ) {
    losses = initialLosses
    losses.addNonHapticLosses(of: composition)
    let envelopeSampler = EnvelopeSampler(
      .amplitude, mapping: options.amplitudeMapping, levelTolerance: options.curveToleranceFraction)
    let envelopes = envelopeSampler.envelopes(of: composition)
    let mergedEnvelope = MergedEnvelope(envelopes, envelopeSampler: envelopeSampler)
    envelopePoints = mergedEnvelope.mergedPoints
    losses.add(mergedEnvelope)
    addEmphases(of: envelopes)
    reportSharpness(of: composition)
    var patternEndSeconds = max(
      envelopePoints.last?.timeSeconds ?? 0, emphases.last?.endSeconds ?? 0)
    var loopStartSeconds: Double?
    if let loop = composition.loop {
      patternEndSeconds = loop.endSeconds ?? composition.durationSeconds
      loopStartSeconds = min(max(loop.startSeconds, 0), patternEndSeconds)
    }
    patternEndSeconds = min(patternEndSeconds, FrameConversion.maximumSeconds)
    let keepsExactTimes = isConstantBetweenJumps && !isContinuous
    var stepTimes =
      keepsExactTimes
      ? levelJumpSeconds
      : levelSampleTimes(until: patternEndSeconds, rate: options.signalSampleRate)
    stepTimes = stepTimes.filter { $0 < patternEndSeconds }
    if let loopStartSeconds {
      stepTimes.append(loopStartSeconds)
    }
    stepTimes.append(patternEndSeconds)
    addSteps(
      between: stepTimes.sorted(), loopStart: loopStartSeconds, isExact: keepsExactTimes,
      isContinuous: isContinuous)
  }

  /// Adds an emphasis for each transient.
  ///
  /// An emphasis ends at the latest when the next emphasis starts.
  private mutating func addEmphases(of envelopes: [EventEnvelope]) {
    for envelope in envelopes where envelope.kind == .hapticTransient {
      let point = envelope.points[0]
      let length =
        MetaWaveform.dullTransientSeconds
        + (MetaWaveform.sharpTransientSeconds - MetaWaveform.dullTransientSeconds)
        * point.sharpness
      if let last = emphases.last, last.endSeconds > point.timeSeconds {
        emphases[emphases.count - 1].endSeconds = point.timeSeconds
      }
      emphases.append(
        Emphasis(
          startSeconds: point.timeSeconds, endSeconds: point.timeSeconds + length,
          amplitude: point.level))
      losses.add(
        .approximated, .event(envelope.eventReference),
        "a transient is written as a vibration of 12 to 36 ms")
    }
  }

  private mutating func reportSharpness(of composition: HapticComposition) {
    let hasStatedSharpness = composition.layers.contains { layer in
      layer.pattern.events.contains { $0.kind.isHaptic && $0.parameters[.hapticSharpness] != nil }
    }
    if hasStatedSharpness {
      losses.add(.dropped, .composition, "sharpness cannot be written")
    }
  }

  /// A Boolean value that indicates whether the envelope is constant between jumps.
  private var isConstantBetweenJumps: Bool {
    zip(envelopePoints, envelopePoints.dropFirst()).allSatisfy {
      $0.level == $1.level || $0.timeSeconds == $1.timeSeconds
    }
  }

  /// The times of possible jumps in the level of the envelope, in any order.
  private var levelJumpSeconds: [Double] {
    [0] + envelopePoints.map { $0.timeSeconds }
      + emphases.flatMap { [$0.startSeconds, $0.endSeconds] }
  }

  /// Returns the sampling times of the envelope's level, and records the sampling as a loss.
  private mutating func levelSampleTimes(until end: Double, rate: Double?) -> [Double] {
    let stepInterval = max(
      1 / min(max(rate ?? 1 / MetaWaveform.stepSeconds, 1), 1000),
      end / MetaWaveform.maximumStepCount)
    let stepCount = FrameConversion.clampedInteger(
      (end / stepInterval).rounded(.up), in: 0...Int(MetaWaveform.maximumStepCount))
    losses.add(
      .approximated, .composition, "levels are sampled every # ms", size: stepInterval * 1000)
    return (0..<stepCount).map { Double($0) * stepInterval }
  }

  /// Adds a step for each interval between successive times.
  ///
  /// If the last step has the same amplitude, it is extended instead.
  ///
  /// - Parameters:
  ///   - times: The times in seconds, in ascending order.
  ///   - loopStart: The start of the loop in seconds, or nil if the effect does not repeat.
  ///   - isExact: A Boolean value that indicates whether the level is constant between the times.
  ///   - isContinuous: A Boolean value that indicates whether no amplitude is 0, and whether each
  ///     interval has its own step.
  private mutating func addSteps(
    between times: [Double], loopStart: Double?, isExact: Bool, isContinuous: Bool
  ) {
    let amplitudeRange = 0...VibrationEffect.maximumAmplitudeCode
    var maximumLevelError = 0.0
    var searchCursor = (point: 0, emphasis: 0)
    for (from, to) in zip(times, times.dropFirst()) {
      let start = quantizer.quantizeToMilliseconds(from)
      let end = FrameConversion.clampedInteger(to * 1000)
      guard end > start else { continue }
      let level = self.level(at: isExact ? (from + to) / 2 : from, cursor: &searchCursor)
      let exact = min(level, 1) * Double(VibrationEffect.maximumAmplitudeCode)
      // Truncated as in Meta's renderer, except if rounding left a whole number slightly too small.
      var amplitude = FrameConversion.clampedInteger(
        isExact ? exact : (exact + 1e-4).rounded(.down), in: amplitudeRange)
      if isContinuous || (amplitude == 0 && level > 0) {
        amplitude = max(amplitude, 1)
      }
      maximumLevelError = max(maximumLevelError, abs(exact - Double(amplitude)))
      var startsLoop = false
      if let loopStart, repeatIndex == nil, from >= loopStart {
        startsLoop = true
        repeatIndex = steps.count
      }
      if let last = steps.last, last.amplitudeCode == amplitude, !startsLoop, !isContinuous {
        steps[steps.count - 1].durationMilliseconds += end - start
      } else {
        steps.append(.init(durationMilliseconds: end - start, amplitudeCode: amplitude))
      }
    }
    if steps.isEmpty {
      steps = [.init(durationMilliseconds: 1, amplitudeCode: 0)]
    }
    if loopStart != nil, repeatIndex == nil {
      repeatIndex = steps.count - 1
    }
    quantizer.reportErrors(to: &losses)
    if maximumLevelError > 1e-3 {
      losses.add(
        .approximated, .composition,
        "levels are rounded to 255ths of full amplitude, by up to # steps",
        size: maximumLevelError)
    }
  }

  /// Returns the amplitude of the envelope at a time. Times must not descend from call to call.
  private func level(at time: Double, cursor: inout (point: Int, emphasis: Int)) -> Double {
    var maximumLevel = envelopePoints.point(at: time, cursor: &cursor.point)?.level ?? 0
    while cursor.emphasis < emphases.count, emphases[cursor.emphasis].endSeconds <= time {
      cursor.emphasis += 1
    }
    if cursor.emphasis < emphases.count, emphases[cursor.emphasis].startSeconds <= time {
      maximumLevel = maximumLevel * MetaWaveform.duckingGain + emphases[cursor.emphasis].amplitude
    }
    return maximumLevel
  }
}
