import Glibc
import SignalAnalysis
import TestSupport
import Testing
import TransducerCalibration

/// Transducers from 25 to 200 Hz with qualities of 1 to 20, recorded as people record: what is
/// accepted is right.
///
/// `TEMBLOR_TEST_GRID=1` runs the whole grid; without it every condition meets a few of its
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
    var studio = try RecordingStudio(signal, rate: rate)
    studio.seed = seed
    studio.signalToNoiseDecibels = 40
    var plant = SimulatedCoil(resonance: resonance, qualityFactor: qualityFactor)
    switch condition {
    case .noise: studio.signalToNoiseDecibels = 10
    case .coil: plant.coilTimeConstant = 8e-5
    case .late: studio.latency = 1.5 * rate
    case .veryLate: studio.latency = 3 * rate
    case .slightlyStiff: plant.springStiffening = 0.3
    case .stiff: plant.springStiffening = 2
    case .verySoft: plant.springStiffening = -2
    case .oneSided: plant.springAsymmetry = 1
    default: break
    }
    let played = try signal.samples(rate: rate, includesTones: false).map(Double.init)
    var moved = plant.acceleration(for: played, rate: rate)
    let peak = moved.reduce(0) { max($0, abs($1)) }
    var chance = SplitMixGenerator(state: seed &* 31 &+ 7)
    func add(_ ratio: Double, _ gain: Double) {
      let other = SimulatedTransducer(resonance: ratio * resonance, qualityFactor: 8, rate: rate)
      for (frame, value) in other.response(to: played).enumerated() {
        moved[frame] += gain * value
      }
    }
    func reverberate(_ seconds: Double) {
      var echoed = moved
      for _ in 0..<60 {
        let delay = Int(rate * (0.004 + (seconds - 0.004) * chance.fraction()))
        let gain = 0.25 * chance.normalValue() * exp(-6.9 * Double(delay) / rate / seconds)
        for frame in delay..<moved.count {
          echoed[frame] += gain * moved[frame - delay]
        }
      }
      moved = echoed
    }
    switch condition {
    case .weakMode: add(2.5, 0.1)
    case .mode: add(2.5, 0.4)
    case .nearMode: add(1.3, 0.3)
    case .strongMode: add(1.7, 1)
    case .shortRoom: reverberate(0.1)
    case .room: reverberate(0.3)
    case .hall: reverberate(0.6)
    case .compressed: moved = moved.map { tanh(1.5 * $0 / peak) / 1.5 * peak }
    case .highPassOfFirstOrder: moved = Self.highPassed(moved, order: 1, hertz: 20, rate: rate)
    case .highPassOfSecondOrder: moved = Self.highPassed(moved, order: 2, hertz: 40, rate: rate)
    case .humAndHighPass: moved = Self.highPassed(moved, order: 2, hertz: 20, rate: rate)
    default: break
    }
    let clean = studio.makeRecording(moved)
    let hum: Double? =
      switch condition {
      case .weakHum: 0.1
      case .strongHum: 1
      case .humAndHighPass: 0.25
      default: nil
      }
    let mains = seed.isMultiple(of: 2) ? 50.03 : 59.94
    let samples = clean.samples.enumerated().map { frame, value in
      guard let hum else { return value }
      let turn = 2 * Double.pi * mains * Double(frame) / rate
      return value + Float(peak * hum * (sin(turn + 1) + 0.3 * sin(3 * turn)))
    }
    let pole = plant.polePair
    return (
      CalibrationRecording(samples: samples, sampleRate: rate), pole.resonance, pole.qualityFactor
    )
  }

  private static func highPassed(_ samples: [Double], order: Int, hertz: Double, rate: Double)
    -> [Double]
  {
    // By the bilinear transform, its corner kept in place.
    let corner = tan(.pi * hertz / rate)
    var last = 0.0
    var before = 0.0
    var out = 0.0
    var outBefore = 0.0
    return samples.map { sample in
      let value: Double
      if order == 1 {
        value = (sample - last + (1 - corner) * out) / (1 + corner)
      } else {
        let scale = 1 / (1 + 2.0.squareRoot() * corner + corner * corner)
        value =
          scale
          * (sample - 2 * last + before - 2 * (corner * corner - 1) * out
            - (1 - 2.0.squareRoot() * corner + corner * corner) * outBefore)
      }
      before = last
      last = sample
      outBefore = out
      out = value
      return value
    }
  }

  @Test(arguments: Condition.allCases) func whatIsAcceptedIsRight(condition: Condition) throws {
    let isWhole = unsafe getenv("TEMBLOR_TEST_GRID") != nil
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: isWhole ? 6 : 3)
    let number = Condition.allCases.firstIndex(of: condition) ?? 0
    var accepted = 0
    var worst = (resonance: 0.0, qualityFactor: 0.0)
    var refused: [String: Int] = [:]
    for (index, plant) in Self.plants.enumerated() where isWhole || (index + number) % 14 == 0 {
      let (recording, resonance, qualityFactor) = try recording(
        condition, resonance: plant.resonance, qualityFactor: plant.qualityFactor,
        seed: UInt64(index + 1), signal)
      let words = "\(condition.rawValue) \(plant.resonance) Hz, Q \(plant.qualityFactor)"
      do throws(CalibrationError) {
        let found = try Calibration(measuring: recording, of: signal)
        let errors = (found.resonanceHertz / resonance - 1, found.qualityFactor / qualityFactor - 1)
        #expect(
          abs(errors.0) <= 0.01 && abs(errors.1) <= 0.05,
          """
          \(words): resonance \(100 * errors.0) % ± \(100 * found.resonanceIntervalHalfWidthFraction), quality \
          \(100 * errors.1) % ± \(100 * found.qualityIntervalHalfWidthFraction), \
          residual \(found.fitResidualDecibels), \
          change \(found.levelDependence.relativeResonanceChange) \
          \(found.levelDependence.relativeQualityChange), modes \
          \(found.furtherResonances)
          """
        )
        worst = (max(worst.resonance, abs(errors.0)), max(worst.qualityFactor, abs(errors.1)))
        accepted += 1
      } catch {
        #expect(!condition.mustBeAccepted, "\(words): \(error)")
        refused[String(error.description.prefix(40)), default: 0] += 1
      }
    }
    if isWhole {
      print(
        "\(condition.rawValue): accepted \(accepted) of \(Self.plants.count), worst resonance",
        worst.resonance,
        "quality", worst.qualityFactor, refused)
    }
  }
}
