import Reading
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

/// Damaged files of every format are read or refused with a location, in bounded time.
@Suite struct BadInputTests {
  private static let formats = FormatRegistry.standard.formats

  /// Returns a file with a transient and a continuous event with a curve; nil for a format that is
  /// only read.
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

  /// Reads bytes as a format, and as the format that is recognized.
  private func checkRead(_ bytes: [UInt8], _ format: HapticFormat, _ context: String) {
    let file = SourceFile(bytes, name: "x")
    for examination in [
      format.examine(file, options: ReadingOptions()), FormatRegistry.standard.examine(file),
    ] {
      let errors = examination.findings.filter { $0.severity == .error }
      #expect((examination.composition == nil) == !errors.isEmpty, "\(format.id), \(context)")
      for error in errors.prefix(3) {
        let line = error.description
        #expect(line.hasPrefix("x") && !line.contains("\n"), "\(format.id), \(context)")
      }
    }
  }

  /// Extremely short intervals between points, for several kinds of values.
  @Test(arguments: [
    .leastNonzeroMagnitude, .leastNonzeroMagnitude * 2048, .leastNormalMagnitude, 1e-300, 1e-16,
    1e-9,
  ])
  func closePointsAreWrittenByEveryFormat(interval: Double) throws {
    for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
      for (start, interpolation) in [
        (0, ParameterCurve.Interpolation.linear), (0, .squared), (0.1, .linear),
      ] {
        let points = [
          ParameterCurve.ControlPoint(time: start, value: 0),
          .init(time: start + interval, value: 1),
          .init(time: start + 2 * interval, value: 0.25), .init(time: 1, value: 0.5),
        ]
        let curve = ParameterCurve(
          id: id, time: 0, controlPoints: points, interpolation: interpolation)
        let pattern = HapticPattern(
          events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: 1)], curves: [curve])
        for format in Self.formats {
          guard let writing = try format.write(HapticComposition(pattern)) else { continue }
          let rereadResult = format.examine(SourceFile(writing.files[0].bytes, name: "x"))
          #expect(
            rereadResult.findings.first { $0.severity == .error } == nil,
            "\(format.id), \(interval)")
          #expect(rereadResult.composition != nil, "\(format.id), \(interval)")
        }
      }
    }
  }

  @Test func nanBecomesTheMinimumOfTheRange() {
    #expect(FrameConversion.clampedInteger(.nan, in: 3...9) == 3)
    #expect(FrameConversion.clampedInteger(.infinity, in: 3...9) == 9)
    #expect(FrameConversion.clampedInteger(-1e308, in: -3...9) == -3)
    #expect([2.5, -2.5, 2.4999].map { FrameConversion.clampedInteger($0) } == [3, -3, 2])
  }

  @Test func truncatedAndDamagedFilesAreLocated() throws {
    var generator = SplitMixGenerator(state: 3)
    for format in Self.formats {
      guard let bytes = try sample(format) else { continue }
      for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 60)) {
        checkRead(Array(bytes.prefix(count)), format, "the first \(count) bytes")
      }
      for _ in 0..<60 {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let index = Int.random(in: 0..<bytes.count, using: &generator)
          damaged[index] = UInt8.random(in: 0...255, using: &generator)
        }
        checkRead(damaged, format, "damaged")
      }
      checkRead([0xEF, 0xBB, 0xBF] + bytes, format, "a byte-order mark")
      let text = String(decoding: bytes, as: UTF8.self)
      checkRead(
        [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, format, "UTF-16")
      for replacement in ["1e999", "-1", "NaN", "\"1\"", "null", "1e308", "-0"] {
        for digits in ["0.4", "0.6", "400", "0.2", "200"] where text.contains(digits) {
          checkRead(
            Array(text.replacing(digits, with: replacement).utf8), format,
            "\(digits) as \(replacement)")
        }
      }
    }
  }

  @Test func depthAndRandomBytesAreBounded() {
    var generator = SplitMixGenerator(state: 9)
    let deepTexts = [
      Array(repeating: UInt8(ascii: "["), count: 100_000),
      Array(String(repeating: "{\"Pattern\":", count: 20_000).utf8),
      Array(String(repeating: "{\"signals\":", count: 20_000).utf8),
      Array(String(repeating: "<vibration-effect>", count: 20_000).utf8),
    ]
    for format in Self.formats {
      for text in deepTexts {
        checkRead(text, format, "depth")
      }
      for _ in 0..<20 {
        let count = Int.random(in: 0...400, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        checkRead(bytes, format, "random bytes")
      }
    }
  }

  /// A clip with very many points is read in linear time.
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
