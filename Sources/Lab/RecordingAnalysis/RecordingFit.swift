internal import CMath
import SignalAnalysis

/// The position of a reference in a recording.
struct Placement {
  /// The start of the reference in the recording, in seconds.
  var delay: Double
  /// The relative tempo deviation; positive if the recording is slower.
  var tempo: Double
  /// A Boolean value that indicates whether the tempo stretches waveforms as well, as in a
  /// resampled recording. Otherwise, it only moves the events.
  var isResampled = true

  /// The duration of a second of a waveform in the recording, in seconds.
  var timeScale: Double { isResampled ? 1 + tempo : 1 }

  /// Returns the time in the recording for a time of the reference, in seconds.
  func recordingTime(at time: Double) -> Double { delay + (1 + tempo) * time }
}

/// A fit of an excerpt of a recording by the waveforms of a reference, hum, a DC offset, and noise.
///
/// The fit alternates two steps:
///
/// 1. `solve` computes the gain of each waveform by linear least squares, together with the
///    amplitudes of hum and the offset. Recording and waveforms pass a whitening filter first, so
///    that the residual of a true model is white noise.
/// 2. `refine` divides the result into blocks of 25 ms and computes by linearization how much each
///    block is early or late. A robust line through these shifts corrects delay and tempo
///    (Gauss–Newton).
struct RecordingFit {
  var reference: RecordingReference
  /// The excerpt of the recording.
  var recording: [Float]
  var placement: Placement
  /// The maximum magnitude of the tempo deviation.
  var maximumTempo: Double
  /// The impulse response of the filter that makes the noise white.
  var whitener: [Float] = [1]
  /// The frequencies of hum that are part of the fit, in hertz.
  private(set) var humFrequencies: [Double] = []
  /// The sample ranges that are not part of the fit.
  var excludedRanges: [Range<Int>] = [] {
    didSet {
      if excludedRanges != oldValue {
        setHum(frequencies: humFrequencies)
      }
    }
  }
  /// The indices of changed waveforms. They don't determine the placement if at least two other
  /// waveforms do.
  var alignmentExclusions: Set<Int> = []
  /// The standard error of the tempo.
  private(set) var tempoError = Double.infinity
  /// The columns of the design matrix for the DC offset and hum.
  private var nuisanceColumns: [DesignColumn] = []
  /// The inner products of the nuisance columns, for each row up to the diagonal.
  private var nuisanceProducts: [[Double]] = []

  private var rate: Double { reference.rate }

  /// A Boolean value that indicates whether the tempo cannot exceed the deviation between clocks.
  var isLimitedToClockDeviation: Bool { maximumTempo <= Self.maximumClockDeviation }

  /// The minimum energy of a waveform, relative to that of the strongest, whose gain is used.
  private static let minimumEnergyRatio = 1e-5
  private static let whitenerLength = 33
  /// The maximum tempo deviation between clocks.
  static let maximumClockDeviation = 0.002

  init(_ reference: RecordingReference, recording: [Float], placement: Placement) {
    self.reference = reference
    self.recording = recording
    self.placement = placement
    // Only a search for another tempo may find one. Otherwise, short waveforms would be explained
    // by a wrong tempo.
    maximumTempo =
      abs(placement.tempo) > Self.maximumClockDeviation ? 0.034 : Self.maximumClockDeviation
    setHum(frequencies: [])
  }

  // MARK: - Gains

  /// The solution of the least-squares problem at one placement.
  struct Solution {
    /// The gain of each group of indistinguishable waveforms.
    var gains: [Double]
    /// The standard errors of the gains for noise of unit variance.
    var standardErrors: [Double]
    /// The whitened recording minus the fitted signal.
    var residual: [Float]
    /// The whitened waveforms.
    var columns: [DesignColumn]
    /// The whitened recording minus hum and DC offset.
    var humFreeRecording: [Float]
    /// The energy of the whitened recording.
    var energy: Double

    /// The standard deviation of the whitened noise.
    var sigma: Double { RecordingFit.noiseSigma(of: residual) }
    /// The gain that most waveforms share.
    var gain: Double {
      RecordingFit.commonGain(gains, standardErrors: standardErrors, sigma: sigma)
    }
    /// The energy of the residual relative to that of the recording.
    var residualRatio: Double { Vector.energy(residual) / max(energy, 1e-30) }
  }

  /// Adds steady tones to the fit: a cosine and a sine each, constant and with a linear slope.
  mutating func setHum(frequencies: [Double]) {
    humFrequencies = frequencies
    let count = recording.count
    let first = min(Self.whitenerLength, count)
    let middle = Double(count) / 2
    var columns = [[Float](repeating: 1, count: count)]
    for hertz in frequencies {
      let phaseIncrement = 2 * .pi * hertz / rate
      let cosines = (0..<count).map { cos(phaseIncrement * Double($0)) }
      let sines = (0..<count).map { sin(phaseIncrement * Double($0)) }
      let slopes = (0..<count).map { (Double($0) - middle) / max(1, middle) }
      columns.append(cosines.map { Float($0) })
      columns.append(sines.map { Float($0) })
      columns.append(zip(cosines, slopes).map { Float($0 * $1) })
      columns.append(zip(sines, slopes).map { Float($0 * $1) })
    }
    // A filter maps the space of such columns to itself, so they need no whitening.
    nuisanceColumns = columns.map {
      var column = DesignColumn(start: first, samples: Array($0[first...]))
      column.silence(excludedRanges)
      return column
    }
    nuisanceProducts = nuisanceColumns.indices.map { row in
      (0...row).map { nuisanceColumns[row].dot(nuisanceColumns[$0]) }
    }
  }

  /// Returns the waveform with an index, at its position in the recording.
  func column(at index: Int) -> DesignColumn { column(of: reference.waveforms[index]) }

  /// Returns a waveform at its position in the recording.
  func column(of waveform: EventWaveform) -> DesignColumn {
    waveform.column(
      onset: placement.recordingTime(at: waveform.time), timeScale: placement.timeScale,
      count: recording.count)
  }

  /// Returns for each sample of the recording whether the reference is more than 50 dB below its
  /// peak for 10 ms on both sides.
  func silenceMask() -> [Bool] {
    var isSilent = [Bool](repeating: true, count: recording.count)
    let limit = Float(0.003 * reference.peak)
    let margin = Int(0.01 * rate)
    for index in reference.waveforms.indices {
      let column = column(at: index)
      var previous = -margin
      for (offset, sample) in column.samples.enumerated() where abs(sample) > limit {
        let position = column.start + offset
        let first = max(0, previous + margin, position - margin)
        for near in first..<min(recording.count, position + margin) {
          isSilent[near] = false
        }
        previous = position
      }
    }
    return isSilent
  }

  /// Returns the sum of each group of indistinguishable waveforms.
  private func groupColumns() -> [DesignColumn] {
    reference.indistinguishableWaveforms.map { group in
      let columns = group.map { column(at: $0) }.filter { !$0.samples.isEmpty }
      guard columns.count > 1 else { return columns.first ?? DesignColumn(start: 0, samples: []) }
      let start = columns.map(\.start).min() ?? 0
      let end = columns.map(\.range.upperBound).max() ?? 0
      var samples = [Float](repeating: 0, count: end - start)
      for column in columns {
        column.add(to: &samples, from: start, times: 1)
      }
      return DesignColumn(start: start, samples: samples)
    }
  }

  /// Computes the gains of the waveforms, hum, and DC offset.
  ///
  /// - Parameter isWhitened: Pass false to leave out the whitening filter.
  func solve(isWhitened: Bool = true) -> Solution {
    let taps = isWhitened ? whitener : [1]
    var observed = Vector.filtered(recording, by: taps)
    Vector.zero(&observed, in: 0..<Self.whitenerLength)
    for range in excludedRanges {
      Vector.zero(&observed, in: range)
    }
    let columns = groupColumns().map { column in
      var column = column.whitened(by: taps, count: recording.count)
      column.silence(excludedRanges)
      return column
    }
    let equations = normalEquations(columns, observed: observed)
    var matrix = equations.matrix
    matrix.factorize()
    let gains = matrix.solution(of: equations.rightSide)

    let energy = Vector.energy(observed)
    let energies = columns.map { Vector.energy($0.samples) }
    let minimumEnergy = Self.minimumEnergyRatio * (energies.max() ?? 0)
    for (column, gain) in zip(nuisanceColumns, gains[columns.count...]) {
      column.add(to: &observed, times: -gain)
    }
    var residual = observed
    for (column, gain) in zip(columns, gains) {
      column.add(to: &residual, times: -gain)
    }
    return Solution(
      gains: Array(gains[..<columns.count]),
      standardErrors: columns.indices.map {
        energies[$0] > minimumEnergy ? matrix.inverseDiagonalRoot(at: $0) : .infinity
      },
      residual: residual, columns: columns, humFreeRecording: observed, energy: energy)
  }

  /// Returns the normal equations of the least-squares problem.
  ///
  /// Waveforms that don't overlap are orthogonal, so the rows of the matrix begin at the first
  /// overlapping waveform.
  private func normalEquations(
    _ columns: [DesignColumn], observed: [Float]
  ) -> (matrix: SkylineMatrix, rightSide: [Double]) {
    var matrix = SkylineMatrix()
    var rightSide: [Double] = []
    for (index, column) in columns.enumerated() {
      let firstOverlap = (0..<index).first {
        columns[$0].range.overlaps(column.range) && !column.samples.isEmpty
      }
      let first = firstOverlap ?? index
      matrix.appendRow((first...index).map { column.dot(columns[$0]) }, startingAt: first)
      rightSide.append(column.dot(observed))
    }
    for (index, nuisance) in nuisanceColumns.enumerated() {
      matrix.appendRow(columns.map { nuisance.dot($0) } + nuisanceProducts[index], startingAt: 0)
      rightSide.append(nuisance.dot(observed))
    }
    return (matrix, rightSide)
  }

  /// Returns the gain that most of the reference has: the mean of the largest set of gains that
  /// agree.
  private static func commonGain(
    _ gains: [Double], standardErrors: [Double], sigma: Double
  ) -> Double {
    let weights = standardErrors.map { 1 / max($0 * $0, 1e-24) }
    let maximumWeight = 4 * Statistics.median(of: weights)
    var best = (score: 0.0, gain: 0.0)
    for (gain, error) in zip(gains, standardErrors) where gain > 0 {
      var votes = 0.0
      var totalWeight = 0.0
      var sum = 0.0
      for index in gains.indices {
        let tolerance = 0.05 * gain + 3 * sigma * (error + standardErrors[index])
        guard abs(gains[index] - gain) < min(tolerance, 0.3 * gain) else { continue }
        // One event does not outvote two others, however strong it is.
        let clarity =
          gain / max(1e-30, 2 * RecordingThreshold.zScore * sigma * standardErrors[index])
        votes += min(1, clarity * clarity)
        let weight = min(weights[index], maximumWeight)
        totalWeight += weight
        sum += weight * gains[index]
      }
      // Any change but one of level lowers the gain of an event, so prefer higher gains.
      let score = votes * pow(gain, 0.25)
      if score > best.score * 1.001 {
        best = (score, sum / totalWeight)
      }
    }
    return best.gain
  }

  /// Returns the standard deviation of the noise in a whitened residual: the root of the median
  /// power of blocks of 25 ms.
  static func noiseSigma(of residual: [Float]) -> Double {
    let powers = stride(from: 0, to: residual.count - 99, by: 100).map {
      Vector.energy(residual, $0..<$0 + 100) / 100
    }
    return max(1e-12, (Statistics.median(of: powers) * 1.007).squareRoot())
  }

  // MARK: - Placement

  /// Refines delay and tempo by a robust line through the shifts of blocks of 25 ms.
  mutating func refine(rounds: Int = 3) {
    for _ in 0..<rounds {
      let solution = solve()
      let gain = max(1e-9, solution.gain)
      var fitted = [Float](repeating: 0, count: recording.count)
      for (column, columnGain) in zip(solution.columns, solution.gains) {
        column.add(to: &fitted, times: min(max(columnGain, 0.3 * gain), 3 * gain))
      }
      updatePlacement(from: blockShifts(of: fitted, solution, sigma: solution.sigma))
    }
  }

  /// The shift of a block of 25 ms between the fitted signal and the recording.
  private struct BlockShift {
    /// The center of the block, in seconds from the start of the reference.
    var time: Double
    /// The shift, in seconds; positive if the recording is late.
    var seconds: Double
    /// The inverse variance of the shift.
    var weight: Double
    /// The index of the column with most of the block's energy, or -1.
    var columnIndex: Int
    /// One divided by the number of blocks of that column.
    var eventWeight = 1.0
  }

  /// Returns the shifts of the blocks that determine the placement.
  private func blockShifts(
    of fitted: [Float], _ solution: Solution, sigma: Double
  ) -> [BlockShift] {
    var shifts = linearizedShifts(of: fitted, solution)
    let minimumWeight = 1e-4 * (shifts.map(\.weight).max() ?? 0)
    shifts.removeAll { $0.weight <= minimumWeight }
    if !alignmentExclusions.isEmpty {
      let determining = shifts.filter { shift in
        guard shift.columnIndex >= 0 else { return false }
        let group = reference.indistinguishableWaveforms[shift.columnIndex]
        return !group.contains { alignmentExclusions.contains($0) }
      }
      if Set(determining.map(\.columnIndex)).count > 1 {
        shifts = determining
      }
    }
    // The model is accurate to 10 µs at best.
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight / (sigma * sigma), 1e10)
    }
    let maximumWeight = 9 * Statistics.median(of: shifts.map(\.weight))
    let counts = shifts.reduce(into: [:]) { $0[$1.columnIndex, default: 0.0] += 1 }
    for index in shifts.indices {
      shifts[index].weight = min(shifts[index].weight, maximumWeight)
      shifts[index].eventWeight = 1 / (counts[shifts[index].columnIndex] ?? 1)
    }
    return shifts
  }

  /// Returns for each block the column with most of its energy, or -1.
  private func dominantColumns(_ columns: [DesignColumn], blockLength: Int, count: Int) -> [Int] {
    var dominant = [(energy: Double, column: Int)](repeating: (0, -1), count: count)
    for (index, column) in columns.enumerated() where !column.samples.isEmpty {
      let firstBlock = max(0, column.start - 1) / blockLength
      let lastBlock = max(0, column.range.upperBound - 1) / blockLength
      for block in firstBlock...lastBlock where block < dominant.count {
        let samples = 1 + block * blockLength..<1 + (block + 1) * blockLength
        let overlap = samples.clamped(to: column.range)
        guard !overlap.isEmpty else { continue }
        let energy = Vector.energy(
          column.samples, overlap.lowerBound - column.start..<overlap.upperBound - column.start)
        if energy > dominant[block].energy {
          dominant[block] = (energy, index)
        }
      }
    }
    return dominant.map(\.column)
  }

  /// Returns the shift of each block by linearization.
  ///
  /// With the fitted signal x, its derivative d, and the residual r, the model r = a x − s d has
  /// the shift s = −(⟨r, d⟩ − ⟨r, x⟩ ⟨d, x⟩ / ⟨x, x⟩) / (⟨d, d⟩ − ⟨d, x⟩² / ⟨x, x⟩): the part of
  /// the derivative that is not a change of level.
  private func linearizedShifts(of fitted: [Float], _ solution: Solution) -> [BlockShift] {
    let length = Int(rate / 40)
    let dominant = dominantColumns(
      solution.columns, blockLength: length, count: fitted.count / length + 1)
    let halfRate = Float(rate / 2)
    var shifts: [BlockShift] = []
    for start in stride(from: 1, to: fitted.count - length, by: length) {
      var xx = Float(1e-30)
      var dx = Float(0)
      var dd = Float(0)
      var rx = Float(0)
      var rd = Float(0)
      unsafe fitted.withUnsafeBufferPointer { x in
        unsafe solution.residual.withUnsafeBufferPointer { r in
          for i in start..<start + length {
            let d = unsafe (x[i + 1] - x[i - 1]) * halfRate
            unsafe xx += x[i] * x[i]
            unsafe dx += d * x[i]
            dd += d * d
            unsafe rx += r[i] * x[i]
            unsafe rd += r[i] * d
          }
        }
      }
      let levelRatio = dx / xx
      let weight = Double(dd - levelRatio * dx)
      guard weight > 0 else { continue }
      shifts.append(
        BlockShift(
          time: (Double(start) + Double(length) / 2) / rate - placement.delay,
          seconds: -Double(rd - levelRatio * rx) / weight,
          weight: weight, columnIndex: dominant[start / length]))
    }
    return shifts
  }

  /// A line through block shifts: offset + slope · (time − center).
  private struct ShiftLine {
    var offset = 0.0
    var slope = 0.0
    var center = 0.0
    /// The weighted sum of squared times from the center.
    var spread = 0.0

    func residual(of shift: BlockShift) -> Double {
      shift.seconds - offset - slope * (shift.time - center)
    }
  }

  /// Fits a line by iteratively reweighted least squares, or returns nil without valid shifts.
  ///
  /// Each weight is multiplied by 1 / (1 + (residual / scale)²)², the weight of a heavy-tailed
  /// distribution. Long and short events have the same weight in the scale.
  private static func robustLine(through shifts: [BlockShift]) -> ShiftLine? {
    let eventWeights = shifts.map(\.eventWeight)
    func robustness(_ residuals: [Double]) -> [Double] {
      let scale = 1e-4 + 2 * Statistics.median(of: residuals, weights: eventWeights)
      return residuals.map {
        1 / ((1 + ($0 / scale) * ($0 / scale)) * (1 + ($0 / scale) * ($0 / scale)))
      }
    }
    let median = Statistics.median(of: shifts.map(\.seconds), weights: eventWeights)
    var factors = robustness(shifts.map { abs($0.seconds - median) })
    var line = ShiftLine()
    for _ in 0..<8 {
      var sum = 0.0
      var times = 0.0
      for (shift, factor) in zip(shifts, factors) {
        sum += shift.weight * factor
        times += shift.weight * factor * shift.time
      }
      guard sum > 0 else { return nil }
      line.center = times / sum
      line.spread = 0
      var product = 0.0
      var seconds = 0.0
      for (shift, factor) in zip(shifts, factors) {
        let weight = shift.weight * factor
        let time = shift.time - line.center
        line.spread += weight * time * time
        product += weight * time * shift.seconds
        seconds += weight * shift.seconds
      }
      line.slope = line.spread > 0 ? product / line.spread : 0
      line.offset = seconds / sum
      factors = robustness(shifts.map { abs(line.residual(of: $0)) })
    }
    return line
  }

  /// Corrects delay and tempo by a robust line through the shifts.
  private mutating func updatePlacement(from shifts: [BlockShift]) {
    guard let line = Self.robustLine(through: shifts) else { return }
    // If shifts scatter more than noise explains, the accuracy of the model limits them. The median
    // of a squared standard normal variable is 0.455.
    let scatter = Statistics.median(
      of: shifts.map {
        let residual = line.residual(of: $0)
        return residual * residual * $0.weight
      })
    let excess = max(1, scatter / 0.455)
    tempoError = line.spread > 0 ? (excess / line.spread).squareRoot() : .infinity
    // A normal prior about zero: other tempos are rare, and misfits are no evidence of one.
    let prior = excess / (Self.maximumClockDeviation * Self.maximumClockDeviation)
    var slope =
      (line.slope * line.spread - prior * placement.tempo) / max(1e-30, line.spread + prior)
    if tempoError > 0.01 {
      slope = -placement.tempo
    }
    slope = min(max(slope, -0.01), 0.01)
    let offset = min(max(line.offset, -0.003), 0.003)
    let tempo = min(max(placement.tempo + slope, -maximumTempo), maximumTempo)
    placement.delay += offset - (tempo - placement.tempo) * line.center
    placement.tempo = tempo
  }
}
