import HapticModel
import HapticRender
import Testing

/// Layers of a composition: each layer's controls act on its own events, and layers add.
@Suite struct LayerTests {
  private func samples(
    _ patterns: [HapticPattern], profile: TransducerProfile = .phone,
    settings: RenderSettings = RenderSettings()
  ) throws -> [Float] {
    let composition = HapticComposition(layers: patterns.map { .init($0) })
    return rendered(try RenderPlan(compiling: composition, profile: profile), settings)
  }

  /// Returns the sum of signals, with the length of the longest signal.
  private func mix(_ signals: [[Float]]) -> [Float] {
    var sum = [Float](repeating: 0, count: signals.map(\.count).max() ?? 0)
    for signal in signals {
      for (index, sample) in signal.enumerated() {
        sum[index] += sample
      }
    }
    return sum
  }

  private let swellingPattern = HapticPattern(
    events: [humEvent(0, 1, intensity: 0.5)],
    curves: [curve(.hapticIntensityControl, [(0, 0.1), (1, 0.4)])])
  private let tapPattern = HapticPattern(
    events: (0..<5).map { tapEvent(0.1 + Double($0) * 0.15, intensity: 0.5) })
  private let tonePattern = HapticPattern(
    events: [
      HapticEvent(
        kind: .audioContinuous, time: 0.2, duration: 1.3,
        parameters: [.audioVolume: 0.3, .audioBrightness: 0])
    ], parameters: [controlStep(.audioPitchControl, 0.5, at: 0.7)])

  @Test func controlsActOnTheirOwnLayer() throws {
    let composed = try samples([swellingPattern, tapPattern])
    let sumOfLayers = try mix([samples([swellingPattern]), samples([tapPattern])])
    #expect(composed.count == sumOfLayers.count)
    #expect(maximumDifference(composed, sumOfLayers) < 1e-4)
    var merged = swellingPattern
    merged.events += tapPattern.events
    #expect(maximumDifference(try samples([merged]), composed) > 0.05)
  }

  @Test func bodyLocationHasOnlyItsLayersAndTheFullLength() throws {
    let composition = HapticComposition(layers: [
      .init(swellingPattern, bodyLocation: .init(1, of: 2, name: "Left")),
      .init(tapPattern, bodyLocation: .init(2, of: 2)),
      .init(tonePattern),
    ])
    func samples(_ bodyLocation: String?) throws -> [Float] {
      var profile = TransducerProfile.phone
      profile.bodyLocation = bodyLocation
      let plan = try RenderPlan(compiling: composition, profile: profile)
      #expect(plan.bodyLocationCount == 2 && plan.loopFrameCount == 72_000)
      return rendered(plan)
    }
    let left = try samples("left")
    let right = try samples("2")
    let firstByNumber = try samples("1")
    #expect(left == firstByNumber && right != left)
    // The third layer has no location, so its tone is part of every rendering.
    let separateLayers = try mix([samples(nil), samples("nowhere")])
    let sumOfLocations = mix([left, right])
    #expect(maximumDifference(sumOfLocations, separateLayers) < 1e-4)
    #expect(HapticComposition.BodyLocation(3, of: 2) == HapticComposition.BodyLocation(3, of: 3))
    #expect(
      composition.bodyLocations.map(\.displayName) == ["Left", "2"]
        && composition.bodyLocationCount == 2)
  }

  @Test func threeLayersAreTheSumOfThree() throws {
    let composed = try samples([swellingPattern, tonePattern, tapPattern])
    let sumOfLayers = try mix([
      samples([swellingPattern]), samples([tonePattern]), samples([tapPattern]),
    ])
    #expect(composed.count == sumOfLayers.count)
    #expect(maximumDifference(composed, sumOfLayers) < 1e-4)
  }

  @Test func orderOfLayersDoesNotMatter() throws {
    let inOrder = try samples([swellingPattern, tonePattern, tapPattern])
    #expect(
      maximumDifference(try samples([tapPattern, swellingPattern, tonePattern]), inOrder) < 1e-6)
  }

  @Test func oneLayerIsThePattern() throws {
    let plan = try RenderPlan(compiling: swellingPattern)
    #expect(try samples([swellingPattern]) == rendered(plan))
    #expect(try samples([swellingPattern, HapticPattern()]) == rendered(plan))
  }

  @Test func compositionWithoutLayersIsSilence() throws {
    let plan = try RenderPlan(compiling: HapticComposition(layers: []))
    #expect(plan.frameCount == 0)
    #expect(rendered(plan).isEmpty)
  }

  @Test func loopReturnsAtTheEndOfTheLongestLayer() throws {
    let plan = try RenderPlan(
      compiling: HapticComposition(layers: [.init(tapPattern), .init(tonePattern)]))
    #expect(plan.loopFrameCount == 72_000)
    let pass = 48_000
    let settings = RenderSettings(passCount: 3, outputFrameCount: 3 * 48_000)
    let looped = try samples([swellingPattern, tapPattern], settings: settings)
    let singlePass = try samples(
      [swellingPattern, tapPattern], settings: RenderSettings(outputFrameCount: 48_000))
    for start in [pass, 2 * pass] {
      // The release of the previous pass and its remainder in the high-pass filter fade.
      let passSamples = looped[(start + 200)..<(start + pass)]
      #expect(maximumDifference(passSamples, singlePass[200...]) < 0.003)
    }
    // Each pass begins with the curve of its layer, at 0.05².
    #expect(peak(looped[(pass + 200)..<(pass + 4_000)]) < 0.01)
  }

  @Test func stepsOfLayersNeverClick() throws {
    func stepped(_ seconds: Double, sharpness: Float) -> HapticPattern {
      HapticPattern(
        events: [humEvent(0, 1, intensity: 0.6, sharpness: sharpness)],
        parameters: (0..<20).map {
          controlStep(.hapticIntensityControl, Float($0 % 2), at: Double($0) * seconds)
        })
    }
    let samples = try samples([
      stepped(0.05, sharpness: 1), stepped(0.035, sharpness: 0.3), stepped(0.041, sharpness: 0),
    ])
    // Three times the maximum slope of a sine whose level falls quadratically within 1 ms.
    let sine = 0.44 * 0.36 * 2 * Float.pi * 230 / 48_000
    let ramp: Float = 0.44 * 0.36 * 2 / 48
    #expect(maximumStep(samples) < 3 * (sine * sine + ramp * ramp).squareRoot())
  }

  @Test func burstsOfOneLayerSoftenTheContinuousEventsOfAll() throws {
    var profile = TransducerProfile.phone
    profile.transientDuckingGain = 0.5
    let humPattern = HapticPattern(events: [humEvent(0, 1, intensity: 0.5)])
    let burstPattern = HapticPattern(events: [tapEvent(0.5, intensity: 0.5)])
    let composed = try samples([humPattern, burstPattern], profile: profile)
    var merged = humPattern
    merged.events += burstPattern.events
    #expect(maximumDifference(composed, try samples([merged], profile: profile)) < 1e-6)
  }

  @Test func tooManyLayersAreRefused() {
    let layers = Array(
      repeating: HapticComposition.Layer(HapticPattern()), count: RenderPlan.maximumLayerCount + 1)
    let error = #expect(throws: RenderError.self) {
      try RenderPlan(compiling: HapticComposition(layers: layers))
    }
    #expect(error?.kind == .tooManyLayers)
  }

  @Test func refusalNamesTheLayer() {
    let file = HapticEvent(kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "a"))
    let error = #expect(throws: RenderError.self) {
      try RenderPlan(
        compiling: HapticComposition(layers: [
          .init(tapPattern), .init(HapticPattern(events: [tapEvent(), file])),
        ]))
    }
    #expect(error?.eventReference == EventReference(layerIndex: 1, eventIndex: 1))
    #expect(error?.description.hasPrefix("layer 2, event 2: ") == true)
    let timeError = #expect(throws: RenderError.self) {
      try RenderPlan(
        compiling: HapticComposition(layers: [
          .init(tapPattern), .init(HapticPattern(events: [tapEvent(1e6)])),
        ]))
    }
    #expect(timeError?.eventReference == EventReference(layerIndex: 1, eventIndex: 0))
  }
}
