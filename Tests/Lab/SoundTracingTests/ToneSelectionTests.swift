import Foundation
import SignalAnalysis
import Testing

@testable import SoundTracing

/// Edges of selected tones.
struct ToneSelectionTests {
  private static let rate = 2_000.0
  private static let hertz = 150.0
  private static let amplitude = 0.3
  private static let sampleCount = 1_200

  /// Returns a path of the tone whose windows have their centers at the given samples.
  private static func path(windowsAt centers: StrideTo<Int>) -> TonePath {
    let nodes = centers.map { center in
      TonePath.Node(
        centerSample: center, halfLengthSamples: 64,
        tone: WindowTone(
          hertz: hertz, amplitude: amplitude,
          centerPhase: 2 * .pi * hertz * Double(center) / rate))
    }
    return TonePath(nodes, rate: rate, sampleCount: sampleCount, timeScale: 1)
  }

  private static func sample(hertz: Double, at position: Int) -> Float {
    Float(amplitude * cos(2 * .pi * hertz * Double(position) / rate))
  }

  @Test(
    "A tone sounds far beyond its windows if it explains the signal there",
    arguments: [(564, 640), (764, 840)])
  func distantEdges(_ firstCenter: Int, _ endCenter: Int) {
    // Given a tone that sounds for at least 0.14 s before its first or after its last window
    let toneSamples = 220..<1_100
    let samples = (0..<Self.sampleCount).map { position in
      toneSamples.contains(position) ? Self.sample(hertz: Self.hertz, at: position) : 0
    }
    var selection = ToneSelection(sampleRate: Self.rate, durationFactor: 1)
    selection.selectedTones = [
      Self.path(windowsAt: stride(from: firstCenter, to: endCenter, by: 8))
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
    let path = Self.path(windowsAt: stride(from: 564, to: 940, by: 8))
    let start = path.waveformStart
    let samples = (0..<Self.sampleCount).map { position in
      Self.sample(hertz: position < start ? 95 : Self.hertz, at: position)
    }
    var selection = ToneSelection(sampleRate: Self.rate, durationFactor: 1)
    selection.selectedTones = [path]

    // When its edges are fitted
    _ = selection.fitEdges(to: samples)

    // Then it starts within a period of its start
    let period = Int(Self.rate / Self.hertz)
    #expect(abs(selection.selectedTones[0].soundingSamples.lowerBound - start) < period)
  }
}
