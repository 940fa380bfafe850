internal import Glibc

/// A recording in which both sweeps were found and nothing speaks against measuring.
struct SweepTake {
  /// The sweeps, by the player's clock.
  let pair: SweepPair
  /// Decibels between the sweeps and the silence between them.
  let signalToNoise: Double

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
          kind: .clipped,
          description: "is clipped at \(recording.place(of: frame)) s; lower the recorder's gain")
      }
    }
    let first = SweepPair(recording, signal: signal, rate: rate, first: places.first)
    let error = first.clockSkew / signal.sweepSpacing
    guard abs(error) * 1e6 <= Calibration.maximumClockError else {
      throw CalibrationError(
        kind: .clockMismatch,
        description:
          "has a sample clock that is \(MeasurementFormatting.number(abs(error) * 1e6, places: 0)) ppm too \(error > 0 ? "fast" : "slow"); record on the device that plays the signal"
      )
    }
    signalToNoise = NoiseMeasurement.signalToNoise(
      of: recording.samples, rate: rate, signal: signal, first: Int(places.first * rate),
      second: Int(places.second * rate))
    guard signalToNoise >= Calibration.minimumSignalToNoise else {
      throw CalibrationError(
        kind: .tooQuiet,
        description: "is too quiet: the sweeps are "
          + "\(MeasurementFormatting.number(signalToNoise, places: 1)) dB above the noise, at least 6 dB are required"
      )
    }
    pair = SweepPair(
      recording, signal: signal, rate: rate * (1 + error), first: places.first)
    // Noise is in both sweeps and in each is its own.
    let expected = 4 * pow(10, -signalToNoise / 10)
    guard pair.difference <= Self.mostDifference + expected else {
      throw CalibrationError(
        kind: .unsuitableRecording,
        description: "has two sweeps that differ by "
          + "\(MeasurementFormatting.number(pair.difference.squareRoot() * 100, places: 0)) %; avoid movement and noise, and record again"
      )
    }
  }
}
