import Glibc
import HapticFormats
import VendorFormats
import Reading
import HapticModel
import Testing

@Suite struct RobustnessTests {
  /// Pseudorandom numbers that are the same in every run.
  struct SeededNumbers {
    var state: UInt64

    mutating func next(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  /// Tokens that change the meaning of a text when they are inserted.
  static let insertedTexts = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "null", "-1", "1e308", "1e400", "\\ud800", "\u{0}",
    "\"Time\"",
    "\"Pattern\"", "[[[[", "9999999999", "\"Event\": {", "\u{FEFF}", "/*", "0.0",
  ].map { Array($0.utf8) }

  @Test func damagedFilesNeverTrap() throws {
    var numbers = SeededNumbers(state: 2026)
    var seeds: [[UInt8]] = []
    for folder in ["Valid", "Lossy"] {
      for name in try Fixtures.names(in: folder) {
        seeds.append(try Fixtures.text("\(folder)/\(name)"))
      }
    }
    var readable = 0
    for round in 0..<4_000 {
      var text = seeds[round % seeds.count]
      for _ in 0...numbers.next(below: 4) {
        let place = numbers.next(below: text.count + 1)
        switch numbers.next(below: 4) {
        case 0 where place < text.count:
          text[place] = UInt8(numbers.next(below: 256))
        case 1:
          text.insert(
            contentsOf: Self.insertedTexts[numbers.next(below: Self.insertedTexts.count)], at: place
          )
        case 2:
          text.removeSubrange(place..<min(text.count, place + numbers.next(below: 12)))
        default:
          text.removeSubrange(place..<min(text.count, place + 1))
        }
      }
      guard let document = try? AHAPDocument(text: text, name: "t") else { continue }
      let result = document.examine()
      let isRefused = result.findings.contains { $0.severity == .error }
      #expect((result.pattern == nil) == isRefused)
      let once = document.canonicalText()
      let again = try AHAPDocument(text: once, name: "t")
      #expect(again.canonicalText() == once)
      if let pattern = result.pattern {
        readable += 1
        #expect(try again.read().pattern == pattern)
        _ = try AHAPDocument(pattern: pattern)
      }
    }
    #expect(readable > 100)
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
