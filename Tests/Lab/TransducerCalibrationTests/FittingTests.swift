import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct FittingTests {
  /// Measures a transducer with a resonance of 20 to 200 Hz and a Q factor of 1 to 30, at a random
  /// delay, level, and polarity.
  private func measure(seed: UInt64, in recorder: SimulatedRecorder) throws {
    var recorder = recorder
    var generator = SplitMixGenerator(state: seed &* 7_919)
    let resonance = 20 * pow(10, generator.fraction())
    let qualityFactor = pow(30, generator.fraction())
    recorder.latency = (50 + 5_950 * generator.fraction()) * recorder.rate / 48_000
    recorder.gain = pow(10, -2 * generator.fraction()) * (generator.fraction() < 0.5 ? -1 : 1)
    recorder.seed = seed
    let recording = try recorder.record([(resonance, qualityFactor, 1)])
    let calibration = try Calibration(measuring: recording, of: recorder.signal)
    #expect(abs(calibration.resonanceHertz / resonance - 1) < 0.01)
    #expect(abs(calibration.qualityFactor / qualityFactor - 1) < 0.05)
    #expect(abs(calibration.signalStartSeconds * recorder.rate - recorder.latency) < 1)
    #expect(abs(calibration.fullScaleSineAmplitude / abs(recorder.gain) - 1) < 0.05)
    #expect(calibration.hasInvertedPolarity == (recorder.gain < 0))
    #expect(calibration.sensorQuantity == .acceleration)
    #expect(calibration.coilCornerHertz == nil)
  }

  @Test(arguments: 1...20) func noisyRecordingsAreMeasured(seed: UInt64) throws {
    try measure(seed: seed, in: SimulatedRecorder(SweepSignal(sweepSeconds: 3), rate: 12_000))
  }

  @Test(arguments: [101, 102]) func defaultSignalIsMeasured(seed: UInt64) throws {
    try measure(seed: seed, in: SimulatedRecorder(SweepSignal(), rate: 48_000))
  }

  @Test(arguments: [4_000.0, 11_025, 44_100]) func recordingsOfAllRatesAreMeasured(rate: Double)
    throws
  {
    var recorder = try SimulatedRecorder(
      SweepSignal(bandHertz: 10...500, sweepSeconds: 1), rate: rate)
    recorder.latency = 77.25
    let calibration = try Calibration(measuring: recorder.record([(60, 3, 1)]), of: recorder.signal)
    #expect(abs(calibration.resonanceHertz - 60) < 0.3)
    #expect(abs(calibration.qualityFactor - 3) < 0.1)
    #expect(abs(calibration.signalStartSeconds * rate - 77.25) < 1)
  }

  @Test(arguments: [
    (SimulatedTransducer.Quantity.velocity, TransducerMeasurement.SensorQuantity.velocity),
    (.displacement, .displacement),
    (.acceleration, .acceleration),
  ]) func sensorQuantityIsDetected(
    quantity: SimulatedTransducer.Quantity, sensor: TransducerMeasurement.SensorQuantity
  ) throws {
    let recorder = try SimulatedRecorder()
    let calibration = try Calibration(
      measuring: recorder.record([(40, 5, 1)], as: quantity), of: recorder.signal)
    #expect(calibration.sensorQuantity == sensor)
    #expect(abs(calibration.resonanceHertz - 40) < 0.2)
    #expect(abs(calibration.qualityFactor - 5) < 0.1)
    // The band is that of the acceleration for each sensor quantity.
    #expect(abs(calibration.responseCurve.bandHertz.lowerBound - 31.6) < 1)
    #expect(abs(calibration.responseCurve.bandHertz.upperBound - 65.5) < 1.5)
  }

  @Test func coilIsDistinguishedFromTheResonance() throws {
    let recorder = try SimulatedRecorder()
    let calibration = try Calibration(
      measuring: recorder.record([(40, 4, 1)], coilCorner: 300), of: recorder.signal)
    let corner = try #require(calibration.coilCornerHertz)
    #expect(abs(corner / 300 - 1) < 0.05)
    #expect(abs(calibration.qualityFactor - 4) < 0.1)
    let warning = "Coil inductance reduces the response above 30"
    #expect(calibration.warningSentences.contains { $0.hasPrefix(warning) })
  }

  /// The recorder's input has a coupling capacitor or a second-order high-pass filter.
  @Test(arguments: [(1, 20.0), (2, 5), (2, 20), (2, 80)]) func recorderHighPassIsRemoved(
    order: Int, corner: Double
  )
    throws
  {
    let recorder = try SimulatedRecorder()
    let clean = try recorder.record([(36, 6, 1)])
    var filtered = clean.samples.map(Double.init)
    let omega = 2 * Double.pi * corner / clean.sampleRate
    if order == 1 {
      var previousInput = 0.0
      var output = 0.0
      let pole = exp(-omega)
      for index in filtered.indices {
        output = pole * output + (1 + pole) / 2 * (filtered[index] - previousInput)
        previousInput = filtered[index]
        filtered[index] = output
      }
    } else {
      // Butterworth by the bilinear transform.
      let k = tan(omega / 2)
      let norm = 1 / (1 + 2.0.squareRoot() * k + k * k)
      var x1 = 0.0
      var x2 = 0.0
      var y1 = 0.0
      var y2 = 0.0
      for index in filtered.indices {
        let x = filtered[index]
        let y =
          norm * (x - 2 * x1 + x2) - 2 * (k * k - 1) * norm * y1
          - (1 - 2.0.squareRoot() * k + k * k) * norm * y2
        x2 = x1
        x1 = x
        y2 = y1
        y1 = y
        filtered[index] = y
      }
    }
    let calibration = try Calibration(
      measuring: CalibrationRecording(
        samples: filtered.map(Float.init), sampleRate: clean.sampleRate),
      of: recorder.signal)
    #expect(abs(calibration.resonanceHertz / 36 - 1) < 0.01)
    #expect(abs(calibration.qualityFactor / 6 - 1) < 0.05)
    let detectedCornerHertz = try #require(calibration.recorderHighPassCornerHertz)
    // A corner below the sweep's 10 Hz changes only the phase, so the wrong order may be detected.
    #expect(abs(detectedCornerHertz / corner - 1) < (corner < 10 ? 0.6 : 0.1))
    #expect(calibration.sensorQuantity == .acceleration)
    #expect(
      calibration.warningSentences.contains {
        $0.hasPrefix("The input of the recorder has a high-pass filter at ")
      })
  }

  @Test(arguments: [(36.0, 6.0), (65, 20), (200, 3)]) func intervalsContainTheTrueValues(
    resonance: Double, qualityFactor: Double
  ) throws {
    let recorder = try SimulatedRecorder()
    let calibration = try Calibration(
      measuring: recorder.record([(resonance, qualityFactor, 1)]), of: recorder.signal)
    #expect(
      calibration.resonanceIntervalHalfWidthFraction < 0.01
        && calibration.qualityIntervalHalfWidthFraction < 0.1)
    #expect(
      abs(calibration.resonanceHertz / resonance - 1)
        < max(0.002, 2 * calibration.resonanceIntervalHalfWidthFraction))
    #expect(
      abs(calibration.qualityFactor / qualityFactor - 1)
        < max(0.01, 2 * calibration.qualityIntervalHalfWidthFraction))
  }

  /// The errors are normally distributed, and the half-widths of the intervals are 1.96 standard
  /// deviations.
  @Test func intervalsMatchTheDistributionOfErrors() throws {
    var recorder = try SimulatedRecorder()
    recorder.signalToNoiseDecibels = 10
    let relativeErrors = try (1...24).map { seed in
      recorder.seed = UInt64(seed) &* 7_919
      let calibration = try Calibration(
        measuring: recorder.record([(40, 5, 1)]), of: recorder.signal)
      return SIMD2(
        (calibration.resonanceHertz / 40 - 1) / calibration.resonanceIntervalHalfWidthFraction,
        (calibration.qualityFactor / 5 - 1) / calibration.qualityIntervalHalfWidthFraction)
    }
    let meanSquares = relativeErrors.reduce(SIMD2()) { $0 + $1 * $1 } / Double(relativeErrors.count)
    for meanSquare in [meanSquares.x, meanSquares.y] {
      #expect((0.6...1.4).contains(1.96 * meanSquare.squareRoot()))
    }
  }

  @Test(arguments: [-150.0, 50]) func clockErrorIsCompensated(partsPerMillion: Double) throws {
    var recorder = try SimulatedRecorder()
    recorder.clockError = partsPerMillion
    let calibration = try Calibration(measuring: recorder.record([(40, 5, 1)]), of: recorder.signal)
    #expect(abs(calibration.clockErrorPartsPerMillion - partsPerMillion) < 2)
    #expect(abs(calibration.resonanceHertz - 40) < 0.1)
    #expect(abs(calibration.qualityFactor - 5) < 0.05)
    #expect(abs(calibration.signalStartSeconds * recorder.rate - recorder.latency) < 0.5)
  }

  @Test func humAndOffsetDoNotAffectTheResult() throws {
    let recorder = try SimulatedRecorder()
    let clean = try recorder.record([(40, 5, 1)])
    let recordingWithHum = CalibrationRecording(
      samples: clean.samples.enumerated().map {
        $1 + 0.3 + 0.01 * Float(sin(2 * .pi * 50 * Double($0) / clean.sampleRate))
      },
      sampleRate: clean.sampleRate)
    let calibration = try Calibration(measuring: recordingWithHum, of: recorder.signal)
    #expect(abs(calibration.resonanceHertz - 40) < 0.4)
    #expect(abs(calibration.qualityFactor - 5) < 0.25)
  }

  @Test func referenceDelayHasSubframeAccuracy() throws {
    var recorder = try SimulatedRecorder()
    recorder.latency = 31.375
    let delay = try ReferenceDelay(measuring: recorder.recordLoop(), of: recorder.signal)
    #expect(abs(delay.signalStartSeconds * recorder.rate - 31.375) < 0.05)
  }

  @Test func verdictDistinguishesNoiseFromOtherResiduals() throws {
    let recorder = try SimulatedRecorder()
    let clean = try Calibration(measuring: recorder.record([(40, 5, 1)]), of: recorder.signal)
    #expect(clean.verdictSentence.hasSuffix("of the recorded power; the rest is noise."))
    #expect(clean.warningSentences == [])
    // The number of resonances is higher than the fit supports.
    let modes = [(40.0, 5.0, 1.0), (75, 12, 0.06), (120, 8, 0.06), (190, 9, 0.06), (310, 8, 0.06)]
    let poorFit = try Calibration(
      measuring: recorder.record(modes), of: recorder.signal, acceptsPoorFit: true)
    #expect(
      poorFit.verdictSentence.hasSuffix(
        "; most of the rest is other resonances or distortion, not noise.")
    )
  }

  /// Chairs and platforms have two or three resonances.
  @Test func furtherResonancesAreFitted() throws {
    let recorder = try SimulatedRecorder()
    let modes = [(40.0, 5.0, 1.0), (70, 9, -0.4), (150, 12, 0.2)]
    let calibration = try Calibration(measuring: recorder.record(modes), of: recorder.signal)
    #expect(abs(calibration.resonanceHertz / 40 - 1) < 0.005)
    #expect(abs(calibration.qualityFactor / 5 - 1) < 0.03)
    try #require(calibration.furtherResonances.count == 2)
    for (fittedMode, mode) in zip(calibration.furtherResonances, modes.dropFirst()) {
      #expect(abs(fittedMode.resonanceHertz / mode.0 - 1) < 0.005)
      #expect(abs(fittedMode.qualityFactor / mode.1 - 1) < 0.05)
      #expect(abs(fittedMode.accelerationToMainModeRatio / mode.2 - 1) < 0.05)
    }
    #expect(calibration.verdictSentence.hasPrefix("3 resonances explain "))
    #expect(
      calibration.warningSentences.contains {
        $0.hasPrefix("Another resonance is at 70 Hz, with a Q factor of ")
      })
  }

  /// The lower of two strong resonances is the main resonance for each sensor quantity.
  @Test(arguments: [SimulatedTransducer.Quantity.acceleration, .velocity])
  func lowerOfTwoStrongResonancesIsMain(quantity: SimulatedTransducer.Quantity) throws {
    let recorder = try SimulatedRecorder()
    let calibration = try Calibration(
      measuring: recorder.record([(160, 8, 1), (320, 8, 1)], as: quantity), of: recorder.signal,
      sensors: [quantity == .velocity ? .velocity : .acceleration])
    #expect(abs(calibration.resonanceHertz - 160) < 0.5)
    #expect(abs((calibration.furtherResonances.first?.resonanceHertz ?? 0) - 320) < 1)
  }

  @Test(arguments: [(50.03, 0.0), (59.95, -12), (49.98, 6)]) func mainsHumIsRemoved(
    hertz: Double, decibels: Double
  )
    throws
  {
    let recorder = try SimulatedRecorder()
    let clean = try recorder.record([(40, 5, 1)])
    let peak = clean.samples.reduce(0) { max($0, abs($1)) }
    let amplitude = peak * Float(pow(10, decibels / 20))
    let recordingWithHum = CalibrationRecording(
      samples: clean.samples.enumerated().map {
        let phase = 2 * Double.pi * hertz * Double($0) / clean.sampleRate
        return $1 + amplitude * Float(sin(phase) + 0.4 * cos(3 * phase))
      }, sampleRate: clean.sampleRate)
    let calibration = try Calibration(measuring: recordingWithHum, of: recorder.signal)
    #expect(abs(calibration.resonanceHertz / 40 - 1) < 0.003)
    #expect(abs(calibration.qualityFactor / 5 - 1) < 0.02)
    #expect(abs((calibration.humHertz ?? 0) - hertz) < 0.02)
    let messagePrefix = "Mains hum at "
    #expect(
      calibration.warningSentences.contains {
        $0.hasPrefix(messagePrefix) && $0.hasSuffix(" Hz was removed.")
      })
    #expect(try Calibration(measuring: clean, of: recorder.signal).humHertz == nil)
  }
}
