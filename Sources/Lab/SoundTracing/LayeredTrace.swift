internal import CMath
internal import SignalAnalysis

/// The transients and continuous events of a recorded vibration with simultaneous tones.
///
///     vibration = tones with a start and an end + bursts + residual
///
/// `VibrationTrace` models one tone, so that simultaneous tones beat, and the beat resembles a
/// rhythm of bursts. Here, an edge, a beat, and a burst are distinct:
///
/// 1. Short windows that consist of up to three tones are found (`ToneWindowFit`). Windows around
///    edges and bursts are not used.
/// 2. The tones of consecutive windows are linked (`ToneLinker`), and interpolated between windows
///    (`TonePath`).
/// 3. The tones that remove the most energy are selected, and their edges are fitted
///    (`ToneSelection`).
/// 4. Bursts are searched in the residual (`BurstSearch`). `StepSearch` drops bursts that a step
///    from one tone to the next explains. `ToneGainSearch` drops bursts that different gains of the
///    tones explain.
/// 5. All tones and bursts are fitted jointly (`LayeredFit`).
/// 6. The steps are repeated without the bursts, so that windows around bursts consist of tones.
///    The pass with the smallest residual is selected. Each burst has a penalty, because a later
///    pass may find false bursts.
struct LayeredTrace {
  private(set) var transients: [TracedTransient] = []
  private(set) var continuousEvents: [TracedContinuousEvent] = []
  /// The fraction of the sound's power that the events do not explain.
  private(set) var unexplainedPowerFraction = 0.0

  /// The number of passes through all steps.
  private static let passCount = 3
  /// The penalty of a burst in the selection of a pass.
  ///
  /// The penalty is added to the logarithm of the residual's energy: an additional burst must
  /// reduce the energy by a fifth.
  private static let penaltyPerBurst = 0.25
  /// The durations of windows, in seconds, the longest first.
  ///
  /// A window in which no tones are found is shortened.
  private static let windowDurationsSeconds = [0.064, 0.044]
  /// The maximum number of tones in windows of each duration.
  private static let maximumToneCounts = [3, 2]
  /// The interval between windows, in seconds.
  private static let windowHopSeconds = 0.004
  /// The minimum number of windows that a tone must span, for each pass.
  private static let minimumToneWindowCounts = [6, 4, 4]
  /// The minimum sample rate of windows, relative to the highest frequency of the profile.
  private static let minimumSampleRateRatio = 4.3
  /// The duration over which noise is measured, in seconds.
  private static let noiseMeasurementSeconds = 0.05
  /// The maximum level of noise relative to the peak.
  private static let maximumNoiseToPeakRatio = Float(0.05)

  private let dictionary: AtomDictionary
  private let samples: [Float]
  private let leadSampleCount: Int
  /// The minimum level of a traced event.
  private let minimumEventLevel: Float
  /// The RMS level of the noise in the sound.
  private let noiseLevel: Float

  /// The joint fit of tones and bursts.
  private var layeredFit: LayeredFit {
    LayeredFit(dictionary: dictionary, sampleRate: dictionary.sampleRate)
  }

  /// Traces the transients and continuous events of a vibration.
  ///
  /// - Parameters:
  ///   - signal: The vibration at the sample rate of the dictionary.
  ///   - dictionary: The dictionary of the profile.
  ///   - threshold: The minimum level relative to the strongest, in decibels.
  init(of signal: AnalysisSignal, dictionary: AtomDictionary, threshold: Double) {
    self.dictionary = dictionary
    samples = signal.samples
    leadSampleCount = signal.leadSampleCount
    let peakMagnitude = Statistics.peak(of: samples)
    minimumEventLevel = max(
      VibrationTrace.minimumEventAmplitude,
      peakMagnitude * Float(Decibels.amplitudeFactor(threshold)))
    noiseLevel = Self.noiseLevel(of: signal, peak: peakMagnitude)
    guard samples.count >= 64, peakMagnitude >= VibrationTrace.minimumEventAmplitude else { return }
    let pass = bestPass()
    unexplainedPowerFraction = pass.unexplainedEnergy / Statistics.energy(of: samples)
    transients = VibrationTrace.transients(pass.bursts, dictionary, leadLength: leadSampleCount)
    let soundingTones = pass.selection.selectedTones.filter { $0.soundingSamples.count > 8 }
    continuousEvents = soundingTones.map(event).sorted { $0.startSeconds < $1.startSeconds }
  }

  /// Returns the noise level of a signal: the RMS level that 95 % of the sound exceeds.
  private static func noiseLevel(of signal: AnalysisSignal, peak: Float) -> Float {
    let meanPowers = SampleMath.movingMean(
      of: signal.samples.map { $0 * $0 }, over: Int(noiseMeasurementSeconds * signal.sampleRate))
    let powersWithoutLead = meanPowers.dropFirst(signal.leadSampleCount).dropLast(
      signal.leadSampleCount)
    guard powersWithoutLead.count > 50 else { return 0 }
    let noisePower = max(0, Statistics.quantile(of: Array(powersWithoutLead), 0.05))
    return min(noisePower.squareRoot(), maximumNoiseToPeakRatio * peak)
  }

  // MARK: - Passes

  /// The tones and bursts of a pass.
  private struct Pass {
    var selection: ToneSelection
    var bursts: [FoundBurst]
    var unexplainedEnergy: Double
    /// The logarithm of the unexplained energy, with the penalties of all bursts.
    var penalty: Double
  }

  /// Returns the pass with the smallest penalty.
  private func bestPass() -> Pass {
    var selection = ToneSelection(
      sampleRate: dictionary.sampleRate, durationFactor: dictionary.analysisDurationFactor)
    var bursts: [FoundBurst] = []
    var bestPass = Pass(
      selection: selection, bursts: bursts, unexplainedEnergy: 0, penalty: .infinity)
    for pass in 0..<Self.passCount {
      refineSelection(&selection, &bursts, pass: pass)
      let unexplainedEnergy = unexplainedEnergy(selection, bursts)
      let penalty =
        log(unexplainedEnergy + .leastNormalMagnitude)
        + Self.penaltyPerBurst * Double(bursts.count)
      if penalty <= bestPass.penalty {
        bestPass = Pass(
          selection: selection, bursts: bursts, unexplainedEnergy: unexplainedEnergy,
          penalty: penalty)
      }
    }
    return bestPass
  }

  /// Returns the energy of the samples that tones and bursts do not explain.
  private func unexplainedEnergy(_ selection: ToneSelection, _ bursts: [FoundBurst]) -> Double {
    let unexplainedSamples = layeredFit.residual(of: selection.selectedTones, bursts, in: samples)
    return Statistics.energy(of: unexplainedSamples)
  }

  /// Selects the tones of a signal without the bursts of the previous pass, and finds the bursts.
  ///
  /// - Parameters:
  ///   - selection: The tones of the previous pass, which are replaced.
  ///   - bursts: The bursts of the previous pass, which are replaced.
  ///   - pass: The index of the pass.
  private func refineSelection(
    _ selection: inout ToneSelection, _ bursts: inout [FoundBurst], pass: Int
  ) {
    let samplesWithoutBursts = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    let candidates = candidateTones(
      in: samplesWithoutBursts, minimumWindowCount: Self.minimumToneWindowCounts[pass])
    selection.select(from: candidates, in: samplesWithoutBursts)
    _ = selection.fitEdges(to: samplesWithoutBursts)
    selection.removeInvalidTones(minimumLevel: 2 * minimumEventLevel, sampleCount: samples.count)
    selection.joinParts(sampleCount: samples.count)
    // The edges are fitted to the signal with its bursts: after their subtraction, false bursts
    // would have taken the energy of a tone.
    _ = selection.fitEdges(to: samples)
    if pass > 0 {
      layeredFit.refine(&selection.selectedTones, &bursts, in: samples)
    }
    let toneResidual = selection.fitEdges(to: samples)
    let burstSearch = BurstSearch(
      dictionary: dictionary, toneLevels: selection.summedToneLevels(count: samples.count),
      minimumBurstAmplitude: minimumEventLevel, allowsDenseBursts: true)
    bursts = burstSearch.bursts(in: toneResidual)
    replaceBursts(&bursts, in: &selection, candidates: candidates)
    layeredFit.refine(&selection.selectedTones, &bursts, in: samples)
    let refinedToneSamples = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    _ = selection.fitEdges(to: refinedToneSamples)
  }

  /// Replaces bursts that steps between tones or different gains of the tones explain.
  private func replaceBursts(
    _ bursts: inout [FoundBurst], in selection: inout ToneSelection, candidates: [TonePath]
  ) {
    let stepSearch = StepSearch(
      dictionary: dictionary, sampleRate: dictionary.sampleRate,
      durationFactor: dictionary.analysisDurationFactor,
      signalSamples: samples, candidates: candidates)
    stepSearch.replaceSteps(among: &bursts, in: &selection)
    selection.selectedTones.removeAll { $0.soundingSamples.count <= 8 }
    let gainSearch = ToneGainSearch(
      dictionary: dictionary, sampleRate: dictionary.sampleRate,
      durationFactor: dictionary.analysisDurationFactor, signalSamples: samples)
    gainSearch.replaceGainChanges(among: &bursts, in: &selection.selectedTones)
  }

  /// Returns all candidate tones in a signal, as input for `ToneSelection`.
  private func candidateTones(in signal: [Float], minimumWindowCount: Int) -> [TonePath] {
    let sampleRate = dictionary.sampleRate
    let timeScale = dictionary.analysisDurationFactor
    let decimationFactor = max(
      1, Int(sampleRate / (Self.minimumSampleRateRatio * dictionary.toneBandHertz.upperBound)))
    let hopSamples =
      max(1, Int((Self.windowHopSeconds * sampleRate / Double(decimationFactor)).rounded()))
      * decimationFactor
    let toneWindows = windows(of: signal, decimation: decimationFactor, hop: hopSamples)
    let meanPowers = SampleMath.movingMean(
      of: signal.map { $0 * $0 }, over: max(3, Int(0.003 * sampleRate)))
    let toneLinker = ToneLinker(
      sampleRate: sampleRate, hopSampleCount: hopSamples, durationFactor: timeScale)
    return toneLinker.paths(of: toneWindows).flatMap {
      toneLinker.dividedAtSilences($0, power: meanPowers)
    }
    .filter { $0.count >= minimumWindowCount }
    .map { TonePath($0, rate: sampleRate, sampleCount: signal.count, timeScale: timeScale) }
  }

  /// Returns the windows that consist of tones or are silent, by time.
  private func windows(of signal: [Float], decimation factor: Int, hop: Int) -> [ToneWindow] {
    let decimatedRate = dictionary.sampleRate / Double(factor)
    let decimatedSamples = TactileBandSignal(
      of: signal, rate: dictionary.sampleRate, minimumRate: decimatedRate * 0.999
    ).samples
    let minimumPower = pow(Double(max(minimumEventLevel, 1.5 * noiseLevel)) * 0.7, 2)
    let noisePower = Double(noiseLevel * noiseLevel)
    var windowFits = zip(Self.windowDurationsSeconds, Self.maximumToneCounts).map {
      duration, toneCount in
      ToneWindowFit(
        duration: duration * dictionary.analysisDurationFactor, maximumToneCount: toneCount,
        sampleRate: decimatedRate,
        band: dictionary.toneBandHertz)
    }
    var toneWindows: [ToneWindow] = []
    for center in stride(from: 0, to: decimatedSamples.count, by: hop / factor) {
      for index in windowFits.indices {
        let tones = windowFits[index].tones(
          in: decimatedSamples, at: center, minimumPower: minimumPower, noisePower: noisePower)
        guard let tones else { continue }
        toneWindows.append(
          ToneWindow(
            centerSample: center * factor,
            halfLengthSamples: windowFits[index].halfLengthSamples * factor, tones: tones))
        break
      }
    }
    return toneWindows
  }

  // MARK: - Events

  /// Converts a tone to a continuous event.
  ///
  /// The renderer starts each event at phase 0, and the phase between two tones is their beat. The
  /// start of the event is moved to the nearest zero of its sine. The frequency of a steady tone is
  /// the slope of its phase.
  private func event(of tone: TonePath) -> TracedContinuousEvent {
    let sampleRate = dictionary.sampleRate
    let phases = tone.soundingSamples.map { tone.phase(at: $0) }
    let edgeSamples = min(phases.count / 5, Int(0.02 * sampleRate))
    let fullPhaseLine = Self.regressionLine(
      through: phases, in: edgeSamples..<phases.count - edgeSamples)
    let isSteady = fullPhaseLine.deviation < Self.maximumSteadyPhaseDeviation
    let startRange = edgeSamples..<min(phases.count, edgeSamples + max(8, Int(0.03 * sampleRate)))
    let phaseLine = isSteady ? fullPhaseLine : Self.regressionLine(through: phases, in: startRange)
    // A sine rises through 0 where the phase of the cosine is −π/2.
    let phaseTurns = (phaseLine.start + .pi / 2) / (2 * .pi)
    let zeroCrossingShiftSamples = (phaseTurns.rounded() - phaseTurns) * 2 * .pi / phaseLine.slope
    let maximumShiftSamples =
      Self.maximumPhaseShiftSeconds * dictionary.analysisDurationFactor * sampleRate
    let startSample =
      Double(tone.soundingSamples.lowerBound - leadSampleCount)
      + (abs(zeroCrossingShiftSamples) < maximumShiftSamples ? zeroCrossingShiftSamples : 0)
    let steadyHertz = fullPhaseLine.slope * sampleRate / (2 * .pi)
    let hertzBySample = phases.indices.map { index in
      isSteady
        ? steadyHertz
        : tone.meanHertz(
          in: tone.soundingSamples.lowerBound + index - 8..<tone.soundingSamples.lowerBound + index
            + 9, rate: sampleRate)
    }
    return TracedContinuousEvent(
      startSeconds: startSample / sampleRate, stepSeconds: 1 / sampleRate,
      intensities: zip(tone.soundingSamples, hertzBySample).map {
        dictionary.intensity(ofAmplitude: tone.level(at: $0), hertz: $1)
      },
      sharpnesses: hertzBySample.map(dictionary.sharpness))
  }

  /// The maximum RMS deviation of a constant tone's phase from a straight line, in radians.
  private static let maximumSteadyPhaseDeviation = 0.3
  /// The maximum shift of an event's start to a zero crossing of its tone, in seconds.
  private static let maximumPhaseShiftSeconds = 0.004

  /// A regression line through values.
  private struct RegressionLine {
    /// The value of the line at index 0.
    var start: Double
    /// The slope of the line per index.
    var slope: Double
    /// The RMS deviation of the values from the line.
    var deviation: Double
  }

  /// Returns the regression line through a range of values.
  private static func regressionLine(
    through values: [Double], in range: Range<Int>
  ) -> RegressionLine {
    let valueCount = Double(range.count)
    let meanIndex = Double(range.lowerBound + range.upperBound - 1) / 2
    let meanValue = range.reduce(0) { $0 + values[$1] } / valueCount
    var covariance = 0.0
    var variance = 0.0
    for index in range {
      let offset = Double(index) - meanIndex
      covariance += offset * (values[index] - meanValue)
      variance += offset * offset
    }
    let fittedSlope = covariance / max(variance, 1e-12)
    let squaredErrorSum = range.reduce(0.0) { sum, index in
      let deviation = values[index] - meanValue - fittedSlope * (Double(index) - meanIndex)
      return sum + deviation * deviation
    }
    return RegressionLine(
      start: meanValue - fittedSlope * meanIndex, slope: fittedSlope,
      deviation: (squaredErrorSum / valueCount).squareRoot())
  }
}
