internal import CMath

/// The computation of the levels of bursts on hardware, which differ from those of steady sines.
///
/// An equalizer drives the onset of a burst harder than its continuation and brakes at its end. The
/// levels therefore follow from a simulation of bursts of full intensity:
///
/// 1. The burst at each sharpness is filtered by the drive, and its peak acceleration and excursion
///    are simulated.
/// 2. In the middle of the scale, the burst moves every transducer within the uncertainty at least
///    as far as the burst without the equalizer.
/// 3. Bursts at other sharpnesses feel equally strong.
/// 4. The amplifier and the excursion limit bound every level.
extension TransducerProfile {
  /// The maximum drive magnitude of a burst: the output ceiling, minus the error of simulating at a
  /// low sample rate.
  private static let maximumBurstDriveMagnitude = 0.87
  /// The maximum excursion of a burst without protection, as a fraction of the excursion limit.
  private static let maximumBurstExcursionFraction = 0.66
  /// The level increase of a burst in the middle of the sharpness scale, in decibels.
  ///
  /// The increase is relative to the level that matches the burst without an equalizer.
  private static let burstBoostDecibels = 0.5
  /// The number of frames per cycle of the highest simulated frequency.
  ///
  /// A low sample rate may not suffice for this number.
  private static let simulatedFramesPerCycle = 64.0
  /// The number of cycles of the resonance that are simulated after a burst. The peak occurs before
  /// they end.
  private static let trailingCycleCount = 2.0

  /// The drive samples of a burst after the filters of the transducer.
  private struct FilteredBurst {
    var samples: [Double]
    var rate: Double

    var peakMagnitude: Double { samples.reduce(0) { max($0, abs($1)) } }
  }

  /// The results of simulating a burst at a sharpness.
  private struct SimulatedBurst {
    var filteredBurst: FilteredBurst
    /// The level of a burst that reaches the excursion limit.
    var excursionLimitedAmplitude: Double
    /// The relative level of equally strong bursts.
    var equalSensationAmplitude: Double
    var sensationExponent: Double
  }

  /// Returns the gains of bursts at evenly spaced sharpness values.
  ///
  /// The frequencies of the profile are limited to its useful band.
  ///
  /// The peak acceleration determines the sensation and, with temporal summation, also the
  /// duration. Without an equalizer, the steady levels apply.
  ///
  /// - Parameters:
  ///   - steadyLevels: The gains of steady sines.
  ///   - requestedShape: The burst before band mapping.
  ///   - settings: The filters of the drive, or nil for none.
  func burstLevels(
    steadyLevels: [Double], requestedShape: TransientShape, drive settings: TransducerSettings?
  ) -> [Double] {
    let thresholdShiftsDecibels = burstThresholdShiftsDecibels(count: steadyLevels.count)
    guard let settings, settings.equalizer != nil, let model = settings.protectionModel,
      transient.fullIntensityAmplitude > 0,
      steadyLevels.count > 2
    else {
      // The shortest bursts keep their level, and longer ones are attenuated to match them.
      let maximumShift = thresholdShiftsDecibels.max() ?? 0
      return zip(steadyLevels, thresholdShiftsDecibels).map {
        $0 * raised(10, to: ($1 - maximumShift) / 20)
      }
    }
    let simulatedBursts = steadyLevels.indices.map { index in
      simulatedBurst(
        atSharpness: Double(index) / Double(steadyLevels.count - 1), model, settings,
        thresholdShift: thresholdShiftsDecibels[index], steadyLevel: steadyLevels[index])
    }
    let centerBurst = simulatedBursts[steadyLevels.count / 2]
    let requestedBurst = Self.filteredBurst(
      requestedShape, atSharpness: 0.5, model, nil, maximumRate: settings.rate)
    let centerRequiredLevel = Self.levelMatchingAcceleration(
      centerBurst.filteredBurst, toMatch: requestedBurst,
      models: settings.uncertainty.extremeModels(of: model))
    let centerDriveLevel = max(
      centerRequiredLevel * raised(10, to: Self.burstBoostDecibels / 20),
      steadyLevels[steadyLevels.count / 2])
    let driveLevelScale = centerDriveLevel / centerBurst.equalSensationAmplitude
    // The level of the central burst above the threshold determines the sensation of the others.
    let centerDecibels = decibels(ofAmplitude: driveLevelScale * (fullScaleAccelerationInG ?? 1))
    let targetSensation = SensationGrowth.sensation(
      ofDecibels: centerDecibels, exponent: centerBurst.sensationExponent)
    return simulatedBursts.map { burst in
      let target = SensationGrowth.decibels(
        ofSensation: targetSensation, exponent: burst.sensationExponent)
      var equalLevel = burst.equalSensationAmplitude
      if hasConvergingContours {
        equalLevel *= raised(10, to: (target - centerDecibels) / 20)
      }
      let maximumLevel =
        Self.maximumBurstDriveMagnitude / max(burst.filteredBurst.peakMagnitude, 1e-9)
      return min(driveLevelScale * equalLevel, burst.excursionLimitedAmplitude, maximumLevel)
    }
  }

  /// Returns the increases of the perception threshold for short bursts, in decibels.
  private func burstThresholdShiftsDecibels(count: Int) -> [Double] {
    (0..<count).map { index in
      guard hasTemporalSummation else { return 0 }
      let sharpness = Double(index) / Double(count - 1)
      return TemporalSummation.thresholdShiftDecibels(
        seconds: transient.seconds(atSharpness: sharpness),
        hertz: transient.frequency.hertz(atSharpness: sharpness))
    }
  }

  private func simulatedBurst(
    atSharpness sharpness: Double, _ model: TransducerModel, _ settings: TransducerSettings,
    thresholdShift: Double, steadyLevel: Double
  ) -> SimulatedBurst {
    let burstHertz = transient.frequency.hertz(atSharpness: sharpness)
    let driveBurst = Self.filteredBurst(
      transient, atSharpness: sharpness, model, settings, maximumRate: settings.rate)
    let burstPeakAcceleration = Self.peakAcceleration(driveBurst, of: model)
    var thresholdAmplitude = 1.0
    if hasEqualSensation {
      thresholdAmplitude = raised(
        10, to: (perceptionThresholdDecibels(atHertz: burstHertz) + thresholdShift) / 20)
    }
    var excursionDriveLevel = Double.infinity
    if let excursionLimitRatio = settings.limits.excursionLimitToFullScaleRatio {
      let excursion = Self.peakExcursion(
        driveBurst, model, settings.uncertainty.excursionUncertainty)
      excursionDriveLevel =
        Self.maximumBurstExcursionFraction * excursionLimitRatio / max(excursion, 1e-9)
    }
    return SimulatedBurst(
      filteredBurst: driveBurst, excursionLimitedAmplitude: max(excursionDriveLevel, steadyLevel),
      equalSensationAmplitude: thresholdAmplitude / max(burstPeakAcceleration, 1e-9),
      sensationExponent: sensationExponent(atHertz: burstHertz))
  }

  /// Returns the level at which a drive accelerates all models at least as much as another drive.
  private static func levelMatchingAcceleration(
    _ drive: FilteredBurst, toMatch requested: FilteredBurst, models: [TransducerModel]
  ) -> Double {
    let requiredLevels = models.map { model in
      peakAcceleration(requested, of: model) / max(peakAcceleration(drive, of: model), 1e-9)
    }
    return requiredLevels.max() ?? 1
  }

  /// Returns the drive samples of a burst, filtered for the transducer if settings are given.
  private static func filteredBurst(
    _ burst: TransientShape, atSharpness sharpness: Double, _ model: TransducerModel,
    _ settings: TransducerSettings?, maximumRate: Double
  ) -> FilteredBurst {
    let maximumFrequencyRatio =
      burst.partials.map { $0.frequencyToBurstRatio * max(1, $0.endToStartFrequencyRatio) }.max()
      ?? 1
    let burstHertz = burst.frequency.hertz(atSharpness: sharpness)
    let simulationRate = min(
      maximumRate,
      simulatedFramesPerCycle * max(maximumFrequencyRatio * burstHertz, model.resonanceHertz)
    )
    var burstSamples = burst.samples(atSharpness: sharpness, rate: simulationRate)
    burstSamples += [Double](
      repeating: 0, count: Int(trailingCycleCount * simulationRate / model.resonanceHertz))
    guard let settings else { return FilteredBurst(samples: burstSamples, rate: simulationRate) }
    var driveFilters = [
      Biquad(highPassHertz: min(settings.highPassHertz, simulationRate / 4), rate: simulationRate)
    ]
    if let equalizer = settings.equalizer {
      driveFilters.append(equalizer.filter(rate: simulationRate))
    }
    for filter in driveFilters {
      var state = Biquad.State()
      for index in burstSamples.indices {
        burstSamples[index] = filter.process(burstSamples[index], state: &state)
      }
    }
    return FilteredBurst(samples: burstSamples, rate: simulationRate)
  }

  private static func peakAcceleration(_ drive: FilteredBurst, of model: TransducerModel) -> Double
  {
    var peakMagnitude = 0.0
    simulateMotion(drive, model) { sample, motion in
      // The equation of motion: the drive minus the forces of the damping and the spring.
      peakMagnitude = max(peakMagnitude, abs((sample - motion.y) / model.qualityFactor - motion.x))
    }
    return peakMagnitude
  }

  private static func peakExcursion(
    _ drive: FilteredBurst, _ model: TransducerModel, _ uncertainty: TransducerUncertainty
  ) -> Double {
    var peakMagnitude = 0.0
    for factor in [
      1 - uncertainty.resonanceDeviationFraction, 1, 1 + uncertainty.resonanceDeviationFraction,
    ] {
      // With a known level at rest, the transducer with the highest quality factor moves furthest.
      let worst = TransducerModel(
        resonanceHertz: model.resonanceHertz * factor,
        qualityFactor: model.qualityFactor * uncertainty.trueToStatedQualityFactorRatio)
      simulateMotion(drive, worst) {
        peakMagnitude = max(peakMagnitude, uncertainty.trueToStatedQualityFactorRatio * abs($1.x))
      }
    }
    return peakMagnitude
  }

  /// Drives a model from rest, and calls a function with each sample.
  ///
  /// The arguments include the displacement and the velocity before the sample.
  private static func simulateMotion(
    _ drive: FilteredBurst, _ model: TransducerModel, body: (Double, SIMD2<Double>) -> Void
  ) {
    let frameTransition = MotionStateTransition(model, seconds: 1 / drive.rate)
    var motionState = SIMD2<Double>()
    for sample in drive.samples {
      body(sample, motionState)
      motionState =
        frameTransition.nextMotion(after: motionState) + frameTransition.driveColumn * sample
    }
  }
}

extension TransientShape {
  /// Returns the samples of the burst that a transient of a sharpness produces.
  fileprivate func samples(atSharpness sharpness: Double, rate: Double) -> [Double] {
    let durationSeconds = seconds(atSharpness: sharpness)
    let maximumDurationRatio = partials.map { $0.durationToBurstRatio }.max() ?? 1
    let burstFrameCount = max(4, Int((durationSeconds * maximumDurationRatio * rate).rounded()))
    var burstSamples = [Double](repeating: 0, count: burstFrameCount)
    for partial in partials {
      add(partial, duration: durationSeconds, atSharpness: sharpness, rate: rate, to: &burstSamples)
    }
    return burstSamples
  }

  private func add(
    _ partial: Partial, duration: Double, atSharpness sharpness: Double, rate: Double,
    to samples: inout [Double]
  ) {
    let burstHertz = frequency.hertz(atSharpness: sharpness)
    let squareWaveFraction =
      squareWaveFractions.lowerBound
      + (squareWaveFractions.upperBound - squareWaveFractions.lowerBound) * sharpness
    let partialFrameCount = max(4, Int((duration * partial.durationToBurstRatio * rate).rounded()))
    let eighthLengthFrames = max(1, (partialFrameCount + 4) / 8)
    let riseFrameCount = min(
      attackSeconds.map { max(1, Int(($0 * rate).rounded())) } ?? eighthLengthFrames,
      partialFrameCount / 2)
    let fallFrameCount = min(
      releaseSeconds.map { max(1, Int(($0 * rate).rounded())) } ?? eighthLengthFrames,
      partialFrameCount - riseFrameCount)
    for frame in 0..<min(partialFrameCount, samples.count) {
      let time = Double(frame) / rate
      let edge = min(
        1, Double(frame) / Double(riseFrameCount),
        Double(partialFrameCount - frame) / Double(fallFrameCount))
      let cycles: Double
      if partial.endToStartFrequencyRatio == 1 {
        // A steady sine crosses zero in the middle of the burst.
        cycles =
          burstHertz * partial.frequencyToBurstRatio * (time - Double(partialFrameCount) / rate / 2)
      } else {
        let meanGlide =
          1 + (partial.endToStartFrequencyRatio - 1) * Double(frame) / Double(2 * partialFrameCount)
        cycles = burstHertz * partial.frequencyToBurstRatio * time * meanGlide
      }
      let sine = sin(2 * Double.pi * cycles)
      let wave = sine + squareWaveFraction * ((sine < 0 ? -1 : 1) - sine)
      samples[frame] += fullIntensityAmplitude * partial.amplitudeToBurstRatio * edge * wave
    }
  }
}

extension TransducerUncertainty {
  /// Returns 15 transducer models: five resonances across the uncertainty, each with the minimum,
  /// the nominal, and the maximum quality factor.
  fileprivate func extremeModels(of model: TransducerModel) -> [TransducerModel] {
    let resonanceFactors = [-1, -0.5, 0, 0.5, 1].map { 1 + $0 * resonanceDeviationFraction }
    let qualityFactors = [1 / trueToStatedQualityFactorRatio, 1, trueToStatedQualityFactorRatio]
    return resonanceFactors.flatMap { resonanceFactor in
      qualityFactors.map { factor in
        TransducerModel(
          resonanceHertz: model.resonanceHertz * resonanceFactor,
          qualityFactor: model.qualityFactor * factor)
      }
    }
  }
}
