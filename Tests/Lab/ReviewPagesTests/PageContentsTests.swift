import Foundation
import SignalPlots
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

@testable import ReviewPages

/// The contents of pages, without a browser.
@Suite struct PageContentsTests {
  private func text(_ page: [UInt8]) -> String { String(decoding: page, as: UTF8.self) }

  @Test("Equal takes give equal bytes")
  func pagesAreReproducible() throws {
    #expect(try PageFixtures.report(PageFixtures.twoTakes()) == PageFixtures.twoTakeReport())
    #expect(try PageFixtures.gallery() == PageFixtures.gallery())
  }

  @Test("Every placeholder of a template is filled")
  func everyPlaceholderIsFilled() throws {
    for (template, page) in [
      (PageResource.reportPage, try PageFixtures.twoTakeReport()),
      (PageResource.galleryPage, try PageFixtures.gallery()),
    ] {
      let text = text(page)
      for name in PageTemplate(template).placeholderNames {
        #expect(!text.contains("{{\(name)}}"))
      }
      #expect(!text.contains("http://") || !text.contains("src=\"http"))
    }
  }

  @Test("A folder report has a row for each file, and a cell for each aspect that differs")
  func folderReportIsAMatrix() throws {
    let first = try PageFixtures.take("one")
    let second = try PageFixtures.take("two", PageFixtures.pattern(secondTap: 0.42, intensity: 1))
    let comparison = Comparison(first, second)
    var rows = [
      FolderReport.Row("same", Comparison(first, first), tolerance: nil),
      FolderReport.Row("a <b>", comparison, tolerance: nil),
      FolderReport.Row("a <b>", comparison, tolerance: Tolerance(decibels: 6, seconds: 0.001)),
      FolderReport.Row("old.ahap", .missing, "only in x"),
    ]
    #expect(rows.map(\.state) == [.identical, .different, .exceeds, .missing])
    #expect(rows[0].sentences == [])
    #expect(rows[2].sentences == ["time +20 ms > 1 ms: second transient at 0.4 s"])
    rows[0].address = "pages/same.html"
    let report = FolderReport(
      generator: "Temblor test", referenceFolder: "x", candidateFolder: "<y>")
    let page = text(report.html(rows, verdict: "3 of 4"))
    for name in PageTemplate(PageResource.folderPage).placeholderNames {
      #expect(!page.contains("{{\(name)}}"))
    }
    let cells =
      "<td class=\"felt\">+3.9 dB</td><td class=\"felt\">+20 ms</td><td></td><td></td><td></td>"
    for markup in [
      "<h1>3 of 4</h1>", "</span> &lt;y", "<a href=\"pages/same.html\">same</a>",
      "<th scope=\"row\">a &lt;b", "<td class=\"different\">different</td>" + cells,
      "<td class=\"over\">+20 ms</td>", "<td colspan=\"5\">only in x</td>",
    ] {
      #expect(page.contains(markup), "\(markup)")
    }
    #expect(!page.contains("<script"))
  }

  @Test("Base91 text has two characters for 13 bits, and no character that ends an element")
  func base91TextHasSafeCharacters() {
    #expect(Base91.encoded([]) == [])
    #expect(text(Base91.encoded([0])) == "!!")
    #expect(text(Base91.encoded([0xFF, 0x1F])) == text([0x21 + 1, 0x21 + 90 + 1, 0x21, 0x21]))
    let bytes = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ $0 / 256) }
    let characters = Base91.encoded(bytes)
    #expect(characters.count == (4_096 * 8 + 12) / 13 * 2)
    #expect(characters.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") })
  }

  @Test("The studio is smaller than its limit")
  func studioIsSmallerThanItsLimit() throws {
    let page = try StudioPage(generator: "Temblor").html([])
    #expect(page.count < 1_050_000, "\(page.count) bytes")
    let moduleText = Base91.encoded(PageResource.studioModule)
    #expect(moduleText.count < 840_000, "\(moduleText.count) bytes")
  }

  @Test("Differences are rows of the markup")
  func differencesAreRows() throws {
    let page = text(try PageFixtures.twoTakeReport())
    #expect(page.contains("<h1 id=\"verdict\">2 perceptible differences</h1>"))
    #expect(page.contains("<b>Second transient 20 ms later</b><span>onset 0.4 → 0.42 s</span>"))
    #expect(page.contains("<span class=\"amount\">+20 ms</span>"))
    #expect(page.contains("<span class=\"when\">0.4 → 0.42 s</span>"))
    #expect(page.contains("<b>Continuous event 3.9 dB stronger</b><span>intensity 0.8 → 1</span>"))
  }

  @Test("A report without script has a picture for each body location")
  func locationsHavePictures() throws {
    let takes = [
      try PageFixtures.locatedTake("one"), try PageFixtures.locatedTake("two", intensity: 0.5),
    ]
    let report = ComparisonReport(generator: "Temblor test", command: "temblor compare one two")
    let page = text(try report.html(takes: takes))
    #expect(page.contains(">Intensity, left</text>"))
    #expect(page.contains(">Sharpness, right</text>"))
    #expect(page.contains("\"places\":[\"left\",\"right\"]"))
  }

  @Test("Equal takes are reported as equal")
  func equalTakesAreReported() throws {
    let takes = [try PageFixtures.take("one"), try PageFixtures.take("two")]
    let page = text(try PageFixtures.report(takes))
    #expect(page.contains("<li class=\"row low\">B is identical to A, sample for sample.</li>"))
    #expect(page.contains("<h1 id=\"verdict\">No difference</h1>"))
  }

  private func findings(_ reference: HapticPattern, _ candidate: HapticPattern) throws
    -> [FindingText]
  {
    let comparison = Comparison(
      try PageFixtures.take("one", reference), try PageFixtures.take("two", candidate))
    return comparison.differences.map { FindingText($0, of: comparison) }
  }

  @Test("The title of several events has a range")
  func groupedDifferencesHaveARange() throws {
    func taps(_ intensities: [Float]) -> HapticPattern {
      HapticPattern(
        events: intensities.enumerated().map {
          HapticEvent(
            kind: .hapticTransient, time: 0.3 * Double($0), parameters: [.hapticIntensity: $1])
        })
    }
    let weaker = try findings(taps([1, 1, 1, 1, 1, 1]), taps([0.1, 0.2, 0.3, 0.4, 0.5, 1]))
    #expect(weaker.map(\.titleText) == ["5 transients 12–40 dB weaker"])
    #expect(weaker.map(\.amountText) == ["−40 to −12 dB"])
    let mixed = try findings(
      taps([0.5, 0.5, 0.5, 0.5, 0.5, 1]), taps([0.1, 0.2, 0.6, 0.7, 0.8, 1]))
    #expect(mixed.map(\.titleText) == ["Level differs in 5 of 6 events, by −28 to +8.2 dB"])
    let twoWeaker = try findings(taps([1, 1, 1]), taps([0.5, 0.5, 1]))
    #expect(twoWeaker.map(\.titleText) == ["Transients 1 and 2 12 dB weaker"])
  }

  @Test("A curve of one take only is missing or added")
  func curvesOfOneTakeAreMissingOrAdded() throws {
    func curved(_ value: Float) -> HapticPattern {
      var pattern = PageFixtures.pattern()
      pattern.curves = [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0.1,
          controlPoints: [.init(time: 0, value: value), .init(time: 0.3, value: value)])
      ]
      return pattern
    }
    #expect(
      try findings(curved(0.3), PageFixtures.pattern()).map(\.titleText) == [
        "Intensity curve missing"
      ])
    #expect(
      try findings(PageFixtures.pattern(), curved(0.3)).map(\.titleText) == [
        "Intensity curve added"
      ])
    #expect(try findings(curved(0.3), curved(0.2)).map(\.titleText) == ["Intensity curve lowered"])
  }

  @Test("A summary is one sentence")
  func summariesAreOneSentence() throws {
    func summary(_ candidate: HapticPattern) throws -> String {
      ComparisonSummary.summaryText(
        of: Comparison(try PageFixtures.take("one"), try PageFixtures.take("two", candidate)))
    }
    #expect(try summary(PageFixtures.pattern()) == "B is identical to A, sample for sample.")
    #expect(try summary(PageFixtures.pattern(secondTap: 0.55)) == "B ends 150 ms later.")
    #expect(try summary(PageFixtures.pattern(intensity: 0.4)) == "B is weaker.")
    #expect(
      try summary(PageFixtures.pattern(intensity: 0.79))
        == "No difference between B and A is above the perceptual threshold.")
    var withoutFirstEvent = PageFixtures.pattern()
    withoutFirstEvent.events.remove(at: 0)
    #expect(try summary(withoutFirstEvent) == "B is missing an event.")
  }

  /// For two durations, the bracket covers the range between the two ends.
  @Test("A bracket covers the difference of two durations")
  func bracketsCoverTheDifference() throws {
    var longer = PageFixtures.pattern()
    longer.events[1].duration = 0.28
    let comparison = Comparison(try PageFixtures.take("one"), try PageFixtures.take("two", longer))
    let finding = try #require(
      ReportPair(comparison, reference: 0, candidate: 1).findings.first {
        $0.kindName == "duration"
      })
    #expect(
      abs(finding.timeRangeSeconds.lowerBound - 0.3) < 1e-6
        && abs(finding.timeRangeSeconds.upperBound - 0.38) < 1e-6)
  }

  @Test("A long sound is decimated")
  func longSoundsAreDecimated() throws {
    func sound(_ hertz: Double, seconds: Int) throws -> EmbeddedSound {
      try EmbeddedSound(
        Signal(
          (0..<8_000 * seconds).map { Float(sin(2 * Double.pi * hertz * Double($0) / 8_000)) / 4 },
          rate: 8_000))
    }
    let longSound = try sound(150, seconds: 61)
    #expect(longSound.decimationFactor == 4 && longSound.sampleRateHertz == 8_000)
    #expect(longSound.fileBytes.count < 200_000)
    #expect(try sound(150, seconds: 2).decimationFactor == 1)
    #expect(try sound(1_200, seconds: 61).decimationFactor == 2)
  }

  @Test("Long JSON is compacted")
  func longJSONIsCompacted() {
    #expect(
      JSONLayout.compactText("{\n  \"a b\" : [ 1, \"x \\\" y\" ]\r\n}\n")
        == #"{"a b":[1,"x \" y"]}"#)
    #expect(JSONLayout.compactText("<a b>\n</a>\n") == "<a b>\n</a>\n")
  }

  @Test("A sound is FLAC with the dithered samples")
  func soundIsDitheredFLAC() throws {
    let signal = try PageFixtures.signal(PageFixtures.take("x"), profile: .phone)
    let sound = try EmbeddedSound(signal)
    #expect(sound.fileBytes.starts(with: Array("fLaC".utf8)))
    #expect(sound.sampleRateHertz == 8_000)
    #expect(sound.encodedByteCount == Base64.encoded(sound.fileBytes).count)
    // The file is smaller than the samples and reproducible.
    #expect(sound.fileBytes.count < signal.frameCount)
    #expect(try EmbeddedSound(signal).fileBytes == sound.fileBytes)
    // Eight channels are mixed to their mean. A sound without frames has one silent frame.
    let eightChannels = Signal(channels: Array(repeating: [0.5, 0.5], count: 8), rate: 8_000)
    #expect(
      try EmbeddedSound(eightChannels).fileBytes
        == EmbeddedSound(Signal([0.5, 0.5], rate: 8_000)).fileBytes)
    #expect(try EmbeddedSound(Signal([], rate: 8_000)).fileBytes.count > 40)
  }

  @Test("The minimum rate keeps the sound")
  func minimumRateKeepsTheSound() throws {
    func sine(_ hertz: Double, rate: Double = 48_000) -> Signal {
      Signal(
        (0..<Int(rate)).map { Float(sin(2 * Double.pi * hertz * Double($0) / rate)) / 2 },
        rate: rate)
    }
    #expect(PageSounds.minimumSampleRateHertz(for: try PageFixtures.take("x").signal) == 8_000)
    #expect(PageSounds.minimumSampleRateHertz(for: sine(3_000)) == 8_000)
    #expect(PageSounds.minimumSampleRateHertz(for: sine(5_000)) == 16_000)
    #expect(PageSounds.minimumSampleRateHertz(for: sine(15_000)) == 48_000)
    #expect(PageSounds.minimumSampleRateHertz(for: sine(100, rate: 8_000)) == 8_000)
  }

  @Test("Pages are small")
  func pagesAreSmall() throws {
    // For two takes of half a second, script and style sheet are most of the page.
    #expect(try PageFixtures.twoTakeReport().count < 190_000)
    #expect(try PageFixtures.gallery().count < 115_000)
  }

  @Test("A page that would be too large throws an error")
  func tooLargePagesThrow() throws {
    let sound = try EmbeddedSound(PageFixtures.twoTakes()[0].signal)
    try EmbeddedSound.checkTotalSize(
      of: [sound, sound], takeCount: 2, maximumByteCount: 2 * sound.encodedByteCount)
    #expect(
      throws: ReviewPageError(
        .tooLarge,
        """
        the sound of 2 takes needs a page of \(2 * sound.encodedByteCount / 1_000) kB; the limit is 1 \
        kB; use fewer or shorter takes
        """
      )
    ) {
      try EmbeddedSound.checkTotalSize(of: [sound, sound], takeCount: 2, maximumByteCount: 1_000)
    }
    #expect(throws: ReviewPageError(.nothingToShow, "a report compares at least two takes")) {
      try ComparisonReport(generator: "t").html(takes: [], comparisons: [])
    }
    #expect(throws: ReviewPageError(.nothingToShow, "there is no pattern to show")) {
      try PatternGallery(title: "t", generator: "t").html([])
    }
  }

  @Test("Events have the values of the file")
  func eventsHaveTheValuesOfTheFile() throws {
    let pattern = HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0.1, duration: 0.5,
          parameters: [.hapticIntensity: 0.9, .hapticSharpness: 0.6])
      ],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 0.2), .init(time: 1, value: 0.2)])
      ])
    let take = try PageTake(
      PageFixtures.take("x", pattern), index: 0,
      sounds: PageSounds(actuatorSignal: Signal([0], rate: 8_000)))
    let event = try #require(take.events?.first)
    #expect(event.writtenDurationSeconds == 0.5)
    #expect(event.soundingDurationSeconds > 0.5)
    #expect(event.writtenIntensity == 0.9 || abs(event.writtenIntensity - 0.9) < 1e-6)
    #expect(abs(take.intensity(atSeconds: 0.3) - 0.18) < 1e-6)
    #expect(abs((take.sharpness(atSeconds: 0.3) ?? 0) - 0.6) < 1e-6)
    #expect(take.intensity(atSeconds: 0.05) == 0)
  }

  @Test("A reduced line stays close to the original")
  func reducedLinesStayClose() {
    let straight = (0...100).map {
      EventPlot.Point(timeSeconds: Double($0), intensity: Double($0) / 100, sharpness: 0.5)
    }
    #expect(PointReduction.reducedPoints(straight, maximumCount: 50).count <= 4)
    let bent =
      straight
      + (1...50).map {
        EventPlot.Point(
          timeSeconds: 100 + Double($0), intensity: 1, sharpness: 0.5 + Double($0 % 2) / 4)
      }
    let reduced = PointReduction.reducedPoints(bent, maximumCount: 40)
    #expect(reduced.count == 40)
    #expect(reduced.first == bent.first && reduced.last == bent.last)
  }

  @Test("Events are numbered with ordinals")
  func eventsAreNumberedWithOrdinals() {
    #expect(
      [1, 2, 3, 10, 12].map(SentenceFormatting.ordinalText) == [
        "first", "second", "third", "tenth", "twelfth",
      ])
    #expect(
      [13, 21, 22, 111].map(SentenceFormatting.ordinalText) == ["13th", "21st", "22nd", "111th"])
  }
}
