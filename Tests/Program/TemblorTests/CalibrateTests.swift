import Glibc
import SoundFile
import TestSupport
import Testing

/// The sweep, a simulated transducer, and the measurement of its response.
@Suite struct CalibrateTests {
  let folder = WorkingFolder()
  private let signal = ["--profile", "dayton-tt25-8", "--high", "800", "--sweep-duration", "1"]

  /// Reads a sound file of the working folder.
  private func sound(_ name: String) throws -> Sound { try Sound(reading: folder, name) }

  /// Writes channels of floating-point samples as a sound file.
  private func write(_ channels: [[Float]], rate: Int, to name: String) throws {
    let descriptor = unsafe open(
      folder.path + "/" + name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let frames = channels[0].indices.flatMap { frame in channels.map { $0[frame] } }
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: name,
      format: SoundFileFormat(container: .wav, sampleFormat: .float),
      rate: rate,
      channelCount: channels.count, frameCount: Int64(channels[0].count))
    try writer.write(frames.span)
    try writer.close()
  }

  /// Writes the sweep, and the response of a transducer with a resonance of 44 Hz and a Q factor of
  /// 4, which starts `latency` frames later.
  ///
  /// The first channel of `stereo.wav` is the signal itself, 10 frames late.
  private func record(latency: Int) throws {
    let written = try folder.temblor(["sweep", "--rate", "8000", "-o", "sweep.wav"] + signal)
    #expect(written.status == 0)
    try writeTake(of: "sweep.wav", latency: latency)
    let played = try sound("sweep.wav").interleaved
    let response = try sound("take.wav").interleaved
    let direct = [Float](repeating: 0, count: 10) + played
    let padding = [Float](repeating: 0, count: response.count - direct.count)
    try write([direct + padding, response], rate: 8_000, to: "stereo.wav")
  }

  /// Writes the response of the transducer to a file as `take.wav`.
  private func writeTake(of name: String, latency: Int) throws {
    let played = try sound(name).interleaved
    var generator = SplitMixGenerator(state: 1)
    let delayed = [Double](repeating: 0, count: latency) + played.map(Double.init)
    let response = SimulatedTransducer(resonance: 44, qualityFactor: 4, rate: 8_000).response(
      to: delayed
    )
    .map {
      Float(0.5 * $0 + 0.001 * generator.normalValue())
    }
    try write([response], rate: 8_000, to: "take.wav")
  }

  /// Returns the number after a key in a JSON text.
  private func number(_ key: String, in text: String) -> Double? {
    guard let start = text.firstRange(of: "\"\(key)\": ")?.upperBound else { return nil }
    return Double(text[start...].prefix { !",\n }".contains($0) })
  }

  /// The resonance is 44 Hz, and the mechanical Q factor is 8. With the coil of 6 Ω and a resistor
  /// of 0.47 Ω, the Q factor is 2.
  @Test func resistorReplacesASensor() throws {
    try record(latency: 80)
    let played = try sound("sweep.wav").interleaved.map(Double.init)
    let velocity = SimulatedTransducer(resonance: 44, qualityFactor: 2, rate: 8_000).response(
      to: played, as: .velocity)
    var generator = SplitMixGenerator(state: 5)
    let current = zip(played, velocity).map {
      Float(($0 - 0.75 * $1) * 0.47 / 6.47 + 1e-5 * generator.normalValue())
    }
    try write([current, played.map(Float.init)], rate: 8_000, to: "stereo.wav")
    let arguments =
      [
        "calibrate", "stereo.wav", "--impedance", "0.47", "--sensor-channel", "1",
        "--reference-channel", "2",
      ]
      + signal
    let run = try folder.temblor(arguments + ["--json", "-o", "mine.json"])
    #expect(run.status == 0)
    #expect(abs((number("resonance", in: run.output) ?? 0) / 44 - 1) < 0.003)
    #expect(abs((number("mechanicalQualityFactor", in: run.output) ?? 0) / 8 - 1) < 0.02)
    #expect(abs((number("qualityFactor", in: run.output) ?? 0) / 1.889 - 1) < 0.01)
    #expect(abs((number("coilResistance", in: run.output) ?? 0) / 6 - 1) < 0.01)
    let written = try folder.temblor(["profiles", "check", "mine.json"])
    #expect(written.status == 0)
    #expect(try folder.temblor(arguments + ["--plot", "a.svg"]).status == 64)
    // Swapped channels and the recording of a sensor are refused.
    let swappedArguments =
      [
        "calibrate", "stereo.wav", "--impedance", "0.47", "--sensor-channel", "2",
        "--reference-channel", "1",
      ]
      + signal
    #expect(try folder.temblor(swappedArguments).status == 2)
    #expect(
      try folder.temblor(["calibrate", "take.wav", "--impedance", "0.47"] + signal).status == 2)
  }

  @Test func sweepDescribesTheNextSteps() throws {
    let run = try folder.temblor(["sweep", "--rate", "8000", "-o", "sweep.wav"] + signal)
    #expect(
      run
        == .init(
          0,
          output: """
            sweep.wav: 12 s, 10 to 800 Hz at -12 dBFS for dayton-tt25-8
            Attach an accelerometer to the mounted transducer, or hold a microphone against it.
            Record the complete signal without interruption, with automatic gain control off and \
            without clipping:
              arecord -f S16_LE -r 48000 -d 17 take.wav
            While recording, play the signal:
              aplay sweep.wav
            Then measure the recording:
              temblor calibrate take.wav --profile dayton-tt25-8 --high 800 --sweep-duration 1 -o \
            mine.json

            """))
    #expect(try sound("sweep.wav").frameCount == 96_000)
    let firstBytes = folder.bytes("sweep.wav")
    _ = try folder.temblor(["sweep", "--rate", "8000", "-o", "sweep.wav"] + signal)
    #expect(folder.bytes("sweep.wav") == firstBytes)
  }

  @Test func measurementBecomesAProfile() throws {
    try record(latency: 96)
    let run = try folder.temblor(
      ["calibrate", "take.wav", "-o", "mine.json", "--plot", "fit.svg"] + signal)
    #expect(run.status == 0)
    #expect(run.error == "")
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "              dayton-tt25-8     measured")
    #expect(
      lines.contains { $0.hasPrefix("resonance     40 Hz (estimate)  4") && $0.contains(" Hz ± ") })
    #expect(lines.contains("latency       unknown           unknown"))
    #expect(lines.last == "mine.json: written")
    let picture = try #require(folder.text("fit.svg"))
    #expect(picture.hasPrefix("<svg ") && picture.contains("residual −"))
    let profile = try #require(folder.text("mine.json"))
    #expect(profile.contains("\"name\": \"mine\""))
    #expect(abs((number("resonance", in: profile) ?? 0) - 44) < 0.1)
    #expect(abs((number("qualityFactor", in: profile) ?? 0) - 4) < 0.1)
    #expect(!profile.contains("estimated"))
    let checked = try folder.temblor("profiles", "check", "mine.json")
    #expect(checked.status == 0)
  }

  /// The check of a transducer with a resonance of 44 Hz and a Q factor of 4 takes 5 s.
  @Test func quickCheckReportsTheChangeOfTheValues() throws {
    func profile(_ name: String, resonance: Double) throws {
      try folder.write(
        Array(
          """
          {
            "name": "\(name)", "summary": "A chair.", "frequency": { "low": 20, "high": 80 },
            "hardware": {
              "product": "Chair", "resonance": \(resonance), "qualityFactor": 4,
              "uncertainty": { "resonance": 0.03, "qualityFactor": 1.1 }
            }
          }
          """.utf8), to: "\(name).json")
    }
    try profile("near", resonance: 43)
    try profile("far", resonance: 41)
    let arguments = ["--quick", "--profile", "near.json", "--rate", "8000", "-o", "sweep.wav"]
    let written = try folder.temblor(["sweep"] + arguments)
    #expect(written.status == 0)
    #expect(written.output.hasPrefix("sweep.wav: 5 s, 10.75 to 172 Hz at -12 dBFS for near\n"))
    #expect(written.output.hasSuffix("  temblor calibrate --quick take.wav --profile near.json\n"))
    try writeTake(of: "sweep.wav", latency: 40)
    let nearRun = try folder.temblor(["calibrate", "--quick", "take.wav", "--profile", "near.json"])
    #expect(nearRun.status == 0)
    let lines = nearRun.output.split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
    #expect(lines[0] == "           near   measured         change  profile value")
    #expect(lines[1].hasPrefix("resonance  43 Hz  4") && lines[1].hasSuffix(" %  +2.3 %  ±3 %"))
    #expect(
      lines[2].hasPrefix("quality    4      ") && lines[2].hasSuffix("within a factor of 1.1"))
    #expect(lines[4] == "Both values are within the uncertainty of the profile.")
    // The sweeps depend on the profile, so another resonance requires another recording.
    _ = try folder.temblor([
      "sweep", "--quick", "--profile", "far.json", "--rate", "8000", "-o", "sweep.wav",
    ])
    try writeTake(of: "sweep.wav", latency: 40)
    let farRun = try folder.temblor(["calibrate", "--quick", "take.wav", "--profile", "far.json"])
    #expect(farRun.status == 3)
    #expect(
      farRun.output.contains(
        """
        \n\nThe resonance is outside the uncertainty of the profile; calibrate again without \
        '--quick'.\n
        """)
    )
    let json = try folder.temblor([
      "calibrate", "--quick", "--json", "take.wav", "--profile", "far.json",
    ])
    #expect(json.status == 3)
    #expect(json.output.contains("\"resonance\": { \"stated\": 41.0, \"measured\": 4"))
    #expect(json.output.contains("\"within\": false"))
    #expect(
      try folder.temblor([
        "calibrate", "--quick", "take.wav", "--profile", "far.json", "-o", "a.json",
      ]).error.hasPrefix(
        "temblor: '--output' cannot be used with '--quick'\n"))
    #expect(
      try folder.temblor(["sweep", "--quick", "--profile", "phone", "-o", "a.wav"]).error.hasPrefix(
        "temblor: phone has no resonance and no Q factor to check; calibrate it first\n"))
  }

  /// Sound servers and networks can have a latency of seconds.
  @Test func aLatencyOfThreeSecondsIsMeasured() throws {
    try record(latency: 24_010)
    let run = try folder.temblor(
      ["calibrate", "stereo.wav", "--sensor-channel", "2", "--reference-channel", "1", "--json"]
        + signal)
    #expect(run.error == "")
    #expect(abs((number("latency", in: run.output) ?? 0) - 3) < 1e-4)
  }

  @Test func referenceChannelDeterminesTheLatency() throws {
    try record(latency: 97)
    let run = try folder.temblor(
      ["calibrate", "stereo.wav", "--sensor-channel", "2", "--reference-channel", "1", "--json"]
        + signal)
    #expect(run.status == 0)
    // The sensor is 87 frames later than the reference.
    #expect(abs((number("latency", in: run.output) ?? 0) * 8_000 - 87) < 0.2)
    #expect(abs((number("gain", in: run.output) ?? 0) - 0.5) < 0.01)
    let swapped = try folder.temblor(
      ["calibrate", "stereo.wav", "--sensor-channel", "1", "--reference-channel", "2"] + signal)
    #expect(
      swapped == .init(2, error: "temblor: stereo.wav: shows no resonance between 10 and 800 Hz\n"))
  }

  @Test func unusableRecordingIsRefusedWithTheReason() throws {
    try record(latency: 20)
    let sound = try sound("take.wav").interleaved
    try write([Array(sound.prefix(20_000))], rate: 8_000, to: "short.wav")
    #expect(
      try folder.temblor(["calibrate", "short.wav", "-o", "mine.json"] + signal)
        == .init(2, error: "temblor: short.wav: lasts 2.5 s, but the two sweeps last 3.5 s\n"))
    #expect(
      try folder.temblor(["calibrate", "take.wav", "--sensor-channel", "2"] + signal)
        == .init(2, error: "temblor: take.wav: has 1 channel, but channel 2 is selected\n"))
    #expect(
      try folder.temblor(["calibrate", "gone.wav"] + signal)
        == .init(1, error: "temblor: gone.wav: cannot be opened: No such file or directory\n"))
    #expect(folder.text("mine.json") == nil)
  }

  @Test func invalidArgumentsAreUsageErrors() throws {
    func refusal(_ arguments: String...) throws -> String {
      let run = try folder.temblor(arguments)
      #expect(run.status == 64)
      return String(run.error.prefix { $0 != "\n" })
    }
    #expect(
      try refusal("sweep", "-o", "a.wav")
        == "temblor: missing '--profile'; run 'temblor profiles' to list profiles")
    #expect(
      try refusal("sweep", "--profile", "phone")
        == "temblor: specify either '--output' or '--device'")
    #expect(
      try refusal("sweep", "--profile", "dayton-bst-1", "--level", "-3", "-o", "a.wav")
        == "temblor: a sweep at -3 dBFS is 1 dB too strong for dayton-bst-1; use '--level -4.1'")
    #expect(
      try refusal("calibrate", "--profile", "phone")
        == "temblor: specify either RECORDING or '--capture'")
    #expect(
      try refusal(
        "calibrate", "a.wav", "--profile", "phone", "--sensor-channel", "2", "--reference-channel",
        "2")
        == "temblor: '--reference-channel' and '--sensor-channel' must differ")
    #expect(
      try refusal("calibrate", "a.wav", "--profile", "phone", "--plot", "fit.gif")
        == "temblor: unknown file extension of 'fit.gif'; use .png, .svg, or .pdf")
    #expect(folder.fileNames() == [])
  }

  @Test func sweepIsRecordedWhileItPlays() throws {
    let sweepOptions = ["--profile", "dayton-tt25-8", "--high", "800", "--sweep-duration", "0.5"]
    let options = sweepOptions.joined(separator: " ")
    _ = try folder.temblor(["sweep", "--rate", "8000", "-o", "sweep.wav"] + sweepOptions)
    let played = try sound("sweep.wav").interleaved.map(Double.init)
    let delayed = [Double](repeating: 0, count: 64) + played
    let response = SimulatedTransducer(resonance: 44, qualityFactor: 4, rate: 8_000).response(
      to: delayed)
    let frames = delayed.indices.flatMap {
      [Float(response[$0]), Float($0 < 64 ? 0 : delayed[$0])]
    }
    let bytes = frames.flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
    }
    try folder.write(bytes, to: "in.raw")
    // The device delivers the content of a file, frame by frame.
    try folder.write(
      """
      </usr/share/alsa/alsa.conf>
      pcm.sensor {
        type file
        slave.pcm null
        file /dev/null
        infile "\(folder.path)/in.raw"
        format raw
      }
      """, to: "asound.conf")
    let run = try folder.bash(
      """
      ALSA_CONFIG_PATH=$PWD/asound.conf $TEMBLOR calibrate --device wav:a.wav --rate 8000 \
        --capture sensor --sample-format float --sensor-channel 1 --reference-channel 2 --json \
        \(options)
      """)
    #expect(run.error == "")
    #expect(run.status == 0)
    #expect(abs((number("resonance", in: run.output) ?? 0) - 44) < 0.1)
    #expect(abs((number("latency", in: run.output) ?? 1) * 8_000) < 0.2)
  }

  @Test func missingInputNamesTheRemedy() throws {
    #expect(
      try folder.temblor(["calibrate", "--device", "null", "--capture", "none"] + signal)
        == .init(1, error: "temblor: none: no such device; run 'temblor devices' to list devices\n")
    )
  }
}
