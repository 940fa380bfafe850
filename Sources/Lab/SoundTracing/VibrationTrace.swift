internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// The transients and continuous events of a recording of vibration.
///
///     vibration = sustained tone + bursts + residual
///
/// 1. The sound is decimated to the rate of the analysis (`AnalysisSignal`).
/// 2. The sustained tone is measured with a median that ignores bursts (`SustainedTone`).
/// 3. Bursts are searched in the difference (`BurstSearch`), and those that are steps of the tone
///    are dropped (`ToneStepTest`).
/// 4. Both steps are repeated with the bursts subtracted from the tone. In the second pass,
///    segments that remain unexplained are interpreted as dense bursts if that is a shorter
///    description (`BurstTrainSearch`).
/// 5. Levels and frequencies are mapped to intensities and sharpnesses by the inverse of the
///    profile's mapping (`AtomDictionary`).
struct VibrationTrace {
  private(set) var transients: [TracedTransient] = []
  /// The bursts that become transients, by time.
  private(set) var bursts: [FoundBurst] = []
  /// The samples of the sustained tone.
  private(set) var toneSamples: [Float] = []
  /// The amplitude of the sustained tone at each sample.
  private(set) var toneLevels: [Float] = []
  private(set) var continuousEvents: [TracedContinuousEvent] = []
  /// The fraction of the sound's power that the events do not explain.
  private(set) var unexplainedPowerFraction = 0.0

  /// The minimum amplitude of an event: about 23 steps of 16-bit samples.
  static let minimumEventAmplitude = Float(7e-4)
  /// The minimum level of a continuous event, relative to the strongest event, in decibels.
  private static let minimumContinuousLevelDecibels = -36.0
  /// The maximum interval between two transients that are felt as one, in seconds.
  static let fusionSeconds = 0.006
  /// The maximum gap within a continuous event, in seconds.
  private static let maximumGapSeconds = 0.012
  /// The minimum duration of a continuous event, in seconds.
  private static let minimumContinuousSeconds = 0.02
  /// The excess of half the tone's median window over the longest burst, in seconds.
  private static let medianMarginSeconds = 0.004

  /// Traces the transients and continuous events of a vibration.
  ///
  /// - Parameters:
  ///   - signal: The vibration at the sample rate of the dictionary.
  ///   - dictionary: The dictionary of the profile.
  ///   - threshold: The minimum level relative to the strongest, in decibels.
  init(of signal: AnalysisSignal, dictionary: AtomDictionary, threshold: Double) {
    let samples = signal.samples
    let peakMagnitude = samples.reduce(0) { max($0, abs($1)) }
    guard samples.count >= 64, peakMagnitude >= Self.minimumEventAmplitude else { return }
    let burstDurationSeconds = Double(dictionary.maximumAtomSampleCount) / dictionary.sampleRate
    let medianHalfWindowSampleCount = Int(
      ((burstDurationSeconds + Self.medianMarginSeconds) * dictionary.sampleRate).rounded())
    let medianLength = 2 * medianHalfWindowSampleCount + 1

    var sustainedTone = SustainedTone(
      of: samples, medianLength: medianLength, dictionary: dictionary)
    var bursts = Self.bursts(in: samples, tone: sustainedTone, dictionary, threshold: threshold)
    let coarseBurstResidual = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
    sustainedTone = SustainedTone(
      of: coarseBurstResidual.unpaddedSamples, medianLength: medianLength, dictionary: dictionary)

    bursts = Self.bursts(in: samples, tone: sustainedTone, dictionary, threshold: threshold)
    sustainedTone.duck(during: bursts, dictionary)
    let interpretation = Self.interpretation(
      of: samples, tone: sustainedTone, bursts: bursts, dictionary, medianLength: medianLength)
    bursts = interpretation.bursts
    let burstResidual = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
    sustainedTone = SustainedTone(
      of: burstResidual.unpaddedSamples, medianLength: medianLength, dictionary: dictionary)
    sustainedTone.silenceSamples(where: interpretation.isBurstTrainSample)
    sustainedTone.duck(during: bursts, dictionary)

    let samplesWithoutTone = zip(samples, sustainedTone.samples).map { $0 - $1 }
    let unexplainedSamples = PursuitResidual(
      samplesWithoutTone, dictionary: dictionary, subtracting: bursts
    )
    .unpaddedSamples
    unexplainedPowerFraction = Double(
      SampleMath.energy(of: unexplainedSamples, in: unexplainedSamples.indices)
        / SampleMath.energy(of: samples, in: samples.indices))
    self.bursts = bursts
    toneSamples = sustainedTone.samples
    toneLevels = sustainedTone.toneAmplitudes
    transients = Self.transients(bursts, dictionary, leadLength: signal.leadSampleCount)
    sustainedTone.frequencyTrack.refine(with: sustainedTone.demodulatedTone)
    continuousEvents = Self.continuousEvents(
      levels: sustainedTone.toneAmplitudes, hertz: sustainedTone.frequencyTrack.hertzBySample,
      dictionary: dictionary,
      leadLength: signal.leadSampleCount, range: max(Self.minimumContinuousLevelDecibels, threshold)
    )
  }

  // MARK: - Bursts

  /// Returns the bursts in a signal with a sustained tone.
  ///
  /// Bursts that a sudden change of the tone explains are omitted.
  private static func bursts(
    in samples: [Float], tone: SustainedTone, _ dictionary: AtomDictionary, threshold: Double
  ) -> [FoundBurst] {
    let samplesWithoutTone = zip(samples, tone.samples).map { $0 - $1 }
    let peakMagnitude = samplesWithoutTone.reduce(0) { max($0, abs($1)) }
    let minimumBurstLevel = max(
      minimumEventAmplitude, peakMagnitude * Float(Decibels.amplitudeFactor(threshold)))
    let burstSearch = BurstSearch(
      dictionary: dictionary, toneLevels: tone.toneAmplitudes,
      minimumBurstAmplitude: minimumBurstLevel, duckedToneSamples: tone.samples)
    let bursts = burstSearch.bursts(in: samplesWithoutTone)
    var duckedTone = tone
    duckedTone.duck(during: bursts, dictionary)
    let samplesWithoutDuckedTone = zip(samples, duckedTone.samples).map { $0 - $1 }
    let burstResidual = PursuitResidual(
      samplesWithoutDuckedTone, dictionary: dictionary, subtracting: bursts)
    let stepTest = ToneStepTest(
      dictionary: dictionary, samples: samples, residualSamples: burstResidual.unpaddedSamples,
      toneLevels: tone.toneAmplitudes, toneHertz: tone.frequencyTrack.hertzBySample)
    return bursts.filter { !stepTest.isStep($0) }
  }

  /// Interprets segments of a signal as dense bursts where that is a shorter description.
  private static func interpretation(
    of samples: [Float], tone: SustainedTone, bursts: [FoundBurst], _ dictionary: AtomDictionary,
    medianLength: Int
  ) -> BurstTrainSearch.Interpretation {
    let samplesWithoutBursts = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    let trainSearch = BurstTrainSearch(
      dictionary: dictionary, minimumBurstAmplitude: minimumEventAmplitude)
    return trainSearch.interpretation(of: samples, tone: tone, bursts: bursts) { range in
      let margin = 2 * medianLength
      let start = max(0, range.lowerBound - margin)
      let end = min(samples.count, range.upperBound + margin)
      let slow = SustainedTone(
        of: Array(samplesWithoutBursts[start..<end]), medianLength: 2 * medianLength,
        dictionary: dictionary, timeScale: 2)
      return Array(slow.samples.dropFirst(range.lowerBound - start).prefix(range.count))
    }
  }

  /// Converts bursts to transients, without those before the start of the sound.
  ///
  /// Of two transients that are felt as one, the stronger one is kept.
  static func transients(
    _ bursts: [FoundBurst], _ dictionary: AtomDictionary, leadLength: Int
  ) -> [TracedTransient] {
    var transients: [TracedTransient] = []
    for burst in bursts {
      let transient = TracedTransient(
        timeSeconds: (burst.onsetInSamples(in: dictionary) - Double(leadLength))
          / dictionary.sampleRate,
        intensity: dictionary.intensity(ofTransientLevel: burst.relativeLevel(in: dictionary)),
        sharpness: dictionary.atoms[burst.atomIndex].sharpness)
      guard transient.timeSeconds > -fusionSeconds else { continue }
      if let last = transients.last, transient.timeSeconds - last.timeSeconds < fusionSeconds {
        if transient.intensity > last.intensity {
          transients[transients.count - 1] = transient
        }
      } else {
        transients.append(transient)
      }
    }
    return transients
  }

  // MARK: - Continuous events

  /// Returns a continuous event for each segment with a perceptible tone.
  ///
  /// - Parameters:
  ///   - levels: The amplitude of the tone at each sample.
  ///   - hertz: The frequency of the tone at each sample.
  ///   - dictionary: The dictionary of the profile.
  ///   - leadLength: The number of samples before the start of the sound.
  ///   - range: The minimum level relative to the strongest, in decibels.
  private static func continuousEvents(
    levels: [Float], hertz: [Double], dictionary: AtomDictionary, leadLength: Int, range: Double
  ) -> [TracedContinuousEvent] {
    let sampleRate = dictionary.sampleRate
    let minimumLevel = max(
      2 * minimumEventAmplitude, (levels.max() ?? 0) * Float(Decibels.amplitudeFactor(range)))
    let audibleSegments = SampleMath.segments(
      levels.count, closing: Int(maximumGapSeconds * sampleRate)
    ) {
      levels[$0] > minimumLevel
    }
    var events: [TracedContinuousEvent] = []
    for segment in audibleSegments
    where Double(segment.count) >= minimumContinuousSeconds * sampleRate {
      guard
        let span = perceptibleSpan(
          of: segment, levels: levels, minimumLevel: minimumLevel, rate: sampleRate),
        Double(span.count) >= minimumContinuousSeconds * sampleRate
      else { continue }
      let frequencies = smoothedHertz(hertz[span], rate: sampleRate)
      let intensities = frequencies.indices.map { index in
        dictionary.intensity(
          ofAmplitude: Double(levels[span.lowerBound + index]),
          hertz: Double(frequencies[index]))
      }
      events.append(
        TracedContinuousEvent(
          startSeconds: Double(span.lowerBound - leadLength) / sampleRate,
          stepSeconds: 1 / sampleRate,
          intensities: intensities,
          sharpnesses: frequencies.map { dictionary.sharpness(atHertz: Double($0)) }))
    }
    return events
  }

  /// Trims the faint start and end of a segment.
  ///
  /// The remaining part begins and ends where the level crosses half of its maximum in the first
  /// and in the last 20 ms.
  private static func perceptibleSpan(
    of segment: Range<Int>, levels: [Float], minimumLevel: Float, rate: Double
  ) -> ClosedRange<Int>? {
    let edgeSamples = Int(0.02 * rate)
    let startLevel = levels[segment.prefix(edgeSamples)].max() ?? 0
    let endLevel = levels[segment.suffix(edgeSamples)].max() ?? 0
    let startThreshold = startLevel > 2.5 * minimumLevel ? startLevel / 2 : -1
    let endThreshold = endLevel > 2.5 * minimumLevel ? endLevel / 2 : -1
    guard let firstAudibleIndex = segment.first(where: { levels[$0] > startThreshold }),
      let lastAudibleIndex = segment.last(where: { levels[$0] > endThreshold }),
      firstAudibleIndex <= lastAudibleIndex
    else { return nil }
    return firstAudibleIndex...lastAudibleIndex
  }

  /// Smooths the frequencies of an event by a median, and makes them constant near both ends.
  ///
  /// The signal beyond the ends biases the frequencies near them.
  private static func smoothedHertz(_ hertz: ArraySlice<Double>, rate: Double) -> [Float] {
    var extendedHertz = hertz.map { Float($0) }
    let edgeSamples = min(extendedHertz.count / 3, Int(0.012 * rate))
    let lastIndex = extendedHertz.count - 1
    for index in 0..<edgeSamples {
      extendedHertz[index] = extendedHertz[edgeSamples]
      extendedHertz[lastIndex - index] = extendedHertz[lastIndex - edgeSamples]
    }
    return SampleMath.movingMedian(of: extendedHertz, over: Int(0.02 * rate) | 1)
  }
}
