package import Reading
package import HapticModel

extension PatternRules {
  /// How far apart, in seconds, two times may be that a tool wrote as the same.
  private static let timeTolerance = 1e-6

  @Sendable static func checkPortability(of composition: HapticComposition, _ log: inout CompositionLog) {
    if composition.layers.allSatisfy({ $0.isEmpty }) {
      log.add(.noEvents, at: .composition, "the pattern has no events and plays nothing")
    }
    if let merged = mergedPlacesText(of: composition) { log.add(.severalPlaces, at: .composition, merged) }
    for (layer, content) in composition.layers.enumerated() { checkOverlaps(of: content.pattern.curves, layer, &log) }
  }

  /// That the places of a composition sound together where nothing separates them; nil without several.
  package static func mergedPlaces(of composition: HapticComposition, at place: SourcePlace) -> Finding? {
    mergedPlacesText(of: composition).map {
      Finding(
        .severalPlaces, place: place, $0,
        suggestion: "use '--channels \(composition.placeCount)', or '--channel 1=source=PLACE'")
    }
  }

  private static func mergedPlacesText(of composition: HapticComposition) -> String? {
    let (count, places) = (composition.placeCount, composition.places.map { $0.title })
    return count > 1
      ? "\(count) places (\(places.joined(separator: ", "))) sound together except on \(count) channels of haptics"
      : nil
  }

  private static func checkOverlaps(of curves: [ParameterCurve], _ layer: Int, _ log: inout CompositionLog) {
    var ends: [DynamicParameterID: Double] = [:]
    let order = curves.indices.sorted { (curves[$0].time, $0) < (curves[$1].time, $1) }
    for index in order {
      let curve = curves[index]
      if let end = ends[curve.id], curve.time < end - timeTolerance {
        log.add(
          .curveOverlap, at: .curve(layer: layer, index: index),
          "overlaps another curve of \(curve.id.rawValue) that ends at \(end.secondsText); this one takes precedence")
      }
      let end = curve.time + (curve.controlPoints.last?.time ?? 0)
      ends[curve.id] = max(ends[curve.id] ?? 0, end)
    }
  }
}

extension Rule {
  static let severalPlaces = note(
    "several-places", "compatibility", "Places sound apart only where there are as many channels of haptics."
  )
  static let noEvents = warning("no-events", "grammar", "A pattern should have events; without them it is silent.")
  static let curveOverlap = warning(
    "curve-overlap", "compatibility", "Curves of one parameter should not overlap; devices differ in which one applies."
  )
}
