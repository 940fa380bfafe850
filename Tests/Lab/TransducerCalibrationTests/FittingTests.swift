import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct FittingTests {
  /// A transducer from 20 to 200 Hz with a quality from 1 to 30, at any delay, level and polarity.
  private func measure(seed: UInt64, in studio: RecordingStudio) throws {
    var studio = studio
    var chance = SplitMixGenerator(state: seed &* 7_919)
    let resonance = 20 * pow(10, chance.fraction())
    let qualityFactor = pow(30, chance.fraction())
    studio.latency = (50 + 5_950 * chance.fraction()) * studio.rate / 48_000
    studio.gain = pow(10, -2 * chance.fraction()) * (chance.fraction() < 0.5 ? -1 : 1)
    studio.seed = seed
    let recording = try studio.record([(resonance, qualityFactor, 1)])
    let found = try Calibration(measuring: recording, of: studio.signal)
    #expect(abs(found.resonanceHertz / resonance - 1) < 0.01)
    #expect(abs(found.qualityFactor / qualityFactor - 1) < 0.05)
    #expect(abs(found.signalStartSeconds * studio.rate - studio.latency) < 1)
    #expect(abs(found.fullScaleSineAmplitude / abs(studio.gain) - 1) < 0.05)
    #expect(found.hasInvertedPolarity == (studio.gain < 0))
    #expect(found.sensorQuantity == .acceleration)
    #expect(found.coilCornerHertz == nil)
  }

  @Test(arguments: 1...20) func noisyRecordingsGiveTheFigures(seed: UInt64) throws {
    try measure(seed: seed, in: RecordingStudio(SweepSignal(sweepSeconds: 3), rate: 12_000))
  }

  @Test(arguments: [101, 102]) func soDoesTheUsualSignal(seed: UInt64) throws {
    try measure(seed: seed, in: RecordingStudio(SweepSignal(), rate: 48_000))
  }

  @Test(arguments: [4_000.0, 11_025, 44_100]) func anyRateWillDo(rate: Double) throws {
    var studio = try RecordingStudio(SweepSignal(bandHertz: 10...500, sweepSeconds: 1), rate: rate)
    studio.latency = 77.25
    let found = try Calibration(measuring: studio.record([(60, 3, 1)]), of: studio.signal)
    #expect(abs(found.resonanceHertz - 60) < 0.3)
    #expect(abs(found.qualityFactor - 3) < 0.1)
    #expect(abs(found.signalStartSeconds * rate - 77.25) < 1)
  }

  @Test(arguments: [
    (SimulatedTransducer.Quantity.velocity, TransducerMeasurement.SensorQuantity.velocity),
    (.displacement, .displacement),
    (.acceleration, .acceleration),
  ]) func theKindOfSensorIsTold(
    quantity: SimulatedTransducer.Quantity, sensor: TransducerMeasurement.SensorQuantity
  ) throws {
    let studio = try RecordingStudio()
    let found = try Calibration(
      measuring: studio.record([(40, 5, 1)], as: quantity), of: studio.signal)
    #expect(found.sensorQuantity == sensor)
    #expect(abs(found.resonanceHertz - 40) < 0.2)
    #expect(abs(found.qualityFactor - 5) < 0.1)
    // The band is that of the acceleration, whatever the sensor gave.
    #expect(abs(found.responseCurve.bandHertz.lowerBound - 31.6) < 1)
    #expect(abs(found.responseCurve.bandHertz.upperBound - 65.5) < 1.5)
  }

  @Test func aCoilIsToldFromTheResonance() throws {
    let studio = try RecordingStudio()
    let found = try Calibration(
      measuring: studio.record([(40, 4, 1)], coilCorner: 300), of: studio.signal)
    let corner = try #require(found.coilCornerHertz)
    #expect(abs(corner / 300 - 1) < 0.05)
    #expect(abs(found.qualityFactor - 4) < 0.1)
    let warning = "Coil inductance reduces the response above 30"
    #expect(found.warningSentences.contains { $0.hasPrefix(warning) })
  }

  /// A recorder's input that is coupled by a capacitor, or by a filter of second order.
  @Test(arguments: [(1, 20.0), (2, 5), (2, 20), (2, 80)]) func aRecordersHighPassIsTakenOut(
    order: Int, corner: Double
  )
    throws
  {
    let studio = try RecordingStudio()
    let clean = try studio.record([(36, 6, 1)])
    var filtered = clean.samples.map(Double.init)
    let omega = 2 * Double.pi * corner / clean.sampleRate
    if order == 1 {
      var last = 0.0
      var out = 0.0
      let pole = exp(-omega)
      for index in filtered.indices {
        out = pole * out + (1 + pole) / 2 * (filtered[index] - last)
        last = filtered[index]
        filtered[index] = out
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
    let found = try Calibration(
      measuring: CalibrationRecording(
        samples: filtered.map(Float.init), sampleRate: clean.sampleRate),
      of: studio.signal)
    #expect(abs(found.resonanceHertz / 36 - 1) < 0.01)
    #expect(abs(found.qualityFactor / 6 - 1) < 0.05)
    let seen = try #require(found.recorderHighPassCornerHertz)
    // A corner below the sweep's 10 Hz is seen by its phase alone, and its order may be taken for
    // the other.
    #expect(abs(seen / corner - 1) < (corner < 10 ? 0.6 : 0.1))
    #expect(found.sensorQuantity == .acceleration)
    #expect(
      found.warningSentences.contains {
        $0.hasPrefix("The input of the recorder has a high-pass filter at ")
      })
  }

  @Test(arguments: [(36.0, 6.0), (65, 20), (200, 3)]) func theIntervalHoldsTheFigures(
    resonance: Double, qualityFactor: Double
  ) throws {
    let studio = try RecordingStudio()
    let found = try Calibration(
      measuring: studio.record([(resonance, qualityFactor, 1)]), of: studio.signal)
    #expect(
      found.resonanceIntervalHalfWidthFraction < 0.01
        && found.qualityIntervalHalfWidthFraction < 0.1)
    #expect(
      abs(found.resonanceHertz / resonance - 1)
        < max(0.002, 2 * found.resonanceIntervalHalfWidthFraction))
    #expect(
      abs(found.qualityFactor / qualityFactor - 1)
        < max(0.01, 2 * found.qualityIntervalHalfWidthFraction))
  }

  /// Of many noises, errors are a normal deviation of the true figures where the intervals are 1.96
  /// of it.
  @Test func intervalsAreThoseOfChance() throws {
    var studio = try RecordingStudio()
    studio.signalToNoiseDecibels = 10
    let shares = try (1...24).map { seed in
      studio.seed = UInt64(seed) &* 7_919
      let found = try Calibration(measuring: studio.record([(40, 5, 1)]), of: studio.signal)
      return SIMD2(
        (found.resonanceHertz / 40 - 1) / found.resonanceIntervalHalfWidthFraction,
        (found.qualityFactor / 5 - 1) / found.qualityIntervalHalfWidthFraction)
    }
    let squares = shares.reduce(SIMD2()) { $0 + $1 * $1 } / Double(shares.count)
    for square in [squares.x, squares.y] {
      #expect((0.6...1.4).contains(1.96 * square.squareRoot()))
    }
  }

  @Test(arguments: [-150.0, 50]) func aClockThatIsOffIsMadeGood(partsInAMillion: Double) throws {
    var studio = try RecordingStudio()
    studio.clockError = partsInAMillion
    let found = try Calibration(measuring: studio.record([(40, 5, 1)]), of: studio.signal)
    #expect(abs(found.clockErrorPartsPerMillion - partsInAMillion) < 2)
    #expect(abs(found.resonanceHertz - 40) < 0.1)
    #expect(abs(found.qualityFactor - 5) < 0.05)
    #expect(abs(found.signalStartSeconds * studio.rate - studio.latency) < 0.5)
  }

  @Test func humAndOffsetDoNotMislead() throws {
    let studio = try RecordingStudio()
    let clean = try studio.record([(40, 5, 1)])
    let hum = CalibrationRecording(
      samples: clean.samples.enumerated().map {
        $1 + 0.3 + 0.01 * Float(sin(2 * .pi * 50 * Double($0) / clean.sampleRate))
      },
      sampleRate: clean.sampleRate)
    let found = try Calibration(measuring: hum, of: studio.signal)
    #expect(abs(found.resonanceHertz - 40) < 0.4)
    #expect(abs(found.qualityFactor - 5) < 0.25)
  }

  @Test func aReferenceIsThereToAPartOfAFrame() throws {
    var studio = try RecordingStudio()
    studio.latency = 31.375
    let found = try ReferenceDelay(measuring: studio.recordLoop(), of: studio.signal)
    #expect(abs(found.signalStartSeconds * studio.rate - 31.375) < 0.05)
  }

  @Test func theVerdictTellsNoiseFromOtherThings() throws {
    let studio = try RecordingStudio()
    let clean = try Calibration(measuring: studio.record([(40, 5, 1)]), of: studio.signal)
    #expect(clean.verdictSentence.hasSuffix("of the recorded power; the rest is noise."))
    #expect(clean.warningSentences == [])
    // More resonances than are fitted.
    let crowd = [(40.0, 5.0, 1.0), (75, 12, 0.06), (120, 8, 0.06), (190, 9, 0.06), (310, 8, 0.06)]
    let mixed = try Calibration(
      measuring: studio.record(crowd), of: studio.signal, acceptsPoorFit: true)
    #expect(
      mixed.verdictSentence.hasSuffix(
        "; most of the rest is other resonances or distortion, not noise.")
    )
  }

  /// Chairs and platforms have two resonances or three.
  @Test func furtherResonancesAreFitted() throws {
    let studio = try RecordingStudio()
    let three = [(40.0, 5.0, 1.0), (70, 9, -0.4), (150, 12, 0.2)]
    let found = try Calibration(measuring: studio.record(three), of: studio.signal)
    #expect(abs(found.resonanceHertz / 40 - 1) < 0.005)
    #expect(abs(found.qualityFactor / 5 - 1) < 0.03)
    try #require(found.furtherResonances.count == 2)
    for (mode, made) in zip(found.furtherResonances, three.dropFirst()) {
      #expect(abs(mode.resonanceHertz / made.0 - 1) < 0.005)
      #expect(abs(mode.qualityFactor / made.1 - 1) < 0.05)
      #expect(abs(mode.accelerationToMainModeRatio / made.2 - 1) < 0.05)
    }
    #expect(found.verdictSentence.hasPrefix("3 resonances explain "))
    #expect(
      found.warningSentences.contains {
        $0.hasPrefix("Another resonance is at 70 Hz, with a Q factor of ")
      })
  }

  /// Of two resonances that are both strong the lower one is meant, whatever the sensor.
  @Test(arguments: [SimulatedTransducer.Quantity.acceleration, .velocity])
  func theLowerOfTwoStrongResonancesIsTheMainOne(quantity: SimulatedTransducer.Quantity) throws {
    let studio = try RecordingStudio()
    let found = try Calibration(
      measuring: studio.record([(160, 8, 1), (320, 8, 1)], as: quantity), of: studio.signal,
      sensors: [quantity == .velocity ? .velocity : .acceleration])
    #expect(abs(found.resonanceHertz - 160) < 0.5)
    #expect(abs((found.furtherResonances.first?.resonanceHertz ?? 0) - 320) < 1)
  }

  @Test(arguments: [(50.03, 0.0), (59.95, -12), (49.98, 6)]) func mainsHumIsTakenOut(
    hertz: Double, decibels: Double
  )
    throws
  {
    let studio = try RecordingStudio()
    let clean = try studio.record([(40, 5, 1)])
    let peak = clean.samples.reduce(0) { max($0, abs($1)) }
    let amplitude = peak * Float(pow(10, decibels / 20))
    let hum = CalibrationRecording(
      samples: clean.samples.enumerated().map {
        let turn = 2 * Double.pi * hertz * Double($0) / clean.sampleRate
        return $1 + amplitude * Float(sin(turn) + 0.4 * cos(3 * turn))
      }, sampleRate: clean.sampleRate)
    let found = try Calibration(measuring: hum, of: studio.signal)
    #expect(abs(found.resonanceHertz / 40 - 1) < 0.003)
    #expect(abs(found.qualityFactor / 5 - 1) < 0.02)
    #expect(abs((found.humHertz ?? 0) - hertz) < 0.02)
    let words = "Mains hum at "
    #expect(
      found.warningSentences.contains { $0.hasPrefix(words) && $0.hasSuffix(" Hz was removed.") })
    #expect(try Calibration(measuring: clean, of: studio.signal).humHertz == nil)
  }
}
