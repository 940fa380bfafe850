import Foundation
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

@testable import PatternWorkflows

/// The quality of conversions, compared with the documentation and with the reported losses.
@Suite struct FormatMatrixTests {
  private static let formats = FormatRegistry.standard.formats.filter(\.isWritable)
  private static let article = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../Sources/Core/HapticFormats/HapticFormats.docc/Conversion.md"
  ).standardizedFileURL

  private static let marks: [FormatMatrix.ConversionGrade: String] = [
    .exact: "L", .close: "l", .approximate: "A", .none: "–",
  ]

  /// Returns the tables of the article.
  private static func tables() -> String {
    var text = ""
    for content in FormatMatrix.ExampleContent.allCases {
      let title =
        switch content {
        case .transients: "Transients"
        case .continuous: "Successive continuous events with curves"
        case .mixed: "Transients and overlapping continuous events with envelopes"
        case .audio: "Audio events and a transient"
        }
      text += "\n### \(title)\n\n| from \\ to | "
      text += formats.map(\.id).joined(separator: " | ") + " |\n"
      text += "|---|" + formats.map { _ in "---|" }.joined() + "\n"
      for source in formats {
        let cells = formats.map { target in
          marks[FormatMatrix.measureConversion(of: content, from: source, to: target).grade] ?? "?"
        }
        text += "| " + ([source.id] + cells).joined(separator: " | ") + " |\n"
      }
    }
    return text
  }

  @Test func articleContainsTheMeasuredTable() throws {
    let marker = "<!-- measured -->\n"
    let articleText = try String(contentsOf: Self.article, encoding: .utf8)
    let tableStart = try #require(articleText.range(of: marker)).upperBound
    let expectedText = articleText[..<tableStart] + Self.tables()
    if ProcessInfo.processInfo.environment["TEMBLOR_TEST_RECORD"] != nil {
      try expectedText.write(to: Self.article, atomically: true, encoding: .utf8)
    } else {
      #expect(
        articleText == expectedText,
        "run this test with TEMBLOR_TEST_RECORD=1 to write the article again")
    }
  }

  /// Every format reads its own files without a difference.
  @Test func everyFormatReadsItsOwnFiles() {
    for format in Self.formats {
      for content in [FormatMatrix.ExampleContent.transients, .continuous, .mixed] {
        let conversion = FormatMatrix.measureConversion(of: content, from: format, to: format)
        #expect(conversion.grade == .exact || conversion.grade == .close, "\(format.id) \(content)")
      }
    }
  }

  /// Compositions of all kinds from every format to every other one: every difference has a loss.
  @Test func everyDifferenceHasALoss() {
    var generator = PatternGenerator(seed: 11)
    let count = Int(ProcessInfo.processInfo.environment["TEMBLOR_TEST_CONVERSIONS"] ?? "") ?? 6
    for compositionNumber in 0..<count {
      let composition = HapticComposition(generator.pattern())
      for source in Self.formats {
        guard let sourceRoundTrip = FormatMatrix.roundTrip(composition, through: source) else {
          continue
        }
        for target in Self.formats {
          guard
            let targetRoundTrip = FormatMatrix.roundTrip(
              sourceRoundTrip.composition, through: target)
          else {
            continue
          }
          let difference = CompositionDifference(
            sourceRoundTrip.composition, targetRoundTrip.composition)
          if difference.maximumError > FormatMatrix.closeGradeToleranceFraction {
            #expect(
              !targetRoundTrip.losses.isEmpty,
              "\(source.id) to \(target.id), composition \(compositionNumber): \(difference)")
          }
        }
      }
    }
  }
}
