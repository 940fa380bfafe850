@testable import CommandLineKit
import HapticFormats
import HapticPlayback
import PatternWorkflows
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// Every verb that takes patterns takes those of every format, whatever their names are.
@Suite struct EveryFormatTests {
  private let place: Scratch

  init() throws { place = try Scratch() }

  /// A file without an ending in a format, or nil where the format is only read, or has no mark by
  /// which its content is recognised.
  private func file(_ id: String) throws -> String? {
    let format = try #require(FormatRegistry.standard.format(id: id))
    guard let writing = try format.write(FormatMatrix.example(.continuous)) else { return nil }
    let bytes = writing.files[0].bytes
    guard format.recognize(bytes.span) == .certain else {
      try AtomicFileWriter.write(bytes, to: place("plain"))
      let (status, error) = run(["convert", "--from", id, place("plain"), "-o", place("p.ahap")])
      #expect(status == .done, "\(error)")
      return nil
    }
    let path = place(id)
    try AtomicFileWriter.write(bytes, to: path)
    return path
  }

  private func run(_ words: [String]) -> (status: CommandLineKit.ExitStatus, error: String) {
    let recorded = RecordedTerminal()
    let status = TemblorProgram.program().run(words, on: recorded.terminal)
    return (status, recorded.error)
  }

  @Test(arguments: FormatRegistry.standard.formats.map(\.id))
  func isTakenByContent(id: String) throws {
    guard let path = try file(id) else { return }
    let commands: [[String]] = [
      ["render", path, "-o", place("a.wav"), "-q"], ["info", path], ["check", "--no-notes", path],
      ["plot", path, "--show", "score", "--width", "60"], ["compare", path, path],
      ["gallery", path, "-o", place("a.html")], ["convert", path, "-o", place("a.ahap")],
      ["convert", path, "--to", id, "-o", place("again")],
    ]
    for command in commands {
      let (status, error) = run(command)
      #expect(status == .done, "\(command.joined(separator: " ")): \(error)")
    }
    let stage = VirtualStage()
    let status = try PlayVerb.run(
      PlayVerb.description().parse([path]), stage.recorded.terminal, on: stage,
      formats: .standard)
    #expect(status == .done, "\(stage.recorded.error)")
    #expect(stage.samples().contains { abs($0) > 0.05 }, "\(id) is silent")
  }

  @Test func differentFormatsAreCompared() throws {
    let ids = FormatRegistry.standard.formats.map(\.id)
    let paths = try ids.compactMap(file)
    let first = try #require(paths.first)
    for path in paths.dropFirst() {
      let (status, error) = run(["compare", first, path])
      #expect(status == .done || status == .differs, "\(path): \(error)")
    }
  }
}
