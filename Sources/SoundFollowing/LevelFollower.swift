internal import CMath

/// Butterworth filters in cascade, by the bilinear transform (R. Bristow-Johnson, Audio EQ Cookbook).
struct FilterCascade {
  /// What is let through.
  enum Kind { case low, high }

  private struct Section {
    var b0, b1, b2, a1, a2: Double
    var first = 0.0
    var second = 0.0
  }
  private var sections: [Section] = []

  /// - Parameters:
  ///   - order: 1, or an even number.
  ///   - hertz: The corner, 3 dB down.
  init(_ kind: Kind, order: Int, hertz: Double, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.45 * rate) / rate
    if order == 1 {
      let pole = (1 - sin(angle)) / cos(angle)
      let gain = kind == .low ? (1 - pole) / 2 : (1 + pole) / 2
      sections = [Section(b0: gain, b1: kind == .low ? gain : -gain, b2: 0, a1: -pole, a2: 0)]
      return
    }
    sections = (0..<order / 2).map { index in
      let quality = 0.5 / cos(.pi * (2 * Double(index) + 1) / Double(2 * order))
      let alpha = sin(angle) / (2 * quality)
      let gain = (kind == .low ? 1 - cos(angle) : 1 + cos(angle)) / 2 / (1 + alpha)
      return Section(
        b0: gain, b1: kind == .low ? 2 * gain : -2 * gain, b2: gain, a1: -2 * cos(angle) / (1 + alpha),
        a2: (1 - alpha) / (1 + alpha))
    }
  }

  /// One section of given weights.
  init(_ b0: Double, _ b1: Double, _ b2: Double, _ a1: Double, _ a2: Double) {
    sections = [Section(b0: b0, b1: b1, b2: b2, a1: a1, a2: a2)]
  }

  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in sections.indices {
      let output = sections[index].b0 * sample + sections[index].first
      sections[index].first = sections[index].b1 * sample - sections[index].a1 * output + sections[index].second
      sections[index].second = sections[index].b2 * sample - sections[index].a2 * output
      // What is no longer heard takes no time.
      sample = abs(output) < 1e-30 ? 0 : output
    }
    return sample
  }
}

/// A level that follows another with one time constant upwards and one downwards.
struct Smoothing {
  private let up, down: Double
  private(set) var value: Double

  /// - Parameters:
  ///   - rise: Seconds.
  ///   - fall: Seconds.
  ///   - rate: Values per second.
  init(rise: Double, fall: Double, rate: Double, value: Double = 0) {
    (up, down) = (exp(-1 / (rise * rate)), exp(-1 / (fall * rate)))
    self.value = value
  }

  mutating func next(_ target: Double) -> Double {
    value = target + (value - target) * (target > value ? up : down)
    return value
  }
}

/// The mean square of a band over the frames of a control step.
struct BandPower {
  private var filters: [FilterCascade]
  private var sum = 0.0

  init(_ filters: FilterCascade...) { self.filters = filters }

  /// Takes a sample in; what is left of it in the band.
  @discardableResult mutating func add(_ sample: Double) -> Double {
    var sample = sample
    for index in filters.indices { sample = filters[index].next(sample) }
    sum += sample * sample
    return sample
  }

  /// The level of so many samples, which are forgotten.
  mutating func take(_ count: Int) -> Double {
    defer { sum = 0 }
    return (sum / Double(count)).squareRoot()
  }
}
