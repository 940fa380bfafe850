import Foundation
import HapticRender
import SignalAnalysis
import Testing

@testable import SoundTracing

/// Changes of a tone's gain that replace bursts.
struct ToneGainSearchTests {
  private static let toneSamples = 220..<940

  /// Returns a path whose windows end before a burst at sample 850.
  private static func path(rate: Double) -> TonePath {
    SteadyTone(rate: rate).path(
      windowsAt: stride(from: 284, to: 640, by: 8), sounding: toneSamples)
  }

  /// Returns the samples of a tone whose phase deviates more and more from that of the path.
  private static func samples(rate: Double, phaseDeviation: Double) -> [Float] {
    SteadyTone(rate: rate).signal(sounding: toneSamples) { position in
      phaseDeviation * max(0, Double(position - 700)) / 300
    }
  }

  /// Returns a burst during the tone.
  private static func burst(_ dictionary: AtomDictionary) -> FoundBurst {
    FoundBurst(
      atomIndex: dictionary.atoms.count / 2, startSample: 850, fractionalSampleDelay: 0,
      inPhaseAmplitude: 0.8, quadratureAmplitude: 0, explainedEnergy: 0.64)
  }

  @Test("A burst is dropped if a tone with another phase explains the signal")
  func deviatingTone() throws {
    // Given a signal without bursts whose phase deviates from that of the path
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let rate = dictionary.sampleRate
    let samples = Self.samples(rate: rate, phaseDeviation: 1.5)
    var tones = [Self.path(rate: rate)]
    var bursts = [Self.burst(dictionary)]

    // When changes of the gain are searched in place of a burst
    let search = ToneGainSearch(
      dictionary: dictionary, sampleRate: rate, durationFactor: 1, signalSamples: samples)
    search.replaceGainChanges(among: &bursts, in: &tones)

    // Then only the tone remains, with the phase of the signal
    #expect(bursts.isEmpty)
    var residual = samples
    for tone in tones {
      tone.add(to: &residual, times: -1)
    }
    #expect(
      Statistics.energy(of: residual[700..<900]) < 0.01 * Statistics.energy(of: samples[700..<900]))
  }

  @Test("A burst is kept if no gain of a tone explains it", arguments: [0, 1.5])
  func burstDuringATone(_ phaseDeviation: Double) throws {
    // Given a signal with a tone and a burst
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let rate = dictionary.sampleRate
    let burst = Self.burst(dictionary)
    var negativeBurst = burst
    negativeBurst.inPhaseAmplitude *= -1
    let samples = PursuitResidual(
      Self.samples(rate: rate, phaseDeviation: phaseDeviation), dictionary: dictionary,
      subtracting: [negativeBurst]
    ).unpaddedSamples
    var tones = [Self.path(rate: rate)]
    var bursts = [burst]

    // When changes of the gain are searched in place of the burst
    let search = ToneGainSearch(
      dictionary: dictionary, sampleRate: rate, durationFactor: 1, signalSamples: samples)
    search.replaceGainChanges(among: &bursts, in: &tones)

    // Then the burst remains
    #expect(bursts.map { $0.startSample } == [850])
  }
}
