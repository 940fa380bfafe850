import Foundation
import TransducerCalibration

/// Makes recordings of simulated transducers.
struct RecordingStudio {
  var signal: SweepSignal
  var rate = 48_000.0
  /// Frames by which all is late; need not be whole.
  var latency = 480.0
  var gain = 1.0
  /// Decibels of a sweep above white noise.
  var signalToNoise: Double? = 20
  /// Parts in a million by which the recorder is fast.
  var clockError = 0.0
  var seed: UInt64 = 1

  init(_ signal: SweepSignal? = nil) throws {
    self.signal = try signal ?? SweepSignal()
  }

  /// A recording of some transducers side by side.
  func record(
    _ modes: [(resonance: Double, quality: Double, gain: Double)],
    as quantity: SimulatedTransducer.Quantity = .acceleration, coilCorner: Double? = nil
  ) throws -> CalibrationRecording {
    let played = try signal.samples(rate: rate, isWhole: false).map(Double.init)
    var sum = [Double](repeating: 0, count: played.count)
    for mode in modes {
      let simulated = SimulatedTransducer(
        resonance: mode.resonance, quality: mode.quality, rate: rate)
      for (frame, value) in simulated.response(to: played, as: quantity).enumerated() {
        sum[frame] += mode.gain * value
      }
    }
    if let coilCorner {
      let factor = exp(-2 * .pi * coilCorner / rate)
      var held = 0.0
      sum = sum.map {
        held = factor * held + (1 - factor) * $0; return held
      }
    }
    return finish(sum)
  }

  /// What a microphone at the loudspeaker's wire would record.
  func recordLoop() throws -> CalibrationRecording {
    finish(try signal.samples(rate: rate, isWhole: false).map(Double.init))
  }

  /// Delay, clock, gain and noise.
  func finish(_ sound: [Double]) -> CalibrationRecording {
    var chance = Chance(state: seed)
    let stretch = 1 + clockError * 1e-6
    let count = sound.count + Int(latency) + Int(rate / 10)
    let late = (0..<count).map { frame -> Double in
      Self.value(of: sound, at: (Double(frame) - latency) / stretch)
    }
    let sweepStart = Int(signal.firstSweepForTests * rate + latency)
    let sweep = late[sweepStart..<(sweepStart + Int(signal.duration * rate))]
    let power = sweep.reduce(0) { $0 + $1 * $1 } / Double(sweep.count)
    let noise = signalToNoise.map { (power * pow(10, -$0 / 10)).squareRoot() } ?? 0
    return CalibrationRecording(
      samples: late.map { Float(gain * ($0 + noise * chance.normal())) }, rate: rate)
  }

  /// Between samples, by a windowed sinc of 32 of them.
  private static func value(of sound: [Double], at place: Double) -> Double {
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

extension SweepSignal {
  /// Where the first sweep begins, from what is public.
  var firstSweepForTests: Double { measuredLength - 2 * sweepSpacing }
}
