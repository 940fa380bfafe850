internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// Finds the two sweeps in a recording.
///
/// The recording is divided by the sweep in frequency, which gathers each sweep in an impulse.
struct SweepSearch {
  /// How far the second sweep may lie from its place, in seconds: what the pause allows.
  static let tolerance = 0.05
  /// How far an impulse has to stand out of the rest, as a multiple of the median.
  private static let prominence: Float = 9
  /// The least part of the one impulse that the other may be.
  private static let likeness: Float = 0.2

  /// The magnitude of the impulse response, at a lower rate than the recording's.
  private let impulses: [Float]
  /// Impulse samples in a second.
  private let rate: Double
  private let signal: SweepSignal

  /// Divides a recording that was checked by the signal's sweep.
  init(_ recording: CalibrationRecording, signal: SweepSignal) {
    self.signal = signal
    let sweep = signal.sweep(rate: recording.rate)
    let length = FourierTransform.fastLength(atLeast: recording.samples.count + sweep.count)
    var transform = FourierTransform(length: length)
    let recorded = transform.forward(recording.samples)
    let played = transform.forward(sweep)
    let spacing = recording.rate / Double(length)
    let lowest = Int((signal.band.lowerBound / spacing).rounded(.up))
    let highest = min(Int(signal.band.upperBound / spacing), length / 2)
    let strongest = (lowest...max(lowest, highest)).reduce(Float(0)) { max($0, played[$1].power) }
    let floor = max(1e-4 * strongest, .leastNormalMagnitude)
    // Eight samples for each period of the highest frequency.
    let reduced = FourierTransform.fastLength(atLeast: 8 * (highest + 1))
    var inverse = FourierTransform(length: reduced)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: inverse.binCount)
    for index in lowest...max(lowest, highest) {
      let product = recorded[index] * played[index].conjugate
      let scale = 1 / (played[index].power + floor)
      bins[index] = ComplexNumber(product.real * scale, product.imaginary * scale)
    }
    rate = recording.rate * Double(reduced) / Double(length)
    let room = max(1, Int((recording.duration - 0.9 * signal.duration) * rate))
    impulses = inverse.backward(bins).prefix(room).map(abs)
  }

  /// Where both sweeps begin, in seconds, each later by what the transducer takes to answer.
  func pair() throws(CalibrationError) -> (first: Double, second: Double) {
    let best = peak(in: 0...Double(impulses.count) / rate)
    let median = impulses.sorted()[impulses.count / 2]
    guard best.height > Self.prominence * median else {
      throw CalibrationError(
        kind: .unsuitableRecording,
        description: "contains no sweep from \(NumberFormatting.rounded(signal.band.lowerBound, places: 1)) to "
          + "\(NumberFormatting.rounded(signal.band.upperBound, places: 1)) Hz of "
          + "\(NumberFormatting.rounded(signal.duration, places: 1)) s above the noise")
    }
    let later = peak(around: best.time + signal.sweepSpacing)
    let earlier = peak(around: best.time - signal.sweepSpacing)
    let other = later.height >= earlier.height ? later : earlier
    if other.height >= Self.likeness * best.height { return (min(best.time, other.time), max(best.time, other.time)) }
    throw misalignment(best)
  }

  /// What is wrong where the second sweep is not in its place.
  private func misalignment(_ best: (time: Double, height: Float)) -> CalibrationError {
    // An echo belongs to its sweep.
    let apart = 0.5
    let before = peak(in: 0...max(0, best.time - apart))
    let start = best.time + apart
    let behind = peak(in: start...max(start, Double(impulses.count) / rate))
    let other = before.height > behind.height ? before : behind
    guard other.height >= Self.likeness * best.height else {
      return CalibrationError(
        kind: .unsuitableRecording,
        description:
          "contains only one sweep, at \(NumberFormatting.rounded(best.time, places: 2)) s; record from before the first to after the second"
      )
    }
    let found = NumberFormatting.rounded(abs(other.time - best.time), places: 2)
    return CalibrationError(
      kind: .clockMismatch,
      description: "has its sweeps \(found) s apart, not "
        + "\(NumberFormatting.rounded(signal.sweepSpacing, places: 2)) s: the recording has another sample rate or signal"
    )
  }

  private func peak(around time: Double) -> (time: Double, height: Float) {
    guard time + Self.tolerance >= 0 else { return (time, 0) }
    return peak(in: max(0, time - Self.tolerance)...max(0, time + Self.tolerance))
  }

  private func peak(in seconds: ClosedRange<Double>) -> (time: Double, height: Float) {
    let first = min(impulses.count, Int(seconds.lowerBound * rate))
    let last = min(impulses.count, max(first, Int(seconds.upperBound * rate) + 1))
    guard let index = (first..<last).max(by: { impulses[$0] < impulses[$1] }) else { return (seconds.lowerBound, 0) }
    return (Double(index) / rate, impulses[index])
  }
}
