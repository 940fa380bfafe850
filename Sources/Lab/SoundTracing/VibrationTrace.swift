internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// A transient that was found.
struct TracedTransient {
  /// Seconds from the start of the sound.
  var time: Double
  var intensity, sharpness: Double
}

/// A hum that was found, sample by sample.
struct TracedContinuous {
  /// Seconds from the start of the sound to its first sample, and between samples.
  var start, step: Double
  var intensities, sharpnesses: [Double]
  var end: Double { start + Double(intensities.count) * step }
}

/// A recording of vibration as transients and continuous events.
struct VibrationTrace {
  private(set) var transients: [TracedTransient] = []
  private(set) var continuous: [TracedContinuous] = []
  /// The part of the power that the pattern does not explain.
  private(set) var unexplainedFraction = 0.0

  /// The weakest amplitude that counts: some steps of 16 bits.
  static let minimumAmplitude = Float(7e-4)
  /// What a hum may lie below the strongest, in decibels.
  private static let toneRangeDecibels = -36.0
  /// Seconds within which two transients are one.
  private static let fusionInterval = 0.006
  /// Seconds of a gap that does not end a hum, and of the shortest hum.
  private static let maximumGap = 0.012
  private static let minimumDuration = 0.02

  /// - Parameter threshold: The level relative to the strongest below which nothing counts, in
  ///   decibels.
  init(of sound: [Float], rate: Double, dictionary table: AtomDictionary, threshold: Double) {
    let band = AnalysisSignal(
      sound, rate: rate, targetRate: table.rate, lowestHertz: table.toneBand.lowerBound)
    let samples = band.samples
    let peak = samples.reduce(0) { max($0, abs($1)) }
    guard samples.count >= 64, peak >= Self.minimumAmplitude else { return }
    let width =
      2 * Int(((Double(table.maximumAtomLength) / table.rate + 0.004) * table.rate).rounded()) + 1
    var bursts: [FoundBurst] = []
    var hum = SustainedTone(of: samples, medianLength: width, dictionary: table)
    for pass in 0..<2 {
      let beside = zip(samples, hum.samples).map { $0 - $1 }
      let excursion = beside.reduce(0) { max($0, abs($1)) }
      let floor = max(Self.minimumAmplitude, excursion * Float(Decibels.factor(threshold)))
      bursts = BurstSearch(dictionary: table, toneLevels: hum.levels, minimumAmplitude: floor)
        .bursts(in: beside)
      let test = ToneStepTest(
        dictionary: table, samples: samples,
        residual: PursuitResidual(beside, dictionary: table, subtracting: bursts).unpaddedSamples,
        toneLevels: hum.levels,
        toneHertz: hum.track.hertz)
      bursts.removeAll { test.isStep($0) }
      let rest = PursuitResidual(samples, dictionary: table, subtracting: bursts).unpaddedSamples
      if pass == 1 {
        let reading = BurstTrainSearch(dictionary: table, minimumAmplitude: Self.minimumAmplitude)
          .interpretation(
            of: samples, tone: hum, bursts: bursts,
            slowTone: { range in
              let margin = 2 * width
              let wide =
                max(0, range.lowerBound - margin)..<min(samples.count, range.upperBound + margin)
              let slow = SustainedTone(
                of: Array(rest[wide]), medianLength: 2 * width, dictionary: table, timeScale: 2)
              return Array(
                slow.samples.dropFirst(range.lowerBound - wide.lowerBound).prefix(range.count))
            })
        bursts = reading.bursts
        // Where bursts alone are read there is no hum.
        hum = SustainedTone(
          of: PursuitResidual(samples, dictionary: table, subtracting: bursts).unpaddedSamples,
          medianLength: width, dictionary: table)
        hum.silence(where: reading.isTrain)
      } else {
        hum = SustainedTone(of: rest, medianLength: width, dictionary: table)
      }
    }
    let left = PursuitResidual(
      zip(samples, hum.samples).map { $0 - $1 }, dictionary: table, subtracting: bursts
    ).unpaddedSamples
    unexplainedFraction = Double(
      SampleMath.energy(of: left, in: left.indices)
        / SampleMath.energy(of: samples, in: samples.indices))
    for burst in bursts {
      let found = TracedTransient(
        time: (burst.onset(in: table) - Double(band.leadLength)) / table.rate,
        intensity: table.intensity(ofTransientLevel: burst.relativeLevel(in: table)),
        sharpness: table.atoms[burst.atomIndex].sharpness)
      // What began before the sound, and two that are one.
      guard found.time > -Self.fusionInterval else { continue }
      if let last = transients.last, found.time - last.time < Self.fusionInterval {
        if found.intensity > last.intensity {
          transients[transients.count - 1] = found
        }
      } else {
        transients.append(found)
      }
    }
    hum.track.refine(with: hum.baseband)
    continuous = Self.continuousEvents(
      levels: hum.levels, hertz: hum.track.hertz, dictionary: table, leadLength: band.leadLength,
      range: max(Self.toneRangeDecibels, threshold))
  }

  /// The segments in which the hum is felt.
  private static func continuousEvents(
    levels: [Float], hertz: [Double], dictionary table: AtomDictionary, leadLength edge: Int,
    range: Double
  )
    -> [TracedContinuous]
  {
    let rate = table.rate
    let least = max(2 * minimumAmplitude, (levels.max() ?? 0) * Float(Decibels.factor(range)))
    let window = Int(0.02 * rate)
    var found: [TracedContinuous] = []
    for segment in SampleMath.segments(
      levels.count, closing: Int(maximumGap * rate), where: { levels[$0] > least })
    where Double(segment.count) >= Self.minimumDuration * rate {
      // It begins and ends where half of what it reaches within 20 ms is passed.
      let head = levels[segment.prefix(window)].max() ?? 0
      let tail = levels[segment.suffix(window)].max() ?? 0
      let first = head > 2.5 * least ? segment.first { levels[$0] > head / 2 } : segment.first
      let last = tail > 2.5 * least ? segment.last { levels[$0] > tail / 2 } : segment.last
      guard let first, let last, Double(last + 1 - first) >= Self.minimumDuration * rate else {
        continue
      }
      var own = hertz[first...last].map { Float($0) }
      // The track is drawn to what lies beyond the ends.
      let margin = min(own.count / 3, Int(0.012 * rate))
      for index in 0..<margin {
        own[index] = own[margin]
        own[own.count - 1 - index] = own[own.count - 1 - margin]
      }
      own = SampleMath.movingMedian(of: own, over: Int(0.02 * rate) | 1)
      found.append(
        TracedContinuous(
          start: Double(first - edge) / rate, step: 1 / rate,
          intensities: own.indices.map {
            table.intensity(ofAmplitude: Double(levels[first + $0]), hertz: Double(own[$0]))
          }, sharpnesses: own.map { table.sharpness(atHertz: Double($0)) }))
    }
    return found
  }
}

/// What of a sound lasts longer than a burst.
struct SustainedTone {
  /// Its tone without its turning, and how that turns.
  private(set) var baseband: [ComplexNumber]
  var track: ToneTrack
  private(set) var samples, levels: [Float]

  /// - Parameter width: Samples of the median, which ignores what is shorter than half of it, in
  ///   any phase, and keeps edges.
  init(
    of samples: [Float], medianLength width: Int, dictionary table: AtomDictionary,
    timeScale slowness: Double = 1
  ) {
    let silence = Int(0.1 * table.rate)
    let signal = AnalyticSignal(of: samples, padding: silence)
    let track = ToneTrack(
      of: samples, signal: signal, rate: table.rate, dictionary: table, timeScale: slowness)
    func steady(_ signal: AnalyticSignal, _ ratio: Double) -> [ComplexNumber] {
      let turned = track.demodulated(signal, ratio: ratio)
      let real = SampleMath.movingMedian(of: turned.map { $0.real }, over: width, step: 2)
      let imaginary = SampleMath.movingMedian(of: turned.map { $0.imaginary }, over: width, step: 2)
      return zip(real, imaginary).map { ComplexNumber($0, $1) }
    }
    self.track = track
    baseband = steady(signal, 1)
    var partials =
      [track.modulated(baseband)]
      + table.overtoneRatios.map { _ in [Float](repeating: 0, count: samples.count) }
    // Each partial is what is left without the others, twice.
    for round in 0..<(table.overtoneRatios.isEmpty ? 0 : 2) {
      for (index, ratio) in ([1] + table.overtoneRatios).enumerated() where round > 0 || index > 0 {
        var rest = samples
        for other in partials.indices where other != index {
          for sample in rest.indices {
            rest[sample] -= partials[other][sample]
          }
        }
        let own = steady(AnalyticSignal(of: rest, padding: silence), ratio)
        partials[index] = track.modulated(own, ratio: ratio)
        if index == 0 {
          baseband = own
        }
      }
    }
    self.samples = partials.dropFirst().reduce(partials[0]) { zip($0, $1).map { $0 + $1 } }
    levels = baseband.map { $0.power.squareRoot() }
  }

  mutating func silence(where isSilent: [Bool]) {
    for index in baseband.indices where isSilent[index] {
      baseband[index] = ComplexNumber()
      samples[index] = 0
      levels[index] = 0
    }
  }
}

/// Any sound as transients and continuous events: levels and centroids of octaves, no phases.
struct WidebandTrace {
  private(set) var transients: [TracedTransient] = []
  private(set) var continuous: [TracedContinuous] = []

  /// Corners of the octaves, in hertz.
  private static let octaveCorners = [25.0, 60, 120, 240, 480, 960, 1_920, 3_840, 7_680]
  /// Levels in a second.
  private static let levelRate = 1_000.0
  /// The centroids at sharpness 0 and 1, in hertz; logarithmic between.
  private static let centroidRange = (low: 80.0, high: 4_000.0)
  /// The rise of the octaves, in decibels, that is an onset, and the level below which they do not
  /// count.
  private static let minimumRise = Float(6)
  private static let gateDecibels = -36.0
  /// The loudest part of a sound that has full intensity.
  private static let fullIntensityQuantile = 0.997
  /// Decibels below that: of the weakest onset, and of the end of a hum.
  private static let minimumTransientLevel = -34.0
  private static let minimumContinuousLevel = -30.0
  /// Seconds of silence on both ends.
  private static let leadDuration = 0.15

  /// - Parameter threshold: Decibels below the loudest below which nothing counts; from −34 for
  ///   transients and −30 for continuous events on.
  init(
    of sound: [Float], rate: Double, dictionary table: AtomDictionary, style: TracingOptions.Style,
    threshold: Double
  ) {
    let padding = [Float](repeating: 0, count: Int(Self.leadDuration * rate))
    // Offsets and rumble below all octaves are not felt.
    let highPass = Biquad(hertz: 20, isHighPass: true, rate: rate)
    let samples = padding + highPass.filtered(sound) + padding
    let (octaves, centers) = Self.octaveLevels(of: samples, rate: rate)
    guard let count = octaves.first?.count, count > 64 else { return }
    let weights = style.weights
    let total = Self.totalLevel(of: octaves, weights: weights.hum)
    let greatest = total.max() ?? 0
    guard greatest >= VibrationTrace.minimumAmplitude else { return }
    // Of what is heard: a bang in a long silence is as loud as one alone.
    let reference = SampleMath.quantile(
      of: total.filter { $0 > 0.01 * greatest }, Self.fullIntensityQuantile)
    let factor = { (decibels: Double) in Float(Decibels.factor(max(threshold, decibels))) }
    // Peaks narrower than a burst are transients; the rest is smoothed to what a body follows.
    let level = SampleMath.movingMean(of: SampleMath.opening(of: total, over: 25), over: 15)
    let onsets = Self.onsets(in: octaves, weights: weights.onsets)
    for onset in onsets {
      let range = max(0, onset - 15)..<min(count, onset + 30)
      let peak = range.max { total[$0] < total[$1] } ?? onset
      let strong = total[peak]
      let before = total[max(0, onset - 30)..<max(1, onset - 10)].max() ?? 0
      guard strong >= factor(Self.minimumTransientLevel) * reference, strong >= 1.26 * before else {
        continue
      }
      let rises = octaves.map { octave -> Double in
        let now = onset..<min(count, onset + 20)
        let past = max(0, onset - 25)..<max(1, onset - 5)
        let usual = SampleMath.energy(of: octave, in: past) / Float(past.count) * Float(now.count)
        return Double(max(0, SampleMath.energy(of: octave, in: now) - usual))
      }
      let time = Self.refinedOnset(onset, in: samples, rate: rate)
      // The hum goes on below it.
      let hum = level[peak] * weights.kept
      let share = Double(min(1, max(0, strong * strong - hum * hum).squareRoot() / reference))
      guard Float(share) >= factor(Self.minimumTransientLevel) else { continue }
      let sharpness = Self.sharpness(of: rises, centers: centers)
      transients.append(
        TracedTransient(
          time: max(0, time - Self.leadDuration),
          intensity: table.intensity(ofRelativeAmplitude: share, sharpness: sharpness),
          sharpness: sharpness))
    }
    let powers = zip(octaves, weights.hum).map { octave, weight in
      SampleMath.movingMean(of: octave.map { $0 * $0 * weight * weight }, over: 30)
    }
    let least = factor(Self.minimumContinuousLevel) * reference
    for segment in SampleMath.segments(
      count, closing: 60, where: { level[$0] * weights.kept > least })
    where segment.count >= 60 {
      let sharpnesses = segment.map { index in
        Self.sharpness(of: powers.map { Double($0[index]) }, centers: centers)
      }
      let intensities = zip(segment, sharpnesses).map { index, sharpness in
        table.intensity(
          ofRelativeAmplitude: Double(min(1, level[index] / reference) * weights.kept),
          sharpness: sharpness)
      }
      continuous.append(
        TracedContinuous(
          start: Double(segment.lowerBound) / Self.levelRate - Self.leadDuration,
          step: 1 / Self.levelRate,
          intensities: intensities,
          sharpnesses: sharpnesses))
    }
  }

  private static func sharpness(of powers: [Double], centers: [Double]) -> Double {
    let sum = powers.reduce(0, +)
    guard sum > 1e-18 else { return 0 }
    let centroid = zip(powers, centers).reduce(0) { $0 + $1.0 * log($1.1) } / sum
    return min(
      1, max(0, (centroid - log(centroidRange.low)) / log(centroidRange.high / centroidRange.low)))
  }

  private static func totalLevel(of octaves: [[Float]], weights: [Float]) -> [Float] {
    var total = [Float](repeating: 0, count: octaves[0].count)
    for (octave, weight) in zip(octaves, weights) {
      for index in total.indices {
        total[index] += octave[index] * octave[index] * weight * weight
      }
    }
    return total.map { $0.squareRoot() }
  }

  /// The level of each octave below 0.45 of the rate, a thousand a second, and its centre in hertz.
  private static func octaveLevels(of samples: [Float], rate: Double) -> ([[Float]], [Double]) {
    let corners = octaveCorners.filter { $0 < 0.45 * rate }
    let count = Int(Double(samples.count) / rate * levelRate) + 1
    var levels: [[Float]] = []
    var centers: [Double] = []
    var low = samples
    var lowRate = rate
    // From the highest octave down, at ever lower rates.
    for (bottom, top) in zip(corners, corners.dropFirst()).reversed() {
      if lowRate > 14 * top {
        let narrow = TactileBandSignal(of: low, rate: lowRate, minimumRate: 6 * top)
        low = narrow.samples
        lowRate = narrow.rate
      }
      let above = Biquad(hertz: bottom, isHighPass: true, rate: lowRate).filtered(low)
      let band = Biquad(hertz: top, isHighPass: false, rate: lowRate).filtered(above)
      let width = max(3, Int(max(0.006, 0.5 / bottom) * lowRate) | 1)
      let window = (0..<width).map {
        Float(1 - cos(2 * .pi * (Double($0) + 1) / Double(width + 1)))
      }
      let sum = window.reduce(0, +)
      let padding = [Float](repeating: 0, count: width)
      let powers = padding + band.map { $0 * $0 } + padding
      levels.append(
        (0..<count).map { index in
          let center = min(Int(Double(index) / levelRate * lowRate), band.count) + width
          return max(0, DotProduct.of(powers.span, from: center - width / 2 - 1, window.span) / sum)
            .squareRoot()
        })
      centers.append((bottom * top).squareRoot())
    }
    return (levels.reversed(), centers.reversed())
  }

  /// Where octaves rise over their last 8 to 33 ms, by decibels.
  private static func onsets(in octaves: [[Float]], weights: [Float]) -> [Int] {
    let count = octaves[0].count
    let floor =
      Float(Decibels.factor(gateDecibels))
      * SampleMath.quantile(
        of: totalLevel(of: octaves, weights: octaves.map { _ in 1 }), fullIntensityQuantile)
    var novelty = [Float](repeating: 0, count: count)
    let share =
      Float(Double(octaves.count).squareRoot())
      / max(weights.prefix(octaves.count).reduce(0, +), 1e-9)
    for (octave, weight) in zip(octaves, weights) {
      let decibels = octave.map { Float(20 * log10(Double($0 + floor) + 1e-12)) }
      let past = SampleMath.slidingExtreme(of: decibels, over: 25, by: >)
      for index in 20..<count {
        novelty[index] += weight * share * max(0, decibels[index] - past[index - 20])
      }
    }
    novelty = SampleMath.movingMean(of: novelty, over: 5)
    let usual = SampleMath.movingMedian(
      of: stride(from: 0, to: count, by: 4).map { novelty[$0] }, over: 101)
    return SampleMath.peaks(of: novelty, minimumDistance: 40) {
      novelty[$0] > minimumRise + 1.5 * usual[$0 / 4]
    }
  }

  /// The steepest ratio of the 3 ms before and behind, near an onset; in seconds of the padded
  /// sound.
  private static func refinedOnset(_ onset: Int, in samples: [Float], rate: Double) -> Double {
    let first = max(0, Int(Double(onset - 20) / levelRate * rate))
    let end = min(samples.count, Int(Double(onset + 8) / levelRate * rate))
    let width = Int(0.003 * rate)
    guard end - first > 2 * width + 2, width > 0 else { return Double(onset) / levelRate }
    var sums = [0.0]
    for index in first..<end {
      sums.append(sums[sums.count - 1] + Double(samples[index] * samples[index]))
    }
    let least = 1e-3 * sums[sums.count - 1] / Double(end - first) * Double(width) + 1e-18
    var best = (ratio: 0.0, place: width)
    for place in width..<(end - first - width) {
      let ratio =
        (sums[place + width] - sums[place] + least) / (sums[place] - sums[place - width] + least)
      if ratio > best.ratio {
        best = (ratio, place)
      }
    }
    return Double(first + best.place) / rate
  }
}

extension TracingOptions.Style {
  /// The weight of each octave in continuous events and in onsets, and how much of the hum is kept.
  fileprivate var weights: (hum: [Float], onsets: [Float], kept: Float) {
    switch self {
    case .full: ([1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 0.8, 0.6], 1)
    case .impacts: ([1, 1, 0.8, 0.4, 0.2, 0.1, 0.05, 0], [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.3], 0.35)
    case .music: ([1, 1, 1, 0.5, 0.25, 0.1, 0, 0], [1, 1, 0.8, 0.4, 0.3, 0.3, 0.5, 0.5], 0.8)
    case .voice: ([0.2, 0.5, 1, 1, 0.8, 0.5, 0.3, 0.2], [0.3, 0.5, 1, 1, 1, 1, 0.5, 0.3], 1)
    }
  }
}
