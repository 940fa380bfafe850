import HapticModel
import TestSupport
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Mappings, reduction, layers, and loops.
@Suite struct ConversionTests {
  @Test func mappingsHaveExactInverses() {
    for step in 0...20 {
      let fraction = Double(step) / 20
      for mapping in AmplitudeMapping.allCases {
        #expect(
          abs(mapping.amplitude(ofIntensity: mapping.intensity(ofAmplitude: fraction)) - fraction)
            < 1e-12)
      }
      for scale in [SharpnessScale.phone, .mpeg] {
        #expect(
          abs(scale.sharpness(ofHertz: scale.hertz(ofSharpness: fraction)) - fraction) < 1e-12)
      }
    }
    #expect(AmplitudeMapping.root.intensity(ofAmplitude: 0.25) == 0.5)
    #expect(SharpnessScale.mpeg.hertz(ofSharpness: 0.5) == 182.5)
    #expect(abs(SharpnessScale.phone.hertz(ofSharpness: 0.422601) - 125) < 0.01)
  }

  private func curve(_ count: Int, _ seed: UInt64) -> [EnvelopePoint] {
    var generator = SplitMixGenerator(state: seed)
    var level = 0.5
    return (0..<count).map { index in
      level = min(max(level + Double.random(in: -0.1...0.1, using: &generator), 0), 1)
      return EnvelopePoint(timeSeconds: Double(index) * 0.01, level: level, sharpness: 0)
    }
  }

  private func distance(_ points: [EnvelopePoint], _ remainingPoints: [EnvelopePoint]) -> Double {
    var maximumDeviation = 0.0
    var index = 0
    for point in points {
      while index + 2 < remainingPoints.count,
        remainingPoints[index + 1].timeSeconds < point.timeSeconds
      {
        index += 1
      }
      let interpolatedPoint = EnvelopePoint.interpolated(
        from: remainingPoints[index], to: remainingPoints[index + 1], at: point.timeSeconds)
      maximumDeviation = max(maximumDeviation, abs(interpolatedPoint.level - point.level))
    }
    return maximumDeviation
  }

  @Test(arguments: [0.0, 0.01, 0.05, 0.2]) func reductionKeepsWithinTheToleranceAndReportsItsError(
    tolerance: Double
  ) {
    let points = curve(5000, 3)
    let reduced = PointReduction(points, tolerance: tolerance)
    #expect(reduced.maximumCurveDeviation <= tolerance)
    #expect(abs(distance(points, reduced.remainingPoints) - reduced.maximumCurveDeviation) < 1e-9)
    #expect(
      reduced.remainingPoints.first == points.first && reduced.remainingPoints.last == points.last)
    if tolerance == 0.05 {
      #expect(reduced.remainingPoints.count < points.count / 2)
    }
  }

  @Test func reductionToACountKeepsTheLargestDeviations() {
    let points = curve(300, 9)
    var previousDeviation = Double.infinity
    for count in [2, 4, 8, 16, 64, 300] {
      let reduced = PointReduction(points, maximumCount: count)
      // The last points may lie on a line.
      #expect(
        count > 64 ? reduced.remainingPoints.count <= count : reduced.remainingPoints.count == count
      )
      #expect(abs(distance(points, reduced.remainingPoints) - reduced.maximumCurveDeviation) < 1e-9)
      #expect(reduced.maximumCurveDeviation <= previousDeviation * 1.5)
      previousDeviation = reduced.maximumCurveDeviation
    }
    #expect(previousDeviation == 0)
  }

  @Test func lineNeedsTwoPointsAndJumpsAreKept() {
    let linePoints = (0...9).map {
      EnvelopePoint(timeSeconds: Double($0), level: Double($0) / 10, sharpness: 0)
    }
    #expect(
      PointReduction(linePoints, tolerance: 1e-9).remainingPoints == [linePoints[0], linePoints[9]])
    let jumpPoints = [
      EnvelopePoint(timeSeconds: 0, level: 0, sharpness: 0),
      EnvelopePoint(timeSeconds: 1, level: 0, sharpness: 0),
      EnvelopePoint(timeSeconds: 1, level: 1, sharpness: 0),
      EnvelopePoint(timeSeconds: 2, level: 1, sharpness: 0),
    ]
    #expect(PointReduction(jumpPoints, tolerance: 0.1).remainingPoints == jumpPoints)
  }

  @Test func eventsWithCurvesUseTheFewestLayers() {
    var builder = LayerBuilder()
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0, controlPoints: [.init(time: 0, value: 1)])
    func add(_ start: Double, _ end: Double) -> Int {
      builder.add(
        HapticEvent(kind: .hapticContinuous, time: start, duration: end - start), curves: [curve],
        until: end)
    }
    let tap = builder.add(HapticEvent(kind: .hapticTransient, time: 0.5))
    let eventIndices = [add(0, 2), add(1, 3), add(2, 4), add(3, 5), add(1.5, 1.75)]
    let (layers, references) = builder.build()
    #expect(layers.count == 4)
    #expect(references[tap].layerIndex == 0)
    #expect(eventIndices.map { references[$0].layerIndex } == [1, 2, 3, 1, 3])
    #expect(layers[0].pattern.curves.isEmpty)
    #expect(layers.map(\.pattern.events.count) == [1, 2, 1, 2])
  }

  @Test func loopRepeatsFromItsStart() {
    var pattern = HapticPattern(events: [
      HapticEvent(kind: .hapticContinuous, time: 0, duration: 3),
      HapticEvent(kind: .hapticTransient, time: 1.5),
    ])
    pattern.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 2, value: 1)])
    ]
    var composition = HapticComposition(pattern)
    composition.loop = .init(startSeconds: 1, endSeconds: 2)
    var losses = LossLog()
    let unrolled = composition.unrolled(passCount: 3, losses: &losses)
    #expect(unrolled.loop == nil)
    #expect(unrolled.layers[0].pattern.events.map(\.time) == [0, 1.5, 2, 2.5, 3, 3.5])
    #expect(unrolled.layers[0].pattern.events.compactMap(\.duration) == [2, 1, 1])
    let control = ControlTimeline(of: .hapticIntensityControl, in: unrolled.layers[0].pattern)
    #expect(
      [0.5, 1.5, 2.25, 2.75, 3.25].map(control.value(at:)) == [0.25, 0.75, 0.625, 0.875, 0.625])
    #expect(
      losses.lossesWithOmittedCounts() == [
        Loss(.approximated, .composition, "the loop from 1.0 s to 2.0 s is unrolled 3 times")
      ])
  }

  @Test func equalLossesAreJoinedAndManyAreCounted() {
    var log = LossLog(maximumCountPerMessage: 2)
    log.add(.approximated, .layer(0), "rounded", size: 0.1)
    log.add(.approximated, .layer(0), "rounded", size: 0.3)
    for index in 1...4 {
      log.add(.approximated, .layer(index), "rounded")
    }
    #expect(
      log.lossesWithOmittedCounts() == [
        Loss(.approximated, .layer(0), "rounded", size: 0.3),
        Loss(.approximated, .layer(1), "rounded"),
        Loss(.approximated, .composition, "3 more: rounded"),
      ])
  }

  @Test func outlineHasTheKeysOfATextWithErrors() throws {
    let text = Array(
      "\u{FEFF} {\"a\": [ {\"b\": \"c\", \"d\\\"\": 1}], \"e\": {\"f\": [1, {\"g\": 2}]}, \"h\" x"
        .utf8)
    let optionalOutline = JSONOutline(text.span)
    let outline = try #require(optionalOutline)
    #expect(outline.rootKeys == ["a", "e", "h"])
    #expect(outline.nestedKeys.isSuperset(of: ["b", "f", "g"]))
    #expect(!outline.nestedKeys.contains("c"))
    for text in ["[1]", "", "x{}"] {
      let optionalOutline = JSONOutline(Array(text.utf8).span)
      #expect(optionalOutline == nil, "\(text)")
    }
  }
}
