import Foundation
import SignalAnalysis
import Testing

@testable import SoundTracing

/// Edges of selected tones.
struct ToneSelectionTests {
  private static let rate = 2_000.0
  private static let tone = SteadyTone(rate: rate)

  @Test(
    "A tone sounds far beyond its windows if it explains the signal there",
    arguments: [(564, 640), (764, 840)])
  func distantEdges(_ firstCenter: Int, _ endCenter: Int) {
    // Given a tone that sounds for at least 0.14 s before its first or after its last window
    let toneSamples = 220..<1_100
    let samples = Self.tone.signal(sounding: toneSamples)
    var selection = ToneSelection(sampleRate: Self.rate, durationFactor: 1)
    selection.selectedTones = [
      Self.tone.path(windowsAt: stride(from: firstCenter, to: endCenter, by: 8))
    ]

    // When its edges are fitted
    let residual = selection.fitEdges(to: samples)

    // Then both edges are found
    let span = selection.selectedTones[0].soundingSamples
    #expect(abs(span.lowerBound - toneSamples.lowerBound) < 8)
    #expect(abs(span.upperBound - toneSamples.upperBound) < 8)
    #expect(Statistics.energy(of: residual) < 0.001 * Statistics.energy(of: samples))
  }

  @Test("A tone is not continued where another tone sounds")
  func precedingTone() {
    // Given a tone that starts where its waveform starts, after a tone of another frequency
    let path = Self.tone.path(windowsAt: stride(from: 564, to: 940, by: 8))
    let start = path.waveformStart
    let precedingTone = SteadyTone(rate: Self.rate, hertz: 95)
    let samples = (0..<SteadyTone.signalSampleCount).map { position in
      position < start ? precedingTone.sample(at: position) : Self.tone.sample(at: position)
    }
    var selection = ToneSelection(sampleRate: Self.rate, durationFactor: 1)
    selection.selectedTones = [path]

    // When its edges are fitted
    _ = selection.fitEdges(to: samples)

    // Then it starts within a period of its start
    let period = Int(Self.rate / Self.tone.hertz)
    #expect(abs(selection.selectedTones[0].soundingSamples.lowerBound - start) < period)
  }
}
