import Glibc
import SignalAnalysis
import TestSupport
import TransducerCalibration

/// A recorder of simulated transducers.
struct SimulatedRecorder {
  var signal: SweepSignal
  var rate: Double
  /// The delay of the recording, in frames. The value may be fractional.
  var latency = 80.0
  var gain = 1.0
  /// The level of the louder sweep above white noise.
  var signalToNoiseDecibels: Double? = 20
  /// The deviation of the recorder's clock, in parts per million; positive if the clock is fast.
  var clockError = 0.0
  var seed: UInt64 = 1

  /// Creates a recorder. The default signal has sweeps of 2 s up to 800 Hz.
  init(_ signal: SweepSignal? = nil, rate: Double = 8_000) throws {
    self.signal = try signal ?? SweepSignal(bandHertz: 10...800, sweepSeconds: 2)
    self.rate = rate
  }

  /// Returns the recording of one or more resonances that are driven in parallel.
  func record(
    _ modes: [(resonance: Double, qualityFactor: Double, gain: Double)],
    as quantity: SimulatedTransducer.Quantity = .acceleration, coilCorner: Double? = nil
  ) throws -> CalibrationRecording {
    let driveSamples = try signal.samples(rate: rate, includesTones: false).map(Double.init)
    var sum = [Double](repeating: 0, count: driveSamples.count)
    for mode in modes {
      let transducer = SimulatedTransducer(
        resonance: mode.resonance, qualityFactor: mode.qualityFactor, rate: rate)
      for (frame, value) in transducer.response(to: driveSamples, as: quantity).enumerated() {
        sum[frame] += mode.gain * value
      }
    }
    if let coilCorner {
      let pole = exp(-2 * .pi * coilCorner / rate)
      var filtered = 0.0
      sum = sum.map {
        filtered = pole * filtered + (1 - pole) * $0
        return filtered
      }
    }
    return makeRecording(sum)
  }

  /// Returns the recording of a microphone at the loudspeaker's wire.
  func recordLoop() throws -> CalibrationRecording {
    makeRecording(try signal.samples(rate: rate, includesTones: false).map(Double.init))
  }

  /// Returns a recording of a sound with the delay, clock error, gain, and noise of the recorder.
  func makeRecording(_ sound: [Double]) -> CalibrationRecording {
    var generator = SplitMixGenerator(state: seed)
    let delayedSound = clockError == 0 ? delayed(sound) : stretched(sound)
    let sweepStart = Int((signal.firstSweepForTests + signal.sweepSpacingSeconds) * rate + latency)
    let sweep = delayedSound[sweepStart..<(sweepStart + Int(signal.sweepSeconds * rate))]
    let power = sweep.reduce(0) { $0 + $1 * $1 } / Double(sweep.count)
    let noise = signalToNoiseDecibels.map { (power * pow(10, -$0 / 10)).squareRoot() } ?? 0
    return CalibrationRecording(
      samples: delayedSound.map {
        Float(gain * ($0 + (noise > 0 ? noise * generator.normalValue() : 0)))
      },
      sampleRate: rate)
  }

  /// Delays a sound by a fraction of a frame with the phase of its spectrum.
  private func delayed(_ sound: [Double]) -> [Double] {
    let count = sound.count + Int(latency) + Int(rate / 10)
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    var bins = transform.forward(sound.map(Float.init))
    for index in bins.indices {
      let phase = -2 * Double.pi * Double(index) * latency / Double(transform.length)
      bins[index] = bins[index] * ComplexNumber(Float(cos(phase)), Float(sin(phase)))
    }
    return transform.backward(bins).prefix(count).map(Double.init)
  }

  /// Delays and stretches a sound with a windowed sinc of 32 samples.
  private func stretched(_ sound: [Double]) -> [Double] {
    let count = sound.count + Int(latency) + Int(rate / 10)
    return (0..<count).map { frame in
      let position = (Double(frame) - latency) / (1 + clockError * 1e-6)
      let sampleIndex = Int(position.rounded(.down))
      let fraction = position - Double(sampleIndex)
      if fraction < 1e-9 { return sound.indices.contains(sampleIndex) ? sound[sampleIndex] : 0 }
      let sincNumerator = sin(.pi * fraction) / .pi
      var sum = 0.0
      for tap in -15...16 where sound.indices.contains(sampleIndex + tap) {
        let distance = fraction - Double(tap)
        let window = 0.5 + 0.5 * cos(.pi * distance / 16.5)
        sum +=
          sound[sampleIndex + tap] * window * sincNumerator / distance
          * (tap.isMultiple(of: 2) ? 1 : -1)
      }
      return sum
    }
  }
}

extension SweepSignal {
  /// The start of the first sweep, from public properties.
  var firstSweepForTests: Double { requiredMeasurementSeconds - 2 * sweepSpacingSeconds }
}
