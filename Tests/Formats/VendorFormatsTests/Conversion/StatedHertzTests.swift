import HapticFormats
import HapticModel
import Testing
import VendorFormats

/// Frequencies that files state in hertz.
@Suite struct StatedHertzTests {
  private func readResult(
    _ text: String, _ name: String, frequencyHandling: ReadingOptions.FrequencyHandling = .hertz
  ) -> ReadResult {
    var options = ReadingOptions()
    options.frequencyHandling = frequencyHandling
    return FormatRegistry.standard.examine(
      SourceFile(Array(text.utf8), name: name), options: options)
  }

  /// A text of each format with a vibration between two frequencies.
  private static func texts(_ first: Double, _ second: Double) -> [(name: String, text: String)] {
    let interhaptics = """
      {"m_version": "5", "m_vibration": {"m_melodies": [{"m_notes": [{"m_startingPoint": 0,
       "m_length": 1, "m_gain": 1, "m_hapticEffect": {
       "m_amplitudeModulation": {"m_keyframes": [{"m_time": 0, "m_value": 0.5}]},
       "m_frequencyModulation": {"m_keyframes": [{"m_time": 0, "m_value": \(first)},
       {"m_time": 1, "m_value": \(second)}]}}}]}]}}
      """
    let android = """
      <vibration-effect><waveform-envelope-effect initialFrequencyHz="\(first)">
      <control-point amplitude="0.5" frequencyHz="\(second)" durationMs="1000"/>
      </waveform-envelope-effect></vibration-effect>
      """
    let mpeg = MPEGFixtures.text(
      MPEGFixtures.wave, effects: MPEGFixtures.effect([(0, 0.3, first), (1_000, 0.3, second)]))
    return [("t.haps", interhaptics), ("t.xml", android), ("t.hjif", mpeg)]
  }

  private func range(_ composition: HapticComposition) throws -> ClosedRange<Double> {
    try #require(composition.statedHertzRange)
  }

  @Test("Frequencies are read as they are", arguments: [(30.0, 75.0), (60, 60), (40, 400)])
  func reading(first: Double, second: Double) throws {
    for (name, text) in Self.texts(first, second) {
      let result = readResult(text, name)
      let statedHertz = try range(try result.get())
      #expect(abs(statedHertz.lowerBound / first - 1) < 1e-4, "\(name): \(statedHertz)")
      #expect(abs(statedHertz.upperBound / second - 1) < 1e-4, "\(name): \(statedHertz)")
      #expect(result.losses.isEmpty, "\(name): \(result.losses)")
    }
  }

  @Test("Formats with frequencies keep them", arguments: [(30.0, 75.0), (60, 60), (100, 400)])
  func conversion(first: Double, second: Double) throws {
    for (name, text) in Self.texts(first, second) {
      let composition = try readResult(text, name).get()
      for (format, dialect) in [
        (HapticFormat.haps, nil), (.androidXML, "waveform-envelope"), (.hjif, nil),
      ] {
        let options = WritingOptions(dialect: dialect)
        let written = try #require(try format.write(composition, options: options))
        let bytes = written.files[0].bytes
        let statedHertz = try range(
          try format.examine(SourceFile(bytes, name: "x.\(format.fileExtensions[0])")).get())
        #expect(abs(statedHertz.lowerBound - first) < 0.51, "\(name) \(format.id): \(statedHertz)")
        #expect(abs(statedHertz.upperBound - second) < 0.51, "\(name) \(format.id): \(statedHertz)")
      }
    }
  }

  @Test("Formats with sharpness have the nearest, and the loss is named")
  func lossOfFrequency() throws {
    for (name, text) in Self.texts(60, 60) {
      let composition = try readResult(text, name).get()
      for format in [HapticFormat.ahap, .hapticClip, .androidXML] {
        let written = try #require(try format.write(composition))
        let messages = written.losses.map(\.message)
        #expect(
          messages.contains(
            "frequencies outside 80 to 230 Hz are clamped to the nearest sharpness, by up to 20 Hz"),
          "\(name) \(format.id): \(messages)")
      }
    }
    for (name, text) in Self.texts(100, 100) {
      let written = try HapticFormat.ahap.write(try readResult(text, name).get())
      let messages = written?.losses.map(\.message) ?? []
      #expect(!messages.contains { $0.contains("nearest sharpness") }, "\(name): \(messages)")
    }
  }

  @Test("With the pitch as sharpness, no layer states hertz")
  func pitchAsSharpness() throws {
    for (name, text) in Self.texts(30, 75) {
      let composition = try readResult(text, name, frequencyHandling: .sharpness).get()
      #expect(!composition.hasStatedHertz)
      let events = composition.layers.flatMap(\.pattern.events)
      #expect(events.map { $0.value(of: .hapticSharpness) } == [0], "\(name)")
    }
  }

  @Test("Sharpness survives formats with frequencies", arguments: [HapticFormat.haps, .hjif])
  func sharpnessRoundTrip(format: HapticFormat) throws {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 1,
      parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.4])
    let written = try #require(
      try format.write(HapticComposition(HapticPattern(events: [event]))))
    let file = SourceFile(written.files[0].bytes, name: "x.\(format.fileExtensions[0])")
    let reread = try format.examine(file).get().convertingStatedHertz(to: .phone)
    let sharpness = reread.layers[0].pattern.events[0].value(of: .hapticSharpness)
    // MPEG-I haptics has whole hertz.
    #expect(abs(sharpness - 0.4) < 0.006, "\(sharpness)")
  }

  @Test("A note without frequencies has sharpness")
  func noteWithoutFrequency() throws {
    let text = """
      {"m_version": "5", "m_vibration": {"m_melodies": [{"m_notes": [{"m_startingPoint": 0,
       "m_length": 1, "m_gain": 1, "m_hapticEffect": {
       "m_amplitudeModulation": {"m_keyframes": [{"m_time": 0, "m_value": 0.5}]}}}]}]}}
      """
    let composition = try readResult(text, "t.haps").get()
    #expect(!composition.hasStatedHertz)
    #expect(composition.layers[0].pattern.events[0].value(of: .hapticSharpness) == 0.5)
  }

  @Test("Frequencies beyond 1 to 20000 Hz are limited, with a loss")
  func limits() throws {
    let (name, text) = Self.texts(0, 50_000)[0]
    let result = readResult(text, name)
    #expect(
      result.losses.map(\.message) == [
        "frequencies outside 1 to 20000 Hz are clamped by up to 30000 Hz"
      ])
    let statedHertz = try range(try result.get())
    #expect(
      abs(statedHertz.lowerBound - 1) < 1e-3 && abs(statedHertz.upperBound / 20_000 - 1) < 1e-4)
  }

  @Test("A loop of stated frequencies is unrolled without limiting them")
  func loop() throws {
    var composition = try readResult(Self.texts(30, 75)[0].text, "t.haps").get()
    composition.loop = HapticComposition.LoopPoints(startSeconds: 0, endSeconds: 0.5)
    let written = try #require(
      try HapticFormat.haps.write(composition, options: WritingOptions(loopPassCount: 2)))
    let file = SourceFile(written.files[0].bytes, name: "x.haps")
    let statedHertz = try range(try HapticFormat.haps.examine(file).get())
    #expect(abs(statedHertz.lowerBound - 30) < 0.1 && abs(statedHertz.upperBound - 52.5) < 0.5)
  }

  @Test("With samples, keyframes keep frequencies beyond their band")
  func rawFrequencies() throws {
    let text = MPEGFixtures.text(
      MPEGFixtures.wave, effects: MPEGFixtures.effect([(0, 0.5, 40), (500, 0.5, 200)])
    )
    .replacing("\"lower_frequency_limit\": 0", with: "\"lower_frequency_limit\": 65")
    .replacing("\"upper_frequency_limit\": 1000", with: "\"upper_frequency_limit\": 150")
    var options = ReadingOptions()
    options.signalSampleRate = 8_000
    let file = SourceFile(Array(text.utf8), name: "t.hjif")
    let samples = try HapticFormat.hjif.examine(file, options: options).get().layers[0].signals[0]
      .samples
    // The phase is the integral of 40 to 200 Hz: 60 cycles in half a second.
    let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(crossings - 60) <= 1, "\(crossings)")
  }
}
