internal import CMath
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// The inverse of a profile's mapping: the waveforms of its transients as atoms of a matching
/// pursuit, and the sharpness and intensity of each frequency and level.
///
/// 1. A calibration pattern is rendered with the profile: transients of all sharpnesses, transients
///    of several intensities, and tones over both. About 25 seconds are rendered at 8 kHz, so that
///    every mapping of every profile is included: partials, any waveform, equalized hardware.
/// 2. Each transient becomes an atom of unit energy with its quadrature.
/// 3. The levels and frequencies of the tones are measured, and inverted by interpolation.
struct AtomDictionary {
  /// The waveform of a transient at full intensity, at the sample rate of the analysis.
  struct Atom {
    var sharpness: Double
    /// The position of the transient's onset, in samples from the start of the atom.
    var onset: Double
    /// The range of the atom among the samples of all atoms.
    var sampleRange: Range<Int>
    /// The norm of the waveform, by which the atom is divided.
    var norm: Float
    /// The maximum magnitude of the atom.
    var peak: Float

    /// The length, in samples.
    var count: Int { sampleRange.count }
  }

  /// The measured tones of a sharpness.
  private struct ToneResponse {
    /// The frequency at full intensity.
    var hertz: Double
    /// The amplitudes by increasing intensity.
    var levels: [Double]
  }

  /// The sample rate of the analysis, in hertz.
  let rate: Double
  /// The frequencies of tones, in hertz.
  private(set) var toneBand = 1.0...1
  /// The factor of all times for profiles with tones below 80 Hz, up to 3.
  var timeScale: Double { min(3, max(1, 80 / toneBand.lowerBound)) }
  /// The atoms by increasing sharpness, each on a sample and half a sample later.
  private(set) var atoms: [Atom] = []
  /// The samples of all atoms, each of unit energy.
  private(set) var inPhaseSamples: [Float] = []
  /// The samples of all quadratures, each of unit energy and orthogonal to its atom.
  private(set) var quadratureSamples: [Float] = []
  /// The indices of every second sharpness on a sample, for a coarse search.
  var coarseIndices: StrideTo<Int> { stride(from: 0, to: atoms.count, by: 4) }
  /// The frequency ratios of a tone's other partials to the strongest.
  let overtoneRatios: [Double]
  /// The length of the longest atom, in samples.
  private(set) var maximumAtomLength = 0
  /// A Boolean value that indicates whether frequencies are interpolated on a logarithmic scale.
  private let isLogarithmic: Bool
  /// The tones by increasing sharpness.
  private var toneResponses: [ToneResponse] = []
  /// The levels of transients relative to full intensity, by increasing intensity.
  private var transientLevels: [Double] = []

  /// The number of sharpnesses of transients.
  static let transientSharpnessCount = 24
  /// The number of sharpnesses of tones.
  private static let toneSharpnessCount = 13
  /// The intensities that are measured.
  private static let probeIntensities = [0.03, 0.08, 0.2, 0.45, 0.75, 1]
  /// The fraction of a transient's energy before its start.
  private static let leadEnergyFraction = Float(0.001)
  /// The fraction of a transient's energy after its end.
  private static let tailEnergyFraction = Float(0.012)
  /// The duration of a transient, in seconds.
  private static let transientDuration = 0.06
  /// The part of a tone before the center of the frame that is measured.
  private static let toneCenterFraction = 0.6
  /// The minimum gain of a partial relative to the strongest.
  private static let minimumPartialRatio = 0.1

  /// Measures a profile.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - soundRate: The sample rate of the sound, in hertz.
  /// - Throws: An `AnalysisError` for a profile that cannot be rendered.
  init(_ profile: TransducerProfile, soundRate: Double) throws(AnalysisError) {
    let mapping = profile.bandMapped(rate: 48_000).frequency
    isLogarithmic = mapping.scale == .logarithmic
    rate = AnalysisSignal.analysisRate(for: soundRate, maximumHertz: mapping.high)
    overtoneRatios = Self.overtoneRatios(of: profile)
    let minimumHertz = max(5, mapping.hertz(atSharpness: 0))
    let calibration = CalibrationPattern(rate: rate, minimumHertz: minimumHertz)
    let samples = try Self.render(
      calibration, profile: profile, rate: rate, minimumHertz: minimumHertz)
    for probe in calibration.atomProbes {
      addAtom(
        samples, from: Int((probe.start * rate).rounded()),
        to: Int((probe.start + Self.transientDuration + calibration.gap / 2) * rate),
        sharpness: probe.sharpness, shift: probe.shift)
    }
    maximumAtomLength = atoms.map { $0.count }.max() ?? 0
    transientLevels = Self.relativeLevels(calibration.transientStarts, in: samples, rate: rate)
    toneResponses = Self.toneResponses(calibration, in: samples, rate: rate)
    let low = toneResponses.first?.hertz ?? minimumHertz
    let high = toneResponses.last?.hertz ?? minimumHertz + 1
    toneBand = low...high
  }

  private static func overtoneRatios(of profile: TransducerProfile) -> [Double] {
    let strongest = profile.partials.max { abs($0.gain) < abs($1.gain) } ?? .init()
    let overtones = profile.partials.filter {
      $0 != strongest && abs($0.gain) > minimumPartialRatio * abs(strongest.gain)
    }
    return overtones.map { $0.ratio / strongest.ratio }
  }

  // MARK: - Calibration pattern

  /// The pattern that is rendered to measure a profile.
  private struct CalibrationPattern {
    /// A transient that becomes an atom.
    struct AtomProbe {
      /// The start in seconds, on a sample of the analysis.
      var start: Double
      var sharpness: Double
      /// The additional delay, in samples.
      var shift: Double
    }

    /// The silence between events, in seconds.
    let gap: Double
    /// The duration of a tone, in seconds.
    let toneDuration: Double
    private let rate: Double
    private(set) var events: [HapticEvent] = []
    private(set) var atomProbes: [AtomProbe] = []
    /// The starts of transients of all intensities, in seconds.
    private(set) var transientStarts: [Double] = []
    /// The starts of tones by sharpness and intensity, in seconds.
    private(set) var toneStarts: [[Double]] = []
    /// The start of the next event, in seconds.
    private var time: Double

    init(rate: Double, minimumHertz: Double) {
      self.rate = rate
      gap = max(0.12, 3 / minimumHertz)
      toneDuration = max(0.2, 8 / minimumHertz)
      time = gap
      for index in 0..<transientSharpnessCount {
        let sharpness = Double(index) / Double(transientSharpnessCount - 1)
        for shift in [0, 0.5] {
          let start = add(.hapticTransient, intensity: 1, sharpness: sharpness, shift: shift)
          atomProbes.append(AtomProbe(start: start, sharpness: sharpness, shift: shift))
        }
      }
      for intensity in probeIntensities {
        transientStarts.append(add(.hapticTransient, intensity: intensity, sharpness: 0.5))
      }
      for index in 0..<toneSharpnessCount {
        let sharpness = Double(index) / Double(toneSharpnessCount - 1)
        var starts: [Double] = []
        for intensity in probeIntensities {
          starts.append(add(.hapticContinuous, intensity: intensity, sharpness: sharpness))
        }
        toneStarts.append(starts)
      }
    }

    /// Adds an event on a sample of the analysis, so that all excerpts start alike, and returns its
    /// start without the shift.
    private mutating func add(
      _ kind: HapticEvent.Kind, intensity: Double, sharpness: Double, shift: Double = 0
    ) -> Double {
      let isTone = kind == .hapticContinuous
      let start = (time * rate).rounded() / rate
      events.append(
        HapticEvent(
          kind: kind, time: start + shift / rate, duration: isTone ? toneDuration : nil,
          parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)]))
      time += (isTone ? toneDuration : transientDuration) + gap
      return start
    }
  }

  /// Renders a calibration pattern at the sample rate of the analysis.
  private static func render(
    _ calibration: CalibrationPattern, profile: TransducerProfile, rate: Double,
    minimumHertz: Double
  ) throws(AnalysisError) -> [Float] {
    let rates = RenderPlan.supportedSampleRates
    let minimumFactor = max(4, (rates.lowerBound / rate).rounded(.up))
    let maximumFactor = max(1, (rates.upperBound / rate).rounded(.down))
    let factor = min(minimumFactor, maximumFactor)
    let (rendering, renderingRate) = try HapticPattern(events: calibration.events).rendered(
      profile, rate: (rate * factor).rounded(), tail: 0.1)
    let decimated = TactileBandSignal(
      of: rendering, rate: renderingRate, minimumRate: rate * 0.99)
    let highPass = AnalysisSignal.highPass(minimumHertz: minimumHertz, rate: rate)
    return highPass.zeroPhaseFiltered(decimated.samples)
  }

  // MARK: - Atoms

  /// Adds a transient as an atom with its quadrature.
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
    let range = Self.trimmedRange(max(0, start - 8)..<min(samples.count, end), of: samples)
    let waveform = Array(samples[range])
    let norm = max(SampleMath.energy(of: waveform, in: waveform.indices).squareRoot(), 1e-12)
    let inPhase = waveform.map { $0 / norm }
    atoms.append(
      Atom(
        sharpness: sharpness, onset: Double(start - range.lowerBound) + shift,
        sampleRange: inPhaseSamples.count..<inPhaseSamples.count + inPhase.count,
        norm: norm, peak: inPhase.reduce(0) { max($0, abs($1)) }))
    inPhaseSamples += inPhase
    quadratureSamples += Self.quadrature(of: waveform, inPhase: inPhase)
  }

  /// Returns the range that contains all but a small fraction of the energy. Filters ring before
  /// and after it.
  private static func trimmedRange(
    _ range: Range<Int>, of samples: [Float]
  ) -> ClosedRange<Int> {
    let energy = SampleMath.energy(of: samples, in: range)
    var first = range.lowerBound
    var last = range.upperBound - 1
    var remaining = leadEnergyFraction * energy
    while remaining > 0, first < last {
      remaining -= samples[first] * samples[first]
      first += 1
    }
    remaining = tailEnergyFraction * energy
    while remaining > 0, last > first {
      remaining -= samples[last] * samples[last]
      last -= 1
    }
    first = max(0, first - 2)
    last = min(samples.count - 1, last + 2)
    return first...max(last, first + 3)
  }

  /// Returns the Hilbert transform of a waveform, orthogonal to its atom, with unit energy.
  private static func quadrature(of waveform: [Float], inPhase: [Float]) -> [Float] {
    let padding = [Float](repeating: 0, count: 64)
    let analytic = AnalyticSignal(of: padding + waveform, padding: 256)
    var quadrature = analytic.values.dropFirst(64).map { $0.imaginary }
    let projection = zip(inPhase, quadrature).reduce(0) { $0 + $1.0 * $1.1 }
    for index in quadrature.indices {
      quadrature[index] -= projection * inPhase[index]
    }
    let energy = SampleMath.energy(of: quadrature, in: quadrature.indices)
    let norm = max(energy.squareRoot(), 1e-12)
    return quadrature.map { $0 / norm }
  }

  // MARK: - Levels

  /// Returns the levels of transients relative to the last.
  private static func relativeLevels(
    _ starts: [Double], in samples: [Float], rate: Double
  ) -> [Double] {
    let energies = starts.map { start in
      let range = Int(start * rate) - 8..<Int((start + transientDuration) * rate)
      return Double(SampleMath.energy(of: samples, in: range))
    }
    let reference = max(energies[energies.count - 1], 1e-20)
    return energies.map { ($0 / reference).squareRoot() }
  }

  /// Returns the frequency and the amplitudes of the tones of each sharpness.
  private static func toneResponses(
    _ calibration: CalibrationPattern, in samples: [Float], rate: Double
  ) -> [ToneResponse] {
    let offset = calibration.toneDuration * toneCenterFraction
    var spectrum = ToneSpectrum(
      windowLength: Int(offset * rate), rate: rate, band: 4...0.49 * rate)
    var responses = calibration.toneStarts.map { starts in
      let tones = starts.map { start in
        spectrum.strongestTone(in: samples, at: Int((start + offset) * rate))
      }
      return ToneResponse(
        hertz: tones[tones.count - 1].hertz, levels: tones.map { $0.amplitude })
    }
    // If another partial becomes the strongest, the frequency would decrease. It is held instead.
    for index in responses.indices.dropFirst() {
      responses[index].hertz = max(responses[index].hertz, responses[index - 1].hertz + 0.01)
    }
    return responses
  }

  // MARK: - Inverse mapping

  /// Returns the sharpness of a tone's frequency, clamped to 0…1.
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
    let amplitudes = amplitudes(atHertz: hertz(atSharpness: sharpness))
    return Self.intensity(ofLevel: ratio * (amplitudes.last ?? 1), among: amplitudes)
  }

  /// Returns the intensity of a transient, 0…1.
  ///
  /// - Parameter level: The level relative to that at full intensity.
  func intensity(ofTransientLevel level: Double) -> Double {
    Self.intensity(ofLevel: level, among: transientLevels)
  }

  /// Returns the frequency of a tone of a sharpness.
  private func hertz(atSharpness sharpness: Double) -> Double {
    let position = min(1, max(0, sharpness)) * Double(Self.toneSharpnessCount - 1)
    let index = min(Self.toneSharpnessCount - 2, Int(position))
    let low = toneResponses[index].hertz
    let high = toneResponses[index + 1].hertz
    let fraction = position - Double(index)
    return isLogarithmic ? low * pow(high / low, fraction) : low + (high - low) * fraction
  }

  /// Returns the interpolated index of a frequency among the tones.
  private func toneIndex(atHertz hertz: Double) -> Double {
    guard let index = toneResponses.lastIndex(where: { $0.hertz <= hertz }) else { return 0 }
    guard index + 1 < toneResponses.count else { return Double(Self.toneSharpnessCount - 1) }
    let low = toneResponses[index].hertz
    let high = toneResponses[index + 1].hertz
    let fraction =
      isLogarithmic ? log(hertz / low) / log(high / low) : (hertz - low) / (high - low)
    return Double(index) + fraction
  }

  /// Returns the amplitudes of a tone by increasing intensity.
  private func amplitudes(atHertz hertz: Double) -> [Double] {
    let position = toneIndex(atHertz: hertz)
    let index = min(Self.toneSharpnessCount - 2, Int(position))
    return zip(toneResponses[index].levels, toneResponses[index + 1].levels).map {
      $0 + ($1 - $0) * (position - Double(index))
    }
  }

  /// Returns the intensity of a level among those of the probe intensities. The logarithms are
  /// interpolated linearly, which is exact for a power law.
  private static func intensity(ofLevel level: Double, among levels: [Double]) -> Double {
    let level = max(level, 1e-9)
    let index = min(max(0, (levels.lastIndex { $0 <= level }) ?? 0), levels.count - 2)
    let low = max(levels[index], 1e-9)
    let high = max(levels[index + 1], 1e-9)
    guard high > low else { return probeIntensities[index + 1] }
    let exponent = log(probeIntensities[index + 1] / probeIntensities[index]) / log(high / low)
    return min(1, max(0, probeIntensities[index] * pow(level / low, exponent)))
  }
}

extension HapticPattern {
  /// Returns the pattern as the renderer and the profile's hardware stage render it, and the sample
  /// rate.
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
      var settings = RenderSettings(length: max(1, plan.length + Int64(tail * plan.rate)))
      settings.routing = settings.routing.fitted(to: [profile])
      var renderer = OfflineRenderer(plan: plan, settings: settings)
      return (renderer.samples(), plan.rate)
    } catch {
      throw AnalysisError(.unsupportedProfile, error.description)
    }
  }
}
