import ComparisonFixtures
import HapticModel
import PatternComparison
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
    var one = both
    one.layers[1].pattern.events = []
    let found = try sentences(both, one)
    #expect(found.count == 1 && found[0].hasPrefix("B is missing A's"), "\(found)")
  }

  @Test("Pieces of one vibration are one vibration at its location")
  func piecesAreOneVibration() throws {
    let whole = composition(hum(0, 1), hum(0, 1, intensity: 0.5, sharpness: 0.6))
    var pieces = whole
    pieces.layers[0].pattern.events = [hum(0, 0.5), hum(0.5, 0.5)]
    #expect(Comparison(try take(whole), try take(pieces)).differences.isEmpty)
    #expect(Comparison(try take(pieces), try take(whole)).differences.isEmpty)
  }

  @Test("Another name of a location does not count")
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
    let found = try sentences(located, everywhere)
    #expect(found.contains("B is played everywhere instead of at left, right."), "\(found)")
    #expect(found.count <= 2)
  }
}
