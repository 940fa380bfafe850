import Glibc
import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

@Suite struct RobustnessTests {
  /// Tokens that change the meaning of a text when they are inserted.
  static let insertedTexts = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "null", "-1", "1e308", "1e400", "\\ud800", "\u{0}",
    "\"Time\"",
    "\"Pattern\"", "[[[[", "9999999999", "\"Event\": {", "\u{FEFF}", "/*", "0.0",
  ].map { Array($0.utf8) }

  @Test func damagedFilesNeverTrap() throws {
    var generator = SplitMixGenerator(state: 2026)
    var validTexts: [[UInt8]] = []
    for folder in ["Valid", "Lossy"] {
      for name in try Fixtures.names(in: folder) {
        validTexts.append(try Fixtures.text("\(folder)/\(name)"))
      }
    }
    var readableCount = 0
    for round in 0..<4_000 {
      var text = validTexts[round % validTexts.count]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0...text.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where index < text.count:
          text[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1:
          let insertedText = Self.insertedTexts.randomElement(using: &generator) ?? []
          text.insert(contentsOf: insertedText, at: index)
        case 2:
          let removedCount = Int.random(in: 0..<12, using: &generator)
          text.removeSubrange(index..<min(text.count, index + removedCount))
        default:
          text.removeSubrange(index..<min(text.count, index + 1))
        }
      }
      guard let document = try? AHAPDocument(text: text, name: "t") else { continue }
      let result = document.examine()
      let isRefused = result.findings.contains { $0.severity == .error }
      #expect((result.pattern == nil) == isRefused)
      let canonicalText = document.canonicalText()
      let canonicalDocument = try AHAPDocument(text: canonicalText, name: "t")
      #expect(canonicalDocument.canonicalText() == canonicalText)
      if let pattern = result.pattern {
        readableCount += 1
        #expect(try canonicalDocument.read().pattern == pattern)
        _ = try AHAPDocument(pattern: pattern)
      }
    }
    #expect(readableCount > 100)
  }

  @Test func refusesDepthAndTruncationAnywhere() throws {
    let text = try Fixtures.text("Valid/every-key.ahap")
    let end = try #require(text.lastIndex(of: UInt8(ascii: "}")))
    for length in 0..<end {
      #expect(throws: InputError.self) { try AHAPDocument(text: Array(text[..<length]), name: "t") }
    }
    var deep = Array("{\"Pattern\":".utf8)
    for _ in 0..<100_000 {
      deep += Array("{\"Event\":".utf8)
    }
    let error = #expect(throws: InputError.self) { try AHAPDocument(text: deep, name: "t") }
    #expect(error?.finding.message == "objects and arrays are nested more than 256 levels deep")
  }

  /// The maximum number of entries. A debug build is a hundred times slower than a release build.
  static var entryCount: Int {
    #if DEBUG
      100_000
    #else
      1_000_000
    #endif
  }

  /// Ten times as many entries must take less than forty times as long. Quadratic time would be a
  /// hundred times as long.
  @Test func readsAMillionEntriesInLinearTime() throws {
    // Processor time, which excludes other processes.
    var threadSeconds: Double {
      var time = timespec()
      _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + 1e-9 * Double(time.tv_nsec)
    }
    func seconds(_ count: Int) throws -> Double {
      let entry = Array(
        """
        {"Event":{"Time":1,"EventType":"HapticTransient","Duration":0,"EventParameters":[{"ParameterID"\
        :"HapticIntensity","ParameterValue":2}]}},
        """.utf8)
      var text = Array("{\"Pattern\":[".utf8)
      for _ in 0..<count {
        text += entry
      }
      text += Array("]}".utf8)
      let start = threadSeconds
      let result = try AHAPDocument(text: text, name: "t").examine()
      #expect(result.pattern?.events.count == count)
      #expect(result.allFindings.count < 5_000)
      return threadSeconds - start
    }
    _ = try seconds(1_000)
    let small = try seconds(Self.entryCount / 10)
    let large = try seconds(Self.entryCount)
    #expect(large < 40 * small)
  }
}
