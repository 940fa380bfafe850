import HapticFormats
import TestSupport
import Testing
import VendorFormats

@testable import PatternWorkflows

/// The decision whether a path leads to a single pattern.
@Suite struct SinglePatternTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func origin(at path: String, named name: String) throws -> PatternInput.Origin {
    try PatternInput.singlePattern(at: path, named: name, formats: .standard).origin
  }

  @Test("A file precedes the shipped pattern of the same name")
  func file() throws {
    let path = folder("heartbeat.ahap")
    try folder.write("{}", to: "heartbeat.ahap")
    #expect(try origin(at: path, named: "heartbeat.ahap") == .file(path))
    folder.remove("heartbeat.ahap")
    #expect(try origin(at: path, named: "heartbeat.ahap") == .shipped("heartbeat"))
  }

  @Test(
    "A path that leads to no file and to no shipped pattern is refused with the user's name",
    arguments: [
      (".", "is a folder; specify a single pattern"),
      ("/dev/zero", "is not a regular file"),
      ("missing/-", ExpectedMessage.unknownPattern),
    ])
  func refusal(path: String, reason: String) {
    let error = #expect(throws: PatternInput.SinglePatternError.self) {
      try origin(at: path, named: "name")
    }
    #expect(error?.description == "name: \(reason)")
  }

  @Test("An empty name is refused, and '-' is not standard input")
  func unusableNames() {
    for (name, message) in [
      ("", "'': is not a valid pattern name"), ("-", "-: \(ExpectedMessage.unknownPattern)"),
    ] {
      let error = #expect(throws: PatternInput.SinglePatternError.self) {
        try origin(at: name, named: name)
      }
      #expect(error?.description == message)
    }
  }
}
