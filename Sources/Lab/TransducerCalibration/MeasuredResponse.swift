internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// What came back of a sweep by frequency, in narrow groups of equal musical width.
struct MeasuredResponse {
  struct Group: BitwiseCopyable {
    /// The mean frequency, by the sweep's power.
    var hertz: Double
    var gain: Phasor
    var weight: Double
  }

  /// Groups in an octave: a tenth of the width of a resonance with a quality of 14.
  static let groupsPerOctave = 96.0

  /// The groups by rising frequency; those without a bin are left out.
  let groups: [Group]
  let rootWeights: [Double]
  let weightedGains: [Phasor]

  /// Reduces spectra of one length.
  ///
  /// Weighted by the sweep's power, a fit to the groups is a plain least-squares fit to the
  /// recording.
  ///
  /// - Parameter bins: The recording's spectrum in the band, with their frequencies and that of the
  ///   sweep.
  init(bins: [(hertz: Double, recorded: Phasor, played: Phasor)], lowestHertz lowest: Double) {
    var groups: [Group] = []
    var last = Int.min
    for bin in bins {
      let number = Int((Self.groupsPerOctave * log2(bin.hertz / lowest)).rounded(.down))
      let weight = bin.played.power
      if number != last {
        groups.append(Group(hertz: 0, gain: .zero, weight: 0))
        last = number
      }
      let index = groups.count - 1
      groups[index].hertz += weight * bin.hertz
      groups[index].gain = groups[index].gain + bin.recorded * bin.played.conjugate
      groups[index].weight += weight
    }
    self.init(
      groups.compactMap { group in
        guard group.weight > 0 else { return nil }
        return Group(
          hertz: group.hertz / group.weight, gain: group.gain * (1 / group.weight),
          weight: group.weight)
      })
  }

  private init(_ groups: [Group]) {
    self.groups = groups
    rootWeights = groups.map { $0.weight.squareRoot() }
    weightedGains = zip(groups, rootWeights).map { $0.gain * $1 }
  }

  /// Every so many of the groups: enough to see where a fit leads.
  func subsampled(by count: Int) -> MeasuredResponse {
    MeasuredResponse(stride(from: 0, to: groups.count, by: count).map { groups[$0] })
  }

  func limited(to band: ClosedRange<Double>) -> MeasuredResponse {
    MeasuredResponse(groups.filter { band.contains($0.hertz) })
  }

  /// The response relative to another in the same groups, weighted as the recording is.
  func divided(by other: MeasuredResponse) -> MeasuredResponse {
    MeasuredResponse(
      zip(groups, other.groups).map { own, other in
        Group(hertz: own.hertz, gain: own.gain / other.gain, weight: own.weight * other.gain.power)
      })
  }

  var power: Double { groups.reduce(0) { $0 + $1.weight * $1.gain.power } }
}

/// A complex number in double precision.
struct Phasor: Equatable, BitwiseCopyable {
  var real, imaginary: Double

  init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  static let zero = Phasor(0, 0)

  var power: Double { real * real + imaginary * imaginary }
  var magnitude: Double { power.squareRoot() }
  var conjugate: Phasor { Phasor(real, -imaginary) }

  static func + (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real + right.real, left.imaginary + right.imaginary)
  }

  static func - (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real - right.real, left.imaginary - right.imaginary)
  }

  static func * (left: Phasor, right: Phasor) -> Phasor {
    Phasor(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }

  static func * (left: Phasor, right: Double) -> Phasor {
    Phasor(left.real * right, left.imaginary * right)
  }

  static func / (left: Phasor, right: Phasor) -> Phasor {
    left * right.conjugate * (1 / right.power)
  }
}

/// Finds by how much one spectrum lags another.
enum DelaySearch {
  /// The seconds τ within reach for which Re Σ terms·exp(jωτ) is greatest.
  /// - Parameters:
  ///   - terms: Products of one spectrum and another's conjugate, with their frequencies in hertz.
  ///   - ignoresSign: Whether a turned polarity counts as much.
  static func delay(
    of terms: [(hertz: Double, value: Phasor)], within reach: Double, ignoresSign: Bool
  ) -> Double {
    let highest = terms.last?.hertz ?? 0
    guard highest > 0 else { return 0 }
    // Six steps of the fastest period leave no peak out.
    let step = 1 / (6 * highest)
    let count = Int(reach / step)
    var sums = [Double](repeating: 0, count: 2 * count + 1)
    for term in terms {
      let turn = 2 * Double.pi * term.hertz * step
      var value = term.value * Phasor(cos(turn * Double(count)), -sin(turn * Double(count)))
      let advance = Phasor(cos(turn), sin(turn))
      for index in sums.indices {
        sums[index] += value.real
        value = value * advance
      }
    }
    if ignoresSign {
      for index in sums.indices {
        sums[index] = abs(sums[index])
      }
    }
    let best = sums.indices.max { sums[$0] < sums[$1] } ?? count
    return refine(terms, from: Double(best - count) * step, step: step, ignoresSign: ignoresSign)
  }

  /// Re Σ terms·exp(jωτ).
  static func correlation(of terms: [(hertz: Double, value: Phasor)], at delay: Double) -> Double {
    terms.reduce(0) { total, term in
      let turn = 2 * Double.pi * term.hertz * delay
      return total + term.value.real * cos(turn) - term.value.imaginary * sin(turn)
    }
  }

  /// Narrows a maximum down by thirds.
  private static func refine(
    _ terms: [(hertz: Double, value: Phasor)], from delay: Double, step: Double, ignoresSign: Bool
  ) -> Double {
    func sum(_ delay: Double) -> Double {
      let total = Self.correlation(of: terms, at: delay)
      return ignoresSign ? abs(total) : total
    }
    var low = delay - step
    var high = delay + step
    // 50 rounds narrow the interval by a factor of 6e8.
    for _ in 0..<50 {
      let third = (high - low) / 3
      if sum(low + third) < sum(high - third) {
        low += third
      } else {
        high -= third
      }
    }
    return (low + high) / 2
  }
}

/// Both sweeps of a recording cut out and brought to one level, and the clock error and noise
/// between them.
struct SweepPair {
  struct Bin: BitwiseCopyable {
    var hertz: Double
    var played, quiet, loud: Phasor
  }

  /// Seconds in front of a sweep that are cut out with it, since a peak is later than its
  /// beginning.
  static let preRoll = 0.25
  /// Seconds of the pause that are cut out behind it; the rest is the lead of the next.
  static let postRoll = 1.1

  let bins: [Bin]
  /// Frames per second of the recorder by the player's clock, and the second at which the cut
  /// begins, by that rate.
  let rate, start: Double

  /// - Parameters:
  ///   - rate: Frames per second, the recorder's error included.
  ///   - first: Second at which the first sweep is.
  init(
    _ recording: CalibrationRecording, signal: SweepSignal, rate: Double, firstSweep first: Double
  ) {
    let sweep = signal.sweep(rate: rate)
    let beginning = Int(((first - Self.preRoll) * rate).rounded())
    let gap = signal.sweepSpacing * rate
    let wholeGap = Int(gap.rounded())
    let count = Int((Self.preRoll + signal.sweepDuration + Self.postRoll) * rate)
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    let played = transform.forward(sweep)
    let one = transform.forward(Self.excerpt(of: recording.samples, from: beginning, count: count))
    let other = transform.forward(
      Self.excerpt(of: recording.samples, from: beginning + wholeGap, count: count))
    let spacing = rate / Double(transform.length)
    let lowest = Int((signal.band.lowerBound / spacing).rounded(.up))
    let highest = min(Int(signal.band.upperBound / spacing), transform.binCount - 1)
    // The second cut begins a part of a frame off its place.
    let offset = (gap - Double(wholeGap)) / rate
    let raise = 1 / SweepSignal.quietRatio
    bins = (lowest...max(lowest, highest)).map { index in
      let hertz = Double(index) * spacing
      let turn = 2 * Double.pi * hertz * offset
      return Bin(
        hertz: hertz, played: Phasor(played[index]), quiet: Phasor(one[index]) * raise,
        loud: Phasor(other[index]) * Phasor(cos(turn), sin(turn)))
    }
    self.rate = rate
    start = Double(beginning) / rate
  }

  /// Seconds by which the second sweep is later than it should be.
  var clockSkew: Double {
    // Neighbours within a hertz turn together for all delays that are looked for.
    let width = max(
      1, Int(Double(bins.count) / ((bins.last?.hertz ?? 1) - (bins.first?.hertz ?? 0))))
    let terms = stride(from: 0, to: bins.count, by: width).map { start in
      let run = bins[start..<min(start + width, bins.count)]
      return (
        hertz: run.reduce(0) { $0 + $1.hertz } / Double(run.count),
        value: run.reduce(Phasor.zero) { $0 + $1.loud * $1.quiet.conjugate }
      )
    }
    return DelaySearch.delay(of: terms, within: SweepSearch.tolerance, ignoresSign: false)
  }

  /// The power in which the sweeps differ, as a part of the power of one.
  var differencePowerRatio: Double {
    var different = 0.0
    var power = 0.0
    for bin in bins {
      different += (bin.quiet - bin.loud).power
      power += (bin.quiet.power + bin.loud.power) / 2
    }
    return power > 0 ? different / power : 1
  }

  /// By what factor the second sweep is stronger than the first would have it; 1 where nothing
  /// changed its gain.
  var levelRatio: Double {
    let first = bins.reduce(0) { $0 + $1.quiet.power }
    let second = bins.reduce(0) { $0 + $1.loud.power }
    return first > 0 ? (second / first).squareRoot() : 0
  }

  enum Combination {
    /// Both, each by the inverse of its noise.
    case weightedMean
    case quiet
    case loud
    /// What both lead to where movement vanishes: a spring that stiffens does so with the square of
    /// the level.
    case smallSignal
  }

  /// A response at a delay taken out, in seconds behind `start`.
  func response(_ part: Combination = .weightedMean, removingDelay delay: Double)
    -> MeasuredResponse
  {
    MeasuredResponse(
      bins: bins.map { bin in
        let turn = 2 * Double.pi * bin.hertz * delay
        let value =
          switch part {
          case .weightedMean: bin.quiet * Self.quietWeight + bin.loud * (1 - Self.quietWeight)
          case .quiet: bin.quiet
          case .loud: bin.loud
          case .smallSignal: bin.quiet * (4.0 / 3) - bin.loud * (1.0 / 3)
          }
        return (bin.hertz, value * Phasor(cos(turn), sin(turn)), bin.played)
      }, lowestHertz: bins.first?.hertz ?? 1)
  }

  /// What is noise in the mean of both, from their difference.
  var noiseResponse: MeasuredResponse {
    // The variance of the weighted mean over that of the difference.
    let share = (Self.quietWeight * (1 - Self.quietWeight)).squareRoot()
    return MeasuredResponse(
      bins: bins.map { ($0.hertz, ($0.quiet - $0.loud) * share, $0.played) },
      lowestHertz: bins.first?.hertz ?? 1)
  }

  /// The quiet sweep's weight in the mean: its noise is raised with it.
  private static let quietWeight: Double = {
    let power = SweepSignal.quietRatio * SweepSignal.quietRatio
    return power / (1 + power)
  }()

  /// A part of a recording around its mean; what lies outside is silence.
  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    let range = max(0, min(start, samples.count))..<max(0, min(start + count, samples.count))
    let mean = samples[range].reduce(0) { $0 + Double($1) } / Double(max(1, range.count))
    var part = [Float](repeating: 0, count: count)
    for frame in range {
      part[frame - start] = samples[frame] - Float(mean)
    }
    return part
  }
}

extension Phasor {
  init(_ number: ComplexNumber) { self.init(Double(number.real), Double(number.imaginary)) }
}

/// What a sensor on the transducer gave while the signal was played: one channel, to be judged and
/// measured.
public struct CalibrationRecording: Equatable, Sendable {
  /// The samples, in −1…1.
  public let samples: [Float]
  /// Frames per second.
  public let rate: Double

  /// Makes a recording.
  public init(samples: [Float], rate: Double) {
    self.samples = samples
    self.rate = rate
  }

  /// Seconds.
  public var duration: Double { rate > 0 ? Double(samples.count) / rate : 0 }

  /// The maximum length of a recording, in seconds.
  public static let maximumDuration = 180.0
  /// The supported sample rates, in hertz.
  public static let supportedRates = 4_000.0...384_000.0

  func check(for signal: SweepSignal) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError {
      CalibrationError(.unsuitableRecording, text)
    }
    guard !samples.isEmpty else { throw refusal("is empty") }
    guard Self.supportedRates.contains(rate) else {
      throw refusal("is at \(rate.text(places: 0)) Hz; supported: 4000 to 384000 Hz")
    }
    guard rate >= 2.5 * signal.band.upperBound else {
      let highest = signal.band.upperBound.text(places: 1)
      let needed = (2.5 * signal.band.upperBound).text(places: 0)
      throw refusal(
        "is at \(rate.text(places: 0)) Hz; a sweep up to \(highest) Hz needs \(needed) Hz")
    }
    let needed = signal.measuredDuration - SweepSignal.margin - SweepSignal.pause
    guard duration >= needed else {
      throw refusal(
        "lasts \(duration.text(places: 1)) s; the two sweeps take \(needed.text(places: 1)) s")
    }
    guard duration <= Self.maximumDuration else {
      throw refusal(
        "lasts \(duration.text(places: 1)) s; cut it to the signal, at most \(Self.maximumDuration.text(places: 0)) s"
      )
    }
    // No comparison holds for a sample that is undefined.
    if let frame = samples.firstIndex(where: { !(abs($0) < 1e6) }) {
      throw refusal("contains NaN or infinity at \(timeText(ofFrame: frame)) s")
    }
    if samples.allSatisfy({ $0 == samples[0] }) {
      throw refusal("contains only silence")
    }
  }

  /// Seconds of a frame, as sentences have them.
  func timeText(ofFrame frame: Int) -> String { (Double(frame) / rate).text(places: 2) }
}

/// A recording in which both sweeps were found and nothing speaks against measuring.
struct SweepRecording {
  /// The sweeps, by the player's clock.
  let pair: SweepPair
  /// Decibels between the louder sweep and the silence in front of it.
  let signalToNoise: Double
  let hum: MainsHum?
  /// The recording without the hum.
  let recording: CalibrationRecording

  /// Parts of the power by which two equal sweeps may differ besides noise: 10 dB below them.
  private static let maximumDifference = 0.1

  init(_ recording: CalibrationRecording, signal: SweepSignal) throws(CalibrationError) {
    try recording.check(for: signal)
    let rate = recording.rate
    let places = try SweepSearch(recording, signal: signal).sweepStarts()
    for place in [places.first, places.second] {
      let start = Int(place * rate)
      let range =
        max(0, start - Int(0.1 * rate))..<(start + Int((signal.sweepDuration + 0.1) * rate))
      if let frame = ClippingDetector.firstClippedFrame(in: recording.samples, range: range) {
        throw CalibrationError(
          .clipped,
          "is clipped at \(recording.timeText(ofFrame: frame)) s; lower the recorder's gain")
      }
    }
    let silences = Self.silences(starts: places, signal: signal, recording: recording)
    let hum = MainsHum(in: recording.samples, rate: rate, silences: silences)
    self.hum = hum
    let recording =
      hum.map {
        CalibrationRecording(samples: $0.removed(from: recording.samples, rate: rate), rate: rate)
      }
      ?? recording
    self.recording = recording
    do {
      (pair, signalToNoise) = try Self.sweepPair(in: recording, signal: signal, starts: places)
    } catch {
      throw CalibrationError.attributing(error, to: hum)
    }
  }

  /// The least factor between the sweeps, brought to one level, that is not a gain which changed;
  /// noise is in it.
  private static let minimumLevelRatio = 0.6

  /// The sweeps by the player's clock, and decibels between the louder one and the silence in front
  /// of it.
  private static func sweepPair(
    in recording: CalibrationRecording, signal: SweepSignal,
    starts places: (first: Double, second: Double)
  ) throws(CalibrationError) -> (SweepPair, signalToNoise: Double) {
    let rate = recording.rate
    let first = SweepPair(recording, signal: signal, rate: rate, firstSweep: places.first)
    let error = first.clockSkew / signal.sweepSpacing
    guard abs(error) * 1e6 <= Calibration.maximumClockError else {
      throw CalibrationError(
        .clockMismatch,
        """
        has a sample clock that is \((abs(error) * 1e6).text(places: 0)) ppm too \
        \(error > 0 ? "fast" : "slow"); record on the device that plays the signal
        """
      )
    }
    let signalToNoise = NoiseMeasurement.signalToNoise(
      of: recording.samples, rate: rate, signal: signal, secondSweep: Int(places.second * rate))
    guard signalToNoise >= Calibration.minimumSignalToNoise else {
      throw CalibrationError(
        .tooQuiet,
        """
        is too quiet: the sweeps are \(signalToNoise.text(places: 1)) dB above the noise, at least 6 dB \
        are required
        """
      )
    }
    let pair = SweepPair(
      recording, signal: signal, rate: rate * (1 + error), firstSweep: places.first)
    let ratio = pair.levelRatio
    guard ratio > Self.minimumLevelRatio else {
      let step = -Decibels.of(amplitude: SweepSignal.quietRatio)
      throw CalibrationError(
        .unsuitableRecording,
        """
        has its second sweep only \((step + Decibels.of(amplitude: ratio)).text(places: 1)) dB above \
        the first, not \(step.text(places: 1)) dB; record the signal of this version, with automatic \
        gain control off
        """
      )
    }
    return (pair, signalToNoise)
  }

  func checkRepeatability() throws(CalibrationError) {
    // Noise is in both sweeps, in each is its own, and in the first it is raised.
    let raised = 1 + 1 / (SweepSignal.quietRatio * SweepSignal.quietRatio)
    let expected = 2 * raised * pow(10, -signalToNoise / 10)
    guard pair.differencePowerRatio <= Self.maximumDifference + expected else {
      throw CalibrationError(
        .unsuitableRecording,
        """
        has two sweeps that differ by \((pair.differencePowerRatio.squareRoot() * 100).text(places: 0)) %; avoid \
        movement and noise, and record again
        """
      )
    }
  }

  /// Frames of a recording in which nothing is played and nothing rings any more.
  private static func silences(
    starts places: (first: Double, second: Double), signal: SweepSignal,
    recording: CalibrationRecording
  ) -> [Range<Int>] {
    // A place is that of a sweep's peak, up to a pre-roll behind its beginning.
    let ring = 0.6
    let ends = [places.first, places.second].map { $0 + signal.sweepDuration + ring }
    return [
      (0.05, places.first - SweepPair.preRoll), (ends[0], places.second - SweepPair.preRoll),
      (ends[1], places.second + signal.sweepDuration + SweepSignal.pause - 0.1),
    ].map { start, end in
      let first = min(max(0, Int(start * recording.rate)), recording.samples.count)
      return first..<max(first, min(recording.samples.count, Int(end * recording.rate)))
    }
  }
}

/// When the signal itself was in transit, from a channel that recorded it without the transducer.
public struct ReferenceDelay: Equatable, Sendable {
  /// Seconds of the recording at which the signal's first sample was there, to a part of a frame.
  public let offset: Double

  /// The least part of the channel that has to agree on one delay.
  private static let minimumAgreement = 0.8

  /// Measures.
  ///
  /// - Throws: Why it cannot; `noResonance` where the channel holds something else than the signal.
  public init(measuring recording: CalibrationRecording, of signal: SweepSignal)
    throws(CalibrationError)
  {
    let take = try SweepRecording(recording, signal: signal)
    try take.checkRepeatability()
    let pair = take.pair
    let response = pair.response(removingDelay: SweepPair.preRoll)
    let terms = response.groups.map { (hertz: $0.hertz, value: $0.gain * $0.weight) }
    let reach = 0.5 / signal.band.lowerBound
    let delay = DelaySearch.delay(of: terms, within: reach, ignoresSign: true)
    let agreeing = abs(DelaySearch.correlation(of: terms, at: delay))
    let total = terms.reduce(0) { $0 + $1.value.magnitude }
    guard agreeing >= Self.minimumAgreement * total else {
      throw CalibrationError(.noResonance, "the reference channel does not contain the signal")
    }
    offset = pair.start + SweepPair.preRoll + delay - signal.firstSweepTime
  }
}

/// How far a recording's sweeps stand above its noise, in the band of the sweep.
enum NoiseMeasurement {
  /// Seconds of the pause that are taken for noise, and by how many they end before the next sweep.
  private static let noiseDuration = 0.5
  private static let guardDuration = 0.1

  /// Decibels between the power of the second sweep and that of the pause in front of it.
  /// - Parameter second: Frame at which the second sweep begins.
  static func signalToNoise(
    of samples: [Float], rate: Double, signal: SweepSignal, secondSweep second: Int
  )
    -> Double
  {
    let end = second - Int(guardDuration * rate)
    let noise = bandPower(
      of: samples, from: end - Int(noiseDuration * rate), to: end, rate: rate, signal: signal)
    let sweep = bandPower(
      of: samples, from: second, to: second + Int(signal.sweepDuration * rate), rate: rate,
      signal: signal)
    // The sweep's part holds noise as well.
    return Decibels.of(power: max(0, sweep - noise) / max(noise, 1e-30))
  }

  /// The mean power in the band, through a window of Hann.
  private static func bandPower(
    of samples: [Float], from start: Int, to end: Int, rate: Double, signal: SweepSignal
  )
    -> Double
  {
    let range = max(0, min(start, samples.count))..<max(0, min(end, samples.count))
    guard range.count > 1 else { return 0 }
    let mean = samples[range].reduce(0) { $0 + Double($1) } / Double(range.count)
    var energy = 0.0
    let windowed = range.map { frame -> Float in
      let place = (Double(frame - range.lowerBound) + 0.5) / Double(range.count)
      let weight = 0.5 - 0.5 * cos(2 * .pi * place)
      energy += weight * weight
      return Float((Double(samples[frame]) - mean) * weight)
    }
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: range.count))
    let bins = transform.forward(windowed)
    let spacing = rate / Double(transform.length)
    var total = 0.0
    for index in bins.indices where signal.band.contains(Double(index) * spacing) {
      total += Double(bins[index].power)
    }
    return 2 * total / (Double(transform.length) * energy)
  }
}

/// Finds where a recorder or an amplifier cut the peaks off.
///
/// A swept resonance is near its greatest value for a moment only. Where much of all that comes
/// near it lies flat at the very top, something was cut.
enum ClippingDetector {
  /// What counts as the very top, and as near it, as shares of the peak.
  private static let peakThreshold = Float(0.998)
  private static let nearPeakThreshold = Float(0.968)
  /// The part of what is near that lies at the top where peaks are cut; a steady sine has a
  /// quarter.
  private static let minimumClippedFraction = 0.5
  /// The level at which whole numbers end, and samples there that may be chance.
  private static let fullScaleThreshold = Float(0.9995)
  private static let toleratedSampleCount = 3

  /// The first frame of a range that is cut off, or nothing.
  static func firstClippedFrame(in samples: [Float], range: Range<Int>) -> Int? {
    let range = range.clamped(to: samples.indices)
    let atFull = range.filter { abs(samples[$0]) >= fullScaleThreshold }
    if atFull.count > toleratedSampleCount { return atFull[0] }
    for sign in [Float(1), -1] {
      let peak = range.reduce(Float(0)) { max($0, sign * samples[$1]) }
      guard peak > 0 else { continue }
      let nearPeak = range.filter { sign * samples[$0] >= peak * nearPeakThreshold }
      let atTop = nearPeak.filter { sign * samples[$0] >= peak * peakThreshold }
      if atTop.count > 10 * toleratedSampleCount,
        Double(atTop.count) > minimumClippedFraction * Double(nearPeak.count)
      {
        return atTop[0]
      }
    }
    return nil
  }
}

/// Finds the two sweeps in a recording.
///
/// The recording is divided by the sweep in frequency, which gathers each sweep in an impulse.
struct SweepSearch {
  /// How far the second sweep may lie from its place, in seconds: what the pause allows.
  static let tolerance = 0.05
  /// How far an impulse has to stand out of the rest, as a multiple of the median, and the least
  /// part of it that the other may be.
  private static let minimumProminence = Float(9)
  private static let minimumSecondPeakRatio = Float(0.2)

  private let impulseMagnitudes: [Float]
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
    let room = max(1, Int((recording.duration - 0.9 * signal.sweepDuration) * rate))
    impulseMagnitudes = inverse.backward(bins).prefix(room).map(abs)
  }

  /// Where both sweeps begin, in seconds, each later by what the transducer takes to answer.
  func sweepStarts() throws(CalibrationError) -> (first: Double, second: Double) {
    let best = peak(in: 0...Double(impulseMagnitudes.count) / rate)
    let median = impulseMagnitudes.sorted()[impulseMagnitudes.count / 2]
    guard best.height > Self.minimumProminence * median else {
      throw CalibrationError(
        .unsuitableRecording,
        """
        contains no sweep from \(signal.band.lowerBound.text(places: 1)) to \
        \(signal.band.upperBound.text(places: 1)) Hz of \(signal.sweepDuration.text(places: 1)) s above the noise
        """
      )
    }
    let later = peak(around: best.time + signal.sweepSpacing)
    let earlier = peak(around: best.time - signal.sweepSpacing)
    let other = later.height >= earlier.height ? later : earlier
    if other.height >= Self.minimumSecondPeakRatio * best.height {
      return (min(best.time, other.time), max(best.time, other.time))
    }
    throw misalignmentError(best)
  }

  /// What is wrong where the second sweep is not in its place.
  private func misalignmentError(_ best: (time: Double, height: Float)) -> CalibrationError {
    // An echo belongs to its sweep.
    let apart = 0.5
    let before = peak(in: 0...max(0, best.time - apart))
    let start = best.time + apart
    let behind = peak(in: start...max(start, Double(impulseMagnitudes.count) / rate))
    let other = before.height > behind.height ? before : behind
    guard other.height >= Self.minimumSecondPeakRatio * best.height else {
      return CalibrationError(
        .unsuitableRecording,
        """
        contains only one sweep, at \(best.time.text(places: 2)) s; record from before the first to \
        after the second
        """
      )
    }
    let found = abs(other.time - best.time).text(places: 2)
    return CalibrationError(
      .clockMismatch,
      """
      has its sweeps \(found) s apart, not \(signal.sweepSpacing.text(places: 2)) s: the recording has \
      another sample rate or signal
      """
    )
  }

  private func peak(around time: Double) -> (time: Double, height: Float) {
    guard time + Self.tolerance >= 0 else { return (time, 0) }
    return peak(in: max(0, time - Self.tolerance)...max(0, time + Self.tolerance))
  }

  private func peak(in seconds: ClosedRange<Double>) -> (time: Double, height: Float) {
    let first = min(impulseMagnitudes.count, Int(seconds.lowerBound * rate))
    let last = min(impulseMagnitudes.count, max(first, Int(seconds.upperBound * rate) + 1))
    guard let index = (first..<last).max(by: { impulseMagnitudes[$0] < impulseMagnitudes[$1] })
    else {
      return (seconds.lowerBound, 0)
    }
    return (Double(index) / rate, impulseMagnitudes[index])
  }
}
