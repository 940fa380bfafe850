import HapticFormats
import CRealtimeGuard
import HapticModel
import HapticRender
import ShippedFiles
import Testing

/// Rendering under the realtime sanitizer, which ends the program at an allocation, lock or system
/// call.
///
/// The sanitizer has to be linked in; CONTRIBUTING.md has the command.
@Suite(.enabled(if: crt_guard_is_present(), "the realtime sanitizer is not linked in"))
struct RealtimeTests {
  @Test(arguments: ShippedPatterns.names) func renderingIsRealtimeSafe(name: String) throws {
    let text = ShippedPatterns.text(named: name) ?? []
    try render(AHAPDocument(text: text, name: name).read().pattern)
  }

  @Test func everyKindOfEventIsRealtimeSafe() throws {
    var events: [HapticEvent] = []
    for kind in HapticEvent.Kind.allCases {
      for index in 0..<40 {
        events.append(
          HapticEvent(
            kind: kind, time: Double(index) * 0.01, duration: 0.3,
            parameters: [.audioPitch: 0.3, .audioBrightness: 0.5, .attackTime: 0.2],
            waveform: kind == .audioCustom ? AudioWaveform(path: "noise") : nil))
      }
    }
    let curves = DynamicParameterID.allCases.map { id in
      ParameterCurve(
        id: id, time: 0, controlPoints: [.init(time: 0, value: 1), .init(time: 0.5, value: 0.2)])
    }
    try render(HapticPattern(events: events, curves: curves))
  }

  @Test func transducerFiltersAndProtectionAreRealtimeSafe() throws {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 1,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0.4])
    let statistics = try render(
      HapticPattern(events: [event]), profile: .weakShaker,
      routing: OutputRouting(channelCount: 2).assigningTransducers(of: [.weakShaker]))
    #expect(statistics.excursionLimitedFrameCount > 0)
    #expect(statistics.powerLimitedFrameCount > 0)
    #expect(statistics.peakTemperatureRiseFraction < 1)
  }

  @Test func guardEndsTheProgramAtAnAllocation() async {
    await #expect(processExitsWith: .failure) {
      crt_guard_enter()
      var numbers: [Int] = []
      for index in 0..<1_000 {
        numbers.append(index)
      }
      crt_guard_exit()
      print(numbers.count)
    }
  }

  /// Renders two passes of a pattern in stereo, with every block inside the guard.
  @discardableResult private func render(
    _ pattern: HapticPattern, profile: TransducerProfile = .phone,
    routing: OutputRouting = OutputRouting(channelCount: 2)
  ) throws -> RenderStatistics {
    let noise = AudioBuffer(
      interleaved: (0..<9_600).map { Float($0 &* 7_919 % 101) / 101 - 0.5 }, channelCount: 2)
    let plan = try RenderPlan(compiling: pattern, profile: profile, samples: ["noise": noise])
    var renderer = Renderer(plan: plan, settings: RenderSettings(routing: routing, passCount: 2))
    var block = [Float](repeating: 0, count: 2 * 64)
    var span = block.mutableSpan
    for _ in 0..<Int(2 * plan.frameCount / 64 + 10) {
      crt_guard_enter()
      renderer.render(into: &span)
      crt_guard_exit()
    }
    #expect(renderer.statistics.nonFiniteSampleCount == 0)
    #expect(renderer.statistics.peakMagnitudeBeforeLimiter > 0)
    return renderer.statistics
  }
}

extension TransducerProfile {
  /// A shaker with so little power and excursion that all protection acts.
  static let weakShaker = TransducerProfile(
    name: "weak shaker", summary: "", frequency: FrequencyMapping(lowHertz: 60, highHertz: 120),
    hardware: TransducerHardware(
      product: "weak shaker", resonanceHertz: 80, qualityFactor: 5, continuousWatts: 1),
    amplifier: AmplifierParameters(fullScaleWatts: 4_000))
}
