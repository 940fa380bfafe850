import SignalPlots
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

@testable import ReviewPages

/// What stands in pages, without a browser.
@Suite struct PageContentsTests {
  private func text(_ page: [UInt8]) -> String { String(decoding: page, as: UTF8.self) }

  @Test func equalTakesGiveEqualBytes() throws {
    #expect(try Pages.report(Pages.twoTakes()) == Pages.twoTakeReport())
    #expect(try Pages.gallery() == Pages.gallery())
  }

  @Test func everyPlaceOfAFrameIsFilled() throws {
    for (frame, page) in [
      (PageResource.reportPage, try Pages.twoTakeReport()),
      (PageResource.galleryPage, try Pages.gallery()),
    ] {
      let text = text(page)
      for name in PageTemplate(frame).names { #expect(!text.contains("{{\(name)}}")) }
      #expect(!text.contains("http://") || !text.contains("src=\"http"))
    }
  }

  @Test func differencesAreToldInSentences() throws {
    let takes = try Pages.twoTakes()
    let comparison = Comparison(takes[0], takes[1])
    #expect(comparison.differences.count >= 2)
    let page = text(try Pages.report(takes))
    for difference in comparison.differences {
      #expect(page.contains("<span>\(difference.sentence.escapedForMarkup)</span>"))
    }
  }

  @Test func equalTakesAreCalledEqual() throws {
    let takes = [try Pages.take("one"), try Pages.take("two")]
    let page = text(try Pages.report(takes))
    #expect(page.contains("<p class=\"lead\">B is identical to A, sample for sample.</p>"))
    #expect(!page.contains("data-difference data-from"))
  }

  @Test func waveIsAPlainFileOfSixteenBits() {
    let signal = Signal(channels: [[0, 0, 0], [0, 0, 0]], rate: 8_000)
    let head: [UInt8] = [
      0x52, 0x49, 0x46, 0x46, 48, 0, 0, 0, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6D, 0x74, 0x20, 16, 0,
      0, 0, 1, 0, 2, 0, 0x40, 0x1F, 0, 0, 0, 0x7D, 0, 0, 4, 0, 16, 0, 0x64, 0x61, 0x74, 0x61, 12,
      0, 0, 0,
    ]
    let sound = EmbeddedSound(signal)
    #expect(sound.file == head + [UInt8](repeating: 0, count: 12))
    #expect(sound.textLength == Base64.encoded(sound.file).count)
    // Eight channels are heard as their mean.
    let many = Signal(channels: Array(repeating: [0.5], count: 8), rate: 8_000)
    #expect(EmbeddedSound(many).file.count == 46)
  }

  @Test func pageThatWouldBeTooLargeIsRefused() throws {
    let long = Signal(channels: [[Float](repeating: 0, count: 20_000_000)], rate: 48_000)
    let take = Take(name: "long", source: .sound, signal: long, profile: .phone)
    #expect(
      throws: ReviewPageError(
        .tooLarge,
        "the page would be 106 MB for 2 takes; the limit is 100 MB; use fewer or shorter takes, or a lower '--rate'"
      )
    ) {
      try ComparisonReport(generator: "t").html(takes: [take, take], comparisons: [])
    }
    #expect(throws: ReviewPageError(.nothingToShow, "there is nothing to compare")) {
      try ComparisonReport(generator: "t").html(takes: [], comparisons: [])
    }
    #expect(throws: ReviewPageError(.nothingToShow, "there is no pattern to show")) {
      try PatternGallery(title: "t", generator: "t").html([])
    }
  }

  @Test func takesThatComeEarlyAreShownLater() throws {
    let take = try Pages.take("tap").delayed(by: 0.25)
    #expect(take.composition?.layers[0].pattern.events.map(\.time) == [0.25, 0.35, 0.65])
    #expect(take.signal.channels[0][..<12_000].allSatisfy { $0 == 0 })
    #expect(take.signal.channels[0][12_000..<12_400].contains { $0 != 0 })
    let rise = Signal(channels: [[1]], rate: 48_000)
    #expect(rise.delayed(by: 0) == rise)
  }

  @Test func thumbnailDrawsTapsAndHums() throws {
    let take = try Pages.take("x")
    let score = try ScoreThumbnail(
      Pages.events(of: take), signal: take.signal
    ).markup(words: "A < B")
    #expect(score.hasPrefix("<svg viewBox=\"0 0 320 88\" role=\"img\" aria-label=\"A &lt; B\">"))
    #expect(score.split(separator: "<circle ").count == 3)
    #expect(score.contains("class=\"area tone-4\""))
    // A tap at full intensity, sharpness 0.5, at the left margin.
    #expect(score.contains("<g class=\"stem tone-8\"><path d=\"M8 86V10\"/>"))
  }
}
