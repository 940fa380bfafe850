import Foundation

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
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(input.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = try FileHandle(forReadingFrom: file)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let failure = process.terminationStatus == 0 ? "" : "exit \(process.terminationStatus)\n"
    return String(decoding: data, as: UTF8.self) + failure
  }
}
