import Glibc
import SignalAnalysis
import TestSupport
import Testing

@testable import HapticRender
@testable import TransducerCalibration

/// Figures from the current through simulated transducers.
@Suite struct ImpedanceTests {
  /// A transducer in series with a resistor, and the recorder.
  struct Circuit {
    var resonance = 40.0
    var mechanical = 5.0
    var electrical = 3.0
    var coil = 6.5
    var inductance = 0.0005
    /// Henries of the inductance whose losses are in ohms beside it.
    var eddies = (inductance: 0.0, resistance: 10.0)
    var resistor = 0.47
    /// The frequency of a second resonance relative to the first, and its height relative to the
    /// first; a height of 0 means no second resonance.
    var secondResonance = (ratio: 1.8, height: 0.0)
    /// The recorder's high-pass of first order in hertz, hum and noise in decibels of the
    /// recording's peak.
    var input = 0.0
    var hum = -200.0
    var noise = -70.0
    var seed: UInt64 = 1

    var qualityFactor: Double { mechanical * electrical / (mechanical + electrical) }

    /// Both channels: resistor and amplifier, at 8 kHz.
    func record(_ signal: SweepSignal) throws -> (
      resistor: CalibrationRecording, amplifier: CalibrationRecording
    ) {
      let rate = 8_000.0
      let played =
        [Float](repeating: 0, count: 321) + (try signal.samples(rate: rate, includesTones: false))
      var transform = FourierTransform(
        length: FourierTransform.fastLength(atLeast: played.count + 8_000))
      var voltage = transform.forward(played)
      var current = voltage
      for index in current.indices {
        let omega = 2 * Double.pi * max(1e-3, Double(index) * rate / Double(transform.length))
        let ratio = omega / (2 * .pi * resonance)
        let lossy =
          Phasor(0, omega * eddies.inductance * eddies.resistance)
          / Phasor(eddies.resistance, omega * eddies.inductance)
        let motion =
          Phasor(coil * mechanical / electrical, 0) / Phasor(1, mechanical * (ratio - 1 / ratio))
        let secondRatio = ratio / secondResonance.ratio
        let secondMotion =
          Phasor(coil * mechanical / electrical * secondResonance.height, 0)
          / Phasor(1, mechanical * (secondRatio - 1 / secondRatio))
        let whole =
          Phasor(coil + resistor, omega * inductance) + lossy + motion + secondMotion
        let corner = 2 * .pi * input
        let pass = Phasor(0, omega) / Phasor(corner, omega) * 0.9
        func times(_ bin: ComplexNumber, _ factor: Phasor) -> ComplexNumber {
          let product = Phasor(bin) * factor
          return ComplexNumber(Float(product.real), Float(product.imaginary))
        }
        current[index] = times(current[index], pass * Phasor(resistor, 0) / whole)
        voltage[index] = times(voltage[index], pass)
      }
      var chance = SplitMixGenerator(state: seed)
      func finish(_ bins: [ComplexNumber], _ transform: inout FourierTransform)
        -> CalibrationRecording
      {
        let clean = transform.backward(bins).prefix(played.count)
        let peak = Double(clean.map(abs).max() ?? 0)
        let humming = peak * pow(10, hum / 20)
        let noisy = peak * pow(10, noise / 20)
        return CalibrationRecording(
          samples: clean.enumerated().map { frame, sample in
            let turn = 2 * Double.pi * 50.003 * Double(frame) / rate
            return sample
              + Float(
                humming * (sin(turn) + 0.3 * sin(3 * turn + 1)) + noisy * chance.normalValue())
          }, sampleRate: rate)
      }
      let first = finish(current, &transform)
      return (first, finish(voltage, &transform))
    }
  }

  private let signal: SweepSignal

  init() throws {
    signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 2, levelDecibels: -30)
  }

  /// Transducers with resistors, coils, high-passes, hum and noise by chance.
  @Test(arguments: [UInt64(1), 2_000], [false, true]) func figuresAreWithinOneAndFivePercent(
    seed: UInt64, hasReference: Bool
  ) throws {
    var chance = SplitMixGenerator(state: seed)
    for index in 0..<8 {
      var circuit = Circuit()
      circuit.resonance = 25 * pow(5, Double.random(in: 0...1, using: &chance))
      circuit.mechanical = Double.random(in: 2...15, using: &chance)
      circuit.electrical = Double.random(in: 0.8...10, using: &chance)
      circuit.coil = Double.random(in: 3...7.5, using: &chance)
      circuit.inductance = Double.random(in: 0.0001...0.001, using: &chance)
      circuit.resistor = [0.1, 0.22, 0.47].randomElement(using: &chance) ?? 0.47
      circuit.input = [0, 3, 10].randomElement(using: &chance) ?? 0
      circuit.hum = [-200, -40, -20].randomElement(using: &chance) ?? -200
      circuit.noise = Double.random(in: -70 ... -40, using: &chance)
      if index % 4 == 3 {
        circuit.eddies = (circuit.inductance, Double.random(in: 2...8, using: &chance))
      }
      circuit.seed = seed + UInt64(index)
      let take = try circuit.record(signal)
      let nominal = circuit.coil / Double.random(in: 0.75...0.95, using: &chance)
      let result = measure(
        take.resistor, hasReference ? take.amplifier : nil, circuit.resistor, nominal: nominal)
      switch result {
      case .success(let found):
        #expect(abs(found.resonanceHertz / circuit.resonance - 1) < 0.004)
        #expect(abs(found.qualityFactor / circuit.qualityFactor - 1) < 0.03)
        #expect(abs(found.electricalQualityFactor / circuit.electrical - 1) < 0.03)
        #expect(abs(found.mechanicalQualityFactor / circuit.mechanical - 1) < 0.04)
        // A nominal impedance is as good as its rule of thumb.
        #expect(abs(found.coilOhms / circuit.coil - 1) < (hasReference ? 0.01 : 0.14))
      case .failure(let error):
        // A coil whose inductance is half lost in eddies may hide the resonance.
        #expect(error.kind == .noResonance && circuit.eddies.inductance > 0)
      }
    }
  }

  private func measure(
    _ recording: CalibrationRecording, _ reference: CalibrationRecording?,
    _ resistor: Double = 0.47,
    nominal: Double? = 8
  ) -> Result<ImpedanceMeasurement, CalibrationError> {
    do throws(CalibrationError) {
      return .success(
        try ImpedanceMeasurement(
          measuring: recording, reference: reference, of: signal, resistor: resistor,
          nominal: nominal))
    } catch {
      return .failure(error)
    }
  }

  // MARK: - What cannot be measured

  @Test func aResistorWithoutAnImpedanceNeedsAReference() throws {
    let take = try Circuit().record(signal)
    func refusal(
      _ recording: CalibrationRecording, _ reference: CalibrationRecording?, nominal: Double? = 8
    ) -> String? {
      guard case .failure(let error) = measure(recording, reference, nominal: nominal) else {
        return nil
      }
      return error.description
    }
    #expect(refusal(take.resistor, take.amplifier) == nil && refusal(take.resistor, nil) == nil)
    #expect(
      refusal(take.resistor, nil, nominal: nil)
        == """
        requires '--reference-channel', or hardware.impedance in the profile, to determine the \
        resistance of the coil
        """)
    #expect(
      refusal(take.amplifier, nil)?.hasPrefix(
        "shows no impedance resonance between 10 and 800 Hz") == true)
    #expect(refusal(take.amplifier, take.resistor) != nil)
    // A resistance alone, and what a sensor on the transducer gives.
    var still = Circuit()
    still.electrical = 1e4
    #expect(refusal(try still.record(signal).resistor, nil) != nil)
    let moved = try RecordingStudio(signal).record([(40, 5, 1)])
    #expect(refusal(moved, nil) != nil)
  }

  @Test("A coil resistance that the nominal impedance excludes is reported")
  func implausibleResistance() throws {
    let take = try Circuit().record(signal)
    func warning(resistor: Double, nominal: Double?) throws -> String? {
      try measure(take.resistor, take.amplifier, resistor, nominal: nominal).get()
        .resistanceWarning
    }
    #expect(try warning(resistor: 0.47, nominal: 8) == nil)
    #expect(try warning(resistor: 0.47, nominal: nil) == nil)
    #expect(
      try warning(resistor: 4.7, nominal: 8)
        == """
        The resistance of 65 ohm does not match the impedance of 8 ohm in the profile; check the \
        value of the resistor, voltage dividers at the inputs, and the channel numbers.
        """)
    #expect(try warning(resistor: 0.047, nominal: 8)?.contains("0.65 ohm") == true)
  }

  @Test("A resonance that one model does not explain is not reported as a wrong connection")
  func inexactResonance() throws {
    var circuit = Circuit()
    circuit.secondResonance.height = 0.6
    let take = try circuit.record(signal)
    guard case .failure(let error) = measure(take.resistor, take.amplifier) else {
      Issue.record("the second resonance was not noticed")
      return
    }
    #expect(error.kind == .noResonance)
    #expect(error.description.contains("% of its power does not fit a single resonance"))
  }

  @Test func theProfileTakesWhatWasMeasured() throws {
    let take = try Circuit().record(signal)
    let found = try ImpedanceMeasurement(
      measuring: take.resistor, reference: take.amplifier, of: signal, resistor: 0.47, nominal: nil)
    let old = TransducerProfile(
      name: "puck", summary: "A puck.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(
        product: "Puck", bandHertz: 50...80, resonanceHertz: 55, qualityFactor: 3,
        estimatedValueKeys: ["resonance", "qualityFactor"]))
    let hardware = try #require(found.applied(to: old, date: "today").hardware)
    #expect(
      abs((hardware.resonanceHertz ?? 0) - 40) < 0.1
        && abs((hardware.qualityFactor ?? 0) - 1.875) < 0.02
    )
    #expect(hardware.measurement?.date == "today" && hardware.estimatedValueKeys == [])
    #expect(
      (hardware.uncertainty?.resonanceDeviationFraction ?? 1) < 0.022
        && hardware.bandHertz == (hardware.resonanceHertz ?? 0)...80)
  }
}
