import Foundation
import TestSupport

/// The result of a run of the program.
struct Drill {
  /// The program, in the folder of the built tests.
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("earthready-drill")

  let status: Int32
  let output: String
  let error: String

  init(_ arguments: [String], input: String, environment: [String: String] = [:], home: URL? = nil)
    throws
  {
    let folder =
      home
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      if home == nil {
        try? FileManager.default.removeItem(at: folder)
      }
    }
    // The streams are files, so that the program and the test never wait for each other.
    let streams = try TemporaryFolder()
    try streams.write(input, to: "input")
    let outputFlags = O_WRONLY | O_CREAT
    let variables = environment.merging(["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]) {
      explicit, _ in explicit
    }
    let process = try ProcessRunner.start(
      [Self.program.path] + arguments, environment: variables.map { "\($0)=\($1)" },
      streams: [
        (0, .file(streams("input"), flags: O_RDONLY)),
        (1, .file(streams("output"), flags: outputFlags)),
        (2, .file(streams("error"), flags: outputFlags)),
      ])
    status = ProcessRunner.waitForEnd(of: process)
    output = try String(contentsOfFile: streams("output"), encoding: .utf8)
    error = try String(contentsOfFile: streams("error"), encoding: .utf8)
  }

  /// The printed lines.
  var lines: [String] {
    output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).reversed().drop
    { $0.isEmpty }
    .reversed()
  }

  /// The rows of block characters, without their margin.
  var pictures: [String] {
    lines.filter { $0.hasPrefix("  ") && $0.dropFirst(2).allSatisfy { "▁▂▃▄▅▆▇█".contains($0) } }
      .map {
        String($0.dropFirst(2))
      }
  }
}
