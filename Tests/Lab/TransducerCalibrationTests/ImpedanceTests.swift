import Glibc
import SignalAnalysis
import TestSupport
import Testing

@testable import HapticRender
@testable import TransducerCalibration

/// Measurements of the current through simulated transducers.
@Suite struct ImpedanceTests {
  /// A transducer in series with a resistor, and the recorder.
  struct Circuit {
    var resonanceHertz = 40.0
    var mechanicalQualityFactor = 5.0
    var electricalQualityFactor = 3.0
    var coilOhms = 6.5
    var inductanceHenries = 0.0005
    /// The inductance with eddy-current losses, in henries, and the resistance parallel to it, in
    /// ohms.
    var eddyCurrents = (inductance: 0.0, resistance: 10.0)
    var resistorOhms = 0.47
    /// The frequency of a second resonance relative to the first, and its height relative to the
    /// first; a height of 0 means no second resonance.
    var secondResonance = (ratio: 1.8, height: 0.0)
    /// The corner of the recorder's first-order high-pass; 0 means no high-pass.
    var highPassHertz = 0.0
    /// The level of the hum relative to the peak of the recording.
    var humDecibels = -200.0
    /// The level of the noise relative to the peak of the recording.
    var noiseDecibels = -70.0
    var seed: UInt64 = 1

    var qualityFactor: Double {
      mechanicalQualityFactor * electricalQualityFactor
        / (mechanicalQualityFactor + electricalQualityFactor)
    }

    /// Returns the channels of the resistor and of the amplifier, at 8 kHz.
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
        let ratio = omega / (2 * .pi * resonanceHertz)
        let eddyImpedance =
          Phasor(0, omega * eddyCurrents.inductance * eddyCurrents.resistance)
          / Phasor(eddyCurrents.resistance, omega * eddyCurrents.inductance)
        let motionalImpedance =
          Phasor(coilOhms * mechanicalQualityFactor / electricalQualityFactor, 0)
          / Phasor(1, mechanicalQualityFactor * (ratio - 1 / ratio))
        let secondRatio = ratio / secondResonance.ratio
        let secondMotionalImpedance =
          Phasor(
            coilOhms * mechanicalQualityFactor / electricalQualityFactor * secondResonance.height, 0
          )
          / Phasor(1, mechanicalQualityFactor * (secondRatio - 1 / secondRatio))
        let totalImpedance =
          Phasor(coilOhms + resistorOhms, omega * inductanceHenries) + eddyImpedance
          + motionalImpedance + secondMotionalImpedance
        let highPassOmega = 2 * .pi * highPassHertz
        let inputGain = Phasor(0, omega) / Phasor(highPassOmega, omega) * 0.9
        func scaled(_ bin: ComplexNumber, _ factor: Phasor) -> ComplexNumber {
          let product = Phasor(bin) * factor
          return ComplexNumber(Float(product.real), Float(product.imaginary))
        }
        current[index] = scaled(
          current[index], inputGain * Phasor(resistorOhms, 0) / totalImpedance)
        voltage[index] = scaled(voltage[index], inputGain)
      }
      var generator = SplitMixGenerator(state: seed)
      func recording(_ bins: [ComplexNumber], _ transform: inout FourierTransform)
        -> CalibrationRecording
      {
        let clean = transform.backward(bins).prefix(played.count)
        let peak = Double(clean.map(abs).max() ?? 0)
        let humAmplitude = peak * pow(10, humDecibels / 20)
        let noiseAmplitude = peak * pow(10, noiseDecibels / 20)
        return CalibrationRecording(
          samples: clean.enumerated().map { frame, sample in
            let phase = 2 * Double.pi * 50.003 * Double(frame) / rate
            return sample
              + Float(
                humAmplitude * (sin(phase) + 0.3 * sin(3 * phase + 1)) + noiseAmplitude
                  * generator.normalValue())
          }, sampleRate: rate)
      }
      let resistorRecording = recording(current, &transform)
      return (resistorRecording, recording(voltage, &transform))
    }
  }

  private let signal: SweepSignal

  init() throws {
    signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 2, levelDecibels: -30)
  }

  /// The transducers have random resistors, coils, high-passes, hum, and noise.
  @Test(arguments: [UInt64(1), 2_000], [false, true]) func measuredValuesAreAccurate(
    seed: UInt64, hasReference: Bool
  ) throws {
    var generator = SplitMixGenerator(state: seed)
    for index in 0..<8 {
      var circuit = Circuit()
      circuit.resonanceHertz = 25 * pow(5, Double.random(in: 0...1, using: &generator))
      circuit.mechanicalQualityFactor = Double.random(in: 2...15, using: &generator)
      circuit.electricalQualityFactor = Double.random(in: 0.8...10, using: &generator)
      circuit.coilOhms = Double.random(in: 3...7.5, using: &generator)
      circuit.inductanceHenries = Double.random(in: 0.0001...0.001, using: &generator)
      circuit.resistorOhms = [0.1, 0.22, 0.47].randomElement(using: &generator) ?? 0.47
      circuit.highPassHertz = [0, 3, 10].randomElement(using: &generator) ?? 0
      circuit.humDecibels = [-200, -40, -20].randomElement(using: &generator) ?? -200
      circuit.noiseDecibels = Double.random(in: -70 ... -40, using: &generator)
      if index % 4 == 3 {
        circuit.eddyCurrents = (
          circuit.inductanceHenries, Double.random(in: 2...8, using: &generator)
        )
      }
      circuit.seed = seed + UInt64(index)
      let recordings = try circuit.record(signal)
      let nominal = circuit.coilOhms / Double.random(in: 0.75...0.95, using: &generator)
      let result = measure(
        recordings.resistor, hasReference ? recordings.amplifier : nil, circuit.resistorOhms,
        nominal: nominal)
      switch result {
      case .success(let measurement):
        #expect(abs(measurement.resonanceHertz / circuit.resonanceHertz - 1) < 0.004)
        #expect(abs(measurement.qualityFactor / circuit.qualityFactor - 1) < 0.03)
        #expect(
          abs(measurement.electricalQualityFactor / circuit.electricalQualityFactor - 1) < 0.03)
        #expect(
          abs(measurement.mechanicalQualityFactor / circuit.mechanicalQualityFactor - 1) < 0.04)
        // Without a reference, the coil resistance is estimated from the nominal impedance.
        #expect(abs(measurement.coilOhms / circuit.coilOhms - 1) < (hasReference ? 0.01 : 0.14))
      case .failure(let error):
        // A coil whose inductance has strong eddy-current losses may hide the resonance.
        #expect(error.kind == .noResonance && circuit.eddyCurrents.inductance > 0)
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

  // MARK: - Rejected recordings

  @Test func resistorWithoutAnImpedanceNeedsAReference() throws {
    let recordings = try Circuit().record(signal)
    func refusal(
      _ recording: CalibrationRecording, _ reference: CalibrationRecording?, nominal: Double? = 8
    ) -> String? {
      guard case .failure(let error) = measure(recording, reference, nominal: nominal) else {
        return nil
      }
      return error.description
    }
    #expect(
      refusal(recordings.resistor, recordings.amplifier) == nil
        && refusal(recordings.resistor, nil) == nil)
    #expect(
      refusal(recordings.resistor, nil, nominal: nil)
        == """
        requires '--reference-channel', or hardware.impedance in the profile, to determine the \
        resistance of the coil
        """)
    #expect(
      refusal(recordings.amplifier, nil)?.hasPrefix(
        "shows no impedance resonance between 10 and 800 Hz") == true)
    #expect(refusal(recordings.amplifier, recordings.resistor) != nil)
    // A transducer without motion, and the recording of an acceleration sensor, are rejected.
    var withoutMotion = Circuit()
    withoutMotion.electricalQualityFactor = 1e4
    #expect(refusal(try withoutMotion.record(signal).resistor, nil) != nil)
    let accelerationRecording = try SimulatedRecorder(signal).record([(40, 5, 1)])
    #expect(refusal(accelerationRecording, nil) != nil)
  }

  @Test("A coil resistance that the nominal impedance excludes is reported")
  func implausibleResistance() throws {
    let recordings = try Circuit().record(signal)
    func warning(resistor: Double, nominal: Double?) throws -> String? {
      try measure(recordings.resistor, recordings.amplifier, resistor, nominal: nominal).get()
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
    let recordings = try circuit.record(signal)
    guard case .failure(let error) = measure(recordings.resistor, recordings.amplifier) else {
      Issue.record("the second resonance was not noticed")
      return
    }
    #expect(error.kind == .noResonance)
    #expect(error.description.contains("% of its power does not fit a single resonance"))
  }

  @Test func profileReceivesMeasuredValues() throws {
    let recordings = try Circuit().record(signal)
    let measurement = try ImpedanceMeasurement(
      measuring: recordings.resistor, reference: recordings.amplifier, of: signal, resistor: 0.47,
      nominal: nil)
    let previousProfile = TransducerProfile(
      name: "puck", summary: "A puck.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(
        product: "Puck", bandHertz: 50...80, resonanceHertz: 55, qualityFactor: 3,
        estimatedValueKeys: ["resonance", "qualityFactor"]))
    let hardware = try #require(measurement.applied(to: previousProfile, date: "today").hardware)
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
