import Foundation
import TestSupport

/// Runs system programs with a text as their standard input.
enum Script {
  /// Returns the output of both streams, with the exit status in a last line if the program fails.
  static func run(_ name: String, _ arguments: String..., input: String) throws -> String {
    try run(name, arguments, input: input)
  }

  /// Returns the line that bash splits into words: at "=" and ":" as well as at spaces.
  static func typed(_ words: [String]) -> String {
    var line = ""
    for (index, word) in words.enumerated() {
      let isJoined = index > 0 && ([word, words[index - 1]].contains { [":", "="].contains($0) })
      line += (index == 0 || isJoined ? "" : " ") + word
    }
    return line
  }

  static func run(_ name: String, _ arguments: [String], input: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(input, to: "input")
    // No signals are blocked, because shells wait for signals.
    let process = try ProcessRunner.start(
      ["/usr/bin/env", name] + arguments,
      environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
      streams: [
        (0, .file(folder("input"), flags: O_RDONLY)),
        (1, .file(folder("output"), flags: O_WRONLY | O_CREAT)),
        (2, .descriptor(1)),
      ], leading: .session)
    let status = ProcessRunner.waitForEnd(of: process)
    let output = try Data(contentsOf: URL(filePath: folder("output")))
    return String(decoding: output, as: UTF8.self) + (status == 0 ? "" : "exit \(status)\n")
  }
}
