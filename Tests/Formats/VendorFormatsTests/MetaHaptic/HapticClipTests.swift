import Reading
import HapticModel
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Haptic clips made here: rules, layers, and compositions of other kinds written as clips.
@Suite struct HapticClipTests {
  private func file(_ amplitude: String, _ frequency: String? = nil, version: String = "1")
    -> SourceFile
  {
    let frequencyEnvelope = frequency.map { ",\n \"frequency\": [\($0)]" } ?? ""
    return SourceFile(
      Array(
        """
        {"version": {"major": \(version)}, "signals": {"continuous": {"envelopes": {
         "amplitude": [\(amplitude)]\(frequencyEnvelope)}}}}
        """.utf8), name: "a.haptic")
  }

  private func findings(_ file: SourceFile) -> [String] {
    FormatRegistry.standard.examine(file).findings.map { "\($0) [\($0.rule)]" }
  }

  private static let amplitudePoints =
    #"{"time": 0, "amplitude": 0.25}, {"time": 1, "amplitude": 1}"#

  @Test func clipBecomesAnEventWithCurvesAndALayerOfTransients() throws {
    let file = file(
      #"{"time": 0, "amplitude": 0.25}, {"time": 0.5, "amplitude": 0.5, "emphasis": "#
        + #"{"amplitude": 0.81, "frequency": 0.3}}, {"time": 2, "amplitude": 1}"#,
      #"{"time": 0, "frequency": 0.25}, {"time": 2, "frequency": 1}"#)
    let composition = try FormatRegistry.standard.read(file)
    #expect(composition.layers.map(\.name) == ["continuous", "transients"])
    let continuousPattern = composition.layers[0].pattern
    #expect(continuousPattern.events.map(\.duration) == [2])
    let intensity = ControlTimeline(of: .hapticIntensityControl, in: continuousPattern)
    let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: continuousPattern)
    #expect(intensity.value(at: 0) == 0.5)
    // Amplitude 0.75 is half way from 0.5 to 1.
    #expect(abs(intensity.value(at: 1.25) - Double(0.75).squareRoot()) < 0.001)
    #expect(abs(sharpness.value(at: 1) - Double(0.625).squareRoot()) < 0.001)
    let transientPattern = composition.layers[1].pattern
    #expect(transientPattern.curves.isEmpty)
    #expect(transientPattern.events.map(\.time) == [0.5])
    #expect(
      transientPattern.events[0].parameters == [.hapticIntensity: 0.9, .hapticSharpness: 0.3])
  }

  @Test func missingFrequenciesAreMediumSharpness() throws {
    for text in [file(Self.amplitudePoints), file(Self.amplitudePoints, "")] {
      let pattern = try FormatRegistry.standard.read(text).layers[0].pattern
      #expect(pattern.events[0].parameters[.hapticSharpness] == Float(0.5).squareRoot())
    }
  }

  @Test func violationsHaveLocations() {
    #expect(
      findings(file(Self.amplitudePoints, version: "2")) == [
        """
        a.haptic:1:23: error: unsupported version 2; expected version 1 (version.major) \
        [haptic/version]
        """
      ])
    #expect(
      findings(file(#"{"time": 0, "amplitude": 1}"#)) == [
        "a.haptic:2:15: error: the amplitude envelope has one point; at least two are required "
          + "(signals.continuous.envelopes.amplitude) [haptic/too-few-points]"
      ])
    func rule(_ amplitude: String, _ frequency: String? = nil) -> [String] {
      FormatRegistry.standard.examine(file(amplitude, frequency)).findings.map {
        "\($0.rule.text)\($0.location.position)"
      }
    }
    #expect(
      rule(#"{"time": 0, "amplitude": 1}, {"time": 0, "amplitude": 1}"#) == [
        "haptic/no-length:2:15"
      ])
    #expect(
      rule(#"{"time": 0, "amplitude": 1.5}, {"time": 1, "amplitude": 1}"#) == [
        "haptic/out-of-range:2:41"
      ])
    #expect(
      rule(#"{"time": -1, "amplitude": 1}, {"time": 1, "amplitude": 1}"#).first
        == "haptic/out-of-range:2:25")
    #expect(
      rule(#"{"time": 2, "amplitude": 1}, {"time": 1, "amplitude": 1}"#) == [
        "haptic/time-order:2:54"
      ])
    #expect(
      rule(
        #"{"time": 0, "amplitude": 0.5, "emphasis": {"amplitude": 0.4, "frequency": 0}}, "#
          + #"{"time": 1, "amplitude": 1}"#) == ["haptic/emphasis-below-envelope:2:72"])
    #expect(
      rule(
        #"{"time": 0, "amplitude": 0.5, "emphasis": {"amplitude": 0.6, "frequency": 2}}, "#
          + #"{"time": 1, "amplitude": 1}"#) == ["haptic/emphasis-range:2:90"])
    #expect(
      rule(
        #"{"time": 0, "amplitude": 0, "emphasis": {"amplitude": 1, "frequency": 0}}, "#
          + #"{"time": 0, "amplitude": 0, "emphasis": {"amplitude": 1, "frequency": 0}}, "#
          + #"{"time": 1, "amplitude": 1}"#, #"{"time": 3, "frequency": 1}"#) == [
          "haptic/same-time-emphasis:2:131", "haptic/frequency-behind-end:3:25",
        ])
    #expect(
      rule(#"{"time": 1, "amplitude": 0.5}, {"time": 2, "amplitude": 1}"#) == [
        "haptic/starts-late:2:15"
      ])
    #expect(rule(#"{"time": 0, "amplitude": "1"}, {"time": 2}"#).first == "haptic/structure:2:41")
  }

  @Test func metadataAndVersionHaveTheTypesThatTheVendorReads() {
    func rules(_ head: String) -> [String] {
      let text =
        "{\(head), \"signals\": {\"continuous\": {\"envelopes\": {\"amplitude\": "
        + "[{\"time\": 0, \"amplitude\": 1}, {\"time\": 1, \"amplitude\": 1}]}}}}"
      let file = SourceFile(Array(text.utf8), name: "a.haptic")
      return FormatRegistry.standard.examine(file).findings.map(\.rule.text)
    }
    let version = "\"version\": {\"major\": 1, \"minor\": 0, \"patch\": 0}"
    #expect(rules(version + ", \"metadata\": {\"author\": \"a\", \"tags\": [\"b\"]}") == [])
    #expect(rules(version + ", \"metadata\": {\"author\": 1}") == ["haptic/metadata"])
    #expect(rules(version + ", \"metadata\": {\"tags\": \"b\"}") == ["haptic/metadata"])
    #expect(rules(version + ", \"metadata\": {\"tags\": [1]}") == ["haptic/metadata"])
    #expect(rules("\"version\": {\"major\": 1, \"minor\": -1}") == ["haptic/version"])
    #expect(rules("\"version\": {\"major\": 1, \"patch\": 0.5}") == ["haptic/version"])
  }

  @Test func newerMinorVersionsAndUnknownKeysAreRead() {
    let text = """
      {"version": {"major": 1, "minor": 9000, "patch": 0}, "extra": [1],
       "signals": {"impulses": {}, "continuous": {"envelopes": {"other": 1, "amplitude": [
        {"time": 0, "amplitude": 0, "x": 1}, {"time": 1, "amplitude": 0}]}}}}
      """
    #expect(FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: "a")).findings == [])
  }

  // MARK: Writing

  private func writtenClip(_ pattern: HapticPattern, tolerance: Double = 0.005) throws -> (
    clip: HapticClip, losses: [Loss]
  ) {
    var log = LossLog()
    let clip = HapticClip(
      approximating: HapticComposition(pattern),
      options: WritingOptions(curveToleranceFraction: tolerance),
      losses: &log)
    let file = SourceFile(
      HapticClipDecoder.fileSchema.text(HapticClipFile(clip: clip)), name: "out.haptic")
    #expect(FormatRegistry.standard.examine(file).findings.filter { $0.severity == .error } == [])
    return (clip, log.lossesWithOmittedCounts())
  }

  @Test func tapsWithoutContinuousEventsHaveASilentEnvelope() throws {
    let taps = [0, 0.5].map { time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.25])
    }
    let (clip, losses) = try writtenClip(HapticPattern(events: taps))
    let tap = HapticClip.Emphasis(amplitude: 0.25, normalizedFrequency: 0.25)
    #expect(
      clip.amplitudePoints == [
        .init(timeSeconds: 0, amplitude: 0, emphasis: tap),
        .init(timeSeconds: 0.5, amplitude: 0, emphasis: tap),
        .init(timeSeconds: 0.52, amplitude: 0),
      ])
    #expect(losses == [])
  }

  @Test func envelopeIsWithinTheTolerance() throws {
    var pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 1,
        parameters: [.hapticIntensity: 1, .attackTime: 0.5, .releaseTime: 0.4]),
      HapticEvent(
        kind: .hapticContinuous, time: 1.5, duration: 1,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 1]),
    ])
    pattern.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: 0, value: 0.2), .init(time: 2, value: 1)])
    ]
    for tolerance in [0.02, 0.005, 0.001] {
      let (clip, losses) = try writtenClip(pattern, tolerance: tolerance)
      let sampler = EnvelopeSampler(.amplitude, levelTolerance: 1e-5)
      let exactPoints = MergedEnvelope(
        sampler.envelopes(of: HapticComposition(pattern)), envelopeSampler: sampler
      ).mergedPoints
      let points = clip.amplitudePoints.map {
        EnvelopePoint(timeSeconds: $0.timeSeconds, level: Double($0.amplitude), sharpness: 0)
      }
      for step in 0..<2499 {
        let time = (Double(step) + 0.5) / 1000
        #expect(
          abs(level(points, time) - level(exactPoints, time)) <= tolerance + 1e-4,
          "\(tolerance) at \(time)")
      }
      #expect(losses.count == 1 && (losses[0].lossMagnitude ?? 1) <= tolerance)
    }
  }

  private func level(_ points: [EnvelopePoint], _ time: Double) -> Double {
    for (previous, next) in zip(points, points.dropFirst())
    where time >= previous.timeSeconds && time < next.timeSeconds {
      return EnvelopePoint.interpolated(from: previous, to: next, at: time).level
    }
    return 0
  }

  @Test func unsupportedEventsAreReported() throws {
    func hum(_ time: Double, _ intensity: Float) -> HapticEvent {
      HapticEvent(
        kind: .hapticContinuous, time: time, duration: 2, parameters: [.hapticIntensity: intensity])
    }
    let tap = HapticEvent(kind: .hapticTransient, time: 0.5, parameters: [.hapticIntensity: 0.1])
    let (clip, losses) = try writtenClip(
      HapticPattern(events: [
        hum(0, 0.5), hum(1, 0.5), tap, HapticEvent(kind: .audioContinuous, time: 0, duration: 1),
      ]))
    #expect(
      losses.map { "\($0.kind) \($0.compositionElement)" } == [
        "dropped event(HapticModel.EventReference(layerIndex: 0, eventIndex: 3))",
        "approximated event(HapticModel.EventReference(layerIndex: 0, eventIndex: 0))",
        "approximated event(HapticModel.EventReference(layerIndex: 0, eventIndex: 1))",
        "approximated event(HapticModel.EventReference(layerIndex: 0, eventIndex: 2))",
      ])
    #expect(abs((losses[3].lossMagnitude ?? 0) - 0.24) < 1e-6)
    #expect(clip.amplitudePoints.map(\.amplitude) == [0.25, 0.25, 0.25, 0.5, 0.5, 0.25, 0.25])
  }

  @Test func emptyCompositionIsAShortSilence() throws {
    let (clip, _) = try writtenClip(HapticPattern())
    #expect(clip.amplitudePoints.map(\.amplitude) == [0, 0])
  }
}
