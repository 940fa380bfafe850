internal import CMath
internal import SignalAnalysis

/// The transients and continuous events of any sound.
///
/// They are derived from the levels of the sound's octave bands.
///
/// 1. The sound is divided into octaves from 25 Hz to 7.7 kHz, and the level of each is measured
///    1000 times a second.
/// 2. Rises of the octave levels above their maximum 8 to 33 ms earlier are onsets
///    (`onsets(in:weights:)`). Each onset is a transient with the level above the continuous level,
///    and the centroid of the rise as its sharpness.
/// 3. The weighted sum of the octaves, without peaks narrower than a burst, is the continuous
///    level. Segments above a threshold are continuous events, with the centroid as their
///    sharpness.
struct WidebandTrace {
  private(set) var transients: [TracedTransient] = []
  private(set) var continuousEvents: [TracedContinuousEvent] = []

  /// The levels of all octave bands over time.
  private struct Octaves {
    /// The levels of each octave band, from the lowest, with `levelsPerSecond` values per second.
    var levelsByOctave: [[Float]]
    /// The center of each octave, in hertz.
    var centerHertz: [Double]
  }

  /// The level of full intensity, to which thresholds are relative.
  private struct LevelReference {
    /// The level that is mapped to full intensity.
    let fullIntensityLevel: Float
    /// The minimum level of an event, in decibels relative to full intensity.
    let thresholdDecibels: Double

    /// Converts a level from decibels to an amplitude factor.
    ///
    /// A level below the threshold is raised to the threshold.
    func amplitudeFactor(decibels: Double) -> Float {
      Float(Decibels.amplitudeFactor(max(thresholdDecibels, decibels)))
    }
  }

  /// The edges of the octave bands, in hertz.
  private static let octaveCornerHertz = [25.0, 60, 120, 240, 480, 960, 1_920, 3_840, 7_680]
  /// The number of levels per second.
  private static let levelsPerSecond = 1_000.0
  /// The spectral centroids that are mapped to sharpness 0 and 1, in hertz.
  ///
  /// The scale is logarithmic.
  private static let centroidHertzRange = (low: 80.0, high: 4_000.0)
  /// The minimum weighted rise of the octave levels at an onset, in decibels.
  private static let minimumOnsetRiseDecibels = Float(6)
  /// The minimum level of an onset relative to the loudest level, in decibels.
  ///
  /// Rises below this level are ignored.
  private static let onsetGateDecibels = -36.0
  /// The quantile of the sound's level that is mapped to full intensity.
  private static let fullIntensityQuantile = 0.997
  /// The minimum level of a transient relative to full intensity, in decibels.
  private static let minimumTransientLevelDecibels = -34.0
  /// The minimum level of a continuous event relative to full intensity, in decibels.
  private static let minimumContinuousLevelDecibels = -30.0
  /// The minimum ratio of a transient's level to the level before it: 2 dB.
  private static let minimumTransientRiseRatio = Float(1.26)
  /// The minimum duration of a continuous event and the maximum gap in it.
  ///
  /// The unit is the interval between levels, at `levelsPerSecond`.
  private static let minimumContinuousLevelCount = 60
  /// The duration of the silence before and after the sound, in seconds.
  private static let leadSeconds = 0.15

  /// Traces the transients and continuous events of a sound.
  ///
  /// - Parameters:
  ///   - sound: The samples of the sound.
  ///   - rate: The sample rate, in hertz.
  ///   - dictionary: The dictionary of the profile.
  ///   - style: The part of the sound to follow.
  ///   - threshold: The minimum level relative to the loudest, in decibels. It is never below −34
  ///     for transients and −30 for continuous events.
  init(
    of sound: [Float], rate: Double, dictionary: AtomDictionary, style: TracingOptions.FollowedPart,
    threshold: Double
  ) {
    let leadPadding = [Float](repeating: 0, count: Int(Self.leadSeconds * rate))
    // DC offset and rumble below all octaves are not felt.
    let highPass = Biquad<Float>(.highPass, hertz: 20, rate: rate)
    let filteredSamples = leadPadding + highPass.filtered(sound) + leadPadding
    let octaves = Self.octaves(of: filteredSamples, rate: rate)
    guard let levelCount = octaves.levelsByOctave.first?.count, levelCount > 64 else { return }
    let partWeights = style.weights
    let totalLevels = Self.totalLevel(
      of: octaves.levelsByOctave, weights: partWeights.continuousByOctave)
    let maximumLevel = totalLevels.max() ?? 0
    guard maximumLevel >= VibrationTrace.minimumEventAmplitude else { return }
    // Silence does not count: a bang in a long silence is as loud as the bang alone.
    let audibleLevels = totalLevels.filter { $0 > 0.01 * maximumLevel }
    let levelReference = LevelReference(
      fullIntensityLevel: Statistics.quantile(of: audibleLevels, Self.fullIntensityQuantile),
      thresholdDecibels: threshold)
    let openedLevels = SampleMath.morphologicalOpening(of: totalLevels, over: 25)
    let continuousLevels = SampleMath.movingMean(of: openedLevels, over: 15)
    let baseLevels = continuousLevels.map { $0 * partWeights.continuousGain }
    for onset in Self.onsets(in: octaves.levelsByOctave, weights: partWeights.onsetsByOctave) {
      guard
        var transient = Self.transient(
          at: onset, octaves, total: totalLevels, baseLevel: baseLevels, levelReference, dictionary)
      else { continue }
      let time = Self.refinedOnset(onset, in: filteredSamples, rate: rate)
      transient.timeSeconds = max(0, time - Self.leadSeconds)
      transients.append(transient)
    }
    continuousEvents = Self.continuousEvents(
      octaves, level: continuousLevels, weights: partWeights, levelReference, dictionary)
  }

  // MARK: - Transients

  /// Returns the transient at an onset, with its time not set yet, or nil if it is too weak.
  private static func transient(
    at onset: Int, _ octaves: Octaves, total: [Float], baseLevel: [Float],
    _ reference: LevelReference, _ dictionary: AtomDictionary
  ) -> TracedTransient? {
    let levelCount = total.count
    let peakRange = max(0, onset - 15)..<min(levelCount, onset + 30)
    let peakIndex = peakRange.max { total[$0] < total[$1] } ?? onset
    let peakLevel = total[peakIndex]
    let levelBefore = total[max(0, onset - 30)..<max(1, onset - 10)].max() ?? 0
    let minimumRelativeLevel = reference.amplitudeFactor(decibels: minimumTransientLevelDecibels)
    guard peakLevel >= minimumRelativeLevel * reference.fullIntensityLevel,
      peakLevel >= minimumTransientRiseRatio * levelBefore
    else { return nil }
    let powerRisesByOctave = octaves.levelsByOctave.map { octave -> Double in
      let after = onset..<min(levelCount, onset + 20)
      let before = max(0, onset - 25)..<max(1, onset - 5)
      let expected =
        SampleMath.energy(of: octave, in: before) / Float(before.count) * Float(after.count)
      return Double(max(0, SampleMath.energy(of: octave, in: after) - expected))
    }
    // The continuous event continues below the transient.
    let sustainedLevel = baseLevel[peakIndex]
    let relativeAmplitude = Double(
      min(
        1,
        max(0, peakLevel * peakLevel - sustainedLevel * sustainedLevel).squareRoot()
          / reference.fullIntensityLevel))
    guard Float(relativeAmplitude) >= minimumRelativeLevel else { return nil }
    let transientSharpness = sharpness(of: powerRisesByOctave, centers: octaves.centerHertz)
    return TracedTransient(
      timeSeconds: 0,
      intensity: dictionary.intensity(
        ofRelativeAmplitude: relativeAmplitude, sharpness: transientSharpness),
      sharpness: transientSharpness)
  }

  /// Returns the sample positions of rises in the level of one or more octave bands.
  ///
  /// A level rises if it exceeds its maximum 8 to 33 ms earlier.
  private static func onsets(in octaves: [[Float]], weights: [Float]) -> [Int] {
    let levelCount = octaves[0].count
    let unweightedLevels = totalLevel(of: octaves, weights: octaves.map { _ in 1 })
    let levelFloor =
      Float(Decibels.amplitudeFactor(onsetGateDecibels))
      * Statistics.quantile(of: unweightedLevels, fullIntensityQuantile)
    var noveltyCurve = [Float](repeating: 0, count: levelCount)
    let weightSum = max(weights.prefix(octaves.count).reduce(0, +), 1e-9)
    let noveltyScale = Float(Double(octaves.count).squareRoot()) / weightSum
    for (octave, weight) in zip(octaves, weights) {
      let decibels = octave.map { Float(20 * log10(Double($0 + levelFloor) + 1e-12)) }
      let past = SlidingExtremum.maximum(of: decibels, radius: 12)
      for index in 20..<levelCount {
        noveltyCurve[index] += weight * noveltyScale * max(0, decibels[index] - past[index - 20])
      }
    }
    noveltyCurve = SampleMath.movingMean(of: noveltyCurve, over: 5)
    let medianNovelty = SampleMath.movingMedian(
      of: stride(from: 0, to: levelCount, by: 4).map { noveltyCurve[$0] }, over: 101)
    return SampleMath.peaks(of: noveltyCurve, minimumDistance: 40) {
      noveltyCurve[$0] > minimumOnsetRiseDecibels + 1.5 * medianNovelty[$0 / 4]
    }
  }

  /// Returns the time of the steepest energy rise near an onset.
  ///
  /// The rise is the ratio of the energy in the 3 ms after to that in the 3 ms before the time. The
  /// time is in seconds of the padded sound.
  private static func refinedOnset(_ onset: Int, in samples: [Float], rate: Double) -> Double {
    let firstSample = max(0, Int(Double(onset - 20) / levelsPerSecond * rate))
    let endSample = min(samples.count, Int(Double(onset + 8) / levelsPerSecond * rate))
    let windowSamples = Int(0.003 * rate)
    guard endSample - firstSample > 2 * windowSamples + 2, windowSamples > 0 else {
      return Double(onset) / levelsPerSecond
    }
    var cumulativeEnergies = [0.0]
    for index in firstSample..<endSample {
      cumulativeEnergies.append(
        cumulativeEnergies[cumulativeEnergies.count - 1] + Double(samples[index] * samples[index]))
    }
    let energyFloor =
      1e-3 * cumulativeEnergies[cumulativeEnergies.count - 1] / Double(endSample - firstSample)
      * Double(windowSamples) + 1e-18
    var bestOnset = (ratio: 0.0, position: windowSamples)
    for position in windowSamples..<(endSample - firstSample - windowSamples) {
      let after =
        cumulativeEnergies[position + windowSamples] - cumulativeEnergies[position] + energyFloor
      let before =
        cumulativeEnergies[position] - cumulativeEnergies[position - windowSamples] + energyFloor
      let ratio = after / before
      if ratio > bestOnset.ratio {
        bestOnset = (ratio, position)
      }
    }
    return Double(firstSample + bestOnset.position) / rate
  }

  // MARK: - Continuous events

  private static func continuousEvents(
    _ octaves: Octaves, level: [Float], weights: TracingOptions.FollowedPart.Weights,
    _ reference: LevelReference, _ dictionary: AtomDictionary
  ) -> [TracedContinuousEvent] {
    let octavePowers = zip(octaves.levelsByOctave, weights.continuousByOctave).map {
      octave, weight in
      SampleMath.movingMean(of: octave.map { $0 * $0 * weight * weight }, over: 30)
    }
    let continuousGain = weights.continuousGain
    let minimumLevel =
      reference.amplitudeFactor(decibels: minimumContinuousLevelDecibels)
      * reference.fullIntensityLevel
    let audibleSegments = SampleMath.segments(level.count, closing: minimumContinuousLevelCount) {
      level[$0] * continuousGain > minimumLevel
    }
    return audibleSegments.filter { $0.count >= minimumContinuousLevelCount }.map { segment in
      let sharpnesses = segment.map { index in
        sharpness(of: octavePowers.map { Double($0[index]) }, centers: octaves.centerHertz)
      }
      let intensities = zip(segment, sharpnesses).map { index, sharpness in
        let amplitude = Double(min(1, level[index] / reference.fullIntensityLevel) * continuousGain)
        return dictionary.intensity(ofRelativeAmplitude: amplitude, sharpness: sharpness)
      }
      return TracedContinuousEvent(
        startSeconds: Double(segment.lowerBound) / levelsPerSecond - leadSeconds,
        stepSeconds: 1 / levelsPerSecond,
        intensities: intensities, sharpnesses: sharpnesses)
    }
  }

  /// Maps the spectral centroid of the octave powers to sharpness, on a logarithmic scale.
  private static func sharpness(of powers: [Double], centers: [Double]) -> Double {
    let powerSum = powers.reduce(0, +)
    guard powerSum > 1e-18 else { return 0 }
    let logCentroidHertz = zip(powers, centers).reduce(0) { $0 + $1.0 * log($1.1) } / powerSum
    let logRangeWidth = log(centroidHertzRange.high / centroidHertzRange.low)
    return min(1, max(0, (logCentroidHertz - log(centroidHertzRange.low)) / logRangeWidth))
  }

  // MARK: - Octaves

  /// Returns the total level over time: the square root of the weighted sum of the octave powers.
  private static func totalLevel(of octaves: [[Float]], weights: [Float]) -> [Float] {
    var summedPowers = [Float](repeating: 0, count: octaves[0].count)
    for (octave, weight) in zip(octaves, weights) {
      for index in summedPowers.indices {
        summedPowers[index] += octave[index] * octave[index] * weight * weight
      }
    }
    return summedPowers.map { $0.squareRoot() }
  }

  /// Measures the levels of all octave bands below 0.45 times the sample rate.
  private static func octaves(of samples: [Float], rate: Double) -> Octaves {
    let usedCornerHertz = octaveCornerHertz.filter { $0 < 0.45 * rate }
    let levelCount = Int(Double(samples.count) / rate * levelsPerSecond) + 1
    let octaveCount = max(0, usedCornerHertz.count - 1)
    var levelsByOctave = [[Float]](repeating: [], count: octaveCount)
    var centerHertz = [Double](repeating: 0, count: octaveCount)
    var decimatedSignal = samples
    var decimatedRate = rate
    // The octaves are filtered from the highest down, at decreasing sample rates.
    for octave in (0..<octaveCount).reversed() {
      let bottom = usedCornerHertz[octave]
      let top = usedCornerHertz[octave + 1]
      if decimatedRate > 14 * top {
        let decimated = TactileBandSignal(
          of: decimatedSignal, rate: decimatedRate, minimumRate: 6 * top)
        decimatedSignal = decimated.samples
        decimatedRate = decimated.decimatedRate
      }
      let highPassed = Biquad<Float>(.highPass, hertz: bottom, rate: decimatedRate).filtered(
        decimatedSignal)
      let band = Biquad<Float>(.lowPass, hertz: top, rate: decimatedRate).filtered(highPassed)
      levelsByOctave[octave] = Self.octaveLevels(
        of: band, rate: decimatedRate, bottom: bottom, count: levelCount)
      centerHertz[octave] = (bottom * top).squareRoot()
    }
    return Octaves(levelsByOctave: levelsByOctave, centerHertz: centerHertz)
  }

  /// Returns the level of an octave band over time.
  ///
  /// The level is measured in a Hann window of at least half of the longest period.
  private static func octaveLevels(
    of band: [Float], rate: Double, bottom: Double, count: Int
  ) -> [Float] {
    let windowSampleCount = max(3, Int(max(0.006, 0.5 / bottom) * rate) | 1)
    let windowWeights = (0..<windowSampleCount).map {
      Float(1 - cos(2 * .pi * (Double($0) + 1) / Double(windowSampleCount + 1)))
    }
    let windowWeightSum = windowWeights.reduce(0, +)
    let edgePadding = [Float](repeating: 0, count: windowSampleCount)
    let paddedPowers = edgePadding + band.map { $0 * $0 } + edgePadding
    return (0..<count).map { index in
      let center = min(Int(Double(index) / levelsPerSecond * rate), band.count) + windowSampleCount
      let product = Vector.dot(
        paddedPowers.span, from: center - windowSampleCount / 2 - 1, windowWeights.span)
      return max(0, product / windowWeightSum).squareRoot()
    }
  }
}

extension TracingOptions.FollowedPart {
  /// The weights of the octave bands, and the gain of continuous events, for one part of a sound.
  fileprivate struct Weights {
    /// The weight of each octave, from the lowest, in the level of continuous events.
    let continuousByOctave: [Float]
    /// The weight of each octave, from the lowest, in the detection of onsets.
    let onsetsByOctave: [Float]
    /// The gain of continuous events.
    let continuousGain: Float
  }

  /// The weights for this part of the sound.
  fileprivate var weights: Weights {
    switch self {
    case .full:
      Weights(
        continuousByOctave: [1, 1, 1, 1, 1, 1, 1, 1],
        onsetsByOctave: [1, 1, 1, 1, 1, 1, 0.8, 0.6],
        continuousGain: 1)
    case .impacts:
      Weights(
        continuousByOctave: [1, 1, 0.8, 0.4, 0.2, 0.1, 0.05, 0],
        onsetsByOctave: [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.3],
        continuousGain: 0.35)
    case .music:
      Weights(
        continuousByOctave: [1, 1, 1, 0.5, 0.25, 0.1, 0, 0],
        onsetsByOctave: [1, 1, 0.8, 0.4, 0.3, 0.3, 0.5, 0.5],
        continuousGain: 0.8)
    case .voice:
      Weights(
        continuousByOctave: [0.2, 0.5, 1, 1, 0.8, 0.5, 0.3, 0.2],
        onsetsByOctave: [0.3, 0.5, 1, 1, 1, 1, 0.5, 0.3],
        continuousGain: 1)
    }
  }
}
