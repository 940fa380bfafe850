internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// A recording in which both sweeps were found and nothing speaks against measuring.
struct SweepTake {
  /// The sweeps, by the player's clock.
  let pair: SweepPair
  /// Decibels between the louder sweep and the silence in front of it.
  let signalToNoise: Double
  /// The mains hum that was taken out.
  let hum: MainsHum?

  /// Parts of the power by which two equal sweeps may differ besides noise: 10 dB below them.
  private static let mostDifference = 0.1

  /// Looks a recording through.
  init(_ recording: CalibrationRecording, signal: SweepSignal) throws(CalibrationError) {
    try recording.check(for: signal)
    let rate = recording.rate
    let places = try SweepSearch(recording, signal: signal).pair()
    for place in [places.first, places.second] {
      let start = Int(place * rate)
      let range = max(0, start - Int(0.1 * rate))..<(start + Int((signal.duration + 0.1) * rate))
      if let frame = ClippingDetector.firstFrame(in: recording.samples, range: range) {
        throw CalibrationError(
          kind: .clipped, description: "is clipped at \(recording.place(of: frame)) s; lower the recorder's gain")
      }
    }
    let silences = Self.silences(places, signal, recording)
    let hum = MainsHum(in: recording.samples, rate: rate, silences: silences)
    self.hum = hum
    let recording =
      hum.map { CalibrationRecording(samples: $0.removed(from: recording.samples, rate: rate), rate: rate) }
      ?? recording
    do { (pair, signalToNoise) = try Self.pair(recording, signal: signal, places) } catch {
      throw CalibrationError.cause(of: error, behind: hum)
    }
  }

  /// The least factor between the sweeps, brought to one level, that is not a gain which changed; noise is in it.
  private static let leastRatio = 0.6

  /// The sweeps by the player's clock, and decibels between the louder one and the silence in front of it.
  private static func pair(
    _ recording: CalibrationRecording, signal: SweepSignal, _ places: (first: Double, second: Double)
  ) throws(CalibrationError) -> (SweepPair, signalToNoise: Double) {
    let rate = recording.rate
    let first = SweepPair(recording, signal: signal, rate: rate, first: places.first)
    let error = first.clockSkew / signal.sweepSpacing
    guard abs(error) * 1e6 <= Calibration.maximumClockError else {
      throw CalibrationError(
        kind: .clockMismatch,
        description:
          "has a sample clock that is \(NumberFormatting.rounded(abs(error) * 1e6, places: 0)) ppm too \(error > 0 ? "fast" : "slow"); record on the device that plays the signal"
      )
    }
    let signalToNoise = NoiseMeasurement.signalToNoise(
      of: recording.samples, rate: rate, signal: signal, second: Int(places.second * rate))
    guard signalToNoise >= Calibration.minimumSignalToNoise else {
      throw CalibrationError(
        kind: .tooQuiet,
        description: "is too quiet: the sweeps are "
          + "\(NumberFormatting.rounded(signalToNoise, places: 1)) dB above the noise, at least 6 dB are required")
    }
    let pair = SweepPair(recording, signal: signal, rate: rate * (1 + error), first: places.first)
    let ratio = pair.levelRatio
    guard ratio > Self.leastRatio else {
      let step = -Decibels.of(amplitude: SweepSignal.quietShare)
      throw CalibrationError(
        kind: .unsuitableRecording,
        description: "has its second sweep only "
          + "\(NumberFormatting.rounded(step + Decibels.of(amplitude: ratio), places: 1)) dB above the first, not "
          + "\(NumberFormatting.rounded(step, places: 1)) dB; record the signal of this version, with automatic gain control off"
      )
    }
    return (pair, signalToNoise)
  }

  /// Refuses sweeps that differ by more than noise.
  func checkDifference() throws(CalibrationError) {
    // Noise is in both sweeps, in each is its own, and in the first it is raised.
    let raised = 1 + 1 / (SweepSignal.quietShare * SweepSignal.quietShare)
    let expected = 2 * raised * pow(10, -signalToNoise / 10)
    guard pair.difference <= Self.mostDifference + expected else {
      throw CalibrationError(
        kind: .unsuitableRecording,
        description: "has two sweeps that differ by "
          + "\(NumberFormatting.rounded(pair.difference.squareRoot() * 100, places: 0)) %; avoid movement and noise, and record again"
      )
    }
  }

  /// Frames of a recording in which nothing is played and nothing rings any more.
  private static func silences(
    _ places: (first: Double, second: Double), _ signal: SweepSignal, _ recording: CalibrationRecording
  ) -> [Range<Int>] {
    // A place is that of a sweep's peak, up to a pre-roll behind its beginning.
    let ring = 0.6
    let ends = [places.first, places.second].map { $0 + signal.duration + ring }
    return [
      (0.05, places.first - SweepPair.preRoll), (ends[0], places.second - SweepPair.preRoll),
      (ends[1], places.second + signal.duration + SweepSignal.pause - 0.1),
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
  private static let leastAgreement = 0.8

  /// Measures.
  ///
  /// - Throws: Why it cannot; `noResonance` where the channel holds something else than the signal.
  public init(measuring recording: CalibrationRecording, of signal: SweepSignal) throws(CalibrationError) {
    let take = try SweepTake(recording, signal: signal)
    try take.checkDifference()
    let pair = take.pair
    let response = pair.response(without: SweepPair.preRoll)
    let terms = response.groups.map { (hertz: $0.hertz, value: $0.gain * $0.weight) }
    let reach = 0.5 / signal.band.lowerBound
    let delay = DelaySearch.delay(of: terms, within: reach, ignoresSign: true)
    let agreeing = abs(DelaySearch.sum(of: terms, at: delay))
    let whole = terms.reduce(0) { $0 + $1.value.magnitude }
    guard agreeing >= Self.leastAgreement * whole else {
      throw CalibrationError(kind: .noResonance, description: "the reference channel does not contain the signal")
    }
    offset = pair.start + SweepPair.preRoll + delay - signal.firstSweep
  }
}

/// How far a recording's sweeps stand above its noise, in the band of the sweep.
enum NoiseMeasurement {
  /// Seconds of the pause that are taken for noise, and by how many they end before the next sweep.
  private static let length = 0.5
  private static let distance = 0.1

  /// Decibels between the power of the second sweep and that of the pause in front of it.
  ///
  /// - Parameters:
  ///   - second: Frame at which the second sweep begins.
  static func signalToNoise(of samples: [Float], rate: Double, signal: SweepSignal, second: Int) -> Double {
    let end = second - Int(distance * rate)
    let noise = power(samples, from: end - Int(length * rate), to: end, rate: rate, signal)
    let sweep = power(samples, from: second, to: second + Int(signal.duration * rate), rate: rate, signal)
    // The sweep's part holds noise as well.
    return Decibels.of(power: max(0, sweep - noise) / max(noise, 1e-30))
  }

  /// The mean power in the band, through a window of Hann.
  private static func power(_ samples: [Float], from start: Int, to end: Int, rate: Double, _ signal: SweepSignal)
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
    for index in bins.indices where signal.band.contains(Double(index) * spacing) { total += Double(bins[index].power) }
    return 2 * total / (Double(transform.length) * energy)
  }
}

/// Finds where a recorder or an amplifier cut the peaks off.
///
/// A swept resonance is near its greatest value for a moment only. Where much of all that comes near it lies
/// flat at the very top, something was cut.
enum ClippingDetector {
  /// What counts as the very top, as a share of the peak.
  private static let top = 0.998
  /// What counts as near it.
  private static let near = 0.968
  /// The part of what is near that lies at the top where peaks are cut; a steady sine has a quarter.
  private static let share = 0.5
  /// The level at which whole numbers end.
  private static let full: Float = 0.9995
  /// Samples there that may be chance.
  private static let chance = 3

  /// The first frame of a range that is cut off, or nothing.
  static func firstFrame(in samples: [Float], range: Range<Int>) -> Int? {
    let range = range.clamped(to: samples.indices)
    let atFull = range.filter { abs(samples[$0]) >= full }
    if atFull.count > chance { return atFull[0] }
    for sign in [Float(1), -1] {
      var peak: Float = 0
      for frame in range { peak = max(peak, sign * samples[frame]) }
      guard peak > 0 else { continue }
      let topLevel = peak * Float(top)
      let nearLevel = peak * Float(near)
      var topCount = 0
      var nearCount = 0
      var first: Int?
      for frame in range where sign * samples[frame] >= nearLevel {
        nearCount += 1
        guard sign * samples[frame] >= topLevel else { continue }
        topCount += 1
        if first == nil { first = frame }
      }
      if topCount > 10 * chance, Double(topCount) > share * Double(nearCount) { return first }
    }
    return nil
  }
}
