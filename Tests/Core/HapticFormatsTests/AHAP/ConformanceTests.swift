import Foundation
import HapticFormats
import HapticModel
import Reading
import Testing
import VendorFormats

/// The cases of the folder Conformance that need no sound.
@Suite struct ConformanceTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../../Conformance/")

  private static func file(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: root.appending(path: path)))
  }

  private func reading(_ path: String) throws -> AHAPContent {
    try AHAPDocument(text: Self.file(path), name: path).read()
  }

  @Test func filesOfTheConformanceSuiteAreReadOrRefused() throws {
    let lines = String(decoding: try Self.file("parse/cases.tsv"), as: UTF8.self).split(
      separator: "\n"
    ).dropFirst()
    #expect(lines.count >= 120)
    for line in lines {
      let cells = line.split(separator: "\t")
      let isRead = (try? reading("parse/\(cells[0]).ahap")) != nil
      if cells[1] != "either" {
        #expect(isRead == (cells[1] == "accept"), "\(line)")
      }
    }
  }

  private struct Case: Decodable {
    struct Event: Decodable {
      let kind: String
      let end: Double
      let corners: [Double]
    }
    let id: String
    let events: [Event]
  }

  /// A time with its intensity and sharpness.
  private typealias Corner = SIMD3<Double>

  /// Returns intensity and sharpness at a time, interpolated linearly; at a jump, the values after
  /// it.
  private func interpolatedCorner(_ corners: [Corner], at time: Double) -> Corner {
    let index = (corners.firstIndex { $0.x > time } ?? corners.count) - 1
    guard index >= 0, index + 1 < corners.count else { return corners[max(index, 0)] }
    let previous = corners[index]
    let next = corners[index + 1]
    return previous + (next - previous) * ((time - previous.x) / (next.x - previous.x))
  }

  @Test func controlsChangeEventsAsInTheConformanceSuite() throws {
    let lines = String(decoding: try Self.file("model/cases.jsonl"), as: UTF8.self).split(
      separator: "\n")
    #expect(lines.count >= 90)
    for line in lines {
      let expectedCase = try JSONDecoder().decode(Case.self, from: Data(line.utf8))
      let pattern = try reading("model/\(expectedCase.id).ahap").pattern
      let effectiveParameters = EffectiveParameters(pattern)
      let events = pattern.events.filter(\.kind.isHaptic)
      #expect(events.map(\.kind.rawValue) == expectedCase.events.map(\.kind), "\(expectedCase.id)")
      for (event, expectedEvent) in zip(events, expectedCase.events) {
        #expect(
          abs(event.time + (event.secondsUntilRelease ?? 0) - expectedEvent.end) < 1e-6,
          "\(expectedCase.id)")
        let corners = effectiveParameters.points(of: event).map {
          Corner($0.time, $0.intensity, $0.sharpness)
        }
        let numbers = expectedEvent.corners
        let expectedCorners = stride(from: 0, to: numbers.count, by: 3).map {
          Corner(numbers[$0], numbers[$0 + 1], numbers[$0 + 2])
        }
        #expect(abs(corners[0].x - expectedCorners[0].x) < 1e-6, "\(expectedCase.id)")
        for step in 0...Int((expectedEvent.end - event.time) * 1_000) {
          let time = event.time + Double(step) / 1_000
          // At a jump, the values of either side are valid.
          if step > 0, expectedCorners.contains(where: { abs($0.x - time) < 1e-6 }) {
            continue
          }
          let corner = interpolatedCorner(corners, at: time)
          let expectedCorner = interpolatedCorner(expectedCorners, at: time)
          let isClose =
            abs(corner.y - expectedCorner.y) <= 0.005 && abs(corner.z - expectedCorner.z) <= 0.005
          #expect(isClose, "\(expectedCase.id) at \(time): \(corner), not \(expectedCorner)")
        }
      }
    }
  }
}
