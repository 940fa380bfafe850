internal import CMath
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// The inverse of a profile's mapping, which converts a vibration to events.
///
/// It has atoms for a matching pursuit, the waveforms of the profile's transients, and tables from
/// frequency and level to sharpness and intensity.
///
/// 1. A calibration pattern is rendered with the profile: transients of all sharpnesses, transients
///    of several intensities, and tones over both. About 25 seconds are rendered at 8 kHz, so that
///    every mapping of every profile is included: partials, any waveform, protected hardware. The
///    filters of the hardware are inverted, as they are for the sound (`DriveInverse`).
/// 2. Each transient becomes an atom of unit energy with its quadrature.
/// 3. The levels and frequencies of the tones are measured, and inverted by interpolation.
struct AtomDictionary {
  /// The waveform of a transient at full intensity, at the sample rate of the analysis.
  struct Atom {
    var sharpness: Double
    /// The position of the transient's onset, in samples from the start of the atom.
    var onsetInSamples: Double
    /// The range of the atom's samples in `inPhaseSamples` and `quadratureSamples`.
    var sampleRange: Range<Int>
    /// The norm of the rendered waveform, before the atom's samples were divided by it.
    var waveformNorm: Float
    /// The maximum magnitude of the atom.
    var peakMagnitude: Float

    /// The length of the atom, in samples.
    var sampleCount: Int { sampleRange.count }
  }

  /// The measured frequency and amplitudes of tones with the same sharpness.
  private struct ToneResponse {
    /// The frequency of the tone at full intensity, in hertz.
    var hertz: Double
    /// The amplitudes of the tone by increasing intensity.
    var amplitudesByIntensity: [Double]
  }

  /// The sample rate of the analysis, in hertz.
  let sampleRate: Double
  /// The range of the profile's tone frequencies, in hertz.
  private(set) var toneBandHertz = 1.0...1
  /// The factor for all durations of the analysis, 1–3.
  ///
  /// The factor is above 1 for profiles with tones below 80 Hz.
  var analysisDurationFactor: Double { min(3, max(1, 80 / toneBandHertz.lowerBound)) }
  /// The atoms by increasing sharpness.
  ///
  /// For each sharpness, one atom starts on a sample, and one atom starts half a sample later.
  private(set) var atoms: [Atom] = []
  /// The samples of all atoms, each of unit energy.
  private(set) var inPhaseSamples: [Float] = []
  /// The samples of all quadratures, each of unit energy and orthogonal to its atom.
  private(set) var quadratureSamples: [Float] = []
  /// The indices of the atoms for a coarse search.
  ///
  /// They are the atoms of every second sharpness that start on a sample.
  var coarseSearchAtomIndices: StrideTo<Int> { stride(from: 0, to: atoms.count, by: 4) }
  /// The frequency ratios of a tone's other partials to the strongest partial.
  let overtoneFrequencyRatios: [Double]
  /// The maximum length of an atom, in samples.
  private(set) var maximumAtomSampleCount = 0
  /// The gain of continuous events while a transient plays.
  let duckingGain: Float
  /// The inverse of the profile's drive filters, or nil without hardware.
  ///
  /// The atoms and tones are those before the filters.
  let driveInverse: DriveInverse?
  /// The waveform shape and the durations of the profile's transients.
  private let transientShape: TransientShape
  /// A Boolean value that indicates whether frequencies are interpolated on a logarithmic scale.
  private let hasLogarithmicFrequencyScale: Bool
  /// The measured tones by increasing sharpness.
  private var toneResponses: [ToneResponse] = []
  /// The levels of transients relative to the level at full intensity, by increasing intensity.
  private var transientLevelsRelativeToFullIntensity: [Double] = []

  /// The number of sharpness values for measurements of transients without overtones.
  ///
  /// The phase of overtones turns faster, so transients with overtones are measured at more values.
  private static let transientSharpnessCount = 24
  /// The number of sharpness values for measurements of tones.
  private static let toneSharpnessCount = 13
  /// The intensities for measurements of tones and transients.
  private static let probeIntensities = [0.03, 0.08, 0.2, 0.45, 0.75, 1]
  /// The maximum fraction of a transient's energy before the start of its atom.
  private static let energyFractionBeforeStart = Float(0.001)
  /// The maximum fraction of a transient's energy after the end of its atom.
  private static let energyFractionAfterEnd = Float(0.012)
  /// The duration of a transient, in seconds.
  private static let transientSeconds = 0.06
  /// The time of the measurement within a tone, as a fraction of the tone's duration.
  private static let measuredToneFraction = 0.6
  /// The minimum gain of a partial relative to the strongest.
  private static let minimumPartialGainRatio = 0.1

  /// Renders a calibration pattern with a profile, and measures its transients and tones.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - soundRate: The sample rate of the sound, in hertz.
  /// - Throws: An `AnalysisError` for a profile that cannot be rendered.
  init(_ profile: TransducerProfile, soundRate: Double) throws(AnalysisError) {
    let frequencyMapping = profile.limitedToUsableBand(rate: 48_000).frequency
    hasLogarithmicFrequencyScale = frequencyMapping.scale == .logarithmic
    sampleRate = AnalysisSignal.analysisRate(
      for: soundRate, maximumHertz: frequencyMapping.highHertz)
    overtoneFrequencyRatios = Self.overtoneRatios(of: profile)
    duckingGain = Float(profile.transientDuckingGain)
    transientShape = profile.transient
    driveInverse = DriveInverse(profile)
    let minimumHertz = max(5, frequencyMapping.hertz(atSharpness: 0))
    let maximumOvertoneRatio = overtoneFrequencyRatios.max() ?? 1
    let calibrationPattern = CalibrationPattern(
      sampleRate: sampleRate, minimumHertz: minimumHertz,
      transientSharpnessCount: Int(
        Double(Self.transientSharpnessCount) * max(1, maximumOvertoneRatio)))
    let calibrationSamples = try Self.render(
      calibrationPattern, profile: profile, rate: sampleRate, minimumHertz: minimumHertz,
      driveInverse: driveInverse)
    for probe in calibrationPattern.atomProbes {
      addAtom(
        calibrationSamples, from: Int((probe.startSeconds * sampleRate).rounded()),
        to: Int(
          (probe.startSeconds + Self.transientSeconds + calibrationPattern.silenceSeconds / 2)
            * sampleRate
        ),
        sharpness: probe.sharpness, shift: probe.delayInSamples)
    }
    maximumAtomSampleCount = atoms.map { $0.sampleCount }.max() ?? 0
    transientLevelsRelativeToFullIntensity = Self.levelsRelativeToLast(
      calibrationPattern.transientStartSeconds, in: calibrationSamples, rate: sampleRate)
    toneResponses = Self.toneResponses(calibrationPattern, in: calibrationSamples, rate: sampleRate)
    let minimumToneHertz = toneResponses.first?.hertz ?? minimumHertz
    let maximumToneHertz = toneResponses.last?.hertz ?? minimumHertz + 1
    toneBandHertz = minimumToneHertz...maximumToneHertz
  }

  private static func overtoneRatios(of profile: TransducerProfile) -> [Double] {
    let strongestPartial =
      profile.partials.max { abs($0.amplitudeToEventRatio) < abs($1.amplitudeToEventRatio) }
      ?? .init()
    let overtonePartials = profile.partials.filter {
      $0 != strongestPartial
        && abs($0.amplitudeToEventRatio) > minimumPartialGainRatio
          * abs(strongestPartial.amplitudeToEventRatio)
    }
    return overtonePartials.map {
      $0.frequencyToEventRatio / strongestPartial.frequencyToEventRatio
    }
  }

  // MARK: - Calibration pattern

  /// The pattern that is rendered to measure a profile.
  private struct CalibrationPattern {
    /// A transient that is rendered to become an atom.
    struct AtomProbe {
      /// The start of the transient before its shift, in seconds.
      ///
      /// The start is at an integer sample of the analysis.
      var startSeconds: Double
      var sharpness: Double
      /// The additional delay of the transient, in samples: 0 or 0.5.
      var delayInSamples: Double
    }

    /// The silence between events, in seconds.
    let silenceSeconds: Double
    /// The duration of a tone, in seconds.
    let toneSeconds: Double
    private let sampleRate: Double
    private(set) var events: [HapticEvent] = []
    private(set) var atomProbes: [AtomProbe] = []
    /// The starts of the transients that measure levels, by intensity, in seconds.
    private(set) var transientStartSeconds: [Double] = []
    /// The starts of tones by sharpness and intensity, in seconds.
    private(set) var toneStartSeconds: [[Double]] = []
    /// The start time of the next event of the pattern, in seconds.
    private var nextEventSeconds: Double

    init(sampleRate rate: Double, minimumHertz: Double, transientSharpnessCount: Int) {
      self.sampleRate = rate
      silenceSeconds = max(0.12, 3 / minimumHertz)
      toneSeconds = max(0.2, 8 / minimumHertz)
      nextEventSeconds = silenceSeconds
      for index in 0..<transientSharpnessCount {
        let sharpness = Double(index) / Double(transientSharpnessCount - 1)
        for shift in [0, 0.5] {
          let start = add(.hapticTransient, intensity: 1, sharpness: sharpness, shift: shift)
          atomProbes.append(
            AtomProbe(startSeconds: start, sharpness: sharpness, delayInSamples: shift))
        }
      }
      for intensity in probeIntensities {
        transientStartSeconds.append(add(.hapticTransient, intensity: intensity, sharpness: 0.5))
      }
      for index in 0..<toneSharpnessCount {
        let sharpness = Double(index) / Double(toneSharpnessCount - 1)
        var starts: [Double] = []
        for intensity in probeIntensities {
          starts.append(add(.hapticContinuous, intensity: intensity, sharpness: sharpness))
        }
        toneStartSeconds.append(starts)
      }
    }

    /// Adds an event at an integer sample of the analysis plus a shift.
    ///
    /// Returns the start without the shift. All excerpts therefore start in the same way.
    private mutating func add(
      _ kind: HapticEvent.Kind, intensity: Double, sharpness: Double, shift: Double = 0
    ) -> Double {
      let isTone = kind == .hapticContinuous
      let start = (nextEventSeconds * sampleRate).rounded() / sampleRate
      events.append(
        HapticEvent(
          kind: kind, time: start + shift / sampleRate, duration: isTone ? toneSeconds : nil,
          parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)]))
      nextEventSeconds += (isTone ? toneSeconds : transientSeconds) + silenceSeconds
      return start
    }
  }

  /// Renders a calibration pattern at the sample rate of the analysis.
  private static func render(
    _ calibration: CalibrationPattern, profile: TransducerProfile, rate: Double,
    minimumHertz: Double, driveInverse: DriveInverse?
  ) throws(AnalysisError) -> [Float] {
    let supportedRates = RenderPlan.supportedSampleRates
    let minimumDecimationFactor = max(4, (supportedRates.lowerBound / rate).rounded(.up))
    let maximumDecimationFactor = max(1, (supportedRates.upperBound / rate).rounded(.down))
    let decimationFactor = min(minimumDecimationFactor, maximumDecimationFactor)
    let (rendering, renderingRate) = try HapticPattern(events: calibration.events).rendered(
      profile, rate: (rate * decimationFactor).rounded(), tail: 0.1)
    let decimatedSignal = TactileBandSignal(
      of: rendering, rate: renderingRate, minimumRate: rate * 0.99)
    let highPass = AnalysisSignal.highPass(minimumHertz: minimumHertz, rate: rate)
    let filteredSamples = highPass.zeroPhaseFiltered(decimatedSignal.samples)
    return driveInverse?.restored(filteredSamples, sampleRate: rate) ?? filteredSamples
  }

  // MARK: - Atoms

  /// Adds an atom and its quadrature from the rendering of a transient.
  ///
  /// - Parameters:
  ///   - samples: The rendering.
  ///   - start: The start of the transient.
  ///   - end: The end of its excerpt.
  ///   - sharpness: The sharpness of the transient.
  ///   - shift: The additional delay of the transient, in samples.
  private mutating func addAtom(
    _ samples: [Float], from start: Int, to end: Int, sharpness: Double, shift: Double
  ) {
    let atomSampleRange = Self.trimmedRange(
      max(0, start - 8)..<min(samples.count, end), of: samples)
    let atomWaveform = Array(samples[atomSampleRange])
    let waveformNorm = max(
      SampleMath.energy(of: atomWaveform, in: atomWaveform.indices).squareRoot(), 1e-12)
    let inPhaseWaveform = atomWaveform.map { $0 / waveformNorm }
    atoms.append(
      Atom(
        sharpness: sharpness, onsetInSamples: Double(start - atomSampleRange.lowerBound) + shift,
        sampleRange: inPhaseSamples.count..<inPhaseSamples.count + inPhaseWaveform.count,
        waveformNorm: waveformNorm, peakMagnitude: inPhaseWaveform.reduce(0) { max($0, abs($1)) }))
    inPhaseSamples += inPhaseWaveform
    quadratureSamples += Self.quadrature(of: atomWaveform, inPhase: inPhaseWaveform)
  }

  /// Trims a range to the part with nearly all of the energy.
  ///
  /// Filters ring before and after this part.
  private static func trimmedRange(
    _ range: Range<Int>, of samples: [Float]
  ) -> ClosedRange<Int> {
    let rangeEnergy = SampleMath.energy(of: samples, in: range)
    var firstKeptSample = range.lowerBound
    var lastKeptSample = range.upperBound - 1
    var removableEnergy = energyFractionBeforeStart * rangeEnergy
    while removableEnergy > 0, firstKeptSample < lastKeptSample {
      removableEnergy -= samples[firstKeptSample] * samples[firstKeptSample]
      firstKeptSample += 1
    }
    removableEnergy = energyFractionAfterEnd * rangeEnergy
    while removableEnergy > 0, lastKeptSample > firstKeptSample {
      removableEnergy -= samples[lastKeptSample] * samples[lastKeptSample]
      lastKeptSample -= 1
    }
    firstKeptSample = max(0, firstKeptSample - 2)
    lastKeptSample = min(samples.count - 1, lastKeptSample + 2)
    return firstKeptSample...max(lastKeptSample, firstKeptSample + 3)
  }

  /// Returns the Hilbert transform of a waveform, orthogonal to its atom, with unit energy.
  private static func quadrature(of waveform: [Float], inPhase: [Float]) -> [Float] {
    let leadPadding = [Float](repeating: 0, count: 64)
    let analyticSignal = AnalyticSignal(of: leadPadding + waveform, padding: 256)
    var quadratureWaveform = analyticSignal.complexSamples.dropFirst(64).map { $0.imaginary }
    let inPhaseProjection = zip(inPhase, quadratureWaveform).reduce(0) { $0 + $1.0 * $1.1 }
    for index in quadratureWaveform.indices {
      quadratureWaveform[index] -= inPhaseProjection * inPhase[index]
    }
    let quadratureEnergy = SampleMath.energy(of: quadratureWaveform, in: quadratureWaveform.indices)
    let quadratureNorm = max(quadratureEnergy.squareRoot(), 1e-12)
    return quadratureWaveform.map { $0 / quadratureNorm }
  }

  // MARK: - Levels

  /// Returns the levels of transients, relative to the last one, which has full intensity.
  private static func levelsRelativeToLast(
    _ starts: [Double], in samples: [Float], rate: Double
  ) -> [Double] {
    let transientEnergies = starts.map { start in
      let range = Int(start * rate) - 8..<Int((start + transientSeconds) * rate)
      return Double(SampleMath.energy(of: samples, in: range))
    }
    let fullIntensityEnergy = max(transientEnergies[transientEnergies.count - 1], 1e-20)
    return transientEnergies.map { ($0 / fullIntensityEnergy).squareRoot() }
  }

  /// Returns the frequency and the amplitudes of the tones of each sharpness.
  private static func toneResponses(
    _ calibration: CalibrationPattern, in samples: [Float], rate: Double
  ) -> [ToneResponse] {
    let frameCenterSeconds = calibration.toneSeconds * measuredToneFraction
    var toneSpectrum = ToneSpectrum(
      windowLength: Int(frameCenterSeconds * rate), sampleRate: rate, band: 4...0.49 * rate)
    var measuredResponses = calibration.toneStartSeconds.map { starts in
      let tones = starts.map { start in
        toneSpectrum.strongestTone(in: samples, at: Int((start + frameCenterSeconds) * rate))
      }
      return ToneResponse(
        hertz: tones[tones.count - 1].hertz, amplitudesByIntensity: tones.map { $0.amplitude })
    }
    // If another partial becomes the strongest, the frequency would decrease. It is held instead.
    for index in measuredResponses.indices.dropFirst() {
      measuredResponses[index].hertz = max(
        measuredResponses[index].hertz, measuredResponses[index - 1].hertz + 0.01)
    }
    return measuredResponses
  }

  /// Returns the samples in which a burst ducks continuous events.
  func duckedSamples(during burst: FoundBurst) -> Range<Int> {
    let onsetSample = Int(burst.onsetInSamples(in: self).rounded())
    let atomSharpness = atoms[burst.atomIndex].sharpness
    return onsetSample..<onsetSample
      + Int(transientShape.seconds(atSharpness: atomSharpness) * sampleRate)
  }

  // MARK: - Inverse mapping

  /// Returns the sharpness of a tone with a frequency in the profile, clamped to 0…1.
  func sharpness(atHertz hertz: Double) -> Double {
    toneIndex(atHertz: hertz) / Double(Self.toneSharpnessCount - 1)
  }

  /// Returns the intensity of a tone, 0…1.
  ///
  /// - Parameters:
  ///   - amplitude: The amplitude of the tone.
  ///   - hertz: The frequency of the tone.
  func intensity(ofAmplitude amplitude: Double, hertz: Double) -> Double {
    Self.intensity(ofLevel: amplitude, among: amplitudes(atHertz: hertz))
  }

  /// Returns the intensity of a tone, 0…1.
  ///
  /// - Parameters:
  ///   - ratio: The ratio of the amplitude to that at full intensity.
  ///   - sharpness: The sharpness of the tone.
  func intensity(ofRelativeAmplitude ratio: Double, sharpness: Double) -> Double {
    let intensityAmplitudes = amplitudes(atHertz: hertz(atSharpness: sharpness))
    return Self.intensity(
      ofLevel: ratio * (intensityAmplitudes.last ?? 1), among: intensityAmplitudes)
  }

  /// Returns the intensity of a transient, 0…1.
  ///
  /// - Parameter level: The level relative to that at full intensity.
  func intensity(ofTransientLevel level: Double) -> Double {
    Self.intensity(ofLevel: level, among: transientLevelsRelativeToFullIntensity)
  }

  /// Returns the frequency of the tone that the profile renders at a sharpness.
  private func hertz(atSharpness sharpness: Double) -> Double {
    let tablePosition = min(1, max(0, sharpness)) * Double(Self.toneSharpnessCount - 1)
    let lowerToneIndex = min(Self.toneSharpnessCount - 2, Int(tablePosition))
    let lowerHertz = toneResponses[lowerToneIndex].hertz
    let upperHertz = toneResponses[lowerToneIndex + 1].hertz
    let tableFraction = tablePosition - Double(lowerToneIndex)
    return hasLogarithmicFrequencyScale
      ? lowerHertz * pow(upperHertz / lowerHertz, tableFraction)
      : lowerHertz + (upperHertz - lowerHertz) * tableFraction
  }

  /// Returns the fractional index of a frequency in the table of measured tones.
  private func toneIndex(atHertz hertz: Double) -> Double {
    guard let lowerToneIndex = toneResponses.lastIndex(where: { $0.hertz <= hertz }) else {
      return 0
    }
    guard lowerToneIndex + 1 < toneResponses.count else {
      return Double(Self.toneSharpnessCount - 1)
    }
    let lowerHertz = toneResponses[lowerToneIndex].hertz
    let upperHertz = toneResponses[lowerToneIndex + 1].hertz
    let toneFraction =
      hasLogarithmicFrequencyScale
      ? log(hertz / lowerHertz) / log(upperHertz / lowerHertz)
      : (hertz - lowerHertz) / (upperHertz - lowerHertz)
    return Double(lowerToneIndex) + toneFraction
  }

  /// Returns the amplitudes of a tone with a frequency, by increasing intensity.
  private func amplitudes(atHertz hertz: Double) -> [Double] {
    let tonePosition = toneIndex(atHertz: hertz)
    let lowerToneIndex = min(Self.toneSharpnessCount - 2, Int(tonePosition))
    return zip(
      toneResponses[lowerToneIndex].amplitudesByIntensity,
      toneResponses[lowerToneIndex + 1].amplitudesByIntensity
    ).map {
      $0 + ($1 - $0) * (tonePosition - Double(lowerToneIndex))
    }
  }

  /// Returns the intensity of an event with a given level.
  ///
  /// The intensity is interpolated between the levels measured at the probe intensities. The
  /// logarithms are interpolated linearly, which is exact for a power law.
  private static func intensity(ofLevel level: Double, among levels: [Double]) -> Double {
    let clampedLevel = max(level, 1e-9)
    let lowerIndex = min(max(0, (levels.lastIndex { $0 <= clampedLevel }) ?? 0), levels.count - 2)
    let lowerLevel = max(levels[lowerIndex], 1e-9)
    let upperLevel = max(levels[lowerIndex + 1], 1e-9)
    guard upperLevel > lowerLevel else { return probeIntensities[lowerIndex + 1] }
    let intensityExponent =
      log(probeIntensities[lowerIndex + 1] / probeIntensities[lowerIndex])
      / log(upperLevel / lowerLevel)
    return min(
      1, max(0, probeIntensities[lowerIndex] * pow(clampedLevel / lowerLevel, intensityExponent)))
  }
}

extension HapticPattern {
  /// Renders the pattern with the profile, including its hardware stage.
  ///
  /// Returns the samples and their sample rate.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - rate: The requested sample rate, in hertz.
  ///   - tail: The duration of the silence after the pattern, in seconds.
  func rendered(
    _ profile: TransducerProfile, rate: Double, tail: Double = 0
  ) throws(AnalysisError) -> ([Float], Double) {
    do throws(RenderError) {
      let plan = try RenderPlan(compiling: self, profile: profile, rate: rate)
      var settings = RenderSettings(
        outputFrameCount: max(1, plan.frameCount + Int64(tail * plan.rate)))
      settings.routing = settings.routing.assigningTransducers(of: [profile])
      var renderer = OfflineRenderer(plan: plan, settings: settings)
      return (renderer.samples(), plan.rate)
    } catch {
      throw AnalysisError(.unsupportedProfile, error.description)
    }
  }
}
