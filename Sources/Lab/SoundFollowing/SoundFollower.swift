internal import CMath
import SignalAnalysis

/// Converts sound to vibration in real time.
///
/// ```
/// sound → high-pass 20 Hz ┬→ low-pass ────────────────────┬→ × gate × level control → vibration
///                         ├→ transient detector → bursts ─┤
///                         ├→ rumble level → tone ─────────┘
///                         └→ speech gate → gate gain
/// ```
///
/// The style selects the paths. Filters run at the sample rate. Detectors, the gate, and the level
/// control run at control steps of half a millisecond, and gains are interpolated between them.
///
/// Every stage is causal: 2 to 5 ms pass from the start of a transient until its vibration reaches
/// a tenth of its peak.
///
/// - Note: A follower uses less than 1 % of a core at 48 kHz. It belongs to one thread, and it
///   allocates memory, so don't call it from a realtime thread.
public struct SoundFollower {
  /// The options of the conversion from sound to vibration.
  public let options: FollowingOptions
  /// The RMS level of the latest half millisecond of input; 1 for a full-scale square wave.
  public private(set) var inputLevel = 0.0
  /// The peak amplitude of the latest block of interleaved input.
  public private(set) var blockPeakMagnitude = Float(0)
  /// The gain of the speech gate, 0...1.
  public private(set) var speechGateGain = 1.0

  /// The approximate rate of control steps, in hertz.
  private static let approximateControlStepRate = 2_000.0
  /// The strength of a vibration burst relative to the level of the transient that starts it.
  private static let burstToTransientGain = 3.0
  /// The additional gain of vibration bursts in the style `full`.
  private static let additionalBurstGainInFullStyle = 0.6

  private let sampleRate: Double
  private let framesPerControlStep: Int
  private var frameIndexInControlStep = 0
  private var inputEnergy = 0.0
  private var outputEnergy = 0.0
  private var inputHighPass: BiquadCascade
  private var inputLowPass: BiquadCascade
  private var speechGate: SpeechGate
  private var automaticLevelControl: AutomaticLevelControl
  private var automaticLevelGain = 1.0
  private var rumbleBandMeter: BandLevelMeter
  private var rumbleFollower: EnvelopeFollower
  private var transientDetector: TransientDetector
  private var burstGenerator: BurstGenerator
  private var androidHapticGenerator: AndroidHapticGenerator
  /// The phase of the rumble tone, in periods.
  private var tonePhasePeriods = 0.0
  private var outputGain = InterpolatedValue()
  private var toneLevel = InterpolatedValue()

  /// A value with linear interpolation between control steps.
  private struct InterpolatedValue {
    /// The value at the previous control step.
    var previousStepValue = 0.0
    /// The value at the next control step.
    var nextStepValue = 0.0

    func value(at fraction: Double) -> Double {
      previousStepValue + (nextStepValue - previousStepValue) * fraction
    }

    mutating func advance(to next: Double) {
      previousStepValue = nextStepValue
      nextStepValue = next
    }
  }

  /// Creates a follower for a sample rate and the options of the conversion.
  ///
  /// - Parameters:
  ///   - options: The conversion of sound to vibration.
  ///   - rate: The sample rate, in hertz: 8,000 or more.
  public init(_ options: FollowingOptions, sampleRate rate: Double) {
    self.options = options
    self.sampleRate = rate
    framesPerControlStep = max(1, Int((rate / Self.approximateControlStepRate).rounded()))
    let controlStepsPerSecond = rate / Double(framesPerControlStep)
    inputHighPass = BiquadCascade(.highPass, order: 2, hertz: 20, rate: rate)
    inputLowPass = BiquadCascade(
      .lowPass, order: 2, hertz: options.bandHertz.upperBound, rate: rate)
    speechGate = SpeechGate(rate: rate, framesPerStep: framesPerControlStep)
    automaticLevelControl = AutomaticLevelControl(controlStepRate: controlStepsPerSecond)
    rumbleBandMeter = BandLevelMeter(
      BiquadCascade(.highPass, order: 1, hertz: 30, rate: rate),
      BiquadCascade(.lowPass, order: 1, hertz: 300, rate: rate))
    rumbleFollower = EnvelopeFollower(attack: 0.004, release: 0.03, rate: controlStepsPerSecond)
    transientDetector = TransientDetector(rate: rate, framesPerStep: framesPerControlStep)
    burstGenerator = BurstGenerator(hertz: Self.centerHertz(of: options.bandHertz), rate: rate)
    androidHapticGenerator = AndroidHapticGenerator(rate: rate)
    if options.keepsVoices {
      outputGain = InterpolatedValue(previousStepValue: 1, nextStepValue: 1)
    }
  }

  private static func centerHertz(of band: ClosedRange<Double>) -> Double {
    (band.lowerBound * band.upperBound).squareRoot()
  }

  /// Returns the vibration for the next samples of a sound, approximately in −1...1.
  public mutating func follow(_ samples: Span<Float>) -> [Float] {
    samples.indices.map { Float(process(samples[$0].isFinite ? Double(samples[$0]) : 0)) }
  }

  /// Returns the vibration for the next samples of a multichannel sound.
  ///
  /// The vibration follows the mean of the channels, and is approximately in −1...1.
  ///
  /// - Parameters:
  ///   - samples: The interleaved samples.
  ///   - channelCount: The number of channels.
  public mutating func follow(interleaved samples: [Float], channelCount: Int) -> [Float] {
    let channelWeight = 1 / Float(max(1, channelCount))
    let frameStartIndices = stride(
      from: 0, to: samples.count - channelCount + 1, by: max(1, channelCount))
    let monoSamples = frameStartIndices.map { start in
      var sum = Float(0)
      for channel in 0..<channelCount {
        sum += samples[start + channel]
      }
      return sum * channelWeight
    }
    blockPeakMagnitude = monoSamples.reduce(0) { max($0, abs($1)) }
    return follow(monoSamples.span)
  }

  private var usesTransients: Bool {
    options.conversionStyle == .impacts || options.conversionStyle == .full
  }

  private mutating func process(_ sample: Double) -> Double {
    inputEnergy += sample * sample
    let stepFraction = Double(frameIndexInControlStep) / Double(framesPerControlStep)
    frameIndexInControlStep += 1
    defer {
      if frameIndexInControlStep == framesPerControlStep {
        finishControlStep()
      }
    }
    if options.conversionStyle == .android { return androidHapticGenerator.process(sample) }
    // Remove DC and frequencies that cannot be felt.
    let highPassedSample = inputHighPass.process(sample)
    if !options.keepsVoices {
      speechGate.addSample(highPassedSample)
    }
    var outputSample = 0.0
    switch options.conversionStyle {
    case .bass:
      outputSample = inputLowPass.process(highPassedSample)
    case .impacts:
      outputSample = burstGenerator.nextSample()
    case .engine:
      outputSample = nextToneSample(at: stepFraction)
    case .full, .android:
      outputSample =
        inputLowPass.process(highPassedSample) + Self.additionalBurstGainInFullStyle
        * burstGenerator.nextSample()
    }
    if options.conversionStyle == .engine {
      rumbleBandMeter.addSample(highPassedSample)
    }
    if usesTransients {
      transientDetector.addSample(highPassedSample)
    }
    outputSample *= outputGain.value(at: stepFraction)
    outputEnergy += outputSample * outputSample
    return outputSample
  }

  /// Returns the next sample of the rumble tone.
  ///
  /// - Parameter fraction: The position within the control step, 0...1.
  private mutating func nextToneSample(at fraction: Double) -> Double {
    tonePhasePeriods += Self.centerHertz(of: options.bandHertz) / sampleRate
    tonePhasePeriods -= tonePhasePeriods.rounded(.down)
    return toneLevel.value(at: fraction) * 2.0.squareRoot() * sin(2 * .pi * tonePhasePeriods)
  }

  /// Updates the gains at the end of a control step, and starts a burst for a transient.
  private mutating func finishControlStep() {
    inputLevel = (inputEnergy / Double(framesPerControlStep)).squareRoot()
    let outputLevel = (outputEnergy / Double(framesPerControlStep)).squareRoot()
    inputEnergy = 0
    outputEnergy = 0
    frameIndexInControlStep = 0
    if options.conversionStyle == .android { return }
    speechGateGain =
      options.keepsVoices
      ? 1 : speechGate.finishControlStep(level: inputLevel, count: framesPerControlStep)
    if !options.keepsLevel {
      // Control the level without the gain that is already applied.
      automaticLevelGain = automaticLevelControl.advanceGain(
        level: outputLevel / automaticLevelGain)
    }
    outputGain.advance(to: speechGateGain * automaticLevelGain)
    if options.conversionStyle == .engine {
      toneLevel.advance(
        to: rumbleFollower.advance(toward: rumbleBandMeter.drainLevel(count: framesPerControlStep)))
    }
    if usesTransients,
      let transientStrength = transientDetector.finishControlStep(count: framesPerControlStep)
    {
      burstGenerator.startBurst(strength: min(1, Self.burstToTransientGain * transientStrength))
    }
  }
}
