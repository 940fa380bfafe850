import HapticModel
import Reading

/// The rules about design: clear, gentle, and deliberate feedback.
///
/// Source: published guides for feedback in learning applications. Transients are at least 50 ms
/// apart, at most three or four in a sequence, and rarely heavy. Patterns last 200 to 500 ms.
/// Nothing is harsh or sustained, and spacing is regular.
extension PatternRules {
  /// The minimum interval between separately felt transients, in seconds.
  private static let minimumTransientGapSeconds = 0.05
  /// The minimum number of transients in a texture, without perceptible gaps.
  private static let minimumTextureTransientCount = 8
  /// The maximum recommended number of transients in a sequence.
  private static let maximumSequenceTransientCount = 4
  /// The maximum recommended number of heavy transients in a sequence.
  private static let maximumHeavyTransientCount = 2
  /// The minimum intensity and sharpness of a harsh transient.
  private static let minimumHarshIntensityAndSharpness: Float = 0.9
  /// The minimum intensity of strong vibration, which should not be sustained.
  private static let minimumStrongVibrationIntensity = 0.8
  /// The maximum recommended duration of strong vibration, in seconds.
  private static let maximumStrongVibrationSeconds = 1.0
  /// The maximum length of a typical feedback pattern, in seconds.
  private static let typicalMaximumPatternSeconds = 5.0
  /// The maximum number of control segments in a check, which bounds its running time.
  ///
  /// No pattern from a person or a tool has as many, but a malicious file may combine a million
  /// events with a million points.
  static let maximumControlSegmentCount = 4_000_000

  /// Checks the design of a composition.
  @Sendable static func checkDesign(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    checkTransients(of: composition, log: &log)
    checkSustainedVibration(of: composition, log: &log)
    // A pattern above the maximum length is an error, which another rule reports.
    if composition.durationSeconds > typicalMaximumPatternSeconds,
      composition.durationSeconds <= FrameConversion.maximumSeconds
    {
      log.add(
        .overlongPattern, at: .composition,
        """
        the pattern lasts \(composition.durationSeconds.secondsText); feedback typically lasts \
        0.2 to 0.5 s
        """
      )
    }
  }

  // MARK: - Transients

  /// Checks the transients of a composition individually, by their gaps, and in sequences.
  private static func checkTransients(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    let transients = EffectiveTransient.all(of: composition)
    let countableTransients = checkTransientGaps(of: transients, log: &log)
    for transient in transients
    where transient.intensity >= minimumHarshIntensityAndSharpness
      && transient.sharpness >= minimumHarshIntensityAndSharpness
    {
      log.add(
        .harshTransient, at: .event(transient.event),
        """
        a transient of intensity \(transient.intensity) and sharpness \(transient.sharpness) \
        feels harsh
        """
      )
    }
    checkTransientSequences(of: countableTransients, log: &log)
  }

  /// Reports all transients with imperceptible gaps in one finding.
  ///
  /// A long run of close transients is a texture, which is a technique: it is not reported, and its
  /// transients do not count as taps.
  ///
  /// - Returns: The transients that are not part of a texture.
  private static func checkTransientGaps(
    of transients: [EffectiveTransient], log: inout CompositionFindingLog
  ) -> [EffectiveTransient] {
    var countableTransients: [EffectiveTransient] = []
    var closeTransients: CloseTransients?
    var runStart = 0
    while runStart < transients.count {
      let run = gaplessTransientRun(in: transients, from: runStart)
      if run.transients.count < minimumTextureTransientCount {
        countableTransients += run.transients
        closeTransients = CloseTransients(adding: run, to: closeTransients)
      }
      runStart = run.transients.endIndex
    }
    if let closeTransients {
      reportCloseTransients(closeTransients, log: &log)
    }
    return countableTransients
  }

  /// A run of transients without perceptible gaps, with its minimum gap.
  ///
  /// The gap is infinite for a single transient.
  private struct GaplessTransientRun {
    var transients: ArraySlice<EffectiveTransient>
    var minimumGapSeconds: Double
  }

  /// The transients that follow their predecessor too closely, in all runs.
  private struct CloseTransients {
    var first: EffectiveTransient
    var transientCount: Int
    var minimumGapSeconds: Double

    /// Adds a run to the transients that follow too closely.
    ///
    /// Returns nil if there are no such transients so far.
    init?(adding run: GaplessTransientRun, to previous: CloseTransients?) {
      guard let second = run.transients.dropFirst().first else {
        guard let previous else { return nil }
        self = previous
        return
      }
      first = previous?.first ?? second
      transientCount = (previous?.transientCount ?? 0) + run.transients.count - 1
      minimumGapSeconds = min(
        previous?.minimumGapSeconds ?? run.minimumGapSeconds, run.minimumGapSeconds)
    }
  }

  /// Returns the run of close transients that begins at an index.
  private static func gaplessTransientRun(in transients: [EffectiveTransient], from start: Int)
    -> GaplessTransientRun
  {
    var runEnd = start + 1
    var minimumGapSeconds = Double.infinity
    while runEnd < transients.count {
      let gapSeconds = transients[runEnd].time - transients[runEnd - 1].time
      guard gapSeconds < minimumTransientGapSeconds - TransientSequence.timeToleranceSeconds else {
        break
      }
      minimumGapSeconds = min(minimumGapSeconds, gapSeconds)
      runEnd += 1
    }
    return GaplessTransientRun(
      transients: transients[start..<runEnd], minimumGapSeconds: minimumGapSeconds)
  }

  private static func reportCloseTransients(
    _ closeTransients: CloseTransients, log: inout CompositionFindingLog
  ) {
    let closeTransientCount = closeTransients.transientCount
    let minimumGapMilliseconds = (closeTransients.minimumGapSeconds * 10_000).rounded() / 10
    let message =
      if closeTransientCount == 1 {
        """
        the transient is \(minimumGapMilliseconds) ms after the previous one; \
        at least 50 ms are needed to perceive two taps
        """
      } else {
        """
        \(closeTransientCount) transients follow their predecessors by less than 50 ms \
        (minimum: \(minimumGapMilliseconds) ms); at least 50 ms are needed to perceive each tap
        """
      }
    log.add(.shortTransientGap, at: .event(closeTransients.first.event), message)
  }

  /// Checks the number, spacing, and heaviness of the transients in each sequence.
  private static func checkTransientSequences(
    of transients: [EffectiveTransient], log: inout CompositionFindingLog
  ) {
    var hasHeavySequence = false
    var irregularStarts: [EffectiveTransient] = []
    for sequence in TransientSequence.all(of: transients) {
      guard let firstTransient = sequence.transients.first else { continue }
      let sequenceName = "the sequence from \(firstTransient.time.secondsText)"
      let transientCount = sequence.transients.count
      if transientCount > maximumSequenceTransientCount {
        let excessTransient = sequence.transients[
          sequence.transients.startIndex + maximumSequenceTransientCount]
        log.add(
          .tooManyTransients, at: .event(excessTransient.event),
          """
          \(sequenceName) has \(transientCount) transients; \
          more than \(maximumSequenceTransientCount) are difficult to distinguish
          """
        )
      }
      if !sequence.hasRegularSpacing {
        irregularStarts.append(firstTransient)
      }
      let heavyTransients = sequence.transients.filter { $0.isHeavy }
      if heavyTransients.count > maximumHeavyTransientCount {
        hasHeavySequence = true
        log.add(
          .tooManyHeavyTransients, at: .event(heavyTransients[maximumHeavyTransientCount].event),
          "\(sequenceName) has \(heavyTransients.count) heavy transients; "
            + "use at most \(maximumHeavyTransientCount)"
        )
      }
    }
    reportIrregularSequences(irregularStarts, log: &log)
    let heavyTransients = transients.filter { $0.isHeavy }
    if !hasHeavySequence, transients.count > 3, heavyTransients.count * 2 > transients.count {
      log.add(
        .tooManyHeavyTransients, at: .event(heavyTransients[0].event),
        """
        \(heavyTransients.count) of \(transients.count) transients are heavy; \
        reserve them for important events
        """)
    }
  }

  /// Reports all sequences with irregular spacing in one finding.
  ///
  /// The parameter contains the first transient of each sequence.
  private static func reportIrregularSequences(
    _ starts: [EffectiveTransient], log: inout CompositionFindingLog
  ) {
    guard let firstTransient = starts.first else { return }
    let otherSequenceCount = starts.count - 1
    let subjectEnding =
      switch otherSequenceCount {
      case 0: " has"
      case 1: " and 1 other have"
      default: " and \(otherSequenceCount) others have"
      }
    log.add(
      .irregularTransientSpacing, at: .event(firstTransient.event),
      "the sequence from \(firstTransient.time.secondsText)\(subjectEnding) irregular spacing")
  }

  // MARK: - Sustained vibration

  /// Reports strong vibration that lasts longer than recommended.
  ///
  /// The perceived strength is the intensity times the intensity control. Overlapping events and
  /// events less than 50 ms apart are joined. Events that are not sustained decay, and are ignored.
  private static func checkSustainedVibration(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    let strongVibrations = strongVibrationSpans(in: composition)
    var spanIndex = 0
    while spanIndex < strongVibrations.count {
      let firstSpan = strongVibrations[spanIndex]
      var endTime = firstSpan.span.upperBound
      spanIndex += 1
      while spanIndex < strongVibrations.count,
        strongVibrations[spanIndex].span.lowerBound - endTime < minimumTransientGapSeconds
      {
        endTime = max(endTime, strongVibrations[spanIndex].span.upperBound)
        spanIndex += 1
      }
      let durationSeconds = endTime - firstSpan.span.lowerBound
      guard durationSeconds > maximumStrongVibrationSeconds + TransientSequence.timeToleranceSeconds
      else {
        continue
      }
      log.add(
        .overlongVibration, at: .event(firstSpan.event),
        """
        vibration of intensity 0.8 or more lasts \(durationSeconds.secondsText), \
        starting at \(firstSpan.span.lowerBound.secondsText)
        """)
    }
  }

  /// Returns the time spans in which a continuous event is strong, sorted by time.
  private static func strongVibrationSpans(
    in composition: HapticComposition
  ) -> [(span: ClosedRange<Double>, event: EventReference)] {
    var segmentBudget = maximumControlSegmentCount
    var strongVibrations: [(span: ClosedRange<Double>, event: EventReference)] = []
    for (layer, content) in composition.layers.enumerated() {
      let intensityControl = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isVibration {
        let intensity = Double(event.value(of: .hapticIntensity))
        guard intensity >= minimumStrongVibrationIntensity - 1e-6, event.value(of: .sustained) > 0,
          let duration = event.duration, duration > 0
        else { continue }
        let minimumControl = (minimumStrongVibrationIntensity - 1e-6) / intensity
        let eventRange = event.time...event.time + duration
        for span in intensityControl.spans(
          atLeast: minimumControl, in: eventRange, budget: &segmentBudget)
        {
          strongVibrations.append((span, EventReference(layerIndex: layer, eventIndex: index)))
        }
      }
    }
    return strongVibrations.sorted {
      ($0.span.lowerBound, $0.event) < ($1.span.lowerBound, $1.event)
    }
  }
}

extension Rule {
  static let shortTransientGap = warning(
    "transient-gap", "design",
    "Transients should be at least 50 ms apart to be perceived as separate taps.")
  static let tooManyTransients = warning(
    "transient-count", "design",
    "A sequence (transients at most 250 ms apart) should have at most 4 transients.")
  static let irregularTransientSpacing = warning(
    "transient-spacing", "design",
    "Four or more transients should be evenly spaced, accelerate, slow down, or form equal groups.")
  static let tooManyHeavyTransients = warning(
    "heavy-overuse", "design",
    """
    Transients of intensity 0.95 or more should be rare: at most 2 in a sequence, and not the \
    majority.
    """
  )
  static let harshTransient = warning(
    "harsh", "design", "A transient should not have both intensity and sharpness of 0.9 or more.")
  static let overlongVibration = warning(
    "sustained", "design",
    "Vibration of intensity 0.8 or more should not last longer than 1 s without a pause.")
  static let overlongPattern = note(
    "pattern-length", "design",
    "A pattern should not be longer than 5 s. Feedback typically lasts 0.2 to 0.5 s.")
}
