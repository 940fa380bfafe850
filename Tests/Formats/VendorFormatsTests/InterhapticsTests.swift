import HapticFormats
import HapticModel
import Reading
import Testing
import VendorFormats

/// Haptic materials of Interhaptics, and vibrations of Hapticlabs.
@Suite struct InterhapticsTests {
  private func text(_ notes: String, mute: Int = 0, gain: Double = 1, texture: String = "")
    -> String
  {
    """
    {"m_version": "5", "m_description": "demo", "m_gain": 1.0,
     "m_texture": {"m_gain": 1, "m_melodies": [{"m_notes": [\(texture)]}]},
     "m_vibration": {"m_gain": 1, "m_melodies": [{"m_mute": \(mute), "m_gain": \(gain), "m_notes": \
    [\(notes)]}]}}
    """
  }

  private func hum(at start: Double, length: String = "0.5", amplitude: String, frequency: String)
    -> String
  {
    """
    {"m_startingPoint": \(start), "m_length": \(length), "m_gain": 1, "m_hapticEffect": {
     "m_amplitudeModulation": {"m_keyframes": [\(amplitude)]}, "m_frequencyModulation": \
    {"m_keyframes": [\(frequency)]}}}
    """
  }

  private static let tap =
    #"{"m_startingPoint": 0.1, "m_length": 0.022, "m_gain": 0.64, "m_hapticEffect": {"m_type": 0}}"#
  private static let constantNotes = #"{"m_time": 0, "m_value": 0.25}"#
  private static let toneNotes = #"{"m_time": 0, "m_value": 80}, {"m_time": 9, "m_value": 80}"#

  private func readResult(_ text: String, _ name: String = "t") -> ReadResult {
    FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: name))
  }

  @Test func notesAreEvents() throws {
    let examination = readResult(
      text(Self.tap + "," + hum(at: 0.2, amplitude: Self.constantNotes, frequency: Self.toneNotes)))
    let composition = try examination.get()
    let tap = HapticEvent(
      kind: .hapticTransient, time: 0.1,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    let hum = HapticEvent(
      kind: .hapticContinuous, time: 0.2, duration: 0.5,
      parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0])
    #expect(composition.notes == "demo")
    // A transient has no frequency; a note states hertz.
    #expect(
      composition.layers == [
        HapticComposition.Layer(HapticPattern(events: [tap])),
        HapticComposition.Layer(HapticPattern(events: [hum]), sharpnessScale: .phone),
      ])
    #expect(examination.findings.isEmpty && examination.losses.isEmpty)
    #expect(
      examination.sourceMap.location(of: .event(EventReference(layerIndex: 1, eventIndex: 0))).path
        == "m_vibration.m_melodies[0].m_notes[1]")
  }

  /// Keyframes have times in seconds. The length of the note cuts them, and gains multiply the
  /// amplitude.
  @Test func lengthsCutKeysAndGainsMultiply() throws {
    let risingKeyframes = #"{"m_time": 0, "m_value": 0}, {"m_time": 1, "m_value": 1}"#
    let pattern = try readResult(
      text(hum(at: 1, amplitude: risingKeyframes, frequency: Self.toneNotes), gain: 0.5)
    )
    .get().layers[0]
    .pattern
    #expect(pattern.events[0].duration == 0.5 && pattern.curves.map(\.time) == [1, 1])
    #expect(pattern.curves[0].controlPoints.map(\.time) == [0, 0.5])
    #expect(pattern.curves[0].controlPoints.map(\.value) == [0, 0.25])
    let level = ControlTimeline(of: .hapticIntensityControl, in: pattern.linearized())
    #expect(abs(level.value(at: 1.25) - 0.125.squareRoot()) < 0.006)
  }

  @Test func slopesAreCubic() throws {
    let easedKeyframes =
      #"{"m_time": 0, "m_value": 0, "m_outSlope": 0}, {"m_time": 0.5, "m_value": 1, "m_inSlope": 0}"#
    let points = try readResult(
      text(hum(at: 0, amplitude: easedKeyframes, frequency: Self.toneNotes))
    ).get()
      .layers[
        0
      ].pattern.curves[0]
      .controlPoints
    #expect(points.count == 17 && points[4].time == 0.125 && points[4].value == 0.15625)
  }

  @Test func inaudiblePartsAreLosses() throws {
    let loudKeyframes = #"{"m_time": 0, "m_value": 1.5}"#
    let highKeyframes = #"{"m_time": 0, "m_value": 300}"#
    let examination = readResult(
      text(hum(at: 0, amplitude: loudKeyframes, frequency: highKeyframes), texture: Self.tap))
    #expect(
      examination.losses.map { "\($0.kind) \($0.message)" } == [
        "approximated amplitudes above 1 are clamped by up to 0.5 of full scale",
        "dropped texture is a spatial effect and does not play over time",
      ])
    let mutedResult = readResult(text(Self.tap, mute: 1))
    #expect(
      mutedResult.losses.map(\.message) == ["muted melodies are omitted"]
        && mutedResult.composition?.durationSeconds == 0)
  }

  @Test(arguments: [
    (
      #"{"m_vibration": {}}"#,
      "t:1:17: error: the vibration must have the key \"m_melodies\" (m_vibration)"
    ),
    (
      #"{"m_vibration": {"m_melodies": [{"m_notes": [{"m_startingPoint": -1, "m_hapticEffect": {}}]}]}}"#,
      """
      t:1:66: error: m_startingPoint is -1, outside 0 to 86400 \
      (m_vibration.m_melodies[0].m_notes[0].m_startingPoint)
      """
    ),
    (
      #"{"m_version": 4, "m_vibration": {"m_melodies": []}}"#,
      "t:1:15: warning: the version is 4; the file is read as version 5 (m_version)"
    ),
  ]) func errorsHaveLocations(text: String, finding: String) {
    #expect(readResult(text).findings.first?.description == finding)
  }

  @Test func writtenFilesAreReadBack() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticTransient, time: 0.1,
          parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.5]),
        HapticEvent(
          kind: .hapticContinuous, time: 0.2, duration: 1,
          parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.3]),
        HapticEvent(
          kind: .hapticContinuous, time: 0.7, duration: 1,
          parameters: [.hapticIntensity: 0.4, .hapticSharpness: 1]),
      ])
    let writing = try #require(try HapticFormat.haps.write(HapticComposition(pattern)))
    #expect(writing.losses.isEmpty)
    let reread = try readResult(String(decoding: writing.files[0].bytes, as: UTF8.self)).get()
    let events = reread.layers.flatMap(\.pattern.events)
    #expect(events.map(\.time) == [0.1, 0.2, 0.7])
    for (rereadEvent, event) in zip(events, pattern.events) {
      #expect(abs((rereadEvent.duration ?? 0) - (event.duration ?? 0)) < 1e-9)
      #expect(
        abs(rereadEvent.value(of: .hapticIntensity) - event.value(of: .hapticIntensity)) < 1e-6)
      #expect(
        abs(rereadEvent.value(of: .hapticSharpness) - event.value(of: .hapticSharpness)) < 1e-6)
    }
  }

  /// Readers accept times of up to a day.
  @Test(arguments: [HapticFormat.haps, .hapticClip, .hjif]) func eventsAfterADayAreNotWritten(
    format: HapticFormat
  )
    throws
  {
    let pattern = HapticPattern(
      events: [0x1p64, 0.1].map { HapticEvent(kind: .hapticTransient, time: $0) })
    let writing = try #require(try format.write(HapticComposition(pattern)))
    #expect(
      writing.losses[0].message == "the event ends more than a day after the start of the pattern")
    let reread = try readResult(String(decoding: writing.files[0].bytes, as: UTF8.self)).get()
    #expect(reread.layers.flatMap(\.pattern.events).map(\.time) == [0.1])
  }

  @Test func vibrationsOfHapticlabsAreLevels() throws {
    let text = """
      {"ProjectName": "P", "TrackName": "click", "Duration": 150, "Timings": [50, 50, 50], "Amplitu\
      des": [255, 0, 64],
       "Repeat": -1, "RequiredAudioFiles": ["a.wav"], "Audios": [{"Time": 0, "Filename": "a.wav"}]}
      """
    let examination = readResult(text, "main.hla")
    let composition = try examination.get()
    #expect(
      composition.title == "click" && abs(composition.durationSeconds - 0.15) < 1e-9
        && composition.loop == nil)
    #expect(composition.layers.flatMap(\.pattern.events).map(\.time) == [0, 0.1])
    #expect(
      examination.losses.map(\.message) == ["sounds that accompany the vibration are not played"])
    let writing = try #require(try HapticFormat.hla.write(composition))
    let file = String(decoding: writing.files[0].bytes, as: UTF8.self)
    #expect(
      file.contains("\"TrackName\": \"click\",\n  \"Duration\": 150,\n  \"Timings\": [50, 50, 50],")
    )
    #expect(file.contains("\"Amplitudes\": [255, 0, 64],\n  \"Repeat\": -1"))
    #expect(try readResult(file, "x").get() == composition)
  }

  @Test(arguments: [
    (
      "a.tact", #"{"project": {"tracks": []}}"#,
      "a.tact: error: a bHaptics pattern (.tact) is not a supported pattern format"
    ),
    (
      "a.ahap", #"{"project": {"tracks": []}}"#,
      "a.ahap: error: a bHaptics pattern (.tact) is not a supported pattern format"
    ),
    (
      "a.json", #"{"summary": "x", "frequency": {}}"#,
      """
      a.json: error: a transducer profile is not a supported pattern format; use it with '--profile'
      """
    ),
    (
      "a.json", #"{"frames": [1, 2]}"#,
      "a.json: error: objects with the key \"frames\" do not belong to a supported format; "
        + "run 'temblor formats' to list the formats"
    ),
    (
      "a.json", #"{"Version": 1.0}"#,
      "a.json:1:1: error: a pattern file must have the key \"Pattern\""
    ),
  ]) func unsupportedFilesAreNamed(name: String, text: String, message: String) {
    #expect(readResult(text, name).findings.first?.description == message)
  }
}
