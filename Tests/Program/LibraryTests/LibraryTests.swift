import Foundation
import Synchronization
import TemblorLab
import Testing

/// The programs of a library user, run on shipped patterns.
struct LibraryTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let heartbeat = Self.root.appending(path: "Patterns/heartbeat.ahap").path

  private func pattern(_ name: String) -> String {
    Self.root.appending(path: "Patterns/\(name).ahap").path
  }

  @Test func bufferHoldsTheSamplesOfTheShippedRendering() throws {
    let samples = try Programs.renderToBuffer(heartbeat)
    let shipped = try Sound(contentsOf: Self.root.appending(path: "Samples/heartbeat.wav").path)
    #expect(samples.count == shipped.interleaved.count)
    let difference = zip(samples, shipped.interleaved).map { abs($0 - $1) }.max()
    #expect(try #require(difference) < 1.6 / 32_768)
  }

  @Test func writtenFileEqualsTheShippedSample() throws {
    let output = FileManager.default.temporaryDirectory.appending(
      path: "LibraryTests-\(UUID().uuidString).wav"
    ).path
    defer { try? FileManager.default.removeItem(atPath: output) }
    try Programs.writeWAV(heartbeat, profile: "phone", to: output)
    let shipped = Self.root.appending(path: "Samples/heartbeat.wav").path
    #expect(try Sound(contentsOf: output) == Sound(contentsOf: shipped))
  }

  @Test func liveProgramEndsWithThePattern() async throws {
    let start = ContinuousClock.now
    try await Programs.playLive(heartbeat, on: "null:")
    #expect(ContinuousClock.now - start > .milliseconds(500))
  }

  @Test func customOutputReceivesTheSamples() async throws {
    let peak = Mutex<Float>(0)
    let reportedPeak = ReportedPeak(peak: peak)
    try await Programs.playIntoOwnOutput(heartbeat) { value in
      reportedPeak.peak.withLock { $0 = value }
    }
    let rendered = try #require(try Programs.renderToBuffer(heartbeat).map(abs).max())
    #expect(abs(reportedPeak.peak.withLock { $0 } / rendered - 1) < 0.01)
  }

  /// A value that a render thread reports to a test.
  private final class ReportedPeak: Sendable {
    let peak: Mutex<Float>
    init(peak: consuming Mutex<Float>) { self.peak = peak }
  }

  @Test func analysisFindsBothBeats() throws {
    let (peak, onsets) = try Programs.analyse(heartbeat)
    #expect((0.05...0.9).contains(peak))
    #expect(onsets.count == 2)
  }

  @Test func comparisonDescribesDifferences() throws {
    #expect(
      try Programs.compare(pattern("light"), with: pattern("medium")).contains {
        $0.contains("is 7.7 dB stronger: intensity 0.7 instead of 0.45")
      })
    #expect(
      try Programs.compare(heartbeat, with: heartbeat) == [
        "B is identical to A, sample for sample."
      ])
  }

  @Test func missingAndWrongFilesAreInputErrors() throws {
    let missingFileError = #expect(throws: InputError.self) {
      try HapticComposition(contentsOf: "/nonexistent/a.ahap")
    }
    #expect(
      missingFileError?.description
        == "/nonexistent/a.ahap: error: cannot be opened: No such file or directory")
    #expect(throws: SoundFileError.self) {
      try HapticComposition(contentsOf: heartbeat).render().write(to: "/tmp/a.mp3")
    }
  }

  @Test func programsAreShort() throws {
    let text = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Programs.swift"),
      encoding: .utf8)
    let bodies = text.matches(of: /\n  static func [^{]*\{\n((?:    [^\n]*\n)+)  \}/)
    #expect(bodies.count == 6)
    for body in bodies {
      #expect(body.1.split(separator: "\n").count <= 10)
    }
  }
}
