import Foundation
import HapticRender
import SignalAnalysis
import Testing

@testable import SoundTracing

/// Steps between tones that replace bursts.
struct StepSearchTests {
  private static let toneSamples = 220..<1_000

  /// Returns a weak burst at a sample.
  private static func burst(at sample: Int, _ dictionary: AtomDictionary) -> FoundBurst {
    FoundBurst(
      atomIndex: dictionary.atoms.count / 2, startSample: sample, fractionalSampleDelay: 0,
      inPhaseAmplitude: 0.1, quadratureAmplitude: 0, explainedEnergy: 0.01)
  }

  @Test(
    "A tone is not divided if a missing part sounds far from the burst",
    arguments: [(430, 520, 936), (730, 284, 700)])
  func missingPart(_ burstSample: Int, _ firstCenter: Int, _ endCenter: Int) throws {
    // Given a tone whose windows are all on the same side of a burst, but that sounds on both sides
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let rate = dictionary.sampleRate
    let tone = SteadyTone(rate: rate)
    let samples = tone.signal(sounding: Self.toneSamples)
    var selection = ToneSelection(sampleRate: rate, durationFactor: 1)
    selection.selectedTones = [
      tone.path(
        windowsAt: stride(from: firstCenter, to: endCenter, by: 8), sounding: Self.toneSamples)
    ]
    var bursts = [Self.burst(at: burstSample, dictionary)]

    // When a step is searched in place of the burst
    let search = StepSearch(
      dictionary: dictionary, sampleRate: rate, durationFactor: 1, signalSamples: samples,
      candidates: [])
    search.replaceSteps(among: &bursts, in: &selection)

    // Then no sound of the tone is lost
    var residual = samples
    selection.add(to: &residual, times: -1)
    #expect(Statistics.energy(of: residual) < 0.01 * Statistics.energy(of: samples))
  }

  @Test(
    "A tone that extends over the next tone of the same frequency ends at the step",
    arguments: [true, false])
  func followingTone(_ isSelected: Bool) throws {
    // Given two tones of the same frequency with a step of the phase
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let rate = dictionary.sampleRate
    let stepSample = 700
    let phaseStep = 2.0
    let tone = SteadyTone(rate: rate)
    let samples = tone.signal(sounding: Self.toneSamples) { position in
      position < stepSample ? 0 : phaseStep
    }
    // Given a selection in which the first tone extends over the second
    let firstTone = tone.path(
      windowsAt: stride(from: 284, to: 640, by: 8), sounding: 220..<850)
    let secondTone = SteadyTone(rate: rate, startPhase: phaseStep).path(
      windowsAt: stride(from: 764, to: 940, by: 8), sounding: 850..<1_000)
    var selection = ToneSelection(sampleRate: rate, durationFactor: 1)
    selection.selectedTones = isSelected ? [firstTone, secondTone] : [firstTone]
    var bursts = [Self.burst(at: stepSample - 20, dictionary)]

    // When a step is searched in place of the burst
    let search = StepSearch(
      dictionary: dictionary, sampleRate: rate, durationFactor: 1, signalSamples: samples,
      candidates: [firstTone, secondTone])
    search.replaceSteps(among: &bursts, in: &selection)

    // Then the first tone ends and the second tone starts at the step
    #expect(bursts.isEmpty)
    let spans = selection.selectedTones.map { $0.soundingSamples }.sorted {
      $0.lowerBound < $1.lowerBound
    }
    try #require(spans.count == 2)
    #expect(abs(spans[0].upperBound - stepSample) < 8)
    #expect(abs(spans[1].lowerBound - stepSample) < 8)
  }
}
