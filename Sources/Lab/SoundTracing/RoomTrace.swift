internal import SignalAnalysis

/// The transients and continuous events of a vibration that was recorded in a room.
///
/// Without a model of the room, each reflection becomes a transient. A reflection is weaker than
/// the event that causes it, and every event has reflections at the same delays:
///
/// 1. The strongest bursts and the strong parts of the tone are the direct sound.
/// 2. The response of the room to them is estimated (`RoomResponse`).
/// 3. The recording is traced again without the reflections, and all steps are repeated.
/// 4. Bursts that are weaker than the reflections around them are dropped.
///
/// The result is used only if at least half of the transients without a room are reflections.
struct RoomTrace {
  let transients: [TracedTransient]
  let continuousEvents: [TracedContinuousEvent]
  /// The fraction of the power that neither the events nor the reflections explain.
  let unexplainedPowerFraction: Double

  /// The number of estimates of the room's response.
  private static let passCount = 3
  /// The minimum ratio of transients in a trace without a room to direct transients.
  private static let minimumTransientRatio = 2.0
  /// The minimum number of reflected transients.
  ///
  /// Beats of tones cause fewer.
  private static let minimumReflectionCount = 5
  /// The minimum fraction of power in a room that one tone and bursts do not explain.
  private static let minimumUnexplainedPowerFraction = 0.01
  /// The delays of a burst that may be a reflection of a stronger burst, in seconds.
  private static let reflectionSeconds = 0.002...0.12
  /// The minimum ratio of the energies of a burst and its reflection.
  private static let minimumDirectToReflectionRatio = Float(2.5)
  /// The minimum level of the direct tone relative to the peak of the recording around it.
  private static let minimumDirectToneLevelRatio = Float(0.5)
  /// The distance of the compared peaks from a sample of the tone, in seconds.
  private static let peakDistanceSeconds = 0.2
  /// The delays of a reflection that a stronger burst masks, in seconds.
  ///
  /// The response of the room does not explain these reflections.
  private static let maskingSeconds = 0.002...0.06
  /// The minimum energy of an unmasked burst, relative to a stronger earlier burst.
  private static let minimumUnmaskedEnergyRatio = Float(0.12)
  /// The minimum duration of a continuous event, in seconds.
  ///
  /// The tail of a burst is shorter.
  private static let minimumContinuousSeconds = 0.07

  /// Traces a vibration in a room, or returns nil if its transients are not reflections.
  ///
  /// - Parameters:
  ///   - signal: The vibration at the sample rate of the dictionary.
  ///   - trace: The trace of the vibration without a room, with a single tone.
  ///   - transientCount: The number of transients in the trace of the vibration without a room,
  ///     with several tones.
  ///   - dictionary: The dictionary of the profile.
  ///   - threshold: The minimum level relative to the strongest, in decibels.
  init?(
    of signal: AnalysisSignal, withoutRoom trace: VibrationTrace,
    layeredTransientCount transientCount: Int, dictionary: AtomDictionary, threshold: Double
  ) {
    let directBurstCount = Self.directBursts(of: trace, dictionary).count
    guard trace.unexplainedPowerFraction > Self.minimumUnexplainedPowerFraction,
      directBurstCount > 0,
      transientCount - directBurstCount >= Self.minimumReflectionCount,
      Double(transientCount) >= Self.minimumTransientRatio * Double(directBurstCount)
    else { return nil }
    var currentTrace = trace
    var reflectionSamples: [Float] = []
    for _ in 0..<Self.passCount {
      guard currentTrace.toneLevels.count == signal.samples.count else { return nil }
      let directSound = Self.directSound(of: currentTrace, in: signal.samples, dictionary)
      guard Statistics.energy(of: directSound) > 0 else { return nil }
      let room = RoomResponse(
        to: directSound, in: signal.samples, sampleRate: dictionary.sampleRate)
      reflectionSamples = room.reflectionSamples
      currentTrace = VibrationTrace(
        of: signal.subtracting(reflectionSamples), dictionary: dictionary, threshold: threshold)
    }
    let audibleBursts = Self.audibleBursts(of: currentTrace, besides: reflectionSamples, dictionary)
    guard Double(transientCount) >= Self.minimumTransientRatio * Double(audibleBursts.count) else {
      return nil
    }
    transients = VibrationTrace.transients(
      audibleBursts, dictionary, leadLength: signal.leadSampleCount)
    continuousEvents = currentTrace.continuousEvents.filter {
      $0.endSeconds - $0.startSeconds >= Self.minimumContinuousSeconds
    }
    let directSamples = signal.subtracting(reflectionSamples).samples
    unexplainedPowerFraction =
      currentTrace.unexplainedPowerFraction * Statistics.energy(of: directSamples)
      / Statistics.energy(of: signal.samples)
  }

  /// Returns the bursts without a stronger burst in the preceding time of early reflections.
  private static func directBursts(
    of trace: VibrationTrace, _ dictionary: AtomDictionary
  ) -> [FoundBurst] {
    trace.bursts.filter { burst in
      let strongest = strongestEnergy(
        before: burst, within: reflectionSeconds, in: trace.bursts, dictionary)
      return strongest <= minimumDirectToReflectionRatio * burst.explainedEnergy
    }
  }

  /// Returns the maximum energy of bursts in a time range before a burst.
  private static func strongestEnergy(
    before burst: FoundBurst, within seconds: ClosedRange<Double>, in bursts: [FoundBurst],
    _ dictionary: AtomDictionary
  ) -> Float {
    let onsetSamples = burst.onsetInSamples(in: dictionary)
    return bursts.reduce(0) { maximum, earlier in
      let delay = (onsetSamples - earlier.onsetInSamples(in: dictionary)) / dictionary.sampleRate
      return seconds.contains(delay) ? max(maximum, earlier.explainedEnergy) : maximum
    }
  }

  /// Returns the sum of the direct bursts and of the tone without its tails.
  private static func directSound(
    of trace: VibrationTrace, in samples: [Float], _ dictionary: AtomDictionary
  ) -> [Float] {
    let nearbyPeaks = SlidingExtremum.maximum(
      of: samples.map(abs), radius: Int(peakDistanceSeconds * dictionary.sampleRate))
    let directToneSamples = samples.indices.map { index in
      let minimumLevel = minimumDirectToneLevelRatio * nearbyPeaks[index]
      return trace.toneLevels[index] > minimumLevel ? trace.toneSamples[index] : 0
    }
    // The residual without the tone and the bursts is the negative of their sum.
    let negatedResidual = PursuitResidual(
      directToneSamples.map { -$0 }, dictionary: dictionary,
      subtracting: directBursts(of: trace, dictionary))
    return negatedResidual.unpaddedSamples.map { -$0 }
  }

  /// Returns the bursts that reflections do not mask.
  ///
  /// They are stronger than the reflections at their time, and stronger than reflections that the
  /// response does not explain.
  private static func audibleBursts(
    of trace: VibrationTrace, besides reflections: [Float], _ dictionary: AtomDictionary
  ) -> [FoundBurst] {
    trace.bursts.filter { burst in
      let count = dictionary.atoms[burst.atomIndex].sampleCount
      let span = (burst.startSample..<burst.startSample + count).clamped(to: reflections.indices)
      let strongest = strongestEnergy(
        before: burst, within: maskingSeconds, in: trace.bursts, dictionary)
      return burst.explainedEnergy > SampleMath.energy(of: reflections, in: span)
        && burst.explainedEnergy > minimumUnmaskedEnergyRatio * strongest
    }
  }
}
