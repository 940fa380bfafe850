import Foundation
import HapticModel
import HapticRender
import SignalAnalysis
import Testing
import TransducerProfiles

@testable import SoundTracing

/// The fraction of transients that a trace finds, in patterns with which it was not developed.
///
/// With TEMBLOR_TRACING_TABLE set, the figures of the article are printed.
struct BenchmarkTests {
  private static let isTable = ProcessInfo.processInfo.environment["TEMBLOR_TRACING_TABLE"] != nil
  private static let seeds = 7_000..<7_000 + (isTable ? 200 : 25)

  private static func score(
    _ how: Degradation, _ profile: TransducerProfile = .phone, seeds: Range<Int> = seeds
  )
    throws -> TracingScore
  {
    var score = TracingScore()
    for seed in seeds {
      let truth = TracingGroundTruth.generated(seed)
      let samples = how.applied(to: try truth.sound(profile), rate: 8_000, seed: seed)
      score.add(try SoundTrace(of: Signal(samples, rate: 8_000), profile: profile), against: truth)
    }
    if isTable {
      let correlation = score.correlationQuantiles
      print(
        String(
          format:
            """
            %@ %@: all %.3f clear %.3f precision %.3f, onset %.2f ms, correlation %.4f, tenth \
            %.3f, %.2f dB
            """,
          profile.name, how.rawValue, score.f1Score, score.clearF1Score, score.precision,
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
  func transientsAreFound(_ how: Degradation, all: Double, clear: Double) throws {
    let score = try Self.score(how)
    #expect(
      score.f1Score >= all && score.clearF1Score >= clear,
      "\(how): \(score.f1Score) of all, \(score.clearF1Score) of clear ones")
  }

  @Test func aRenderingOfTheTraceIsTheSound() throws {
    let score = try Self.score(.clean)
    #expect(score.medianOnsetError < 0.000_3)
    #expect(score.correlationQuantiles.median > 0.99 && score.correlationQuantiles.tenth > 0.95)
  }

  @Test(arguments: ["meta-quest", "android", "alps-aft14a903a", "actronika-hfba121238", "mpeg"])
  func otherProfilesAreTurnedRound(_ name: String) throws {
    let profile = try #require(ProfileCatalog.profile(named: name))
    let score = try Self.score(.clean, profile, seeds: Self.seeds.prefix(Self.seeds.count / 2))
    #expect(score.clearF1Score >= 0.94, "\(score.clearF1Score)")
  }

  /// The method that Haptics Studio's source describes, made again from its published constants.
  @Test func thePublishedMethodFindsFewer() throws {
    var score = TracingScore()
    for seed in Self.seeds {
      let truth = TracingGroundTruth.generated(seed)
      score.add(PublishedMethod.transients(of: try truth.sound(), rate: 8_000), truth.transients)
    }
    if Self.isTable {
      print("published method: all \(score.f1Score) clear \(score.clearF1Score)")
    }
    #expect(score.f1Score > 0.3 && score.f1Score < 0.7, "\(score.f1Score)")
  }
}

/// Onsets as facebook/meta-haptics-sdk (commit 41c9dcb) finds them: an envelope follower, its
/// outline at 60 points a second by Visvalingam and Whyatt, and rises of a tenth in it, at greatest
/// sensitivity.
private enum PublishedMethod {
  static func transients(of samples: [Float], rate: Double) -> [Double] {
    let peak = samples.reduce(0) { max($0, abs($1)) }
    guard peak > 1e-6 else { return [] }
    // Attack at once, held for 1.5 ms, released in 100 ms; two values in a millisecond.
    let hop = max(1, Int(rate * 0.001))
    let release = exp(-0.001 / 0.1)
    var value = 0.0
    var held = 0.0
    var points: [(time: Double, level: Double)] = []
    for start in stride(from: 0, to: samples.count - hop, by: hop) {
      let level = Double(samples[start..<start + hop].reduce(0) { max($0, abs($1)) } / peak)
      let greatest = max(level, held)
      held = level
      value =
        greatest > value ? greatest : max(greatest, value * release + (1 - release) * greatest)
      points.append((Double(start + hop) / rate, min(1, value)))
    }
    points = outline(points)
    var found: [Double] = []
    var before = 0.0
    for index in points.indices.dropLast() {
      let (time, level) = points[index]
      let rise = level - before
      let isTop = level > points[index + 1].level || points[index + 1].level < level + rise * 0.25
      if rise > 0.1, isTop, found.last.map({ time - $0 >= 0.1 }) ?? true {
        found.append(time)
      }
      before = level
    }
    // The peak of the envelope is after the start of a burst.
    return found.map { $0 - 0.006 }
  }

  /// The points whose triangles are largest, 60 in each second.
  private static func outline(_ points: [(time: Double, level: Double)]) -> [(
    time: Double, level: Double
  )] {
    var kept = points
    func area(_ index: Int) -> Double {
      let a = kept[index - 1]
      let b = kept[index]
      let c = kept[index + 1]
      return abs((a.time - c.time) * (b.level - a.level) - (a.time - b.time) * (c.level - a.level))
        / 2
    }
    let most = Int((points.last?.time ?? 0) * 60) + 2
    while kept.count > max(3, most) {
      var least = (area: Double.infinity, index: 1)
      for index in 1..<kept.count - 1 where area(index) < least.area {
        least = (area(index), index)
      }
      // Of a small outline one at a time; of a large one all that are as small.
      let limit = least.area * 1.5 + 1e-9
      let count = kept.count
      kept = kept.indices.filter { index in
        index == 0 || index == count - 1 || index % 2 == 0 || area(index) > limit
      }.map { kept[$0] }
      if kept.count == count {
        kept.remove(at: least.index)
      }
    }
    return kept
  }
}
