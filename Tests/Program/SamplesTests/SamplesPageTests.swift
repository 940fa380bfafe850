import Foundation
import HapticRender
import PatternWorkflows
import ReviewPages
import ShippedFiles
import SoundFile
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// The gallery in `Samples/` is the page that the program makes from the shipped patterns.
@Suite struct SamplesPageTests {
  /// The tolerance in CSS pixels. Pictures are written in tenths of a pixel, and another machine's
  /// arithmetic may round differently.
  static let pixelTolerance = 0.2
  /// The tolerance in steps of 16 bits, as for the samples themselves.
  static let sampleTolerance = 2

  /// Returns the text of a page without its sounds, and the sounds.
  private func parts(_ page: [UInt8]) -> (text: String, sounds: [Substring]) {
    let pieces = String(decoding: page, as: UTF8.self).split(
      separator: "</script>\n<script type=\"text/plain\"")
    guard let first = pieces.first, let last = pieces.last else { return ("", []) }
    // The script follows the last sound.
    let tail = last.split(separator: "</script>\n<script>", maxSplits: 1)
    return (
      first + "\n" + (tail.count > 1 ? tail[1] : ""), pieces.dropFirst().dropLast() + tail.prefix(1)
    )
  }

  /// Returns true if two lines have equal text and numbers within the tolerance.
  private func isAlike(_ freshLine: Substring, _ shippedLine: Substring) -> Bool {
    func pieces(_ text: Substring) -> [Substring] {
      var pieces: [Substring] = []
      var remainder = text
      while let first = remainder.first {
        let isNumber = first.isNumber || first == "."
        let piece = remainder.prefix { ($0.isNumber || $0 == ".") == isNumber }
        pieces.append(piece)
        remainder = remainder.dropFirst(piece.count)
      }
      return pieces
    }
    let freshPieces = pieces(freshLine)
    let shippedPieces = pieces(shippedLine)
    return freshPieces.count == shippedPieces.count
      && zip(freshPieces, shippedPieces).allSatisfy { freshPiece, shippedPiece in
        if freshPiece == shippedPiece { return true }
        guard let freshNumber = Double(freshPiece), let shippedNumber = Double(shippedPiece) else {
          return false
        }
        return abs(freshNumber - shippedNumber) <= Self.pixelTolerance
      }
  }

  @Test func pageIsTheGalleryOfTheShippedPatterns() throws {
    let shipped = try FileSystem.read("\(SamplesTests.folder)/Samples/index.html")
    var job = RenderJob(profile: .phone)
    job.sampleRateHertz = GalleryCommand.soundRateHertz
    let (inputs, problems) = PatternInput.find(["\(SamplesTests.folder)/Patterns"])
    #expect(problems == [])
    let fresh = try GalleryCommand.makePage(
      inputs.map { try ReviewTake($0, job: job) }, title: "Haptic patterns", studio: "studio.html")
    let freshParts = parts(fresh)
    let shippedParts = parts(shipped)
    #expect(freshParts.sounds.count == 2 * ShippedPatterns.names.count)
    #expect(freshParts.sounds.count == shippedParts.sounds.count)
    for (freshSound, shippedSound) in zip(freshParts.sounds, shippedParts.sounds) {
      #expect(maximumStep(between: freshSound, and: shippedSound) <= Self.sampleTolerance)
    }
    let freshLines = freshParts.text.split(separator: "\n")
    let shippedLines = shippedParts.text.split(separator: "\n")
    #expect(freshLines.count == shippedLines.count)
    let differentLines = zip(freshLines, shippedLines)
      .filter { !isAlike($0, $1) }
      .map { $0.0.prefix(80) }
    #expect(differentLines == [])
    #expect(shipped.count < 3_000_000)
  }

  @Test func studioPageEqualsTheProgramsOutput() throws {
    let text = try #require(ShippedPatterns.text(named: "earthquake-splash"))
    let page = StudioPage(generator: "Temblor \(temblorVersion)")
    let slot = StudioPage.OpenDocument(fileName: "earthquake-splash.ahap", bytes: text)
    #expect(try FileSystem.read("\(SamplesTests.folder)/Samples/studio.html") == page.html([slot]))
  }

  /// The maximum difference between two sounds in base 64, in steps of 16 bits.
  private func maximumStep(between firstText: Substring, and secondText: Substring) -> Int {
    guard firstText != secondText else { return 0 }
    let firstSamples = samples(firstText)
    let secondSamples = samples(secondText)
    guard firstSamples.count == secondSamples.count else { return .max }
    return zip(firstSamples, secondSamples).map { abs($0 - $1) }.max() ?? .max
  }

  /// The samples of a FLAC file in base 64, as 16-bit integers.
  private func samples(_ text: Substring) -> [Int] {
    guard let start = text.firstIndex(of: ">"),
      let bytes = Data(
        base64Encoded: String(text[text.index(after: start)...].filter { !$0.isWhitespace }))
    else { return [] }
    do {
      let temporaryFolder = try TemporaryFolder()
      try temporaryFolder.write([UInt8](bytes), to: "sound.flac")
      return try Sound(contentsOf: temporaryFolder("sound.flac")).interleaved.map {
        Int(($0 * 32_768).rounded())
      }
    } catch {
      return []
    }
  }
}
