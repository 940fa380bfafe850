internal import CMath
import SignalAnalysis

extension RecordingChanges {
  /// The ways to explain what is left around an event, where anything is.
  func alternatives(for index: Int) -> [Alternative] {
    let column = columns[index]
    let x = column.samples
    guard x.count > 20 else { return [] }
    let energy = Samples.energy(x)
    let z2 = RecordingThreshold.z * RecordingThreshold.z
    guard isSuspicious(column, energy, z2) else { return [] }
    let tries = trials(of: index)
    var found = [level(tries, column, energy)]
    found += times(tries, column)
    found += frequencies(tries)
    var known = found.compactMap(\.self)
    if let other = otherSound(tries, column, energy), known.allSatisfy({ $0.improvement < 0.5 * other.improvement }) {
      known.append(other)
    }
    return known.filter {
      // That something else sounds explains all that is left, whatever it is.
      let share = $0.change.kind == .spectrum ? 0 : $0.improvement * sigma * sigma / max(tries.before, 1e-30)
      return isNews(column.range, $0.improvement, share: share)
    }
  }

  /// That something else sounds where the event should, which nothing else explains.
  func otherSound(_ tries: Trials, _ column: Column, _ energy: Double) -> Alternative? {
    let noise = sigma * sigma * Double(column.samples.count)
    let left = Samples.energy(rest, column.range) - noise
    let own = gain * gain * energy
    guard left > 0.2 * own else { return nil }
    var rated = rated(
      tries, after: tries.before - left, parameters: 10, stem: nil,
      change(.spectrum, tries.index, 10 * log10(left / own)))
    rated?.score *= Self.vagueness
    return rated
  }

  /// What is around an event if it were not there.
  struct Trials {
    var index: Int
    var values: [Float]
    var energy: Double
    var before: Double
    var start: Int
  }

  /// What is around an event now, if it were not there.
  func trials(of index: Int) -> Trials {
    let column = columns[index]
    let margin = Int(Self.reach * rate) + 20
    let window = max(0, column.start - margin)..<min(rest.count, column.range.upperBound + margin)
    var values = Array(rest[window])
    Samples.add(column.samples, times: gain, to: &values, at: column.start - window.lowerBound)
    return Trials(
      index: index, values: values, energy: Samples.energy(values), before: Samples.energy(rest, window),
      start: window.lowerBound)
  }

  /// A frequency near one that explains more than the one there is.
  ///
  /// The event's level is free, and so is its time a little: the place of the whole may still be wrong
  /// because of the event.
  func frequency(_ tries: Trials, near ratio: Double) -> (stem: Stem, ratio: Double, before: Double, after: Double)? {
    let variants = EventVariants(reference: original)
    var best: (stem: Stem, ratio: Double, before: Double, after: Double)?
    var center = ratio
    // What explains a hundredth of a standard error more is as good.
    var least = tries.before - max(0.01 * sigma * sigma, 0.01 * tries.before)
    let seconds = Double(columns[tries.index].samples.count) / rate
    least -= shifted(columns[tries.index], tries)
    let first = min(0.03, 0.003 / max(0.01, seconds))
    for step in [0, first, first / 2, first / 4, first / 8] {
      for sign in [1.0, -1] {
        let tried = center * exp(step * sign)
        guard let (stem, before, after) = variants.frequency(of: tries.index, times: tried) else { continue }
        let column = whitened(stem)
        let energy = max(Samples.energy(column.samples), 1e-30)
        let own = max(0, product(column, tries)) / energy
        let left = tries.energy - own * own * energy - shifted(column, tries)
        guard left < least, own > 0.1 * gain else { continue }
        least = left
        best = (stem.scaled(by: isAlone ? 1 : own / gain), tried, before, after)
      }
      center = best?.ratio ?? center
    }
    return best
  }

  /// A shift near one that explains more than the one there is, by the slope of the event's sound.
  func time(_ tries: Trials, near shift: Double) -> (stem: Stem, shift: Double)? {
    let column = columns[tries.index]
    let (slope, energy) = slope(of: column)
    let own = product(column, tries) / max(Samples.energy(column.samples), 1e-30)
    guard own > 0.1 * gain, energy > 0 else { return nil }
    let step = -product(slope, tries) / (own * energy) / rate
    guard abs(step) > 2e-6, abs(step) < 0.002,
      let stem = EventVariants(reference: original).time(of: tries.index, later: shift + step)
    else { return nil }
    let scale = (fit.reference.stems[tries.index].energy / max(original.stems[tries.index].energy, 1e-30)).squareRoot()
    let moved = whitened(stem.scaled(by: scale))
    let after = tries.energy - 2 * gain * product(moved, tries) + gain * gain * Samples.energy(moved.samples)
    guard after < 0.99 * tries.before else { return nil }
    return (stem.scaled(by: scale), shift + step)
  }

  /// The slope of a column, less what of it is a change of level, and its energy.
  private func slope(of column: Column) -> (Column, Double) {
    let energy = max(Samples.energy(column.samples), 1e-30)
    var slope = column
    let x = column.samples
    guard x.count > 2 else { return (slope, 0) }
    for index in 1..<x.count - 1 { slope.samples[index] = (x[index + 1] - x[index - 1]) / 2 }
    (slope.samples[0], slope.samples[x.count - 1]) = (0, 0)
    Samples.add(x, times: -slope.dot(column) / energy, to: &slope.samples, at: 0)
    return (slope, Samples.energy(slope.samples))
  }

  /// How much more a column explains that may come a little earlier or later.
  private func shifted(_ column: Column, _ tries: Trials) -> Double {
    let (slope, energy) = slope(of: column)
    let product = product(slope, tries)
    return energy > 0 ? product * product / energy : 0
  }

  /// Whether there is one event, whose level is that of the whole.
  var isAlone: Bool { original.groups.count == 1 }

  func isSuspicious(_ column: Column, _ energy: Double, _ z2: Double) -> Bool {
    let x = column.samples
    let r = Array(rest[column.range])
    let count = Double(x.count)
    let excess = (Samples.energy(r) / (sigma * sigma) - count) / (2 * count).squareRoot()
    var slope = x
    for i in 1..<x.count - 1 { slope[i] = (x[i + 1] - x[i - 1]) / 2 }
    (slope[0], slope[x.count - 1]) = (0, 0)
    let along = Samples.dot(slope, from: 0, x, from: 0, count: x.count) / energy
    Samples.add(x, times: -along, to: &slope, at: 0)
    let level = Samples.dot(r, from: 0, x, from: 0, count: x.count)
    let time = Samples.dot(r, from: 0, slope, from: 0, count: x.count)
    let tests = max(level * level / energy, time * time / max(Samples.energy(slope), 1e-30))
    return max(tests / (sigma * sigma), 4 * excess) > 0.8 * z2
  }

  /// Rates one way; nil where it is too little to be reported.
  func rated(_ tries: Trials, after: Double, parameters: Double, stem: Stem?, _ change: RecordingChange) -> Alternative?
  {
    let improvement = (tries.before - after) / (sigma * sigma)
    let score = improvement - parameters * RecordingThreshold.z * RecordingThreshold.z
    let energy = Samples.energy(columns[tries.index].samples) * gain * gain
    guard score > 0, tries.before - after > RecordingThreshold.share * energy else { return nil }
    var change = change
    change.confidence = improvement.squareRoot()
    return Alternative(score: score, improvement: improvement, change: change, stem: stem, index: tries.index)
  }

  func change(_ kind: Difference.Kind, _ index: Int, _ amount: Double, before: Double? = nil, after: Double? = nil)
    -> RecordingChange
  {
    let stem = original.stems[index]
    return RecordingChange(
      kind: kind, event: stem.event, range: stem.time...max(stem.time, stem.end), amount: amount, before: before,
      after: after, confidence: 0)
  }

  func level(_ tries: Trials, _ column: Column, _ energy: Double) -> Alternative? {
    let product = Samples.dot(
      column.samples, from: 0, tries.values, from: column.start - tries.start, count: column.samples.count)
    let own = product / energy
    let after = tries.energy - own * own * energy
    let stem = fit.reference.stems[tries.index]
    if own < RecordingThreshold.missing * gain {
      // Where something else sounds, it is not missing.
      let inside = Samples.energy(tries.values, column.start - tries.start..<column.range.upperBound - tries.start)
      let noise = sigma * sigma * Double(column.samples.count)
      guard inside - noise < 0.3 * gain * gain * energy else { return nil }
      let peak = 20 * log10(max(Double(SignalPair.peak(stem.samples)), 1e-6))
      return rated(tries, after: tries.energy, parameters: 1, stem: nil, change(.missing, tries.index, peak))
    }
    let decibels = 20 * log10(own / gain)
    guard abs(decibels) >= RecordingThreshold.decibels else { return nil }
    return rated(
      tries, after: after, parameters: 1, stem: stem.scaled(by: own / gain), change(.level, tries.index, decibels))
  }

  /// The products of a column with what is around it, at lags of `reach` samples to both sides.
  func products(_ column: Column, _ tries: Trials, reach: Int) -> [Double] {
    let offset = column.start - tries.start
    let x = column.samples
    if x.count < 600 {
      return (-reach...reach).map { lag in
        let first = max(0, -(offset + lag))
        let last = min(x.count, tries.values.count - offset - lag)
        return Samples.dot(x, from: first, tries.values, from: offset + lag + first, count: last - first)
      }
    }
    let padded = [Float](repeating: 0, count: max(0, offset)) + x
    return CrossCorrelation.of(padded, tries.values, reach: reach).map { Double($0) }
  }

  func times(_ tries: Trials, _ column: Column) -> [Alternative?] {
    let reach = Int(Self.reach * rate)
    let products = products(column, tries, reach: reach)
    var peaks: [Int] = []
    for index in 1..<products.count - 1 {
      let value = products[index]
      if value > 0, value > products[index - 1], value >= products[index + 1] { peaks.append(index) }
    }
    peaks.sort { products[$0] > products[$1] }
    // Controls that do not move along make another peak than the highest the right one.
    peaks = Array(peaks.prefix(original.renderer?.hasControls == true ? 5 : 1))
    var supposed: [Alternative?] = []
    if let hypothesis, hypothesis.index == tries.index, hypothesis.ratio == nil {
      supposed = time(tries, hypothesis.stem.time - original.stems[tries.index].time)
    }
    return supposed
      + peaks.flatMap { peak -> [Alternative?] in
        let (a, b, c) = (products[peak - 1], products[peak], products[peak + 1])
        let part = 0.5 * (a - c) / (a - 2 * b + c)
        let shift = (Double(peak - reach) + part) / rate / (1 + fit.place.tempo)
        guard abs(shift) >= RecordingThreshold.seconds else { return [] }
        return time(tries, shift)
      }
  }

  func time(_ tries: Trials, _ shift: Double) -> [Alternative?] {
    guard let stem = EventVariants(reference: original).time(of: tries.index, later: shift) else { return [] }
    let moved = whitened(stem)
    let energy = Samples.energy(moved.samples)
    let product = product(moved, tries)
    let change = change(
      .time, tries.index, shift, before: original.stems[tries.index].time,
      after: original.stems[tries.index].time + shift)
    let plain = rated(
      tries, after: tries.energy - 2 * gain * product + gain * gain * energy, parameters: 1, stem: stem, change)
    let own = product / max(energy, 1e-30)
    guard own > 0.1 * gain else { return [plain] }
    let both = rated(
      tries, after: tries.energy - own * own * energy, parameters: 2.2, stem: stem.scaled(by: own / gain), change)
    return [plain, both]
  }

  func whitened(_ stem: Stem) -> Column {
    stem.column(onset: fit.place.time(stem.time), speed: fit.place.speed, count: fit.take.count).whitened(
      by: fit.whitener, count: fit.take.count)
  }

  func product(_ column: Column, _ tries: Trials) -> Double {
    column.dot(Column(start: tries.start, samples: tries.values))
  }

  /// The event at other frequencies: the best of a grid, then nearer and nearer to it.
  func frequencies(_ tries: Trials) -> [Alternative?] {
    let variants = EventVariants(reference: original)
    func attempt(_ ratio: Double) -> [Alternative] {
      guard abs(ratio - 1) * 100 >= RecordingThreshold.percent,
        let (stem, before, after) = variants.frequency(of: tries.index, times: ratio)
      else { return [] }
      let column = whitened(stem)
      let energy = Samples.energy(column.samples)
      let product = product(column, tries)
      let change = change(.frequency, tries.index, 100 * (ratio - 1), before: before, after: after)
      let plain = rated(
        tries, after: tries.energy - 2 * gain * product + gain * gain * energy, parameters: 1, stem: stem, change)
      let own = product / max(energy, 1e-30)
      guard own > 0.2 * gain else { return [plain].compactMap(\.self) }
      let both = rated(
        tries, after: tries.energy - own * own * energy, parameters: isAlone ? 1 : 2.2,
        stem: stem.scaled(by: isAlone ? 1 : own / gain), change)
      return [plain, both].compactMap(\.self)
    }
    var found: [Alternative] = []
    func best() -> Alternative? { found.max { $0.score < $1.score } }
    let isShort = Double(columns[tries.index].samples.count) < 0.12 * rate
    let supposed = hypothesis.flatMap { $0.index == tries.index ? $0.ratio : nil }
    if let supposed { found += attempt(supposed) }
    if isShort || supposed != nil {
      for step in 1...9 where isShort { for sign in [1.0, -1] { found += attempt(exp(0.06 * Double(step) * sign)) } }
      for step in [0.03, 0.015, 0.007_5] {
        guard let ratio = best().map({ 1 + $0.change.amount / 100 }) else { break }
        for sign in [1.0, -1] { found += attempt(ratio * exp(step * sign)) }
      }
    }
    if !isShort, let ratio = trackedRatio(tries, variants) { found += attempt(ratio) }
    return [best()]
  }

  /// How much higher a long sound is: by its mean frequency, then by how its phase runs away.
  func trackedRatio(_ tries: Trials, _ variants: EventVariants) -> Double? {
    let column = columns[tries.index]
    let range = column.range
    let own = Stem(
      original.stems[tries.index].event, time: 0, origin: 0,
      samples: Array(tries.values[range.lowerBound - tries.start..<range.upperBound - tries.start]), rate: rate
    ).hertz
    let plain = Stem(original.stems[tries.index].event, time: 0, origin: 0, samples: column.samples, rate: rate).hertz
    guard own > 0, plain > 0 else { return nil }
    var ratio = own / plain
    for _ in 0..<5 {
      guard (0.2...5).contains(ratio) else { return nil }
      ratio = variants.nearest(ratio, of: tries.index)
      guard let (stem, _, _) = variants.frequency(of: tries.index, times: ratio) else { return nil }
      ratio *= 1 + drift(of: whitened(stem), tries) / max(20, stem.hertz)
    }
    return variants.nearest(ratio, of: tries.index)
  }

  /// Hertz by which what is around an event is higher than a variant of it, by its phase.
  func drift(of column: Column, _ tries: Trials) -> Double {
    let x = column.samples
    let length = Int(0.04 * rate)
    var phases: [(time: Double, phase: Double, weight: Double)] = []
    for start in stride(from: 1, to: x.count - length - 1, by: length) {
      var (re, im, xx, qq) = (0.0, 0.0, 1e-30, 1e-30)
      for index in start..<start + length {
        let place = column.start - tries.start + index
        guard place >= 0, place < tries.values.count else { continue }
        let q = Double(x[index + 1] - x[index - 1])
        re += Double(x[index]) * Double(tries.values[place])
        im += q * Double(tries.values[place])
        xx += Double(x[index]) * Double(x[index])
        qq += q * q
      }
      let phase = atan2(im / qq.squareRoot(), re / xx.squareRoot())
      phases.append((Double(start) / rate, phase, (re * re / xx + im * im / qq)))
    }
    guard phases.count > 1 else { return 0 }
    // The mean of the steps of the phase: what lies farther apart may have turned.
    var (real, imaginary) = (0.0, 0.0)
    for (a, b) in zip(phases, phases.dropFirst()) {
      let weight = min(a.weight, b.weight)
      real += weight * cos(b.phase - a.phase)
      imaginary += weight * sin(b.phase - a.phase)
    }
    return atan2(imaginary, real) / (2 * .pi * Double(length) / rate)
  }
}
