import HapticModel
import Testing

@testable import HapticFormats

/// Clips as AHAP, by Apple's documentation and as the SDKs write them.
@Suite struct ClipDialectTests {
  private func clip(_ count: Int, emphasisAt taps: Set<Int> = []) -> HapticComposition {
    var clip = HapticClip()
    clip.amplitude = (0..<count).map { index in
      .init(
        time: Double(index), amplitude: Float(index % 10) / 10,
        emphasis: taps.contains(index) ? .init(amplitude: 1, frequency: 0.5) : nil)
    }
    clip.frequency = [.init(time: 0, frequency: 0), .init(time: Double(count - 1), frequency: 1)]
    var composition = HapticComposition(layers: clip.layers(.root))
    composition.author = "someone"
    return composition
  }

  private func files(_ composition: HapticComposition, _ options: WritingOptions) throws -> (
    files: [(suffix: String, reading: AHAPReading)], losses: [Loss]
  ) {
    let writing = try #require(try AHAPFormat().write(composition, options: options))
    return (
      try writing.files.map { file in
        (
          file.suffix,
          try AHAPDocument(text: file.bytes, name: "out.ahap").read(options: ReadingOptions(curveTimes: .relative))
        )
      }, writing.losses
    )
  }

  @Test func lofeltsCurvesHave16PointsInClipTimesAndLoseTheFirstEmphasis() throws {
    let (files, losses) = try files(clip(17, emphasisAt: [0, 3]), WritingOptions(dialect: "lofelt"))
    let pattern = try #require(files.first).reading.pattern
    #expect(pattern.curves.map(\.controlPoints.count) == [16, 2, 2])
    #expect(pattern.curves.map(\.time) == [0, 15, 0])
    #expect(pattern.curves[1].controlPoints.map(\.time) == [15, 16])
    #expect(pattern.events.map(\.kind) == [.hapticContinuous, .hapticTransient])
    #expect(pattern.events[1].time == 3)
    #expect(pattern.curves[0].controlPoints[3].value == Float(Double(Float(0.3)).squareRoot() * 0.8))
    #expect(files[0].reading.metadata["Created"] == "someone")
    #expect(losses.contains { $0.kind == .dropped && $0.message.contains("first point") })
  }

  @Test func bothAreInTwoFilesWhereAsked() throws {
    for dialect in ["meta", "lofelt"] {
      let (files, _) = try files(clip(5, emphasisAt: [2]), WritingOptions(dialect: dialect, split: .always))
      #expect(files.map(\.suffix) == ["_continuous", "_transients"])
      #expect(files[1].reading.pattern.events.map(\.kind) == [.hapticTransient])
      #expect(files[1].reading.pattern.curves.isEmpty)
    }
  }

  @Test func applesFilesAreSplitWhereTapsWouldBeBentAndWithinTheTolerance() throws {
    let composition = clip(65, emphasisAt: [0, 3])
    let (files, losses) = try files(composition, WritingOptions(tolerance: 0.002))
    #expect(files.map(\.suffix) == ["_continuous", "_transients"])
    #expect(files[1].reading.pattern == composition.layers[1].pattern)
    let pattern = files[0].reading.pattern
    #expect(pattern.events.map(\.duration) == [30, 30, 4])
    #expect(pattern.curves.allSatisfy { $0.controlPoints.count <= 16 })
    #expect(pattern.curves.allSatisfy { $0.controlPoints.first?.time == 0 })
    for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
      let exact = ControlTimeline(of: id, in: composition.layers[0].pattern)
      let mine = ControlTimeline(of: id, in: pattern)
      for step in 0..<6400 {
        let time = Double(step) / 100
        #expect(abs(mine.value(at: time) - exact.value(at: time)) <= 0.0026, "\(id) \(time)")
      }
    }
    #expect(losses.contains { $0.message.contains("more than 30 s") })
    #expect(losses.count { $0.size == 0.002 } == 2)
  }

  @Test func oneFileReportsWhatCurvesDoToTaps() throws {
    let (files, losses) = try files(clip(5, emphasisAt: [2]), WritingOptions(split: .never))
    #expect(files.map(\.suffix) == [""])
    #expect(losses.contains { $0.message.contains("act on the events of all layers") })
  }
}
