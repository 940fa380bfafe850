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

/// The gallery in `Samples/` is the one the program makes of the shipped patterns.
@Suite struct SamplesPageTests {
  /// Tenths of a CSS pixel, in which pictures are written: the rounding of another machine's
  /// arithmetic.
  static let pixelTolerance = 0.2
  /// Steps of 16 bits, as for the samples themselves.
  static let sampleTolerance = 2

  /// The page as text without its sounds, and the sounds.
  private func parts(_ page: [UInt8]) -> (text: String, sounds: [Substring]) {
    let pieces = String(decoding: page, as: UTF8.self).split(
      separator: "</script>\n<script type=\"text/plain\"")
    guard let first = pieces.first, let last = pieces.last else { return ("", []) }
    // Behind the last sound comes the script.
    let tail = last.split(separator: "</script>\n<script>", maxSplits: 1)
    return (
      first + "\n" + (tail.count > 1 ? tail[1] : ""), pieces.dropFirst().dropLast() + tail.prefix(1)
    )
  }

  /// Numbers within the tolerance, and the text between them the same.
  private func isAlike(_ one: Substring, _ other: Substring) -> Bool {
    func pieces(_ text: Substring) -> [Substring] {
      var pieces: [Substring] = []
      var rest = text
      while let first = rest.first {
        let isNumber = first.isNumber || first == "."
        let piece = rest.prefix { ($0.isNumber || $0 == ".") == isNumber }
        pieces.append(piece)
        rest = rest.dropFirst(piece.count)
      }
      return pieces
    }
    let ours = pieces(one)
    let theirs = pieces(other)
    return ours.count == theirs.count
      && zip(ours, theirs).allSatisfy { a, b in
        if a == b { return true }
        guard let first = Double(a), let second = Double(b) else { return false }
        return abs(first - second) <= Self.pixelTolerance
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
    let ours = parts(fresh)
    let theirs = parts(shipped)
    #expect(ours.sounds.count == 2 * ShippedPatterns.names.count)
    #expect(ours.sounds.count == theirs.sounds.count)
    for (sound, other) in zip(ours.sounds, theirs.sounds) {
      #expect(maximumStep(between: sound, and: other) <= Self.sampleTolerance)
    }
    let lines = (ours.text.split(separator: "\n"), theirs.text.split(separator: "\n"))
    #expect(lines.0.count == lines.1.count)
    let different = zip(lines.0, lines.1).filter { !isAlike($0, $1) }.map { $0.0.prefix(80) }
    #expect(different == [])
    #expect(shipped.count < 3_000_000)
  }

  @Test func studioIsWhatTheProgramWrites() throws {
    let text = try #require(ShippedPatterns.text(named: "earthquake-splash"))
    let page = StudioPage(generator: "Temblor \(temblorVersion)")
    let slot = StudioPage.OpenDocument(fileName: "earthquake-splash.ahap", bytes: text)
    #expect(try FileSystem.read("\(SamplesTests.folder)/Samples/studio.html") == page.html([slot]))
  }

  /// The greatest difference between two sounds in base 64, in steps of 16 bits.
  private func maximumStep(between one: Substring, and other: Substring) -> Int {
    guard one != other else { return 0 }
    let first = samples(one)
    let second = samples(other)
    guard first.count == second.count else { return .max }
    return zip(first, second).map { abs($0 - $1) }.max() ?? .max
  }

  /// The samples of a FLAC file in base 64, as whole numbers of 16 bits.
  private func samples(_ text: Substring) -> [Int] {
    guard let start = text.firstIndex(of: ">"),
      let bytes = Data(
        base64Encoded: String(text[text.index(after: start)...].filter { !$0.isWhitespace }))
    else { return [] }
    do {
      let scratch = try TemporaryFolder()
      try scratch.write([UInt8](bytes), to: "sound.flac")
      return try Sound(contentsOf: scratch("sound.flac")).interleaved.map {
        Int(($0 * 32_768).rounded())
      }
    } catch {
      return []
    }
  }
}
