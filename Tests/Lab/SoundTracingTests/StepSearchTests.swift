import Foundation
import HapticRender
import SignalAnalysis
import Testing

@testable import SoundTracing

/// Steps between tones that replace bursts.
struct StepSearchTests {
  private static let hertz = 150.0
  private static let amplitude = 0.3
  private static let toneSamples = 220..<1_000

  /// Returns the tone at a sample rate, without a start or an end.
  private static func toneSample(at position: Int, rate: Double) -> Double {
    amplitude * cos(2 * .pi * hertz * Double(position) / rate)
  }

  /// Returns a path of the tone whose windows have their centers at the given samples.
  private static func path(windowsAt centers: StrideTo<Int>, rate: Double) -> TonePath {
    let nodes = centers.map { center in
      TonePath.Node(
        centerSample: center, halfLengthSamples: 64,
        tone: WindowTone(
          hertz: hertz, amplitude: amplitude,
          centerPhase: 2 * .pi * hertz * Double(center) / rate))
    }
    var path = TonePath(nodes, rate: rate, sampleCount: 1_200, timeScale: 1)
    path.soundingSamples = toneSamples
    path.coreSamples = TonePath.coreRange(of: toneSamples)
    return path
  }

  @Test(
    "A tone is not divided if a missing part sounds far from the burst",
    arguments: [(430, 520, 936), (730, 284, 700)])
  func missingPart(_ burstSample: Int, _ firstCenter: Int, _ endCenter: Int) throws {
    // Given a tone whose windows are all on the same side of a burst, but that sounds on both sides
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let rate = dictionary.sampleRate
    let samples = (0..<1_200).map { position in
      Self.toneSamples.contains(position) ? Float(Self.toneSample(at: position, rate: rate)) : 0
    }
    var selection = ToneSelection(sampleRate: rate, durationFactor: 1)
    selection.selectedTones = [
      Self.path(windowsAt: stride(from: firstCenter, to: endCenter, by: 8), rate: rate)
    ]
    var bursts = [
      FoundBurst(
        atomIndex: dictionary.atoms.count / 2, startSample: burstSample, fractionalSampleDelay: 0,
        inPhaseAmplitude: 0.1, quadratureAmplitude: 0, explainedEnergy: 0.01)
    ]

    // When a step is searched in place of the burst
    let search = StepSearch(
      dictionary: dictionary, sampleRate: rate, durationFactor: 1, signalSamples: samples)
    search.replaceSteps(among: &bursts, in: &selection)

    // Then no sound of the tone is lost
    var residual = samples
    selection.add(to: &residual, times: -1)
    #expect(Statistics.energy(of: residual) < 0.01 * Statistics.energy(of: samples))
  }
}
