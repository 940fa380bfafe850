import Testing

/// Patterns with damaged sound files.
@Suite struct DamagedSoundTests {
  let folder = WorkingFolder()

  /// Writes a WAV file with four 32-bit floating-point samples and the given length in its header,
  /// and a pattern that plays the file.
  private func write(_ sample: [UInt8], announcing length: UInt8, rate: UInt8 = 0x1F) throws {
    var wave = Array("RIFF".utf8) + [52, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0]
    wave += [3, 0, 1, 0, rate == 0 ? 0 : 0x40, rate, 0, 0, 0, 0x7D, 0, 0, 4, 0, 32, 0]
    wave += Array("data".utf8) + [length, 0, 0, 0] + sample + sample + sample + sample
    try folder.write(wave, to: "s.wav")
    try folder.write(Patterns.patternWithSound("s.wav"), to: "a.ahap")
  }

  private static let warningPrefix = "a.ahap:2:74: warning:"
  private static let path = "(Pattern[0].Event.EventWaveformPath)"

  @Test func aSoundWithoutFiniteSamplesIsNamed() throws {
    try write([0, 0, 0xC0, 0x7F], announcing: 16)
    let text =
      "\(Self.warningPrefix) the sound file 's.wav' has no finite samples; it plays as silence"
    #expect(
      try folder.temblor("check", "--no-notes", "--disable", "silent", "a.ahap")
        == .init(0, output: "\(text) \(Self.path) [sound-damaged]\n"))
    let render = try folder.temblor("render", "a.ahap", "-o", "out.wav")
    #expect(
      render
        == .init(
          0,
          error: """
            \(text) \(Self.path)
            out.wav: silent: all events have level 0 or silent or damaged sound files
            out.wav: written, 0.002 s, silent

            """))
    let json = try folder.temblor("render", "--json", "a.ahap", "-o", "out.wav").output
    #expect(json.contains(#""rule": "sound-damaged","#), "\(json)")
  }

  @Test func truncatedSoundPlaysWithAWarning() throws {
    try write([0, 0, 0, 0x3F], announcing: 200)
    let text =
      """
      \(Self.warningPrefix) the sound file 's.wav' has only 16 of the 200 bytes of samples that its header \
      specifies; only this part plays
      """
    #expect(
      try folder.temblor("check", "a.ahap")
        == .init(0, output: "\(text) \(Self.path) [sound-damaged]\n"))
    #expect(
      try folder.temblor("render", "a.ahap", "-o", "out.wav")
        == .init(
          0, error: "\(text) \(Self.path)\nout.wav: written, 0.002 s, peak -23.2 dBFS\n"))
    let info = try folder.temblor("info", "s.wav")
    #expect(info.status == 2)
    #expect(info.output.contains("  length     0.001 s, 4 frames at 8000 Hz\n"), "\(info.output)")
    #expect(
      info.error == "s.wav: has only 16 of the 200 bytes of samples that its header specifies\n")
  }

  @Test func aSoundWithoutARateIsRefused() throws {
    try write([0, 0, 0, 0x3F], announcing: 16, rate: 0)
    #expect(
      try folder.temblor("check", "a.ahap")
        == .init(
          2,
          output:
            """
            a.ahap:2:74: error: the sound file 's.wav' has an invalid header: its sample rate \
            or its number of channels is 0 \(Self.path) [sound-missing]\n
            """
        ))
    #expect(
      try folder.temblor("info", "s.wav")
        == .init(
          2, error: "s.wav: has an invalid header: its sample rate or its number of channels is 0\n"
        ))
  }
}
