import HapticModel
import HapticRender
import SignalPlots
import Testing

struct EventPlotTests {
  @Test("A transient has the values of its controls at its onset")
  func transientHasControlledValues() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticTransient, time: 0.5,
          parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
      ], parameters: [DynamicParameter(id: .hapticSharpnessControl, value: 0.25, time: 0.2)],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 1), .init(time: 1, value: 0)])
      ])
    let plot = try EventPlot(of: HapticComposition(pattern))
    let event = try #require(plot.events.first)
    #expect(event.onsetSeconds == 0.5)
    #expect(event.points.count == 1)
    #expect(abs(event.points[0].intensity - 0.4) < 1e-6)
    #expect(event.points[0].sharpness == 0.75)
    // Two cycles at 80 · (230 / 80)^0.75 Hz.
    #expect(abs(event.endSeconds - 0.5 - 2 / 176.65) < 0.000_03)
    #expect(plot.curves.map(\.controlID) == [.hapticIntensityControl, .hapticSharpnessControl])
    #expect(plot.curves[0].controlPoints.map(\.value) == [1])
    #expect(plot.curves[1].controlPoints.map(\.timeSeconds) == [0.2])
    #expect(plot.curves[1].controlPoints.map(\.value) == [0.25])
    #expect(plot.curves[1].polyline.map(\.value) == [0, 0, 0.25, 0.25])
  }

  @Test("The envelope and an intensity curve multiply")
  func envelopeAndCurveMultiply() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 1,
          parameters: [.hapticIntensity: 0.9, .hapticSharpness: 0.3, .attackTime: 0.5])
      ],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 1), .init(time: 1, value: 0.5)])
      ])
    let points = try #require(EventPlot(of: HapticComposition(pattern)).events.first).points
    let attackSeconds = EnvelopeTimes.seconds(normalized: 0.5)
    let peakPoint = try #require(
      points.min { abs($0.timeSeconds - attackSeconds) < abs($1.timeSeconds - attackSeconds) })
    #expect(abs(peakPoint.timeSeconds - attackSeconds) < 0.000_02)
    #expect(abs(peakPoint.intensity - 0.9 * (1 - attackSeconds / 2)) < 1e-4)
    for point in points where point.timeSeconds <= attackSeconds {
      let expectedIntensity = 0.9 * (1 - point.timeSeconds / 2) * point.timeSeconds / attackSeconds
      #expect(abs(point.intensity - expectedIntensity) < 1e-3)
    }
    #expect(points.last?.intensity == 0)
  }

  /// A jump has two points, so that neither shape nor color is interpolated.
  @Test("A parameter change is a jump")
  func parameterChangeIsAJump() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 1, parameters: [.hapticIntensity: 1])
      ],
      parameters: [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.25)])
    let points = try #require(EventPlot(of: HapticComposition(pattern)).events.first).points
    let jumpPoints = points.filter { abs($0.timeSeconds - 0.25) < 0.001 }
    #expect(jumpPoints.map(\.intensity) == [1, 0.5])
    #expect(jumpPoints[1].timeSeconds - jumpPoints[0].timeSeconds < 2e-6)
  }

  @Test("Audio events have their own controls")
  func audioEventsHaveTheirOwnControls() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(kind: .audioContinuous, time: 0, duration: 1, parameters: [.audioVolume: 0.5]),
        HapticEvent(kind: .audioCustom, time: 1, waveform: AudioWaveform(path: "ding.wav")),
      ], parameters: [DynamicParameter(id: .hapticIntensityControl, value: 0, time: 0)])
    let plot = try EventPlot(of: HapticComposition(pattern))
    #expect(plot.hapticEvents.isEmpty)
    #expect(plot.audioEvents.map(\.peakIntensity) == [0.5, 0])
    #expect(plot.audioEvents[1].filePath == "ding.wav")
    let sound = AudioBuffer(interleaved: Array(repeating: 0.5, count: 24_000), channelCount: 1)
    let plotWithSound = try EventPlot(of: HapticComposition(pattern), samples: ["ding.wav": sound])
    // The duration is 0.5 s, and its edge is 1 ms.
    #expect(plotWithSound.audioEvents[1].endSeconds == 1.501)
    #expect(plotWithSound.durationSeconds == 1.501)
  }

  @Test("The number of points is bounded")
  func pointCountIsBounded() throws {
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0,
      controlPoints: (0..<20_000).map { .init(time: Double($0) / 1_000, value: Float($0 % 2)) })
    let events = (0..<2_000).map {
      HapticEvent(kind: .hapticContinuous, time: Double($0) / 1_000, duration: 10)
    }
    let plot = try EventPlot(
      of: HapticComposition(HapticPattern(events: events, curves: [curve])))
    #expect(plot.events.reduce(0) { $0 + $1.points.count } < 2_000_000)
    #expect(plot.events.allSatisfy { $0.points.count > 10 })
  }

  /// The events of all layers are sorted by onset. A control affects its own layer only.
  @Test("All layers are drawn together")
  func layersAreDrawnTogether() throws {
    let tap = HapticEvent(kind: .hapticTransient, time: 0.5, parameters: [.hapticIntensity: 0.8])
    let hum = HapticEvent(
      kind: .hapticContinuous, time: 0.25, duration: 1, parameters: [.hapticIntensity: 0.6])
    let halfIntensity = DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0)
    let raisedSharpness = DynamicParameter(id: .hapticSharpnessControl, value: 0.25, time: 0)
    let plot = try EventPlot(
      of: HapticComposition(layers: [
        .init(HapticPattern(events: [tap], parameters: [halfIntensity])),
        .init(HapticPattern(events: [hum, tap], parameters: [raisedSharpness])),
      ]))
    let eventReferences = [
      EventReference(layerIndex: 1, eventIndex: 0), EventReference(layerIndex: 0, eventIndex: 0),
      EventReference(layerIndex: 1, eventIndex: 1),
    ]
    #expect(plot.events.map(\.eventReference) == eventReferences)
    #expect(plot.events.map { Float($0.peakIntensity) } == [0.6, 0.4, 0.8])
    #expect(plot.events[2].points[0].sharpness == 0.75)
    #expect(plot.events[1].points[0].sharpness == 0.5)
    #expect(plot.curves.map(\.controlID) == [.hapticIntensityControl, .hapticSharpnessControl])
    #expect(plot.durationSeconds == plot.events[0].endSeconds)
  }

  @Test("A pattern that cannot be rendered throws an error")
  func invalidPatternThrows() throws {
    let pattern = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: -1)])
    #expect(throws: PlotError(.invalidPattern, "event 1: time or duration is negative or NaN")) {
      try EventPlot(of: HapticComposition(pattern))
    }
  }
}
