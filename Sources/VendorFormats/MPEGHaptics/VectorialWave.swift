internal import HapticFormats
internal import CMath

/// A vectorial wave at its own times: amplitude and frequency are lines between the keys that have them.
struct VectorialWave {
  private let amplitudes: [(position: Double, value: Double)]
  /// Frequencies with the phase at each, in radians.
  private let frequencies: [(position: Double, hertz: Double, phase: Double)]
  private let phase: Double
  private let signal: MPEGBaseSignal
  private let timescale: Double
  private var nextAmplitude = 0
  private var nextFrequency = 0

  init(_ effect: MPEGDocument.Effect, timescale: Int) {
    amplitudes = effect.keys.filter { !$0.amplitude.isNaN }.map { (Double($0.position), Double($0.amplitude)) }
    let tick = 1 / Double(timescale)
    var phase = effect.phase
    var frequencies: [(position: Double, hertz: Double, phase: Double)] = []
    for key in effect.keys where !key.frequency.isNaN {
      let position = Double(key.position)
      let hertz = Double(key.frequency)
      if let last = frequencies.last {
        phase += .pi * (position - last.position) * tick * (last.hertz + hertz)
      } else {
        phase += 2 * .pi * position * tick * hertz
      }
      frequencies.append((position, hertz, phase))
    }
    self.frequencies = frequencies
    self.phase = effect.phase
    self.timescale = Double(timescale)
    signal = effect.signal
  }

  /// The value at a position in ticks from the start of the effect, not before that of the last call.
  mutating func value(at position: Double) -> Double {
    while nextAmplitude < amplitudes.count, amplitudes[nextAmplitude].position < position { nextAmplitude += 1 }
    while nextFrequency < frequencies.count, frequencies[nextFrequency].position < position { nextFrequency += 1 }
    return amplitude(at: position) * wave(at: position)
  }

  private func amplitude(at position: Double) -> Double {
    guard let last = amplitudes.last else { return 1 }
    guard nextAmplitude < amplitudes.count else { return last.value }
    let to = amplitudes[nextAmplitude]
    guard nextAmplitude > 0 else { return to.value }
    let from = amplitudes[nextAmplitude - 1]
    let share = (position - from.position) / (to.position - from.position)
    return from.value + (to.value - from.value) * share
  }

  private func wave(at position: Double) -> Double {
    guard let last = frequencies.last else { return shape(0, 0, phase) }
    guard nextFrequency < frequencies.count else {
      return shape((position - last.position) / timescale, last.hertz, last.phase)
    }
    let to = frequencies[nextFrequency]
    guard nextFrequency > 0 else { return shape(position / timescale, to.hertz, phase) }
    let from = frequencies[nextFrequency - 1]
    let elapsed = position - from.position
    let slope = (to.hertz - from.hertz) / (to.position - from.position)
    return shape(elapsed / timescale, from.hertz + slope * elapsed / 2, from.phase)
  }

  private func shape(_ seconds: Double, _ hertz: Double, _ phase: Double) -> Double {
    let turns = hertz == 0 ? 0 : hertz * (seconds + phase / (2 * .pi * hertz))
    switch signal {
    case .sine: return hertz == 0 ? sin(phase) : sin(2 * .pi * turns)
    case .square: return 1 - 2 * (turns - floor(turns)).rounded()
    case .triangle: return 1 - 4 * abs((turns - 0.25).rounded() - (turns - 0.25))
    case .sawToothUp: return 2 * (turns - floor(turns + 0.5))
    case .sawToothDown: return 2 * (floor(turns + 0.5) - turns)
    }
  }
}
