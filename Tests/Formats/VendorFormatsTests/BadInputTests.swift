import Reading
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

/// Damaged files of every format: an answer with a place, in time, and never a crash.
@Suite struct BadInputTests {
  private static let formats = FormatRegistry.standard.formats

  /// A file of a format with transients and a continuous event with curves; nil where it is only
  /// read.
  private func sample(_ format: HapticFormat) throws -> [UInt8]? {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 0.4,
          parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5]),
        HapticEvent(kind: .hapticTransient, time: 0.6),
      ],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 0), .init(time: 0.2, value: 1)])
      ])
    return try format.write(HapticComposition(pattern))?.files[0].bytes
  }

  /// Reads bytes as a format, and as whatever they are taken for.
  private func checkRead(_ bytes: [UInt8], _ format: HapticFormat, _ note: String) {
    let file = SourceFile(bytes, name: "x")
    for examination in [
      format.examine(file, options: ReadingOptions()), FormatRegistry.standard.examine(file),
    ] {
      let errors = examination.findings.filter { $0.severity == .error }
      #expect((examination.composition == nil) == !errors.isEmpty, "\(format.id), \(note)")
      for error in errors.prefix(3) {
        let line = error.description
        #expect(line.hasPrefix("x") && !line.contains("\n"), "\(format.id), \(note)")
      }
    }
  }

  /// Times next to each other, from the smallest number on, and values of every kind.
  @Test(arguments: [
    .leastNonzeroMagnitude, .leastNonzeroMagnitude * 2048, .leastNormalMagnitude, 1e-300, 1e-16,
    1e-9,
  ])
  func pointsNextToEachOtherAreWrittenByEveryFormat(apart: Double) throws {
    for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
      for (start, interpolation) in [
        (0, ParameterCurve.Interpolation.linear), (0, .squared), (0.1, .linear),
      ] {
        let points = [
          ParameterCurve.ControlPoint(time: start, value: 0), .init(time: start + apart, value: 1),
          .init(time: start + 2 * apart, value: 0.25), .init(time: 1, value: 0.5),
        ]
        let curve = ParameterCurve(
          id: id, time: 0, controlPoints: points, interpolation: interpolation)
        let pattern = HapticPattern(
          events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: 1)], curves: [curve])
        for format in Self.formats {
          guard let writing = try format.write(HapticComposition(pattern)) else { continue }
          let back = format.examine(SourceFile(writing.files[0].bytes, name: "x"))
          #expect(back.findings.first { $0.severity == .error } == nil, "\(format.id), \(apart)")
          #expect(back.composition != nil, "\(format.id), \(apart)")
        }
      }
    }
  }

  @Test func whatIsNoNumberIsTheLeastOfItsRange() {
    #expect(FrameConversion.clampedInteger(.nan, in: 3...9) == 3)
    #expect(FrameConversion.clampedInteger(.infinity, in: 3...9) == 9)
    #expect(FrameConversion.clampedInteger(-1e308, in: -3...9) == -3)
    #expect([2.5, -2.5, 2.4999].map { FrameConversion.clampedInteger($0) } == [3, -3, 2])
  }

  @Test func truncatedAndDamagedFilesAreAnsweredWithAPlace() throws {
    var chance = SplitMixGenerator(state: 3)
    for format in Self.formats {
      guard let bytes = try sample(format) else { continue }
      for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 60)) {
        checkRead(Array(bytes.prefix(count)), format, "the first \(count) bytes")
      }
      for _ in 0..<60 {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &chance) {
          let index = Int.random(in: 0..<bytes.count, using: &chance)
          damaged[index] = UInt8.random(in: 0...255, using: &chance)
        }
        checkRead(damaged, format, "damaged")
      }
      checkRead([0xEF, 0xBB, 0xBF] + bytes, format, "a byte-order mark")
      let text = String(decoding: bytes, as: UTF8.self)
      checkRead(
        [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, format, "UTF-16")
      for word in ["1e999", "-1", "NaN", "\"1\"", "null", "1e308", "-0"] {
        for digits in ["0.4", "0.6", "400", "0.2", "200"] where text.contains(digits) {
          checkRead(Array(text.replacing(digits, with: word).utf8), format, "\(digits) as \(word)")
        }
      }
    }
  }

  @Test func depthAndRandomBytesAreBounded() {
    var chance = SplitMixGenerator(state: 9)
    let deep = [
      Array(repeating: UInt8(ascii: "["), count: 100_000),
      Array(String(repeating: "{\"Pattern\":", count: 20_000).utf8),
      Array(String(repeating: "{\"signals\":", count: 20_000).utf8),
      Array(String(repeating: "<vibration-effect>", count: 20_000).utf8),
    ]
    for format in Self.formats {
      for text in deep {
        checkRead(text, format, "depth")
      }
      for _ in 0..<20 {
        let count = Int.random(in: 0...400, using: &chance)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &chance) }
        checkRead(bytes, format, "random bytes")
      }
    }
  }

  /// Time in proportion: a clip of very many points.
  @Test func aClipOfManyPointsIsReadAndWritten() throws {
    let format = try #require(FormatRegistry.standard.format(id: "haptic"))
    let points = (0..<50_000).map {
      "{\"time\":\(Double($0) / 1000),\"amplitude\":\($0 % 2 == 0 ? 0 : 1)}"
    }
    let text =
      "{\"version\":{\"major\":1},\"signals\":{\"continuous\":{\"envelopes\":{\"amplitude\":["
      + points.joined(separator: ",") + "]}}}}"
    let composition = try format.examine(
      SourceFile(Array(text.utf8), name: "x"), options: ReadingOptions()
    ).get()
    #expect(composition.layers[0].pattern.curves[0].controlPoints.count == 50_000)
    #expect(composition.linearized().layers[0].pattern.curves[0].controlPoints.count <= 1_050_000)
  }
}
