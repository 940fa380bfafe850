internal import CMath
internal import SignalAnalysis

/// Bursts alone, as close as they may be: the other reading of what hum and bursts leave unexplained.
struct BurstTrains {
  let table: VoiceTable
  /// Amplitudes below which nothing counts.
  let floor: Float

  /// Seconds over which readings are compared.
  private static let window = 0.12
  /// The part of the power that a reading may leave before the other is tried, and the longest that is tried at once.
  private static let unexplained = Float(0.04)
  private static let longest = 20.0
  /// The other reading wins where what it leaves pays for its bursts by the length of a description (J. Rissanen, Modeling
  /// by shortest data description, 1978): half a logarithm for each independent sample, of which there are so many a second
  /// for each hertz of the band, against the numbers of a burst. A hum and its movement cost as much as some bursts, and
  /// no reading is exact.
  private static let independent = 2.6
  private static let perBurst = Float(12)
  private static let perHum = Float(2)
  private static let inexact = Float(0.004)
  /// Bursts in a second at most.
  private static let most = 90.0
  /// The power of a burst as a part of the strongest of all, and of the strongest within 50 ms.
  private static let leastPower = Float(0.006)
  private static let leastBeside = Float(0.03)
  /// Seconds within which two are felt as one.
  private static let together = 0.006

  /// What a segment is read as.
  struct Reading {
    var bursts: [FoundBurst]
    /// Where bursts alone are read, without a hum.
    var isTrain: [Bool]
  }

  /// The readings that explain the samples with less to say: these bursts, others beside the hum, or others alone.
  ///
  /// - Parameter slow: The hum of a range, by longer medians, which ignore several bursts.
  func find(
    in samples: [Float], hum: Hum, known: [FoundBurst], slow: (Range<Int>) -> [Float]
  ) -> Reading {
    let rate = table.rate
    let count = Int(Self.window * table.slowness * rate)
    let perRatio = Float(Self.independent * table.band.upperBound * Double(count) / rate) / 2
    let beside = zip(samples, hum.samples).map { $0 - $1 }
    let power = SampleMath.mean(samples.map { $0 * $0 }, over: count)
    let left = SampleMath.mean(BurstField(beside, table, without: known).rest.map { $0 * $0 }, over: count)
    let least = 4 * floor * floor
    let margin = Int(0.05 * table.slowness * rate)
    var reading = Reading(bursts: known, isTrain: [Bool](repeating: false, count: samples.count))
    let segments = SampleMath.segments(samples.count, closing: 2 * margin) {
      left[$0] > Self.unexplained * power[$0] && power[$0] > least
    }
    let pieces = segments.flatMap { segment in
      stride(from: segment.lowerBound, to: segment.upperBound, by: Int(Self.longest * rate)).map {
        $0..<min(segment.upperBound, $0 + Int(Self.longest * rate))
      }
    }
    var rest = samples
    for segment in pieces {
      let range = max(0, segment.lowerBound - margin)..<min(samples.count, segment.upperBound + margin)
      let fewer = Self.density(known, in: range, over: count)
      // By how much each reading is shorter than the first, at each sample.
      func gains(_ bursts: [FoundBurst], _ rest: [Float], hums: Float) -> [Float] {
        let own = SampleMath.mean(rest.map { $0 * $0 }, over: count)
        let more = Self.density(bursts, in: range, over: count)
        return range.indices.map { place in
          let index = place - range.lowerBound
          guard left[place] > Self.unexplained * power[place] else { return 0 }
          let inexact = Self.inexact * power[place]
          let gain = Float(log(Double((left[place] + inexact) / (own[index] + inexact))))
          return perRatio * gain - Self.perBurst * (more[index] - fewer[index] - hums)
        }
      }
      let alone = pursue(Array(samples[range]), from: range.lowerBound)
      let besideSlow = zip(samples[range], slow(range)).map { $0 - $1 }
      let pursued = pursue(besideSlow, from: range.lowerBound)
      rest.replaceSubrange(range, with: pursued.rest)
      let test = StepTest(table: table, samples: samples, rest: rest, levels: hum.levels, hertz: hum.track.hertz)
      let additional = pursued.bursts.filter { !test.isStep($0) }
      rest.replaceSubrange(range, with: samples[range])
      let other = BurstField(besideSlow, table, without: additional.map { $0.moved(by: -range.lowerBound) })
      let trains = gains(alone.bursts, alone.rest, hums: Self.perHum)
      let both = gains(additional, other.rest, hums: 0)
      func take(_ bursts: [FoundBurst], isTrain: Bool, where isBetter: (Int) -> Bool) {
        for part in SampleMath.segments(range.count, closing: 1, where: isBetter) where part.count >= count / 2 {
          let part = part.lowerBound + range.lowerBound..<part.upperBound + range.lowerBound
          reading.bursts.removeAll { part.contains($0.start) }
          reading.bursts += bursts.filter { part.contains($0.start) }
          if isTrain { for index in part { reading.isTrain[index] = true } }
        }
      }
      take(additional, isTrain: false) { both[$0] > max(0, trains[$0]) }
      take(alone.bursts, isTrain: true) { trains[$0] > max(0, both[$0]) }
    }
    reading.bursts.sort { $0.start < $1.start }
    return reading
  }

  /// How many bursts begin within a window around each sample.
  private static func density(_ bursts: [FoundBurst], in range: Range<Int>, over count: Int) -> [Float] {
    var marks = [Float](repeating: 0, count: range.count)
    for burst in bursts where range.contains(burst.start) { marks[burst.start - range.lowerBound] += Float(count) }
    return SampleMath.mean(marks, over: count)
  }

  /// Matching pursuit, the strongest first (S. Mallat, Z. Zhang, Matching pursuits with time-frequency dictionaries,
  /// 1993); each is fitted once more when its neighbours are known.
  private func pursue(_ samples: [Float], from start: Int) -> (bursts: [FoundBurst], rest: [Float]) {
    var field = BurstField(samples, table, hasPhase: true)
    let last = field.samples.count - table.longest
    var best = [FoundBurst?](repeating: nil, count: last)
    // The greatest of each 64, so that the next burst is found in few steps.
    var tops = [Float](repeating: 0, count: last / 64 + 1)
    func refresh(_ range: Range<Int>) {
      let range = range.clamped(to: 0..<last)
      for index in range { best[index] = field.best(waves: table.coarse, within: 0) { _ in index } }
      guard !range.isEmpty else { return }
      for block in range.lowerBound / 64...(range.upperBound - 1) / 64 {
        tops[block] = best[block * 64..<min(last, block * 64 + 64)].reduce(0) { max($0, $1?.energy ?? 0) }
      }
    }
    refresh(0..<last)
    let least = max(64 * floor * floor, (tops.max() ?? 0) * Self.leastPower)
    var bursts: [FoundBurst] = []
    for _ in 0..<Int(Double(samples.count) / table.rate * Self.most) + 4 {
      guard let block = tops.indices.max(by: { tops[$0] < tops[$1] }), tops[block] >= least,
        let found = best[block * 64..<min(last, block * 64 + 64)].first(where: { $0?.energy == tops[block] }) ?? nil
      else { break }
      bursts.append(field.take(field.finest(around: found)))
      refresh(found.start - table.longest..<found.start + table.bursts[found.wave].count)
    }
    for _ in 0..<2 {
      for index in bursts.indices {
        field.give(bursts[index])
        let start = bursts[index].start + field.padding
        bursts[index] = field.take(field.finest(around: field.best(waves: table.coarse, within: 8) { _ in start }))
      }
    }
    return (merged(bursts).map { $0.moved(by: start) }, field.rest)
  }

  /// Without those that are masked or felt as one with another.
  private func merged(_ bursts: [FoundBurst]) -> [FoundBurst] {
    let bursts = bursts.sorted { $0.start < $1.start }
    var kept: [FoundBurst] = []
    for (index, burst) in bursts.enumerated() {
      func isNear(_ other: FoundBurst) -> Bool { abs(Double(other.start - burst.start)) < 0.05 * table.rate }
      let before = bursts[..<index].reversed().prefix(while: isNear)
      let behind = bursts[index...].prefix(while: isNear)
      let strongest = (Array(before) + Array(behind)).reduce(0) { max($0, $1.energy) }
      guard burst.energy > Self.leastBeside * strongest else { continue }
      if let last = kept.last, burst.onset(table) - last.onset(table) < Self.together * table.rate {
        if burst.energy > last.energy { kept[kept.count - 1] = burst }
      } else {
        kept.append(burst)
      }
    }
    return kept
  }
}
