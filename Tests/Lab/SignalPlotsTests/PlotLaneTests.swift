import HapticModel
import SignalAnalysis
import Testing

@testable import SignalPlots

/// Figures of patterns and sounds that differ between body locations or channels.
@Suite struct PlotLaneTests {
  private static let left = HapticComposition.BodyLocation(1, of: 2, name: "left")
  private static let right = HapticComposition.BodyLocation(2, of: 2, name: "right")

  private func located() -> HapticComposition {
    func layer(_ time: Double, _ location: HapticComposition.BodyLocation)
      -> HapticComposition.Layer
    {
      let event = HapticEvent(kind: .hapticContinuous, time: time, duration: 0.2)
      return HapticComposition.Layer(HapticPattern(events: [event]), bodyLocation: location)
    }
    return HapticComposition(layers: [layer(0, Self.left), layer(0.3, Self.right)])
  }

  private func stereo() -> Signal {
    Signal(
      channels: [
        [Float](repeating: 0.5, count: 800) + [Float](repeating: 0, count: 3_200),
        [Float](repeating: 0, count: 3_200) + [Float](repeating: -0.25, count: 800),
      ], rate: 8_000)
  }

  @Test("Each body location has panels of its own, with its events and its channel")
  func locationsHavePanels() throws {
    let plot = try Plot(of: PlotSubject(name: "", composition: located(), signal: stereo()))
    #expect(
      plot.plotPanels.map(\.title) == [
        "Intensity, left", "Sharpness, left", "Intensity, right", "Sharpness, right",
        "Waveform, left", "Waveform, right", "Spectrogram, left", "Spectrogram, right",
      ])
    #expect(plot.plotPanels.map(\.laneIndex) == [0, 0, 1, 1, 0, 1, 0, 1])
    #expect(plot.lanes.map { $0.takes[0].eventPlot?.events.map(\.onsetSeconds) } == [[0], [0.3]])
    #expect(plot.lanes.map { $0.takes[0].signal?.channels } == stereo().channels.map { [$0] })
    #expect(plot.factTexts.contains("at left and right"))
  }

  @Test("An overlay compares equal body locations")
  func overlaysCompareLocations() throws {
    var withoutLocations = located()
    withoutLocations.layers.removeLast()
    withoutLocations.layers[0].bodyLocation = nil
    let subjects = [located(), withoutLocations].map { PlotSubject(name: "x", composition: $0) }
    let plot = try Plot(of: subjects, parts: [.score])
    let onsets = plot.lanes.map { lane in
      lane.takes.map { $0.eventPlot?.events.map(\.onsetSeconds) }
    }
    #expect(onsets == [[[0], [0]], [[0.3], [0]]])
  }

  @Test("Channels of a recording that differ have panels of their own")
  func channelsHavePanels() throws {
    let plot = try Plot(of: PlotSubject(name: "", signal: stereo()), parts: [.score])
    #expect(
      plot.plotPanels.map(\.title) == [
        "Level, channel 1", "Frequency, channel 1", "Level, channel 2", "Frequency, channel 2",
      ])
  }

  @Test("A figure states that many channels are drawn as their mean")
  func manyChannelsAreStated() throws {
    let channels = (0..<9).map { [Float](repeating: Float($0) / 10, count: 100) }
    let signal = Signal(channels: channels, rate: 8_000)
    let plot = try Plot(of: PlotSubject(name: "", signal: signal))
    #expect(plot.factTexts.contains("mean of 9 channels"))
    #expect(plot.plotPanels.map(\.laneIndex).allSatisfy { $0 == 0 })
  }

  @Test("A lane whose body location a pattern does not have is empty for the pattern")
  func absentLocationsAreSilent() {
    let patternSource = LaneSource(located(), signal: nil)
    var withBackLocation = located()
    withBackLocation.layers[1].bodyLocation = .init(2, of: 2, name: "back")
    let otherSource = LaneSource(withBackLocation, signal: nil)
    let lanes = FigureLanes([patternSource, otherSource])
    #expect(lanes.laneNames == ["left", "right", "back"])
    #expect(lanes.shownContent(of: patternSource, inLane: 1) == .part(1))
    #expect(lanes.shownContent(of: patternSource, inLane: 2) == .nothing)
    let soundSource = LaneSource(nil, signal: stereo())
    #expect(
      FigureLanes([patternSource, soundSource]).shownContent(of: soundSource, inLane: 1) == .part(1)
    )
    #expect(lanes.shownContent(of: soundSource, inLane: 1) == .whole)
  }
}
