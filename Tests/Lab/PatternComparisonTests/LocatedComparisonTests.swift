import ComparisonFixtures
import Glibc
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

/// Comparisons of patterns with body locations.
struct LocatedComparisonTests {
  private static let left = HapticComposition.BodyLocation(1, of: 2, name: "left")
  private static let right = HapticComposition.BodyLocation(2, of: 2, name: "right")

  /// Two hums at the same time, one at each location.
  private func composition(
    _ leftHum: HapticEvent, _ rightHum: HapticEvent, leftName: String = "left"
  ) -> HapticComposition {
    HapticComposition(layers: [
      HapticComposition.Layer(
        HapticPattern(events: [leftHum]), bodyLocation: .init(1, of: 2, name: leftName)),
      HapticComposition.Layer(HapticPattern(events: [rightHum]), bodyLocation: Self.right),
    ])
  }

  private func sentences(_ reference: HapticComposition, _ candidate: HapticComposition) throws
    -> [String]
  {
    Comparison(try take(reference), try take(candidate)).sentences
  }

  @Test("A hum that is missing at one location is not hidden by an equal hum at another")
  func missingHumIsFound() throws {
    let both = composition(hum(0, 1), hum(0, 1))
    var withoutRightHum = both
    withoutRightHum.layers[1].pattern.events = []
    let sentences = try sentences(both, withoutRightHum)
    #expect(sentences.count == 1 && sentences[0].hasPrefix("B is missing A's"), "\(sentences)")
  }

  @Test("Consecutive parts of one vibration are one vibration at its location")
  func consecutivePartsAreOneVibration() throws {
    let undivided = composition(hum(0, 1), hum(0, 1, intensity: 0.5, sharpness: 0.6))
    var divided = undivided
    divided.layers[0].pattern.events = [hum(0, 0.5), hum(0.5, 0.5)]
    #expect(Comparison(try take(undivided), try take(divided)).differences.isEmpty)
    #expect(Comparison(try take(divided), try take(undivided)).differences.isEmpty)
  }

  @Test("Renaming a location is not a difference")
  func namesAreNoDifference() throws {
    let named = composition(hum(0, 1), hum(0, 1))
    let renamed = composition(hum(0, 1), hum(0, 1), leftName: "wrist")
    #expect(Comparison(try take(named), try take(renamed)).differences.isEmpty)
  }

  @Test("A pattern that loses its locations plays everywhere")
  func lostLocationsAreOneDifference() throws {
    let located = composition(hum(0, 1), hum(0.5, 1, intensity: 0.5, sharpness: 0.6))
    var everywhere = located
    for index in everywhere.layers.indices {
      everywhere.layers[index].bodyLocation = nil
    }
    let sentences = try sentences(located, everywhere)
    #expect(sentences.contains("B is played everywhere instead of at left, right."), "\(sentences)")
    #expect(sentences.count <= 2)
  }

  // MARK: - Sampled signals and sounds

  private static let rate = 8_000.0

  private func tone(
    _ hertz: Double, amplitude: Double = 0.4, from start: Double = 0.1, to end: Double = 0.6
  ) -> [Float] {
    (0..<Int(Self.rate)).map { index in
      let time = Double(index) / Self.rate
      guard time >= start, time < end else { return 0 }
      return Float(amplitude * sin(2 * .pi * hertz * (time - start)))
    }
  }

  /// Two sampled signals at the same time, one at each location.
  private func sampledTake(_ channels: [[Float]]) -> Take {
    let layers = zip(channels, [Self.left, Self.right]).map { samples, location in
      HapticComposition.Layer(
        HapticPattern(),
        signals: [SampledSignal(startSeconds: 0, sampleRate: Self.rate, samples: samples)],
        bodyLocation: location)
    }
    return Take(
      name: "pattern", source: .pattern(HapticComposition(layers: layers)),
      signal: Signal(channels: channels, rate: Self.rate), profile: .phone)
  }

  private func soundTake(_ channels: [[Float]]) -> Take { sound(channels, rate: Self.rate) }

  @Test("A change of one channel has its amount in that channel", arguments: [true, false])
  func oneChannelChanges(isPattern: Bool) throws {
    let makeTake = isPattern ? sampledTake : soundTake
    let reference = makeTake([tone(100), tone(160)])
    let candidate = makeTake([tone(100), tone(160, amplitude: 0.2)])
    let comparison = Comparison(reference, candidate)
    let channelName = isPattern ? "right" : "channel 2"
    #expect(comparison.sentences == ["At \(channelName), B is 6 dB weaker throughout."])
    #expect(!comparison.excesses(over: Tolerance(decibels: 5, seconds: 0.01, percent: 5)).isEmpty)
    #expect(comparison.excesses(over: Tolerance(decibels: 7, seconds: 0.01, percent: 5)).isEmpty)
    #expect(Comparison(reference, reference).differences.isEmpty)
  }

  @Test("Changes of two channels that cancel each other are found")
  func canceledChangesAreFound() {
    let reference = sampledTake([tone(100), tone(100, amplitude: 0.2)])
    let candidate = sampledTake([tone(100, amplitude: 0.2), tone(100)])
    let comparison = Comparison(reference, candidate)
    #expect(
      Set(comparison.sentences) == [
        "At left, B is 6 dB weaker throughout.", "At right, B is 6 dB stronger throughout.",
      ])
  }

  @Test("A change of all channels is one difference")
  func commonChangeIsOneDifference() {
    let reference = sampledTake([tone(100), tone(160)])
    let candidate = sampledTake([tone(100, amplitude: 0.2), tone(160, amplitude: 0.2)])
    #expect(Comparison(reference, candidate).sentences == ["B is 6 dB weaker throughout."])
  }

  @Test("A longer recording with different channels is reported once")
  func lengthIsReportedOnce() {
    let silence = [Float](repeating: 0, count: 1_600)
    let reference = soundTake([tone(100), tone(160)])
    let candidate = soundTake([tone(100) + silence, tone(160) + silence])
    let sentences = Comparison(reference, candidate).sentences
    #expect(
      sentences.count == 1 && sentences[0].hasPrefix("B's recording is 200 ms longer"),
      "\(sentences)")
  }

  @Test("The duration of a sampled signal does not include its weak tail")
  func tailsAreNotPartOfDurations() throws {
    func samples(end: Double) -> [Float] {
      // A tail 40 dB below the tone decays to silence, as after a DC blocker.
      let sound = tone(100, from: 0.1, to: end)
      return sound.indices.map { index in
        let time = Double(index) / Self.rate - end
        return time < 0 ? sound[index] : Float(0.004 * exp(-time * 14))
      }
    }
    let steady = tone(160)
    let reference = sampledTake([samples(end: 0.4), steady])
    let candidate = sampledTake([samples(end: 0.43), steady])
    let differences = Comparison(reference, candidate).differences
    #expect(differences.map(\.kind) == [.duration])
    #expect(abs((differences.first?.amount ?? 0) - 0.03) < 0.003)
  }
}
