internal import CMath
import SignalAnalysis

/// Short sounds that may have been added: bursts of many frequencies in any phase, and given shapes.
struct ToneBursts {
  /// What was found.
  struct Found {
    /// Samples of the take that it takes.
    var range: Range<Int>
    /// The sample at which it starts.
    var start: Int
    /// Its amplitude in the take.
    var amplitude: Double
    /// How much it explains, beyond what chance does.
    var score: Double
  }

  /// One burst: a column, and one a quarter of a period later where its phase is free.
  private var shapes: [(cosine: [Float], sine: [Float]?)] = []

  /// - Parameter extra: Shapes whose phase is known.
  init(rate: Double, extra: [Column]) {
    for step in 0..<9 {
      let hertz = 60 * pow(320.0 / 60, Double(step) / 8)
      for seconds in [0.012, 0.035] {
        let count = Int(seconds * rate)
        let window = (0..<count).map { pow(sin(.pi * (Double($0) + 0.5) / Double(count)), 0.6) }
        let angle = 2 * .pi * hertz / rate
        shapes.append(
          (
            window.indices.map { Float(window[$0] * cos(angle * Double($0))) },
            window.indices.map { Float(window[$0] * sin(angle * Double($0))) }
          ))
      }
    }
    for column in extra {
      let peak = max(1e-9, SignalPair.peak(column.samples))
      shapes.append((column.samples.map { $0 / peak }, nil))
    }
  }

  /// The clearest burst in a whitened residual, or nil where there is none.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation of the residual's noise.
  ///   - hidden: The amplitude, at each sample, below which a burst is not felt.
  func strongest(in rest: [Float], through whitener: [Float], sigma: Double, hidden: [Float]) -> Found? {
    let length = FourierTransform.fastLength(atLeast: rest.count + 300)
    var transform = FourierTransform(length: length)
    let bins = transform.forward(rest)
    let tests = max(1, Double(rest.count) / 4e4)
    let z = RecordingThreshold.z + 0.25 * log10(tests)
    let limit = z * z + 8
    var best: Found?
    for (cosine, sine) in shapes {
      let a = Samples.filtered(cosine, by: whitener, tail: whitener.count - 1)
      let b = sine.map { Samples.filtered($0, by: whitener, tail: whitener.count - 1) }
      let products = Self.products(bins, a, &transform)
      let others = b.map { Self.products(bins, $0, &transform) }
      var energy = Samples.energy(a)
      if let b { energy = (energy + Samples.energy(b)) / 2 }
      let scale = Float(1 / (energy * sigma * sigma))
      let amplitude = Float(1 / energy)
      let least = max(Float(limit), Float(best.map { $0.score + limit } ?? 0))
      var found = (value: least, index: -1)
      let half = cosine.count / 2
      unsafe products.withUnsafeBufferPointer { p in
        for index in 0..<rest.count {
          var power = unsafe p[index] * p[index]
          if let others { power += others[index] * others[index] }
          guard power * scale > found.value else { continue }
          let middle = min(index + half, hidden.count - 1)
          guard power.squareRoot() * amplitude > hidden[middle] else { continue }
          found = (power * scale, index)
        }
      }
      guard found.index >= 0 else { continue }
      best = Found(
        range: max(0, found.index - 40)..<min(rest.count, found.index + cosine.count + 40), start: found.index,
        amplitude: (Double(found.value) * sigma * sigma / energy).squareRoot(), score: Double(found.value) - limit)
    }
    return best
  }

  private static func products(_ bins: [ComplexNumber], _ shape: [Float], _ transform: inout FourierTransform)
    -> [Float]
  {
    let own = transform.forward(shape)
    return transform.backward(bins.indices.map { bins[$0] * own[$0].conjugate })
  }
}
