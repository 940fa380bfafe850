internal import CMath
internal import SignalAnalysis

/// The transients and continuous events of a recording of vibration with several tones at a time.
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
/// 4. Bursts are searched in the residual (`BurstSearch`). Those that a step from one tone to the
///    next explains are dropped (`StepSearch`).
/// 5. All tones and bursts are fitted jointly (`LayeredFit`).
/// 6. The steps are repeated without the bursts, so that windows around bursts consist of tones.
struct LayeredTrace {
  private(set) var transients: [TracedTransient] = []
  private(set) var continuous: [TracedContinuous] = []
  /// The fraction of the power that the events do not explain.
  private(set) var unexplainedFraction = 0.0

  /// The number of repetitions of all steps.
  private static let passCount = 3
  /// The durations of windows, in seconds. A window in which no tones are found is shortened.
  private static let windowDurations = [0.064, 0.044]
  /// The maximum numbers of tones in a window.
  private static let maximumToneCounts = [3, 2]
  /// The interval between windows, in seconds.
  private static let hopDuration = 0.004
  /// The minimum number of windows of a tone, in the first and in the following passes.
  private static let minimumWindowCounts = [6, 4, 4]
  /// The sample rate of windows relative to the highest frequency of the profile.
  private static let minimumRateRatio = 4.3
  /// The duration over which noise is measured, in seconds.
  private static let noiseDuration = 0.05
  /// The maximum level of noise relative to the peak.
  private static let maximumNoiseRatio = Float(0.05)

  private let dictionary: AtomDictionary
  private let samples: [Float]
  private let leadLength: Int
  /// The minimum level of events.
  private let minimumLevel: Float
  /// The level of noise.
  private let noiseLevel: Float

  /// Traces a vibration.
  ///
  /// - Parameters:
  ///   - sound: The samples of the vibration.
  ///   - rate: The sample rate, in hertz.
  ///   - dictionary: The dictionary of the profile.
  ///   - threshold: The minimum level relative to the strongest, in decibels.
  init(of sound: [Float], rate: Double, dictionary: AtomDictionary, threshold: Double) {
    let signal = AnalysisSignal(
      sound, rate: rate, targetRate: dictionary.rate,
      minimumHertz: dictionary.toneBand.lowerBound)
    self.dictionary = dictionary
    samples = signal.samples
    leadLength = signal.leadLength
    let peak = Statistics.peak(of: samples)
    minimumLevel = max(
      VibrationTrace.minimumAmplitude, peak * Float(Decibels.amplitudeFactor(threshold)))
    noiseLevel = Self.noiseLevel(of: signal, peak: peak)
    guard samples.count >= 64, peak >= VibrationTrace.minimumAmplitude else { return }
    var selection = ToneSelection(rate: dictionary.rate, timeScale: dictionary.timeScale)
    var bursts: [FoundBurst] = []
    for pass in 0..<Self.passCount {
      repeatSteps(&selection, &bursts, pass: pass)
    }
    var residual = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    selection.add(to: &residual, times: -1)
    unexplainedFraction = Statistics.energy(of: residual) / Statistics.energy(of: samples)
    transients = VibrationTrace.transients(bursts, dictionary, leadLength: leadLength)
    continuous = selection.tones.filter { $0.span.count > 8 }.map(event).sorted {
      $0.start < $1.start
    }
  }

  /// Returns the level that is exceeded in 95 % of the sound.
  private static func noiseLevel(of signal: AnalysisSignal, peak: Float) -> Float {
    let powers = SampleMath.movingMean(
      of: signal.samples.map { $0 * $0 }, over: Int(noiseDuration * signal.rate))
    let inner = powers.dropFirst(signal.leadLength).dropLast(signal.leadLength)
    guard inner.count > 50 else { return 0 }
    let power = max(0, Statistics.quantile(of: Array(inner), 0.05))
    return min(power.squareRoot(), maximumNoiseRatio * peak)
  }

  // MARK: - Passes

  private func repeatSteps(
    _ selection: inout ToneSelection, _ bursts: inout [FoundBurst], pass: Int
  ) {
    let fit = LayeredFit(dictionary: dictionary, rate: dictionary.rate)
    let withoutBursts = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    selection.select(
      from: candidates(in: withoutBursts, minimumWindowCount: Self.minimumWindowCounts[pass]),
      in: withoutBursts)
    _ = selection.fitEdges(to: withoutBursts)
    selection.revise(minimumLevel: 2 * minimumLevel, sampleCount: samples.count)
    selection.joinParts(sampleCount: samples.count)
    // The edges are fitted to the signal with its bursts: after their subtraction, false bursts
    // would have taken the energy of a tone.
    _ = selection.fitEdges(to: samples)
    if pass > 0 {
      fit.refine(&selection.tones, &bursts, in: samples)
    }
    let residual = selection.fitEdges(to: samples)
    let search = BurstSearch(
      dictionary: dictionary, toneLevels: selection.levels(count: samples.count),
      minimumAmplitude: minimumLevel, isDense: true)
    bursts = search.bursts(in: residual)
    let steps = StepSearch(
      dictionary: dictionary, rate: dictionary.rate, timeScale: dictionary.timeScale,
      samples: samples)
    steps.replaceSteps(among: &bursts, in: &selection)
    selection.tones.removeAll { $0.span.count <= 8 }
    fit.refine(&selection.tones, &bursts, in: samples)
    let refined = PursuitResidual(samples, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    _ = selection.fitEdges(to: refined)
  }

  /// Returns the possible tones of a signal.
  private func candidates(in signal: [Float], minimumWindowCount: Int) -> [TonePath] {
    let rate = dictionary.rate
    let timeScale = dictionary.timeScale
    let factor = max(
      1, Int(rate / (Self.minimumRateRatio * dictionary.toneBand.upperBound)))
    let hop = max(1, Int((Self.hopDuration * rate / Double(factor)).rounded())) * factor
    let windows = windows(of: signal, decimation: factor, hop: hop)
    let power = SampleMath.movingMean(
      of: signal.map { $0 * $0 }, over: max(3, Int(0.003 * rate)))
    let linker = ToneLinker(rate: rate, hop: hop, timeScale: timeScale)
    return linker.paths(of: windows).flatMap { linker.divided($0, power: power) }
      .filter { $0.count >= minimumWindowCount }
      .map { TonePath($0, rate: rate, sampleCount: signal.count, timeScale: timeScale) }
  }

  /// Returns the windows that consist of tones or are silent, by time.
  private func windows(of signal: [Float], decimation factor: Int, hop: Int) -> [ToneWindow] {
    let rate = dictionary.rate / Double(factor)
    let decimated = TactileBandSignal(
      of: signal, rate: dictionary.rate, minimumRate: rate * 0.999
    ).samples
    let minimumPower = pow(Double(max(minimumLevel, 1.5 * noiseLevel)) * 0.7, 2)
    let noisePower = Double(noiseLevel * noiseLevel)
    var fits = zip(Self.windowDurations, Self.maximumToneCounts).map { duration, toneCount in
      ToneWindowFit(
        duration: duration * dictionary.timeScale, maximumToneCount: toneCount, rate: rate,
        band: dictionary.toneBand)
    }
    var windows: [ToneWindow] = []
    for center in stride(from: 0, to: decimated.count, by: hop / factor) {
      for index in fits.indices {
        let tones = fits[index].tones(
          in: decimated, at: center, minimumPower: minimumPower, noisePower: noisePower)
        guard let tones else { continue }
        windows.append(
          ToneWindow(
            center: center * factor, halfLength: fits[index].halfLength * factor, tones: tones))
        break
      }
    }
    return windows
  }

  // MARK: - Events

  /// Returns the event of a tone.
  ///
  /// The renderer starts each event at phase 0, and the phase between two tones is their beat. The
  /// start of the event is moved to the nearest zero of its sine. The frequency of a steady tone is
  /// the slope of its phase.
  private func event(of tone: TonePath) -> TracedContinuous {
    let rate = dictionary.rate
    let phases = tone.span.map { tone.phase(at: $0) }
    let margin = min(phases.count / 5, Int(0.02 * rate))
    let line = Self.line(through: phases, in: margin..<phases.count - margin)
    let isSteady = line.deviation < Self.maximumSteadyDeviation
    let beginning = margin..<min(phases.count, margin + max(8, Int(0.03 * rate)))
    let phaseLine = isSteady ? line : Self.line(through: phases, in: beginning)
    // A sine rises through 0 where the phase of the cosine is −π/2.
    let turns = (phaseLine.start + .pi / 2) / (2 * .pi)
    let shift = (turns.rounded() - turns) * 2 * .pi / phaseLine.slope
    let maximumShift = Self.maximumPhaseShift * dictionary.timeScale * rate
    let start =
      Double(tone.span.lowerBound - leadLength) + (abs(shift) < maximumShift ? shift : 0)
    let steadyHertz = line.slope * rate / (2 * .pi)
    let hertz = phases.indices.map { index in
      isSteady
        ? steadyHertz
        : tone.meanHertz(
          in: tone.span.lowerBound + index - 8..<tone.span.lowerBound + index + 9, rate: rate)
    }
    return TracedContinuous(
      start: start / rate, step: 1 / rate,
      intensities: zip(tone.span, hertz).map {
        dictionary.intensity(ofAmplitude: tone.level(at: $0), hertz: $1)
      },
      sharpnesses: hertz.map(dictionary.sharpness))
  }

  /// The maximum deviation of the phase of a steady tone from a line, in radians.
  private static let maximumSteadyDeviation = 0.3
  /// The maximum distance of the zero of a tone from its start, in seconds.
  private static let maximumPhaseShift = 0.004

  /// Returns the regression line of some values: its value at index 0, its slope, and the root mean
  /// square of the deviation.
  private static func line(
    through values: [Double], in range: Range<Int>
  ) -> (start: Double, slope: Double, deviation: Double) {
    let count = Double(range.count)
    let meanIndex = Double(range.lowerBound + range.upperBound - 1) / 2
    let meanValue = range.reduce(0) { $0 + values[$1] } / count
    var covariance = 0.0
    var variance = 0.0
    for index in range {
      let offset = Double(index) - meanIndex
      covariance += offset * (values[index] - meanValue)
      variance += offset * offset
    }
    let slope = covariance / max(variance, 1e-12)
    let squares = range.reduce(0.0) { sum, index in
      let deviation = values[index] - meanValue - slope * (Double(index) - meanIndex)
      return sum + deviation * deviation
    }
    return (meanValue - slope * meanIndex, slope, (squares / count).squareRoot())
  }
}
