internal import HapticFormats
import HapticModel

/// A vectorial wave as a continuous event with curves of its own.
struct WaveEvent {
  /// The event, or nothing for a wave that lasts no time.
  private(set) var event: HapticEvent?
  /// Curves of intensity and sharpness where either moves.
  private(set) var curves: [ParameterCurve] = []
  /// The greatest amplitude, the gain applied.
  private(set) var greatestAmplitude: Double?
  /// The lowest and the highest frequency.
  private(set) var outermostHertz: [Double] = []

  private typealias Line = [(time: Double, value: Double)]

  /// Nothing for a wave that no event describes: another shape than a sine, a phase, or amplitudes
  /// that turn it over.
  init?(_ effect: MPEGDocument.Effect, timescale: Int, gain: Double) {
    guard effect.signal == .sine, effect.phase == 0, gain >= 0,
      effect.keys.allSatisfy({ $0.amplitude.isNaN || $0.amplitude >= MPEGMapping.quantisedZero }),
      let first = effect.keys.first, let last = effect.keys.last
    else { return nil }
    let start = first.position
    func seconds(_ position: Int32) -> Double { Double(position - start) / Double(timescale) }
    let duration = seconds(last.position)
    var amplitudes: Line = effect.keys.filter { !$0.amplitude.isNaN }.map {
      (seconds($0.position), max(Double($0.amplitude), 0) * gain)
    }
    if amplitudes.isEmpty { amplitudes = [(0, gain)] }
    let hertz: Line = effect.keys.filter { !$0.frequency.isNaN }.map { (seconds($0.position), Double($0.frequency)) }
    greatestAmplitude = amplitudes.map(\.value).max()
    outermostHertz = [hertz.map(\.value).min(), hertz.map(\.value).max()].compactMap { $0 }
    guard duration > 0 else { return }
    let intensity = Self.clamped(amplitudes.map { ($0.time, $0.value / MPEGMapping.continuousAmplitude) })
    let sharpness = Self.clamped(hertz.map { ($0.time, SharpnessScale.mpeg.sharpness(ofHertz: $0.value)) })
    let peak = intensity.map(\.value).max() ?? 0
    let begin = sharpness.first?.value ?? 0
    let time = (Double(effect.position) + Double(start)) / Double(timescale)
    event = HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: Float(peak), .hapticSharpness: Float(begin)])
    let isMoving =
      intensity.contains { abs($0.value - peak) > 1e-6 } || sharpness.contains { abs($0.value - begin) > 1e-6 }
    guard isMoving else { return }
    curves = [
      Self.curve(.hapticIntensityControl, at: time, intensity.map { ($0.time, peak > 0 ? $0.value / peak : 1) }),
      Self.curve(.hapticSharpnessControl, at: time, sharpness.map { ($0.time, $0.value - begin) }),
    ]
  }

  private static func curve(_ id: DynamicParameterID, at time: Double, _ line: Line) -> ParameterCurve {
    ParameterCurve(id: id, time: time, controlPoints: line.map { .init(time: $0.time, value: Float($0.value)) })
  }

  /// A line with corners where it leaves or enters 0…1, and clamped to that.
  private static func clamped(_ line: Line) -> Line {
    if line.allSatisfy({ 0...1 ~= $0.value }) { return line }
    var clamped: Line = []
    for (index, point) in line.enumerated() {
      if index > 0 {
        let last = line[index - 1]
        // A jump from one key to another of its position passes a bound without a time of its own.
        var crossings: Line = []
        for bound in [0.0, 1.0] where (last.value - bound) * (point.value - bound) < 0 {
          let share = (bound - last.value) / (point.value - last.value)
          crossings.append((last.time + (point.time - last.time) * share, bound))
        }
        clamped += last.value < point.value ? crossings : crossings.reversed()
      }
      clamped.append(point)
    }
    return clamped.map { ($0.time, min(max($0.value, 0), 1)) }
  }
}
