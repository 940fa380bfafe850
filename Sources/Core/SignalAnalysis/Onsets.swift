internal import CMath

/// The onsets of transients and of continuous events in a signal, by time.
///
/// An onset is a time at which a signal grows in a way that its past does not predict, and reaches
/// half of its level within 30 ms; slower rises are fades. A burst on a steady tone is an onset
/// even if its phase is opposite and lowers the level.
///
/// 1. The signal is decimated to its tactile band, below 0.7 kHz.
/// 2. A linear predictor, fitted to the last 50 ms, predicts each sample 5 ms ahead. Tones and
///    their fades are predictable; onsets are not.
/// 3. At each large prediction error, the change point is located, and a burst on a steady tone or
///    an ordinary onset is confirmed from the levels before and after.
/// 4. Onsets closer than 9 ms are merged, as are onsets within a period of a slow wave, or within
///    20 ms while the level keeps rising.
public struct Onsets: Equatable, Sendable, RandomAccessCollection {
  private let onsets: [Onset]

  /// Finds the onsets in the mean of a signal's channels. Non-finite samples count as silence.
  public init(in signal: Signal) {
    let low = TactileBandSignal(of: NonFiniteSamples.replaced(in: signal.mono), rate: signal.rate)
    var predictor = LinearPredictor(low.samples)
    let residual = predictor.residual().map(abs)
    let search = OnsetSearch(
      samples: low.samples.map(Double.init), magnitudes: low.samples.map { Double(abs($0)) },
      residual: residual,
      rate: low.rate)
    onsets = search.onsets()
  }

  /// The first position: 0.
  public var startIndex: Int { 0 }
  /// The number of onsets.
  public var endIndex: Int { onsets.count }
  /// Returns the onset at a position.
  public subscript(position: Int) -> Onset { onsets[position] }
}

/// The search through magnitudes and prediction errors of a decimated signal.
private struct OnsetSearch {
  /// The minimum interval between two onsets, in seconds.
  static let minimumSpacing = 0.009
  /// The maximum period of a slow wave that has only one onset, in seconds.
  static let maximumPeriod = 0.05
  /// The maximum time to half of the level, in seconds. A slower rise is a fade.
  static let maximumAttack = 0.03
  /// The duration of a pause between two onsets, in seconds.
  static let pauseDuration = 0.0013
  /// The maximum duration of a burst on a tone, in seconds.
  static let maximumBurstDuration = 0.045
  /// The minimum amplitude of a burst on a tone, relative to the tone.
  static let minimumBurstRatio = 0.3
  /// The minimum prediction error of an onset, relative to the level.
  static let minimumUnpredictability = 0.3
  /// The minimum growth of the level at an onset.
  static let minimumGrowth = 1.2
  /// The minimum ratio of the prediction error to the median error before. Noise reaches five by
  /// chance.
  static let minimumProminence = 7.0
  /// The minimum level of an onset relative to the signal's peak: −46 dB.
  static let minimumPeakRatio = 0.005
  /// The minimum amplitude of an onset: some steps of 16 bits.
  static let minimumAmplitude = 5e-4

  /// The decimated signal.
  let samples: [Double]
  /// The magnitudes of the samples.
  let magnitudes: [Double]
  /// The magnitudes of the prediction errors.
  let residual: [Double]
  /// The sample rate, in hertz.
  let rate: Double

  /// Returns all onsets by time.
  func onsets() -> [Onset] {
    let floor = max(Self.minimumAmplitude, Self.minimumPeakRatio * (magnitudes.max() ?? 0))
    var onsets: [Onset] = []
    var index = 0
    while index < residual.count {
      guard residual[index] > floor else {
        index += 1
        continue
      }
      let change = changePoint(near: index)
      let burst = burst(at: change, floor: floor)
      if let onset = burst?.onset ?? onset(at: change, floor: floor),
        onset.time - (onsets.last?.time ?? -1) > Self.minimumSpacing,
        !isContinuation(of: onsets.last, onset)
      {
        onsets.append(onset)
        index = max(index, Int(onset.time * rate)) + frames(Self.minimumSpacing)
        index = max(index, change + (burst?.length ?? 0))
      } else {
        index += 1
      }
    }
    return onsets
  }

  /// Returns true if an onset continues the previous one: within a period of the wave that starts
  /// there, or within 20 ms while the level keeps rising.
  private func isContinuation(of last: Onset?, _ onset: Onset) -> Bool {
    guard let last, onset.time - last.time < Self.maximumPeriod else { return false }
    let first = Int(last.time * rate)
    let index = Int(onset.time * rate)
    let period = index..<min(samples.count, index + frames(Self.maximumPeriod))
    let crossings = period.dropFirst().filter { samples[$0 - 1] * samples[$0] < 0 }.prefix(2)
    if crossings.count == 2,
      onset.time - last.time < 1.2 * 2 * Double(crossings[1] - crossings[0]) / rate
    {
      return true
    }
    let width = frames(0.005)
    return onset.time - last.time < 0.02
      && maximum(of: magnitudes, in: index - width..<index) > 1.15
        * maximum(of: magnitudes, in: first..<first + width)
  }

  /// Returns the number of frames of a duration, at least one.
  private func frames(_ seconds: Double) -> Int { max(1, Int((seconds * rate).rounded())) }

  /// Returns the maximum in a range, which is clamped to the values.
  private func maximum(of values: [Double], in range: Range<Int>) -> Double {
    values[range.clamped(to: values.indices)].max() ?? 0
  }

  /// Returns the frame near an index with the greatest growth of the residual from the 3 ms before
  /// to the 3 ms after.
  private func changePoint(near index: Int) -> Int {
    let width = frames(0.003)
    let height = maximum(of: residual, in: index..<index + LinearPredictor.horizon)
    // Growth from below a twentieth of the height does not count.
    let floor = height * height * 0.002_5 * Double(width)
    func energy(_ range: Range<Int>) -> Double {
      residual[range.clamped(to: residual.indices)].reduce(floor) { $0 + $1 * $1 }
    }
    var best = (frame: index, ratio: 0.0)
    for frame in max(0, index - frames(0.008))...index + LinearPredictor.horizon / 2 {
      let ratio = energy(frame..<frame + width) / energy(max(0, frame - width)..<frame)
      if ratio > best.ratio {
        best = (frame, ratio)
      }
    }
    return best.frame
  }

  /// Returns the burst that begins at a change, and the number of frames without another onset.
  ///
  /// The burst must be on a steady tone that continues after it. It is measured as the residual of
  /// the tone fitted to the preceding 60 ms, so that its phase relative to the tone does not
  /// matter.
  private func burst(at index: Int, floor: Double) -> (onset: Onset, length: Int)? {
    let toneLength = frames(0.06)
    // The linear-phase decimation filter shows the change slightly early.
    let end = index - frames(0.001)
    let burstEnd = index + frames(Self.maximumBurstDuration)
    let pause = frames(0.012)
    guard end > toneLength, burstEnd + pause < samples.count,
      let tone = SteadyTone(samples[(end - toneLength)..<end])
    else {
      return nil
    }
    let excess = (index..<burstEnd + pause).map { abs(samples[$0] - tone.value(at: $0)) }
    let strength = excess.prefix(burstEnd - index).max() ?? 0
    guard strength > floor, strength > Self.minimumBurstRatio * tone.amplitude else { return nil }
    guard let last = excess.prefix(burstEnd - index).lastIndex(where: { $0 > 0.25 * strength }),
      last > frames(0.004),
      excess[(last + 1)...].prefix(pause).allSatisfy({ $0 < 0.25 * strength })
    else { return nil }
    // A tone that pauses starts again after the pause.
    guard
      maximum(of: magnitudes, in: index + last / 4..<index + last - last / 4) > 0.15
        * tone.amplitude
    else { return nil }
    let start = excess.firstIndex { $0 > 0.05 * strength } ?? 0
    return (Onset(time: Double(index + start) / rate, strength: strength), last + 1 + pause)
  }

  /// Returns the onset at a change, or nil if there is none.
  private func onset(at index: Int, floor: Double) -> Onset? {
    let rise = maximum(of: residual, in: index..<index + LinearPredictor.horizon)
    guard rise > Self.minimumProminence * medianResidual(before: index) else { return nil }
    let after = maximum(of: magnitudes, in: index..<index + frames(0.01))
    guard after > floor, rise > Self.minimumUnpredictability * after else { return nil }
    let before = maximum(of: magnitudes, in: max(0, index - frames(0.008))..<index)
    // After a pause, an onset may be as strong as the signal before.
    let isFromPause =
      rise > 0.8 * after && after > 0.7 * before
      && maximum(of: magnitudes, in: max(0, index - frames(Self.pauseDuration))..<index) < 0.03
        * after
    guard isFromPause || after > Self.minimumGrowth * before else { return nil }
    // The residual also grows where a tone changes its frequency. There, an onset
    // requires twice the level.
    let residualBefore = maximum(of: residual, in: max(0, index - frames(0.005))..<index)
    guard isFromPause || rise > 2 * residualBefore || after > 2 * before else { return nil }
    // The level is rising until it falls by a tenth.
    var peak = 0.0
    let halfWidth = frames(0.006)
    var position = index
    while position < min(magnitudes.count, index + frames(0.3)) {
      let level = maximum(of: magnitudes, in: position - halfWidth..<position + halfWidth)
      if level < 0.9 * peak { break }
      peak = max(peak, level)
      position += 1
    }
    let attackLevel = maximum(of: magnitudes, in: index..<index + frames(Self.maximumAttack))
    guard attackLevel > 0.5 * peak else { return nil }
    // In a tone that changes its frequency, the level gives a better time than the residual.
    let isClear = rise > 4 * residualBefore
    let riseFrame =
      (index..<magnitudes.count).first { magnitudes[$0] > Self.minimumGrowth * before } ?? index
    return Onset(
      time: isClear ? onsetTime(at: index, rise: rise) : Double(riseFrame) / rate,
      strength: attackLevel)
  }

  /// Returns the median of the residual over the preceding 50 ms.
  private func medianResidual(before index: Int) -> Double {
    let range = (index - frames(0.05)..<index - 1).clamped(to: residual.indices)
    guard range.count > 8 else { return 0 }
    return Statistics.median(of: Array(residual[range]))
  }

  /// Returns the time at which the residual rises to a twentieth of its height, interpolated
  /// linearly between frames.
  private func onsetTime(at index: Int, rise: Double) -> Double {
    let residualBefore = index > 0 ? residual[index - 1] : 0
    let level = max(rise * 0.05, residualBefore)
    var position = index
    while position < residual.count - 1, residual[position] <= level {
      position += 1
    }
    guard position > 0, residual[position] > residual[position - 1] else {
      return Double(position) / rate
    }
    let fraction = (level - residual[position - 1]) / (residual[position] - residual[position - 1])
    return (Double(position - 1) + min(1, max(0, fraction))) / rate
  }
}

/// A steady sine, fitted to a segment that contains little else.
private struct SteadyTone {
  private let phaseIncrement: Double
  private let start: Int
  private let sineAmplitude: Double
  private let cosineAmplitude: Double

  /// The maximum fraction of the power that the sine may leave.
  private static let maximumResidual = 0.03

  /// Fits a sine; nil if the segment is not a sine.
  init?(_ segment: ArraySlice<Double>) {
    // For a sine, x[n − k] + x[n + k] = 2 cos(kω) · x[n]. The least-squares estimate of cos(kω)
    // yields ω.
    let gap = 4
    var products = 0.0
    var squares = 0.0
    for index in (segment.startIndex + gap)..<(segment.endIndex - gap) {
      products += segment[index] * (segment[index - gap] + segment[index + gap])
      squares += segment[index] * segment[index]
    }
    guard squares > 0, abs(products) < 2 * squares else { return nil }
    let angle = acos(products / squares / 2) / Double(gap)
    var sineEnergy = 0.0
    var cosineEnergy = 0.0
    var crossEnergy = 0.0
    var sineProduct = 0.0
    var cosineProduct = 0.0
    var power = 0.0
    for (offset, value) in segment.enumerated() {
      let sine = sin(angle * Double(offset))
      let cosine = cos(angle * Double(offset))
      sineEnergy += sine * sine
      cosineEnergy += cosine * cosine
      crossEnergy += sine * cosine
      sineProduct += sine * value
      cosineProduct += cosine * value
      power += value * value
    }
    let determinant = sineEnergy * cosineEnergy - crossEnergy * crossEnergy
    guard determinant > 1e-6 * sineEnergy * cosineEnergy else { return nil }
    sineAmplitude = (sineProduct * cosineEnergy - cosineProduct * crossEnergy) / determinant
    cosineAmplitude = (cosineProduct * sineEnergy - sineProduct * crossEnergy) / determinant
    guard
      power - sineAmplitude * sineProduct - cosineAmplitude * cosineProduct < Self.maximumResidual
        * power
    else { return nil }
    phaseIncrement = angle
    start = segment.startIndex
  }

  var amplitude: Double {
    (sineAmplitude * sineAmplitude + cosineAmplitude * cosineAmplitude).squareRoot()
  }

  func value(at index: Int) -> Double {
    let phase = phaseIncrement * Double(index - start)
    return sineAmplitude * sin(phase) + cosineAmplitude * cos(phase)
  }
}

/// A time at which an event begins to be felt.
public struct Onset: Equatable, Sendable {
  /// The time from the start of the signal, in seconds.
  public var time: Double
  /// The amplitude that the event reaches.
  public var strength: Double

  /// Creates an onset.
  public init(time: Double, strength: Double) {
    self.time = time
    self.strength = strength
  }
}

/// The prediction error of a low-rate signal.
///
/// Each sample is predicted 5 ms ahead by the linear prediction that fits the last 50 ms best.
/// Steady and gliding tones, their sums, and their fades are predictable; onsets are not.
struct LinearPredictor: ~Copyable {
  /// The prediction distance, in frames: 5 ms at 2 kHz.
  static let horizon = 10
  /// The length of the window, in frames: 50 ms at 2 kHz.
  private static let windowLength = 100
  /// The number of preceding values that predict a sample: enough for four tones.
  private static let order = 8
  /// The interval between these values, in frames. A wider interval separates low tones better.
  private static let tapSpacing = 2

  private let samples: [Double]
  /// The sums of products of the sample and its regressors over the window.
  private var covariance = [Double](repeating: 0, count: (order + 1) * (order + 1))
  private var choleskyFactor = [Double](repeating: 0, count: order * order)
  private var coefficients = [Double](repeating: 0, count: order)

  /// Prepares for a signal of about 2 kHz.
  init(_ samples: [Float]) { self.samples = samples.map(Double.init) }

  /// Returns the prediction error of each sample.
  mutating func residual() -> [Double] {
    samples.indices.map { index in
      accumulate(index - Self.horizon, sign: 1)
      accumulate(index - Self.horizon - Self.windowLength, sign: -1)
      return samples[index] - prediction(at: index)
    }
  }

  /// Returns the sample (0), or one of the values that predict it (1…order).
  private func regressor(_ term: Int, at index: Int) -> Double {
    let position = term == 0 ? index : index - Self.horizon - Self.tapSpacing * (term - 1)
    return position < 0 ? 0 : samples[position]
  }

  /// Adds a sample and its regressors to the covariance, or removes them.
  private mutating func accumulate(_ index: Int, sign: Double) {
    guard index >= 0 else { return }
    let size = Self.order + 1
    for row in 0..<size {
      let value = sign * regressor(row, at: index)
      guard value != 0 else { continue }
      for column in 0...row {
        covariance[row * size + column] += value * regressor(column, at: index)
      }
    }
  }

  /// Returns the least-squares prediction, by Cholesky factorization of the normal equations.
  private mutating func prediction(at index: Int) -> Double {
    let order = Self.order
    let size = order + 1
    var trace = 0.0
    var energy = 0.0
    for row in 1..<size {
      trace += covariance[row * size + row]
      energy += regressor(row, at: index) * regressor(row, at: index)
    }
    guard trace > 1e-9, energy > 1e-9 else { return 0 }
    // The ridge bounds coefficients that are not resolved, or that were fitted to a much weaker
    // signal.
    let ridge = trace / Double(order) * 1e-6 + energy * 1e-2
    for row in 0..<order {
      for column in 0...row {
        var sum = covariance[(row + 1) * size + column + 1]
        if row == column {
          sum += ridge
        }
        for inner in 0..<column {
          sum -= choleskyFactor[row * order + inner] * choleskyFactor[column * order + inner]
        }
        choleskyFactor[row * order + column] =
          row == column
          ? max(sum, ridge * 1e-3).squareRoot() : sum / choleskyFactor[column * order + column]
      }
    }
    for row in 0..<order {
      var sum = covariance[(row + 1) * size]
      for inner in 0..<row {
        sum -= choleskyFactor[row * order + inner] * coefficients[inner]
      }
      coefficients[row] = sum / choleskyFactor[row * order + row]
    }
    var result = 0.0
    for row in (0..<order).reversed() {
      var sum = coefficients[row]
      for inner in stride(from: row + 1, to: order, by: 1) {
        sum -= choleskyFactor[inner * order + row] * coefficients[inner]
      }
      coefficients[row] = sum / choleskyFactor[row * order + row]
      result += coefficients[row] * regressor(row + 1, at: index)
    }
    return result
  }
}
