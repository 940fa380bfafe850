import Foundation

/// A run of the program with its input in a pipe.
struct Drill {
  /// The program, in the folder of the built tests.
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("earthready-drill")

  let status: Int32
  let output: String
  let error: String

  init(_ words: [String], input: String, environment: [String: String] = [:], home: URL? = nil)
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
    let source = Pipe()
    let output = Pipe()
    let error = Pipe()
    let process = Process()
    process.executableURL = Self.program
    process.arguments = words
    process.environment = environment.merging(["HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
    { given, _ in given
    }
    process.standardInput = source
    process.standardOutput = output
    process.standardError = error
    try process.run()
    // A program that hangs is killed, which ends the reading too.
    let deadline = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 180, execute: deadline)
    defer { deadline.cancel() }
    // A few lines fit into a pipe, so nobody waits for anybody.
    source.fileHandleForWriting.write(Data(input.utf8))
    try source.fileHandleForWriting.close()
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.error = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
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
