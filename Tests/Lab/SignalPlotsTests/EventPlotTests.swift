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
    let score = try EventPlot(of: HapticComposition(pattern))
    let event = try #require(score.events.first)
    #expect(event.onsetSeconds == 0.5)
    #expect(event.points.count == 1)
    #expect(abs(event.points[0].intensity - 0.4) < 1e-6)
    #expect(event.points[0].sharpness == 0.75)
    // Two cycles at 80 · (230 / 80)^0.75 Hz.
    #expect(abs(event.endSeconds - 0.5 - 2 / 176.65) < 0.000_03)
    #expect(score.curves.map(\.controlID) == [.hapticIntensityControl, .hapticSharpnessControl])
    #expect(score.curves[0].controlPoints.map(\.value) == [1])
    #expect(score.curves[1].controlPoints.map(\.timeSeconds) == [0.2])
    #expect(score.curves[1].controlPoints.map(\.value) == [0.25])
    #expect(score.curves[1].polyline.map(\.value) == [0, 0, 0.25, 0.25])
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
    let attack = EnvelopeTimes.seconds(normalized: 0.5)
    let top = try #require(
      points.min { abs($0.timeSeconds - attack) < abs($1.timeSeconds - attack) })
    #expect(abs(top.timeSeconds - attack) < 0.000_02)
    #expect(abs(top.intensity - 0.9 * (1 - attack / 2)) < 1e-4)
    for point in points where point.timeSeconds <= attack {
      let exact = 0.9 * (1 - point.timeSeconds / 2) * point.timeSeconds / attack
      #expect(abs(point.intensity - exact) < 1e-3)
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
    let around = points.filter { abs($0.timeSeconds - 0.25) < 0.001 }
    #expect(around.map(\.intensity) == [1, 0.5])
    #expect(around[1].timeSeconds - around[0].timeSeconds < 2e-6)
  }

  @Test("Audio events have their own controls")
  func audioEventsHaveTheirOwnControls() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(kind: .audioContinuous, time: 0, duration: 1, parameters: [.audioVolume: 0.5]),
        HapticEvent(kind: .audioCustom, time: 1, waveform: AudioWaveform(path: "ding.wav")),
      ], parameters: [DynamicParameter(id: .hapticIntensityControl, value: 0, time: 0)])
    let score = try EventPlot(of: HapticComposition(pattern))
    #expect(score.hapticEvents.isEmpty)
    #expect(score.audioEvents.map(\.peakIntensity) == [0.5, 0])
    #expect(score.audioEvents[1].filePath == "ding.wav")
    let sound = AudioBuffer(interleaved: Array(repeating: 0.5, count: 24_000), channelCount: 1)
    let known = try EventPlot(of: HapticComposition(pattern), samples: ["ding.wav": sound])
    // The duration is 0.5 s, and its edge is 1 ms.
    #expect(known.audioEvents[1].endSeconds == 1.501)
    #expect(known.durationSeconds == 1.501)
  }

  @Test("The number of points is bounded")
  func pointCountIsBounded() throws {
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0,
      controlPoints: (0..<20_000).map { .init(time: Double($0) / 1_000, value: Float($0 % 2)) })
    let events = (0..<2_000).map {
      HapticEvent(kind: .hapticContinuous, time: Double($0) / 1_000, duration: 10)
    }
    let score = try EventPlot(
      of: HapticComposition(HapticPattern(events: events, curves: [curve])))
    #expect(score.events.reduce(0) { $0 + $1.points.count } < 2_000_000)
    #expect(score.events.allSatisfy { $0.points.count > 10 })
  }

  /// The events of all layers are sorted by onset. A control affects its own layer only.
  @Test("All layers are drawn together")
  func layersAreDrawnTogether() throws {
    let tap = HapticEvent(kind: .hapticTransient, time: 0.5, parameters: [.hapticIntensity: 0.8])
    let hum = HapticEvent(
      kind: .hapticContinuous, time: 0.25, duration: 1, parameters: [.hapticIntensity: 0.6])
    let half = DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0)
    let sharp = DynamicParameter(id: .hapticSharpnessControl, value: 0.25, time: 0)
    let score = try EventPlot(
      of: HapticComposition(layers: [
        .init(HapticPattern(events: [tap], parameters: [half])),
        .init(HapticPattern(events: [hum, tap], parameters: [sharp])),
      ]))
    let places = [
      EventReference(layerIndex: 1, eventIndex: 0), EventReference(layerIndex: 0, eventIndex: 0),
      EventReference(layerIndex: 1, eventIndex: 1),
    ]
    #expect(score.events.map(\.eventReference) == places)
    #expect(score.events.map { Float($0.peakIntensity) } == [0.6, 0.4, 0.8])
    #expect(score.events[2].points[0].sharpness == 0.75)
    #expect(score.events[1].points[0].sharpness == 0.5)
    #expect(score.curves.map(\.controlID) == [.hapticIntensityControl, .hapticSharpnessControl])
    #expect(score.durationSeconds == score.events[0].endSeconds)
  }

  @Test("A pattern that cannot be rendered throws an error")
  func invalidPatternThrows() throws {
    let pattern = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: -1)])
    #expect(throws: PlotError(.invalidPattern, "event 1: time or duration is negative or NaN")) {
      try EventPlot(of: HapticComposition(pattern))
    }
  }
}
