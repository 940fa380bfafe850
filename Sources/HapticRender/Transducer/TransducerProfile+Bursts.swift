internal import CMath

/// The levels of bursts on hardware: what a burst of some cycles needs is not what a steady sine needs.
extension TransducerProfile {
  /// What of full scale a burst's drive may reach: the ceiling, less what a low rate of simulation leaves out.
  private static let greatestDrive = 0.87
  /// What of the excursion limit a burst may reach: below it protection leaves the drive alone.
  private static let greatestStroke = 0.66
  /// By how many decibels a burst in the middle of the scale is stronger than on bare hardware.
  private static let advantage = 0.5
  /// Frames that are simulated in a cycle of the highest frequency, where the rate has as many.
  private static let framesPerCycle = 64.0
  /// Cycles of the resonance that are simulated behind a burst; the greatest movement comes before.
  private static let cyclesBehind = 2.0

  /// The factor on the amplitude of bursts over sharpness, at evenly spaced points of this band-mapped profile.
  ///
  /// Behind a filter against the resonance a burst drives the onset harder than it goes on, and brakes at its end. So
  /// bursts of full intensity are simulated on the hardware: they are felt equally over sharpness, and in the middle of
  /// the scale move any transducer within the stated doubt as far as the burst would without the filter, as far
  /// as amplifier and excursion limit can. The greatest movement decides, and with temporal summation the length of a
  /// burst. Without a filter the steady levels hold.
  ///
  /// - Parameters:
  ///   - levels: The factors for steady events.
  ///   - asked: The bursts before the profile was band-mapped.
  ///   - settings: The filters between the plan and the hardware.
  func burstLevels(like levels: [Double], asked: TransientShape, drive settings: TransducerSettings?) -> [Double] {
    let top = Double(levels.count - 1)
    let burst = transient
    let shifts = levels.indices.map { index in
      hasTemporalSummation
        ? TemporalSummation.decibels(
          seconds: burst.seconds(atSharpness: Double(index) / top),
          hertz: burst.frequency.hertz(atSharpness: Double(index) / top)) : 0
    }
    guard let settings, settings.equaliser != nil, let model = settings.model, transient.level > 0, levels.count > 2
    else {
      // The shortest stay as they are, and longer ones come down to them.
      let most = shifts.max() ?? 0
      return zip(levels, shifts).map { $0 * raised(10, to: ($1 - most) / 20) }
    }
    let bursts = levels.indices.map { index in
      let hertz = burst.frequency.hertz(atSharpness: Double(index) / top)
      let drive = Self.drive(burst, atSharpness: Double(index) / top, model, settings, limit: settings.rate)
      let moved = Self.peak(drive.samples, of: model, rate: drive.rate)
      let felt = hasEqualSensation ? raised(10, to: (threshold(atHertz: hertz) + shifts[index]) / 20) : 1
      let stroke = settings.limits.excursion.map { limit in
        Self.greatestStroke * limit
          / max(Self.stroke(drive.samples, model, settings.uncertainty.ofTravel, rate: drive.rate), 1e-9)
      }
      return (
        drive: drive, stroke: max(stroke ?? .infinity, levels[index]), even: felt / max(moved, 1e-9),
        growth: growth(atHertz: hertz), greatest: drive.samples.reduce(0) { max($0, abs($1)) }
      )
    }
    let middle = levels.count / 2
    let bare = Self.drive(asked, atSharpness: 0.5, model, nil, limit: settings.rate)
    let own = bursts[middle].drive
    let needed =
      settings.uncertainty.corners(of: model).map {
        Self.peak(bare.samples, of: $0, rate: bare.rate) / max(Self.peak(own.samples, of: $0, rate: own.rate), 1e-9)
      }.max() ?? 1
    let wanted = max(needed * raised(10, to: Self.advantage / 20), levels[middle])
    let scale = wanted / bursts[middle].even
    // How far above the threshold the one in the middle is felt, and how far others must be to be felt alike.
    let felt = decibels(ofAmplitude: scale * (fullScaleAcceleration ?? 1))
    let sensation = SensationGrowth.sensation(ofDecibels: felt, exponent: bursts[middle].growth)
    return bursts.map { burst in
      let alike = SensationGrowth.decibels(ofSensation: sensation, exponent: burst.growth)
      let even = hasConvergingContours ? burst.even * raised(10, to: (alike - felt) / 20) : burst.even
      return min(scale * even, burst.stroke, Self.greatestDrive / max(burst.greatest, 1e-9))
    }
  }

  private static func drive(
    _ burst: TransientShape, atSharpness sharpness: Double, _ model: TransducerModel, _ settings: TransducerSettings?,
    limit: Double
  ) -> (samples: [Double], rate: Double) {
    let highest = burst.partials.map { $0.ratio * max(1, $0.glide) }.max() ?? 1
    let hertz = burst.frequency.hertz(atSharpness: sharpness)
    let rate = min(limit, framesPerCycle * max(highest * hertz, model.resonance))
    var samples = burst.samples(atSharpness: sharpness, rate: rate)
    samples += [Double](repeating: 0, count: Int(cyclesBehind * rate / model.resonance))
    guard let settings else { return (samples, rate) }
    let filters =
      [Biquad(highPassHertz: min(settings.highPass, rate / 4), rate: rate)]
      + (settings.equaliser.map { [$0.filter(rate: rate)] } ?? [])
    for filter in filters {
      var memory = Biquad.Memory()
      for index in samples.indices { samples[index] = filter.next(samples[index], &memory) }
    }
    return (samples, rate)
  }

  private static func peak(_ drive: [Double], of model: TransducerModel, rate: Double) -> Double {
    var peak = 0.0
    follow(drive, model, rate: rate) { sample, motion in
      // By the equation of motion: what the drive, the spring and the damping leave.
      peak = max(peak, abs((sample - motion.y) / model.qualityFactor - motion.x))
    }
    return peak
  }

  private static func stroke(_ drive: [Double], _ model: TransducerModel, _ doubt: TransducerUncertainty, rate: Double)
    -> Double
  {
    var peak = 0.0
    for moved in [1 - doubt.resonance, 1, 1 + doubt.resonance] {
      // With the level at rest known, the longest ringing one moves furthest.
      let worst = TransducerModel(
        resonance: model.resonance * moved, qualityFactor: model.qualityFactor * doubt.qualityFactor)
      follow(drive, worst, rate: rate) { peak = max(peak, doubt.qualityFactor * abs($1.x)) }
    }
    return peak
  }

  /// Drives a model from rest, and hands over each sample with the displacement and velocity in front of it.
  private static func follow(
    _ drive: [Double], _ model: TransducerModel, rate: Double, each: (Double, SIMD2<Double>) -> Void
  ) {
    let step = MotionStateTransition(model, seconds: 1 / rate)
    var motion = SIMD2<Double>()
    for sample in drive {
      each(sample, motion)
      motion = step.next(motion) + step.drive * sample
    }
  }
}

extension TransientShape {
  fileprivate func samples(atSharpness sharpness: Double, rate: Double) -> [Double] {
    let hertz = frequency.hertz(atSharpness: sharpness)
    let whole = seconds(atSharpness: sharpness)
    let longest = partials.map { $0.durationRatio }.max() ?? 1
    var samples = [Double](repeating: 0, count: max(4, Int((whole * longest * rate).rounded())))
    let squareness = squareness.lowerBound + (squareness.upperBound - squareness.lowerBound) * sharpness
    for partial in partials {
      let length = max(4, Int((whole * partial.durationRatio * rate).rounded()))
      let eighth = max(1, (length + 4) / 8)
      let rise = min(attack.map { max(1, Int(($0 * rate).rounded())) } ?? eighth, length / 2)
      let fall = min(release.map { max(1, Int(($0 * rate).rounded())) } ?? eighth, length - rise)
      for frame in 0..<min(length, samples.count) {
        let time = Double(frame) / rate
        let edge = min(1, Double(frame) / Double(rise), Double(length - frame) / Double(fall))
        // A steady sine passes zero in the middle.
        let cycles =
          partial.glide == 1
          ? hertz * partial.ratio * (time - Double(length) / rate / 2)
          : hertz * partial.ratio * time * (1 + (partial.glide - 1) * Double(frame) / Double(2 * length))
        let sine = sin(2 * Double.pi * cycles)
        let wave = sine + squareness * ((sine < 0 ? -1 : 1) - sine)
        samples[frame] += level * partial.gain * edge * wave
      }
    }
    return samples
  }
}

extension TransducerUncertainty {
  fileprivate func corners(of model: TransducerModel) -> [TransducerModel] {
    [-1, -0.5, 0, 0.5, 1].map { 1 + $0 * resonance }.flatMap { moved in
      [1 / qualityFactor, 1, qualityFactor].map {
        TransducerModel(resonance: model.resonance * moved, qualityFactor: model.qualityFactor * $0)
      }
    }
  }
}
