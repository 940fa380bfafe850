internal import CMath
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// A profile's laws inverted: which sharpness has a frequency, which intensity has a level.
///
/// Measured from what the renderer makes with the profile, so that every law of every profile is
/// covered: partials, bursts of any wave, equalised hardware. Some 25 seconds are rendered at 8
/// kHz.
struct AtomDictionary {
  /// The wave of a transient at full intensity, at the rate of the analysis.
  struct Atom {
    var sharpness: Double
    /// Frames from its first sample to the onset of the transient.
    var onset: Double
    /// Where it stands among the samples of all.
    var sampleRange: Range<Int>
    /// What the wave was divided by, and the greatest value of the sine.
    var norm, peak: Float
    var count: Int { sampleRange.count }
  }

  /// Frames per second.
  let rate: Double
  /// The lowest and the highest frequency of a hum.
  private(set) var toneBand = 1.0...1
  /// How many times longer than 80 Hz the lowest tone must last to be followed as well, up to 3.
  var timeScale: Double { min(3, max(1, 80 / toneBand.lowerBound)) }
  /// By rising sharpness, each twice: on a frame, and half a frame later.
  private(set) var atoms: [Atom] = []
  /// The samples of all waves and of their quarter turns: each of energy 1, at right angles.
  private(set) var inPhaseSamples: [Float] = []
  private(set) var quadratureSamples: [Float] = []
  /// Every second sharpness on a frame: what is tried first.
  var coarseIndices: StrideTo<Int> { stride(from: 0, to: atoms.count, by: 4) }
  /// The frequencies of a hum's other partials, as multiples of the strongest one's.
  let overtoneRatios: [Double]
  /// Samples of the longest burst.
  private(set) var maximumAtomLength = 0
  /// By rising sharpness.
  private var toneResponses: [(hertz: Double, levels: [Double])] = []
  /// The levels of transients, as parts of that at full intensity.
  private var transientLevels: [Double] = []

  static let transientSharpnessCount = 24
  private static let toneSharpnessCount = 13
  /// The part of a burst's energy behind what counts as its end.
  private static let tailEnergyFraction = Float(0.012)
  private static let probeIntensities = [0.03, 0.08, 0.2, 0.45, 0.75, 1]

  init(_ profile: TransducerProfile, soundRate: Double) throws(AnalysisError) {
    let mapped = profile.bandMapped(rate: 48_000).frequency
    let rate = AnalysisSignal.analysisRate(for: soundRate, highestHertz: mapped.high)
    self.rate = rate
    let strongest = profile.partials.max { abs($0.gain) < abs($1.gain) } ?? .init()
    overtoneRatios = profile.partials.filter {
      $0 != strongest && abs($0.gain) > 0.1 * abs(strongest.gain)
    }.map {
      $0.ratio / strongest.ratio
    }
    let rates = RenderPlan.supportedSampleRates
    let factor = min(
      max(4, (rates.lowerBound / rate).rounded(.up)),
      max(1, (rates.upperBound / rate).rounded(.down)))
    let low = max(5, mapped.hertz(atSharpness: 0))
    let gap = max(0.12, 3 / low)
    let length = max(0.2, 8 / low)
    var events: [HapticEvent] = []
    var time = gap
    func add(_ kind: HapticEvent.Kind, _ intensity: Double, _ sharpness: Double, shift: Double = 0)
      -> Double
    {
      let duration = kind == .hapticContinuous ? length : 0.06
      // On a frame of the analysis, so that what is cut out begins alike.
      let start = (time * rate).rounded() / rate
      events.append(
        HapticEvent(
          kind: kind, time: start + shift / rate,
          duration: kind == .hapticContinuous ? length : nil,
          parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)]))
      time += duration + gap
      return start
    }
    var starts: [(start: Double, sharpness: Double, shift: Double)] = []
    for index in 0..<Self.transientSharpnessCount {
      let sharpness = Double(index) / Double(Self.transientSharpnessCount - 1)
      for shift in [0, 0.5] {
        starts.append((add(.hapticTransient, 1, sharpness, shift: shift), sharpness, shift))
      }
    }
    let transients = Self.probeIntensities.map { add(.hapticTransient, $0, 0.5) }
    let tones = (0..<Self.toneSharpnessCount).map { index in
      Self.probeIntensities.map {
        add(.hapticContinuous, $0, Double(index) / Double(Self.toneSharpnessCount - 1))
      }
    }
    let (rendering, fineRate) = try HapticPattern(events: events).rendered(
      profile, rate: (rate * factor).rounded(), tail: 0.1)
    let narrow = TactileBandSignal(of: rendering, rate: fineRate, minimumRate: rate * 0.99)
    let samples = AnalysisSignal.highPass(lowestHertz: low, rate: rate).zeroPhaseFiltered(
      narrow.samples)
    for (start, sharpness, shift) in starts {
      addAtom(
        samples, from: Int((start * rate).rounded()), to: Int((start + 0.06 + gap / 2) * rate),
        sharpness: sharpness, shift: shift)
    }
    maximumAtomLength = atoms.map { $0.count }.max() ?? 0
    func energy(_ start: Double) -> Double {
      Double(SampleMath.energy(of: samples, in: Int(start * rate) - 8..<Int((start + 0.06) * rate)))
    }
    let greatest = max(energy(transients[transients.count - 1]), 1e-20)
    transientLevels = transients.map { (energy($0) / greatest).squareRoot() }
    var spectrum = ToneSpectrum(
      windowLength: Int(length * 0.6 * rate), rate: rate, band: 4...0.49 * rate)
    toneResponses = tones.map { starts in
      let tones = starts.map {
        spectrum.strongestTone(in: samples, at: Int(($0 + length * 0.6) * rate))
      }
      return (tones[tones.count - 1].hertz, tones.map { $0.amplitude })
    }
    // What moves against the law, where another partial becomes the strongest, is held.
    for index in toneResponses.indices.dropFirst() {
      toneResponses[index].hertz = max(
        toneResponses[index].hertz, toneResponses[index - 1].hertz + 0.01)
    }
    toneBand = (toneResponses.first?.hertz ?? low)...(toneResponses.last?.hertz ?? low + 1)
  }

  private mutating func addAtom(
    _ samples: [Float], from start: Int, to end: Int, sharpness: Double, shift: Double
  ) {
    // Between the ends is all but a small part of the energy: filters go on around the wave.
    let range = max(0, start - 8)..<min(samples.count, end)
    let all = SampleMath.energy(of: samples, in: range)
    var first = range.lowerBound
    var last = range.upperBound - 1
    var left = 0.001 * all
    while left > 0, first < last {
      left -= samples[first] * samples[first]
      first += 1
    }
    left = Self.tailEnergyFraction * all
    while left > 0, last > first {
      left -= samples[last] * samples[last]
      last -= 1
    }
    first = max(0, first - 2)
    last = min(samples.count - 1, last + 2)
    let wave = Array(samples[first...max(last, first + 3)])
    let norm = max(SampleMath.energy(of: wave, in: wave.indices).squareRoot(), 1e-12)
    let sine = wave.map { $0 / norm }
    let padding = [Float](repeating: 0, count: 64)
    var cosine = AnalyticSignal(of: padding + wave, padding: 256).values.dropFirst(64).map {
      $0.imaginary
    }
    let share = zip(sine, cosine).reduce(0) { $0 + $1.0 * $1.1 }
    for index in cosine.indices {
      cosine[index] -= share * sine[index]
    }
    let size = max(SampleMath.energy(of: cosine, in: cosine.indices).squareRoot(), 1e-12)
    atoms.append(
      Atom(
        sharpness: sharpness, onset: Double(start - first) + shift,
        sampleRange: inPhaseSamples.count..<inPhaseSamples.count + sine.count,
        norm: norm, peak: sine.reduce(0) { max($0, abs($1)) }))
    inPhaseSamples += sine
    quadratureSamples += cosine.map { $0 / size }
  }

  /// The sharpness whose hum has a frequency; the nearest one for what lies outside.
  func sharpness(atHertz hertz: Double) -> Double {
    toneIndex(atHertz: hertz) / Double(Self.toneSharpnessCount - 1)
  }

  /// The frequency of a hum of a sharpness.
  private func hertz(atSharpness sharpness: Double) -> Double {
    let place = min(1, max(0, sharpness)) * Double(Self.toneSharpnessCount - 1)
    let index = min(Self.toneSharpnessCount - 2, Int(place))
    return toneResponses[index].hertz
      + (toneResponses[index + 1].hertz - toneResponses[index].hertz) * (place - Double(index))
  }

  private func toneIndex(atHertz hertz: Double) -> Double {
    guard let index = toneResponses.lastIndex(where: { $0.hertz <= hertz }) else { return 0 }
    guard index + 1 < toneResponses.count else { return Double(Self.toneSharpnessCount - 1) }
    return Double(index) + (hertz - toneResponses[index].hertz)
      / (toneResponses[index + 1].hertz - toneResponses[index].hertz)
  }

  /// The intensity whose hum of a frequency has an amplitude, 0…1.
  func intensity(ofAmplitude amplitude: Double, hertz: Double) -> Double {
    Self.intensity(ofLevel: amplitude, among: amplitudes(atHertz: hertz))
  }

  /// The intensity whose hum of a sharpness has a part of the amplitude at full intensity, 0…1.
  func intensity(ofRelativeAmplitude share: Double, sharpness: Double) -> Double {
    let levels = amplitudes(atHertz: hertz(atSharpness: sharpness))
    return Self.intensity(ofLevel: share * (levels.last ?? 1), among: levels)
  }

  /// The amplitudes of a frequency's hum by rising intensity.
  private func amplitudes(atHertz hertz: Double) -> [Double] {
    let place = toneIndex(atHertz: hertz)
    let index = min(Self.toneSharpnessCount - 2, Int(place))
    return zip(toneResponses[index].levels, toneResponses[index + 1].levels).map {
      $0 + ($1 - $0) * (place - Double(index))
    }
  }

  /// The intensity of a transient whose wave is so many times that of full intensity, 0…1.
  func intensity(ofTransientLevel factor: Double) -> Double {
    Self.intensity(ofLevel: factor, among: transientLevels)
  }

  /// By the logarithms of both, which are a line where the law is a power.
  private static func intensity(ofLevel level: Double, among levels: [Double]) -> Double {
    let level = max(level, 1e-9)
    let index = min(max(0, (levels.lastIndex { $0 <= level }) ?? 0), levels.count - 2)
    let low = max(levels[index], 1e-9)
    let high = max(levels[index + 1], 1e-9)
    guard high > low else { return probeIntensities[index + 1] }
    let slope = log(probeIntensities[index + 1] / probeIntensities[index]) / log(high / low)
    return min(1, max(0, probeIntensities[index] * pow(level / low, slope)))
  }
}

extension HapticPattern {
  /// The pattern as the renderer and the profile's hardware stage make it, and its rate.
  ///
  /// - Parameter tail: Seconds of silence behind it.
  func rendered(_ profile: TransducerProfile, rate: Double, tail: Double = 0) throws(AnalysisError)
    -> ([Float], Double)
  {
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
