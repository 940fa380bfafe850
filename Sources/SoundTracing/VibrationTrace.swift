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
  private(set) var unexplained = 0.0

  /// The weakest amplitude that counts: some steps of 16 bits.
  static let floor = Float(7e-4)
  /// What a hum may lie below the strongest, in decibels.
  private static let humRange = -36.0
  /// Seconds within which two transients are one.
  private static let together = 0.006
  /// Seconds of a gap that does not end a hum, and of the shortest hum.
  private static let (gap, least) = (0.012, 0.02)

  /// - Parameter threshold: The level relative to the strongest below which nothing counts, in decibels.
  init(of sound: [Float], rate: Double, table: VoiceTable, threshold: Double) {
    let band = TracedBand(sound, rate: rate, to: table.rate, lowest: table.band.lowerBound)
    let samples = band.samples
    let peak = samples.reduce(0) { max($0, abs($1)) }
    guard samples.count >= 64, peak >= Self.floor else { return }
    let width = 2 * Int(((Double(table.longest) / table.rate + 0.004) * table.rate).rounded()) + 1
    var bursts: [FoundBurst] = []
    var hum = Hum(of: samples, width: width, table: table)
    for pass in 0..<2 {
      let beside = zip(samples, hum.samples).map { $0 - $1 }
      let excursion = beside.reduce(0) { max($0, abs($1)) }
      let floor = max(Self.floor, excursion * Float(Decibels.factor(threshold)))
      bursts = BurstSearch(table: table, hum: hum.levels, floor: floor).bursts(in: beside)
      let test = StepTest(
        table: table, samples: samples, rest: BurstField(beside, table, without: bursts).rest, levels: hum.levels,
        hertz: hum.track.hertz)
      bursts.removeAll { test.isStep($0) }
      let rest = BurstField(samples, table, without: bursts).rest
      if pass == 1 {
        let reading = BurstTrains(table: table, floor: Self.floor)
          .find(
            in: samples, hum: hum, known: bursts,
            slow: { range in
              let margin = 2 * width
              let wide = max(0, range.lowerBound - margin)..<min(samples.count, range.upperBound + margin)
              let slow = Hum(of: Array(rest[wide]), width: 2 * width, table: table, slowness: 2)
              return Array(slow.samples.dropFirst(range.lowerBound - wide.lowerBound).prefix(range.count))
            })
        bursts = reading.bursts
        // Where bursts alone are read there is no hum.
        hum = Hum(of: BurstField(samples, table, without: bursts).rest, width: width, table: table)
        hum.silence(where: reading.isTrain)
      } else {
        hum = Hum(of: rest, width: width, table: table)
      }
    }
    let left = BurstField(zip(samples, hum.samples).map { $0 - $1 }, table, without: bursts).rest
    unexplained = Double(SampleMath.energy(left, left.indices) / SampleMath.energy(samples, samples.indices))
    for burst in bursts {
      let found = TracedTransient(
        time: (burst.onset(table) - Double(band.edge)) / table.rate,
        intensity: table.intensity(ofBurst: burst.factor(table)), sharpness: table.bursts[burst.wave].sharpness)
      // What began before the sound, and two that are one.
      guard found.time > -Self.together else { continue }
      if let last = transients.last, found.time - last.time < Self.together {
        if found.intensity > last.intensity { transients[transients.count - 1] = found }
      } else {
        transients.append(found)
      }
    }
    hum.track.refine(by: hum.still)
    continuous = Self.continuous(
      hum.levels, hum.track.hertz, table, edge: band.edge, range: max(Self.humRange, threshold))
  }

  /// The segments in which the hum is felt.
  private static func continuous(_ levels: [Float], _ hertz: [Double], _ table: VoiceTable, edge: Int, range: Double)
    -> [TracedContinuous]
  {
    let rate = table.rate
    let least = max(2 * floor, (levels.max() ?? 0) * Float(Decibels.factor(range)))
    let window = Int(0.02 * rate)
    var found: [TracedContinuous] = []
    for segment in SampleMath.segments(levels.count, closing: Int(gap * rate), where: { levels[$0] > least })
    where Double(segment.count) >= Self.least * rate {
      // It begins and ends where half of what it reaches within 20 ms is passed.
      let head = levels[segment.prefix(window)].max() ?? 0
      let tail = levels[segment.suffix(window)].max() ?? 0
      let first = head > 2.5 * least ? segment.first { levels[$0] > head / 2 } : segment.first
      let last = tail > 2.5 * least ? segment.last { levels[$0] > tail / 2 } : segment.last
      guard let first, let last, Double(last + 1 - first) >= Self.least * rate else { continue }
      var own = hertz[first...last].map { Float($0) }
      // The track is drawn to what lies beyond the ends.
      let margin = min(own.count / 3, Int(0.012 * rate))
      for index in 0..<margin {
        own[index] = own[margin]
        own[own.count - 1 - index] = own[own.count - 1 - margin]
      }
      own = SampleMath.median(own, over: Int(0.02 * rate) | 1)
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
struct Hum {
  /// Its tone without its turning, and how that turns.
  private(set) var still: [ComplexNumber]
  var track: ToneTrack
  private(set) var samples, levels: [Float]

  /// - Parameter width: Samples of the median, which ignores what is shorter than half of it, in any phase, and keeps
  ///   edges.
  init(of samples: [Float], width: Int, table: VoiceTable, slowness: Double = 1) {
    let silence = Int(0.1 * table.rate)
    let signal = AnalyticSignal(of: samples, silence: silence)
    let track = ToneTrack(of: samples, signal, rate: table.rate, table: table, slowness: slowness)
    func steady(_ signal: AnalyticSignal, _ ratio: Double) -> [ComplexNumber] {
      let turned = track.turnedBack(signal, times: ratio)
      let real = SampleMath.median(turned.map { $0.real }, over: width, step: 2)
      let imaginary = SampleMath.median(turned.map { $0.imaginary }, over: width, step: 2)
      return zip(real, imaginary).map { ComplexNumber($0, $1) }
    }
    self.track = track
    still = steady(signal, 1)
    var partials = [track.turning(still)] + table.overtones.map { _ in [Float](repeating: 0, count: samples.count) }
    // Each partial is what is left without the others, twice.
    for round in 0..<(table.overtones.isEmpty ? 0 : 2) {
      for (index, ratio) in ([1] + table.overtones).enumerated() where round > 0 || index > 0 {
        var rest = samples
        for other in partials.indices where other != index {
          for sample in rest.indices { rest[sample] -= partials[other][sample] }
        }
        let own = steady(AnalyticSignal(of: rest, silence: silence), ratio)
        partials[index] = track.turning(own, times: ratio)
        if index == 0 { still = own }
      }
    }
    self.samples = partials.dropFirst().reduce(partials[0]) { zip($0, $1).map { $0 + $1 } }
    levels = still.map { $0.power.squareRoot() }
  }

  mutating func silence(where isSilent: [Bool]) {
    for index in still.indices where isSilent[index] {
      (still[index], samples[index], levels[index]) = (ComplexNumber(), 0, 0)
    }
  }
}
