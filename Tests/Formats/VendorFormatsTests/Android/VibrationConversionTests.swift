import Reading
import Foundation
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

@Suite struct VibrationConversionTests {
  private typealias V = VibrationFixtures
  private let xml = HapticFormat.androidXML
  private let arrays = HapticFormat.androidArrays

  private func read(_ text: String) throws -> HapticComposition { try V.readResult(text).get() }

  /// Writes a composition and reads it back.
  private func roundTrip(
    _ composition: HapticComposition, _ dialect: String? = nil, format: HapticFormat? = nil
  )
    throws -> (reread: HapticComposition, losses: [String], text: String)
  {
    let format = format ?? xml
    let writing = try #require(
      try format.write(composition, options: WritingOptions(dialect: dialect)))
    let reread = format.examine(
      SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions())
    #expect(reread.findings.map(\.description) == [])
    return (
      try reread.get(), writing.losses.map { "\($0.kind): \($0.message)" },
      String(decoding: writing.files[0].bytes, as: UTF8.self)
    )
  }

  @Test func basicEnvelopeHasIntensityAndSharpness() throws {
    let composition = try read(V.file(V.basic("0.4 0.5 50,1 0.25 30,0 1 20")))
    let pattern = composition.layers[0].pattern
    #expect(
      pattern.events == [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 0.1,
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
      ])
    #expect(
      pattern.curves.map { $0.controlPoints.map(\.time) } == [
        [0, 0.05, 0.08, 0.1], [0, 0.05, 0.08, 0.1],
      ])
    #expect(pattern.curves[0].controlPoints.map(\.value) == [0, 0.4, 1, 0])
    #expect(pattern.curves[1].controlPoints.map(\.value) == [0.5, 0.5, 0.25, 1])
  }

  @Test func basicEnvelopesArePreserved() throws {
    var generator = SplitMixGenerator(state: 5)
    func randomFraction() -> Float { Float(generator.next() % 100_001) / 100_000 }
    for count in 1...40 {
      var points = (0..<count).map { _ in
        "\(randomFraction()) \(randomFraction()) \(1 + generator.next() % 900)"
      }
      points.append("0 \(randomFraction()) \(1 + generator.next() % 900)")
      let attributes = generator.next() % 2 == 0 ? "" : " initialSharpness=\"\(randomFraction())\""
      let composition = try read(
        V.file(V.basic(points.joined(separator: ","), attributes: attributes)))
      let (reread, losses, _) = try roundTrip(composition)
      #expect(reread == composition && losses == [])
    }
  }

  @Test func repeatingEffectIsALoop() throws {
    let text = V.file(
      "<repeating-effect><preamble>\(V.basic("1 0.5 10,0 0.5 20"))</preamble><repeating>"
        + "\(V.basic("0.5 1 15,0 0 25"))</repeating></repeating-effect>")
    let composition = try read(text)
    #expect(composition.loop == .init(startSeconds: 0.03, endSeconds: 0.07))
    let (reread, losses, written) = try roundTrip(composition)
    #expect(reread == composition && losses == [])
    #expect(written.contains("<preamble>"))
    let steps = try read(
      V.file(
        "<waveform-effect>\(V.entries("25 255"))<repeating>\(V.entries("50 90,50 0"))</repeating>"
          + "</waveform-effect>"))
    #expect(steps.loop == .init(startSeconds: 0.025, endSeconds: 0.125))
    let rereadSteps = try roundTrip(steps, "waveform")
    #expect(rereadSteps.reread == steps && rereadSteps.losses == [])
  }

  @Test func stepsAreLevelsWithJumps() throws {
    let text = V.file(
      "<waveform-effect>\(V.entries("20 0,30 255,10 64,40 0,15 128"))</waveform-effect>")
    let composition = try read(text)
    let events = composition.layers.flatMap(\.pattern.events)
    #expect(Set(events.map(\.time)) == [0.02, 0.1] && events.count == 2)
    let curve = try #require(composition.layers.flatMap(\.pattern.curves).first)
    #expect(curve.controlPoints.map(\.time) == [0, 0.03, 0.03, 0.04])
    let amplitudeRoot = Float((64.0 / 255).squareRoot())
    #expect(curve.controlPoints.map(\.value) == [1, 1, amplitudeRoot, amplitudeRoot])
    for format in [xml, arrays] {
      let (reread, losses, _) = try roundTrip(
        composition, format.id == "android-xml" ? "waveform" : nil, format: format)
      #expect(reread == composition && losses == [], "\(format.id)")
    }
    let json = try roundTrip(composition, format: arrays).text
    #expect(
      json == """
        {
          "timings": [20, 30, 10, 40, 15],
          "amplitudes": [0, 255, 64, 0, 128]
        }

        """)
  }

  @Test func everyAmplitudeIsPreserved() throws {
    let entries = (0...255).map { "3 \($0)" }.joined(separator: ",")
    let composition = try read(V.file("<waveform-effect>\(V.entries(entries))</waveform-effect>"))
    let (_, losses, text) = try roundTrip(composition, format: arrays)
    #expect(losses == [])
    #expect(
      text.contains("\"amplitudes\": [\((0...255).map(String.init).joined(separator: ", "))]"))
  }

  @Test func silenceAtTheEndIsReported() throws {
    let examination = V.readResult(
      V.file("<waveform-effect>\(V.entries("20 9,50 0,5 0"))</waveform-effect>"))
    #expect(examination.losses.map(\.lossMagnitude) == [55])
  }

  @Test func hertzAreKept() throws {
    let text = V.file(V.envelope("1 230 100,0.25 80 100", attributes: " initialFrequencyHz=\"80\""))
    let composition = try read(text)
    let pattern = composition.layers[0].pattern
    #expect(pattern.curves[0].interpolation == .squared)
    #expect(pattern.curves[0].controlPoints.map(\.value) == [0, 1, 0.25])
    let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
    for (time, hertz) in [(0.0, 80.0), (0.05, 155), (0.1, 230), (0.15, 155), (0.2, 80)] {
      // Sharpness 0 is 80 Hz and sharpness 1 is 230 Hz, on a logarithmic scale.
      #expect(abs(80 * pow(230.0 / 80, sharpness.value(at: time)) - hertz) < 0.6, "\(time)")
    }
    let (_, losses, written) = try roundTrip(composition, "waveform-envelope")
    #expect(losses == [])
    #expect(
      written == """
        <vibration-effect>
          <waveform-envelope-effect initialFrequencyHz="80.0">
            <control-point amplitude="1.0" frequencyHz="230.0" durationMs="100" />
            <control-point amplitude="0.25" frequencyHz="80.0" durationMs="100" />
            <control-point amplitude="0.0" frequencyHz="80.0" durationMs="1" />
          </waveform-envelope-effect>
        </vibration-effect>

        """)
    let examination = V.readResult(V.file(V.envelope("1 300 100,0 60 10")))
    #expect(examination.losses.isEmpty)
    let statedHertz = try #require(examination.composition?.statedHertzRange)
    #expect(abs(statedHertz.lowerBound - 60) < 1e-3 && abs(statedHertz.upperBound - 300) < 1e-3)
  }

  @Test func primitivesFollowEachOther() throws {
    let examination = V.readResult(
      V.file(
        "<primitive-effect name=\"click\" delayMs=\"5\"/>"
          + "<primitive-effect name=\"tick\" scale=\"0.5\" delayMs=\"80\"/>"
            + """
            <primitive-effect name=\"low_tick\" delayMs=\"30\" \
            delayType=\"relative_start_offset\"/>
            """
      ))
    let composition = try examination.get()
    let events = composition.layers[0].pattern.events
    // A click lasts 12 ms by convention.
    #expect(events.map(\.time) == [0.005, 0.097, 0.127])
    #expect(events.map { $0.parameters[.hapticIntensity] } == [1, 0.3, 0.4])
    #expect(examination.losses.count == 3)
    let (reread, losses, text) = try roundTrip(composition, "primitives")
    #expect(reread == composition && losses.count == 3)
    #expect(text.contains("<primitive-effect name=\"tick\" scale=\"0.5\" delayMs=\"80\" />"))
    for name in ["slow_rise", "quick_rise", "quick_fall", "spin", "thud"] {
      let examination = V.readResult(V.file("<primitive-effect name=\"\(name)\"/>"))
      #expect(
        examination.losses.allSatisfy {
          $0.message == "\(name) is an effect of the device; it is approximated"
        })
      #expect(try examination.get().durationSeconds > 0.07 && !examination.losses.isEmpty)
    }
    #expect(
      try read(V.file("<predefined-effect name=\"double_click\"/>")).layers[0].pattern.events.map(
        \.time) == [0, 0.1])
  }

  @Test func ahapBecomesABasicEnvelope() throws {
    let pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticTransient, time: 0.1,
        parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.75]),
      HapticEvent(
        kind: .hapticContinuous, time: 0.2, duration: 0.3,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.25]),
    ])
    let (_, losses, text) = try roundTrip(HapticComposition(pattern))
    #expect(
      text == """
        <vibration-effect>
          <basic-envelope-effect>
            <control-point intensity="0.0" sharpness="0.75" durationMs="100" />
            <control-point intensity="0.5" sharpness="0.75" durationMs="1" />
            <control-point intensity="0.0" sharpness="0.75" durationMs="12" />
            <control-point intensity="0.0" sharpness="0.75" durationMs="87" />
            <control-point intensity="0.8" sharpness="0.25" durationMs="1" />
            <control-point intensity="0.8" sharpness="0.25" durationMs="299" />
            <control-point intensity="0.0" sharpness="0.25" durationMs="1" />
          </basic-envelope-effect>
        </vibration-effect>

        """)
    #expect(
      losses == [
        """
        approximated: transients (1 in total) are written as pulses with a rise time of 1 ms and a \
        fall time of 12 ms
        """,
        "approximated: jumps are written as ramps of 1 ms",
      ])
    let emptyResult = try roundTrip(HapticComposition(HapticPattern()))
    #expect(emptyResult.reread.layers[0].pattern.curves[0].controlPoints.map(\.value) == [0, 0])
    let primitivesResult = try roundTrip(HapticComposition(pattern), "primitives")
    #expect(primitivesResult.reread.layers.flatMap(\.pattern.events).count == 1)
    #expect(
      primitivesResult.losses.contains("dropped: only transients can be written as primitives"))
  }

  @Test(
    "Levels before and after a ramp of less than a millisecond stay constant",
    arguments: ["basic-envelope", "waveform-envelope"], [0, 0.1001])
  func shortRampsChangeNothingElse(dialect: String, start: Double) throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: start, duration: 0.3,
          parameters: [.hapticIntensity: 0.4])
      ],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: start,
          controlPoints: [.init(time: 0, value: 0), .init(time: 0.0003, value: 1)])
      ])
    let (reread, losses, _) = try roundTrip(HapticComposition(pattern), dialect)
    let layer = reread.layers[0]
    func intensity(at time: Double) -> Double {
      ControlTimeline(of: .hapticIntensityControl, in: layer.pattern).value(at: time)
        * Double(layer.pattern.events[0].value(of: .hapticIntensity))
    }
    if start > 0 {
      #expect(intensity(at: 0.09) == 0)
    }
    for time in [0.002, 0.1, 0.25] {
      #expect(abs(intensity(at: start + time) - 0.4) < 0.01)
    }
    #expect(losses.contains("approximated: jumps are written as ramps of 1 ms"))
  }

  @Test("The loss of straight lines is listed")
  func linesAreListed() throws {
    let pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 0.5,
        parameters: [.hapticIntensity: 0.8, .attackTime: 0.3])
    ])
    let (_, losses, _) = try roundTrip(HapticComposition(pattern))
    #expect(losses.contains { $0.contains("approximated by straight lines") })
  }

  @Test func eventsTogetherAreMerged() throws {
    let pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 0.2,
        parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0]),
      HapticEvent(
        kind: .hapticContinuous, time: 0.1, duration: 0.2,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 1]),
    ])
    let (reread, losses, _) = try roundTrip(HapticComposition(pattern))
    let control = ControlTimeline(of: .hapticIntensityControl, in: reread.layers[0].pattern)
    // Amplitudes add up: 0.36 + 0.64.
    #expect(abs(control.value(at: 0.05) - 0.6) < 1e-6)
    #expect(abs(control.value(at: 0.15) - 1) < 1e-6)
    #expect(abs(control.value(at: 0.25) - 0.8) < 1e-6)
    #expect(losses.count { $0.contains("merged into one envelope") } == 2 && losses.count == 3)
  }

  @Test func rampsAreSampledAsHapticsStudioDoes() throws {
    var pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 3.5, parameters: [.hapticIntensity: 1])
    ])
    pattern.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 3.5, value: 1)],
        interpolation: .squared)
    ]
    let writing = try #require(
      try arrays.write(
        HapticComposition(pattern), options: WritingOptions(dialect: "studio", signalSampleRate: 1))
    )
    #expect(
      String(decoding: writing.files[0].bytes, as: UTF8.self) == """
        {
          "timings": [1000, 1000, 1000, 500],
          "amplitudes": [1, 72, 145, 218]
        }

        """)
    // A tap of amplitude 0.5 halves the continuous level of 0.4, which adds up to 0.7.
    var patternWithTap = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 0.1,
        parameters: [.hapticIntensity: Float(0.4.squareRoot())]),
      HapticEvent(
        kind: .hapticTransient, time: 0.04,
        parameters: [.hapticIntensity: Float(0.5.squareRoot()), .hapticSharpness: 1]),
    ])
    patternWithTap.events[0].parameters[.hapticSharpness] = nil
    let writingWithTap = try #require(
      try arrays.write(
        HapticComposition(patternWithTap), options: WritingOptions(dialect: "studio")))
    let text = String(decoding: writingWithTap.files[0].bytes, as: UTF8.self)
    #expect(text.contains("\"amplitudes\": [102, 102, 102, 102, 178, 178, 102, 102, 102, 102]"))
  }

  @Test func arraysHaveRules() {
    func errors(_ text: String) -> [String] {
      arrays.examine(SourceFile(Array(text.utf8), name: "a"), options: ReadingOptions()).findings
        .map(\.description)
    }
    #expect(
      errors("{\"timings\": [5, 5], \"amplitudes\": [1]}") == [
        "a:1:35: error: 2 timings do not match 1 amplitudes (amplitudes)"
      ])
    #expect(
      errors("{\"timings\": [5.5], \"amplitudes\": [-2]}") == [
        "a:1:14: error: 5.5 is not a whole number of at least 0 (timings[0])",
        "a:1:35: error: -2 is not a whole number from -1 to 255 (amplitudes[0])",
      ])
    #expect(
      errors("{\"timings\": [2147483648], \"amplitudes\": [256]}") == [
        "a:1:14: error: 2147483648 is larger than 2147483647 (timings[0])",
        "a:1:42: error: 256 is not a whole number from -1 to 255 (amplitudes[0])",
      ])
    #expect(
      errors("{\"timings\": [0], \"amplitudes\": [1]}") == [
        "a:1:13: error: the timings are all 0 (timings)"
      ])
    #expect(
      errors("{\"timings\": [3], \"repeat\": 1}") == [
        "a:1:28: error: repeat must be the index of one of 1 timings, or -1 (repeat)"
      ])
    #expect(errors("{\"timings\": [10, 20, 10, 30]}") == [])
    #expect(errors("[]").map { $0.contains("must be an object") } == [true])
  }
}
