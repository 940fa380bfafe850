internal import CMath

/// The greatest magnitude of a signal between its samples, after ITU-R BS.1770.
///
/// Interpolates to four times the rate, or twice from 96 kHz on, or not at all from 192 kHz on, by
/// libebur128's windowed sinc of 49 taps. Samples whose neighbourhood is too weak for a new peak are
/// passed over, which changes no result.
struct TruePeakMeter {
  /// Samples before a block that its interpolation needs, rounded up to a multiple of eight.
  static let history = 24
  /// Samples that are passed over, or not, together: more than `history`.
  static let segmentLength = 64

  /// The greatest magnitude so far.
  private(set) var peak = Float(0)
  /// The taps of each phase, the newest sample's first; the phase of the samples has none.
  private let phases: [[Float]]
  /// How far a phase can exceed the greatest sample it looks at.
  private let gain: Float
  /// The greatest magnitude of the segment before.
  private var before = Float(0)

  /// Prepares for a rate.
  init(rate: Double) {
    let factor = rate < 96_000 ? 4 : rate < 192_000 ? 2 : 1
    phases = (1..<factor).map { Self.taps(of: $0, factor: factor) }
    // 2 % for rounding.
    gain = 1.02 * (phases.map { $0.reduce(0) { $0 + abs($1) } }.max() ?? 0)
  }

  private static func taps(of phase: Int, factor: Int) -> [Float] {
    stride(from: phase, to: 48, by: factor).map { index in
      let angle = .pi * Double(index - 24) / Double(factor)
      let window = 0.5 * (1 - cos(2 * .pi * Double(index) / 48))
      return Float(window * sin(angle) / angle)
    }
  }

  /// Takes in a segment of samples.
  ///
  /// - Parameters:
  ///   - samples: Where it begins; `history` earlier samples must lie before.
  ///   - greatest: The greatest magnitude in it.
  mutating func add(_ samples: UnsafeRawPointer, greatest: Float) {
    peak = max(peak, greatest)
    if max(greatest, before) * gain > peak {
      for group in 0..<Self.segmentLength / 8 {
        for taps in phases { unsafe interpolate(taps, behind: samples + group * 32) }
      }
    }
    before = greatest
  }

  /// Interpolates behind each of eight samples.
  private mutating func interpolate(_ taps: [Float], behind samples: UnsafeRawPointer) {
    var sums = SIMD8<Float>.zero
    for tap in taps.indices {
      let values = unsafe (samples - tap * 4).loadUnaligned(as: SIMD8<Float>.self)
      sums += values * taps[tap]
    }
    peak = max(peak, sums.greatestMagnitude)
  }
}

extension SIMD8<Float> {
  /// The numbers without their signs.
  var magnitudes: SIMD8<Float> {
    unsafe unsafeBitCast(
      unsafe unsafeBitCast(self, to: SIMD8<UInt32>.self) & SIMD8<UInt32>(repeating: 0x7FFF_FFFF), to: SIMD8<Float>.self)
  }

  /// The greater of each two numbers.
  func greater(_ other: SIMD8<Float>) -> SIMD8<Float> { replacing(with: other, where: other .> self) }

  /// The greatest of the magnitudes.
  var greatestMagnitude: Float {
    let all = magnitudes
    let four = all.lowHalf.replacing(with: all.highHalf, where: all.highHalf .> all.lowHalf)
    return Swift.max(Swift.max(four[0], four[1]), Swift.max(four[2], four[3]))
  }
}
