import Foundation

@testable import SoundTracing

/// A tone of constant frequency and amplitude, for tests of searches in short signals.
///
/// The signal has 1,200 samples: 0.6 s at the sample rate of the tests, 2 kHz.
struct SteadyTone {
  /// The number of samples of the signal.
  static let signalSampleCount = 1_200

  /// The sample rate, in hertz.
  var rate: Double
  var hertz = 150.0
  /// The phase at sample 0, in radians.
  var startPhase = 0.0
  let amplitude = 0.3

  /// Returns the phase at a sample, in radians.
  private func phase(at position: Int) -> Double {
    2 * .pi * hertz * Double(position) / rate + startPhase
  }

  /// Returns a sample of the tone.
  func sample(at position: Int, phaseDeviation: Double = 0) -> Float {
    Float(amplitude * cos(phase(at: position) + phaseDeviation))
  }

  /// Returns a signal that contains the tone in a range of samples, and is silent otherwise.
  ///
  /// - Parameters:
  ///   - soundingSamples: The range of samples in which the tone sounds.
  ///   - phaseDeviation: A function that returns the deviation from the phase of the tone at a
  ///     sample, in radians.
  func signal(
    sounding soundingSamples: Range<Int>, phaseDeviation: (Int) -> Double = { _ in 0 }
  ) -> [Float] {
    (0..<Self.signalSampleCount).map { position in
      soundingSamples.contains(position)
        ? sample(at: position, phaseDeviation: phaseDeviation(position)) : 0
    }
  }

  /// Returns a path of the tone.
  ///
  /// - Parameters:
  ///   - centers: The centers of the windows, in samples.
  ///   - soundingSamples: The range of samples in which the path sounds, or nil for the range of
  ///     the windows.
  func path(windowsAt centers: StrideTo<Int>, sounding soundingSamples: Range<Int>? = nil)
    -> TonePath
  {
    let nodes = centers.map { center in
      let windowTone = WindowTone(
        hertz: hertz, amplitude: amplitude, centerPhase: phase(at: center))
      let window = ToneWindow(centerSample: center, halfLengthSamples: 64, tones: [windowTone])
      return TonePath.Node(windowTone, in: window)
    }
    var path = TonePath(nodes, rate: rate, sampleCount: Self.signalSampleCount, timeScale: 1)
    if let soundingSamples {
      path.soundingSamples = soundingSamples
      path.coreSamples = TonePath.coreRange(of: soundingSamples)
    }
    return path
  }
}
