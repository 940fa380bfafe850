internal import SignalAnalysis

/// The component of a vibration that lasts longer than a burst: a tone and its overtones.
///
/// 1. The frequency is tracked (`ToneTrack`), and the signal is demodulated: a tone of that
///    frequency becomes a constant.
/// 2. A moving median of the baseband ignores everything shorter than half of its length, in any
///    phase, and keeps edges.
/// 3. The result is modulated again. With overtones, each partial is measured twice as the residual
///    of all others.
struct SustainedTone {
  /// The tone demodulated to baseband, smoothed by a median.
  private(set) var demodulatedTone: [ComplexNumber]
  /// The frequency track for demodulating the tone.
  var frequencyTrack: ToneTrack
  /// The samples of the tone with its overtones.
  private(set) var samples: [Float]
  /// The amplitude of the tone at each sample.
  private(set) var toneAmplitudes: [Float]

  /// Measures the sustained tone of a signal.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - medianLength: The length of the median, in samples.
  ///   - dictionary: The dictionary of the profile, with its overtones.
  ///   - timeScale: The factor by which a jump of the frequency must last longer than by default.
  init(
    of samples: [Float], medianLength: Int, dictionary: AtomDictionary, timeScale: Double = 1
  ) {
    let paddingSampleCount = Int(0.1 * dictionary.sampleRate)
    let analyticSignal = AnalyticSignal(of: samples, padding: paddingSampleCount)
    let toneTrack = ToneTrack(
      of: samples, signal: analyticSignal, sampleRate: dictionary.sampleRate,
      dictionary: dictionary,
      timeScale: timeScale)

    func smoothedBaseband(_ signal: AnalyticSignal, ratio: Double) -> [ComplexNumber] {
      let baseband = toneTrack.demodulated(signal, ratio: ratio)
      let real = SampleMath.movingMedian(of: baseband.map { $0.real }, over: medianLength, step: 2)
      let imaginary = SampleMath.movingMedian(
        of: baseband.map { $0.imaginary }, over: medianLength, step: 2)
      return zip(real, imaginary).map { ComplexNumber($0, $1) }
    }

    self.frequencyTrack = toneTrack
    demodulatedTone = smoothedBaseband(analyticSignal, ratio: 1)
    let partialRatios = [1] + dictionary.overtoneFrequencyRatios
    let silentSamples = [Float](repeating: 0, count: samples.count)
    var partialSamples =
      [toneTrack.modulated(demodulatedTone)]
      + dictionary.overtoneFrequencyRatios.map { _ in silentSamples }
    let passCount = dictionary.overtoneFrequencyRatios.isEmpty ? 0 : 2
    for pass in 0..<passCount {
      for (index, ratio) in partialRatios.enumerated() where pass > 0 || index > 0 {
        var residual = samples
        for partial in partialSamples.indices where partial != index {
          for sample in residual.indices {
            residual[sample] -= partialSamples[partial][sample]
          }
        }
        let partialBaseband = smoothedBaseband(
          AnalyticSignal(of: residual, padding: paddingSampleCount), ratio: ratio)
        partialSamples[index] = toneTrack.modulated(partialBaseband, ratio: ratio)
        if index == 0 {
          demodulatedTone = partialBaseband
        }
      }
    }
    self.samples = partialSamples.dropFirst().reduce(partialSamples[0]) { sum, partial in
      zip(sum, partial).map { $0 + $1 }
    }
    toneAmplitudes = demodulatedTone.map { $0.power.squareRoot() }
  }

  /// Attenuates the samples of the tone during bursts, as the profile does.
  mutating func duck(during bursts: [FoundBurst], _ dictionary: AtomDictionary) {
    guard dictionary.duckingGain < 1 else { return }
    var isDucked = [Bool](repeating: false, count: samples.count)
    for burst in bursts {
      for index in dictionary.duckedSamples(during: burst).clamped(to: samples.indices)
      where !isDucked[index] {
        isDucked[index] = true
        samples[index] *= dictionary.duckingGain
      }
    }
  }

  /// Sets the tone to zero at the marked samples.
  mutating func silenceSamples(where isSilent: [Bool]) {
    for index in demodulatedTone.indices where isSilent[index] {
      demodulatedTone[index] = ComplexNumber()
      samples[index] = 0
      toneAmplitudes[index] = 0
    }
  }
}
