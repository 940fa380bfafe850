internal import CMath
internal import SignalAnalysis

/// What is done to whole arrays of samples.
enum SampleMath {
  /// The sum of squares of a range.
  static func energy(_ samples: [Float], _ range: Range<Int>) -> Float {
    var sum = Float(0)
    for index in range.clamped(to: samples.indices) { sum += samples[index] * samples[index] }
    return sum
  }

  /// The mean within a window that is centred on each sample; ends are held.
  static func mean(_ samples: [Float], over count: Int) -> [Float] {
    guard let first = samples.first, let last = samples.last, count > 1 else { return samples }
    let half = count / 2
    // Sums of Doubles, so that a loud beginning leaves nothing behind.
    var sum = Double(first) * Double(half + 1)
    for index in 0..<half { sum += Double(index < samples.count ? samples[index] : last) }
    let width = 2 * half + 1
    return samples.indices.map { index in
      sum += Double(index + half < samples.count ? samples[index + half] : last)
      let mean = Float(sum / Double(width))
      sum -= Double(index - half >= 0 ? samples[index - half] : first)
      return mean
    }
  }

  /// The median within a window that is centred on each sample; ends are held.
  ///
  /// - Parameter step: Only every so many samples are looked at; lines stand between.
  static func median(_ samples: [Float], over count: Int, step: Int = 1) -> [Float] {
    guard let first = samples.first, let last = samples.last, count > 1 else { return samples }
    let half = count / 2 / step
    func sample(_ index: Int) -> Float { index < 0 ? first : index < samples.count ? samples[index] : last }
    var window = (-half...half).map { sample(step * $0) }.sorted()
    var medians = samples
    for index in stride(from: 0, to: samples.count, by: step) {
      medians[index] = window[half]
      for between in max(0, index - step + 1)..<index {
        let share = Float(index - between) / Float(step)
        medians[between] = medians[index - step] * share + medians[index] * (1 - share)
      }
      let (old, new) = (sample(index - step * half), sample(index + step * (half + 1)))
      guard old != new else { continue }
      // What lies between the old place and the new one moves by one.
      var place = firstPlace(of: old, in: window)
      while new > old, place + 1 < window.count, window[place + 1] < new {
        window[place] = window[place + 1]
        place += 1
      }
      while new < old, place > 0, window[place - 1] > new {
        window[place] = window[place - 1]
        place -= 1
      }
      window[place] = new
    }
    return medians
  }

  private static func firstPlace(of value: Float, in sorted: [Float]) -> Int {
    var (low, high) = (0, sorted.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The least or greatest within a window that is centred on each sample; O(n).
  static func extreme(_ samples: [Float], over count: Int, by isBetter: (Float, Float) -> Bool) -> [Float] {
    let half = count / 2
    var queue: [Int] = []
    var (head, next) = (0, 0)
    return samples.indices.map { index in
      while next < min(samples.count, index + half + 1) {
        while queue.count > head, let last = queue.last, !isBetter(samples[last], samples[next]) { queue.removeLast() }
        queue.append(next)
        next += 1
      }
      while queue[head] < index - half { head += 1 }
      return samples[queue[head]]
    }
  }

  /// What is left of a level without peaks that are narrower than a window.
  static func opening(_ samples: [Float], over count: Int) -> [Float] {
    extreme(extreme(samples, over: count, by: <), over: count, by: >)
  }

  /// The segments in which something holds, gaps shorter than some closed.
  static func segments(_ count: Int, closing gap: Int, where holds: (Int) -> Bool) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index < count {
      guard holds(index) else {
        index += 1
        continue
      }
      let start = index
      while index < count, holds(index) { index += 1 }
      if let last = found.last, start - last.upperBound < gap {
        found[found.count - 1] = last.lowerBound..<index
      } else {
        found.append(start..<index)
      }
    }
    return found
  }

  /// The places that are greater than their neighbours, the strongest of those closer than a distance.
  static func peaks(_ samples: [Float], distance: Int, where counts: (Int) -> Bool) -> [Int] {
    let greatest = extreme(samples, over: 2 * distance - 1, by: >)
    var last = -distance
    return samples.indices.filter { index in
      guard samples[index] == greatest[index], samples[index] > 0, index - last >= distance, counts(index) else {
        return false
      }
      last = index
      return true
    }
  }

  /// The value under which a share of all lies.
  static func quantile(_ values: [Float], _ share: Double) -> Float {
    guard !values.isEmpty else { return 0 }
    return values.sorted()[min(values.count - 1, Int(share * Double(values.count)))]
  }

  /// The place of a parabola's top beside the middle of three values, −½…½.
  static func top(_ before: Float, _ at: Float, _ behind: Float) -> Double {
    let bend = Double(before) - 2 * Double(at) + Double(behind)
    guard bend < 0 else { return 0 }
    return min(0.5, max(-0.5, 0.5 * (Double(before) - Double(behind)) / bend))
  }
}

/// A filter of second order, by the bilinear transform (R. Bristow-Johnson, Audio EQ Cookbook).
struct SecondOrderFilter {
  private var (b0, b1, b2, a1, a2) = (Float(1), Float(0), Float(0), Float(0), Float(0))

  /// - Parameters:
  ///   - hertz: The corner, below half the rate.
  ///   - isHighPass: Whether what lies above passes.
  init(hertz: Double, isHighPass: Bool, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.49 * rate) / rate
    let (cosine, alpha) = (cos(angle), sin(angle) / 2.0.squareRoot())
    let gain = (isHighPass ? 1 + cosine : 1 - cosine) / 2 / (1 + alpha)
    (b0, b1, b2) = (Float(gain), Float(isHighPass ? -2 * gain : 2 * gain), Float(gain))
    (a1, a2) = (Float(-2 * cosine / (1 + alpha)), Float((1 - alpha) / (1 + alpha)))
  }

  /// The filtered samples, from silence.
  func filtered(_ samples: [Float]) -> [Float] {
    var (first, second) = (Float(0), Float(0))
    return samples.map { sample in
      let output = b0 * sample + first
      first = b1 * sample - a1 * output + second
      second = b2 * sample - a2 * output
      return output
    }
  }

  /// The samples filtered forwards and backwards, so that nothing is delayed.
  func filteredTwice(_ samples: [Float]) -> [Float] { filtered(filtered(samples).reversed()).reversed() }
}

/// A signal with its quarter turn: a tone's amplitude and phase at each sample.
struct AnalyticSignal {
  var values: [ComplexNumber]

  /// By one transform of the whole, which is followed by silence.
  init(of samples: [Float], silence: Int) {
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: samples.count + silence))
    var bins = transform.forward(samples)
    for index in bins.indices { bins[index] = ComplexNumber(bins[index].imaginary, -bins[index].real) }
    bins[0] = ComplexNumber()
    let turned = transform.backward(bins)
    values = samples.indices.map { ComplexNumber(samples[$0], turned[$0]) }
  }

  var levels: [Float] { values.map { $0.power.squareRoot() } }
}
