import Glibc
import SignalAnalysis
import TestSupport
import Testing
import TransducerCalibration

/// Transducers with resonances of 25 to 200 Hz and Q factors of 1 to 20, recorded under realistic
/// conditions. Accepted measurements are correct.
///
/// `TEMBLOR_TEST_GRID=1` runs the whole grid; without it, each condition is tested with a few
/// transducers.
@Suite struct PlantGridTests {
  /// A defect of the recording, or a deviation of the transducer from the model.
  enum Condition: String, CaseIterable {
    case clean, noise, coil
    case weakHum, strongHum, humAndHighPass
    case highPassOfFirstOrder, highPassOfSecondOrder
    case late, veryLate
    case shortRoom, room, hall
    case weakMode, mode, nearMode, strongMode
    case slightlyStiff, stiff, verySoft, oneSided
    case compressed

    /// A Boolean value that indicates whether a rejection would be a fault: the condition is common
    /// and unavoidable.
    var mustBeAccepted: Bool {
      switch self {
      case .clean, .noise, .coil, .weakHum, .strongHum, .humAndHighPass, .highPassOfFirstOrder,
        .highPassOfSecondOrder,
        .late, .veryLate:
        true
      default:
        false
      }
    }
  }

  static let resonances = [25.0, 36, 50, 71, 100, 141, 200]
  static let qualities = [1.0, 2, 3, 6, 10, 20]
  static let plants = resonances.flatMap { resonance in
    qualities.map { (resonance: resonance, qualityFactor: $0) }
  }

  /// Returns the recording of a transducer under a condition, and the true pole pair.
  private func recording(
    _ condition: Condition, resonance: Double, qualityFactor: Double, seed: UInt64,
    _ signal: SweepSignal
  ) throws -> (CalibrationRecording, resonance: Double, qualityFactor: Double) {
    let rate = 4_000.0
    var recorder = try SimulatedRecorder(signal, rate: rate)
    recorder.seed = seed
    recorder.signalToNoiseDecibels = 40
    var plant = SimulatedCoil(resonance: resonance, qualityFactor: qualityFactor)
    switch condition {
    case .noise: recorder.signalToNoiseDecibels = 10
    case .coil: plant.coilTimeConstant = 8e-5
    case .late: recorder.latency = 1.5 * rate
    case .veryLate: recorder.latency = 3 * rate
    case .slightlyStiff: plant.springStiffening = 0.3
    case .stiff: plant.springStiffening = 2
    case .verySoft: plant.springStiffening = -2
    case .oneSided: plant.springAsymmetry = 1
    default: break
    }
    let driveSamples = try signal.samples(rate: rate, includesTones: false).map(Double.init)
    var acceleration = plant.acceleration(for: driveSamples, rate: rate)
    let peak = acceleration.reduce(0) { max($0, abs($1)) }
    var generator = SplitMixGenerator(state: seed &* 31 &+ 7)
    func add(_ ratio: Double, _ gain: Double) {
      let secondMode = SimulatedTransducer(
        resonance: ratio * resonance, qualityFactor: 8, rate: rate)
      for (frame, value) in secondMode.response(to: driveSamples).enumerated() {
        acceleration[frame] += gain * value
      }
    }
    func reverberate(_ seconds: Double) {
      var reverberant = acceleration
      for _ in 0..<60 {
        let delay = Int(rate * (0.004 + (seconds - 0.004) * generator.fraction()))
        let gain = 0.25 * generator.normalValue() * exp(-6.9 * Double(delay) / rate / seconds)
        for frame in delay..<acceleration.count {
          reverberant[frame] += gain * acceleration[frame - delay]
        }
      }
      acceleration = reverberant
    }
    switch condition {
    case .weakMode: add(2.5, 0.1)
    case .mode: add(2.5, 0.4)
    case .nearMode: add(1.3, 0.3)
    case .strongMode: add(1.7, 1)
    case .shortRoom: reverberate(0.1)
    case .room: reverberate(0.3)
    case .hall: reverberate(0.6)
    case .compressed: acceleration = acceleration.map { tanh(1.5 * $0 / peak) / 1.5 * peak }
    case .highPassOfFirstOrder:
      acceleration = Self.highPassed(acceleration, order: 1, hertz: 20, rate: rate)
    case .highPassOfSecondOrder:
      acceleration = Self.highPassed(acceleration, order: 2, hertz: 40, rate: rate)
    case .humAndHighPass:
      acceleration = Self.highPassed(acceleration, order: 2, hertz: 20, rate: rate)
    default: break
    }
    let clean = recorder.makeRecording(acceleration)
    let humRatio: Double? =
      switch condition {
      case .weakHum: 0.1
      case .strongHum: 1
      case .humAndHighPass: 0.25
      default: nil
      }
    let mainsHertz = seed.isMultiple(of: 2) ? 50.03 : 59.94
    let samples = clean.samples.enumerated().map { frame, value in
      guard let humRatio else { return value }
      let phase = 2 * Double.pi * mainsHertz * Double(frame) / rate
      return value + Float(peak * humRatio * (sin(phase + 1) + 0.3 * sin(3 * phase)))
    }
    let pole = plant.polePair
    return (
      CalibrationRecording(samples: samples, sampleRate: rate), pole.resonance, pole.qualityFactor
    )
  }

  private static func highPassed(_ samples: [Double], order: Int, hertz: Double, rate: Double)
    -> [Double]
  {
    // The bilinear transform is prewarped to keep the corner frequency.
    let prewarpedCorner = tan(.pi * hertz / rate)
    var previousInput = 0.0
    var secondPreviousInput = 0.0
    var previousOutput = 0.0
    var secondPreviousOutput = 0.0
    return samples.map { sample in
      let value: Double
      if order == 1 {
        value =
          (sample - previousInput + (1 - prewarpedCorner) * previousOutput) / (1 + prewarpedCorner)
      } else {
        let scale = 1 / (1 + 2.0.squareRoot() * prewarpedCorner + prewarpedCorner * prewarpedCorner)
        value =
          scale
          * (sample - 2 * previousInput + secondPreviousInput - 2
            * (prewarpedCorner * prewarpedCorner - 1) * previousOutput
            - (1 - 2.0.squareRoot() * prewarpedCorner + prewarpedCorner * prewarpedCorner)
              * secondPreviousOutput)
      }
      secondPreviousInput = previousInput
      previousInput = sample
      secondPreviousOutput = previousOutput
      previousOutput = value
      return value
    }
  }

  @Test(arguments: Condition.allCases) func acceptedMeasurementsAreCorrect(condition: Condition)
    throws
  {
    let runsWholeGrid = unsafe getenv("TEMBLOR_TEST_GRID") != nil
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: runsWholeGrid ? 6 : 3)
    let conditionIndex = Condition.allCases.firstIndex(of: condition) ?? 0
    var acceptedCount = 0
    var maximumErrors = (resonance: 0.0, qualityFactor: 0.0)
    var rejectionCounts: [String: Int] = [:]
    for (index, plant) in Self.plants.enumerated()
    where runsWholeGrid || (index + conditionIndex) % 14 == 0 {
      let (recording, resonance, qualityFactor) = try recording(
        condition, resonance: plant.resonance, qualityFactor: plant.qualityFactor,
        seed: UInt64(index + 1), signal)
      let plantDescription = "\(condition.rawValue) \(plant.resonance) Hz, Q \(plant.qualityFactor)"
      do throws(CalibrationError) {
        let calibration = try Calibration(measuring: recording, of: signal)
        let relativeErrors = (
          calibration.resonanceHertz / resonance - 1, calibration.qualityFactor / qualityFactor - 1
        )
        #expect(
          abs(relativeErrors.0) <= 0.01 && abs(relativeErrors.1) <= 0.05,
          """
          \(plantDescription): resonance \(100 * relativeErrors.0) % \
          ± \(100 * calibration.resonanceIntervalHalfWidthFraction), quality \
          \(100 * relativeErrors.1) % ± \(100 * calibration.qualityIntervalHalfWidthFraction), \
          residual \(calibration.fitResidualDecibels), \
          change \(calibration.levelDependence.relativeResonanceChange) \
          \(calibration.levelDependence.relativeQualityChange), modes \
          \(calibration.furtherResonances)
          """
        )
        maximumErrors = (
          max(maximumErrors.resonance, abs(relativeErrors.0)),
          max(maximumErrors.qualityFactor, abs(relativeErrors.1))
        )
        acceptedCount += 1
      } catch {
        #expect(!condition.mustBeAccepted, "\(plantDescription): \(error)")
        rejectionCounts[String(error.description.prefix(40)), default: 0] += 1
      }
    }
    if runsWholeGrid {
      print(
        "\(condition.rawValue): accepted \(acceptedCount) of \(Self.plants.count), worst resonance",
        maximumErrors.resonance,
        "quality", maximumErrors.qualityFactor, rejectionCounts)
    }
  }
}
