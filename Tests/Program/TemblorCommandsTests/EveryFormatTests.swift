import HapticFormats
import HapticPlayback
import PatternWorkflows
import SystemSupport
import TestSupport
import Testing
import VendorFormats

@testable import CommandLineKit
@testable import CommandServer
@testable import TemblorCommands

/// Every verb that accepts patterns accepts those of every format, with any file name.
@Suite struct EveryFormatTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a file without an extension and returns its path, or nil if the format is read-only or
  /// is not recognized by its content.
  private func file(_ id: String) throws -> String? {
    let format = try #require(FormatRegistry.standard.format(id: id))
    guard let writtenFiles = try format.write(FormatMatrix.exampleComposition(.continuous)) else {
      return nil
    }
    let bytes = writtenFiles.files[0].bytes
    guard format.recognize(bytes.span) == .certain else {
      try AtomicFileWriter.write(bytes, to: folder("plain"))
      let run = TemblorProgram.run(
        "convert", "--input-format", id, folder("plain"), "-o", folder("p.ahap"))
      #expect(run.status == .success, "\(run.error)")
      return nil
    }
    let path = folder(id)
    try AtomicFileWriter.write(bytes, to: path)
    return path
  }

  @Test(arguments: FormatRegistry.standard.formats.map(\.id)) func isAcceptedByContent(id: String)
    throws
  {
    guard let path = try file(id) else { return }
    let commands: [[String]] = [
      ["render", path, "-o", folder("a.wav"), "-q"], ["info", path], ["check", "--no-notes", path],
      ["plot", path, "--panels", "score", "--width", "60"], ["compare", path, path],
      ["gallery", path, "-o", folder("a.html")], ["convert", path, "-o", folder("a.ahap")],
      ["convert", path, "--format", id, "-o", folder("again")],
      ["compare", path, path, "-o", folder("report.html")],
    ]
    for command in commands {
      let run = TemblorProgram.run(command)
      #expect(run.status == .success, "\(command.joined(separator: " ")): \(run.error)")
    }
    try isPlayed(id, []) {
      try PlayCommand.run(
        PlayCommand.definition().parseArguments([path]), $0.recordedTerminal.terminal, on: $0)
    }
    let quit = [(0.5, ScriptedEnvironment.ScriptStep.key(.character("q")))]
    try isPlayed(id, quit) {
      try WatchCommand.run(
        WatchCommand.definition().parseArguments([path]), $0.recordedTerminal.terminal, on: $0)
    }
    try isPlayed(id, quit) {
      try AuditionCommand.run(
        AuditionCommand.definition().parseArguments([path, path]), $0.recordedTerminal.terminal,
        on: $0)
    }
    try isPlayed(id, [(0.01, .key(.character("a")))] + quit) {
      try ABXCommand.run(
        ABXCommand.definition().parseArguments([path, path, "--match", "none"]),
        $0.recordedTerminal.terminal,
        on: $0,
        seed: { 3 },
        now: { CalendarTime(secondsSince1970: 1_769_860_800) })
    }
  }

  /// Runs a verb on a device in memory, and expects the pattern to be audible.
  private func isPlayed(
    _ id: String, _ script: [(Double, ScriptedEnvironment.ScriptStep)],
    _ verb: (ScriptedEnvironment) throws -> CommandLineKit.ExitStatus
  ) throws {
    let environment = ScriptedEnvironment(script)
    #expect(try verb(environment) == .success, "\(id): \(environment.recordedTerminal.error)")
    #expect(environment.samples().contains { abs($0) > 0.05 }, "\(id) is silent")
  }

  @Test(arguments: FormatRegistry.standard.formats.map(\.id)) func isServedByContent(id: String)
    throws
  {
    guard let path = try file(id) else { return }
    let engine = PlaybackEngine(rate: 48_000)
    let playback = VirtualPlayback(engine, periodSize: 64)
    let session = CommandSession(engine, device: "virtual", message: ErrorReporting.messageText(_:))
    let request = try #require(CommandGrammar.parseRequest("play \(path)"))
    let reply = session.reply(to: request, clientID: 0).line
    #expect(reply.hasPrefix("ok "), "\(reply)")
    playback.advance(seconds: 0.5)
    #expect(playback.samples().contains { abs($0) > 0.05 }, "\(id) is silent")
  }

  /// XML files with other content are neither patterns nor errors.
  @Test func folderIncludesOnlyVibrationsAmongXMLFiles() throws {
    try folder.makeFolder("folder")
    let format = try #require(FormatRegistry.standard.format(id: "android-xml"))
    let writtenFiles = try #require(try format.write(FormatMatrix.exampleComposition(.continuous)))
    try folder.write(writtenFiles.files[0].bytes, to: "folder/buzz.xml")
    try folder.write("<project><vibration-effect/></project>", to: "folder/pom.xml")
    try folder.write("not even XML <", to: "folder/broken.xml")
    try folder.link("folder/gone.xml", to: folder("nowhere.xml"))
    try folder.write("{", to: "folder/broken.ahap")
    let (inputs, problems) = PatternInput.find([folder("folder")])
    #expect(inputs.map(\.outputStem) == ["broken", "buzz"])
    #expect(problems.isEmpty)
    try folder.makeFolder("foreign")
    try folder.write("<project/>", to: "foreign/pom.xml")
    #expect(
      PatternInput.find([folder("foreign")]).problems.map(\.reason) == ["contains no pattern files"]
    )
  }

  /// Sampled signals are drawn by their sound.
  @Test func sampledSignalsAreDrawn() throws {
    try folder.write(
      """
      {"version": "2023", "profile": "Main", "level": 1, "date": "2026-11-21", "description": "",
      "timescale": 1000, "avatars": [], "perceptions": [{"id": 0, "avatar_id": 0, "description": "",
      "perception_modality": "Vibrotactile", "effect_library": [], "channels": [{"id": 0,
      "description": "", "gain": 1, "mixing_coefficient": 1, "bands": [{"band_t\
      ype": "VectorialWave",
      "lower_frequency_limit": 0, "upper_frequency_limit": 1000, "effects": [{"effect_t\
      ype": "Basis",
      "position": 0, "base_signal": "Square", "phase": 0, "keyframes": [
      {"relative_position": 0, "amplitude_modulation": 0.1, "frequency_modulation": 100},
      {"relative_position": 1000, "amplitude_modulation": 0.6, "frequency_modulat\
      ion": 100}]}]}]}]}]}
      """, to: "square")
    let run = TemblorProgram.run("plot", folder("square"), "--panels", "score", "--width", "60")
    #expect(run.status == .success)
    #expect(!run.output.contains("no haptic events"), "\(run.output)")
  }

  @Test func differentFormatsAreCompared() throws {
    let ids = FormatRegistry.standard.formats.map(\.id)
    let paths = try ids.compactMap(file)
    let first = try #require(paths.first)
    for path in paths.dropFirst() {
      let run = TemblorProgram.run("compare", first, path)
      #expect(
        run.status == .success || run.status == .exceedsTolerance, "\(path): \(run.error)")
    }
  }
}
