import Foundation
import SignalAnalysis
import Testing

/// The code in the article of the module compiles, runs, and yields the stated results.
struct ArticleTests {
  @Test func wholeSignalsAreMeasured() throws {
    let samples = TestSignal.mix(
      TestSignal.silence(seconds: 1.5), [(0.25, TestSignal.sine(hertz: 100, amplitude: 0.5))])

    let signal = Signal(samples, rate: 48_000)
    let levels = try Levels(of: signal)
    let onsets = Onsets(in: signal)
    let spectrum = Spectrum(of: signal)
    let envelope = AmplitudeEnvelope(of: signal)
    let track = FrequencyTrack(of: signal)
    let energy = WeightedEnergy(of: signal, weighting: .hand)
    let spectrogram = Spectrogram(of: signal, upTo: 1_000)

    #expect(abs(levels.samplePeakAmplitude - 0.5) < 1e-3)
    #expect(onsets.count == 1 && abs(onsets[0].timeSeconds - 0.25) < 0.001)
    #expect(abs((spectrum.centroidHertz ?? 0) - 100) < 2)
    #expect(abs(envelope.amplitude(atSeconds: 0.75) - 0.5) < 0.005)
    let inner = track.points.filter { (0.35...1.15).contains($0.seconds) }
    #expect(inner.count > 150 && inner.allSatisfy { abs($0.hertz - 100) < 0.5 })
    #expect(abs(energy.weightedRMSAmplitude / levels.rmsAmplitude - 1) < 0.02)
    #expect(spectrogram.binHertz.last.map { $0 > 980 && $0 <= 1_000 } == true)
  }

  @Test func signalsAreMeasuredBlockByBlock() throws {
    let tone = TestSignal.sine(hertz: 1_000, seconds: 0.5)
    let signal = Signal(channels: [tone, tone.map { -$0 }], rate: 48_000)
    let blocks = stride(from: 0, to: tone.count, by: 480).map {
      Array(signal.interleaved[2 * $0..<2 * ($0 + 480)])
    }

    var measurement = try LevelMeasurement(channelCount: 2, rate: 48_000)
    for block in blocks {
      measurement.add(block.span)
    }
    let whole = measurement.measuredLevels().whole

    #expect(try whole == Levels(of: signal))
  }

  /// Every line of the article's sample code that measures something is part of this file.
  @Test func articleShowsTheseLines() throws {
    let testFile = URL(filePath: #filePath)
    let testedLines = Set(try lines(testFile).map(trimmed))
    let article = try lines(
      testFile.deletingLastPathComponent().appending(
        path: "../../../Sources/Core/SignalAnalysis/SignalAnalysis.docc/SignalAnalysis.md"))
    var isCode = false
    var count = 0
    for line in article {
      if line.hasPrefix("```") {
        isCode = line == "```swift"
      } else if isCode, line.contains(" = "), !line.contains("repeating") {
        #expect(testedLines.contains(trimmed(line)), "\(line)")
        count += 1
      }
    }
    #expect(count == 10)
  }

  private func lines(_ file: URL) throws -> [Substring] {
    try String(contentsOf: file, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
  }

  private func trimmed(_ line: Substring) -> String { String(line.drop { $0 == " " }) }
}
