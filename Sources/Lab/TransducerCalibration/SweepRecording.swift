internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// A recording of sweeps that is suitable for a measurement, with the located sweeps.
///
/// 1. The recording is checked, and both sweeps are located (`SweepSearch`).
/// 2. The sweeps must not be clipped (`ClippingDetector`).
/// 3. Mains hum is fitted to the silences and removed (`MainsHum`).
/// 4. The error of the recorder's clock is measured, and both sweeps are transformed at the
///    corrected rate (`SweepPair`).
/// 5. The level above the noise and the ratio of the sweeps' levels are checked.
struct SweepRecording {
  /// The spectra of both sweeps, corrected for clock error.
  ///
  /// The clock error is the difference between the player's and the recorder's clock.
  let sweepPair: SweepPair
  /// The level of the loud sweep above the silence before it, in decibels.
  let signalToNoiseDecibels: Double
  /// The mains hum that was removed, if any.
  let removedHum: MainsHum?
  /// The recording without the hum.
  let cleanRecording: CalibrationRecording

  /// The maximum power of the difference between the sweeps, relative to a sweep: −10 dB.
  ///
  /// The power of the noise is subtracted.
  private static let maximumSweepDifferencePowerRatio = 0.1
  /// The minimum ratio of the loud sweep's amplitude to that expected from the quiet sweep.
  ///
  /// Both amplitudes include noise. A lower value indicates that the gain changed during the
  /// recording.
  private static let minimumLoudToExpectedRatio = 0.6
  /// The duration of the transducer's ringing after a sweep, in seconds.
  private static let ringingSeconds = 0.6

  /// Locates and checks the sweeps of a recording.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - signal: The signal that was played.
  init(_ recording: CalibrationRecording, signal: SweepSignal) throws(CalibrationError) {
    try recording.check(for: signal)
    let sweepStarts = try SweepSearch(recording, signal: signal).sweepStarts()
    try Self.checkClipping(of: recording, signal: signal, starts: sweepStarts)
    let silenceRanges = Self.silences(starts: sweepStarts, signal: signal, recording: recording)
    let sampleRate = recording.sampleRate
    let mainsHum = MainsHum(in: recording.samples, rate: sampleRate, silences: silenceRanges)
    self.removedHum = mainsHum
    let cleanedRecording =
      mainsHum.map {
        CalibrationRecording(
          samples: $0.removingHum(from: recording.samples, rate: sampleRate), sampleRate: sampleRate
        )
      } ?? recording
    self.cleanRecording = cleanedRecording
    do {
      (sweepPair, signalToNoiseDecibels) = try Self.sweepPair(
        in: cleanedRecording, signal: signal, starts: sweepStarts)
    } catch {
      throw CalibrationError.attributing(error, to: mainsHum)
    }
  }

  /// Checks that the sweeps differ from each other by little more than noise.
  func checkRepeatability() throws(CalibrationError) {
    // Both sweeps have independent noise; that of the quiet sweep is scaled with it.
    let noiseFactor =
      1 + 1 / (SweepSignal.quietToLoudAmplitudeRatio * SweepSignal.quietToLoudAmplitudeRatio)
    let expectedNoiseRatio = 2 * noiseFactor * pow(10, -signalToNoiseDecibels / 10)
    guard
      sweepPair.sweepDifferencePowerRatio <= Self.maximumSweepDifferencePowerRatio
        + expectedNoiseRatio
    else {
      let percentage = (sweepPair.sweepDifferencePowerRatio.squareRoot() * 100).text(places: 0)
      throw CalibrationError(
        .unsuitableRecording,
        "has two sweeps that differ by \(percentage) %; avoid movement and noise, and record again")
    }
  }

  private static func checkClipping(
    of recording: CalibrationRecording, signal: SweepSignal, starts: SweepSearch.SweepStarts
  ) throws(CalibrationError) {
    let sampleRate = recording.sampleRate
    for time in [starts.first, starts.second] {
      let start = Int(time * sampleRate)
      let end = start + Int((signal.sweepSeconds + 0.1) * sampleRate)
      let range = max(0, start - Int(0.1 * sampleRate))..<end
      if let frame = ClippingDetector.firstClippedFrame(in: recording.samples, range: range) {
        throw CalibrationError(
          .clipped,
          "is clipped at \(recording.timeText(ofFrame: frame)) s; lower the recorder's gain")
      }
    }
  }

  /// Returns the sweeps, corrected for the clock error, and their signal-to-noise ratio.
  ///
  /// The ratio is the level of the loud sweep above the preceding silence, in decibels.
  private static func sweepPair(
    in recording: CalibrationRecording, signal: SweepSignal, starts: SweepSearch.SweepStarts
  ) throws(CalibrationError) -> (SweepPair, signalToNoise: Double) {
    let sampleRate = recording.sampleRate
    let uncorrectedPair = SweepPair(
      recording, signal: signal, recorderSampleRate: sampleRate, firstSweep: starts.first)
    let clockErrorFraction = uncorrectedPair.secondSweepDelaySeconds / signal.sweepSpacingSeconds
    try checkClock(error: clockErrorFraction)
    let signalToNoiseDecibels = NoiseMeasurement.signalToNoise(
      of: recording.samples, rate: sampleRate, signal: signal,
      secondSweep: Int(starts.second * sampleRate))
    guard signalToNoiseDecibels >= Calibration.minimumSignalToNoiseDecibels else {
      throw CalibrationError(
        .tooQuiet,
        """
        is too quiet: the sweeps are \(signalToNoiseDecibels.text(places: 1)) dB above the noise; \
        at least 6 dB is required
        """)
    }
    let correctedPair = SweepPair(
      recording, signal: signal, recorderSampleRate: sampleRate * (1 + clockErrorFraction),
      firstSweep: starts.first)
    try checkLevels(of: correctedPair)
    return (correctedPair, signalToNoiseDecibels)
  }

  private static func checkClock(error: Double) throws(CalibrationError) {
    guard abs(error) * 1e6 <= Calibration.maximumClockErrorPartsPerMillion else {
      throw CalibrationError(
        .clockMismatch,
        """
        has a sample clock that is \((abs(error) * 1e6).text(places: 0)) ppm too \
        \(error > 0 ? "fast" : "slow"); record on the device that plays the signal
        """)
    }
  }

  private static func checkLevels(of pair: SweepPair) throws(CalibrationError) {
    let levelRatio = pair.loudToExpectedAmplitudeRatio
    guard levelRatio > Self.minimumLoudToExpectedRatio else {
      let expected = -Decibels.of(amplitude: SweepSignal.quietToLoudAmplitudeRatio)
      let measured = (expected + Decibels.of(amplitude: levelRatio)).text(places: 1)
      throw CalibrationError(
        .unsuitableRecording,
        """
        contains a second sweep that is \(measured) dB louder than the first instead of \
        \(expected.text(places: 1)) dB; turn off automatic gain control, and record the signal of \
        this version of Temblor
        """)
    }
  }

  /// Returns the ranges of frames without the signal and without ringing of the transducer.
  private static func silences(
    starts: SweepSearch.SweepStarts, signal: SweepSignal, recording: CalibrationRecording
  ) -> [Range<Int>] {
    // A detected sweep may have started up to a pre-roll earlier.
    let firstRingingEndSeconds = starts.first + signal.sweepSeconds + ringingSeconds
    let secondRingingEndSeconds = starts.second + signal.sweepSeconds + ringingSeconds
    let signalEndSeconds =
      starts.second + signal.sweepSeconds + SweepSignal.silenceAfterSweepSeconds
    return [
      (0.05, starts.first - SweepPair.preRollSeconds),
      (firstRingingEndSeconds, starts.second - SweepPair.preRollSeconds),
      (secondRingingEndSeconds, signalEndSeconds - 0.1),
    ].map { start, end in
      let first = min(max(0, Int(start * recording.sampleRate)), recording.samples.count)
      return first..<max(first, min(recording.samples.count, Int(end * recording.sampleRate)))
    }
  }
}

/// The delay of a reference channel, which bypasses the transducer.
///
/// The channel recorded the signal directly.
public struct ReferenceDelay: Equatable, Sendable {
  /// The time of the signal's first sample in the recording, in seconds.
  ///
  /// The time is accurate to a fraction of a frame.
  public let signalStartSeconds: Double

  /// The minimum fraction of the reference channel's signal that a single delay explains.
  private static let minimumExplainedSignalFraction = 0.8

  /// Measures the delay of a reference channel.
  ///
  /// - Parameters:
  ///   - recording: The channel that recorded the signal itself.
  ///   - signal: The signal that was played.
  /// - Throws: A `CalibrationError`; `noResonance` if the channel does not contain the signal.
  public init(measuring recording: CalibrationRecording, of signal: SweepSignal)
    throws(CalibrationError)
  {
    let sweepRecording = try SweepRecording(recording, signal: signal)
    try sweepRecording.checkRepeatability()
    let sweepPair = sweepRecording.sweepPair
    let response = sweepPair.response(removingDelay: SweepPair.preRollSeconds)
    let delayTerms = response.groups.map {
      (hertz: $0.meanHertz, value: $0.recordedToPlayedRatio * $0.sweepPower)
    }
    let maximumDelaySeconds = 0.5 / signal.bandHertz.lowerBound
    let delaySeconds = DelaySearch.delay(
      of: delayTerms, within: maximumDelaySeconds, ignoresSign: true)
    let coherentSum = abs(DelaySearch.correlation(of: delayTerms, at: delaySeconds))
    let incoherentSum = delayTerms.reduce(0) { $0 + $1.value.magnitude }
    guard coherentSum >= Self.minimumExplainedSignalFraction * incoherentSum else {
      throw CalibrationError(.noResonance, "the reference channel does not contain the signal")
    }
    signalStartSeconds =
      sweepPair.excerptStartSeconds + SweepPair.preRollSeconds + delaySeconds
      - signal.firstSweepStartSeconds
  }
}

/// Measures the level of a recording's sweeps above its noise, in the band of the sweep.
enum NoiseMeasurement {
  /// The duration of the pause that is measured as noise, in seconds.
  private static let measuredNoiseSeconds = 0.5
  /// The interval between the measured pause and the next sweep, in seconds.
  private static let guardBeforeSweepSeconds = 0.1

  /// Returns the ratio of the second sweep's power to the preceding pause's power, in decibels.
  ///
  /// - Parameters:
  ///   - samples: The recording.
  ///   - rate: The sample rate, in hertz.
  ///   - signal: The signal that was played.
  ///   - secondSweep: The frame at which the second sweep starts.
  static func signalToNoise(
    of samples: [Float], rate: Double, signal: SweepSignal, secondSweep: Int
  ) -> Double {
    let noiseEndFrame = secondSweep - Int(guardBeforeSweepSeconds * rate)
    let noisePower = bandPower(
      of: samples, from: noiseEndFrame - Int(measuredNoiseSeconds * rate), to: noiseEndFrame,
      rate: rate,
      signal: signal)
    let sweepEndFrame = secondSweep + Int(signal.sweepSeconds * rate)
    let sweepPower = bandPower(
      of: samples, from: secondSweep, to: sweepEndFrame, rate: rate, signal: signal)
    // The sweep's power includes that of the noise.
    return Decibels.of(power: max(0, sweepPower - noisePower) / max(noisePower, 1e-30))
  }

  /// Returns the mean power of a range of samples in the band, under a Hann window.
  private static func bandPower(
    of samples: [Float], from start: Int, to end: Int, rate: Double, signal: SweepSignal
  ) -> Double {
    let sampleRange = max(0, min(start, samples.count))..<max(0, min(end, samples.count))
    guard sampleRange.count > 1 else { return 0 }
    let meanValue = samples[sampleRange].reduce(0) { $0 + Double($1) } / Double(sampleRange.count)
    var windowEnergy = 0.0
    let windowedSamples = sampleRange.map { frame -> Float in
      let position = (Double(frame - sampleRange.lowerBound) + 0.5) / Double(sampleRange.count)
      let weight = 0.5 - 0.5 * cos(2 * .pi * position)
      windowEnergy += weight * weight
      return Float((Double(samples[frame]) - meanValue) * weight)
    }
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: sampleRange.count))
    let spectrumBins = transform.forward(windowedSamples)
    let binWidthHertz = rate / Double(transform.length)
    var summedBinPower = 0.0
    for index in spectrumBins.indices where signal.bandHertz.contains(Double(index) * binWidthHertz)
    {
      summedBinPower += Double(spectrumBins[index].power)
    }
    return 2 * summedBinPower / (Double(transform.length) * windowEnergy)
  }
}
