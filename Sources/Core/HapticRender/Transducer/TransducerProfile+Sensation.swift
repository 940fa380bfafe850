extension TransducerProfile {
  /// A Boolean value that indicates whether the frequency response of the hardware is known.
  public var hasKnownResponse: Bool {
    guard let hardware else { return false }
    return hardware.responsePoints.count > 1 || hardware.model != nil
  }

  /// A Boolean value that indicates whether an equalizer filters the drive.
  ///
  /// The equalizer is the inverse of the resonance.
  public var isEqualized: Bool { hardware?.model != nil && (driveSettings.isEqualized ?? true) }

  /// A Boolean value that indicates whether equal intensity feels equal at each sharpness.
  ///
  /// The default is true if the response is known or the profile has its own threshold curve. If it
  /// is requested without a response, the response counts as flat.
  public var hasEqualSensation: Bool {
    if hardware == nil { return perceptionThresholds.count > 1 }
    return driveSettings.hasEqualSensation ?? (hasKnownResponse || perceptionThresholds.count > 1)
  }

  /// A Boolean value that indicates whether sensation exponents depend on the frequency.
  ///
  /// The exponents are those of a hand and relative to the threshold, so they require the
  /// acceleration of a full-scale sine.
  public var hasConvergingContours: Bool {
    driveSettings.sensationContours == .converging && isHandHeld && hasEqualSensation
      && fullScaleAccelerationInG != nil
  }

  /// A Boolean value that indicates whether the levels of bursts depend on their duration.
  public var hasTemporalSummation: Bool {
    driveSettings.hasTemporalSummation ?? false && isHandHeld && hasEqualSensation
  }

  private var isHandHeld: Bool { hardware != nil && driveSettings.contactSite == .hand }

  /// The acceleration of a full-scale sine at resonance, in g, if known.
  ///
  /// It is known if the resonance, the quality factor, and the acceleration are known.
  var fullScaleAccelerationInG: Double? {
    guard let hardware, hardware.model != nil,
      let ratedAccelerationInG = hardware.maximumAccelerationInG
    else {
      return nil
    }
    let fullScalePowerRatio = TransducerLimits(hardware, amplifier: amplifier)
      .fullScaleToContinuousPowerRatio
    return ratedAccelerationInG * (fullScalePowerRatio ?? 1).squareRoot()
  }

  /// Returns the exponent of the growth of sensation at a frequency.
  ///
  /// The exponent is 1 if the contours of equal sensation don't converge.
  func sensationExponent(atHertz hertz: Double) -> Double {
    hasConvergingContours ? SensationGrowth.exponent(atHertz: hertz) : 1
  }

  /// Returns the exponents of the amplitude at evenly spaced sharpness values. With these
  /// exponents, equal intensities below full intensity feel equally strong.
  ///
  /// The exponent is 1 in the middle of the scale of continuous events.
  ///
  /// - Parameters:
  ///   - count: The number of points.
  ///   - mapping: The mapping of sharpness to frequency.
  func amplitudeExponentsOverSharpness(count: Int, of mapping: FrequencyMapping) -> [Double] {
    let centerExponent = sensationExponent(atHertz: frequency.hertz(atSharpness: 0.5))
    return (0..<count).map { index in
      centerExponent
        / sensationExponent(atHertz: mapping.hertz(atSharpness: Double(index) / Double(count - 1)))
    }
  }

  /// A Boolean value that indicates whether the frequency mappings are limited to the useful band.
  public var isLimitedToUsableBand: Bool {
    hardware != nil && (driveSettings.limitsToUsableBand ?? true)
  }

  /// Returns the acceleration of the hardware for a full-scale sine, in relative decibels.
  ///
  /// The decibels are relative to an arbitrary level.
  ///
  /// The model of the resonance determines the response, as wide as its uncertainty. Measured
  /// points correct it if they are denser than the resonance and agree with it. Without a model,
  /// the points determine the response; without both, it is flat.
  public func hardwareResponseDecibels(atHertz hertz: Double) -> Double {
    guard let hardware else { return 0 }
    guard let model = hardware.levelModel else {
      return Self.interpolatedDecibels(
        hardware.responsePoints.map { ($0.hertz, $0.relativeAccelerationDecibels) }, atHertz: hertz)
    }
    let modelDecibels =
      hardware.additionalResonances.isEmpty
      ? model.accelerationDecibels(atHertz: hertz)
      : decibels(ofAmplitude: max(1e-15, hardware.accelerationMagnitude(atHertz: hertz)))
    return modelDecibels
      + Self.interpolatedDecibels(hardware.responseCorrectionPoints, atHertz: hertz)
  }

  /// Returns the perception threshold at a frequency, in decibels relative to 1 g.
  ///
  /// For ears, returns the sound pressure of equal loudness.
  func perceptionThresholdDecibels(atHertz hertz: Double) -> Double {
    let defaultCurve =
      switch driveSettings.contactSite {
      case .hand: Self.defaultPerceptionThresholds
      case .seat: SeatWeighting.thresholds
      case .ear: EqualLoudness.equalLoudnessContour
      }
    let thresholdCurve = perceptionThresholds.count > 1 ? perceptionThresholds : defaultCurve
    return Self.interpolatedDecibels(
      thresholdCurve.map { ($0.hertz, $0.accelerationDecibelsRelativeToG) }, atHertz: hertz)
  }

  /// Returns the level of a full-scale sine above the perception threshold, in decibels.
  ///
  /// The level has an unknown constant offset.
  ///
  /// If equal sensation isn't requested, the result is the level of the acceleration.
  ///
  /// - Parameters:
  ///   - hertz: The frequency.
  ///   - drive: The filters of the drive, or nil for none.
  func sensationDecibels(atHertz hertz: Double, drive: TransducerSettings?) -> Double {
    var sensationLevel = hardwareResponseDecibels(atHertz: hertz)
    if let drive {
      sensationLevel += decibels(ofAmplitude: max(1e-15, drive.driveResponse(atHertz: hertz)))
    }
    return hasEqualSensation
      ? sensationLevel - perceptionThresholdDecibels(atHertz: hertz) : sensationLevel
  }

  /// Returns the level of a curve at a frequency, interpolated over the logarithm of the frequency.
  /// The curve is constant beyond its ends.
  private static func interpolatedDecibels(
    _ points: [(hertz: Double, decibels: Double)], atHertz hertz: Double
  ) -> Double {
    guard let firstPoint = points.first, let lastPoint = points.last else { return 0 }
    if hertz <= firstPoint.hertz { return firstPoint.decibels }
    for (low, high) in zip(points, points.dropFirst()) where hertz <= high.hertz {
      let fraction = logarithm2(hertz / low.hertz) / logarithm2(high.hertz / low.hertz)
      return low.decibels + (high.decibels - low.decibels) * fraction
    }
    return lastPoint.decibels
  }

  /// The number of frequencies that are examined to find the useful band. In typical bands, they
  /// are less than 0.01 octaves apart.
  private static let bandSearchPointCount = 513

  /// Returns the profile with its frequency mappings limited to the useful band of its hardware.
  ///
  /// Each mapping is limited to the published band, then to the range around its best frequency in
  /// which no level is lower by more than the reach of the drive. Its scale and the filters of the
  /// drive stay the same.
  ///
  /// - Parameter rate: The sample rate of the filters, in hertz.
  public func limitedToUsableBand(rate: Double) -> TransducerProfile {
    limitedToUsableBand(settings: transducerSettings(rate: rate))
  }

  /// Returns the profile with its frequency mappings limited to the useful band.
  ///
  /// - Parameter settings: The filters of the drive, or nil for none.
  func limitedToUsableBand(settings: TransducerSettings?) -> TransducerProfile {
    guard isLimitedToUsableBand else { return self }
    var mappedProfile = self
    mappedProfile.frequency = limitedToUsableBand(frequency, settings: settings)
    mappedProfile.transient.frequency =
      transient.frequency == frequency
      ? mappedProfile.frequency : limitedToUsableBand(transient.frequency, settings: settings)
    return mappedProfile
  }

  private func limitedToUsableBand(
    _ mapping: FrequencyMapping, settings: TransducerSettings?
  ) -> FrequencyMapping {
    var bandMapping = mapping
    if let transducerBandHertz = hardware?.bandHertz {
      bandMapping.lowHertz = min(
        max(bandMapping.lowHertz, transducerBandHertz.lowerBound), transducerBandHertz.upperBound)
      bandMapping.highHertz = min(
        max(bandMapping.highHertz, transducerBandHertz.lowerBound), transducerBandHertz.upperBound)
    }
    guard hasKnownResponse, bandMapping.highHertz > bandMapping.lowHertz else { return bandMapping }
    let bandWidthOctaves = logarithm2(bandMapping.highHertz / bandMapping.lowHertz)
    let searchFrequenciesHertz = (0..<Self.bandSearchPointCount).map { index in
      bandMapping.lowHertz
        * raised(2, to: bandWidthOctaves * Double(index) / Double(Self.bandSearchPointCount - 1))
    }
    let searchLevelsDecibels = searchFrequenciesHertz.map {
      sensationDecibels(atHertz: $0, drive: settings)
    }
    guard let maximumLevelDecibels = searchLevelsDecibels.max(),
      let bestSearchIndex = searchLevelsDecibels.firstIndex(of: maximumLevelDecibels)
    else {
      return bandMapping
    }
    let minimumUsableDecibels = maximumLevelDecibels - driveSettings.usableBandLevelDropDecibels
    // The negated comparisons also end the band at NaN.
    if let lastUnreachableIndexBelow = searchLevelsDecibels[..<bestSearchIndex].lastIndex(where: {
      !($0 >= minimumUsableDecibels)
    }) {
      bandMapping.lowHertz = searchFrequenciesHertz[lastUnreachableIndexBelow + 1]
    }
    if let firstUnreachableIndexAbove = searchLevelsDecibels[bestSearchIndex...].firstIndex(where: {
      !($0 >= minimumUsableDecibels)
    }) {
      bandMapping.highHertz = searchFrequenciesHertz[firstUnreachableIndexAbove - 1]
    }
    return bandMapping
  }

  /// The tolerance of the useful band's minimum level, in decibels.
  private static let usableBandToleranceDecibels = 0.25

  /// Returns the gains of the amplitude at evenly spaced points of sharpness, each at most 1.
  ///
  /// The gains make equal intensity feel equal or, if only the drive is flattened, equally strong.
  /// The frequency that needs the most drive has a gain of 1. If the profile requests neither, all
  /// are 1. On hardware with a known response, no gain is lower than the reach of the drive, which
  /// suffices for band-mapped frequencies.
  ///
  /// - Parameters:
  ///   - count: The number of points from sharpness 0 to 1, at least 2.
  ///   - settings: The filters of the drive, or nil for none.
  public func levelsOverSharpness(count: Int, drive settings: TransducerSettings?) -> [Double] {
    guard hasEqualSensation || isEqualized else { return Array(repeating: 1, count: count) }
    // The level of full intensity above the threshold matters only if exponents differ.
    let fullIntensityLevel =
      hasConvergingContours ? fullIntensityAmplitude * (fullScaleAccelerationInG ?? 1) : 1
    let sharpnessHertz = (0..<count).map { index in
      frequency.hertz(atSharpness: Double(index) / Double(count - 1))
    }
    let levelsDecibels = sharpnessHertz.map {
      sensationDecibels(atHertz: $0, drive: settings) + decibels(ofAmplitude: fullIntensityLevel)
    }
    let sensationExponents = sharpnessHertz.map { sensationExponent(atHertz: $0) }
    let sensationMagnitudes = zip(levelsDecibels, sensationExponents).map {
      SensationGrowth.sensation(ofDecibels: $0, exponent: $1)
    }
    let minimumSensation = sensationMagnitudes.min() ?? 0
    let minimumDecibels = minimumLevelDecibels(
      levels: levelsDecibels, exponents: sensationExponents)
    return zip(levelsDecibels, sensationExponents).map { level, exponent in
      let target = SensationGrowth.decibels(ofSensation: minimumSensation, exponent: exponent)
      return raised(10, to: max(minimumDecibels, target - level) / 20)
    }
  }

  private func minimumLevelDecibels(levels: [Double], exponents: [Double]) -> Double {
    // The contribution of the exponents alone to the attenuation of the strongest level.
    let exponentRatio = (exponents.min() ?? 1) / (exponents.max() ?? 1)
    let contourDecibels = max(0, levels.max() ?? 0) * (1 - exponentRatio)
    guard hasKnownResponse else { return -Double.infinity }
    // The level between two points of the table is slightly lower than at the points.
    return
      -(driveSettings.usableBandLevelDropDecibels + Self.usableBandToleranceDecibels
      + contourDecibels)
  }

  /// The default perception thresholds for a profile without its own curve.
  ///
  /// They are in decibels relative to 1 g.
  ///
  /// The values are for a device held in the hand. Source: Android 16,
  /// `BasicToPwleSegmentAdapter.java` in the platform's vibrator service, 41 points.
  public static let defaultPerceptionThresholds: [Threshold] = [
    (0.4, -97.81), (2, -69.86), (3, -62.81), (4, -58.81), (5, -56.69), (6, -54.77), (7.2, -52.85),
    (8, -51.77), (8.64, -50.84), (10, -48.9), (10.37, -48.52), (12.44, -46.5), (14.93, -44.43),
    (15, -44.35), (17.92, -41.96), (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93),
    (30, -34.31), (35, -33.13), (40, -32.81), (50, -31.94), (60, -31.77), (70, -31.59),
    (72, -31.55), (80, -31.77), (86.4, -31.94), (90, -31.73), (100, -31.9), (103.68, -31.77),
    (124.42, -31.7), (149.3, -31.38), (150, -31.35), (179.16, -31.02), (200, -30.86),
    (215, -30.35), (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
  ].map { (hertz: Double, decibels: Double) in
    Threshold(hertz: hertz, accelerationDecibelsRelativeToG: decibels)
  }
}

extension TransducerHardware {
  /// The maximum RMS difference between measured points and the model, in decibels.
  ///
  /// Up to this difference, the points correct the model.
  private static let maximumModelDeviationDecibels = 3.0

  /// The differences between the measured response points and the model, in decibels.
  ///
  /// The array is empty if the points are too sparse or contradict the model.
  ///
  /// Linear interpolation between points errs by several decibels within a resonance that is
  /// narrower than their distance. The points therefore count only if none within half an octave of
  /// the resonance are further apart than half of its bandwidth.
  fileprivate var responseCorrectionPoints: [(hertz: Double, decibels: Double)] {
    guard let model, responsePoints.count > 1 else { return [] }
    let halfOctaveRatio = 2.0.squareRoot()
    let resonanceVicinityHertz =
      (model.resonanceHertz / halfOctaveRatio)...(model.resonanceHertz * halfOctaveRatio)
    guard responsePoints[0].hertz <= resonanceVicinityHertz.lowerBound,
      responsePoints[responsePoints.count - 1].hertz >= resonanceVicinityHertz.upperBound
    else { return [] }
    let pointsNearResonance = zip(responsePoints, responsePoints.dropFirst()).filter {
      $1.hertz > resonanceVicinityHertz.lowerBound && $0.hertz < resonanceVicinityHertz.upperBound
    }
    let maximumPointSpacingRatio =
      pointsNearResonance.map { $1.hertz / $0.hertz - 1 }.max() ?? .infinity
    guard maximumPointSpacingRatio <= 1 / (2 * model.qualityFactor) else { return [] }
    let modelDifferencesDecibels = responsePoints.map {
      ($0.hertz, $0.relativeAccelerationDecibels - model.accelerationDecibels(atHertz: $0.hertz))
    }
    let meanDifferenceDecibels =
      modelDifferencesDecibels.reduce(0) { $0 + $1.1 } / Double(modelDifferencesDecibels.count)
    let deviationSquareSum = modelDifferencesDecibels.reduce(0) {
      $0 + ($1.1 - meanDifferenceDecibels) * ($1.1 - meanDifferenceDecibels)
    }
    guard
      deviationSquareSum <= Self.maximumModelDeviationDecibels * Self.maximumModelDeviationDecibels
        * Double(modelDifferencesDecibels.count)
    else { return [] }
    return modelDifferencesDecibels.map { ($0.0, $0.1 - meanDifferenceDecibels) }
  }
}

extension TransducerModel {
  /// Returns the acceleration of the hardware for a steady full-scale sine, in decibels.
  func accelerationDecibels(atHertz hertz: Double) -> Double {
    decibels(ofAmplitude: max(1e-15, accelerationMagnitude(atHertz: hertz)))
  }
}
