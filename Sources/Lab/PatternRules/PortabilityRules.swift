package import HapticModel
package import Reading

extension PatternRules {
  /// The maximum rounding difference between equal times, in seconds.
  private static let timeToleranceSeconds = 1e-6

  /// Checks a composition for content that programs and devices play differently.
  @Sendable static func checkPortability(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    if composition.layers.allSatisfy({ $0.isEmpty }) {
      log.add(.noEvents, at: .composition, "the pattern has no events, so nothing plays")
    }
    if let mergedLocationsText = mergedBodyLocationsText(of: composition) {
      log.add(.severalBodyLocations, at: .composition, mergedLocationsText)
    }
    for (layer, content) in composition.layers.enumerated() {
      checkCurveOverlaps(of: content.pattern.curves, layer: layer, log: &log)
    }
  }

  /// Returns the finding about body locations that are merged into one output.
  ///
  /// Returns nil for fewer than two locations.
  package static func mergedBodyLocations(
    of composition: HapticComposition, at location: FileLocation
  ) -> Finding? {
    mergedBodyLocationsText(of: composition).map {
      Finding(
        .severalBodyLocations, location: location, $0,
        suggestion:
          "use '--channels \(composition.bodyLocationCount)', or '--channel 1=source=LOCATION'")
    }
  }

  /// Returns the finding about body locations that no output plays.
  ///
  /// Returns nil if all locations are played.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - sources: The body location of each haptic output, by number or name; nil for all.
  ///   - location: The location of the finding.
  package static func unplayedBodyLocations(
    of composition: HapticComposition, on sources: [String?], at location: FileLocation
  ) -> Finding? {
    let unplayedLocations = composition.bodyLocations.filter { bodyLocation in
      !sources.contains { $0.map(bodyLocation.matches) ?? true }
    }
    guard let firstLocation = unplayedLocations.first else { return nil }
    let locationNames = unplayedLocations.map { $0.displayName }.joined(separator: ", ")
    return Finding(
      .severalBodyLocations, location: location,
      "no channel plays the body locations \(locationNames)",
      suggestion: "use '--channel N=source=\(firstLocation.displayName)'")
  }

  /// Returns the message about merged body locations, or nil for fewer than two locations.
  private static func mergedBodyLocationsText(of composition: HapticComposition) -> String? {
    let locationCount = composition.bodyLocationCount
    guard locationCount > 1 else { return nil }
    let locationNames = composition.bodyLocations.map { $0.displayName }.joined(separator: ", ")
    return
      "\(locationCount) body locations (\(locationNames)) are mixed "
      + "unless there are \(locationCount) haptic channels"
  }

  /// Reports control curves that overlap an earlier curve of the same control.
  private static func checkCurveOverlaps(
    of curves: [ParameterCurve], layer: Int, log: inout CompositionFindingLog
  ) {
    var endTimesByParameter: [DynamicParameterID: Double] = [:]
    let curveOrder = curves.indices.sorted { (curves[$0].time, $0) < (curves[$1].time, $1) }
    for index in curveOrder {
      let curve = curves[index]
      if let previousEndTime = endTimesByParameter[curve.id],
        curve.time < previousEndTime - timeToleranceSeconds
      {
        log.add(
          .overlappingCurves, at: .curve(layer: layer, index: index),
          """
          overlaps another curve of \(curve.id.rawValue) that ends at \
          \(previousEndTime.secondsText); this one takes precedence
          """
        )
      }
      let endTime = curve.time + (curve.controlPoints.last?.time ?? 0)
      endTimesByParameter[curve.id] = max(endTimesByParameter[curve.id] ?? 0, endTime)
    }
  }
}

extension Rule {
  static let severalBodyLocations = note(
    "several-places", "compatibility",
    "Body locations are separate only if each of them has a haptic channel.")
  static let noEvents = warning(
    "no-events", "grammar", "A pattern should have events. Without events, it is silent.")
  static let overlappingCurves = warning(
    "curve-overlap", "compatibility",
    "Curves of the same parameter should not overlap. Devices differ in which curve applies."
  )
}
