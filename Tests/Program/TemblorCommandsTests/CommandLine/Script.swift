import Foundation
import TestSupport

/// Runs a program of the system on a text.
enum Script {
  /// What the program prints on both streams, and a last line where it fails.
  static func run(_ name: String, _ arguments: String..., input: String) throws -> String {
    try run(name, arguments, input: input)
  }

  /// The line of which bash makes some words: it splits at "=" and ":" as well as at spaces.
  static func typed(_ words: [String]) -> String {
    var line = ""
    for (index, word) in words.enumerated() {
      let isJoined = index > 0 && ([word, words[index - 1]].contains { [":", "="].contains($0) })
      line += (index == 0 || isJoined ? "" : " ") + word
    }
    return line
  }

  static func run(_ name: String, _ arguments: [String], input: String) throws -> String {
    let scratch = try TemporaryFolder()
    try scratch.write(input, to: "input")
    // With no signal blocked, which shells wait for.
    let process = try ProcessRunner.start(
      ["/usr/bin/env", name] + arguments,
      environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
      streams: [
        (0, .file(scratch("input"), flags: O_RDONLY)),
        (1, .file(scratch("output"), flags: O_WRONLY | O_CREAT)),
        (2, .descriptor(1)),
      ], leading: .session)
    let status = ProcessRunner.waitForEnd(of: process)
    let output = try Data(contentsOf: URL(filePath: scratch("output")))
    return String(decoding: output, as: UTF8.self) + (status == 0 ? "" : "exit \(status)\n")
  }
}
