import Foundation
import HapticModel
import HapticRender
import SignalAnalysis
import Testing
import TransducerProfiles

@testable import SoundTracing

/// The fraction of transients that a trace finds in patterns that were not used to develop it.
///
/// With TEMBLOR_TRACING_TABLE set, the figures of the article are printed.
struct BenchmarkTests {
  private static let printsTable =
    ProcessInfo.processInfo.environment["TEMBLOR_TRACING_TABLE"] != nil
  private static let seeds = 7_000..<7_000 + (printsTable ? 200 : 25)

  private static func score(
    _ degradation: Degradation, _ profile: TransducerProfile = .phone, seeds: Range<Int> = seeds
  )
    throws -> TracingScore
  {
    var score = TracingScore()
    for seed in seeds {
      let truth = TracingGroundTruth.generated(seed)
      let samples = degradation.applied(to: try truth.sound(profile), rate: 8_000, seed: seed)
      score.add(try SoundTrace(of: Signal(samples, rate: 8_000), profile: profile), against: truth)
    }
    if printsTable {
      let correlation = score.correlationQuantiles
      print(
        String(
          format:
            """
            %@ %@: all %.3f clear %.3f precision %.3f, onset %.2f ms, correlation %.4f, tenth \
            %.3f, %.2f dB
            """,
          profile.name, degradation.rawValue, score.f1Score, score.clearF1Score, score.precision,
          score.medianOnsetError * 1e3,
          correlation.median,
          correlation.tenth, score.medianDifferenceDecibels))
    }
    return score
  }

  @Test(arguments: [
    (Degradation.clean, 0.97, 0.98), (.noise, 0.94, 0.96), (.inverted, 0.96, 0.97),
    (.music, 0.65, 0.67),
    (.room, 0.7, 0.7),
  ])
  func transientsAreFound(
    _ degradation: Degradation, minimumScore: Double, minimumClearScore: Double
  ) throws {
    let score = try Self.score(degradation)
    #expect(
      score.f1Score >= minimumScore && score.clearF1Score >= minimumClearScore,
      "\(degradation): \(score.f1Score) of all, \(score.clearF1Score) of clear transients"
    )
  }

  @Test func renderingOfTheTraceMatchesTheSound() throws {
    let score = try Self.score(.clean)
    #expect(score.medianOnsetError < 0.000_3)
    #expect(score.correlationQuantiles.median > 0.99 && score.correlationQuantiles.tenth > 0.95)
  }

  @Test(arguments: ["meta-quest", "android", "alps-aft14a903a", "actronika-hfba121238", "mpeg"])
  func otherProfilesAreInverted(_ name: String) throws {
    let profile = try #require(ProfileCatalog.profile(named: name))
    let score = try Self.score(.clean, profile, seeds: Self.seeds.prefix(Self.seeds.count / 2))
    #expect(score.clearF1Score >= 0.94, "\(score.clearF1Score)")
  }

  /// The method of Haptics Studio's source, implemented again with its published constants.
  @Test func publishedMethodFindsFewer() throws {
    var score = TracingScore()
    for seed in Self.seeds {
      let truth = TracingGroundTruth.generated(seed)
      score.add(PublishedMethod.transients(of: try truth.sound(), rate: 8_000), truth.transients)
    }
    if Self.printsTable {
      print("published method: all \(score.f1Score) clear \(score.clearF1Score)")
    }
    #expect(score.f1Score > 0.3 && score.f1Score < 0.7, "\(score.f1Score)")
  }
}

/// Onsets as facebook/meta-haptics-sdk (commit 41c9dcb) finds them: an envelope follower, a
/// simplification to 60 points per second by Visvalingam and Whyatt, and rises of the simplified
/// envelope by more than a tenth, at maximum sensitivity.
private enum PublishedMethod {
  static func transients(of samples: [Float], rate: Double) -> [Double] {
    let peak = samples.reduce(0) { max($0, abs($1)) }
    guard peak > 1e-6 else { return [] }
    // The follower has an instant attack, a hold of one step, and a release of 100 ms. A step is
    // 1 ms.
    let hop = max(1, Int(rate * 0.001))
    let release = exp(-0.001 / 0.1)
    var envelope = 0.0
    var previousStepLevel = 0.0
    var points: [(time: Double, level: Double)] = []
    for start in stride(from: 0, to: samples.count - hop, by: hop) {
      let level = Double(samples[start..<start + hop].reduce(0) { max($0, abs($1)) } / peak)
      let stepPeak = max(level, previousStepLevel)
      previousStepLevel = level
      envelope =
        stepPeak > envelope
        ? stepPeak : max(stepPeak, envelope * release + (1 - release) * stepPeak)
      points.append((Double(start + hop) / rate, min(1, envelope)))
    }
    points = simplified(points)
    var onsets: [Double] = []
    var previousLevel = 0.0
    for index in points.indices.dropLast() {
      let (time, level) = points[index]
      let rise = level - previousLevel
      let isPeak = level > points[index + 1].level || points[index + 1].level < level + rise * 0.25
      if rise > 0.1, isPeak, onsets.last.map({ time - $0 >= 0.1 }) ?? true {
        onsets.append(time)
      }
      previousLevel = level
    }
    // The peak of the envelope is after the start of a burst.
    return onsets.map { $0 - 0.006 }
  }

  /// Returns the points with the largest triangles, 60 per second.
  private static func simplified(_ points: [(time: Double, level: Double)]) -> [(
    time: Double, level: Double
  )] {
    var keptPoints = points
    func area(_ index: Int) -> Double {
      let a = keptPoints[index - 1]
      let b = keptPoints[index]
      let c = keptPoints[index + 1]
      return abs((a.time - c.time) * (b.level - a.level) - (a.time - b.time) * (c.level - a.level))
        / 2
    }
    let maximumCount = Int((points.last?.time ?? 0) * 60) + 2
    while keptPoints.count > max(3, maximumCount) {
      var smallest = (area: Double.infinity, index: 1)
      for index in 1..<keptPoints.count - 1 where area(index) < smallest.area {
        smallest = (area(index), index)
      }
      // Every second point of a similarly small area is removed at once; if there is none, the
      // point of the smallest area is removed.
      let areaLimit = smallest.area * 1.5 + 1e-9
      let count = keptPoints.count
      keptPoints = keptPoints.indices.filter { index in
        index == 0 || index == count - 1 || index % 2 == 0 || area(index) > areaLimit
      }.map { keptPoints[$0] }
      if keptPoints.count == count {
        keptPoints.remove(at: smallest.index)
      }
    }
    return keptPoints
  }
}
