import HapticFormats
import HapticModel
import Reading
import SystemSupport
import TestSupport
import Testing
import VendorFormats

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor trace`.
@Suite struct TraceVerbTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(
      """
      {"Version": 1.0, "Pattern": [
        {"Event": {"Time": 0.1, "EventType": "HapticTransient", "EventParameters": [
          {"ParameterID": "HapticIntensity", "ParameterValue": 0.9},
          {"ParameterID": "HapticSharpness", "ParameterValue": 0.8}]}},
        {"Event": {"Time": 0.3, "EventType": "HapticContinuous", "EventDuration":\
       0.4, "EventParameters": [
          {"ParameterID": "HapticIntensity", "ParameterValue": 0.4},
          {"ParameterID": "HapticSharpness", "ParameterValue": 0.3}]}}]}
      """, to: "two.ahap")
    _ = testFolder.runTemblor("render", testFolder("two.ahap"), "-q", "-o", testFolder("two.wav"))
  }

  private func events(_ name: String) throws -> [HapticEvent] {
    let file = SourceFile(try FileSystem.read(testFolder(name)), name: name)
    return try FormatRegistry.standard.read(file).layers.flatMap(\.pattern.events).sorted {
      $0.time < $1.time
    }
  }

  @Test func aRenderingBecomesItsPattern() throws {
    let run = testFolder.runTemblor("trace", testFolder("two.wav"), "-o", testFolder("back.ahap"))
    #expect(run.status == .success && run.output == "")
    #expect(
      run.error.hasPrefix(
        """
        two.wav → back.ahap: vibration: 1 transient, 1 continuous event, 0 control points; level \
        correlation 
        """
      ))
    let events = try events("back.ahap")
    #expect(events.map(\.kind) == [.hapticTransient, .hapticContinuous])
    #expect(zip(events, [0.1, 0.3]).allSatisfy { abs($0.time - $1) < 0.003 })
    #expect(zip(events, [0.9, 0.4]).allSatisfy { abs($0.value(of: .hapticIntensity) - $1) < 0.01 })
    #expect(testFolder.runTemblor("check", testFolder("back.ahap")).error == "")
  }

  /// Renders two channels that differ: the second is half a second later.
  private func renderStereo() {
    _ = testFolder.runTemblor(
      "render", testFolder("two.ahap"), "--channels", "2", "--channel", "2=haptics,delay=500ms",
      "-q",
      "-o", testFolder("stereo.wav"))
  }

  @Test("Channels that differ become body locations in a format that supports them")
  func channelsAsBodyLocations() throws {
    renderStereo()
    let run = testFolder.runTemblor(
      "trace", testFolder("stereo.wav"), "-o", testFolder("stereo.hjif"))
    #expect(run.status == .success)
    #expect(
      run.error.contains(
        "stereo.wav → stereo.hjif: 2 different channels, one body location each; "), "\(run)")
    let file = SourceFile(try FileSystem.read(testFolder("stereo.hjif")), name: "stereo.hjif")
    let composition = try FormatRegistry.standard.read(file)
    #expect(composition.bodyLocationCount == 2)
    for (number, onset) in [(1, 0.1), (2, 0.6)] {
      let layers = composition.layers.filter { $0.bodyLocation?.number == number }
      let times = layers.flatMap(\.pattern.events).map(\.time)
      #expect(abs((times.min() ?? 0) - onset) < 0.003, "\(number): \(times)")
    }
  }

  @Test("In other formats, the mean of channels that differ is a loss, unless one is chosen")
  func channelsAsMean() throws {
    renderStereo()
    let loss =
      "stereo.wav: approximated: the pattern follows the mean of 2 different channels; to select "
      + "channels, use '--input-channels'"
    let mean = testFolder.runTemblor(
      "trace", testFolder("stereo.wav"), "-o", testFolder("mean.ahap"))
    #expect(mean.error.hasPrefix(loss), "\(mean)")
    let json = testFolder.runTemblor(
      "trace", testFolder("stereo.wav"), "--json", "-o", testFolder("mean.ahap"))
    #expect(json.output.contains("the mean of 2 different channels"))
    let selected = testFolder.runTemblor(
      "trace", testFolder("stereo.wav"), "--input-channels", "2", "-o", testFolder("one.ahap"))
    #expect(!selected.error.contains("channels"), "\(selected)")
  }

  @Test func partsLimitsAndFormatsCanBeChosen() throws {
    #expect(
      testFolder.runTemblor(
        "trace", testFolder("two.wav"), "-q", "--taps-only", "-o", testFolder("taps.ahap")
      ).error
        == "")
    #expect(try events("taps.ahap").map(\.kind) == [.hapticTransient])
    let limited = testFolder.runTemblor(
      "trace", testFolder("two.wav"), "--events", "1", "-o", testFolder("one.ahap"))
    #expect(limited.error.contains("; omitted 1 weaker event; "))
    #expect(
      testFolder.runTemblor(
        "trace", testFolder("two.wav"), "-q", "--format", "haptic", "-o", testFolder.path
      ).status
        == .success)
    #expect(try FileSystem.visibleNames(in: testFolder.path).contains("two.haptic"))
    #expect(
      testFolder.runTemblor(
        "trace", testFolder("two.wav"), "-q", "--start", "0.25", "-o", testFolder("part.ahap")
      )
      .status
        == .success)
    let firstEvent = try #require(try events("part.ahap").first)
    #expect(firstEvent.kind == .hapticContinuous && abs(firstEvent.time - 0.05) < 0.003)
  }

  @Test func soundIsCopiedNextToItsPattern() throws {
    try testFolder.makeFolder("out")
    #expect(
      testFolder.runTemblor(
        "trace", testFolder("two.wav"), "-q", "--with-sound", "-o", testFolder("out") + "/"
      )
      .status
        == .success
    )
    #expect(try FileSystem.visibleNames(in: testFolder("out")).sorted() == ["two.ahap", "two.wav"])
    #expect(
      try events("out/two.ahap").contains {
        $0.kind == .audioCustom && $0.waveform?.path == "two.wav"
      })
    #expect(testFolder.runTemblor("check", testFolder("out/two.ahap")).status == .success)
  }

  @Test func jsonOfAFolderIsOneObject() throws {
    try testFolder.makeFolder("sounds")
    _ = testFolder.runTemblor("render", "light", "-q", "-o", testFolder("sounds/a.wav"))
    _ = testFolder.runTemblor("render", "heavy", "-q", "-o", testFolder("sounds/b.wav"))
    // A sound is recognized by its content, with any file name.
    try testFolder.write(FileSystem.read(testFolder("sounds/b.wav")), to: "sounds/c.opus")
    try testFolder.write("no sound", to: "sounds/notes.txt")
    let run = testFolder.runTemblor(
      "trace", testFolder("sounds"), "--json", "-q", "-o", testFolder("sounds"))
    #expect(run.status == .success && run.error == "")
    #expect(
      run.output.contains(#""input": "sounds/a.wav""#)
        && run.output.contains(#""input": "sounds/b.wav""#))
    #expect(run.output.contains(#""input": "sounds/c.opus""#) && !run.output.contains("notes"))
    #expect(
      run.output.contains(#""kind": "vibration""#) && run.output.contains(#""transients": 1"#))
  }

  @Test func thePlotShowsSoundAndPattern() {
    let run = testFolder.runTemblor(
      "trace", testFolder("two.wav"), "-q", "--draw", "-o", testFolder("back.ahap"))
    #expect(
      run.output.contains("two.wav\n0.72 s\n")
        && run.output.contains("1 transient · 1 continuous event"))
  }

  @Test(arguments: [
    (["--start", "3"], "two.wav: '--start' is after the end (0.721 s)\n", 2),
    (["--input-channels", "2"], "two.wav: has 1 channel, but '--input-channels' is 2\n", 1),
    (
      ["--taps-only", "--hums-only"],
      """
      temblor: '--taps-only' and '--hums-only' cannot be used together\nSee 'temblor trace \
      --help'.\n
      """,
      64
    ),
    (
      ["--as", "vibration", "--style", "music"],
      """
      temblor: '--style' applies only to sounds other than vibration
      See 'temblor trace --help'.

      """,
      64
    ),
    (
      ["--draw", "--json"],
      "temblor: '--draw' and '--json' cannot be used together\nSee 'temblor trace --help'.\n", 64
    ),
    (
      ["--with-sound", "--start", "0.1"],
      """
      temblor: '--with-sound' and '--start' cannot be used together\nSee 'temblor trace --help'.\n
      """, 64
    ),
    (
      ["--format", "hmpg"],
      "temblor: invalid value 'hmpg' for '--format'", 64
    ),
  ])
  func invalidOptionsAreReported(_ options: [String], _ message: String, _ status: Int) {
    let run = testFolder.runTemblor(
      ["trace", testFolder("two.wav"), "-o", testFolder("no.ahap")] + options)
    #expect(Int(run.status.rawValue) == status)
    #expect(run.error.hasPrefix(message), "\(run.error)")
    #expect(FileSystem.entryKind(at: testFolder("no.ahap")) == .missing)
  }

  @Test func otherFilesAreRefused() {
    #expect(
      testFolder.runTemblor("trace", testFolder("two.ahap"), "-o", testFolder("no.ahap")).status
        == .invalidInput)
    let missing = testFolder.runTemblor("trace", testFolder("none.wav"))
    #expect(missing.status == .failure && missing.error == "none.wav: file or folder not found\n")
    let input = testFolder.runTemblor("trace", testFolder("two.wav"), "-o", testFolder("two.wav"))
    #expect(input.status == .usageError)
  }
}
