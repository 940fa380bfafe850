import Glibc
import SignalAnalysis
import TestSupport
import TransducerCalibration

/// Makes recordings of simulated transducers.
struct RecordingStudio {
  var signal: SweepSignal
  var rate: Double
  /// Frames by which all is late; need not be whole.
  var latency = 80.0
  var gain = 1.0
  /// Decibels of the louder sweep above white noise.
  var signalToNoiseDecibels: Double? = 20
  /// Parts in a million by which the recorder is fast.
  var clockError = 0.0
  var seed: UInt64 = 1

  /// By default small and quick: sweeps of 2 s up to 800 Hz at 8 kHz.
  init(_ signal: SweepSignal? = nil, rate: Double = 8_000) throws {
    self.signal = try signal ?? SweepSignal(bandHertz: 10...800, sweepSeconds: 2)
    self.rate = rate
  }

  /// A recording of some transducers side by side.
  func record(
    _ modes: [(resonance: Double, qualityFactor: Double, gain: Double)],
    as quantity: SimulatedTransducer.Quantity = .acceleration, coilCorner: Double? = nil
  ) throws -> CalibrationRecording {
    let played = try signal.samples(rate: rate, includesTones: false).map(Double.init)
    var sum = [Double](repeating: 0, count: played.count)
    for mode in modes {
      let simulated = SimulatedTransducer(
        resonance: mode.resonance, qualityFactor: mode.qualityFactor, rate: rate)
      for (frame, value) in simulated.response(to: played, as: quantity).enumerated() {
        sum[frame] += mode.gain * value
      }
    }
    if let coilCorner {
      let factor = exp(-2 * .pi * coilCorner / rate)
      var held = 0.0
      sum = sum.map {
        held = factor * held + (1 - factor) * $0;
        return held
      }
    }
    return makeRecording(sum)
  }

  /// Returns the recording of a microphone at the loudspeaker's wire.
  func recordLoop() throws -> CalibrationRecording {
    makeRecording(try signal.samples(rate: rate, includesTones: false).map(Double.init))
  }

  /// Delay, clock, gain and noise.
  func makeRecording(_ sound: [Double]) -> CalibrationRecording {
    var chance = SplitMixGenerator(state: seed)
    let late = clockError == 0 ? delayed(sound) : stretched(sound)
    let sweepStart = Int((signal.firstSweepForTests + signal.sweepSpacingSeconds) * rate + latency)
    let sweep = late[sweepStart..<(sweepStart + Int(signal.sweepSeconds * rate))]
    let power = sweep.reduce(0) { $0 + $1 * $1 } / Double(sweep.count)
    let noise = signalToNoiseDecibels.map { (power * pow(10, -$0 / 10)).squareRoot() } ?? 0
    return CalibrationRecording(
      samples: late.map { Float(gain * ($0 + (noise > 0 ? noise * chance.normalValue() : 0))) },
      sampleRate: rate)
  }

  /// By turning the phase of the spectrum: exact to a part of a frame.
  private func delayed(_ sound: [Double]) -> [Double] {
    let count = sound.count + Int(latency) + Int(rate / 10)
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    var bins = transform.forward(sound.map(Float.init))
    for index in bins.indices {
      let turn = -2 * Double.pi * Double(index) * latency / Double(transform.length)
      bins[index] = bins[index] * ComplexNumber(Float(cos(turn)), Float(sin(turn)))
    }
    return transform.backward(bins).prefix(count).map(Double.init)
  }

  /// Between samples, by a windowed sinc of 32 of them.
  private func stretched(_ sound: [Double]) -> [Double] {
    let count = sound.count + Int(latency) + Int(rate / 10)
    return (0..<count).map { frame in
      let place = (Double(frame) - latency) / (1 + clockError * 1e-6)
      let whole = Int(place.rounded(.down))
      let part = place - Double(whole)
      if part < 1e-9 { return sound.indices.contains(whole) ? sound[whole] : 0 }
      let shift = sin(.pi * part) / .pi
      var sum = 0.0
      for tap in -15...16 where sound.indices.contains(whole + tap) {
        let distance = part - Double(tap)
        let window = 0.5 + 0.5 * cos(.pi * distance / 16.5)
        sum += sound[whole + tap] * window * shift / distance * (tap.isMultiple(of: 2) ? 1 : -1)
      }
      return sum
    }
  }
}

extension SweepSignal {
  /// The start of the first sweep, from public properties.
  var firstSweepForTests: Double { requiredMeasurementSeconds - 2 * sweepSpacingSeconds }
}
