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
    let from = corners[index]
    let to = corners[index + 1]
    return from + (to - from) * ((time - from.x) / (to.x - from.x))
  }

  @Test func controlsChangeEventsAsInTheConformanceSuite() throws {
    let lines = String(decoding: try Self.file("model/cases.jsonl"), as: UTF8.self).split(
      separator: "\n")
    #expect(lines.count >= 90)
    for line in lines {
      let expected = try JSONDecoder().decode(Case.self, from: Data(line.utf8))
      let pattern = try reading("model/\(expected.id).ahap").pattern
      let felt = EffectiveParameters(pattern)
      let events = pattern.events.filter(\.kind.isHaptic)
      #expect(events.map(\.kind.rawValue) == expected.events.map(\.kind), "\(expected.id)")
      for (event, wanted) in zip(events, expected.events) {
        #expect(
          abs(event.time + (event.secondsUntilRelease ?? 0) - wanted.end) < 1e-6, "\(expected.id)")
        let hadCorners = felt.points(of: event).map { Corner($0.time, $0.intensity, $0.sharpness) }
        let numbers = wanted.corners
        let rightCorners = stride(from: 0, to: numbers.count, by: 3).map {
          Corner(numbers[$0], numbers[$0 + 1], numbers[$0 + 2])
        }
        #expect(abs(hadCorners[0].x - rightCorners[0].x) < 1e-6, "\(expected.id)")
        for step in 0...Int((wanted.end - event.time) * 1_000) {
          let time = event.time + Double(step) / 1_000
          // At a jump, the values of either side are valid.
          if step > 0, rightCorners.contains(where: { abs($0.x - time) < 1e-6 }) {
            continue
          }
          let had = interpolatedCorner(hadCorners, at: time)
          let right = interpolatedCorner(rightCorners, at: time)
          let isClose = abs(had.y - right.y) <= 0.005 && abs(had.z - right.z) <= 0.005
          #expect(isClose, "\(expected.id) at \(time): \(had), not \(right)")
        }
      }
    }
  }
}
