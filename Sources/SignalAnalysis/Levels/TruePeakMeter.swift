internal import Glibc

/// The greatest magnitude of a signal between its samples, after ITU-R BS.1770.
///
/// Interpolates to four times the rate, or twice from 96 kHz on, or not at all from 192 kHz on, by
/// libebur128's windowed sinc of 49 taps. Samples whose neighbourhood is too weak for a new peak are
/// passed over, which changes no result.
struct TruePeakMeter {
  /// Samples before a block that its interpolation needs, rounded up to a multiple of eight.
  static let history = 24

  /// The greatest magnitude so far.
  private(set) var peak = Float(0)
  /// The taps of each phase, the newest sample's first; the phase of the samples has none.
  private let phases: [[Float]]
  /// How far a phase can exceed the greatest sample it looks at.
  private let gain: Float
  /// The greatest magnitudes of the last groups of eight.
  private var recent = SIMD4<Float>.zero

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

  /// Takes in samples that follow the `history` samples before them in the buffer.
  ///
  /// - Parameters:
  ///   - buffer: `history` earlier samples, then new ones; long enough for whole groups of eight.
  ///   - count: How many are new. Only the last call may have no multiple of eight, the rest of its
  ///     last group being silence.
  mutating func add(_ buffer: Span<Float>, count: Int) {
    let groups = (count + 7) / 8
    precondition(buffer.count >= Self.history + groups * 8, "the groups must be whole")
    unsafe buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      for group in 0..<groups {
        let start = unsafe base.advanced(by: 4 * (Self.history + group * 8))
        let values = unsafe start.loadUnaligned(as: SIMD8<Float>.self)
        let greatest = max(values.max(), -values.min())
        let around = max(greatest, recent.max())
        recent = SIMD4(greatest, recent.x, recent.y, 0)
        peak = max(peak, greatest)
        guard around * gain > peak else { continue }
        for phase in phases.indices { unsafe interpolate(phase, endingAt: start) }
      }
    }
  }

  /// Interpolates behind each of eight samples.
  private mutating func interpolate(_ phase: Int, endingAt start: UnsafeRawPointer) {
    let taps = phases[phase]
    var sums = SIMD8<Float>.zero
    for tap in taps.indices {
      let values = unsafe (start - tap * 4).loadUnaligned(as: SIMD8<Float>.self)
      sums += values * taps[tap]
    }
    peak = max(peak, max(sums.max(), -sums.min()))
  }
}
